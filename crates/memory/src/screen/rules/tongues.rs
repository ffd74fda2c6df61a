//! Rules for orders in other languages, a file for each; accents on Latin letters are gone
//! when they are tried. The rules of a language are made only when one of its words is met,
//! so keywords are words that English does not use, where the pattern has such words.

mod east_asian;
mod french;
mod german;
mod iberian;
mod russian;

use super::Rule;

/// The rules of every language.
pub(super) const RULES: [&[Rule]; 6] =
    [SEVERAL, east_asian::RULES, french::RULES, german::RULES, iberian::RULES, russian::RULES];

/// Rules whose words belong to several languages.
const SEVERAL: &[Rule] = &[
    Rule {
        marker: "sets earlier instructions aside",
        any: &[
            "istruzion",
            "regole",
            "direttive",
            "ordini",
            "comandi",
            "instructies",
            "regels",
            "opdrachten",
            "instrukcj",
            "polecen",
            "zasad",
            "talimat",
        ],
        pattern: r"\b(?:ignora(?:re|te)?|dimentica(?:re|te)?|trascura(?:re)?|negeer|vergeet|zignoruj|zapomnij|pomin)\b…(?:precedent|sopra|tutt|vorige|eerdere|bovenstaande|alle|poprzedni|wszystki|wczesniejsz)\w*…(?:istruzion|regole|direttive|ordini|comandi|instructies|regels|opdrachten|instrukcj|polecen|zasad)|\b(?:ignora|dimentica)\w*‥(?:istruzion|regole|direttive)\w*‥(?:precedent|sopra)|onceki talimat‥(?:yok say|unut|gormezden)",
    },
    Rule {
        marker: "claims authority",
        any: &[
            "erlaub",
            "autorisier",
            "genehmig",
            "befehl",
            "befiehlt",
            "ermachtig",
            "dich",
            "gestatt",
            "autoris",
            "permet",
            "ordonn",
            "autoriz",
            "permit",
            "orden",
            "concedo",
        ],
        pattern: r"\b(?:als|im namen|anweisung (?:der|des|vom|von)|der|die|en tant qu|au nom d|le|l'|les|como|en nombre d|em nome d|el|los|o|os|soy|sou|je suis|ich bin)\w*'?[^.!?\n]{0,40}?(?:administrator|betreiber|maintainer|entwickler|mainteneur|administrateur|developpeur|proprietaire|operateur|mantenedor|administrador|desarrollador|propietario|operador|desenvolvedor|proprietario)\w*[^.!?\n]{0,60}?\b(?:erlaub\w*|autorisier\w*|genehmig\w*|befehl\w*|befiehlt|ermachtig\w*|weis\w* dich|gestatt\w*|autoris\w*|permets|permet|ordonn\w*|autoriz\w*|permit\w*|orden\w*|concedo)\b",
    },
];
