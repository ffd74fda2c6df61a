//! The author of a text, from its beginning.
//!
//! The program writes in the user role: it gives the model its environment, project rules, reports
//! of sub-agents. In versions that log no provenance, only the beginning of the text shows the
//! author.

/// The kind of a text in the user role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// Text that looks like the user's own.
    Words,
    /// The environment or the project's rules.
    Context,
    /// Any other text of the program.
    Harness,
    /// A turn was cut off. The event beside it also records that.
    Aborted,
    /// A report of a sub-agent.
    Subagent,
    /// A command that the user ran.
    Shell,
    /// A tag around an image.
    ImageMark,
}

const HEADS: &[(&str, Said)] = &[
    ("# AGENTS.md instructions for ", Said::Context),
    ("<environment_context>", Said::Context),
    ("<user_instructions>", Said::Context),
    ("<turn_aborted>", Said::Aborted),
    ("<subagent_notification>", Said::Subagent),
    ("<user_shell_command>", Said::Shell),
    ("<image name=", Said::ImageMark),
    ("<image>", Said::ImageMark),
    ("</image>", Said::ImageMark),
    ("<user_action>", Said::Harness),
    ("<skill>", Said::Harness),
    ("<skills_instructions>", Said::Harness),
    ("<permissions instructions>", Said::Harness),
    ("<collaboration_mode>", Said::Harness),
    ("<hook_prompt", Said::Harness),
    ("<apps_instructions>", Said::Harness),
    ("<plugins_instructions>", Said::Harness),
    ("Another language model started to solve this problem and produced a summary", Said::Harness),
];

pub(super) fn said(text: &str) -> Said {
    let text = text.trim_start();
    HEADS.iter().find(|(head, _)| text.starts_with(head)).map_or(Said::Words, |(_, said)| *said)
}

/// The text that the user typed, if an application put context before it: the desktop app (0.140
/// on), the editor extension. The context may contain anything, even this line, so the last one
/// counts.
pub(super) fn unwrapped(text: &str) -> Option<&str> {
    const REQUEST: &str = "## My request for Codex:";
    if !text.trim_start().starts_with("# ") {
        return None;
    }
    let before = |at: usize| text.get(..at).is_some_and(|before| before.ends_with('\n'));
    let (at, _) = text.rmatch_indices(REQUEST).find(|(at, _)| before(*at))?;
    Some(text.get(at + REQUEST.len()..)?.trim())
}

/// The command in a `<user_shell_command>`.
pub(super) fn shell_command(text: &str) -> &str {
    between(text, "<command>", "</command>").unwrap_or_default().trim()
}

/// The working directory in an `<environment_context>`.
pub(super) fn cwd(text: &str) -> Option<&str> {
    between(text, "<cwd>", "</cwd>").map(str::trim).filter(|cwd| !cwd.is_empty())
}

/// The text between two marks.
pub(super) fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_tells_whose_words_they_are() {
        assert_eq!(said("Fix the environment_context"), Said::Words);
        assert_eq!(said("\n<environment_context>\n<cwd>/w</cwd>"), Said::Context);
        assert_eq!(said("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>"), Said::Context);
        assert_eq!(said("# AGENTS.md is wrong"), Said::Words);
        assert_eq!(said("<image name=[Image #1]>"), Said::ImageMark);
        assert_eq!(said(""), Said::Words);
    }

    #[test]
    fn wrapped_words_are_unwrapped() {
        let wrapped = "\n# Files mentioned by the user:\n\n## a.rs\n## My request for Codex:\nMake it blue\n";
        assert_eq!(unwrapped(wrapped), Some("Make it blue"));
        let editor = "# Context from my IDE setup:\n\n## Active selection of the file:\nX\n## My request for Codex:\n\
                      Y\n\n## My request for Codex:\nexplain this";
        assert_eq!(unwrapped(editor), Some("explain this"));
        assert_eq!(unwrapped("# Explain `## My request for Codex:` to me"), None);
        assert_eq!(unwrapped("Explain `## My request for Codex:` to me"), None);
    }

    #[test]
    fn parts_are_found_between_their_marks() {
        assert_eq!(shell_command("<user_shell_command>\n<command>\nls -a\n</command>\n<result>"), "ls -a");
        assert_eq!(shell_command("<user_shell_command>"), "");
        assert_eq!(cwd("<environment_context><cwd> /w </cwd>"), Some("/w"));
    }
}
