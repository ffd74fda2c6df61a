//! Extracts the part of a command line worth repeating, and keywords for a candidate.

use std::sync::LazyLock;

use regex::Regex;
use retro_insight::Call;
use retro_model::ToolClass;
use retro_text::calls::{covers, same_command, understand};

use crate::episode::Episode;

/// Maximum nesting of shells inside shells.
const DEPTH_MAX: usize = 3;
/// Maximum keywords of a candidate.
const KEYWORDS_MAX: usize = 12;

/// Output redirections, and the mark of a background command.
static REDIRECTIONS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?:\s*(?:\d?>&\d|[&\d]?>{1,2}\s*[^\s'"|&;<>]+|<\s*/dev/null|\s&))+\s*$"#).ok()
});

/// Names and codes: `vat_rate`, `CartTotal`, `E0308`, `src/tax.rs`, `ERR_MODULE_NOT_FOUND`.
static NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[A-Z]{1,5}-?\d{3,5}\b|[A-Za-z_][A-Za-z0-9_]*(?:(?:::|[./_-])[A-Za-z0-9_]+)+|[A-Za-z]+[a-z][A-Z][A-Za-z]*")
        .ok()
});

/// Errors of the command line itself: a missing program, option or task.
static USAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)command not found|not recognized|unrecogni[sz]ed (?:option|argument|arguments|subcommand)|unknown (?:option|flag|argument|command|subcommand|shorthand flag|switch)|invalid (?:option|argument|choice|flag)|unexpected argument|illegal option|no such (?:command|subcommand|option)|missing script|missing required|required (?:flag|argument)|no rule to make target|is not a (?:git|valid) command|no module named|cannot find module|could not find (?:`?cargo\.toml|a package\.json)|no such file or directory|executable (?:file )?not found|externally-managed-environment|requires an argument|usage:",
    )
    .ok()
});

/// The essential part of a command line, verbatim: without the change of folder before it, and
/// without pipes and redirections after it. `None` if no part stands out.
pub(super) fn essence(line: &str) -> Option<&str> {
    let whole = understand(line);
    let runner = whole.runner();
    part_that(line, &|part| !runner.is_empty() && understand(part).runner() == runner, 0)
}

/// The part of a command line that creates a commit.
pub(super) fn commit_in(line: &str) -> Option<&str> {
    part_that(line, &|part| understand(part).commits(), 0)
}

fn part_that<'l>(line: &'l str, is_it: &dyn Fn(&str) -> bool, depth: usize) -> Option<&'l str> {
    let line = line.trim();
    if let Some(inside) = script_inside(line)
        && depth < DEPTH_MAX
    {
        return part_that(inside, is_it, depth + 1);
    }
    let all = parts(line);
    let part = match all.as_slice() {
        [only] => only,
        _ => *all.iter().find(|part| is_it(part))?,
    };
    if part.len() < line.len() && script_inside(part).is_some() && depth < DEPTH_MAX {
        return part_that(part, is_it, depth + 1);
    }
    let end = REDIRECTIONS.as_ref().and_then(|found| found.find(part)).map(|found| found.start());
    let part = part.get(..end.unwrap_or(part.len())).unwrap_or(part).trim();
    is_plain(part).then_some(part)
}

/// True if a part is a repeatable command: it begins with a program or a variable, its quotation
/// marks are closed, and it has no here-document.
fn is_plain(part: &str) -> bool {
    let starts = part.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '~'));
    let closed = ['\'', '"'].iter().all(|mark| part.matches(*mark).count() % 2 == 0);
    starts && closed && !part.contains("<<") && !part.ends_with('…')
}

/// True if a call failed because its command line names a missing program, option, task or file.
pub(super) fn is_misuse(call: &Call) -> bool {
    let sample = call.sample.as_deref().unwrap_or_default();
    call.class == ToolClass::Shell
        && call.is_failed()
        && call.failed.unwrap_or(0) == 0
        && USAGE.as_ref().is_some_and(|usage| usage.is_match(sample))
}

/// True if a later call shows that an earlier one no longer fails.
pub(super) fn answers(later: &Call, earlier: &Call) -> bool {
    let (Some(later), Some(earlier)) = (&later.command, &earlier.command) else { return false };
    let (later, earlier) = (understand(later), understand(earlier));
    same_command(&later, &earlier) || covers(&later, &earlier)
}

/// True if only people read the file.
pub(super) fn is_document(path: &str) -> bool {
    let ending = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(ending.as_str(), "md" | "mdx" | "txt" | "rst" | "adoc")
}

/// The script of `bash -lc '…'`.
fn script_inside(line: &str) -> Option<&str> {
    let (shell, rest) = line.split_once(' ')?;
    if !matches!(shell.rsplit('/').next()?, "bash" | "sh" | "zsh" | "dash") {
        return None;
    }
    let (flags, script) = rest.trim_start().split_once(' ')?;
    if !(flags.starts_with('-') && flags.ends_with('c')) {
        return None;
    }
    let script = script.trim();
    let mark = script.chars().next().filter(|mark| matches!(mark, '\'' | '"'))?;
    let inside = script.strip_prefix(mark)?.strip_suffix(mark)?;
    (!inside.trim().is_empty()).then(|| inside.trim())
}

/// The commands of a line, split at separators outside quotation marks.
fn parts(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quote, mut skip) = (0, None, false);
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        if skip {
            skip = false;
            continue;
        }
        match (quote, c) {
            (_, '\\') => skip = true,
            (Some(mark), _) if c == mark => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            // `2>&1` and `&>` do not end a command.
            (None, '&') if before == '>' || line.get(at + 1..).is_some_and(|rest| rest.starts_with('>')) => {}
            (None, ';' | '|' | '&' | '\n') => {
                parts.extend(line.get(start..at).map(str::trim).filter(|part| !part.is_empty()));
                start = at + c.len_utf8();
            }
            _ => {}
        }
        before = c;
    }
    parts.extend(line.get(start..).map(str::trim).filter(|part| !part.is_empty()));
    parts
}

/// A path relative to the repository's top folder or the session's folder.
pub(super) fn below<'p>(episode: &Episode, path: &'p str) -> &'p str {
    let tops = [&episode.repository.root, &episode.cwd];
    for top in tops.into_iter().flatten() {
        let top = top.trim_end_matches(['/', '\\']);
        match path.strip_prefix(top) {
            Some("") if !top.is_empty() => return "",
            Some(rest) if rest.starts_with(['/', '\\']) => return rest.trim_start_matches(['/', '\\']),
            _ => {}
        }
    }
    path.strip_prefix("./").unwrap_or(path)
}

/// The purpose and the runner of a command: `test cargo test`.
pub(super) fn purpose_of(call: &Call) -> String {
    format!("{} {}", call.purpose.as_str(), call.runner)
}

/// Identifiers, tools and error codes from texts, beginning with `first`.
pub(super) fn keywords<'t>(first: &[&str], texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |word: &str| {
        let word = word.trim_matches(['.', '/', '-', '_']);
        let is_new = !found.iter().any(|known| known.eq_ignore_ascii_case(word));
        if (3..=60).contains(&word.len()) && is_new && found.len() < KEYWORDS_MAX {
            found.push(word.to_owned());
        }
    };
    first.iter().for_each(|word| add(word));
    for text in texts {
        NAMES.iter().flat_map(|names| names.find_iter(text)).for_each(|name| add(name.as_str()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_the_work_is_kept() {
        let lines = [
            ("cd /w/shop && cargo test -p cart 2>&1 | tail -20", "cargo test -p cart"),
            ("bash -lc 'cd api && npm test'", "npm test"),
            ("uv run pytest -q tests/a.py > /tmp/out.txt 2>&1; echo $?", "uv run pytest -q tests/a.py"),
            ("RUST_LOG=debug cargo run -- --port 80", "RUST_LOG=debug cargo run -- --port 80"),
            ("git commit -m 'a; b && c'", "git commit -m 'a; b && c'"),
            ("make check 2>&1", "make check"),
            ("echo hi", "echo hi"),
        ];
        assert_eq!(
            commit_in("git add -A && git commit -m 'Round up' && git push"),
            Some("git commit -m 'Round up'")
        );
        assert_eq!(commit_in("git commit -m \"$(cat <<'EOF' Round up EOF )\""), None);
        for (line, kept) in lines {
            assert_eq!(essence(line), Some(kept), "{line}");
        }
    }

    #[test]
    fn names_and_codes_are_keywords() {
        let found = keywords(&["cargo"], ["error[E0308] in src/tax.rs: vat_rate of CartTotal is no i64"]);
        assert_eq!(found, ["cargo", "E0308", "src/tax.rs", "vat_rate", "CartTotal"]);
    }
}
