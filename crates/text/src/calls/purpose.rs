//! The purpose of programs: a table of common tools.

use serde::{Deserialize, Serialize};

use super::programs::ALONE;
use super::unwrap::is_flag;
use Purpose::{Build, Format, Install, Lint, Other, Read, Run, Search, Test, Typecheck, Vcs};

/// The purpose of a command. A line with several purposes has the first of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Run automated tests.
    Test,
    /// Build or compile.
    Build,
    /// Check types without building.
    Typecheck,
    /// Check style, mistakes or formatting.
    Lint,
    /// Rewrite files in a fixed layout.
    Format,
    /// Install programs or dependencies.
    Install,
    /// Run the user's own program or script.
    Run,
    /// Use version control or a code host.
    Vcs,
    /// Search for something.
    Search,
    /// Read files or the system's state.
    Read,
    /// Any other purpose.
    Other,
}

impl Purpose {
    /// True if its result shows whether the work is good.
    pub fn is_validation(self) -> bool {
        matches!(self, Purpose::Test | Purpose::Build | Purpose::Typecheck | Purpose::Lint)
    }

    /// Its name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Purpose::Test => "test",
            Purpose::Build => "build",
            Purpose::Typecheck => "typecheck",
            Purpose::Lint => "lint",
            Purpose::Format => "format",
            Purpose::Install => "install",
            Purpose::Run => "run",
            Purpose::Vcs => "vcs",
            Purpose::Search => "search",
            Purpose::Read => "read",
            Purpose::Other => "other",
        }
    }
}

/// The purpose of a program, its usual name with the sub-command, and where its own arguments
/// begin.
pub(super) struct Known {
    pub purpose: Purpose,
    pub runner: String,
    pub arguments_at: usize,
}

/// Looks up the purpose of `words`, a program and its arguments.
pub(super) fn known(words: &[String]) -> Known {
    let program = words.first().map_or("", String::as_str);
    // A shell that only reads a script checks its syntax.
    if words.get(1).is_some_and(|word| word == "-n")
        && matches!(program, "sh" | "bash" | "zsh" | "ksh" | "dash")
    {
        return Known { purpose: Lint, runner: format!("{program} -n"), arguments_at: 2 };
    }
    if let Some(script) = script_runner(program, words) {
        return script;
    }
    if let Some((purpose, name)) = alone(program, words) {
        return Known { purpose, runner: name.to_owned(), arguments_at: 1 };
    }
    if let Some(with_verb) = with_verb(program, words) {
        return with_verb;
    }
    let purpose = match program {
        _ if is_script_file(program) => by_name_of_script(stem(program)),
        _ => by_name_of_tool(program),
    };
    Known { purpose, runner: program.to_owned(), arguments_at: 1 }
}

/// The index of the first word from `from` on that is neither a flag nor a flag's value.
fn verb_at(words: &[String], from: usize, with_value: &[&str]) -> usize {
    let mut at = from;
    while let Some(word) = words.get(at) {
        if !is_flag(word) && !word.starts_with('+') {
            break;
        }
        at += 1 + usize::from(with_value.contains(&word.as_str()));
    }
    at.min(words.len())
}

/// Runners of named tasks: `npm run lint`, `make check`, `just test`.
fn script_runner(program: &str, words: &[String]) -> Option<Known> {
    let values: &[&str] = match program {
        "npm" | "pnpm" | "yarn" | "bun" => {
            &["--prefix", "--filter", "-C", "--cwd", "-w", "--workspace", "-F", "--dir"]
        }
        "make" | "gmake" | "just" | "task" | "mise" | "rake" | "composer" | "moon" | "nx" | "turbo"
        | "invoke" | "inv" | "hatch" | "pdm" | "lerna" | "rtx" => {
            &["-C", "-f", "--file", "-j", "--justfile", "-d", "--filter"]
        }
        _ => return None,
    };
    let mut at = verb_at(words, 1, values);
    let mut verb = words.get(at).map_or("", String::as_str);
    let packages = matches!(program, "npm" | "pnpm" | "yarn" | "bun");
    if packages && matches!(verb, "workspace") {
        at = verb_at(words, at + 2, values);
        verb = words.get(at).map_or("", String::as_str);
    }
    let named = |name: &str, at: usize| {
        let other = if packages || program == "mise" { Purpose::Run } else { Purpose::Other };
        let mut purpose = by_name(name, other);
        if program == "make" && name == "check" {
            purpose = Purpose::Test;
        }
        Some(Known { purpose, runner: format!("script {name}"), arguments_at: at + 1 })
    };
    let plain = |purpose, verb: &str| {
        Some(Known { purpose, runner: format!("{program} {verb}"), arguments_at: at + 1 })
    };
    match (program, verb) {
        (_, "run" | "run-script" | "run-many") => {
            let at = verb_at(words, at + 1, values);
            named(words.get(at).map_or("", String::as_str), at)
        }
        ("npm" | "pnpm" | "yarn", "t" | "tst") => named("test", at),
        ("bun", "test") => plain(Purpose::Test, "test"),
        ("bun", "build") => plain(Purpose::Build, "build"),
        (
            "npm" | "pnpm" | "yarn" | "bun",
            "install" | "i" | "ci" | "add" | "remove" | "update" | "upgrade" | "link",
        )
        | ("composer", "install" | "require" | "update" | "dump-autoload")
        | ("mise" | "rtx", "install" | "use")
        | ("pdm", "install" | "add" | "sync") => plain(Purpose::Install, verb),
        ("yarn", "") => plain(Purpose::Install, "install"),
        (
            "npm" | "pnpm" | "yarn" | "bun",
            "view" | "ls" | "list" | "outdated" | "why" | "info" | "config" | "pm" | "",
        ) => plain(Purpose::Other, verb),
        ("make" | "gmake", "") => plain(Purpose::Build, "all"),
        ("bun", file) if is_script_file(file) || file.starts_with("./") => {
            plain(by_name(stem(file), Purpose::Run), file)
        }
        ("nx", "affected") => named(&target_flag(words).unwrap_or_default(), at),
        _ => named(verb, at),
    }
}

/// The value of `--target=X` or `-t X`.
fn target_flag(words: &[String]) -> Option<String> {
    words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--target=") {
        Some(name) => Some(name.to_owned()),
        None => matches!(word.as_str(), "--target" | "-t").then(|| words.get(at + 1).cloned()).flatten(),
    })
}

/// The purpose of a task, a script or a file, from the words of its name.
pub(super) fn by_name(name: &str, other: Purpose) -> Purpose {
    let lower = name.to_ascii_lowercase();
    let words: Vec<&str> = lower.split([':', '-', '_', '.', '/', '\\']).collect();
    let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
    if has(&["typecheck", "types", "tsc", "mypy", "pyright"]) || lower.contains("type-check") {
        Purpose::Typecheck
    } else if has(&[
        "test",
        "tests",
        "spec",
        "specs",
        "e2e",
        "unit",
        "integration",
        "coverage",
        "jest",
        "vitest",
        "pytest",
        "playwright",
        "ci",
        "verify",
        "runtests",
        "selftest",
    ]) {
        Purpose::Test
    } else if has(&[
        "lint",
        "eslint",
        "clippy",
        "ruff",
        "biome",
        "check",
        "checks",
        "validate",
        "linters",
        "precommit",
    ]) {
        Purpose::Lint
    } else if has(&["build", "compile", "bundle", "dist", "rebuild"]) {
        Purpose::Build
    } else if has(&["format", "fmt", "prettier"]) {
        Purpose::Format
    } else if has(&["install", "setup", "deps", "bootstrap"]) {
        Purpose::Install
    } else {
        other
    }
}

/// Words in the name of a script that inspects the machine or the project's environment rather than
/// the work.
const SURROUNDINGS: &[&str] = &[
    "auth",
    "branch",
    "config",
    "connection",
    "dependencies",
    "deps",
    "env",
    "environment",
    "health",
    "installed",
    "path",
    "paths",
    "ports",
    "prereq",
    "prereqs",
    "prerequisite",
    "prerequisites",
    "requirements",
    "setup",
    "status",
    "tools",
    "updates",
    "version",
    "versions",
];

/// The purpose of a script file, from its name. A script that checks prerequisites does not check
/// the work: `check-prerequisites.sh`.
fn by_name_of_script(stem: &str) -> Purpose {
    let purpose = by_name(stem, Run);
    let lower = stem.to_ascii_lowercase();
    let mut words = lower.split([':', '-', '_', '.']);
    if purpose == Lint && words.any(|word| SURROUNDINGS.contains(&word)) { Other } else { purpose }
}

/// File extensions that an interpreter runs.
const SCRIPT_ENDINGS: &[&str] = &[
    "sh", "bash", "zsh", "py", "js", "mjs", "cjs", "ts", "tsx", "mts", "rb", "pl", "php", "ps1", "lua", "r",
    "fish",
];

fn is_script_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty() && SCRIPT_ENDINGS.contains(&end.to_ascii_lowercase().as_str())
    })
}

fn stem(name: &str) -> &str {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Programs whose name is enough. A flag may turn a formatter into a check.
fn alone(program: &str, words: &[String]) -> Option<(Purpose, &'static str)> {
    let flag = |flags: &[&str]| words.iter().skip(1).any(|word| flags.contains(&word.as_str()));
    let (purpose, name) = ALONE.iter().find_map(|(purpose, names)| {
        names.binary_search(&program).ok().map(|at| (*purpose, names.get(at)))
    })?;
    let name = *name?;
    let checks = flag(&["--check", "--diff", "-l", "--list-different", "--dry-run", "-d", "--check-only"]);
    Some(match purpose {
        Purpose::Format if checks => (Purpose::Lint, name),
        Purpose::Read if matches!(name, "sed" | "perl") && flag(&["-i", "-pi", "--in-place"]) => {
            (Purpose::Other, name)
        }
        _ => (purpose, name),
    })
}

/// Programs whose first argument is a verb.
fn with_verb(program: &str, words: &[String]) -> Option<Known> {
    let at =
        verb_at(words, 1, &["-C", "-c", "--manifest-path", "-p", "--project", "--git-dir", "--work-tree"]);
    let verb = words.get(at).map_or("", String::as_str);
    let has = |names: &[&str]| words.iter().skip(1).any(|word| names.contains(&word.as_str()));
    let known = |purpose| Some(Known { purpose, runner: format!("{program} {verb}"), arguments_at: at + 1 });
    match program {
        "git" => known(if verb == "grep" { Search } else { Vcs }),
        "cargo" => cargo(verb, at, words),
        "node" => {
            let tests = has(&["--test"]);
            let purpose = if tests {
                Test
            } else if is_script_file(verb) {
                by_name_of_script(stem(verb))
            } else {
                Run
            };
            let runner = if tests { "node --test".to_owned() } else { format!("node {verb}") };
            Some(Known { purpose, runner, arguments_at: if tests { 1 } else { at + 1 } })
        }
        "deno" | "go" | "zig" | "swift" | "dotnet" | "mix" | "dart" | "flutter" | "stack" | "cabal"
        | "dune" | "bazel" | "bazelisk" | "buck2" | "meson" | "forge" | "moon" | "gleam" | "crystal"
        | "nimble" | "lein" | "playwright" | "ng" | "vite" | "next" | "nuxt" | "astro" | "expo" | "hugo"
        | "jekyll" | "docusaurus" | "xcodebuild" | "ruff" | "biome" | "buf" | "terraform" | "tofu"
        | "cmake" | "tauri" | "vp" | "rebar3" => {
            let mut purpose = verb_purpose(program, verb);
            if has(&["--check", "--diff", "--verify-no-changes", "-check", "--check-formatted"])
                && purpose == Format
            {
                purpose = Lint;
            }
            known(purpose)
        }
        "gradle" | "gradlew" | "mvn" | "mvnw" | "mvnd" | "sbt" | "ant" => known(java(words)),
        "uv" | "poetry" | "pipenv" | "bundle" | "go-task" | "rye" | "pixi" => known(Install),
        "docker" | "podman" | "docker-compose" => known(if has(&["build"]) { Build } else { Run }),
        _ if is_python(program) || matches!(program, "bun") => {
            let purpose = if is_script_file(verb) { by_name_of_script(stem(verb)) } else { Run };
            Some(Known { purpose, runner: format!("{program} {verb}"), arguments_at: at + 1 })
        }
        _ => None,
    }
}

fn is_python(program: &str) -> bool {
    program.strip_prefix("python").is_some_and(|end| end.chars().all(|c| c.is_ascii_digit() || c == '.'))
        || program == "py"
}

/// Cargo, with its aliases and the runners that add a command to it.
fn cargo(verb: &str, at: usize, words: &[String]) -> Option<Known> {
    let check = words.iter().any(|word| word == "--check");
    let (purpose, name) = match verb {
        "test" | "t" | "nextest" | "tarpaulin" | "llvm-cov" | "mutants" | "miri" | "insta" => (Test, "test"),
        "build" | "b" | "zigbuild" | "ndk" | "doc" | "bench" => (Build, "build"),
        "check" | "c" | "hack" => (Typecheck, "check"),
        "clippy" | "deny" | "audit" | "machete" | "udeps" | "semver-checks" => (Lint, verb),
        "fmt" => (if check { Lint } else { Format }, "fmt"),
        "run" | "r" => (Run, "run"),
        "add" | "install" | "fetch" | "update" | "remove" | "binstall" => (Install, verb),
        "xtask" | "make" => {
            let task = words.get(at + 1).map_or("", String::as_str);
            return Some(Known {
                purpose: by_name(task, Run),
                runner: format!("cargo xtask {task}"),
                arguments_at: at + 2,
            });
        }
        _ => (Other, verb),
    };
    let run_of_nextest = verb == "nextest" && words.get(at + 1).is_some_and(|word| word == "run");
    Some(Known {
        purpose,
        runner: format!("cargo {name}"),
        arguments_at: at + 1 + usize::from(run_of_nextest),
    })
}

/// The purpose of verbs that many programs share.
fn verb_purpose(program: &str, verb: &str) -> Purpose {
    match (program, verb) {
        ("cmake" | "xcodebuild", "test") => Test,
        ("cmake" | "xcodebuild", _) => Build,
        ("playwright", "install") => Install,
        ("playwright", _) => Test,
        ("ruff" | "biome" | "buf", "format") => Format,
        ("ruff" | "biome" | "buf", _) => Lint,
        ("terraform" | "tofu", "validate" | "plan") => Lint,
        ("astro" | "deno" | "gleam", "check") => Typecheck,
        ("go", "mod" | "get" | "install" | "work") | ("dotnet", "restore" | "add" | "tool") => Install,
        (_, "test" | "tests" | "runtest" | "eunit" | "ct" | "spec") => Test,
        (_, "build" | "compile" | "export" | "publish" | "archive" | "build-exe" | "build-lib") => Build,
        (_, "vet" | "lint" | "credo" | "analyze") => Lint,
        (_, "dialyzer" | "check") => Typecheck,
        (_, "fmt" | "format") => Format,
        (_, "install" | "deps.get" | "get" | "pub" | "add") => Install,
        (_, "run" | "dev" | "start" | "serve" | "preview") => Run,
        ("vite" | "next" | "expo", _) => Run,
        _ => Other,
    }
}

/// Java build tools, which take any number of goals.
fn java(words: &[String]) -> Purpose {
    let goals: Vec<Purpose> = words
        .iter()
        .skip(1)
        .filter(|word| !is_flag(word))
        .map(|word| {
            let goal = word.rsplit(':').next().unwrap_or(word);
            match goal {
                "verify" | "check" => Test,
                goal if goal.to_ascii_lowercase().contains("test") => Test,
                "checkstyle" | "pmd" | "spotlessCheck" | "ktlintCheck" | "detekt" | "lint" => Lint,
                "spotlessApply" | "ktlintFormat" => Format,
                "dependencies" | "tasks" | "projects" | "tree" => Read,
                "bootRun" | "run" => Run,
                _ => Build,
            }
        })
        .collect();
    goals.into_iter().min().unwrap_or(Build)
}

/// A program of the user with a descriptive name.
fn by_name_of_tool(program: &str) -> Purpose {
    match program {
        "true" | "false" | "echo" | "printf" | "test" | "[" | "[[" | "test-path" | "" => Other,
        _ => by_name(program, Other),
    }
}
