//! Phrases that make an English sentence a rule, or cancel that.
//!
//! A *norm* demands or forbids ("never", "off limits", "before each commit"). A *manner* describes
//! a state ("goes into", "only", "is called"). A *subject* is a kind of thing ("all …", "we",
//! "handlers", a path). A *moment* is one failure, one wish, one time. Their numbers in a sentence
//! are features, which `weigh` combines with others.

use std::sync::LazyLock;

use retro_text::signs::{Sign, Signs};
use retro_text::tongue::is_spaced;

use super::tongues;

/// The beginning of a sentence that carries no meaning.
const LEAD: &str = r"^(?:[-*•\d.)# ]*)(?:(?:and|but|so|also|please|ok|okay|hey|no|nope|yes|well|one more thing|btw|by the way|remember|note|that|just so you know)\b[,:;!. ]*)*";
/// Like [`LEAD`], for patterns in which "no" is part of the rule.
const LEAD_NO: &str = r"^(?:[-*•\d.)# ]*)(?:(?:and|but|so|also|please|ok|okay|hey|yes|well|one more thing|btw|by the way|remember|note|that|just so you know)\b[,:;!. ]*)*";
/// A "no" before one of these words does not reject a thing.
const IDLE_NO: &str =
    r"(?i)\bno (?:problem|worries|need|idea|no|way|that|this|it|i|we|the|you|longer|more|man)\b";

const NORMS: &[Sign] = &[
    // From some time on.
    (
        r"\bfrom (?:now|here|today|this point) on(?:wards?)?\b|\bfrom today\b|\bgoing forward\b|\bin (?:the )?future\b|\bhenceforth\b|\bfor (?:the )?next (?:time|sessions?)\b|\bnext time\b",
        "",
    ),
    // Something is forbidden.
    (
        r"\b(?:off[- ]limits|hands off|banned|forbidden|not allowed|not permitted|prohibited|nowhere else|no-go|must not|mustn'?t|out of the question|leave (?:them|it|those|that) alone|read[- ]only|append[- ]only|by hand|nobody (?:calls|edits|touches|uses|writes|runs))\b|\b(?:you|we|they|one) may not\b",
        "",
    ),
    // Always and never, about actions.
    (
        r"\b(?:always|never) (?:\w+ ){0,2}?(?:use|run|add|put|push|commit|edit|touch|write|call|ask|create|start|keep|do|go|make|open|delete|change|format|name|test|check|mock|read|log|store|merge|deploy|install|import|skip|see|contain|hold|leave|assume|guess)\b",
        "",
    ),
    (
        r"\bwe (?:always|never|only|don'?t|do not|no longer)\b",
        r"\bwe (?:always|never|only|don'?t|do not|no longer) (?:know|have (?:a|any|the|to)|need|want|think|see|remember|get|care|really|actually|even|just)\b",
    ),
    (
        r"\bi (?:never|always|don'?t ever|do not ever) want\b|\bi (?:don'?t|do not) want (?:you to|to see|any \w+ (?:in|on|to))\b|\bwe (?:don'?t|do not) want (?:each|every|any|all|no|to)\b",
        "",
    ),
    // On every such occasion.
    (
        r"\b(?:whenever|every time|each time|any ?time) (?:you|we|someone|something|an?|the)\b|,? (?:every|each) (?:single )?time\b|\bwhenever\b",
        "",
    ),
    (r"\b(?:before|after|with|on|at the end of|at the start of) (?:every|each|any) ", ""),
    // Not on every run, only at the end.
    (
        r"\b(?:do not|don'?t|never|no need to)\b.{3,80}\b(?:every|each) (?:single )?(?:time|run|commit|change|edit|step|build|save|turn|prompt)\b",
        "",
    ),
    (r"{lead}(?:always )?ask me (?:when|if|whenever) you\b", ""),
    (
        r"{lead}(?:after|before|when|whenever|once) (?:each|every|any) .{2,40}, (?:also )?(?:add|bump|check|commit|document|log|note|push|run|test|update|write)\b|\bcommit (?:changes |your work )?(?:as you go|as each|after each)\b",
        "",
    ),
    (
        r"{lead}(?:keep in mind|bear in mind|never|always|as a rule|rule of thumb|house rule)\b|^(?:[-*\d.) ]*)(?:and |also |so |but |please )*remember (?:that|to always|to never|the)\b",
        r"\bnever mind\b",
    ),
    (r"\b(?:please )?(?:stop|quit|avoid) \w+ing\b", r"\b(?:stop|quit|avoid) \w+ing (?:the|this|that|it)\b"),
    (
        r"\bno (?:more|longer)\b.{0,40}\bplease\b|\b(?:don'?t|do not|never)\b.{3,80}\b(?:any ?more|without (?:asking|my)|unless)\b",
        "",
    ),
    // How the project does it.
    (
        r"\b(?:preferred|canonical|standard|usual|general(?:ly)?) (?:approach|pattern|way|convention|style|tool|preferred)\b|\bgenerally? (?:preferred|prefer|use)\b",
        "",
    ),
    (
        r"\b(?:ask|check with|tell) (?:me |us )?(?:first |me )?before\b|\bask me (?:when|if|whenever|for)\b|\bask (?:me )?first\b|\bwithout (?:asking|my (?:ok|approval|permission|confirmation))\b",
        "",
    ),
    // Requirements that something has to meet.
    (
        r"\b(?:isn'?t|is not|aren'?t|are not) (?:done|finished|complete|allowed|ready|merged|accepted) (?:without|until|unless|before)\b|\b(?:has|have|need|needs) to pass\b|\bbefore (?:you )?(?:say(?:ing)?|hand(?:ing)?|finish(?:ing)?|commit(?:ting)?|push(?:ing)?|claim(?:ing)?|report(?:ing)?|call(?:ing)? it)\b|\bgets? (?:rejected|refused|lost)\b",
        "",
    ),
    // Tasks that the user reserves for themselves.
    (
        r"\bi(?:'ll| will| do)\b.{0,40}\bmyself\b|\bi(?:'ll| will) (?:do|handle) (?:the|all)\b|\bi(?:'ll| will) (?:run|start|restart|commit|push|deploy|merge|release|publish|do the \w+ing|test)\b",
        r"\b(?:later|now|and then|tomorrow|tell me)\b",
    ),
    (
        r"\bmy preference\b|\bi(?:'d)? (?:prefer|rather) (?:you|that you|\w+ (?:over|to|than|rather))\b|\bit would be (?:good|nice|great|better) if you\b|\bi(?:'d| would) like you to\b|\bi (?:hate|dislike|love|like) (?:it )?when you\b",
        "",
    ),
    (
        r"\b(?:answer|reply|respond|write to me|talk to me|speak)(?: to me)? (?:only )?in (?-i:[A-Z])\w+|\b(?:answer|reply|respond) in (?:plain|simple|short)\b|\bkeep (?:your |the )?(?:answers?|replies|responses|explanations?|summar\w+)\b",
        "",
    ),
    // "uv, not pip"
    (
        r"{lead_no}[\w./@-]+(?: [\w./@-]+)?, not [\w./@-]+(?: [\w./@-]+)?[.!]?\s*$",
        r"{lead_no}(?:no|nope|yes|sure|why|maybe|it|that|this|ok)\b",
    ),
    (
        r"{lead}(?:do not|don'?t) (?:ever )?(?:ask|explain|summari[sz]e|guess|assume|apologi[sz]e|install|hardcode|hard-code|mock|amend|force[- ]push|rebase)\b",
        r"\b(?:ask|explain|summari[sz]e|guess|assume|install|mock|amend|rebase) (?:it|this|that|the)\b",
    ),
    // Facts about the project and the machine.
    (
        r"\bthis is (?:an? |our |the )?(?:\w+[- ]){0,2}(?:repo|repository|project|monorepo|codebase|library|oss|open[- ]source)\b",
        "",
    ),
    (
        r"\b(?:idiomatic|consisten(?:t|cy) with (?:the|our|how)|(?:our|the) (?:conventions?|standards?|guidelines?)|how we (?:typically|usually|always|normally|do)|the way we|like we do|same as (?:we do|our))\b",
        "",
    ),
    (
        r"^\W*(?:ok,? |btw,? |note:? |fyi,? )?i(?:'m| am)? (?:use|using|on|running|work on|work with|develop on) [\w.+-]+(?: [\w.]+){0,3}(?:[.,!;]|$)",
        r"\bi(?:'m| am)? (?:use|using|on|running|work on|work with|develop on) (?:the|it|this|that|a)\b",
    ),
    (r"\bsource of (?:truth|record)\b|\bour (?:stack|setup|team|policy|rule|workflow|process)\b", ""),
    (
        r"\bwe (?:\(\w+\) )?already (?:have|use)\b",
        r"\bwe already (?:have|use)\b.*\b(?:a lot|but|this|that|anyway)\b",
    ),
    // A file of rules, and the demand to follow it.
    (
        r"(?:\b(?:claude|agents|contributing|gemini|copilot-instructions)\.md\b|\.cursorrules\b|\b(?:style ?guide|guidelines|coding standards|conventions)\b).*\b(?:read|follow|obey|stick to|respect|says|ignored?|ignoring|violat\w+|directions?)\b|\b(?:read|follow|obey|stick to|respect|says|ignored?|ignoring|violat\w+|directions?|it'?s (?:right )?in)\b.*(?:\b(?:claude|agents|contributing|gemini|copilot-instructions)\.md\b|\.cursorrules\b|\b(?:style ?guide|guidelines|coding standards|conventions)\b)",
        r"^\W*(?:can|could|would|update|add|create|write)\b",
    ),
    // The location of the user's things.
    (
        r#"^\W*(?:my|our|the) [\w .-]{2,30} (?:is|are|runs|lives|listens|sits) (?:on|at|in|under) (?:port )?[`'"]?(?:\d{2,5}|[\w.~-]*/[\w./~-]+|localhost)[\w.`'"]*[.!]?$"#,
        "",
    ),
];

/// Closed things and their replacements.
const CHANGES: &[Sign] = &[(
    r"\b(?:is|are) (?:gone|closed|dead|frozen|retired|deprecated|obsolete|history|abandoned|archived|out|replaced)\b.*(?:,|;|\band\b|\bso\b|\bby\b).*\b(?:now|new|instead|moved|go|goes|use|we|from|by)\b|\bwe (?:moved|switched|migrated|changed|went) (?:everything |all \w+ )?(?:from \S+ )?(?:to|over to)\b",
    r"\bwe (?:moved|changed) (?:the )?(?:meeting|date|call|appointment)\b",
)];

/// References to earlier statements.
const REBUKES: &[Sign] = &[(
    r"\bhow (?:often|many times) (?:do|did|must|should|have) i\b|\bi(?:'ve| have)? (?:already )?told you\b|\bwe(?:'ve| have)? agreed\b|\bas (?:agreed|always)\b|\bi keep (?:telling|saying|having)\b|\byou (?:keep|always|never|constantly) \w+|\b(?:don'?t|didn'?t|did) you (?:ever |even )?read\b.*\b\w+\.md\b",
    "",
)];

const MANNERS: &[Sign] = &[
    (
        r"\b(?:must|has to|have to|ought to|are supposed to|is supposed to|shall|can only|cannot|may only)\b",
        "",
    ),
    (
        r"\b(?:belongs?|goes|go|lives?|stays?|gets?|come|comes|relies|rely|depends?) (?:only |always |all |first|in|into|to|through|via|from|under|on|with|here|there)\b",
        "",
    ),
    (r"\bonly\b", ""),
    (r"\bfor (?:every|each|any) ", ""),
    (r"[,:;] no \w+|\band no \w+|\bwithout (?:a|an|any)\b", ""),
    (r"\b(?:always|never)\b", ""),
    (
        r"\bwe (?:use|prefer|keep|deploy|support|target|follow|store|rely|stick|typically|usually|generally)\b",
        "",
    ),
    (
        r"\b(?:means|is written by|is generated|is (?:in|at|called|named)|are (?:called|named|written|net|stored|kept|values|supposed|for)|contains? no|has no|have no|is a copy|is the (?:entry|single|only|main|right|place|source))\b",
        "",
    ),
    (r"{lead_no}(?:no|keep|prefer|avoid|leave) \S+ \S+", IDLE_NO),
    (
        r"\b(?:don'?t|do not) (?:touch|edit|change|use|add|commit|push|create|write|put|run|call|import)\b",
        r"\b(?:don'?t|do not) (?:touch|edit|change|use|add|commit|push|create|write|put|run|call|import) (?:it|this|that|the|anything|yet)\b",
    ),
    (r"\bshould(?:n'?t| not)? (?:always|never|go in|live in|fail|come (?:first|from)|only)\b", ""),
    (r"\bprefer(?:red|s)?\b", ""),
    (r"\bneeds an? ", ""),
    (r"\beverywhere\b|\bin general\b|\bby default\b|\bat all times\b", ""),
];

const SUBJECTS: &[Sign] = &[
    (
        r"{lead_no}(?:all|every|each|any|no|one|a|an|new|most|everything|everyone|nobody|nothing|anything) [\w./`-]+",
        r"(?i)\bno (?:problem|worries|need|idea|no|way|that|this|it|i|we|the|you|longer|more|man)\b|\ball (?:good|right|fine|set|done|ok)\b",
    ),
    (
        r"\b(?:in|for|of|across) (?:this|our|my) (?:repo|repository|project|codebase|code base|monorepo|team|company|package)\b|\bhere we\b|\baround here\b|^(?:in|for|under|with) (?:the )?[\w./-]+,? (?:we|everything|all|no)?\b",
        "",
    ),
    (r"{lead}(?:we|our)\b|[,;] we\b", ""),
    (
        r"{lead}(?:the )?(?:[`\w.~-]*/[\w./<>*-]*|`[^`]+`|\b\w+\.(?:md|json|ya?ml|toml|js|ts|py|rs|go|sql|sh|txt|lock)\b)",
        "",
    ),
    // A plural without an article.
    (
        r"(?:{lead}|(?:[,;:—–]|\bthat|\bin (?:the|our|this) \w+,) +)(?:[a-z][\w-]+ ){0,2}[a-z][\w-]*[a-rt-z]s (?:\w+ )?(?:are|have|carry|contain|go|live|come|belong|stay|must|should|get|use|need|only|never|always|follow|start|end|hold|fail)\b",
        r"(?:{lead}|(?:[,;:—–]|\bthat) +)(?:this|that|thus|does|was|its|his|yes|is|as|has|plus|always|there|these|those|results|thanks|looks|seems|lets|works|needs|sometimes|things|it|the|your|my)\b",
    ),
    (r"^(?:[-*\d.) ]*)(?:the )?[a-z][\w ]{2,25}: \w", ""),
    (r"{lead}if (?:you|a|an|any)\b", ""),
    (r"^(?:[-*\d.) ]*)only (?:the |a |an )?[\w-]+ (?:[\w-]+ )?\w+s?\b", r"^\W*only thing\b"),
    (r"\b(?:by hand|everywhere)\b", ""),
];

/// References to a single moment, failure or wish.
const MOMENTS: &[Sign] = &[
    (
        r"\bi (?:wonder|guess|forget|forgot|think|thought|tried|see|saw|got|get|was|have|had|did|just|always (?:forget|get|have))\b",
        "",
    ),
    (
        r"\b(?:still|yet|this time|right now|currently|at the moment|for now|for this one|just now|again|this session|today only)\b",
        "",
    ),
    (
        r"^\W*(?:and |but |so )?(?:it|that|this) (?:only|never|always|doesn'?t|does|was|did|took|seems|looks|should|must|needs|has to|stays|works|fails|is|gets)\b",
        "",
    ),
    (r"\b(?:was|were|had|did|took|happened|crashed|failed|worked|reported|returned|noticed)\b", ""),
    (r"\b(?:let'?s|lets|can you|could you|would you|will you)\b", ""),
    (
        r"\b(?:fails|failing|crash(?:es)?|doesn'?t work|broken|bug|wrong|green|empty|twice|missing|out of date|slow|hangs?|returns|\w+Error)\b",
        "",
    ),
    (
        r"\b(?:we|i|you)(?:'ll)? (?:either |also |really |now |just |probably )?(?:need|have|want|should|can|could)\b",
        r"\b(?:need|have|want|should|can|could) (?:no|always|never|pass)",
    ),
    (r"^\W*(?:\w+\W+){0,3}(?:this|that|it|these|those)[.!]*\s*$|^\W*(?:no|nope)\W+\w*\W*$", ""),
    (r"\b(?:button|page|header|dialog|color|colour|screen|font|column|menu|tab)\b", ""),
    (r"\b(?:maybe|perhaps|probably|idk|i guess|or something)\b", ""),
];

struct English {
    norms: Signs,
    changes: Signs,
    rebukes: Signs,
    manners: Signs,
    subjects: Signs,
    moments: Signs,
}

static ENGLISH: LazyLock<Option<English>> = LazyLock::new(|| {
    let written = |text: &str| text.replace("{lead_no}", LEAD_NO).replace("{lead}", LEAD);
    let of = |table| Signs::of(table, written);
    Some(English {
        norms: of(NORMS)?,
        changes: of(CHANGES)?,
        rebukes: of(REBUKES)?,
        manners: of(MANNERS)?,
        subjects: of(SUBJECTS)?,
        moments: of(MOMENTS)?,
    })
});

/// Minimum weight of a rule's form in other languages.
pub(super) const RULE: i32 = 2;

/// The form of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// The weight in favour of a rule.
    pub weight: i32,
    /// True if it gives a start, or claims to be permanent, in a language other than English.
    pub lasting: bool,
    /// True if it mentions a different past.
    pub changes: bool,
}

/// The number of signs from each table in an English sentence, by feature name.
pub(super) fn counts(sentence: &str) -> Vec<(&'static str, u8)> {
    let Some(english) = ENGLISH.as_ref() else { return Vec::new() };
    [
        ("s:N", &english.norms),
        ("s:M", &english.manners),
        ("s:S", &english.subjects),
        ("s:O", &english.moments),
        ("s:C", &english.changes),
        ("s:B", &english.rebukes),
    ]
    .into_iter()
    .map(|(name, signs)| (name, signs.count(sentence)))
    .collect()
}

/// The form of a sentence.
pub(super) fn shape(sentence: &str) -> Shape {
    let changes =
        is_spaced(sentence) && ENGLISH.as_ref().is_some_and(|signs| signs.changes.count(sentence) > 0);
    let other = tongues::shape(sentence);
    Shape { weight: 0, lasting: other.is_some_and(|shape| shape.lasting), changes }
}
