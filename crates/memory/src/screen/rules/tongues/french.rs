//! Rules for orders in French.

use super::Rule;

/// The table of French rules.
pub(super) const RULES: &[Rule] = &[
    Rule {
        marker: "sets earlier instructions aside",
        any: &[
            "ignore",
            "oublie",
            "neglige",
            "tiens",
            "tenez",
            "tenir",
            "suis",
            "suivez",
            "respecte",
            "abstraction",
            "ecarte",
            "contourne",
            "annule",
            "outre",
        ],
        pattern: r"\b(?:ignore[zrs]?|oublie[zrs]?|neglige[zrs]?|ne (?:tiens|tenez|tenir|suis|suivez|respecte[zr]?)…(?:pas|plus)|fai(?:s|tes) abstraction|ecarte[zr]?|contourne[zr]?|annule[zr]?|passe[zr]? outre)\b…(?:\b(?:precedent|anterieur|prealable|toutes?|tous|tes|vos|system|initial)\w*…(?:instructions?|consignes?|regles?|directives?|ordres?|commandes?|prompts?)|(?:instructions?|consignes?|regles?|directives?|ordres?|commandes?|prompts?)‥(?:precedent|anterieur|ci-dessus|prealable|systeme|initial|donnees|plus haut))|\boublie[zr]? tout (?:ce qu|ce que|ce qui|le reste)",
    },
    Rule {
        marker: "gives new instructions",
        any: &["nouvel"],
        pattern: r"\b(?:vos|tes|votre|ta) nouvel\w* (?:instruction|consigne|tache|mission|regle|role|directive)",
    },
    Rule {
        marker: "gives the agent another role",
        any: &["maintenant", "desormais", "present", "dorenavant"],
        pattern: r"\b(?:tu es|vous etes) (?:maintenant|desormais|a present|dorenavant) (?:en mode|un|une|dan\b|libre|le |la |admin|root|sans|autorise)|\b(?:desormais|a partir de maintenant),? (?:tu es|vous etes|agis|agissez)",
    },
    Rule {
        marker: "keeps something from the user",
        any: &["utilisateur"],
        pattern: r"\bn[e'] ?(?:le |la |les |en |lui )?(?:dis|dites|dire|inform\w*|mentionn\w*|previen\w*|preven\w*|signal\w*|parl\w*|revel\w*|averti\w*|montr\w*)\b[^.!?\n]{0,40}?utilisateur|\bsans\b[^.!?\n]{0,10}?(?:prevenir|informer|avertir|dire|demander|notifier|que)\b[^.!?\n]{0,20}?utilisateur|\bal?'?(?: l')?insu de[^.!?\n]{0,12}?utilisateur",
    },
    Rule {
        marker: "speaks to agents",
        any: &["note", "message", "avis", "attention", "instruction", "important", "remarque", "information"],
        pattern: r"\b(?:note|message|avis|attention|instructions?|important|remarque|information)[ ]*(?:aux?|pour (?:les?|tous les|toute)|a l'attention des?|a destination des?|:|,)[ ]*(?:agents?|assistants?|modeles?|ia\b|llm|intelligences?)",
    },
    Rule {
        marker: "speaks to agents",
        any: &["modele", "assistant", "agent", "llm", "intelligence", "ia"],
        pattern: r"\bsi (?:vous etes|tu es) (?:un|une|l')[ ]?(?:\w+ )?(?:ia\b|modele|assistant|agent|llm|intelligence)",
    },
    Rule {
        marker: "says that rules are suspended",
        any: &["politique", "regle", "restriction", "consigne", "securite"],
        pattern: r"\b(?:politique|regle|restriction|consigne|securite)s?\b[^.!?\n]{0,50}?(?:suspendue?s?\b|levee?s?\b|ne s'applique)",
    },
    Rule {
        marker: "orders to remember",
        any: &["souviens", "souvenez", "memorise", "retiens", "retenez", "enregistre", "sauvegarde", "garde"],
        pattern: r"\b(?:souviens-toi|souvenez-vous|memorise[zr]?|retiens|retenez|enregistre[zr]?|sauvegarde[zr]?|garde[zr]?)\b[^.!?\n]{0,60}?(?:(?:futures?|prochaines?|toutes (?:les|tes|vos)) (?:\w+ )?(?:sessions|conversations)|en memoire|dans (?:ta|votre|la|sa) memoire)",
    },
    Rule {
        marker: "asks for secrets",
        any: &["affiche", "montre", "revele", "donne", "imprime", "envoie", "envoye"],
        pattern: r"\b(?:affiche|montre|revele|donne|imprime|envoie|envoye)\w*[^.!?\n]{0,40}?(?:(?:prompt|invite|instructions?) (?:systeme|cachee?s?|du systeme)|mots? de passe|cles? (?:privee?s?|api|secrete?s?|ssh))",
    },
];
