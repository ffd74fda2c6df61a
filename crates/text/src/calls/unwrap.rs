//! Finds the program that a simple command really runs, behind `sudo`, `timeout`,
//! `uv run`, `npx`, `bash -lc '…'` and their like.

/// The command behind the wrappers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Real {
    /// A program with its arguments.
    Program(Vec<String>),
    /// A script that is passed to a shell.
    Script(String),
    /// The working directory of the following commands.
    Folder(String),
    /// No program: only an assignment, or a wrapper without a command.
    Nothing,
}

/// The most nested wrappers that are removed.
const WRAPPERS_MAX: usize = 8;

/// Removes the wrappers from `words`.
pub(super) fn real(words: &[String]) -> Real {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    for _ in 0..WRAPPERS_MAX {
        let assigned = words.iter().take_while(|word| is_assignment(word)).count();
        if assigned == words.len() {
            return captured(&words);
        }
        words.drain(..assigned);
        let (head, rest) = match words.split_first() {
            Some((head, rest)) => (program_name(head), rest),
            None => return Real::Nothing,
        };
        if is_shell(&head) {
            return shell(head, rest);
        }
        if head == "ssh" {
            return remote(rest);
        }
        if matches!(&*head, "cd" | "pushd" | "set-location" | "sl") {
            return rest
                .iter()
                .find(|word| !is_flag(word))
                .map_or(Real::Nothing, |dir| Real::Folder((*dir).to_owned()));
        }
        let Some(skip) = wrapped(&head, rest) else {
            let mut program = vec![head];
            program.extend(rest.iter().map(|word| (*word).to_owned()));
            return Real::Program(module(program));
        };
        words.drain(..(skip + 1).min(words.len()));
    }
    Real::Program(words.into_iter().map(str::to_owned).collect())
}

/// The name of a program without its folder, its extension and, for package runners, its version.
fn program_name(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(word);
    let lower = name.to_ascii_lowercase();
    let name =
        [".exe", ".cmd", ".bat"].iter().find_map(|end| lower.strip_suffix(end).map(str::to_owned)).unwrap_or(
            if name.contains('-') && name.chars().any(char::is_uppercase) { lower } else { name.to_owned() },
        );
    match name.split_once('@') {
        Some((bare, _)) if !bare.is_empty() => bare.to_owned(),
        _ => name,
    }
}

/// `NAME=value`.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_prefix("$env:").unwrap_or(name).trim_end_matches('+');
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The script whose output a variable takes: `out=$(cargo test)`.
fn captured(words: &[&str]) -> Real {
    let script = words.iter().find_map(|word| {
        let value = word.split_once('=')?.1;
        value.strip_prefix("$(")?.strip_suffix(')')
    });
    script.map_or(Real::Nothing, |script| Real::Script(script.to_owned()))
}

pub(super) fn is_flag(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1
}

fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" | "pwsh" | "powershell" | "cmd")
}

/// A shell that runs a script argument or a file.
fn shell(head: String, rest: &[&str]) -> Real {
    if rest.first() == Some(&"-n") {
        return Real::Program(
            [&*head, "-n"]
                .iter()
                .chain(rest.get(1..).unwrap_or_default())
                .map(|word| (*word).to_owned())
                .collect(),
        );
    }
    for (at, word) in rest.iter().enumerate() {
        let lower = word.to_ascii_lowercase();
        let takes_script = match lower.strip_prefix('-') {
            Some("command") => true,
            Some(flags) => !flags.starts_with('-') && flags.ends_with('c') && flags.len() <= 4,
            None => lower == "/c",
        };
        if takes_script {
            let script = rest.get(at + 1..).unwrap_or_default();
            // `bash -c script name` takes one word, `cmd /c` and PowerShell take all of them.
            return match script {
                [] => Real::Nothing,
                [one, ..] if !matches!(&*head, "cmd" | "pwsh" | "powershell") => {
                    Real::Script((*one).to_owned())
                }
                all => Real::Script(all.join(" ")),
            };
        }
        let takes_value = matches!(&*lower, "-executionpolicy" | "-file" | "-o" | "--rcfile");
        if is_flag(word) && !takes_value {
            continue;
        }
        let script = rest.get(at + usize::from(takes_value)..).unwrap_or_default();
        let mut program: Vec<String> = script.iter().map(|word| (*word).to_owned()).collect();
        if let Some(first) = program.first_mut() {
            *first = program_name(first);
        }
        return if program.is_empty() { Real::Nothing } else { Real::Program(program) };
    }
    Real::Program(vec![head])
}

/// The command that `ssh host …` runs. `None` if it only opens a session.
fn remote(rest: &[&str]) -> Real {
    const VALUES: &[&str] = &[
        "-b", "-c", "-E", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-o", "-p", "-Q", "-R", "-S", "-W", "-w",
    ];
    let host = flags(rest, VALUES);
    let after = rest.get(host + 1..).unwrap_or_default();
    match after.get(flags(after, VALUES)..).unwrap_or_default() {
        [] => Real::Program(["ssh"].iter().chain(rest).map(|word| (*word).to_owned()).collect()),
        script => Real::Script(script.join(" ")),
    }
}

/// `python -m pytest …` runs pytest.
fn module(program: Vec<String>) -> Vec<String> {
    let is_python = program.first().is_some_and(|name| {
        name == "py"
            || name
                .strip_prefix("python")
                .is_some_and(|end| end.chars().all(|c| c.is_ascii_digit() || c == '.'))
    });
    let at = match is_python {
        true => program.iter().position(|word| word == "-m"),
        false => None,
    };
    match at {
        Some(at) if program.get(1..at).is_some_and(flags_only) => {
            match program.get(at + 1..) {
                Some([]) | None => program,
                // `coverage run -m pytest` measures the program that it runs.
                Some([name, run, rest @ ..]) if name == "coverage" && run == "run" => {
                    coverage(rest).unwrap_or_else(|| program.get(at + 1..).unwrap_or_default().to_vec())
                }
                Some(rest) => rest.to_vec(),
            }
        }
        _ if program.first().is_some_and(|name| name == "coverage") => {
            program.get(2..).and_then(coverage).unwrap_or(program)
        }
        _ => program,
    }
}

/// True if all words are flags of Python. `-X` and `-W` take a value.
fn flags_only(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    flags(&words, &["-X", "-W"]) == words.len()
}

fn coverage(rest: &[String]) -> Option<Vec<String>> {
    let at = rest.iter().position(|word| word == "-m")?;
    rest.get(at + 1..).filter(|rest| !rest.is_empty()).map(<[String]>::to_vec)
}

/// The number of words after the head that belong to a wrapper, if the head is one.
fn wrapped(head: &str, rest: &[&str]) -> Option<usize> {
    let first = rest.first().copied().unwrap_or_default();
    let second = rest.get(1).copied().unwrap_or_default();
    let behind = |at: usize, values: &[&str]| Some(at + flags(rest.get(at..).unwrap_or_default(), values));
    match (head, first) {
        ("sudo" | "doas", _) => behind(0, &["-u", "-g", "--user", "--group"]),
        ("env", _) => {
            let at = flags(rest, &["-u", "-C", "--unset", "--chdir"]);
            Some(at + rest.iter().skip(at).take_while(|word| is_assignment(word)).count())
        }
        ("cross-env" | "dotenv", _) => {
            let at = flags(rest, &["-e", "-f"]);
            Some(at + rest.iter().skip(at).take_while(|word| is_assignment(word) || **word == "--").count())
        }
        ("command", "-v" | "-V") => None,
        (
            "time" | "nohup" | "command" | "exec" | "builtin" | "unbuffer" | "caffeinate" | "setsid"
            | "chronic" | "rtk" | "xvfb-run" | "eatmydata" | "gtime" | "hyperfine" | "&",
            _,
        ) => behind(0, &["-o", "-f", "-s"]),
        ("stdbuf" | "ionice" | "chrt", _) => behind(0, &["-o", "-i", "-e", "-n"]),
        ("nice", _) => behind(0, &["-n", "--adjustment"]),
        ("timeout" | "gtimeout", _) => Some(flags(rest, &["-s", "-k", "--signal", "--kill-after"]) + 1),
        ("xargs", _) => behind(0, &["-n", "-I", "-P", "-a", "-d", "-L", "-s"]),
        (
            "uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch" | "conda" | "mamba" | "micromamba" | "pixi"
            | "doppler" | "op" | "infisical",
            "run",
        ) => behind(1, RUN_VALUES),
        ("uv", "tool") if second == "run" => behind(2, RUN_VALUES),
        ("uvx" | "npx" | "bunx" | "pnpx", _) => behind(0, &["-p", "--package", "--from", "--with"]),
        ("pipx", "run") | ("npm" | "pnpm" | "yarn", "exec" | "dlx" | "x") | ("bun", "x") => {
            behind(1, &["-p", "--package", "--spec"])
        }
        ("bundle", "exec") => behind(1, &[]),
        (
            "mise" | "rtx" | "asdf" | "devbox" | "flox" | "aws-vault" | "teller",
            "exec" | "x" | "run" | "activate",
        ) if rest.contains(&"--") => rest.iter().position(|word| *word == "--").map(|at| at + 1),
        ("direnv", "exec") => Some(2),
        ("nix", "develop" | "shell") => {
            rest.iter().position(|word| matches!(*word, "-c" | "--command")).map(|at| at + 1)
        }
        ("docker" | "podman", "exec") => behind(1, CONTAINER_VALUES).map(|at| at + 1),
        // Without a command after the image, the container runs its default command.
        ("docker" | "podman", "run") => {
            behind(1, CONTAINER_RUN_VALUES).map(|at| at + 1).filter(|at| rest.get(*at).is_some())
        }
        ("docker-compose", "exec" | "run") => behind(1, CONTAINER_VALUES).map(|at| at + 1),
        ("docker" | "podman", "compose") if matches!(second, "exec" | "run") => {
            behind(2, CONTAINER_VALUES).map(|at| at + 1)
        }
        ("kubectl", "exec") => rest.iter().position(|word| *word == "--").map(|at| at + 1),
        ("wsl", _) => behind(0, &["-d", "-u", "--cd"]),
        _ => None,
    }
}

/// Flags of `run` that take a value.
const RUN_VALUES: &[&str] = &[
    "--with",
    "--extra",
    "--group",
    "--python",
    "--project",
    "--directory",
    "--env-file",
    "--package",
    "-p",
    "-n",
    "-e",
    "--env",
    "-C",
    "--config",
];
/// Flags of `exec` that take a value.
const CONTAINER_VALUES: &[&str] = &["-w", "--workdir", "-e", "--env", "-u", "--user", "--env-file"];

/// Flags of `docker run` that take a value.
const CONTAINER_RUN_VALUES: &[&str] = &[
    "-v",
    "--volume",
    "-w",
    "--workdir",
    "-e",
    "--env",
    "--env-file",
    "-u",
    "--user",
    "-p",
    "--publish",
    "--name",
    "--network",
    "--net",
    "--mount",
    "--platform",
    "--entrypoint",
    "-m",
    "--memory",
    "--cpus",
    "-h",
    "--hostname",
    "-l",
    "--label",
];

/// The number of leading flags and their values. A `--` ends them.
fn flags(words: &[&str], with_value: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if *word == "--" {
            return at + 1;
        }
        if !is_flag(word) {
            break;
        }
        at += 1 + usize::from(with_value.contains(word));
    }
    at.min(words.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_come_off() {
        let cases = [
            ("sudo -u ci cargo test", "cargo test"),
            ("env -u X RUST_LOG=debug cargo test -q", "cargo test -q"),
            ("A=1 B=2 timeout -k 5 60s nice -n 10 cargo test", "cargo test"),
            ("/usr/bin/time -f %e go test ./...", "go test ./..."),
            ("uv run --with pytest python -m pytest -q", "pytest -q"),
            ("python3.12 -X dev -m unittest discover", "unittest discover"),
            ("coverage run -m pytest tests", "pytest tests"),
            ("npx --yes eslint@9 .", "eslint ."),
            ("pnpm exec vitest run", "vitest run"),
            ("docker compose exec -T web pytest", "pytest"),
            ("docker run --rm -v a:/w golang go test", "go test"),
            ("docker run -d nginx", "docker run -d nginx"),
            ("mise exec node@22 -- npm test", "npm test"),
            (".venv/Scripts/pytest.exe -x", "pytest -x"),
            ("bash ./scripts/test.sh --all", "test.sh --all"),
            ("./gradlew test", "gradlew test"),
            ("command -v cargo", "command -v cargo"),
            ("Get-Content a.txt", "get-content a.txt"),
        ];
        for (line, expected) in cases {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let expected = expected.split(' ').map(str::to_owned).collect();
            assert_eq!(real(&words), Real::Program(expected), "{line}");
        }
    }

    #[test]
    fn scripts_folders_and_nothing() {
        let real = |words: &[&str]| real(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(real(&["bash", "-lc", "cargo test"]), Real::Script("cargo test".into()));
        assert_eq!(real(&["pwsh", "-NoProfile", "-Command", "npm", "test"]), Real::Script("npm test".into()));
        assert_eq!(real(&["out=$(go test ./...)"]), Real::Script("go test ./...".into()));
        assert_eq!(real(&["cd", "web"]), Real::Folder("web".into()));
        assert_eq!(real(&["A=1"]), Real::Nothing);
        assert_eq!(real(&["sudo"]), Real::Nothing);
        assert_eq!(real(&[]), Real::Nothing);
    }
}
