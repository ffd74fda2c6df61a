//! Decides if a failed call is a fault: an error with a message.
//!
//! A search without a match, a query whether something runs, and a test that fails before the code
//! is written are normal work, not faults.

use retro_insight::Call;
use retro_model::ToolClass;
use retro_text::calls::{Purpose, understand};

use crate::terms::{self, Terms};

/// The error of a call.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    /// A key that is equal for the same error.
    pub locus: String,
    /// The line as printed.
    pub line: String,
    pub terms: Terms,
    /// True if it is about code that is being changed, or about a value that a test expected.
    pub of_code: bool,
    /// True if it is a failed assertion of a test.
    pub asserts: bool,
}

/// Programs that query a state, and fail if the answer is no.
const PROBES: &[&str] = &[
    "which",
    "type",
    "command",
    "test",
    "[",
    "[[",
    "stat",
    "file",
    "pgrep",
    "pidof",
    "lsof",
    "nc",
    "ping",
    "dig",
    "nslookup",
    "pg_isready",
    "curl",
    "wget",
    "http",
    "ss",
    "netstat",
    "diff",
    "cmp",
    "ps",
    "kill",
    "pkill",
    "killall",
    "true",
    "false",
    "timeout",
    "sleep",
    "wait",
    "exit",
    "ls",
    "cat",
    "head",
    "tail",
    "find",
    "tree",
];

/// Arguments that only query.
const ASKING: &[&str] =
    &["--version", "-V", "--help", "-h", "version", "help", "--dry-run", "status", "--check"];

/// True if a command only queries a state.
pub(crate) fn is_probe(command: &str) -> bool {
    let call = understand(command);
    let Some(step) = call.main_step() else { return true };
    let program = step.program().rsplit('/').next().unwrap_or_default();
    PROBES.contains(&program)
        || step.words.get(1).is_some_and(|word| ASKING.contains(&word.as_str()))
        || step.words.last().is_some_and(|word| matches!(word.as_str(), "--version" | "--help"))
        || (program == "git"
            && step.words.get(1).is_some_and(|word| {
                !matches!(
                    word.as_str(),
                    "push"
                        | "pull"
                        | "clone"
                        | "commit"
                        | "rebase"
                        | "merge"
                        | "fetch"
                        | "apply"
                        | "am"
                        | "cherry-pick"
                )
            }))
}

/// True if a call reads something and changes nothing.
pub(crate) fn looks(call: &Call) -> bool {
    match call.class {
        ToolClass::Read | ToolClass::Search | ToolClass::Web | ToolClass::Ask | ToolClass::Plan => true,
        ToolClass::Shell => {
            matches!(call.purpose, Purpose::Read | Purpose::Search)
                || call.command.as_deref().is_none_or(is_probe)
        }
        _ => false,
    }
}

/// Errors of the operating system or a tool, with the wordings of different programs.
const CAUSES: &[(&str, &[&str])] = &[
    (
        "address in use",
        &[
            "eaddrinuse",
            "address already in use",
            "port is already allocated",
            "already in use by another process",
            "port is already in use",
            "only one usage of each socket address",
        ],
    ),
    (
        "no network",
        &["could not resolve host", "temporary failure in name resolution", "network is unreachable"],
    ),
    ("disk full", &["enospc", "no space left on device", "disk quota exceeded"]),
    ("out of memory", &["heap out of memory", "oomkilled", "cannot allocate memory", "out of memory"]),
    ("too many open files", &["emfile", "too many open files", "system limit for number of file watchers"]),
    (
        "docker daemon",
        &[
            "cannot connect to the docker daemon",
            "docker daemon is not running",
            "is the docker daemon running",
        ],
    ),
    ("externally managed python", &["externally-managed-environment", "environment is externally managed"]),
    ("git index locked", &["index.lock", "another git process seems to be running"]),
    ("host key", &["host key verification failed"]),
    ("database locked", &["database is locked"]),
];

/// Words of errors in code that is being written.
const OF_CODE: &[&str] = &[
    "typeerror",
    "nameerror",
    "attributeerror",
    "referenceerror",
    "syntaxerror",
    "keyerror",
    "indexerror",
    "valueerror",
    "nullpointerexception",
    "undefined",
    "is not defined",
    "not a function",
    "panicked",
    "mismatched",
    "cannot read propert",
    "cannot find value",
    "cannot find name",
    "cannot find type",
    "cannot find function",
    "cannot find symbol",
    "no method named",
    "no field",
    "has no attribute",
    "does not exist on type",
    "not assignable",
    "borrow",
    "unused",
    "unexpected token",
    "parse error",
    "expected ",
    "redeclared",
    "implicitly",
    "cannot infer",
    "unresolved",
    "lifetime",
    "trait bound",
    "clippy",
    "eslint",
    "lint",
];

const ASSERTS: &[&str] =
    &["assert", "expected", "--- fail", "to equal", "to be ", "not equal", "mismatch", "got ", "snapshot"];

impl Fault {
    /// The fault of a call. `None` if it did not fail, only read, or has no message.
    pub(crate) fn of(call: &Call) -> Option<Fault> {
        if !call.is_failed() || looks(call) {
            return None;
        }
        let (id, normal) = call.error.as_ref()?;
        let line = call.sample.clone().unwrap_or_else(|| normal.clone());
        Fault::in_line(line, normal, id, call.is_validation())
    }

    /// The fault that a line tells of. `normal` is the line as it is compared, and `id` names it.
    pub(crate) fn in_line(line: String, normal: &str, id: &str, is_validation: bool) -> Option<Fault> {
        let lower = line.to_lowercase();
        let mut terms = terms::of_error(normal);
        let missing = missing(&line);
        if missing.is_some() || is_missing_file(&lower) {
            // The name of the missing file or program identifies the error, whatever the wording of
            // the shell.
            let name = missing.or_else(|| file_in(&line))?;
            terms = Terms { words: Vec::new(), names: vec![name.clone()] };
            let locus = format!("error:missing:{name}");
            return Some(Fault { locus, line, terms, of_code: false, asserts: false });
        }
        // `Port 3000 is already in use`
        let unnumbered = lower.replace(|c: char| c.is_ascii_digit(), "").replace("  ", " ");
        let is_in = |words: &&str| lower.contains(*words) || unnumbered.contains(*words);
        let cause = CAUSES.iter().find(|(_, words)| words.iter().any(is_in));
        let says = !terms.words.is_empty() && terms.words.len() + terms.names.len() >= 2;
        if cause.is_none() && (!says || is_summary(&lower)) {
            return None;
        }
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let locus = match cause {
            Some((cause, _)) => format!("error:{cause}"),
            None => format!("error:{id}"),
        };
        let is_missing_module =
            lower.contains("module") || lower.contains("package") || lower.contains("command not found");
        let asserts = cause.is_none() && is_validation && has(ASSERTS);
        let of_code = cause.is_none() && !is_missing_module && (asserts || has(OF_CODE) || has_code(&line));
        Some(Fault { locus, line, terms, of_code, asserts })
    }
}

/// The program that a shell did not find.
fn missing(line: &str) -> Option<String> {
    let name = match line.split_once("command not found: ") {
        Some((_, after)) => after.split_whitespace().next()?,
        None => {
            let (before, _) =
                line.split_once(": command not found").or_else(|| line.split_once(": not found"))?;
            before.rsplit([' ', ':']).next()?
        }
    };
    let name = name.trim_matches(['\'', '"', '`', '.', ',']);
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/'));
    is_name.then(|| name.rsplit('/').next().unwrap_or(name).to_lowercase())
}

fn is_missing_file(lower: &str) -> bool {
    ["no such file or directory", "cannot find the path specified", "cannot find the file specified"]
        .iter()
        .any(|words| lower.contains(words))
}

/// The last file in a line, without its folder.
fn file_in(line: &str) -> Option<String> {
    let mut words =
        line.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ':' | '(' | ')' | ','));
    let is_file = |word: &&str| word.contains(['/', '.']) && word.chars().any(char::is_alphabetic);
    let path = words.rfind(is_file)?;
    let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty())?;
    Some(name.to_lowercase())
}

/// True if the message has a number of the compiler: `error[E0308]`, `TS2345`.
fn has_code(line: &str) -> bool {
    line.contains("error[E")
        || line.split(|c: char| !c.is_alphanumeric()).any(|word| {
            word.strip_prefix("TS")
                .is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
        })
}

/// True for the message of a runner whose command failed.
fn is_summary(lower: &str) -> bool {
    const SUMMARIES: &[&str] = &[
        "could not compile",
        "merge conflict",
        "would have printed",
        "to rerun pass",
        "exit code",
        "exit status",
        "lifecycle script",
        "command failed",
        "test result:",
        "tests failed",
        "failed tests",
        "previous error",
        "problems (",
        "recipe for target",
        "returned non-zero",
        "build failed",
        "process completed",
        "compilation failed",
        "tests did not pass",
    ];
    SUMMARIES.iter().any(|words| lower.contains(words))
}

/// True for files that are not code: changing them repairs an environment.
pub(crate) fn is_setting(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase();
    let ending = name.rsplit('.').next().unwrap_or_default();
    matches!(
        ending,
        "toml"
            | "json"
            | "yml"
            | "yaml"
            | "env"
            | "ini"
            | "cfg"
            | "conf"
            | "lock"
            | "properties"
            | "tf"
            | "xml"
            | "gradle"
            | "mk"
    ) || name.starts_with(".env")
        || name.starts_with("dockerfile")
        || name.starts_with("makefile")
        || name.starts_with(".")
        || name.contains(".config.")
        || name.starts_with("requirements")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_the_same_in_every_shell() {
        for line in [
            "bash: line 1: python: command not found",
            "(eval):1: command not found: python",
            "sh: 1: python: not found",
        ] {
            assert_eq!(missing(line).as_deref(), Some("python"), "{line}");
        }
        assert_eq!(missing("error: the page was not found"), None);
        assert_eq!(
            file_in("bash: line 1: ./bin/prettier: No such file or directory").as_deref(),
            Some("prettier")
        );
        assert_eq!(file_in("No such file or directory (os error 2)"), None);
    }
}
