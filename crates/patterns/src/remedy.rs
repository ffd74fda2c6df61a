//! Solutions: the commands and edits between the last failure and the first run that passed.

use hashbrown::HashSet;
use retro_text::calls::{Purpose, Verdict, covers, same_command, understand};

use crate::fault::is_setting;
use crate::session::{Act, Session};
use crate::sign::{Evidence, Remedy, Voice};

/// The number of calls after a failure that are searched for its end.
const WITHIN: usize = 60;
/// Calls after a failure in which the same is tried in another way.
const VARIANT_WITHIN: usize = 8;
/// Steps that are kept: the last before it passed.
const STEPS_MAX: usize = 3;
/// Of the words of two commands, those that they share, so that one is the other in another way.
const VARIANT_SHARE: f64 = 0.6;
/// The same for commands of one runner.
const RUNNER_SHARE: f64 = 0.5;

/// A remedy and its kind.
pub(crate) struct Found {
    /// `None` if the same command passed when it was run again.
    pub remedy: Option<Remedy>,
    /// True if only code was changed.
    pub only_code: bool,
}

/// The steps after the call at `place` until the same command passed, and the index of that call.
pub(crate) fn after(session: &Session<'_>, place: usize) -> Option<(Found, usize)> {
    let failed = session.acts.get(place)?;
    let is_here = |act: &Act<'_>| act.beat.thread == failed.beat.thread;
    let later = session.acts.iter().enumerate().skip(place + 1).take(WITHIN);
    let mut later = later.take_while(|(_, act)| is_here(act));
    let (end, passed) = later.find(|(at, act)| is_good(act) && ends(act, failed, at - place))?;
    let between = session.acts.get(place + 1..end).unwrap_or_default();
    if is_edit(failed) {
        let remedy = edited_again(between, failed);
        return Some((Found { remedy, only_code: false }, end));
    }
    let mut steps: Vec<&Act<'_>> = between.iter().filter(|act| helps(act, failed)).collect();
    // The same with another option, or as somebody else: that is what helped. Where nothing
    // else was done, what was typed otherwise is enough.
    let is_other = match steps.is_empty() {
        true => !is_typed_alike(passed, failed) && !failed.fault.as_ref().is_some_and(|fault| fault.of_code),
        false => !is_same(passed, failed),
    };
    if is_other && passed.call.command.is_some() {
        steps.push(passed);
    }
    let only_code = !steps.is_empty()
        && steps.iter().all(|act| act.changes() && act.call.edits.iter().all(|edit| !is_setting(&edit.path)));
    let steps = telling(steps, failed);
    let skip = steps.len().saturating_sub(STEPS_MAX);
    let mut remedy = Remedy::default();
    for act in steps.into_iter().skip(skip) {
        let step = session.did(act);
        if !remedy.steps.iter().any(|known| known.text == step.text) {
            remedy.steps.push(step);
        }
    }
    let remedy = Some(remedy).filter(|remedy| !remedy.steps.is_empty());
    Some((Found { remedy, only_code }, end))
}

/// Whether a call went well.
fn is_good(act: &Act<'_>) -> bool {
    match is_edit(act) {
        true => !act.call.is_failed(),
        false => act.call.verdict == Verdict::Passed,
    }
}

/// Whether a call is an edit by a tool, whether or not it went well.
fn is_edit(act: &Act<'_>) -> bool {
    !act.call.edits.is_empty() && act.call.command.is_none()
}

/// Of an edit that did not fit, what was looked at before one of the same file did.
fn edited_again(between: &[Act<'_>], failed: &Act<'_>) -> Option<Remedy> {
    let names: Vec<&str> = failed.call.edits.iter().map(|edit| name_in(&edit.path)).collect();
    let reads = |act: &&Act<'_>| {
        let command = act.call.command.as_deref().unwrap_or_default();
        let is_named =
            |name: &&str| command.contains(*name) || act.call.reads.iter().any(|path| name_in(path) == *name);
        act.looks && !act.call.is_failed() && names.iter().any(|name| !name.is_empty() && is_named(name))
    };
    let read = between.iter().rev().find(reads)?;
    let text = "read the file again before the next edit".to_owned();
    let step = Evidence { event_id: read.beat.id.clone(), text, voice: Voice::Model };
    Some(Remedy { steps: vec![step] })
}

fn name_in(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Of several steps, those that speak of what the error names; else, where the environment is at
/// fault, those that change the environment; else all.
fn telling<'a, 's>(steps: Vec<&'a Act<'s>>, failed: &Act<'_>) -> Vec<&'a Act<'s>> {
    let Some(fault) = &failed.fault else { return steps };
    let says =
        |act: &&&Act<'_>| {
            let command = act.call.command.as_deref().unwrap_or_default().to_lowercase();
            let paths = || act.call.edits.iter().map(|edit| edit.path.to_lowercase());
            fault.terms.names.iter().filter(|name| name.chars().count() >= 3).any(|name| {
                command.contains(name.as_str()) || paths().any(|path| path.contains(name.as_str()))
            })
        };
    let of_environment =
        |act: &&&Act<'_>| !act.changes() || act.call.edits.iter().all(|edit| is_setting(&edit.path));
    let named: Vec<&Act<'_>> = steps.iter().filter(says).copied().collect();
    if !named.is_empty() && !fault.of_code {
        return named;
    }
    let around: Vec<&Act<'_>> = steps.iter().filter(of_environment).copied().collect();
    if around.is_empty() || fault.of_code { steps } else { around }
}

/// Whether a call may have changed something for the better.
fn helps(act: &Act<'_>, failed: &Act<'_>) -> bool {
    if act.changes() {
        return true;
    }
    let Some(command) = act.call.command.as_deref() else { return false };
    if act.call.is_failed() {
        return false;
    }
    if act.call.purpose == Purpose::Vcs {
        return moves_repository(command);
    }
    // A build by the program that failed only checks: `go build` mends nothing for `go vet`.
    let program = |act: &Act<'_>| act.tool().split(' ').next().unwrap_or_default().to_owned();
    let is_check = act.call.purpose.is_validation()
        && (act.call.purpose != Purpose::Build || program(act) == program(failed));
    !act.looks && !is_check
}

/// Whether a command of git changes what the working tree holds, or how git works in it.
fn moves_repository(command: &str) -> bool {
    const MOVES: &[&str] = &[
        "branch",
        "checkout",
        "clean",
        "clone",
        "config",
        "fetch",
        "init",
        "lfs",
        "pull",
        "remote",
        "reset",
        "restore",
        "stash",
        "submodule",
        "switch",
        "worktree",
    ];
    let call = understand(command);
    let Some(step) = call.main_step() else { return false };
    // Without an argument, most of these only list.
    step.program() == "git"
        && step.words.get(1).is_some_and(|word| MOVES.contains(&word.as_str()))
        && (step.words.len() > 2
            || matches!(step.words.get(1).map(String::as_str), Some("fetch" | "init" | "pull" | "stash")))
}

/// Whether this, going well, shows that the other does not fail any more. `distance` counts the
/// calls from one to the other.
fn ends(later: &Act<'_>, failed: &Act<'_>, distance: usize) -> bool {
    if is_edit(failed) || is_edit(later) {
        let shares = || {
            let mut paths = later.call.edits.iter().map(|edit| &edit.path);
            paths.any(|path| failed.call.edits.iter().any(|edit| edit.path == *path))
        };
        return is_edit(failed) && is_edit(later) && shares();
    }
    match (&later.call.command, &failed.call.command) {
        (Some(one), Some(other)) => {
            let (typed, before) = (typed(one), typed(other));
            let share = share(&typed, &before);
            let (one, other) = (understand(one), understand(other));
            same_command(&one, &other)
                || covers(&one, &other)
                || (!failed.call.runner.is_empty()
                    && later.call.runner == failed.call.runner
                    && !later.looks
                    && share > RUNNER_SHARE)
                || (distance <= VARIANT_WITHIN && is_variant(&typed, &before, share))
        }
        (None, None) => later.call.name == failed.call.name,
        _ => false,
    }
}

/// Whether two commands are one in other words: they share most, or only the program differs.
fn is_variant(one: &[String], other: &[String], share: f64) -> bool {
    let (Some((program, rest)), Some((before, args))) = (one.split_first(), other.split_first()) else {
        return false;
    };
    let is_akin = || program.starts_with(before.as_str()) || before.starts_with(program.as_str());
    match program == before {
        // The same program with most of the same arguments; a sub-command of its own is another.
        true => (share >= VARIANT_SHARE && rest.first() == args.first()) || adds_options(one, other),
        false => {
            let has_it_inside = other.ends_with(one) || one.ends_with(other);
            // `docker compose up` for `docker-compose up`, `python3 -` for `python -`.
            let is_other_name =
                is_akin() && !args.is_empty() && (one.ends_with(args) || other.ends_with(rest));
            (has_it_inside && one.len().min(other.len()) >= 2)
                || is_other_name
                || (rest == args && args.len() >= 2)
        }
    }
}

/// Whether a command is another one with options behind it.
fn adds_options(one: &[String], other: &[String]) -> bool {
    let rest = one.strip_prefix(other).filter(|_| other.len() >= 2);
    rest.and_then(|rest| rest.first()).is_some_and(|word| word.starts_with('-'))
}

fn is_same(one: &Act<'_>, other: &Act<'_>) -> bool {
    match (&one.call.command, &other.call.command) {
        (Some(one), Some(other)) => {
            typed(one) == typed(other) || same_command(&understand(one), &understand(other))
        }
        _ => true,
    }
}

fn is_typed_alike(one: &Act<'_>, other: &Act<'_>) -> bool {
    match (&one.call.command, &other.call.command) {
        (Some(one), Some(other)) => typed(one) == typed(other),
        _ => true,
    }
}

/// The words of a command line as they were typed, without what only goes in front of it or
/// does something with its output.
fn typed(command: &str) -> Vec<String> {
    const AROUND: &[&str] = &["cd", "echo", "export", "set", "sleep", "source", "."];
    let line = command.split("<<").next().unwrap_or(command);
    let mut best: Vec<String> = Vec::new();
    for part in line.split(['\n', ';']).flat_map(|part| part.split("&&")).flat_map(|part| part.split("||")) {
        let part = part.split('|').next().unwrap_or(part);
        let is_plumbing =
            |word: &&str| word.starts_with(['>', '<']) || word.contains(">&") || word.starts_with("2>");
        let mut words = part.split_whitespace();
        let mut kept: Vec<String> = Vec::new();
        while let Some(word) = words.next() {
            if is_plumbing(&word) {
                if matches!(word, ">" | ">>" | "<" | "2>") {
                    words.next();
                }
                continue;
            }
            kept.push(word.to_owned());
        }
        let is_around = kept.first().is_none_or(|first| AROUND.contains(&first.as_str()));
        if !is_around && kept.len() >= best.len() {
            best = kept;
        }
    }
    best
}

/// Of the words of both, those that they share.
fn share(one: &[String], other: &[String]) -> f64 {
    let (one, other): (HashSet<&String>, HashSet<&String>) = (one.iter().collect(), other.iter().collect());
    let all = one.union(&other).count();
    if all == 0 { 0.0 } else { one.intersection(&other).count() as f64 / all as f64 }
}

impl Session<'_> {
    /// The remedy of the last failure at `place`, and the index of the call that passed.
    pub(crate) fn remedy(&self, place: usize) -> Option<(Found, usize)> {
        after(self, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(one: &str, other: &str) -> bool {
        let (one, other) = (typed(one), typed(other));
        is_variant(&one, &other, share(&one, &other))
    }

    #[test]
    fn the_same_in_another_way_is_known() {
        assert!(variant("python3 - <<'PY'\nprint(1)\nPY", "python - <<'PY'\nprint(2)\nPY"));
        assert!(variant("python3 -m pytest tests -v 2>&1", "python -m pytest tests -v"));
        assert!(variant("bun run test 2>&1 | tail -5", "wrap bun run test"));
        assert!(variant("cd web && pnpm install --no-frozen-lockfile", "pnpm install"));
        assert!(variant("docker compose up -d db", "docker-compose up -d db"));
        assert!(variant("tool explain --json --limit 5", "tool explain --json --limit 5 --no-pager"));
        assert!(variant("dotnet run --project src/Api", "dotnet run"));
        for (one, other) in [
            ("dotnet test", "dotnet run"),
            ("python3 other.py", "python script.py"),
            ("git push", "git pull"),
            ("npm test", "npm install"),
            ("ls", "cargo build"),
            ("cat", "ls"),
        ] {
            assert!(!variant(one, other), "{one} for {other}");
        }
    }
}
