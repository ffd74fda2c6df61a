//! Rules in a person's messages: "use X, not Y", "always …", "never …", "we … here".
//!
//! A rule is a sentence as typed, with the wanted and rejected things. Two rules have the same
//! subject if one wants a thing that the other rejects. `shape` finds sentences in the form of a
//! rule without these words, with the surrounding text. Form alone never causes a memory to be
//! shown unasked.

mod shape;
mod signs;
mod tongues;
mod unlike;
mod weigh;

use std::sync::LazyLock;

use regex::Regex;

pub(crate) use unlike::is_task;

/// A lasting request or prohibition by a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    /// The words, as typed.
    pub text: String,
    /// The wanted things.
    pub wants: Vec<String>,
    /// The rejected things.
    pub rejects: Vec<String>,
    /// True if it claims to be permanent: "always", "never", "from now on", "here".
    pub lasting: bool,
    /// True if it claims to apply everywhere.
    pub everywhere: bool,
    /// True if only the form of its sentences makes it a rule.
    pub shaped: bool,
    /// True if it mentions a different past.
    pub changes: bool,
    /// True if it is clearly a rule, in any words: it states how things are done, and mentions no
    /// single moment, failure or wish.
    pub clear: bool,
    /// It says that it was said before.
    pub again: bool,
}

/// Maximum characters of a rule's text.
const TEXT_CHARS_MAX: usize = 300;
/// Maximum words of a wanted or rejected thing.
const THING_WORDS_MAX: usize = 5;

const THING: &str = r"(?P<x>[^\n,;.!?:]*(?:\.\w[^\n,;!?:.]*)*)";

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(&text.replace("{x}", THING)).ok()
}

/// Patterns of wanted things.
static WANTS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?i)\b(?:use|prefer|go with|switch to|stick to|stay with|try) {x}",
        r"(?i)\balways (?:use|run|call|add|write|put|keep|start|commit|open|name|prefer|make|check|include) {x}",
        r"(?i)\bwe (?:always |only |usually )?(?:use|deploy with|deploy|build with|test with|run|keep|prefer|write|name|have) {x}",
        r"(?i)\b(?:must|should|has to|have to) (?:always )?(?:use|be|run|go through|start with|end with) {x}",
        r"(?i)\bmake sure (?:to|that|you) {x}",
        r"(?i)\bremember (?:to|that) {x}",
        r"(?i)\bfrom now on,? {x}",
    ]
    .iter()
    .filter_map(|text| pattern(text))
    .collect()
});

/// Patterns of rejected things.
static REJECTS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?i)\b(?:don'?t|do not|never|stop|avoid|please don'?t|no need to) (?:ever )?(?:use|using|add|adding|run|running|touch|touching|edit|editing|change|changing|create|creating|commit|committing|push|pushing|write|writing|call|calling|mock|mocking|import|importing|put|putting|delete|deleting|install|installing|skip|skipping|make|making|rely on|depend on) {x}",
        r"(?i)\binstead of (?:using )?{x}",
        r"(?i)\brather than (?:using )?{x}",
        r"(?i)(?:,| and) not {x}",
        r"(?i)\bwe (?:never|don'?t|do not) (?:use|run|write|have|keep|commit|push|mock|call) {x}",
        r"(?i)\bno (?:more )?{x} (?:here|in this (?:repo|repository|project|package|codebase))",
        r"(?i)\bfree of {x}",
    ]
    .iter()
    .filter_map(|text| pattern(text))
    .collect()
});

static LASTING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)^\s*(?:please |and |also |so |but )*(?:always|never)\b|\bfrom now on\b|\bwe (?:always|never)\b|\bwe only (?:use|deploy|run|write|support)\b",
        r"|\byou (?:should|must) (?:always|never)\b|\b(?:we|i) (?:use|deploy|keep|prefer|write|have|don'?t|do not|run)\b[^.\n]{0,80}\b(?:here|in this (?:repo|repository|project|package|codebase)|for this)\b",
        r"|\bin this (?:repo|repository|project|codebase),? (?:we|use|always|never|please|don'?t|do not)\b|\bi (?:always|never) want\b|[,;] (?:always|never|every time|no exceptions)[.!]*\s*$|\bthis (?:project|repo|repository|package) (?:uses|is|has|must|never)\b[^.\n]{0,60}\bnot\b"
    ))
    .ok()
});
static EVERYWHERE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:everywhere|globally|in (?:all|any|every)(?: of)?(?: my| our)? (?:repos?|repositories|projects?|codebases?)|in general|whatever the (?:repo|project)|across (?:all )?(?:my |our )?(?:repos|projects))\b").ok()
});
/// The opening of a sentence that is not part of the rule.
static OPENING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(?:(?:no|nope|wait|stop|hey|hm+|ok|okay|also|and|but|please|again|actually)\b[\s,.!:;—–-]*)+").ok()
});

/// The rules in a person's message. In a correction every rule counts, elsewhere only lasting ones.
pub(crate) fn rules(message: &str, is_correction: bool) -> Vec<Rule> {
    let mut found: Vec<(usize, usize, Rule)> = Vec::new();
    for (start, end) in sentences(message) {
        let Some(sentence) = message.get(start..end) else { continue };
        let Some(rule) = rule(sentence) else { continue };
        if !(is_correction || rule.lasting) {
            continue;
        }
        match found.last_mut() {
            // Consecutive sentences form one rule with its reason.
            Some((from, to, last)) if start.saturating_sub(*to) <= 2 && end - *from <= TEXT_CHARS_MAX => {
                *to = end;
                last.text = message.get(*from..end).unwrap_or_default().trim().to_owned();
                last.wants.extend(rule.wants);
                last.rejects.extend(rule.rejects);
                last.lasting |= rule.lasting;
                last.everywhere |= rule.everywhere;
                last.again |= rule.again;
            }
            _ => found.push((start, end, rule)),
        }
    }
    let mut rules: Vec<Rule> = found.into_iter().map(|(_, _, rule)| rule).collect();
    for rule in &mut rules {
        let skip =
            OPENING.as_ref().and_then(|opening| opening.find(&rule.text)).map_or(0, |found| found.end());
        if let Some(rest) = rule.text.get(skip..).filter(|rest| rest.chars().count() >= 12) {
            rule.text = rest.to_owned();
        }
        for list in [&mut rule.wants, &mut rule.rejects] {
            list.sort();
            list.dedup();
        }
        let rejects = rule.rejects.clone();
        rule.wants.retain(|thing| !rejects.contains(thing));
    }
    rules.retain(|rule| {
        let is_clear = !rule.wants.is_empty() && !rule.rejects.is_empty();
        (!rule.wants.is_empty() || !rule.rejects.is_empty())
            // A request for a single task is not a rule.
            && (rule.lasting || is_clear || says_general(&rule.text))
            && rule.text.chars().count() <= TEXT_CHARS_MAX + 40
    });
    rules
}

/// Words that extend a sentence beyond the current task.
fn says_general(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "every time",
        "each time",
        "anymore",
        "any more",
        "ever ",
        "at all",
        "unless",
        "without asking",
        "please stop",
        "again",
        "in general",
        "by default",
        "no matter",
    ]
    .iter()
    .any(|words| lower.contains(words))
        || is_lasting(text)
}

/// True for a question. "Since when" or "why" states no wish.
fn is_question(sentence: &str) -> bool {
    let first = sentence.split_whitespace().next().unwrap_or_default().to_lowercase();
    sentence.trim_end().ends_with('?')
        || matches!(
            first.as_str(),
            "what"
                | "why"
                | "how"
                | "when"
                | "where"
                | "who"
                | "which"
                | "is"
                | "are"
                | "does"
                | "did"
                | "can"
                | "could"
                | "should"
        )
        || sentence.to_lowercase().starts_with("do we ")
}

fn is_lasting(sentence: &str) -> bool {
    LASTING.as_ref().is_some_and(|set| set.is_match(sentence))
}

fn rule(sentence: &str) -> Option<Rule> {
    if is_question(sentence) {
        return None;
    }
    let is_match = |set: &Option<Regex>| set.as_ref().is_some_and(|set| set.is_match(sentence));
    let things = |patterns: &[Regex]| -> Vec<String> {
        patterns
            .iter()
            .flat_map(|pattern| pattern.captures_iter(sentence))
            .filter_map(|found| thing(found.name("x")?.as_str()))
            .collect()
    };
    let (mut wants, mut rejects) = (things(&WANTS), things(&REJECTS));
    // "don't use X" holds "use X"; "we have to X" and "use to X" name nothing that is wanted.
    wants.retain(|thing| !rejects.contains(thing) && !thing.starts_with("to "));
    for thing in &mut rejects {
        if let Some(rest) = thing.strip_prefix("to ") {
            *thing = rest.to_owned();
        }
    }
    let names_something = !wants.is_empty() || !rejects.is_empty();
    (names_something && !unlike::is_unlike(sentence, "")).then(|| Rule {
        text: sentence.trim().to_owned(),
        wants,
        rejects,
        lasting: is_lasting(sentence),
        everywhere: is_match(&EVERYWHERE),
        shaped: false,
        changes: false,
        clear: false,
        again: signs::says_again(sentence),
    })
}

/// Parts of a typed text that have the form of a rule, in any language, apart from `known` rules.
/// `times` is the number of repetitions. A short text is kept whole: a rule often has its reason,
/// or the alternative, in the next sentence.
/// Of a message that lists the steps of a task only what says that it lasts is kept.
pub(crate) fn shaped(text: &str, times: usize, is_task: bool, known: &[Rule]) -> Vec<Rule> {
    let is_known = |sentence: &str| {
        known.iter().any(|rule| rule.text.contains(sentence) || sentence.contains(&rule.text))
    };
    let mut found: Vec<(usize, usize, Rule)> = Vec::new();
    let chars = text.chars().count();
    for (start, end) in sentences(text) {
        let Some(sentence) = text.get(start..end).map(str::trim) else { continue };
        if sentence.len() < SENTENCE_BYTES_MIN
            || sentence.chars().count() > TEXT_CHARS_MAX
            || is_known(sentence)
        {
            continue;
        }
        let weigh::Weighed { weight, clear, ever } = weigh::weight(sentence, chars);
        let shape = shape::shape(sentence);
        let says_when = (shape.changes || shape.lasting) && !sentence.ends_with(['?', '？', '؟']);
        let is_enough = |weight: f64| says_when || weigh::is_enough(weight, times);
        // Few sentences come so far: what costs more is asked last.
        if !is_enough(weight)
            || unlike::is_unlike(sentence, text.get(end..).unwrap_or_default())
            || (!is_enough(weight - weigh::POINTING) && unlike::points_at_things(sentence))
        {
            continue;
        }
        let (from, to) = around(text, start, end);
        let things = rule(sentence);
        let lasting = is_lasting(sentence) || shape.lasting || ever;
        if is_task && !lasting {
            continue;
        }
        let again = signs::says_again(sentence);
        let everywhere = EVERYWHERE.as_ref().is_some_and(|set| set.is_match(sentence));
        match found.last_mut() {
            Some((_, last_to, last)) if from < *last_to => {
                last.lasting |= lasting;
                last.everywhere |= everywhere;
                last.changes |= shape.changes;
                last.clear |= clear;
                last.again |= again;
                last.wants.extend(things.iter().flat_map(|rule| rule.wants.clone()));
                last.rejects.extend(things.iter().flat_map(|rule| rule.rejects.clone()));
            }
            _ => {
                let Some(words) = text.get(from..to).map(str::trim) else { continue };
                let (wants, rejects) = things.map(|rule| (rule.wants, rule.rejects)).unwrap_or_default();
                let text = words.to_owned();
                let changes = shape.changes;
                found.push((
                    from,
                    to,
                    Rule { text, wants, rejects, lasting, everywhere, shaped: true, changes, clear, again },
                ));
            }
        }
    }
    found.into_iter().map(|(_, _, rule)| rule).collect()
}

/// Maximum characters of a message used for training.
#[cfg(test)]
const PARTS_MAX: usize = 1500;
/// Minimum bytes of a sentence that can be a rule.
const SENTENCE_BYTES_MIN: usize = 8;

/// The context kept with a sentence: the whole text, else its paragraph, else only the sentence.
fn around(text: &str, start: usize, end: usize) -> (usize, usize) {
    let fits = |from: usize, to: usize| {
        text.get(from..to).is_some_and(|words| words.chars().count() <= TEXT_CHARS_MAX).then_some((from, to))
    };
    let from = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let to = text.get(end..).and_then(|after| after.find('\n')).map_or(text.len(), |at| end + at);
    fits(0, text.len()).or_else(|| fits(from, to)).unwrap_or((start, end))
}

/// Exact names in a text: paths, files, identifiers, code spans.
pub(crate) fn names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '"' | '\u{2018}'..='\u{201f}' | '\u{3000}'..='\u{303f}' | '\u{ff0c}')) {
        let bare = word.trim_matches(|c: char| matches!(c, '`' | '\'' | '.' | ':' | '!' | '?' | '*'));
        let is_code = word.len() > 2 && word.starts_with('`') && word.trim_end_matches(['.', ':', '!', '?']).ends_with('`');
        let letters = bare.chars().filter(char::is_ascii_alphabetic).count();
        let mut signs = bare.chars();
        let is_joined = bare.contains(['/', '_', '@']) || bare.split_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty() && !end.is_empty() && end.chars().all(|c| c.is_ascii_alphanumeric())
        });
        // camelCase: a capital after a small letter.
        let is_camel = signs.any(|c| c.is_ascii_lowercase()) && signs.any(|c| c.is_ascii_uppercase());
        if letters >= 2 && bare.is_ascii() && (is_code || is_joined || is_camel) {
            let name = bare.trim_end_matches('/').to_lowercase();
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// The thing that a rule names: its first words, without connectives.
fn thing(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let mut end = lower.len();
    for stop in [
        " instead",
        " rather than",
        " because",
        " since ",
        " so that",
        " for ",
        " in this",
        " here",
        " when ",
        " if ",
        " and ",
        " but ",
        " not ",
        " unless",
        " to ",
        " from ",
        " with ",
        " like ",
        " as ",
        " over ",
        " - ",
        " (",
        " until ",
    ] {
        if let Some(at) = lower.find(stop) {
            end = end.min(at);
        }
    }
    let words: Vec<&str> = lower
        .get(..end)?
        .split_whitespace()
        .map(|word| {
            word.trim_matches(|c: char| {
                !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '@' | '+' | '#'))
            })
        })
        .filter(|word| {
            !word.is_empty()
                && !matches!(
                    *word,
                    "a" | "an" | "the" | "any" | "our" | "my" | "your" | "that" | "this" | "it" | "is" | "us"
                )
        })
        .take(THING_WORDS_MAX)
        .collect();
    let thing = words.join(" ");
    let is_empty = |word: &str| {
        matches!(
            word,
            "them"
                | "those"
                | "these"
                | "what"
                | "one"
                | "simple"
                | "other"
                | "different"
                | "same"
                | "new"
                | "better"
                | "sure"
                | "be"
                | "them all"
                | "good"
                | "more"
                | "less"
                | "only"
                | "just"
                | "you"
                | "i"
                | "we"
                | "all"
                | "there"
        )
    };
    let is_named = thing
        .split(' ')
        .any(|word| !is_empty(word) && word.chars().filter(|c| c.is_alphanumeric()).count() >= 2);
    is_named.then_some(thing)
}

/// Whether the dot at this place is the last of several between two words: "go on..then look".
fn is_pause(line: &str, offset: usize) -> bool {
    let before = line.get(..offset).unwrap_or_default();
    let after = line.get(offset + 1..).and_then(|rest| rest.chars().next());
    let stem = before.trim_end_matches('.');
    stem.len() < before.len()
        && stem.ends_with(|c: char| c.is_lowercase())
        && after.is_some_and(|c| c.is_lowercase() || c == ' ')
}

/// The ranges of the sentences in a message.
fn sentences(message: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in message.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let mut from = start;
        let bytes = line.as_bytes();
        for (offset, sign) in line.char_indices() {
            let after = offset + sign.len_utf8();
            let ends = match sign {
                '.' if is_pause(line, offset) => true,
                '.' | '!' | '?' => bytes.get(after).is_none_or(u8::is_ascii_whitespace),
                '。' | '！' | '？' | '।' => true,
                _ => false,
            };
            if ends {
                found.push((from, start + after));
                from = start + after;
            }
        }
        let end = start + line.trim_end().len();
        if from < end {
            found.push((from, end));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(message: &str) -> Rule {
        let mut rules = rules(message, true);
        assert_eq!(rules.len(), 1, "{message}: {rules:?}");
        rules.remove(0)
    }

    #[test]
    fn what_is_wanted_and_what_is_not() {
        let rule =
            one("No, don't use requests, we have no third-party packages here. Use urllib.request instead.");
        assert_eq!(
            rule.text,
            "don't use requests, we have no third-party packages here. Use urllib.request instead."
        );
        assert_eq!(rule.rejects, ["requests", "third-party packages"]);
        assert!(rule.wants.contains(&"urllib.request".to_owned()), "{rule:?}");
        let rule = one("use pnpm, not npm");
        assert_eq!((rule.wants, rule.rejects), (vec!["pnpm".to_owned()], vec!["npm".to_owned()]));
        let rule = one("no, use pnpm instead of npm here");
        assert_eq!((rule.wants, rule.rejects), (vec!["pnpm".to_owned()], vec!["npm".to_owned()]));
        let rule = one("we deploy with Nix here");
        assert_eq!(rule.wants, ["nix"]);
        assert!(rule.lasting);
    }

    #[test]
    fn outside_a_correction_only_lasting_rules_count() {
        assert_eq!(rules("Use the new client in the handler", false), []);
        assert_eq!(rules("don't use the old file", false), []);
        assert_eq!(rules("Always run cargo fmt before you commit.", false).len(), 1);
        assert_eq!(rules("From now on, use tabs. Add the handler.", false).len(), 1);
        assert_eq!(rules("Never push to main directly.", false).len(), 1);
        assert_eq!(rules("The function never returns null, fix it", false), []);
        assert!(rules("In all my projects, never use tabs.", true)[0].everywhere);
    }

    fn kept(message: &str) -> Vec<Rule> {
        shaped(message, 1, is_task(message), &[])
    }

    #[test]
    fn what_has_the_shape_of_a_rule_is_kept_whole() {
        let said =
            "Receipts carry made-up names, a real guest must not be in there. They come from people.json.";
        let rules = kept(said);
        assert_eq!(rules.iter().map(|rule| rule.text.as_str()).collect::<Vec<_>>(), [said]);
        assert!(rules[0].shaped && !rules[0].lasting);
        assert_eq!(names(said), ["people.json"]);
        let long = format!(
            "{}\nThe folder gen/ is off limits.\n{}",
            "It stops at once. ".repeat(20),
            "Look at it. ".repeat(20)
        );
        assert_eq!(kept(&long)[0].text, "The folder gen/ is off limits.");
        assert!(kept("The old board is closed, notes go into notes/ now")[0].changes);
    }

    #[test]
    fn rules_of_many_languages() {
        for (said, lasting) in [
            ("Ab sofort bekommt jede Tabelle einen Zeitstempel.", true),
            ("Chez nous les dates s'affichent toujours en UTC.", true),
            ("De ahora en adelante los informes van en la carpeta informes.", true),
            ("Não se deve editar os arquivos gerados.", false),
            ("In questo progetto si usano solo le virgolette doppie.", false),
            ("Plików z katalogu gen nie wolno zmieniać.", false),
            ("В этом проекте пароли хранятся только в переменных.", false),
            ("今後、画面の文言は必ず翻訳ファイルに入れてください。", true),
            ("以后所有配置都放到 config 目录。", true),
            ("앞으로 테스트는 반드시 오프라인으로 돌려 주세요.", true),
        ] {
            let rules = kept(said);
            assert_eq!(rules.len(), 1, "{said}");
            assert_eq!(rules[0].lasting, lasting, "{said}");
        }
    }

    #[test]
    fn remarks_are_no_rules() {
        for said in [
            "Why does each export need two clicks?",
            "the chart never shows up on my tablet",
            "Could we put the totals below the table?",
            "it only happens with two guests",
            "Der Export läuft bei mir immer noch nicht.",
            "Pourquoi la page est toujours vide ?",
            "まだエラーが出ています。",
            "为什么页面还是空的",
            "아직 오류가 나요.",
            "make the title a bit larger",
            "all good, go on",
        ] {
            assert_eq!(kept(said), [], "{said}");
        }
    }

    #[test]
    fn what_is_said_again_needs_fewer_signs() {
        let said = "leave the seed alone when possible, only the copy";
        assert!(shaped(said, 1, false, &[]).len() <= shaped(said, 2, false, &[]).len());
        assert_eq!(shaped("no trailing commas please", 2, false, &[]).len(), 1);
    }

    /// Real messages to agents, labelled by hand. Few without a rule are taken for one, and most
    /// clear rules are kept in the half that was used to write the tables.
    #[test]
    fn rules_of_real_people_are_kept() {
        let Some(shared) = std::env::var_os("RETRO_SHARED").map(std::path::PathBuf::from) else {
            println!("skipped: RETRO_SHARED is not set");
            return;
        };
        let text = std::fs::read_to_string(shared.join("corpus/user-words.jsonl")).unwrap();
        let (mut kept_of, mut all_of) = ([0_usize; 3], [0_usize; 3]);
        for row in text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
            let said = row["text"].as_str().unwrap();
            let label = usize::try_from(row["rule"].as_u64().unwrap()).unwrap();
            all_of[label] += 1;
            kept_of[label] += usize::from(said.chars().count() <= 1500 && !kept(said).is_empty());
        }
        println!("kept {kept_of:?} of {all_of:?}: without a rule, arguable, sure");
        assert!(kept_of[0] * 20 <= all_of[0], "{kept_of:?} of {all_of:?}");
        assert!(kept_of[2] * 2 >= all_of[2], "{kept_of:?} of {all_of:?}");
    }
}
