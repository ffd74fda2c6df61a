//! The author of a text in a `user` record.
//!
//! Most `user` records are not the user's. Newer versions flag some of the others (`isMeta`,
//! `promptSource`, `turnOrigin`), none flags all: 1.0.117 writes hook texts and Stop feedback
//! without any flag, the desktop app marks task notifications as `sdk` prompts. Therefore the head
//! of the text decides, and flags only refine it.

/// The kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words<'t> {
    /// Typed by a person, or a parent agent's task.
    Person,
    /// A slash command, its name and arguments.
    Command(Command<'t>),
    /// The output of a slash command or of a typed shell command.
    Output,
    /// A shell command typed after `!`.
    Shell(&'t str),
    /// A report that a background task ended.
    Notification,
    /// A message of another agent: a member of the team, or another session.
    Peer,
    /// A marker that the user interrupted the work.
    Interruption,
    /// The summary that starts a compacted context.
    Summary,
    /// The accepted plan, given to a fresh context (2.1.37 - 2.1.63).
    Plan,
    /// The file or selection that is open in the editor (2.0.42 - 2.1.37).
    Ide,
    /// The instructions of a skill.
    Skill,
    /// Any other text that the program added.
    Harness,
}

/// A slash command as written in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Command<'t> {
    /// Its name with the slash (1.0.24 wrote none).
    pub name: &'t str,
    /// The arguments that the user typed.
    pub args: &'t str,
    /// True if the command prompts the model: such records begin with their message, and those of
    /// commands that the program runs itself begin with their name.
    pub asks_model: bool,
}

/// Head of the marker that a call was cut off or refused.
pub(super) const CUT_AT_TOOL: &str = "[Request interrupted by user for tool use]";

/// Head of a message from one agent of a team to another.
const PEER: &str = "<teammate-message";

/// Head of a message from an agent of another session.
const OTHER_AGENT: &str = "<agent-message";

/// The sender's name of the program's own messages to an agent of a team.
const PROGRAM: &str = "system";

/// The messages of a team's agents in a text, each with its sender. A text without their tags is
/// one message without a sender.
pub(super) fn messages(text: &str) -> Vec<(Option<&str>, &str)> {
    let mut rest = text;
    let mut found = Vec::new();
    while let Some((_, after)) = rest.split_once(PEER) {
        let Some((head, body)) = after.split_once('>') else { break };
        let from = head.split_once("teammate_id=\"").and_then(|(_, name)| name.split_once('"'));
        let (said, next) = body.split_once("</teammate-message>").unwrap_or((body, ""));
        found.push((from.map(|(name, _)| name), said.trim()));
        rest = next;
    }
    if found.is_empty() { vec![(None, text.trim())] } else { found }
}

/// True if all messages are from the program itself and none from an agent of the team.
pub(super) fn is_of_program(messages: &[(Option<&str>, &str)]) -> bool {
    messages.iter().all(|(from, _)| *from == Some(PROGRAM))
}

/// Heads of texts that the program writes into `user` records.
const HARNESS: &[&str] = &[
    "<local-command-caveat>",
    "<post-tool-use-hook>",
    "<session-start-hook>",
    "<system-reminder>",
    "<user-memory-input>",
    "<user-prompt-submit-hook>",
    "Caveat: The messages below",
    "Stop hook feedback:",
];

/// True for a message of a hook, which begins with the name of its event: "PostToolUse hook
/// feedback:", "PreToolUse:Bash hook error: …".
fn is_of_hook(text: &str) -> bool {
    let Some((event, said)) = text.split_once(" hook ") else { return false };
    let name = event.split(':').next().unwrap_or_default();
    let is_name = matches!(name, "Stop" | "Notification" | "Setup")
        || (name.chars().all(char::is_alphanumeric)
            && name.starts_with(char::is_uppercase)
            && name.chars().skip(1).any(char::is_uppercase));
    let what =
        ["feedback:", "error:", "success:", "additional context:", "stopped continuation:", "blocking error"];
    is_name && !event.contains(char::is_whitespace) && what.iter().any(|head| said.starts_with(head))
}

/// The kind of a text, from its head.
pub(super) fn of(text: &str) -> Words<'_> {
    let head = text.trim_start();
    let begins = |prefix: &str| head.starts_with(prefix);
    if begins("[Request interrupted by user") {
        Words::Interruption
    } else if begins("This session is being continued from a previous conversation") {
        Words::Summary
    } else if begins("<task-notification>") {
        Words::Notification
    } else if begins(PEER) || begins(OTHER_AGENT) {
        Words::Peer
    } else if begins("<command-name>") || begins("<command-message>") {
        Words::Command(Command {
            name: tag(head, "command-name").unwrap_or_default(),
            args: tag(head, "command-args").unwrap_or_default(),
            asks_model: begins("<command-message>"),
        })
    } else if ["<local-command-stdout>", "<local-command-stderr>", "<bash-stdout>", "<bash-stderr>"]
        .into_iter()
        .any(begins)
    {
        Words::Output
    } else if begins("<bash-input>") {
        Words::Shell(tag(head, "bash-input").unwrap_or(head))
    } else if begins("<ide_") {
        Words::Ide
    } else if begins("Implement the following plan:") {
        Words::Plan
    } else if begins("Base directory for this skill:") {
        Words::Skill
    } else if HARNESS.iter().any(|prefix| begins(prefix)) || is_of_hook(head) {
        Words::Harness
    } else {
        Words::Person
    }
}

/// The trimmed text between `<name>` and `</name>`, or to the end if it is never closed.
pub(super) fn tag<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let inner = rest.split_once(&format!("</{name}>")).map_or(rest, |(inner, _)| inner);
    Some(inner.trim())
}

/// The words that a person wrote into the refusal of a call. The fixed text of 2.1.217 for a
/// refused question is the program's.
pub(super) fn said_in_refusal(text: &str) -> Option<&str> {
    let (_, said) = text.split_once("the user said:")?;
    let said = said.trim();
    (!said.is_empty() && !said.starts_with("The user wants to clarify these questions.")).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_no_known_head_is_a_persons() {
        for head in HARNESS {
            assert_eq!(of(&format!("{head} more")), Words::Harness, "{head}");
        }
        assert_eq!(of("fix <bash-input> handling"), Words::Person);
        assert_eq!(of("no, Stop hook feedback: is wrong"), Words::Person);
        assert_eq!(of("PostToolUse hook feedback:\nx"), Words::Harness);
        assert_eq!(of("PreToolUse:Bash hook error: x"), Words::Harness);
        assert_eq!(of("The hook feedback: is wrong"), Words::Person);
        assert_eq!(of("<agent-message from=\"ann\">\nx\n</agent-message>"), Words::Peer);
        assert_eq!(of("\n<ide_selection>x</ide_selection>"), Words::Ide);
        assert_eq!(of("<bash-input>ls -l</bash-input>"), Words::Shell("ls -l"));
        assert_eq!(of(CUT_AT_TOOL), Words::Interruption);
    }

    #[test]
    fn agents_of_a_team_are_known_by_their_tags() {
        let text = "<teammate-message teammate_id=\"ann\" color=\"red\">\nDone.\n</teammate-message>\n\
                    <teammate-message teammate_id=\"system\">ann is idle</teammate-message>";
        assert_eq!(of(text), Words::Peer);
        assert_eq!(messages(text), [(Some("ann"), "Done."), (Some("system"), "ann is idle")]);
        assert!(!is_of_program(&messages(text)));
        assert!(is_of_program(&messages("<teammate-message teammate_id=\"system\">idle")));
        assert_eq!(messages("plain"), [(None, "plain")]);
        assert_eq!(of("what does <teammate-message> mean?"), Words::Person);
    }

    #[test]
    fn a_command_tells_whether_the_model_is_asked() {
        let local = "<command-name>/model</command-name>\n <command-message>model</command-message>\n <command-args>opus</command-args>";
        assert_eq!(of(local), Words::Command(Command { name: "/model", args: "opus", asks_model: false }));
        let asks = "<command-message>review</command-message>\n<command-name>/review</command-name>";
        assert_eq!(of(asks), Words::Command(Command { name: "/review", args: "", asks_model: true }));
    }

    #[test]
    fn words_in_a_refusal_are_the_users_unless_they_are_the_fixed_ones() {
        assert_eq!(said_in_refusal("… rejected. the user said:\nuse sed"), Some("use sed"));
        assert_eq!(said_in_refusal("the user said:\nThe user wants to clarify these questions. So"), None);
        assert_eq!(said_in_refusal("nothing was said"), None);
    }
}
