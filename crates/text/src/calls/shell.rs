//! Splits a command line into the simple commands that it runs.
//!
//! This is not a full shell parser. It handles quotes, separators, redirections, here-documents,
//! keywords and comments well enough to find the programs of a line, and it accepts everything: an
//! open quote ends with the text. Agents log a script on one line, its line ends written as `; `,
//! so a here-document and a comment may end there too.

/// The most bytes of a script that are read.
const SCRIPT_BYTES_MAX: usize = 64 * 1024;
/// The most simple commands of a script that are read.
const STEPS_MAX: usize = 64;

/// How a simple command follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// The command is the first.
    First,
    /// The command always runs after the previous one (`;`, a new line).
    Then,
    /// The command runs if the previous one succeeded (`&&`).
    And,
    /// The command runs if the previous one failed (`||`).
    Or,
    /// The command reads the output of the previous one (`|`).
    Pipe,
    /// The command runs in parallel with the previous one (`&`).
    Beside,
}

/// The words of one simple command, without redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    pub join: Join,
    pub words: Vec<String>,
    /// Files that receive its output.
    pub into: Vec<String>,
    /// The text of a here-document that it reads.
    pub document: Option<String>,
}

/// The simple commands of a script, in order.
pub(super) fn split(script: &str) -> Vec<Words> {
    let mut end = script.len().min(SCRIPT_BYTES_MAX);
    while !script.is_char_boundary(end) {
        end -= 1;
    }
    let text = script.get(..end).unwrap_or_default();
    let mut cutter = Cutter {
        rest: text,
        done: Vec::new(),
        words: Vec::new(),
        into: Vec::new(),
        join: Join::First,
        heredoc: None,
    };
    while cutter.step() && cutter.done.len() < STEPS_MAX {}
    cutter.finish(Join::Then);
    cutter.done
}

struct Cutter<'t> {
    rest: &'t str,
    done: Vec<Words>,
    words: Vec<String>,
    into: Vec<String>,
    join: Join,
    /// The terminator of a here-document that begins on the next line, and the step that reads it.
    heredoc: Option<(String, usize)>,
}

/// Separators, the longest first.
const SEPARATORS: &[(&str, Join)] = &[
    ("&&", Join::And),
    ("||", Join::Or),
    ("|&", Join::Pipe),
    ("|", Join::Pipe),
    (";;", Join::Then),
    (";", Join::Then),
    ("\n", Join::Then),
    ("(", Join::Then),
    (")", Join::Then),
];

impl<'t> Cutter<'t> {
    /// Takes one word, separator or redirection. False at the end.
    fn step(&mut self) -> bool {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r']);
        if self.rest.is_empty() {
            return false;
        }
        if self.rest.starts_with('#') {
            self.rest = self.rest.get(line_end(self.rest)..).unwrap_or_default();
            return true;
        }
        if self.redirection() {
            return true;
        }
        for &(sign, join) in SEPARATORS {
            if let Some(rest) = self.rest.strip_prefix(sign) {
                self.rest = rest;
                let line_ends = matches!(sign, ";" | "\n");
                self.finish(join);
                if line_ends && let Some((word, step)) = self.heredoc.take() {
                    let body = self.skip_heredoc(&word);
                    if let Some(step) = self.done.get_mut(step) {
                        step.document = Some(body.to_owned());
                    }
                }
                return true;
            }
        }
        if let Some(rest) = self.rest.strip_prefix('&') {
            self.rest = rest;
            self.finish(Join::Beside);
            return true;
        }
        let word = self.word();
        self.words.push(word);
        true
    }

    /// Ends the simple command. `join` connects it to the next one.
    fn finish(&mut self, join: Join) {
        let words = without_keywords(std::mem::take(&mut self.words));
        let into = std::mem::take(&mut self.into);
        // `a && (b)`: the bracket itself is not a separator.
        if words.is_empty() {
            if self.join == Join::First || join != Join::Then {
                self.join = if self.done.is_empty() { Join::First } else { join };
            }
            return;
        }
        self.done.push(Words { join: self.join, words, into, document: None });
        self.join = join;
    }

    /// Takes a redirection with its target.
    fn redirection(&mut self) -> bool {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut rest = self.rest.get(digits..).unwrap_or_default();
        if digits == 0 && rest.starts_with("&>") {
            rest = rest.get(1..).unwrap_or_default();
        }
        let Some(after) = rest.strip_prefix(['<', '>']) else { return false };
        if after.starts_with('(') {
            self.rest = after;
            self.balanced();
            return true;
        }
        let is_document = rest.starts_with("<<") && !rest.starts_with("<<<");
        let number = self.rest.get(..digits).unwrap_or_default();
        let takes = rest.starts_with('>') && !after.starts_with('&') && matches!(number, "" | "1");
        self.rest = after.trim_start_matches(['<', '>', '&', '|', '-']).trim_start_matches([' ', '\t']);
        let target = self.word();
        if is_document && !target.is_empty() {
            self.heredoc = Some((target, self.done.len()));
        } else if takes && !target.is_empty() {
            self.into.push(target);
        }
        true
    }

    /// Skips the body of a here-document that ends with a line `word`, and returns the body.
    fn skip_heredoc(&mut self, word: &str) -> &'t str {
        let body = self.rest;
        let mut rest = body;
        let before = |rest: &str| body.get(..body.len() - rest.len()).unwrap_or_default();
        while !rest.is_empty() {
            let end = line_end(rest);
            let line = rest.get(..end).unwrap_or_default();
            if line.trim() == word {
                self.rest = rest.get(end..).unwrap_or_default();
                return before(rest);
            }
            // A document inside brackets ends with the line `EOF)"`.
            if let Some(after) = line.trim().strip_prefix(word)
                && after.starts_with(')')
            {
                let at = rest.len() - rest.trim_start().len() + word.len();
                self.rest = rest.get(at..).unwrap_or_default();
                return before(rest);
            }
            rest = rest.get(end..).unwrap_or_default().trim_start_matches([';', '\n']);
        }
        self.rest = "";
        body
    }

    /// One word without its quotes. Always takes at least one character.
    fn word(&mut self) -> String {
        let mut word = String::new();
        let mut first = true;
        while let Some(character) = self.rest.chars().next() {
            let after = self.rest.get(character.len_utf8()..).unwrap_or_default();
            match character {
                '\'' => self.single(after, &mut word),
                '"' => self.double(after, &mut word),
                '`' => {
                    let end = after.find('`').map_or(after.len(), |at| at + 1);
                    word.push_str(after.get(..end).unwrap_or_default().trim_end_matches('`'));
                    self.rest = after.get(end..).unwrap_or_default();
                }
                '\\' => {
                    let next = after.chars().next();
                    self.rest = after.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
                    // A Windows path keeps its separators.
                    match next {
                        Some('\n') | None => {}
                        Some(next) if next.is_alphanumeric() => word.extend(['\\', next]),
                        Some(next) => word.push(next),
                    }
                }
                '$' if after.starts_with('(') => {
                    self.rest = after;
                    word.push('$');
                    word.push_str(self.balanced());
                }
                '$' if after.starts_with('\'') => self.rest = after,
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')' if !first => break,
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')' if !word.is_empty() => {
                    break;
                }
                _ => {
                    word.push(character);
                    self.rest = after;
                }
            }
            first = false;
        }
        word
    }

    fn single(&mut self, after: &'t str, word: &mut String) {
        let end = after.find('\'').unwrap_or(after.len());
        word.push_str(after.get(..end).unwrap_or_default());
        self.rest = after.get(end + 1..).unwrap_or_default();
    }

    fn double(&mut self, after: &'t str, word: &mut String) {
        self.rest = after;
        while let Some(character) = self.rest.chars().next() {
            let next = self.rest.get(character.len_utf8()..).unwrap_or_default();
            match character {
                '"' => {
                    self.rest = next;
                    return;
                }
                '\\' => {
                    let escaped = next.chars().next();
                    if let Some(escaped) = escaped {
                        if !matches!(escaped, '"' | '\\' | '$' | '`') {
                            word.push('\\');
                        }
                        word.push(escaped);
                    }
                    self.rest = next.get(escaped.map_or(0, char::len_utf8)..).unwrap_or_default();
                }
                '$' if next.starts_with('(') => {
                    self.rest = next;
                    word.push('$');
                    word.push_str(self.balanced());
                }
                _ => {
                    word.push(character);
                    self.rest = next;
                }
            }
        }
    }

    /// Takes `( … )` with the brackets inside it, at its opening bracket.
    fn balanced(&mut self) -> &'t str {
        let mut depth = 0_usize;
        let mut quote = None;
        for (at, character) in self.rest.char_indices() {
            match (quote, character) {
                (Some(open), _) if open == character => quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"') => quote = Some(character),
                (None, '(') => depth += 1,
                (None, ')') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && quote.is_none() {
                let (taken, rest) = self.rest.split_at(at + character.len_utf8());
                self.rest = rest;
                return taken;
            }
        }
        std::mem::take(&mut self.rest)
    }
}

/// The end of the line: a line feed, or a `; ` that replaced one.
fn line_end(text: &str) -> usize {
    let feed = text.find('\n').unwrap_or(text.len());
    text.find("; ").map_or(feed, |at| at.min(feed))
}

/// A simple command without leading shell keywords. The head of a loop or a condition names no
/// program.
fn without_keywords(mut words: Vec<String>) -> Vec<String> {
    loop {
        match words.first().map(String::as_str) {
            Some("if" | "then" | "else" | "elif" | "do" | "while" | "until" | "{" | "!") => {
                words.remove(0);
            }
            Some("fi" | "done" | "esac" | "}" | "for" | "case" | "select" | "function") => return Vec::new(),
            _ => return words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps as `sign word word`.
    fn told(script: &str) -> Vec<String> {
        let sign = |join| match join {
            Join::First => "",
            Join::Then => "; ",
            Join::And => "&& ",
            Join::Or => "|| ",
            Join::Pipe => "| ",
            Join::Beside => "& ",
        };
        split(script).iter().map(|step| format!("{}{}", sign(step.join), step.words.join("_"))).collect()
    }

    #[test]
    fn separators_and_quotes() {
        let cases: &[(&str, &[&str])] = &[
            ("cargo test", &["cargo_test"]),
            ("cd a && cargo test 2>&1 | tail -5", &["cd_a", "&& cargo_test", "| tail_-5"]),
            ("a; b || true", &["a", "; b", "|| true"]),
            ("echo 'a; b' \"c && d\" e\\ f", &["echo_a; b_c && d_e f"]),
            ("a > out.txt 2> /dev/null < in", &["a"]),
            ("a &> log & b", &["a", "& b"]),
            ("(cd x; make) && y", &["cd_x", "; make", "&& y"]),
            ("echo \"$(git log | head)\" x", &["echo_$(git log | head)_x"]),
            ("if [ -f a ]; then cat a; fi", &["[_-f_a_]", "; cat_a"]),
            ("for f in *.rs; do rustfmt $f; done", &["rustfmt_$f"]),
            ("echo 'open", &["echo_open"]),
            ("", &[]),
            ("; ;", &[]),
            (r"D:\tools\x.exe -a", &[r"D:\tools\x.exe_-a"]),
        ];
        for (script, steps) in cases {
            assert_eq!(told(script), *steps, "{script}");
        }
    }

    #[test]
    fn documents_and_comments_are_passed_over() {
        assert_eq!(told("cat > a <<'EOF'\ncargo test\nEOF\nls"), ["cat", "; ls"]);
        assert_eq!(told("cat > a <<'EOF'; cargo test; rm x; EOF; ls"), ["cat", "; ls"]);
        assert_eq!(told("# cargo test; ls"), ["ls"]);
        assert_eq!(told("ls # cargo test\npwd"), ["ls", "; pwd"]);
        assert_eq!(told("python - <<EOF\nprint(1)"), ["python_-"]);
        assert_eq!(told("cat <<< text"), ["cat"]);
    }
}
