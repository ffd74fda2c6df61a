//! The words for the comparison of texts: those that carry meaning, with names separate.

use hashbrown::HashSet;

/// Words of one line of output: plain words, and names (of packages, tables, functions).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Terms {
    pub words: Vec<String>,
    pub names: Vec<String>,
}

/// Words of failure without a cause.
const EMPTY: &[&str] = &[
    "a",
    "aborting",
    "after",
    "all",
    "an",
    "and",
    "another",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "build",
    "by",
    "cause",
    "caused",
    "check",
    "checks",
    "code",
    "command",
    "completed",
    "compile",
    "did",
    "do",
    "due",
    "err",
    "error",
    "errors",
    "exit",
    "exited",
    "fail",
    "failed",
    "failing",
    "failure",
    "failures",
    "fatal",
    "file",
    "files",
    "for",
    "from",
    "found",
    "has",
    "have",
    "in",
    "is",
    "it",
    "its",
    "job",
    "more",
    "of",
    "on",
    "one",
    "or",
    "passed",
    "previous",
    "problem",
    "problems",
    "process",
    "rerun",
    "returned",
    "run",
    "running",
    "script",
    "status",
    "step",
    "suite",
    "suites",
    "task",
    "target",
    "test",
    "tests",
    "that",
    "the",
    "there",
    "this",
    "to",
    "total",
    "was",
    "were",
    "while",
    "with",
    "you",
    "your",
    "warning",
    "warnings",
    "result",
    "following",
    "see",
    "above",
    "below",
    "details",
    "elifecycle",
    "errno",
    "make",
    "npm",
    "recipe",
];

/// The terms of an output line, normalized as [`retro_text::fingerprint`] does.
pub(crate) fn of_error(line: &str) -> Terms {
    let mut terms = Terms::default();
    let mut rest = line;
    // Quoted text counts as a name.
    let mut plain = String::new();
    while let Some(start) = rest.find(['`', '\'', '"', '‘', '“']) {
        let Some(open) = rest[start..].chars().next() else { break };
        let close = match open {
            '‘' => '’',
            '“' => '”',
            same => same,
        };
        let inside = &rest[start + open.len_utf8()..];
        let is_word_before = rest[..start].chars().next_back().is_some_and(char::is_alphanumeric);
        match inside.find(close) {
            Some(end) if !is_word_before && end <= 80 && end > 0 => {
                plain.push_str(&rest[..start]);
                plain.push(' ');
                terms.names.push(quoted(inside[..end].trim()));
                rest = &inside[end + close.len_utf8()..];
            }
            _ => {
                plain.push_str(&rest[..start + open.len_utf8()]);
                rest = inside;
            }
        }
    }
    plain.push_str(rest);
    for token in plain
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '<' | '>' | ':')))
    {
        for token in token.split("::").flat_map(|part| part.split(':')) {
            let token = token.trim_matches(['.', '-', '/', ':', '_']);
            if token.is_empty() || token.contains(['<', '>']) {
                continue;
            }
            let letters = token.chars().filter(|c| c.is_alphabetic()).count();
            if letters < 2 && !is_code(token) {
                continue;
            }
            let lower = token.to_lowercase();
            match is_name(token) {
                true => terms.names.push(lower),
                false if !EMPTY.contains(&lower.as_str()) => terms.words.push(stem(&lower)),
                false => {}
            }
        }
    }
    for list in [&mut terms.words, &mut terms.names] {
        list.sort();
        list.dedup();
    }
    terms
}

/// The name in a quotation: without the version and the place that a tool sets behind it. A path
/// is not told apart from another, but from what is none.
fn quoted(text: &str) -> String {
    let is_aside = |word: &&str| word.starts_with(['(', '<']) || word.starts_with("v<");
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.first() {
        Some(first) if !is_aside(first) => {
            let kept: Vec<&str> = words.into_iter().take_while(|word| !is_aside(word)).collect();
            kept.join(" ").to_lowercase()
        }
        _ => "<path>".to_owned(),
    }
}

/// A word with a sign, a digit or a capital inside. Names of classes of errors are words.
fn is_name(token: &str) -> bool {
    if token.ends_with("Error") || token.ends_with("Exception") || is_code(token) {
        return false;
    }
    let inner_capital =
        token.chars().zip(token.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    token.contains(['_', '.', '/', '@']) || token.chars().any(|c| c.is_ascii_digit()) || inner_capital
}

/// True for an error code: `E0433`, `TS2307`, `ECONNREFUSED`.
fn is_code(token: &str) -> bool {
    let letters = token.chars().take_while(char::is_ascii_uppercase).count();
    let digits = token.chars().skip(letters).take_while(char::is_ascii_digit).count();
    letters >= 1 && letters + digits == token.len() && (digits >= 3 || letters >= 5)
}

/// A word without its most common endings.
pub(crate) fn stem(word: &str) -> String {
    let long = word.chars().count();
    for (ending, least) in [
        ("ations", 9),
        ("ation", 8),
        ("ings", 7),
        ("ing", 6),
        ("ied", 6),
        ("ies", 5),
        ("ed", 5),
        ("es", 5),
        ("s", 4),
    ] {
        if long >= least && word.ends_with(ending) && !word.ends_with("ss") {
            return word[..word.len() - ending.len()].to_owned();
        }
    }
    word.to_owned()
}

/// Common words of requests and corrections, which carry no meaning here.
const SAID: &[&str] = &[
    "a", "about", "again", "all", "already", "also", "always", "am", "an", "and", "any", "anything", "are",
    "as", "ask", "asked", "at", "back", "be", "been", "before", "but", "by", "can", "could", "did", "do",
    "doe", "does", "doesn", "doing", "don", "dont", "done", "either", "else", "ever", "every", "for", "from",
    "get", "give", "go", "got", "had", "has", "have", "here", "how", "i", "if", "in", "instead", "into",
    "is", "it", "its", "just", "keep", "know", "let", "like", "made", "make", "may", "me", "mean", "must",
    "my", "need", "never", "nice", "no", "nope", "not", "now", "of", "ok", "okay", "on", "one", "only", "or",
    "our", "out", "please", "prefer", "project", "put", "rather", "really", "remember", "repo", "right",
    "said", "same", "say", "see", "should", "so", "some", "still", "stop", "such", "sure", "than", "that",
    "the", "them", "then", "there", "these", "they", "thing", "this", "those", "time", "to", "told", "too",
    "try", "up", "us", "use", "used", "using", "very", "wait", "want", "wanted", "was", "way", "we", "well",
    "were", "what", "when", "where", "which", "who", "why", "will", "with", "without", "won", "would",
    "wrong", "yes", "you", "your", "re", "ve", "ll", "s", "t", "d", "m", "fix", "change", "add", "remove",
    "create", "write", "code", "work", "works", "change", "changes", "thanks", "thank", "supposed",
    "actually", "und", "die", "der", "das", "nicht", "ist", "ich", "bitte", "wir", "ein", "eine", "den",
    "dem", "auf", "mit", "für", "es", "la", "el", "le", "les", "de", "que", "no", "por", "favor", "pas",
    "ne", "un", "une", "los", "las", "en", "y", "et", "est", "sie",
];

/// The words of a person's text, sorted. Scripts without spaces between words are split into pairs
/// of letters.
pub(crate) fn said(text: &str) -> Vec<String> {
    let mut terms: HashSet<String> = HashSet::new();
    if retro_text::tongue::is_spaced(text) {
        let lower = text.to_lowercase().replace('’', "'");
        for token in
            lower.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '\'')))
        {
            let token = token.trim_matches(['.', '-', '_', '/', '\'']);
            let token = token.split_once('\'').map_or(token, |(start, _)| start);
            let name = token.rsplit('/').next().unwrap_or(token);
            if name.chars().count() < 2 || SAID.contains(&name) || !name.chars().any(char::is_alphabetic) {
                continue;
            }
            terms.insert(stem(name));
        }
    } else {
        let letters: Vec<char> = text.chars().filter(|c| c.is_alphanumeric()).collect();
        terms.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>()));
    }
    let mut terms: Vec<String> = terms.into_iter().collect();
    terms.sort();
    terms
}

/// A text on one line, with at most so many characters.
pub(crate) fn shortened(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}

/// The first twelve hexadecimal digits of a hash of a text.
pub(crate) fn name_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_apart_from_words() {
        let terms = of_error("Error: Cannot find module 'sharp'");
        assert_eq!(terms.words, ["cannot", "find", "module"]);
        assert_eq!(terms.names, ["sharp"]);
        assert_eq!(of_error("cannot build `ring v<version> (<path>)`").names, ["ring"]);
        let terms = of_error("error[E0433]: failed to resolve: use of undeclared crate `serde_yaml`");
        assert!(terms.words.contains(&"e0433".to_owned()), "{terms:?}");
        assert_eq!(terms.names, ["serde_yaml"]);
    }

    #[test]
    fn lines_that_say_nothing_have_no_words() {
        for line in [
            "error: test failed, to rerun pass `--lib`",
            "make: *** [test] Error <n>",
            "<n> failed, <n> passed",
        ] {
            assert!(of_error(line).words.len() < 2, "{line}: {:?}", of_error(line));
        }
    }

    #[test]
    fn what_people_say_is_compared_by_what_it_is_about() {
        assert_eq!(said("No, don't use moment, use date-fns instead."), ["date-fn", "moment"]);
        assert_eq!(said("why is moment back? we use date-fns here"), ["date-fn", "moment"]);
    }
}
