//! Commands that can destroy work without a backup.

use super::Step;

/// Folders that a build recreates: removing them destroys nothing.
const MADE_AGAIN: &[&str] = &[
    "node_modules",
    "target",
    "dist",
    "build",
    ".next",
    "out",
    "coverage",
    "__pycache__",
    ".pytest_cache",
    ".venv",
    "venv",
    ".cache",
    ".turbo",
    "tmp",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    "vendor",
    "DerivedData",
];

/// The reason if a step could destroy work.
pub(super) fn of(step: &Step) -> Option<&'static str> {
    let words: Vec<&str> = step.words.iter().skip(1).map(String::as_str).collect();
    let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
    let short = |flag: char| {
        words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(flag))
    };
    match (step.program(), &*step.runner) {
        ("rm", _) if (short('r') || short('R') || has(&["--recursive"])) && !only_made_again(&words) => {
            Some("removes a folder")
        }
        ("remove-item", _) if words.iter().any(|word| word.eq_ignore_ascii_case("-recurse")) => {
            Some("removes a folder")
        }
        (_, "git reset") if has(&["--hard"]) => Some("discards changes"),
        (_, "git clean") if short('f') || has(&["--force"]) => Some("removes untracked files"),
        (_, "git checkout" | "git restore")
            if has(&["."]) || (has(&["--"]) && step.runner == "git checkout") =>
        {
            Some("discards changes")
        }
        (_, "git push")
            if has(&["--force", "-f", "--mirror"]) || words.iter().any(|word| word.starts_with('+')) =>
        {
            Some("overwrites a remote branch")
        }
        (_, "git branch") if has(&["-D"]) => Some("deletes a branch"),
        (_, "git stash") if has(&["drop", "clear"]) => Some("deletes stashed changes"),
        ("dd" | "mkfs" | "shred" | "wipefs", _) => Some("overwrites a device"),
        ("psql" | "mysql" | "sqlite3" | "mongosh", _) if words.iter().any(|word| drops_table(word)) => {
            Some("deletes data")
        }
        ("dropdb", _) => Some("deletes data"),
        ("terraform" | "tofu", _) if has(&["destroy"]) => Some("destroys infrastructure"),
        ("kubectl", _) if words.first() == Some(&"delete") => Some("deletes resources"),
        ("docker" | "podman", _) if has(&["prune"]) || (has(&["down"]) && has(&["-v", "--volumes"])) => {
            Some("deletes data")
        }
        ("chmod", _) if short('R') && has(&["777"]) => Some("opens files to everybody"),
        _ => None,
    }
}

fn drops_table(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    ["drop table", "drop database", "truncate ", "delete from"].iter().any(|words| lower.contains(words))
}

/// True if a build recreates every path, or every path is below a folder for temporary files.
fn only_made_again(words: &[&str]) -> bool {
    let paths: Vec<&&str> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let temporary = |path: &str| {
        let name = path.trim_end_matches(['/', '*']).rsplit('/').next().unwrap_or_default();
        MADE_AGAIN.contains(&name)
            || path.starts_with("/tmp/") && path.len() > "/tmp/".len()
            || path.starts_with("$TMP")
            || path.starts_with("\"$TMP")
            || path.contains("mktemp")
    };
    !paths.is_empty() && paths.iter().all(|path| temporary(path))
}

#[cfg(test)]
mod tests {
    use super::super::understand;

    #[test]
    fn what_can_destroy_work_is_named() {
        let dangerous = [
            "rm -rf src",
            "sudo rm -fr ~/notes",
            "cd x && rm -r *",
            "git reset --hard HEAD~1",
            "git clean -fdx",
            "git checkout -- .",
            "git restore .",
            "git push -f origin main",
            "git push origin +main",
            "git branch -D old",
            "git stash drop",
            "psql -c 'DROP TABLE users'",
            "terraform destroy -auto-approve",
            "docker system prune -af",
            "bash -lc 'rm -rf docs'",
        ];
        let harmless = [
            "rm a.txt",
            "rm -rf node_modules dist",
            "rm -rf /tmp/build-x",
            "git reset HEAD a",
            "git clean -n",
            "git checkout main",
            "git push --force-with-lease",
            "git branch -d old",
            "echo 'rm -rf /'",
            "rg 'git reset --hard'",
            "docker compose down",
        ];
        for line in dangerous {
            assert!(understand(line).danger().is_some(), "{line}");
        }
        for line in harmless {
            assert_eq!(understand(line).danger(), None, "{line}");
        }
    }
}
