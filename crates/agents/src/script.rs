//! Our small notation for a session, from which each agent's writer makes its
//! own log bytes. Tests and `retro demo` write their sessions in it.
//!
//! One step per line. The first character is its kind:
//!
//! ```text
//! @ session 3f2a…            the session's id (first line)
//! @ cwd /home/dev/shop       its working directory
//! @ branch main              its branch
//! @ time 2026-03-01T10:00:00Z   the clock; every step adds a second
//! @ title Fix the tax test   a title made by the agent
//! @ model claude-opus-5      the model from here on
//! > Fix the tax test         the user types
//! < Done.                    the model answers
//! ? Rounding, perhaps.       the model thinks
//! $ cargo test               the model runs a command;
//! | 1 failed                 … its output, line by line
//! ! 101                      … its exit code, if not 0
//! : src/tax.rs               the model reads a file
//! | fn vat() {}              … its content
//! ~ src/tax.rs               the model edits a file:
//! - old line                 … a line removed
//! + new line                 … a line added
//! & Look for callers         a sub-agent is started with this task; the steps
//! .   $ grep -r vat          … of the sub-agent follow behind a dot
//! .   < Two callers.         … its last answer is the call's result
//! = Summary so far.          the context is compacted
//! ^                          the user interrupts
//! @ fork 9c1e… copy          what follows happens in a new session that begins with
//!                            the history so far, made in this way (`Agent::forks`)
//! ```
//!
//! A prompt, answer or thought continues on lines that begin with two blanks.

use retro_model::Timestamp;

/// A session as a list of steps.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// The agent's id for it.
    pub session: String,
    /// The working directory of the session.
    pub cwd: String,
    /// The git branch of the session.
    pub branch: String,
    /// When it starts, in milliseconds since 1970.
    pub start_ms: i64,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// One step of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Step {
    /// Sets the clock, in milliseconds since 1970.
    Time(i64),
    Title(String),
    Model(String),
    User(String),
    Assistant(String),
    Thinking(String),
    Shell {
        command: String,
        output: String,
        exit_code: i64,
    },
    Read {
        path: String,
        content: String,
    },
    Edit {
        path: String,
        removed: Vec<String>,
        added: Vec<String>,
    },
    Subagent {
        task: String,
        steps: Vec<Step>,
    },
    Compaction(String),
    Interrupt,
    /// The following steps are in a new session.
    Fork(Fork),
}

/// A session that begins with the history of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The agent's id for it.
    pub session: String,
    /// How it was made: one of [`crate::Agent::forks`].
    pub way: String,
}

/// A line that is not a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the script: {text:?} is no step here")]
pub struct BadScript {
    /// Line number from 1.
    pub line: usize,
    /// The content of the line.
    pub text: String,
}

impl Script {
    /// Reads a script.
    pub fn parse(text: &str) -> Result<Script, BadScript> {
        let mut script = Script {
            session: "00000000-0000-4000-8000-000000000001".to_owned(),
            cwd: "/home/dev/shop".to_owned(),
            branch: "main".to_owned(),
            start_ms: 1_772_359_200_000,
            steps: Vec::new(),
        };
        let lines: Vec<(usize, &str)> = text.lines().enumerate().map(|(at, line)| (at + 1, line)).collect();
        let (mut session, mut cwd, mut branch) = (None, None, None);
        script.steps = steps(&lines, &mut |word, value| {
            let slot = match word {
                "session" => &mut session,
                "cwd" => &mut cwd,
                "branch" => &mut branch,
                _ => return false,
            };
            *slot = Some(value.to_owned());
            true
        })?;
        script.session = session.unwrap_or(script.session);
        script.cwd = cwd.unwrap_or(script.cwd);
        script.branch = branch.unwrap_or(script.branch);
        Ok(script)
    }

    /// The steps of each session of the script: the first session, then every fork of the one
    /// before it.
    pub fn sessions(&self) -> Vec<(Option<&Fork>, &[Step])> {
        let mut sessions = Vec::new();
        let mut made = None;
        for steps in self.steps.split_inclusive(|step| matches!(step, Step::Fork(_))) {
            match steps.split_last() {
                Some((Step::Fork(fork), before)) => sessions.push((made.replace(fork), before)),
                _ => sessions.push((made.take(), steps)),
            }
        }
        if made.is_some() || sessions.is_empty() {
            sessions.push((made, &[]));
        }
        sessions
    }
}

fn steps(
    lines: &[(usize, &str)],
    header: &mut dyn FnMut(&str, &str) -> bool,
) -> Result<Vec<Step>, BadScript> {
    let mut steps: Vec<Step> = Vec::new();
    let mut at = 0;
    while let Some(&(line, text)) = lines.get(at) {
        at += 1;
        let bad = || BadScript { line, text: text.to_owned() };
        if text.trim().is_empty() {
            continue;
        }
        if let Some(more) = text.strip_prefix("  ") {
            match steps.last_mut() {
                Some(
                    Step::User(said) | Step::Assistant(said) | Step::Thinking(said) | Step::Compaction(said),
                ) => {
                    said.push('\n');
                    said.push_str(more);
                }
                _ => return Err(bad()),
            }
            continue;
        }
        let (sign, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        match sign {
            "@" => {
                let (word, value) = rest.split_once(' ').unwrap_or((rest, ""));
                match word {
                    "time" => steps.push(Step::Time(Timestamp::parse(value).ok_or_else(bad)?.as_millis())),
                    "title" => steps.push(Step::Title(value.to_owned())),
                    "model" => steps.push(Step::Model(value.to_owned())),
                    "fork" => {
                        let (session, way) = value.split_once(' ').ok_or_else(bad)?;
                        steps.push(Step::Fork(Fork { session: session.to_owned(), way: way.to_owned() }));
                    }
                    _ if header(word, value) => {}
                    _ => return Err(bad()),
                }
            }
            ">" => steps.push(Step::User(rest.to_owned())),
            "<" => steps.push(Step::Assistant(rest.to_owned())),
            "?" => steps.push(Step::Thinking(rest.to_owned())),
            "=" => steps.push(Step::Compaction(rest.to_owned())),
            "^" => steps.push(Step::Interrupt),
            "$" => steps.push(Step::Shell { command: rest.to_owned(), output: String::new(), exit_code: 0 }),
            ":" => steps.push(Step::Read { path: rest.to_owned(), content: String::new() }),
            "~" => steps.push(Step::Edit { path: rest.to_owned(), removed: Vec::new(), added: Vec::new() }),
            "&" => {
                let inner: Vec<(usize, &str)> = lines[at..]
                    .iter()
                    .map_while(|(line, text)| {
                        text.strip_prefix('.').map(|t| (*line, t.trim_start_matches(' ')))
                    })
                    .collect();
                at += inner.len();
                let inner = self::steps(&inner, &mut |_, _| false)?;
                steps.push(Step::Subagent { task: rest.to_owned(), steps: inner });
            }
            "|" | "!" | "+" | "-" => detail(steps.last_mut(), sign, rest).ok_or_else(bad)?,
            _ => return Err(bad()),
        }
    }
    Ok(steps)
}

/// Adds an output line, an exit code or a changed line to the step before it.
fn detail(step: Option<&mut Step>, sign: &str, rest: &str) -> Option<()> {
    match (step?, sign) {
        (Step::Shell { output: text, .. } | Step::Read { content: text, .. }, "|") => {
            text.push_str(rest);
            text.push('\n');
        }
        (Step::Shell { exit_code, .. }, "!") => *exit_code = rest.trim().parse().ok()?,
        (Step::Edit { added, .. }, "+") => added.push(rest.to_owned()),
        (Step::Edit { removed, .. }, "-") => removed.push(rest.to_owned()),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_reads_as_steps() {
        let script = Script::parse(
            "@ session s1\n> Fix it\n  please\n$ cargo test\n| 1 failed\n! 101\n~ a.rs\n- x\n+ y\n& Look\n. $ ls\n. < Found.\n< Done.",
        )
        .unwrap();
        assert_eq!(script.session, "s1");
        assert_eq!(script.steps[0], Step::User("Fix it\nplease".into()));
        assert_eq!(
            script.steps[1],
            Step::Shell { command: "cargo test".into(), output: "1 failed\n".into(), exit_code: 101 }
        );
        assert!(matches!(&script.steps[3], Step::Subagent { steps, .. } if steps.len() == 2));
        assert_eq!(script.steps.len(), 5);
    }

    #[test]
    fn a_fork_begins_a_session_of_its_own() {
        let told = |text: &str| {
            let script = Script::parse(text).unwrap();
            let of = |(fork, steps): (Option<&Fork>, &[Step])| {
                (fork.map(|fork| fork.session.clone()), steps.len())
            };
            script.sessions().into_iter().map(of).collect::<Vec<_>>()
        };
        let id = |id: &str| Some(id.to_owned());
        assert_eq!(told(""), [(None, 0)]);
        assert_eq!(told("> a\n< b"), [(None, 2)]);
        assert_eq!(
            told("> a\n@ fork f1 w\n> b\n< c\n@ fork f2 w"),
            [(None, 1), (id("f1"), 2), (id("f2"), 0)]
        );
        assert!(Script::parse("@ fork f1").is_err());
    }

    #[test]
    fn a_line_that_is_no_step_is_named() {
        let error = Script::parse("> a\nwhat").unwrap_err();
        assert_eq!(error.to_string(), "line 2 of the script: \"what\" is no step here");
        assert!(Script::parse("| output of nothing").is_err());
    }
}
