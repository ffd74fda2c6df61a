//! Rules for orders in German.

use super::Rule;

/// The table of German rules.
pub(super) const RULES: &[Rule] = &[
    Rule {
        marker: "sets earlier instructions aside",
        any: &[
            "ignorier",
            "vergiss",
            "vergess",
            "missacht",
            "verwirf",
            "verwerfen",
            "uberschreib",
            "ubergeh",
            "umgeh",
            "uberspring",
            "befolg",
            "beacht",
            "dich",
        ],
        pattern: r"\b(?:ignorier\w*|vergiss|vergesst|vergessen sie|missacht\w*|verwirf|verwerfen|uberschreib\w*|ubergeh\w*|umgeh\w*|uberspring\w*|befolg\w*|beacht\w*|halte? dich)\b…(?:\b(?:vorherig|vorig|bisherig|obig|vorangegangen|vorhergehend|fruher|vorstehend|zuvor|samtlich|vorab|gegeben|all|dein|ihr|eure|system|sicherheit)\w*…(?:anweisung|instruktion|regel|befehl|vorgabe|richtlinie|prompt|hinweis|auftrag|auftrage)|(?:anweisung|instruktion|regel|befehl|vorgabe|richtlinie)\w*‥\b(?:oben|zuvor|bisher|von vorhin|davor|nicht mehr))|\b(?:vergiss|vergessen sie|vergesst)\b,? (?:alles|was)\b…(?:gesagt|aufgetragen|mitgeteilt|weisst|gelernt|vorher|zuvor|bisher|oben)",
    },
    Rule {
        marker: "gives new instructions",
        any: &["neue"],
        pattern: r"\b(?:deine|ihre|eure) neuen? (?:anweisung|aufgabe|regel|befehl|auftrag|rolle)",
    },
    Rule {
        marker: "gives the agent another role",
        any: &["bist", "sind"],
        pattern: r"\b(?:du bist|ab (?:sofort|jetzt) bist du|sie sind|jetzt bist du) (?:jetzt |nun |ab sofort |ab jetzt |von nun an |nicht (?:mehr|langer) )+(?:an )?(?:im \w+modus|im \w+ modus|in \w+ modus|ein\w*\b|dan\b|frei\b|der\b|die\b|admin\w*|root|ohne|uneingeschrankt|nicht|an [^\n]{0,30}gebunden|gebunden)",
    },
    Rule {
        marker: "keeps something from the user",
        any: &["nicht", "kein", "ohne"],
        pattern: r"\b(?:sag\w*|erzahl\w*|teile?n?|verrat\w*|informier\w*|meld\w*|erwahn\w*|zeig\w*|bericht\w*)\b[^.!?\n]{0,40}?(?:nutzer|benutzer|anwender|user)\w*[^.!?\n]{0,30}?\b(?:nicht|nichts|kein\w*)\b|\b(?:sag\w*|erzahl\w*|verrat\w*|informier\w*|erwahn\w*)\b[^.!?\n]{0,20}?\b(?:nicht|nichts)\b[^.!?\n]{0,30}?(?:nutzer|benutzer|anwender)|\bohne\b[^.!?\n]{0,30}?(?:nutzer|benutzer|anwender)\w*[^.!?\n]{0,30}?(?:informier|frag|mitzuteil|sagen|benachrichtig|wissen)|\bohne (?:wissen|zustimmung|kenntnis)\b[^.!?\n]{0,20}?(?:nutzer|benutzer|anwender)",
    },
    Rule {
        marker: "speaks to agents",
        any: &[
            "hinweis",
            "nachricht",
            "anweisung",
            "achtung",
            "notiz",
            "wichtig",
            "mitteilung",
            "information",
            "falls",
            "wenn",
            "sofern",
        ],
        pattern: r"\b(?:hinweis|nachricht|anweisung|achtung|notiz|wichtig|mitteilung|information)\w*[ ]*(?:an|fur|:|,)?[ ]*(?:alle |den |die |das |jede\w* )?(?:ki|ai|llm|sprachmodell|coding)(?:[- ]?(?:agent|assistent|modell|system|bot)\w*|e|s|e?n)?\b[ ]*(?:[:,!]|-|die |der |das )|\b(?:falls|wenn|sofern) (?:du|sie) (?:ein\w* )?(?:\w+ )?(?:ki|sprachmodell|ai|llm|assistent|agent|kunstliche)\w*\b",
    },
    Rule {
        marker: "says that rules are suspended",
        any: &["ausgesetzt", "aufgehoben", "nicht", "kraft"],
        pattern: r"\b\w*(?:richtlinie|regel|vorschrift|einschrankung|sicherheitsregel|sicherheitsvorgabe|vorgabe|prufpflicht)\w*[^.!?\n]{0,50}?(?:ausgesetzt|aufgehoben|gelten nicht|gilt nicht|au(?:ss|ß)er kraft)|\b(?:gelten|gilt)\b[^.!?\n]{0,30}?(?:richtlinie|regel|vorschrift|einschrankung|vorgabe)\w*[^.!?\n]{0,20}?\bnicht\b",
    },
    Rule {
        marker: "orders to remember",
        any: &["merk", "speicher", "behalt", "sicher", "notier"],
        pattern: r"\b(?:merk\w*|speicher\w*|behalt\w*|sicher\w*|notier\w*)\b[^.!?\n]{0,60}?(?:(?:zukunftig|kunftig|weitere|alle|jede)\w* (?:\w+ )?(?:sitzung|session|gesprach|unterhaltung)|(?:ins|im|in dein\w*|in ihr\w*|in das|dauerhaft im) (?:langzeit)?(?:gedachtnis|memory))",
    },
    Rule {
        marker: "asks for secrets",
        any: &[
            "systemprompt",
            "system-prompt",
            "systemanweisung",
            "versteckten",
            "zugangsdaten",
            "passworter",
            "schlussel",
        ],
        pattern: r"\b(?:zeig|verrat|gib|druck|nenn|schick|send|lad)\w*[^.!?\n]{0,40}?(?:system-?prompt|systemanweisung|versteckten prompt)|\b(?:schick|send|lad|uber?mittl)\w*[^.!?\n]{0,40}?(?:zugangsdaten|passworter|private[nr]? schlussel)",
    },
];
