//! When a failed call is a fault: something that went wrong and that says what.
//!
//! Looking for what is not there, asking whether something runs, and a test that fails before it
//! is met are healthy work, and none.

use retro_insight::Call;
use retro_model::ToolClass;
use retro_text::calls::{Purpose, understand};

use crate::terms::{self, Terms};

/// What went wrong in a call.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    /// Equal where it is the same error.
    pub locus: String,
    /// The line as it was printed.
    pub line: String,
    pub terms: Terms,
    /// It speaks of code that is being worked on, or of a value that a test expected.
    pub of_code: bool,
    /// It reports what a test expected.
    pub asserts: bool,
}

/// Programs that ask how things are, and fail where the answer is no.
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

/// Arguments that only ask.
const ASKING: &[&str] =
    &["--version", "-V", "--help", "-h", "version", "help", "--dry-run", "status", "--check"];

/// Whether a command only asks how things are.
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

/// Whether a call looks at something and changes nothing.
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

/// Errors that the operating system or a tool has one of, however a program words it.
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

/// Words of errors that code gives while it is being written.
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
    /// The fault of a call; nothing where it did not fail, only looked, or says nothing.
    pub(crate) fn of(call: &Call) -> Option<Fault> {
        if !call.is_failed() || looks(call) {
            return None;
        }
        let (id, normal) = call.error.as_ref()?;
        let line = call.sample.clone().unwrap_or_else(|| normal.clone());
        let lower = line.to_lowercase();
        let terms = terms::of_error(normal);
        let cause = CAUSES.iter().find(|(_, words)| words.iter().any(|words| lower.contains(words)));
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
        let asserts = cause.is_none() && call.is_validation() && has(ASSERTS);
        let of_code = cause.is_none() && !is_missing_module && (asserts || has(OF_CODE) || has_code(&line));
        Some(Fault { locus, line, terms, of_code, asserts })
    }
}

/// Whether a compiler gave its message a number: `error[E0308]`, `TS2345`.
fn has_code(line: &str) -> bool {
    line.contains("error[E")
        || line.split(|c: char| !c.is_alphanumeric()).any(|word| {
            word.strip_prefix("TS")
                .is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
        })
}

/// What a runner says when something below it failed.
fn is_summary(lower: &str) -> bool {
    const SUMMARIES: &[&str] = &[
        "could not compile",
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

/// Files that are not code: their change mends an environment.
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
