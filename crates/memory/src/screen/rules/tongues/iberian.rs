//! Rules for orders in Spanish and Portuguese.

use super::Rule;

/// The table of Spanish and Portuguese rules.
pub(super) const RULES: &[Rule] = &[
    Rule {
        marker: "sets earlier instructions aside",
        any: &[
            "ignor",
            "olvid",
            "descart",
            "omiso",
            "haga",
            "siga",
            "obedezca",
            "omit",
            "desatiend",
            "pasa",
            "esquec",
            "desconsider",
            "desrespeit",
            "nao",
            "anul",
            "elud",
        ],
        pattern: r"\b(?:ignor(?:a|e|ar|en|ad|em|es)|olvid(?:a|e|ar|en|ate|ese)|descart(?:a|e|ar)|haz caso omiso|hagan? caso omiso|no (?:hagas?|sigas?|obedezcas?)|omit(?:e|a|ir)|desatiend\w+|pasa por alto|esquec(?:a|e|er|am)|desconsider(?:e|a|ar|em)|desrespeit\w+|nao (?:siga|obedeca)|anul(?:a|e)|elud\w+)\b…(?:\b(?:anterior|previ|precedente|tod[ao]s|tus|sus|suas|seus|sistema|inicia)\w*…(?:instruc|reglas|ordenes|directri|indicacion|normas|directivas|regras|ordens|diretri|orientac|comandos|restric)|(?:instruc|reglas|ordenes|directri|indicacion|normas|directivas|regras|ordens|diretri|orientac|comandos)\w*‥(?:anterior|previ|precedente|arriba|acima|sistema|inicia))|\b(?:olvida|esqueca) (?:todo|tudo) (?:lo|o) que",
    },
    Rule {
        marker: "gives new instructions",
        any: &["nuev", "nova", "novo"],
        pattern: r"\b(?:tus?|sus?) nuev[ao]s? (?:instruccion|tarea|orden|regla|mision|papel|directri)|\b(?:suas?|tuas?|seus?) nov[ao]s? (?:instruc|taref|orde|regra|miss|diretri)",
    },
    Rule {
        marker: "gives the agent another role",
        any: &["ahora", "agora"],
        pattern: r"\b(?:ahora eres|a partir de ahora,? (?:eres|actua|seras)|ahora estas en modo|eres ahora)|\b(?:agora voce (?:e|esta em modo)|voce agora (?:e|esta em modo)|a partir de agora,? (?:voce|aja))",
    },
    Rule {
        marker: "keeps something from the user",
        any: &["usuari", "utilizador"],
        pattern: r"\bno (?:se lo |le |les |se |lo )?(?:dig\w*|inform\w*|mencion\w*|avis\w*|cuent\w*|revel\w*|notifi\w*|muestr\w*)\b[^.!?\n]{0,30}?usuari|\bsin\b[^.!?\n]{0,10}?(?:que|informar\w*|avisar\w*|decir\w*|notificar\w*|preguntar\w*|consultar\w*|el conocimiento)\b[^.!?\n]{0,20}?usuari|\bnao (?:dig\w*|inform\w*|cont\w*|mencion\w*|avis\w*|revel\w*|notifi\w*|mostr\w*)\b[^.!?\n]{0,30}?(?:usuari|utilizador)|\bsem\b[^.!?\n]{0,10}?(?:que|informar|avisar|notificar|contar|dizer|perguntar|consultar|o conhecimento)\b[^.!?\n]{0,20}?(?:usuari|utilizador)",
    },
    Rule {
        marker: "speaks to agents",
        any: &["nota", "mensaje", "mensagem", "aviso", "atencion", "atencao", "instruc", "importante"],
        pattern: r"\b(?:nota|mensaje|mensagem|aviso|atencion|atencao|instruccion|instruccao|instruccoes|instruccion\w*|instruc\w*|importante)[ ]*(?:para|a|aos?|:|,)[ ]*(?:los |las |os |as |todos |todas |cualquier |qualquer )*(?:agentes?|asistentes?|assistentes?|modelos?|ias?\b|llms?|inteligencias?)",
    },
    Rule {
        marker: "speaks to agents",
        any: &["modelo", "asistente", "assistente", "agente", "inteligencia", "llm", " ia"],
        pattern: r"\bsi eres (?:un|una) (?:\w+ )?(?:ia\b|modelo|asistente|agente|inteligencia|llm)|\bse (?:voce )?(?:e|for|fores|es) (?:um|uma) (?:\w+ )?(?:ia\b|modelo|assistente|agente|inteligencia|llm)",
    },
    Rule {
        marker: "says that rules are suspended",
        any: &["suspendid", "suspens", "levantad", "anulad", "revogad", "aplica"],
        pattern: r"\b(?:politica|regla|restriccion|norma|regra|restric)\w*[^.!?\n]{0,50}?(?:suspendid|suspens|levantad|anulad|revogad|no se aplica|nao se aplica|ya no (?:se )?aplica)",
    },
    Rule {
        marker: "orders to remember",
        any: &["sesion", "conversacion", "memoria", "sessoes", "conversas"],
        pattern: r"\b(?:recuerd[ae]|guard[ae]|memori[zc]\w*|almacen\w*|anot[ae]|registr[ae])\b[^.!?\n]{0,60}?(?:(?:futuras?|proximas?|todas (?:las|tus|sus)) (?:\w+ )?(?:sesion|conversacion)\w*|en (?:la |tu |su )memoria)|\b(?:lembr\w*|salv[ae]|guard[ae]|memoriz\w*|armazen\w*|grav[ae]|registr[ae])\b[^.!?\n]{0,60}?(?:(?:futuras|proximas|todas as) (?:\w+ )?(?:sessoes|conversas)|n[ao] (?:sua |tua )?memoria)",
    },
    Rule {
        marker: "asks for secrets",
        any: &["sistema", "ocult", "contrasena", "clave", "chave", "senhas"],
        pattern: r"\b(?:muestr|revel|imprim|envi|mostr|exib)\w*[^.!?\n]{0,40}?(?:prompt (?:del sistema|do sistema|ocult\w+|de sistema)|contrasenas?|claves? (?:privadas?|secretas?|ssh|api)|chaves? (?:privadas?|secretas?|ssh|api)|senhas)",
    },
];
