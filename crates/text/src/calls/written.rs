//! Files that a command line changes: by a redirection, with a here-document, in place, by moving
//! or removing them, or in a short script that it passes to Python or Node.
//!
//! Only files that the line names. The files that a formatter, a generator or a script file writes
//! are not known here, and neither are names built from variables or patterns.

use std::sync::LazyLock;

use regex::Regex;

use super::shell::Words;
use super::unwrap::is_flag;
use super::{Call, Join};

/// The most files of one line that are listed.
const FILES_MAX: usize = 64;

/// A file that a command line changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The path, relative to where the line began.
    pub path: String,
    /// Lines added, if the line shows them.
    pub added: Option<u64>,
    /// Lines removed, if the line shows them.
    pub removed: Option<u64>,
    /// The step that changes the file.
    step: usize,
}

impl Call {
    /// Files that were changed even if the line failed: no earlier step can have stopped it, and a
    /// later step may have caused the failure.
    pub fn written_anyway(&self) -> impl Iterator<Item = &Written> {
        self.written.iter().filter(|file| {
            let before = self.steps.get(..=file.step).unwrap_or_default();
            let is_reached = before.windows(2).all(|pair| match pair {
                [first, then] => match then.join {
                    Join::First | Join::Then | Join::Beside | Join::Pipe => true,
                    Join::And => matches!(
                        first.program(),
                        "mkdir" | "cd" | "echo" | "printf" | "cat" | "chmod" | "touch" | "tee" | "export"
                    ),
                    Join::Or => false,
                },
                _ => true,
            });
            is_reached && self.steps.get(file.step + 1).is_some()
        })
    }
}

/// The files that one simple command changes. `words` are its program and arguments, without
/// wrappers.
pub(super) fn by(simple: &Words, words: &[String], folder: Option<&str>, step: usize) -> Vec<Written> {
    let mut files: Vec<(String, Option<u64>, Option<u64>)> = Vec::new();
    let program = words.first().map_or("", String::as_str);
    let arguments = words.get(1..).unwrap_or_default();
    let document = simple.document.as_deref();
    let lines = lines_said(program, arguments, document);
    let is_said = document.is_some() || matches!(program, "echo" | "printf");
    for path in &simple.into {
        if is_file(path) && (is_said || !is_log(path)) {
            files.push((path.clone(), lines, None));
        }
    }
    let plain = |words: &[String]| -> Vec<String> {
        words.iter().filter(|word| !is_flag(word) && is_file(word)).cloned().collect()
    };
    let has = |flags: &[&str]| arguments.iter().any(|word| flags.contains(&word.as_str()));
    match program {
        "tee" => {
            let named = plain(arguments).into_iter().filter(|path| is_said || !is_log(path));
            files.extend(named.map(|path| (path, document.map(line_count), None)));
        }
        "sed" | "perl" if edits_in_place(arguments) => {
            // The first word is the script, unless a flag gives it.
            let given = has(&["-e", "-f", "--expression", "--file", "-pe", "-pie", "-ne"]);
            let named = arguments.iter().filter(|word| !is_flag(word) && !word.is_empty());
            let named = named.skip(usize::from(!given)).filter(|word| is_file(word) && !is_expression(word));
            files.extend(named.map(|path| (path.clone(), None, None)));
        }
        "mv" | "cp" if !has(&["-r", "-R", "-a", "--recursive"]) => {
            files.extend(moved(&plain(arguments)).into_iter().map(|path| (path, None, None)));
        }
        "rm" | "unlink" if !arguments.iter().any(|word| is_flag(word) && word.contains(['r', 'R'])) => {
            files.extend(
                plain(arguments).into_iter().filter(|path| !is_log(path)).map(|path| (path, Some(0), None)),
            );
        }
        "git" => match arguments.first().map(String::as_str) {
            Some("mv") => {
                let named = plain(arguments.get(1..).unwrap_or_default());
                files.extend(moved(&named).into_iter().map(|path| (path, None, None)));
            }
            Some("rm") if !has(&["-r", "--cached"]) => {
                let named = plain(arguments.get(1..).unwrap_or_default());
                files.extend(named.into_iter().map(|path| (path, Some(0), None)));
            }
            Some("apply") if !has(&["--check", "--stat"]) => {
                files.extend(document.map(patched).unwrap_or_default());
            }
            _ => {}
        },
        "patch" if !has(&["--dry-run"]) => files.extend(document.map(patched).unwrap_or_default()),
        _ if is_interpreter(program) => {
            let script = arguments
                .iter()
                .position(|word| matches!(word.as_str(), "-c" | "-e" | "--eval"))
                .and_then(|at| arguments.get(at + 1).map(String::as_str))
                .or(document);
            files.extend(script.map(scripted).unwrap_or_default().into_iter().map(|path| (path, None, None)));
        }
        _ => {}
    }
    let mut seen: Vec<Written> = Vec::new();
    for (path, added, removed) in files {
        let path = match folder.filter(|_| !path.starts_with(['/', '~'])) {
            Some(folder) => format!("{}/{}", folder.trim_end_matches('/'), path.trim_start_matches("./")),
            None => path,
        };
        if seen.len() < FILES_MAX && !seen.iter().any(|file| file.path == path) {
            seen.push(Written { path, added, removed, step });
        }
    }
    seen
}

/// True if a word names one file.
fn is_file(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with(['-', '&', '=', '<'])
        && !word.contains(['*', '?', '$', '{', '`', '(', '\n', '|'])
        && !word.starts_with("/dev/")
        && !word.starts_with("/proc/")
        && !matches!(word, "." | ".." | "/" | "~" | "NUL" | "nul")
        && !word.ends_with('/')
}

/// True if a file only keeps the output of a program.
fn is_log(path: &str) -> bool {
    const FOLDERS: &[&str] = &["/tmp/", "/private/tmp/", "/var/tmp/", "/var/folders/"];
    FOLDERS.iter().any(|folder| path.starts_with(folder)) || path.ends_with(".log")
}

/// The number of lines that a command prints from its own arguments.
fn lines_said(program: &str, arguments: &[String], document: Option<&str>) -> Option<u64> {
    match (program, document) {
        ("cat" | "tee", Some(document)) => Some(line_count(document)),
        ("echo", _) if !arguments.iter().any(|word| is_flag(word)) => {
            Some(line_count(&arguments.join(" ")).max(1))
        }
        _ => None,
    }
}

fn line_count(text: &str) -> u64 {
    text.trim_start_matches('\n').lines().count() as u64
}

fn edits_in_place(arguments: &[String]) -> bool {
    arguments.iter().any(|word| {
        word.starts_with("--in-place")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains('i') && word.len() <= 6)
    })
}

fn is_expression(word: &str) -> bool {
    word.contains([' ', ';']) || word.starts_with("s/") || word.starts_with("s|") || word.ends_with("/d")
}

/// The paths of files after they were moved or copied.
fn moved(named: &[String]) -> Vec<String> {
    let Some((to, from)) = named.split_last().filter(|(_, from)| !from.is_empty()) else { return Vec::new() };
    let has_ending =
        |path: &str| path.rsplit('/').next().is_some_and(|name| name.trim_start_matches('.').contains('.'));
    let into = |path: &String| format!("{to}/{}", path.rsplit('/').next().unwrap_or(path));
    match from {
        [one] if has_ending(to) || !has_ending(one) => vec![to.clone()],
        several => several.iter().map(into).collect(),
    }
}

/// Files of a unified diff.
fn patched(diff: &str) -> Vec<(String, Option<u64>, Option<u64>)> {
    let mut files: Vec<(String, Option<u64>, Option<u64>)> = Vec::new();
    let mut old = "";
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("--- ") {
            old = path;
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let path = if path == "/dev/null" { old } else { path };
            let path = path.split('\t').next().unwrap_or(path);
            let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
            files.push((path.to_owned(), Some(0), Some(0)));
        } else if let Some((_, added, removed)) = files.last_mut() {
            match line.as_bytes().first() {
                Some(b'+') => *added = added.map(|lines| lines + 1),
                Some(b'-') => *removed = removed.map(|lines| lines + 1),
                _ => {}
            }
        }
    }
    files
}

fn is_interpreter(program: &str) -> bool {
    program.starts_with("python") || matches!(program, "py" | "node" | "bun" | "deno" | "ruby")
}

/// Variables that a script sets to one string or to a list of strings.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?:\bfor\s+)?\b([A-Za-z_]\w*)\s*(?:=|\bin\b)\s*(?:pathlib\.)?(?:Path\(\s*)?([\[(]?\s*(?:"[^"\n]*"|'[^'\n]*')(?:\s*,\s*(?:"[^"\n]*"|'[^'\n]*'))*)"#,
    )
    .ok()
});
/// Calls that write a file, with the argument that is its path.
static WRITES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    const VALUE: &str = r#"("[^"\n]*"|'[^'\n]*'|[A-Za-z_]\w*)"#;
    [
        format!(r#"\bopen\(\s*{VALUE}\s*,\s*(?:mode\s*=\s*)?["'][^"'\n]*[wax+]"#),
        format!(r"\bPath\(\s*{VALUE}\s*\)\s*\.write_(?:text|bytes)\("),
        r"\b([A-Za-z_]\w*)\.write_(?:text|bytes)\(".to_owned(),
        format!(r"\b(?:writeFileSync|appendFileSync|writeFile|appendFile|writeTextFile|Bun\.write|File\.write)\(\s*{VALUE}"),
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// Files that a short script in Python, JavaScript or Ruby writes.
fn scripted(script: &str) -> Vec<String> {
    let texts = |text: &str| -> Vec<String> {
        text.split(['"', '\'']).skip(1).step_by(2).map(str::to_owned).collect()
    };
    let mut names: Vec<(&str, Vec<String>)> = Vec::new();
    for found in NAMED.iter().flat_map(|pattern| pattern.captures_iter(script)) {
        if let (Some(name), Some(value)) = (found.get(1), found.get(2)) {
            names.push((name.as_str(), texts(value.as_str())));
        }
    }
    let mut files = Vec::new();
    for found in WRITES.iter().flat_map(|pattern| pattern.captures_iter(script)) {
        let Some(value) = found.get(1).map(|value| value.as_str()) else { continue };
        match value.strip_prefix(['"', '\'']) {
            Some(text) => files.push(text.trim_end_matches(['"', '\'']).to_owned()),
            None => files
                .extend(names.iter().filter(|(name, _)| *name == value).flat_map(|(_, texts)| texts.clone())),
        }
    }
    files.retain(|path| is_file(path));
    files
}

#[cfg(test)]
mod tests {
    use crate::calls::understand;

    /// Files as `path +added -removed`.
    fn told(line: &str) -> Vec<String> {
        let count =
            |sign: &str, lines: Option<u64>| lines.map(|lines| format!(" {sign}{lines}")).unwrap_or_default();
        understand(line)
            .written
            .iter()
            .map(|file| format!("{}{}{}", file.path, count("+", file.added), count("-", file.removed)))
            .collect()
    }

    #[test]
    fn files_that_a_line_changes() {
        let cases: &[(&str, &[&str])] = &[
            ("cat > a.rs <<'EOF'\nfn a() {}\n\nfn b() {}\nEOF\ncargo test", &["a.rs +3"]),
            ("cd web && cat <<EOF > src/x.ts\n1\nEOF", &["web/src/x.ts +1"]),
            ("bash -lc 'echo hi >> notes.md'", &["notes.md +1"]),
            ("cat <<EOF | tee -a /etc/x.conf\na\nEOF", &["/etc/x.conf"]),
            ("tee a.md <<EOF >/dev/null\na\nb\nEOF", &["a.md +2"]),
            ("sed -i 's/a/b/' src/a.rs src/b.rs", &["src/a.rs", "src/b.rs"]),
            ("sed -i '' -e 's/a/b/' a.txt", &["a.txt"]),
            ("perl -pi -e 's/a/b/' a.pm", &["a.pm"]),
            ("mv src/a.rs src/b.rs && git rm old.rs && rm x.rs", &["src/b.rs", "old.rs +0", "x.rs +0"]),
            ("git mv a.rs src", &["src/a.rs"]),
            ("cp a.example b.env", &["b.env"]),
            (
                "python3 - <<'PY'\nfrom pathlib import Path\np = Path('a/b.py')\np.write_text(p.read_text().replace('x', 'y'))\nPY",
                &["a/b.py"],
            ),
            (
                "python - <<PY\nfor f in ['a.py', \"b.py\"]:\n    s = open(f).read()\n    open(f, 'w').write(s)\nPY",
                &["a.py", "b.py"],
            ),
            ("node -e \"require('fs').writeFileSync('out.json', '{}')\"", &["out.json"]),
            ("git apply <<'EOF'\n--- a/x.c\n+++ b/x.c\n@@ -1 +1,2 @@\n-a\n+b\n+c\nEOF", &["x.c +2 -1"]),
            ("jq .a x.json > y.json", &["y.json"]),
            // None of these changes a file of the project.
            ("npm test > /tmp/out.txt 2>&1; cargo build 2> err.txt | tee build.log", &[]),
            ("sed -n '1,20p' a.rs; cat a > /dev/null; grep x y 2>&1", &[]),
            ("for f in *.md; do sed -i s/a/b/ $f; done; rm -rf target", &[]),
            ("ssh host 'echo a > b.txt'", &[]),
            ("python -c \"print(open('a').read())\"", &[]),
        ];
        for (line, expected) in cases {
            assert_eq!(told(line), *expected, "{line}");
        }
    }

    #[test]
    fn a_failure_afterwards_leaves_the_file() {
        let anyway = |line: &str| understand(line).written_anyway().count();
        assert_eq!(anyway("cat > a <<EOF\nx\nEOF\ncargo test"), 1);
        assert_eq!(anyway("mkdir -p d && cat > d/a <<EOF && cargo test\nx\nEOF"), 1);
        assert_eq!(anyway("cargo test && echo x > a; ls"), 0);
        assert_eq!(anyway("echo x > a"), 0);
    }
}
