//! Weighs the words of a message as evidence for a correction.
//!
//! *Rejections* say that something is wrong, unwanted or to be undone. *Reports* say that a result
//! is not right: weaker, because a report may be news. Requests, proposals, questions and thanks
//! are evidence against it.

use std::sync::LazyLock;

use retro_text::signs::{Sign, Signs};
use retro_text::tongue::{is_english, is_spaced, words};

use super::tongues;

const REJECTIONS: &[Sign] = &[
    (
        r"^\W*(?:no|nope|nah|nooo+|wrong|stop|hold on|hang on)\b[\s,.!:;—–-]|^\W*wait(?:[,.!:;—–-]|\s+(?:no|i|we|you|that|this|it|what|why)\b)|^\W*(?:no|nope|wrong|stop)[.!]*\s*$",
        "",
    ),
    (
        r"\b(?:that'?s|that is|this is|it'?s|it is) (?:not (?:what|how|right|correct|quite|it|the|true|really|gonna|going)|wrong|incorrect|no good|too much|even worse)\b",
        "",
    ),
    (r"\bnot what (?:i|we) (?:asked|meant|want|wanted|said|had in mind)\b", ""),
    (
        r"\byou (?:misunderstood|forgot|missed|broke|ignored|skipped|should(?:n'?t| not)? have|did ?n'?t|were not supposed|just (?:duplicated|repeated|removed|deleted|changed|copied)|removed|still|literally|keep|have directions)\b|\byou'?re (?:still )?not\b",
        "",
    ),
    (
        r"\bi (?:said|asked for|told you|meant|mean|did ?n'?t ask|never asked|don'?t (?:like|want|agree|trust)|don'?t think (?:that|this|it))\b|\bi(?:'ve| have)? (?:already )?(?:said|told|reverted|discarded)\b",
        "",
    ),
    (
        r"\b(?:why did you|why are you|since when|why do (?:we|you) (?:have|need)|why (?:so|is (?:this|that|it|most|every)|aren'?t|isn'?t|doesn'?t)|what the (?:hell|heck|fuck)|what are you|did ?n'?t you|don'?t you|did you (?:not|even|just|actually))\b",
        "",
    ),
    (
        r"^\W*(?:please |just |but |and )?(?:don'?t|do not|never|stop)\b",
        r"\b(?:don'?t|do not|never) (?:forget|worry|mind)\b",
    ),
    (
        r"\b(?:use|prefer|try|do|put|make it|want|have it|let'?s(?: do| have it)?) .{1,60}\binstead\b|\binstead of\b|\brather than\b",
        "",
    ),
    (r"^\W*(?:ok,? |hmm+,? |well,? )?actually\b", ""),
    (
        r"\bshould(?:n'?t| not) (?:be|have|do|show|go|need|use)\b|\bshould (?:have been|be .{0,50}\b(?:not|instead|rather))\b",
        "",
    ),
    (
        r"^\W*(?:please |can you |ok,? |now )?(?:undo|revert|roll ?back|put (?:it|that) back|restore)\b|\b(?:undo|revert|roll ?back) (?:that|this|it|your|the (?:last|change|changes|edit|commit))\b|\b(?:move|put|change|bring) .{0,40}\bback\b",
        "",
    ),
    (
        r"\bwe (?:don'?t|do not) (?:want|need)\b|\bno need (?:for|to)\b|\b(?:isn'?t|not) (?:needed|necessary|required|the issue)\b",
        "",
    ),
    (r"^\W*(?:ugh|oof|hmm+|whoa|argh|yikes|eww?|huh|uhh?|come on|dude|man)\b", ""),
    (r"\bi(?:'ll| will) (?:do|run|test)\b", ""),
    (
        r"\b(?:we|this project|this repo|our team) (?:use|uses|deploy|deploys|run|runs|always|never|prefer)\b.{0,60}\b(?:here|not|in this|with)\b",
        "",
    ),
];

const REPORTS: &[Sign] = &[
    (
        r"\b(?:doesn'?t|does not|didn'?t|did not|isn'?t|is not|aren'?t|are not|not|won'?t|never) (?:seem to |actually |really |even |yet )?(?:work|show|appear|render|update|load|display|change|do anything|handle|match|compile|run|fit|happen|respond|there|visible|right|correct|consistent|found|defined|aligned|centered|get|include)\w*\b",
        "",
    ),
    (r"\bstill\b", ""),
    (
        r"\bi (?:still )?(?:don'?t|do not|can'?t|cannot|can not) (?:see|find|get|open|run|understand|access|use)\b|\bi (?:no longer|only) (?:see|get)\b",
        "",
    ),
    (
        r"\b(?:i (?:get|got|see|saw|am getting|'m getting|am seeing|'m seeing|keep getting|notice)|(?:it|this|that) (?:says|gives|shows|throws|crashes|fails|failed)|there(?:'s| is| are)|getting|seeing|hitting|got|looks like|seems) .{0,60}\b(?:errors?|exception|issue|problem|wrong|warning|bug|twice|duplicat\w+|missing|hidden|behind|overlap\w*|empty|blank)\b",
        "",
    ),
    (
        r"^\W*(?:\w*Error|error|uncaught|exception|traceback|failed|fatal|panic)\b|\b(?:TypeError|SyntaxError|ReferenceError|ValueError|KeyError|ModuleNotFoundError|ImportError|NullPointer|segfault|Traceback \(most)|Console Error",
        "",
    ),
    (
        r"\b(?:nothing|none|absolutely nothing) (?:happens?|shows?|changed|is|works?|appears?)\b|\bno (?:change|difference|effect|luck|matches)\b",
        "",
    ),
    (
        r"\btoo (?:narrow|wide|small|big|large|long|short|slow|much|many|far|close|high|low|dark|bright|thin|thick)\b",
        "",
    ),
    (
        r"\b(?:broken|broke|breaks|messed up|squished|overlapping|cut off|duplicate[sd]?|double[- ]\w+ing|misaligned|hidden|stretches|flicker\w*|worse|wrong|incorrect|missing|inconsistent|oddity)\b",
        "",
    ),
    (
        r"\b(?:good|great|better|nice|works?|ok|okay|cool|perfect|yes|closer|loads)\b[^?]{0,60}?[,.]? ?\b(?:but|except|however|although)\b",
        "",
    ),
    (
        r"\b(?:only|just) (?:ever )?(?:takes?|shows?|goes|covers?|works?|stretches|gets?|see|displays?|handles?|half|about half)\b",
        "",
    ),
    (
        r"\b(?:same (?:thing|error|issue|problem|result)|not fixed|regress\w*|used to work|worked before|no longer)\b",
        "",
    ),
    (r"\b(?:expected|supposed to|intended)\b.{0,60}(?:\b(?:but|instead|not)\b|\?)", ""),
    (
        r"\bfix (?:this|that|it|me)\b|\b(?:is|are) (?:not|no longer) .{0,30}\b(?:any ?more|correctly|properly)\b|\bwhere (?:is|are|did) (?:the|my)\b",
        "",
    ),
    (r"\b(?:again|even worse|already (?:done|did|have))\b|^\W*\[?image #?\d", ""),
];

/// Requests that continue the work.
const REQUESTS: &[Sign] = &[(
    r"^\W*(?:ok(?:ay)?,? |now,? |and |also,? |so,? |please |great[.,!]* |let'?s |yes,? |next,? )*(?:add|create|implement|write|make|build|update|commit|push|run|review|check|explain|look|show|tell|give|help|generate|let'?s|can you|could you|would you|what|how|is there|are there|do you|does|which|where|who|when|should|i want|i need|i'd like|we need|start|continue|proceed|go|move|set up|install|use|remove|rename|refactor|test|analy[sz]e|read|find|search|plan|think)\b",
    r"^\W*(?:please |just )?(?:use|prefer|try)\b.*\b(?:instead|rather|not)\b",
)];
const PROPOSALS: &[Sign] =
    &[(r"\b(?:what about|how about|an idea|maybe|perhaps|i think|i wonder|(?:could|can|should) we)\b", "")];
const THANKS: &[Sign] = &[
    (
        r"^\s*(?:no (?:problem|worries)|not bad|no,? (?:that'?s|it'?s|all) (?:fine|good|ok|okay|perfect|great)|no thanks)\b",
        "",
    ),
    (
        r"^\W*(?:thanks|thank you|great|perfect|nice|awesome|lgtm|looks good|you'?re right|good catch|good|cool|sweet)[\s!,.]*(?:\w+[\s!,.]*){0,4}$",
        "",
    ),
];
/// Words of most reports: a "not", a "but", the person's own attempts, and the parts they mention.
const HINTS: &[Sign] = &[
    (r"\b(?:\w+n'?t|not|no|never|nothing|none|neither|without|cannot)\b", ""),
    (r"\b(?:but|except|however|although|yet|even though)\b", ""),
    (
        r"\bi (?:just )?(?:ran|tried|clicked|tested|opened|checked|launched|pressed|typed|notice|see|get)\b|\bwhen i\b|\bif i\b",
        "",
    ),
    (r"\b(?:you(?:'ve)?|it|this|that|these|those|they)\b", ""),
];
/// Redirections that begin new work as often as they correct.
const CHANGES_OF_MIND: &[Sign] = &[(
    r"\binstead of\b|\brather than\b|^\W*(?:ok,? |hmm+,? |well,? )?actually\b",
    r"^\W*(?:please |just )?(?:use|prefer|try)\b",
)];

/// The first characters of a message are searched for signs, and fewer for hints.
const SIGN_CHARS: usize = 700;
const HINT_CHARS: usize = 300;
/// A longer message is a task of its own.
const LONG_CHARS: usize = 1200;

/// A message's weight as a correction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weighed {
    /// The evidence for it, minus the evidence against it.
    pub weight: f64,
    /// True if it rejects or redirects. Otherwise it only reports.
    pub rejects: bool,
    /// True if it reports that a result is not right.
    pub reports: bool,
}

struct English {
    rejections: Signs,
    reports: Signs,
    requests: Signs,
    proposals: Signs,
    thanks: Signs,
    hints: Signs,
    changes_of_mind: Signs,
}

static ENGLISH: LazyLock<Option<English>> = LazyLock::new(|| {
    let of = |table| Signs::of(table, str::to_owned);
    Some(English {
        rejections: of(REJECTIONS)?,
        reports: of(REPORTS)?,
        requests: of(REQUESTS)?,
        proposals: of(PROPOSALS)?,
        thanks: of(THANKS)?,
        hints: of(HINTS)?,
        changes_of_mind: of(CHANGES_OF_MIND)?,
    })
});

/// Weighs the words of a message in any language.
pub(super) fn weigh(text: &str) -> Weighed {
    let spaced = is_spaced(text);
    let reads_english = spaced && is_english(&words(text));
    let english = ENGLISH.as_ref().filter(|_| spaced).map(|signs| english(signs, text));
    // English signs do not count in a text in another language.
    let english = english.filter(|weighed| reads_english || weighed.rejects || weighed.reports);
    let other = if reads_english { None } else { tongues::weigh(text) };
    match (english, other) {
        (Some(english), Some(other)) if other.weight > english.weight => other,
        (Some(english), _) => english,
        (None, Some(other)) => other,
        (None, None) => Weighed { weight: 0.0, rejects: false, reports: false },
    }
}

fn english(signs: &English, text: &str) -> Weighed {
    let text = text.replace('’', "'");
    let head = head(&text, SIGN_CHARS);
    let (rejections, reports) = (signs.rejections.count(head), signs.reports.count(head));
    let times = |count: u8, max: u8, weight: f64| f64::from(count.min(max)) * weight;
    let is = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
    let weight = times(rejections, 2, 1.2)
        + times(reports, 3, 0.7)
        + times(signs.hints.count(self::head(&text, HINT_CHARS)), 4, 0.2)
        - 0.3
        - times(signs.requests.count(&text), 1, 0.7)
        - times(signs.proposals.count(head), 1, 0.5)
        - times(signs.thanks.count(head), 1, 1.5)
        - is(rejections > 0 && signs.changes_of_mind.count(head) > 0, 0.4)
        - is(text.trim_end().ends_with('?'), 0.4)
        - is(text.chars().count() > LONG_CHARS, 1.0);
    Weighed { weight, rejects: rejections > 0, reports: reports > 0 }
}

/// The first characters of a text, up to a limit.
fn head(text: &str, chars_max: usize) -> &str {
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}
