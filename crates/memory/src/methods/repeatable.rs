//! What of a session another session can run again, and what only this one could: temporary
//! files, variables that it set, looks at how something is going, code that was being written.

use std::sync::LazyLock;

use regex::Regex;
use retro_text::calls::understand;

use super::shell;

/// Folders that are gone with the session, and those of the agents themselves.
const PASSING: &[&str] = &[
    "/tmp/",
    "/var/folders/",
    "\\temp\\",
    "/temp/",
    "scratchpad",
    "$tmpdir",
    "%temp%",
    "/.claude/",
    "/.codex/",
    "/.grok/",
    "\\.claude\\",
    "\\.codex\\",
];

/// Variables that every shell has.
const EVERYWHERE: &[&str] = &["HOME", "PATH", "PWD", "USER", "SHELL", "LANG", "PYTHONPATH", "GOPATH"];

static VARIABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)").ok());

/// Whether a command line names what only its session has: a temporary file, a folder of the
/// agent, a variable that is set nowhere on the line.
pub(crate) fn is_of_session(line: &str) -> bool {
    let lower = line.to_lowercase();
    let is_set = |name: &str| EVERYWHERE.contains(&name) || line.contains(&format!("{name}="));
    let variables = VARIABLE.iter().flat_map(|found| found.captures_iter(line));
    PASSING.iter().any(|place| lower.contains(place))
        || variables.filter_map(|found| found.get(1)).any(|name| !is_set(name.as_str()))
}

/// Words with which a program is asked how things are.
const LOOKS: &[&str] = &[
    "checks", "describe", "doctor", "info", "inspect", "list", "logs", "ls", "ps", "search", "show",
    "status", "view", "wait", "watch", "whoami",
];
const LOOK_FLAGS: &[&str] = &["--help", "--version", "-V", "-h", "--dry-run", "--check"];

/// Whether a line only asks a program of everybody how things are. That it failed first and
/// passed later shows that time went by.
pub(super) fn is_look(line: &str) -> bool {
    let call = understand(shell::unprepared(line));
    let own = shell::unprepared(line).split_whitespace().find(|word| !word.contains('='));
    let is_own = own.is_some_and(|program| program.contains('/')) || !shell::is_of_everybody(line);
    let Some(step) = call.main_step().filter(|_| !is_own) else { return false };
    let is_last = |word: &String| step.words.last() == Some(word);
    let asks = |word: &String| {
        LOOKS.contains(&word.as_str()) || (is_last(word) && matches!(word.as_str(), "version" | "help"))
    };
    let is_task =
        matches!(step.program(), "npm" | "pnpm" | "yarn" | "bun" | "deno" | "mise" | "cargo" | "go");
    (!is_task && step.words.iter().skip(1).take(2).any(asks))
        || step.words.iter().skip(1).any(|word| LOOK_FLAGS.contains(&word.as_str()))
}

static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:\w+(?:\.exe)?: )?(?:[A-Za-z]:)?[\w./\\@+-]+\.\w{1,5}(?::\d+|\(\d+)|^error\[E\d+\]").ok()
});

/// Whether a line of an error names a line of source: `src/a.rs:3:1`, `a.ts(3,1)`, `error[E0308]`.
pub(super) fn names_source_line(error: &str) -> bool {
    PLACE.as_ref().is_some_and(|place| place.is_match(error.trim()))
}

/// Whether a file configures how things are built and run; others are what is being written.
pub(super) fn is_configuration(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    let ending = name.rsplit('.').next().unwrap_or_default();
    let is_settings = ["package.", "tsconfig", "jsconfig", "deno.", "composer.", "settings."];
    matches!(
        ending,
        "toml"
            | "yaml"
            | "yml"
            | "ini"
            | "cfg"
            | "conf"
            | "lock"
            | "mod"
            | "env"
            | "properties"
            | "gradle"
            | "cmake"
            | "nix"
            | "csproj"
    ) || name.starts_with('.')
        || is_settings.iter().any(|start| name.starts_with(start))
        || name.contains(".config.")
        || matches!(
            name.as_str(),
            "makefile" | "dockerfile" | "justfile" | "gemfile" | "rakefile" | "procfile"
        )
        || name.starts_with("requirements")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_its_session_has_is_known() {
        for line in [
            "bash /tmp/run.sh",
            "go build -o \"$OUT/shop\" .",
            "wsl bash C:/Users/a/AppData/Local/Temp/b/run.sh",
            "python3 /home/dev/.codex/skills/check.py shop",
        ] {
            assert!(is_of_session(line), "{line}");
        }
        for line in ["PATH=\"$PATH:/opt/go/bin\" go test ./...", "OUT=build ./pack $OUT", "make check"] {
            assert!(!is_of_session(line), "{line}");
        }
    }

    #[test]
    fn a_look_at_how_things_are_is_no_work() {
        for line in ["gh pr checks 12", "docker compose ps", "shopctl --version", "node --check a.mjs"] {
            assert!(is_look(line), "{line}");
        }
        for line in ["./bin/stock list", "make status", "npm version patch", "docker compose up -d db"] {
            assert!(!is_look(line), "{line}");
        }
    }

    #[test]
    fn a_line_of_source_is_told_from_other_errors() {
        for error in [
            "src/cart.go:204:13: possible misuse",
            "vet.exe: cart\\sum_test.go:59:17: cannot use total",
            "src/cart.ts(4,2): error TS2304",
            "error[E0308]: mismatched types",
        ] {
            assert!(names_source_line(error), "{error}");
        }
        for error in ["error: unknown command 'test'", "fatal: portaudio.h: No such file", "HTTP 403: no"] {
            assert!(!names_source_line(error), "{error}");
        }
        assert!(is_configuration("web/vite.config.ts") && is_configuration("Makefile"));
        assert!(is_configuration("api/package.json") && !is_configuration("data/guests.json"));
        assert!(!is_configuration("src/cart.ts"));
    }
}
