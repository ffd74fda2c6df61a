//! The events of a session after a memory was shown: enough to judge whether it was right, wrong or
//! irrelevant, without the text of the session.

use retro_insight::What;
use retro_model::{SessionKey, Timestamp, ToolClass};
use retro_text::calls::{Purpose, Verdict, same_command, understand};
use serde::{Deserialize, Serialize};

use crate::episode::{Episode, shortened};
use crate::memory::Memory;
use crate::rules::rules;

/// A prompt by a person.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Prompt {
    /// The prompt's event.
    pub event_id: String,
    /// When it was sent.
    pub at: Option<Timestamp>,
    /// The prompt's text.
    pub text: String,
    /// Its position in the session.
    pub place: usize,
}

/// An action or event.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Deed {
    place: usize,
    event_id: String,
    what: Did,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Did {
    Ran {
        command: String,
        verdict: Verdict,
        unable: bool,
    },
    Edited(String),
    Failed(String),
    /// An error that was fixed, and the steps in between.
    Mended {
        error: String,
        steps: Vec<String>,
    },
    Said {
        wants: Vec<String>,
        rejects: Vec<String>,
    },
}

/// A session prepared for judging.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Past {
    /// The session's key.
    pub key: SessionKey,
    /// The working directory.
    pub cwd: Option<String>,
    /// The top folder of its repository.
    #[serde(default)]
    pub root: Option<String>,
    /// The repository's remote.
    pub remote: Option<String>,
    /// The user's prompts, in order.
    pub prompts: Vec<Prompt>,
    deeds: Vec<Deed>,
}

/// The worth of a memory after it was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worth {
    /// It was needed, and was correct.
    Right,
    /// It was contradicted, or it failed.
    Wrong,
    /// The session touched its subject, without further evidence.
    Applies,
    /// The session did not touch its subject.
    Idle,
}

impl Past {
    /// The past of an episode.
    pub fn of(episode: &Episode) -> Past {
        let (mut prompts, mut deeds) = (Vec::new(), Vec::new());
        for (place, beat) in episode.trace.beats.iter().enumerate() {
            let mut did = |event_id: &str, what: Did| {
                deeds.push(Deed { place, event_id: event_id.to_owned(), what });
            };
            match &beat.what {
                What::Said { text, .. } if beat.is_request() => {
                    let correction = episode.corrections.iter().any(|found| found.event_id == beat.id);
                    for rule in rules(&beat.typed, correction) {
                        did(&beat.id, Did::Said { wants: rule.wants, rejects: rule.rejects });
                    }
                    if !text.trim().is_empty() {
                        prompts.push(Prompt {
                            event_id: beat.id.clone(),
                            at: beat.ts,
                            text: shortened(text, 2000),
                            place,
                        });
                    }
                }
                What::Call(call) if !call.has_nested => {
                    for edit in call.edits.iter().filter(|_| call.changed_files()) {
                        did(&beat.id, Did::Edited(edit.path.clone()));
                    }
                    if let Some(command) = call.command.clone().filter(|_| call.class == ToolClass::Shell) {
                        let unable = call.passed.or(call.failed).is_none();
                        did(&beat.id, Did::Ran { command, verdict: call.verdict, unable });
                    }
                    if let Some((print, _)) = call.error.as_ref().filter(|_| call.is_failed()) {
                        did(&beat.id, Did::Failed(print.clone()));
                    }
                }
                _ => {}
            }
        }
        for repair in episode.repairs.iter().filter(|repair| !repair.fingerprint.is_empty()) {
            let Some(passing) = &repair.passing else { continue };
            let place = episode.trace.beats.iter().position(|beat| {
                matches!(&beat.what, What::Call(call) if call.result_id.as_deref() == Some(&passing.event_id))
            });
            let mut steps: Vec<String> = repair.steps.iter().map(|step| step.what.clone()).collect();
            steps.push(passing.command.clone());
            let what = Did::Mended { error: repair.fingerprint.clone(), steps };
            deeds.push(Deed { place: place.unwrap_or(0), event_id: passing.event_id.clone(), what });
        }
        deeds.sort_by_key(|deed| deed.place);
        Past {
            key: episode.key.clone(),
            cwd: episode.cwd.clone(),
            root: episode.repository.root.clone(),
            remote: episode.repository.remote.clone(),
            prompts,
            deeds,
        }
    }

    /// The position of the last prompt up to a time. A memory shown at a prompt is judged from
    /// there.
    pub fn place_at(&self, at: Option<Timestamp>) -> usize {
        let before = |prompt: &&Prompt| prompt.at <= at;
        self.prompts.iter().rev().find(before).map_or(0, |prompt| prompt.place)
    }

    /// The worth of a memory from a position on, with the event that shows it.
    pub fn judge(&self, memory: &Memory, from: usize) -> (Worth, Option<&str>, &'static str) {
        let mut applies = None;
        for deed in self.deeds.iter().filter(|deed| deed.place > from) {
            let (worth, why) = match memory.method.as_str() {
                "error_fix" => error_fix(memory, &deed.what),
                "user_rules" => user_rule(memory, &deed.what),
                _ => command(memory, &deed.what),
            };
            match worth {
                Worth::Right | Worth::Wrong => return (worth, Some(&deed.event_id), why),
                Worth::Applies => applies = applies.or(Some((deed.event_id.as_str(), why))),
                Worth::Idle => {}
            }
        }
        match applies {
            Some((event, why)) => (Worth::Applies, Some(event), why),
            None => (Worth::Idle, None, "the session had nothing to do with it"),
        }
    }

    /// The actions between a prompt and the next.
    fn after(&self, prompt: &Prompt) -> impl Iterator<Item = &Did> {
        let end = self.prompts.iter().map(|other| other.place).find(|place| *place > prompt.place);
        let is_of = move |deed: &&Deed| deed.place > prompt.place && end.is_none_or(|end| deed.place < end);
        self.deeds.iter().filter(is_of).map(|deed| &deed.what)
    }

    /// A command that passed after this prompt and after a prompt of another session.
    pub(crate) fn same_command<'a>(&'a self, prompt: &Prompt, other: &Past, its: &Prompt) -> Option<&'a str> {
        fn passed(did: &Did) -> Option<&str> {
            match did {
                Did::Ran { command, verdict: Verdict::Passed, .. } => Some(command.as_str()),
                _ => None,
            }
        }
        let is_work = |command: &&str| {
            !matches!(understand(command).purpose(), Purpose::Read | Purpose::Search | Purpose::Vcs)
        };
        let before: Vec<&str> = other.after(its).filter_map(passed).filter(is_work).collect();
        self.after(prompt)
            .filter_map(passed)
            .find(|command| before.iter().any(|one| same_command(&understand(one), &understand(command))))
    }

    /// The errors after a prompt.
    pub(crate) fn failures_after(&self, prompt: &Prompt) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for did in self.after(prompt) {
            if let Did::Failed(error) = did
                && !found.contains(&error.as_str())
            {
                found.push(error);
            }
        }
        found
    }
}

fn list(memory: &Memory, name: &str) -> Vec<String> {
    let value = memory.structured.as_ref().and_then(|value| value.get(name)?.as_array());
    value.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn text<'a>(memory: &'a Memory, name: &str) -> &'a str {
    memory.structured.as_ref().and_then(|value| value.get(name)?.as_str()).unwrap_or_default()
}

fn error_fix(memory: &Memory, did: &Did) -> (Worth, &'static str) {
    match did {
        Did::Mended { error, steps } if *error == memory.subject => {
            let by_step =
                memory.files.iter().any(|file| steps.iter().any(|step| step.contains(file_name(file))))
                    || list(memory, "steps").iter().any(|step| {
                        step.strip_prefix("ran `")
                            .and_then(|step| step.strip_suffix('`'))
                            .is_some_and(|step| steps.iter().any(|done| done.contains(step)))
                    })
                    || (memory.files.is_empty() && steps.iter().any(|step| step == text(memory, "passing")));
            if by_step {
                (Worth::Right, "the same error passed by the step that it names")
            } else {
                (Worth::Applies, "the same error was mended in another way")
            }
        }
        Did::Failed(error) if *error == memory.subject => (Worth::Applies, "the same error came up"),
        Did::Edited(path) if memory.files.iter().any(|file| file_name(file) == file_name(path)) => {
            (Worth::Applies, "a file that it names was edited")
        }
        _ => (Worth::Idle, ""),
    }
}

fn user_rule(memory: &Memory, did: &Did) -> (Worth, &'static str) {
    let (wants, rejects) = (list(memory, "wants"), list(memory, "rejects"));
    let meet = |a: &[String], b: &[String]| a.iter().any(|thing| b.contains(thing));
    match did {
        Did::Said { wants: new_wants, rejects: new_rejects } => {
            if meet(new_wants, &rejects) || meet(new_rejects, &wants) {
                (Worth::Wrong, "the user said the opposite")
            } else if meet(new_wants, &wants) || meet(new_rejects, &rejects) {
                (Worth::Right, "the user gave the same rule again")
            } else {
                (Worth::Idle, "")
            }
        }
        Did::Ran { command, .. } if mentions(command, &wants) || mentions(command, &rejects) => {
            (Worth::Applies, "a command has to do with it")
        }
        Did::Edited(path) if mentions(path, &wants) || mentions(path, &rejects) => {
            (Worth::Applies, "a file has to do with it")
        }
        _ => (Worth::Idle, ""),
    }
}

fn mentions(text: &str, things: &[String]) -> bool {
    let lower = text.to_lowercase();
    things.iter().any(|thing| lower.contains(thing.as_str()))
}

fn command(memory: &Memory, did: &Did) -> (Worth, &'static str) {
    let own = text(memory, "command");
    match did {
        Did::Ran { command, verdict, unable } if !own.is_empty() => {
            let is_same = command.contains(own) || same_command(&understand(command), &understand(own));
            match (is_same, verdict) {
                (true, Verdict::Passed) => (Worth::Right, "the command was run and passed"),
                (true, Verdict::Failed) if *unable => (Worth::Wrong, "the command could not be run"),
                (true, _) => (Worth::Applies, "the command was run"),
                (false, _) if understand(command).purpose().as_str() == text(memory, "purpose") => {
                    (Worth::Applies, "a command of the same purpose was run")
                }
                _ => (Worth::Idle, ""),
            }
        }
        Did::Edited(path) if memory.files.iter().any(|file| file_name(file) == file_name(path)) => {
            (Worth::Applies, "a file that it names was edited")
        }
        _ => (Worth::Idle, ""),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
