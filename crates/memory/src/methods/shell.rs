//! Determines whether a command line can be repeated in another session.

use retro_text::calls::{Purpose, understand};

use super::commands::essence;

/// Maximum characters of a command. A longer one is a script.
const COMMAND_CHARS: usize = 160;

/// The essential part of a line, verbatim, if it can be repeated: no inline script, no generated
/// text.
pub(super) fn core(line: &str) -> Option<String> {
    let command = essence(line)?;
    let is_script = ["<<", "$(", "`", " -c ", " -e ", "\n", "; ", "|| ", " && ", " > "];
    let begins =
        command.chars().next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '/' | '~' | '_'));
    let fits = begins && command.chars().count() <= COMMAND_CHARS;
    (fits && !is_script.iter().any(|mark| command.contains(mark))).then(|| command.to_owned())
}

/// True if a line concerns one file or one test, not the repository.
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

/// True if the command is obvious from any such repository: `cargo test`, `npm run build`.
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

/// True if all names in a command belong to its program. A make target or a script of the
/// repository belongs to the repository.
pub(super) fn is_of_everybody(line: &str) -> bool {
    let call = understand(line);
    let is_own = |program: &str| {
        program.contains('/') || matches!(program, "make" | "just" | "task" | "rake" | "mage" | "inv" | "nox")
    };
    call.main_step().is_none_or(|step| !step.words.first().is_some_and(|word| is_own(word)))
}

/// Programs that run what a repository names.
const RUNNERS: &[&str] = &[
    "bun", "bundle", "composer", "deno", "docker", "gradle", "hatch", "mise", "mvn", "npm", "php", "pnpm",
    "poetry", "python", "python3", "ruby", "uv", "yarn",
];

/// Whether a line runs something of the repository: a path, or a task that it names.
pub(super) fn is_of_repository(line: &str) -> bool {
    let call = understand(unprepared(line));
    let is_path = |word: &str| word.contains('/') && !word.contains("./...");
    let has_path = unprepared(line).split_whitespace().any(is_path);
    let runs = call.main_step().is_some_and(|step| RUNNERS.contains(&step.program()));
    has_path || runs || !is_of_everybody(line)
}

/// True if a line discards earlier work, and thus fixes nothing.
pub(super) fn is_discard(line: &str) -> bool {
    let call = understand(line);
    let Some(step) = call.main_step() else { return false };
    let word = step.words.get(1).map_or("", String::as_str);
    step.program() == "git" && matches!(word, "checkout" | "restore" | "reset" | "stash" | "clean" | "revert")
}

/// Programs that tidy up or look around, which users do not request by name.
const HOUSEKEEPING: &[&str] = &[
    "awk", "cat", "cd", "chmod", "cp", "curl", "date", "echo", "env", "export", "find", "grep", "head", "jq",
    "kill", "ln", "ls", "mkdir", "mv", "ps", "pwd", "rg", "rm", "sed", "sleep", "sort", "tail", "test",
    "touch", "wc", "which",
];

/// True if a line only tidies up, looks around, or runs something outside the repository.
pub(super) fn is_housekeeping(line: &str) -> bool {
    let call = understand(line);
    let Some(step) = call.main_step() else { return true };
    let is_elsewhere = |word: &String| word.contains("/tmp/");
    HOUSEKEEPING.contains(&step.program()) || step.words.iter().any(is_elsewhere)
}

/// Commands that prepare the shell for later ones.
const PREPARES: &[&str] =
    &["source ", ". ", "export ", "nvm use", "conda activate", "pyenv ", "fnm use", "asdf ", "cd "];

/// True if a part of a line only prepares the shell.
fn prepares(part: &str) -> bool {
    PREPARES.iter().any(|start| part.trim_start().starts_with(start))
        && !part.contains(['`', '$', ';', '|', '\n'])
}

/// A line without its preparation of the shell.
pub(super) fn unprepared(line: &str) -> &str {
    let mut rest = line;
    while let Some((_, after)) = rest.split_once("&&").filter(|(part, _)| prepares(part)) {
        rest = after.trim_start();
    }
    rest
}

/// A command with the preparation right before it on its line. A change of folder does not belong
/// to it.
pub(super) fn with_preparation<'l>(line: &'l str, core: &'l str) -> &'l str {
    let Some(at) = line.find(core) else { return core };
    let mut from = at;
    while let Some(before) = line.get(..from).and_then(|head| head.trim_end().strip_suffix("&&")) {
        let start = before.rfind("&&").map_or(0, |at| at + 2);
        let part = before.get(start..).unwrap_or_default();
        let bare = part.trim_start();
        if !prepares(part) || bare.starts_with("cd ") {
            break;
        }
        from = start + part.len() - bare.len();
    }
    line.get(from..at + core.len()).unwrap_or(core)
}

/// A command with placeholders for values that vary between runs: numbers, versions, dates.
pub(super) fn with_slots(command: &str) -> String {
    let slot = |word: &str| {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let is_number = digits > 0
            && word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | ':' | 'v' | '_' | '/'));
        let is_words = word.starts_with(['"', '\'']);
        if is_number || is_words { "<…>".to_owned() } else { word.to_owned() }
    };
    let words: Vec<String> = command
        .split_whitespace()
        .map(|word| match word.split_once('=') {
            Some((name, value)) if !value.is_empty() => format!("{name}={}", slot(value)),
            _ => slot(word),
        })
        .collect();
    words.join(" ")
}

/// A line of several commands, verbatim but without a leading change of folder, if it can be
/// repeated.
pub(super) fn whole(line: &str) -> Option<&str> {
    let mut rest = line.trim();
    while let Some((_, after)) =
        rest.split_once("&&").filter(|(part, _)| part.trim_start().starts_with("cd "))
    {
        rest = after.trim_start();
    }
    let is_script = ["<<", "$(", "`", " -c ", " -e ", "\n", ";", "|", " > "];
    let fits = rest.contains(" && ") && rest.chars().count() <= COMMAND_CHARS;
    (fits && !is_script.iter().any(|mark| rest.contains(mark))).then_some(rest)
}

/// Whether a line puts a file where it is looked for; which one, its words say best.
pub(super) fn puts_in_place(line: &str) -> bool {
    understand(line).main_step().is_some_and(|step| matches!(step.program(), "cp" | "ln" | "mkdir" | "touch"))
}

/// True if a line changes something that could make another command pass: it is neither read-only
/// nor a check.
pub(super) fn changes_something(line: &str) -> bool {
    let call = understand(line);
    let Some(step) = call.main_step() else { return false };
    let is_own = unprepared(line).split_whitespace().next().is_some_and(|word| word.contains('/'));
    if (step.purpose.is_validation() && !(is_own && step.purpose == Purpose::Build))
        || matches!(step.purpose, Purpose::Read | Purpose::Search)
    {
        return false;
    }
    let word = |at: usize| step.words.get(at).map_or("", String::as_str);
    match step.program() {
        "git" => !matches!(
            word(1),
            "add"
                | "commit"
                | "push"
                | "status"
                | "log"
                | "diff"
                | "show"
                | "branch"
                | "remote"
                | "tag"
                | "blame"
                | "rev-parse"
                | ""
        ),
        // Of what servers are asked, only who asks and what is there changes what passes.
        "gh" | "glab" => matches!(
            (word(1), word(2)),
            ("auth", "login" | "refresh" | "setup-git" | "switch")
                | ("repo", "create" | "fork" | "set-default")
                | ("secret" | "variable", "set")
                | ("extension", "install")
        ),
        "cat" | "echo" | "ls" | "cd" | "pwd" | "which" | "head" | "tail" | "grep" | "rg" | "find"
        | "sleep" | "ps" | "curl" | "wc" | "date" | "test" | "printf" | "true" | "jq" | "env" | "sort"
        | "awk" => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_prepares_the_shell_belongs_to_a_command() {
        for (line, core, whole) in [
            (
                "source env/bin/activate && ./book print",
                "./book print",
                "source env/bin/activate && ./book print",
            ),
            ("cd /w && export A=1 && ./book print 2>&1", "./book print", "export A=1 && ./book print"),
            ("make clean && ./book print", "./book print", "./book print"),
            ("./book print", "./book print", "./book print"),
        ] {
            assert_eq!(with_preparation(line, core), whole, "{line}");
        }
    }

    #[test]
    fn what_changes_is_a_slot() {
        for (command, slots) in [
            ("./deploy.sh v1.2.3 --port=8080", "./deploy.sh <…> --port=<…>"),
            ("bin/report 2026-07-01 sales", "bin/report <…> sales"),
            ("python3 tools/load.py", "python3 tools/load.py"),
        ] {
            assert_eq!(with_slots(command), slots);
        }
    }

    #[test]
    fn every_command_that_is_no_look_is_a_step() {
        for line in
            ["fonts import serif.otf", "git checkout main", "npm install", "./gen.sh", "systemctl start db"]
        {
            assert!(changes_something(line), "{line}");
        }
        for line in ["ls -la", "git status", "cat notes", "cargo test", "rg todo", "curl localhost:80"] {
            assert!(!changes_something(line), "{line}");
        }
    }
}
