//! Which command lines can be repeated in another session.

use retro_text::calls::{Purpose, understand};

use super::commands::essence;

/// Characters of a command; a longer one is a script of its own.
const COMMAND_CHARS: usize = 160;

/// The part of a line that does the work, as it is written there, if it can be run again:
/// no script of its own, no text that it makes up.
pub(super) fn core(line: &str) -> Option<String> {
    let command = essence(line)?;
    let is_script = ["<<", "$(", "`", " -c ", " -e ", "\n", "; ", "|| ", " && ", " > "];
    let begins =
        command.chars().next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '/' | '~' | '_'));
    let fits = begins && command.chars().count() <= COMMAND_CHARS;
    (fits && !is_script.iter().any(|mark| command.contains(mark))).then(|| command.to_owned())
}

/// Whether a line is for one file or one test, not for the repository.
pub(super) fn is_one_off(line: &str) -> bool {
    let Some(command) = essence(line) else { return true };
    let names_file = |word: &str| {
        let word = word.trim_matches(['"', '\'']);
        let ending = word.rsplit_once('.').map(|(_, ending)| ending);
        let is_file = ending.is_some_and(|ending| {
            matches!(
                ending,
                "py" | "rs"
                    | "go"
                    | "js"
                    | "mjs"
                    | "cjs"
                    | "ts"
                    | "tsx"
                    | "jsx"
                    | "java"
                    | "kt"
                    | "rb"
                    | "php"
                    | "c"
                    | "cc"
                    | "cpp"
                    | "cs"
                    | "swift"
                    | "html"
                    | "css"
                    | "json"
                    | "md"
            )
        });
        is_file
            || word.contains("::")
            || word.starts_with("/tmp")
            || word.starts_with("/home/")
            || word.starts_with("/Users/")
    };
    if command
        .split(' ')
        .next()
        .is_some_and(|program| program.contains('/') && !program.starts_with("./node_modules"))
    {
        return true;
    }
    let one_test = ["-k", "-run", "-t", "--grep", "--filter", "--test"];
    command.split_whitespace().skip(1).any(|word| names_file(word) || one_test.contains(&word))
}

/// Whether any repository of its kind shows this command: `cargo test`, `npm run build`.
pub(super) fn is_plain(line: &str) -> bool {
    let call = understand(line);
    let Some(step) = call.main_step() else { return false };
    if matches!(step.program(), "npm" | "pnpm" | "yarn" | "bun") && step.words.len() <= 3 {
        return true;
    }
    let quiet =
        |word: &&String| matches!(word.as_str(), "-q" | "-v" | "./..." | "." | "--quiet" | "--verbose");
    let words = step.words.iter().filter(|word| !quiet(word)).count();
    words <= step.runner.split(' ').count().max(1)
}

/// Whether a line changes something that could make another command pass.
pub(super) fn changes_something(line: &str) -> bool {
    let call = understand(line);
    let Some(step) = call.main_step() else { return false };
    if matches!(step.purpose, Purpose::Install | Purpose::Format) {
        return true;
    }
    if step.purpose.is_validation() {
        return false;
    }
    match step.program() {
        "mkdir" | "chmod" | "mv" | "cp" | "ln" | "export" | "touch" | "unset" | "kill" | "pkill" | "rm" => {
            true
        }
        "git" => matches!(
            step.words.get(1).map_or("", String::as_str),
            "checkout"
                | "pull"
                | "merge"
                | "rebase"
                | "stash"
                | "reset"
                | "config"
                | "fetch"
                | "submodule"
                | "switch"
                | "restore"
        ),
        "docker" | "docker-compose" | "podman" | "systemctl" | "service" | "brew" => true,
        "make" | "just" | "task" | "mise" | "npm" | "pnpm" | "yarn" | "bun" | "rake" => true,
        _ => false,
    }
}
