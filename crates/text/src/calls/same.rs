//! Decides if two command lines run the same thing.

use super::unwrap::is_flag;
use super::{Call, Step};

/// Flags that change the output, but not the run.
const ABOUT_OUTPUT: &[&str] = &[
    "-v",
    "-vv",
    "-vvv",
    "-q",
    "-qq",
    "-s",
    "-x",
    "-l",
    "-ra",
    "-rA",
    "--verbose",
    "--quiet",
    "--silent",
    "--no-header",
    "--nocapture",
    "--no-capture",
    "--color",
    "--no-color",
    "--colors",
    "--tb",
    "--reporter",
    "--show-output",
    "--message-format",
    "--maxfail",
    "--exitfirst",
    "--bail",
    "--no-fail-fast",
    "--fail-fast",
    "--full-trace",
    "--pretty",
    "--format",
    "--output-format",
    "--watch",
    "--no-watch",
    "--watchAll",
    "--run",
    "run",
    "-count",
    "--lf",
    "--last-failed",
    "--ff",
    "--durations",
    "--stacktrace",
    "--info",
    "--debug",
    "-race",
    "--offline",
    "--locked",
    "--frozen",
    "-j",
    "--jobs",
    "--cache",
    "--no-cache",
    "--runInBand",
    "--ci",
    "--no-progress",
    "--no-summary",
    "--stat",
];
/// The flags among these whose value is the next word.
const WITH_VALUE: &[&str] = &[
    "--color",
    "--tb",
    "--reporter",
    "--message-format",
    "--maxfail",
    "--format",
    "--output-format",
    "--durations",
    "-j",
    "--jobs",
];

/// True if two command lines run the same thing: the same runner on the same targets, regardless of
/// the surrounding steps and of verbosity.
pub fn same_command(a: &Call, b: &Call) -> bool {
    match (a.main_step(), b.main_step()) {
        (Some(a), Some(b)) => same_runner(a, b) && targets(a) == targets(b),
        _ => false,
    }
}

/// True if a run of `later` also runs everything that `earlier` ran: the same command, or the same
/// runner without a choice of targets.
pub fn covers(later: &Call, earlier: &Call) -> bool {
    let (Some(later), Some(earlier)) = (later.main_step(), earlier.main_step()) else { return false };
    if !same_runner(later, earlier) {
        return false;
    }
    let (all, some) = (targets(later), targets(earlier));
    all == some || (later.purpose.is_validation() && (all.is_empty() || all == ["./..."] || all == ["."]))
}

/// True if both have the same runner, in folders that can be the same.
fn same_runner(a: &Step, b: &Step) -> bool {
    let same_folder = match (&a.folder, &b.folder) {
        (Some(a), Some(b)) => {
            let (a, b) = (a.trim_end_matches('/'), b.trim_end_matches('/'));
            a == b || ends_with_path(a, b) || ends_with_path(b, a)
        }
        _ => true,
    };
    !a.runner.is_empty() && a.runner == b.runner && same_folder
}

/// True if the last whole components of `path` are `end`.
fn ends_with_path(path: &str, end: &str) -> bool {
    let end = end.trim_start_matches("./");
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// The targets of a step: its arguments in a fixed order, without those that only change the
/// output.
fn targets(step: &Step) -> Vec<&str> {
    let mut targets = Vec::new();
    let mut words = step.arguments().iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--" {
            continue;
        }
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if ABOUT_OUTPUT.contains(&name) {
            if value.is_none() && WITH_VALUE.contains(&name) {
                words.next();
            }
            continue;
        }
        let is_level = is_flag(word) && word.trim_start_matches('-').chars().all(|c| c.is_ascii_digit());
        if !is_level {
            targets.push(word);
        }
    }
    targets.sort_unstable();
    targets
}

#[cfg(test)]
mod tests {
    use super::super::understand;
    use super::*;

    #[test]
    fn wrappers_and_verbosity_do_not_matter() {
        let same = [
            ("cargo test", "cd api && RUST_BACKTRACE=1 cargo test -- --nocapture 2>&1 | tail -20"),
            ("cargo test tax", "cargo nextest run tax"),
            ("pytest -q tests/a.py", "uv run python -m pytest tests/a.py -v --tb short"),
            ("npm test", "pnpm run test --silent"),
            ("go test ./... -count=1", "go test -v ./..."),
            ("npx tsc --noEmit", "bunx tsc --noEmit --pretty=false"),
            ("bash -lc 'make check'", "make check"),
            ("cd /w/shop/api && npm test", "cd api && npm test"),
        ];
        for (a, b) in same {
            assert!(same_command(&understand(a), &understand(b)), "{a} / {b}");
            assert!(covers(&understand(a), &understand(b)), "{a} / {b}");
        }
        let different = [
            ("cargo test", "cargo build"),
            ("pytest tests/a.py", "pytest tests/b.py"),
            ("npm test", "npm run lint"),
            ("cd web && npm test", "cd api && npm test"),
            ("cat a", "cat b"),
            ("", ""),
        ];
        for (a, b) in different {
            assert!(!same_command(&understand(a), &understand(b)), "{a} / {b}");
        }
    }

    #[test]
    fn the_whole_suite_covers_a_part_of_it() {
        assert!(covers(&understand("cargo test"), &understand("cargo test tax::vat")));
        assert!(covers(&understand("go test ./..."), &understand("go test ./tax")));
        assert!(!covers(&understand("cargo test tax::vat"), &understand("cargo test")));
        assert!(!covers(&understand("ls"), &understand("ls missing")));
    }
}
