//! How a command ended: from its exit status and the runner's output.

use serde::{Deserialize, Serialize};

use super::{Call, Join, Purpose, Step, summary};
use crate::{fingerprint, plain};

/// The ending of a call according to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The call succeeded.
    Ok,
    /// The call failed.
    Failed,
    /// The call was refused or cut off, still runs, or has no status in the log.
    Unknown,
}

/// The result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The command did its job.
    Passed,
    /// The command failed, or its check found errors.
    Failed,
    /// A search without a match. Not a failure.
    NothingFound,
    /// Neither the exit status nor the output shows it.
    Unknown,
}

/// A verdict with its evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged {
    /// The result of the command.
    pub verdict: Verdict,
    /// True if the runner's own summary decided, not the exit status.
    pub by_summary: bool,
    /// True if the exit status reports success and hides a failure.
    pub masked: bool,
    /// Tests that passed, if the runner prints their number.
    pub passed: Option<u64>,
    /// Tests that failed, if the runner prints their number.
    pub failed: Option<u64>,
}

/// How the exit status of a whole line relates to one of its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The status is the step's own.
    Own,
    /// Success means that the step succeeded. A failure may be that of another step.
    Shared,
    /// The status is unrelated to the step.
    None,
}

impl Call {
    /// How the call ended, from its exit status and its output.
    pub fn judge(&self, exit: Exit, code: Option<i64>, output: &str) -> Judged {
        let purpose = self.purpose();
        if purpose.is_validation() || (purpose == Purpose::Run && self.main_step().is_some_and(is_script)) {
            let (exit, printed) = match self.printed_code(output) {
                Some(0) => (Exit::Ok, true),
                Some(_) => (Exit::Failed, true),
                None => (exit, false),
            };
            return self.validation(exit, code, printed, output);
        }
        let verdict = match exit {
            Exit::Ok => Verdict::Passed,
            Exit::Unknown => Verdict::Unknown,
            Exit::Failed if self.found_nothing(code, output) => Verdict::NothingFound,
            Exit::Failed => Verdict::Failed,
        };
        Judged { verdict, by_summary: false, masked: false, passed: None, failed: None }
    }

    /// How a test, a build or a check ended.
    fn validation(&self, exit: Exit, code: Option<i64>, printed: bool, output: &str) -> Judged {
        let reach = if printed { Reach::Own } else { self.reach() };
        let found = summary(output);
        let said = found.as_ref().map(|summary| summary.green);
        let runs_others =
            self.main_step().is_some_and(|step| step.purpose == Purpose::Run || is_script(step));
        let (verdict, by_summary) = match (exit, reach, said) {
            // The runner's own exit code, if the log has it.
            (Exit::Ok, Reach::Own, Some(false)) if code == Some(0) && !runs_others => {
                (Verdict::Passed, false)
            }
            (Exit::Ok, Reach::Shared, Some(false)) if code == Some(0) && !runs_others => {
                (Verdict::Passed, false)
            }
            (Exit::Ok, _, Some(false)) => (Verdict::Failed, true),
            (Exit::Ok, Reach::Own | Reach::Shared, _) => (Verdict::Passed, false),
            (Exit::Failed, Reach::Own, _) => (Verdict::Failed, false),
            (Exit::Failed, Reach::Shared, Some(true)) if self.found_nothing(code, output) => {
                (Verdict::Passed, true)
            }
            (Exit::Failed, Reach::Shared, _) => (Verdict::Failed, false),
            (_, _, Some(true)) => (Verdict::Passed, true),
            (_, _, Some(false)) => (Verdict::Failed, true),
            (Exit::Unknown, _, None) => (Verdict::Unknown, false),
            (_, Reach::None, None) => (self.silent(output), true),
        };
        Judged {
            verdict,
            by_summary,
            masked: verdict == Verdict::Failed && exit == Exit::Ok,
            passed: found.as_ref().and_then(|summary| summary.passed),
            failed: found.as_ref().and_then(|summary| summary.failed),
        }
    }

    /// The verdict on a check whose exit status is hidden and whose output has no summary.
    /// Compilers and linters print nothing if they find nothing.
    fn silent(&self, output: &str) -> Verdict {
        let checks = !matches!(self.purpose(), Purpose::Test | Purpose::Run);
        if checks && is_silent(output) {
            Verdict::Passed
        } else if fingerprint::fingerprint(output).is_some_and(|found| found.certain) {
            Verdict::Failed
        } else {
            Verdict::Unknown
        }
    }

    /// How the line's exit status relates to its main step.
    fn reach(&self) -> Reach {
        let mut reach = Reach::Own;
        for step in self.steps.get(self.main + 1..).unwrap_or_default() {
            reach = match step.join {
                Join::First => reach,
                Join::And => reach.and(Reach::Shared),
                Join::Pipe if self.pipefail => reach.and(Reach::Shared),
                // `cargo test && echo ok || echo failed` succeeds in both cases.
                Join::Pipe | Join::Or | Join::Then | Join::Beside => return Reach::None,
            };
        }
        let before = self.steps.get(self.main).map(|step| step.join);
        match before {
            // `ls && cargo test` fails if either of them fails.
            Some(Join::And) if reach == Reach::Own => Reach::Shared,
            _ => reach,
        }
    }

    /// The exit code that the line itself prints at its end, as in `; echo "exit: $?"`.
    fn printed_code(&self, output: &str) -> Option<i64> {
        let last =
            self.steps.last().filter(|step| matches!(step.program(), "echo" | "printf" | "write-host"))?;
        let text = last.words.get(1..)?.join(" ");
        let sign = ["$?", "${PIPESTATUS[0]}", "$LASTEXITCODE", "$status"]
            .into_iter()
            .find(|sign| text.contains(sign))?;
        let (before, _) = text.split_once(sign)?;
        let label = before.rsplit("\\n").next().unwrap_or(before);
        let line = output.trim_end().lines().next_back()?;
        let rest = plain::plain(line).trim().strip_prefix(label.trim_start()).map(str::to_owned)?;
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        // The exit code of a pipe is that of its last program.
        let before = self.steps.len().checked_sub(2).and_then(|at| self.steps.get(at));
        let own = sign != "$?" || self.pipefail || before.is_none_or(|step| step.join != Join::Pipe);
        digits.parse().ok().filter(|_| own)
    }

    /// True if an exit code of 1 only means that there were no matches.
    fn found_nothing(&self, code: Option<i64>, output: &str) -> bool {
        if !matches!(code, Some(1) | None) {
            return false;
        }
        // `rg x a && sed …`: the first command of a chain may be the one that stopped it.
        let mut last = self.steps.iter().rev();
        let mut searched = false;
        for step in last.by_ref() {
            searched |= may_find_nothing(step);
            if step.join != Join::And {
                break;
            }
        }
        searched && !says_error(output)
    }
}

impl Reach {
    fn and(self, other: Reach) -> Reach {
        if self == Reach::None { self } else { other }
    }
}

/// True if the output is empty. Agents replace an empty one by a remark.
fn is_silent(output: &str) -> bool {
    let text = output.trim();
    text.is_empty() || (text.starts_with('(') && text.ends_with("no output)"))
}

/// True if a step runs a script of the user, whose exit status is weaker evidence.
fn is_script(step: &Step) -> bool {
    step.runner.starts_with("script ") || step.program().contains('.') || step.runner.contains('.')
}

/// Programs that exit with 1 when they find nothing, or a difference.
fn may_find_nothing(step: &Step) -> bool {
    let program = step.program();
    match program {
        "rg" | "grep" | "egrep" | "fgrep" | "ag" | "ack" | "ugrep" | "diff" | "cmp" | "test" | "[" | "[["
        | "pgrep" | "which" | "where" | "type" | "command" | "findstr" | "fd" | "ast-grep" | "sg"
        | "pkill" | "jq" | "expr" | "false" => program != "ls",
        "git" => matches!(
            &*step.runner,
            "git grep"
                | "git diff"
                | "git check-ignore"
                | "git merge-base"
                | "git config"
                | "git show-ref"
                | "git rev-parse"
                | "git ls-remote"
        ),
        _ => false,
    }
}

/// True if a line reports an error of the command itself.
fn says_error(output: &str) -> bool {
    plain::ends(output).flat_map(str::lines).any(|line| {
        let line = plain::plain(line);
        let lower = line.to_ascii_lowercase();
        let head = lower.split(':').next().unwrap_or_default();
        [
            "no such file or directory",
            "permission denied",
            "command not found",
            "is a directory",
            "regex parse error",
        ]
        .iter()
        .any(|words| {
            lower.ends_with(words) || (lower.contains(words) && !head.contains('/') && head.len() < 20)
        }) || lower.starts_with("fatal: ")
            || lower.starts_with("usage: ")
            || lower.starts_with("error: ")
    })
}
