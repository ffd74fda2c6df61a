//! How a call ended: the one test for failure, refusal and interruption.
//!
//! Most versions have no field for it. It is in the first lines of the output, in a form that
//! changed with the tools. Those lines are read only at the start and up to `Output:`, since a
//! command may print the same words.

use retro_model::Outcome;

use crate::{Json, field};

/// How a call ended, and its output without the lines that the program added.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ending {
    pub outcome: Outcome,
    pub exit_code: Option<i64>,
    pub duration_ms: Option<u64>,
    pub truncated: bool,
    pub text: String,
    /// The process id of a command that is still running.
    pub process: Option<String>,
    /// The cell id of a script that is still running.
    pub cell: Option<String>,
    /// Set if a rule or a person refused the call.
    pub refusal: Option<Refusal>,
}

/// Who refused a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Rule,
    Person,
}

impl Ending {
    fn new(outcome: Outcome, text: &str) -> Ending {
        Ending {
            outcome,
            exit_code: None,
            duration_ms: None,
            truncated: false,
            text: text.to_owned(),
            process: None,
            cell: None,
            refusal: None,
        }
    }

    fn code(self, exit_code: Option<i64>) -> Ending {
        Ending { exit_code, ..self }
    }
}

/// True for tools whose output always shows how the call ended.
fn is_command(tool: Option<&str>) -> bool {
    matches!(
        tool,
        Some("shell" | "shell_command" | "exec_command" | "write_stdin" | "local_shell" | "container.exec")
    )
}

/// How a call of `tool` ended, from its output.
pub(super) fn ending(tool: Option<&str>, output: &Json<'_>) -> Ending {
    match output {
        Json::String(text) => of_text(tool, text),
        Json::Array(parts) => of_parts(tool, parts),
        // 0.104 also writes `{content, success}`.
        Json::Object(_) => {
            let mut ending = of_text(tool, field::text(output, "content").unwrap_or_default());
            if output.get("success").and_then(Json::as_bool) == Some(false) {
                ending.outcome = Outcome::Failed;
            }
            ending
        }
        _ => Ending::new(Outcome::Unknown, ""),
    }
}

fn of_parts(tool: Option<&str>, parts: &[Json<'_>]) -> Ending {
    let texts: Vec<&str> = parts
        .iter()
        .map(|part| match field::text(part, "type") {
            Some("input_image" | "image") => "[image]",
            _ => part.as_str().or_else(|| field::text(part, "text")).unwrap_or_default(),
        })
        .collect();
    let (head, rest) = match texts.split_first() {
        Some((first, rest)) => (*first, rest),
        None => return Ending::new(Outcome::Ok, ""),
    };
    // The program's lines are in a separate part. The other parts are the actual output.
    match of_text(tool, head) {
        ending if ending.text.is_empty() => Ending { text: rest.join("\n"), ..ending },
        ending => Ending { text: texts.join("\n"), ..ending },
    }
}

fn of_text(tool: Option<&str>, text: &str) -> Ending {
    if let Some(ending) =
        structured(text).or_else(|| headed(text)).or_else(|| scripted(text)).or_else(|| bare(tool, text))
    {
        return ending;
    }
    // A command that does not show how it ended.
    let outcome = if is_command(tool) { Outcome::Unknown } else { Outcome::Ok };
    Ending::new(outcome, text)
}

/// `{"output": …, "metadata": {"exit_code": …}}`: `shell` up to 0.58, patches up to 0.130.
fn structured(text: &str) -> Option<Ending> {
    if !text.starts_with('{') || !text.contains("\"metadata\"") {
        return None;
    }
    let json: Json<'_> = serde_json::from_str(text).ok()?;
    let metadata = json.get("metadata")?;
    let code = metadata.get("exit_code")?.as_i64()?;
    let output = field::text(&json, "output")?;
    let outcome = if code == 0 { Outcome::Ok } else { Outcome::Failed };
    let mut ending = Ending::new(outcome, output).code(Some(code));
    ending.duration_ms = metadata.get("duration_seconds").and_then(Json::as_f64).and_then(millis);
    ending.truncated = is_cut(output);
    Some(ending)
}

/// Reads the program's lines up to `Output:`, as every shell tool since 0.66 writes them.
fn headed(text: &str) -> Option<Ending> {
    let mut ending = Ending::new(Outcome::Unknown, "");
    let mut known = false;
    let mut rest = text;
    loop {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let line = line.trim_end();
        if line == "Output:" {
            rest = after;
            break;
        }
        if let Some(seconds) = line.strip_prefix("Wall time: ").and_then(|line| line.strip_suffix(" seconds"))
        {
            ending.duration_ms = seconds.parse().ok().and_then(millis);
        } else if let Some(code) =
            line.strip_prefix("Exit code: ").or_else(|| line.strip_prefix("Process exited with code "))
        {
            ending.exit_code = Some(code.parse().ok()?);
        } else if let Some(process) = line.strip_prefix("Process running with session ID ") {
            ending.process = Some(process.to_owned());
        } else if line.starts_with("Total output lines: ") || line.starts_with("Warning: truncated output") {
            ending.truncated = true;
        } else if known && line.starts_with("aborted by user") {
            ending.outcome = Outcome::Interrupted;
            return Some(ending);
        } else if !line.starts_with("Chunk ID: ") && !line.starts_with("Original token count: ") {
            return None;
        }
        known = true;
        rest = after;
        if after.is_empty() {
            break;
        }
    }
    if !known {
        return None;
    }
    ending.outcome = match (ending.exit_code, &ending.process) {
        (Some(0), _) => Outcome::Ok,
        (Some(_), _) => Outcome::Failed,
        (None, Some(_)) => Outcome::Unknown,
        // MCP: only the program's own record shows a failure.
        (None, None) => Outcome::Ok,
    };
    ending.truncated |= is_cut(rest);
    ending.text = rest.to_owned();
    Some(ending)
}

/// Code mode (0.166): how the script itself ended, not its calls.
fn scripted(text: &str) -> Option<Ending> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let cell = first.strip_prefix("Script running with cell ID ").map(|cell| cell.trim().to_owned());
    let outcome = match first {
        "Script completed" => Outcome::Ok,
        "Script failed" => Outcome::Failed,
        "Script terminated" => Outcome::Interrupted,
        _ if cell.is_some() => Outcome::Unknown,
        _ => return None,
    };
    let wall = rest.lines().next().and_then(|line| line.strip_prefix("Wall time ")?.strip_suffix(" seconds"));
    let output = rest.split_once("Output:\n").map_or("", |(_, output)| output);
    let duration_ms = wall.and_then(|seconds| seconds.parse().ok()).and_then(millis);
    Some(Ending { cell, duration_ms, ..Ending::new(outcome, output) })
}

/// Texts without a header, each specific to one ending.
fn bare(tool: Option<&str>, text: &str) -> Option<Ending> {
    if text.starts_with("aborted by user") {
        return Some(Ending::new(Outcome::Interrupted, text));
    }
    let refused = |by| Ending { refusal: Some(by), ..Ending::new(Outcome::Denied, text) };
    if text.starts_with("exec_command failed: CreateProcess") && text.contains("Rejected(") {
        return Some(refused(Refusal::Rule));
    }
    // A patch through the shell of 0.8.
    if text.starts_with("Success. Updated the following files:") {
        return Some(Ending::new(Outcome::Ok, text));
    }
    let failed = |code| Some(Ending::new(Outcome::Failed, text).code(code));
    const ANY: &[&str] =
        &["unsupported call: ", "unable to locate image at ", "failed to parse function arguments"];
    if ANY.iter().any(|head| text.starts_with(head)) {
        return failed(None);
    }
    if !is_command(tool) && tool != Some("apply_patch") {
        return None;
    }
    if text.contains(" rejected by user") && text.lines().count() == 1 {
        return Some(refused(Refusal::Person));
    }
    // In 0.34 any failing command may look like this, so it is not a refusal.
    if text.starts_with("failed in sandbox") || text.starts_with("exec_command failed: ") {
        return failed(number_after(text, "exit code: ").or_else(|| number_after(text, "exit_code: ")));
    }
    const FAILED: &[&str] =
        &["apply_patch verification failed", "error: ", "write_stdin failed: ", "execution error"];
    if FAILED.iter().any(|head| text.starts_with(head)) {
        return failed(None);
    }
    None
}

/// The number after the first occurrence of a mark.
fn number_after(text: &str, mark: &str) -> Option<i64> {
    let (_, rest) = text.split_once(mark)?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// True if the program cut out the middle.
fn is_cut(output: &str) -> bool {
    output.starts_with("Warning: truncated output")
        || output.starts_with("Total output lines: ")
        || output.contains(" tokens truncated…")
        || output.contains(" chars truncated…")
        || output.contains("[... omitted ")
}

fn millis(seconds: f64) -> Option<u64> {
    (0.0..1e9).contains(&seconds).then_some((seconds * 1000.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    fn of(tool: &str, text: &str) -> (Outcome, Option<i64>) {
        let ending = ending(Some(tool), &json!(text));
        (ending.outcome, ending.exit_code)
    }

    #[test]
    fn every_form_of_output_tells_how_it_ended() {
        use Outcome::*;
        for (tool, text, expected) in [
            (
                "shell",
                r#"{"output":"x","metadata":{"exit_code":2,"duration_seconds":0.1}}"#,
                (Failed, Some(2)),
            ),
            ("shell_command", "Exit code: 0\nWall time: 1 seconds\nOutput:\nExit code: 1\n", (Ok, Some(0))),
            (
                "shell_command",
                "Exit code: 7\nWall time: 0 seconds\nTotal output lines: 9\nOutput:\nx",
                (Failed, Some(7)),
            ),
            (
                "exec_command",
                "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 127\nOriginal token count: 1\nOutput:\n",
                (Failed, Some(127)),
            ),
            (
                "exec_command",
                "Chunk ID: a\nWall time: 0.5 seconds\nProcess running with session ID 9\nOutput:\n",
                (Unknown, None),
            ),
            ("exec_command", "Wall time: 0.8 seconds\naborted by user", (Interrupted, None)),
            ("exec_command", "aborted by user after 2.1s", (Interrupted, None)),
            (
                "exec_command",
                "exec_command failed: CreateProcess { message: \"Rejected(\\\"no\\\")\" }",
                (Denied, None),
            ),
            (
                "exec_command",
                "exec_command failed: SandboxDenied { output: { exit_code: 3, x } }",
                (Failed, Some(3)),
            ),
            (
                "shell",
                "failed in sandbox LinuxSeccomp with execution error: x, exit code: 2, stdout: y",
                (Failed, Some(2)),
            ),
            ("shell", "failed in sandbox: no rights", (Failed, None)),
            ("shell", "error: Failed to find expected lines in a", (Failed, None)),
            ("apply_patch", "apply_patch verification failed: no", (Failed, None)),
            ("apply_patch", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", (Ok, Some(0))),
            ("shell", "Success. Updated the following files:\nM a", (Ok, None)),
            ("write_stdin", "write_stdin failed: gone", (Failed, None)),
            ("update_plan", "Plan updated", (Ok, None)),
            ("update_plan", "unsupported call: update_plan", (Failed, None)),
            ("view_image", "unable to locate image at `x`", (Failed, None)),
            ("get_ticket", "error: is just a word here", (Ok, None)),
            ("exec_command", "something new", (Unknown, None)),
        ] {
            assert_eq!(of(tool, text), expected, "{tool}: {text}");
        }
    }

    #[test]
    fn the_programs_lines_are_taken_off() {
        let ending = ending(
            Some("exec_command"),
            &json!("Wall time: 0.25 seconds\nProcess exited with code 0\nOutput:\nhi\n"),
        );
        assert_eq!((ending.text.as_str(), ending.duration_ms), ("hi\n", Some(250)));
    }

    #[test]
    fn scripts_end_by_themselves() {
        let parts = |first: &str| json!([{ "type": "input_text", "text": first }, { "type": "input_text", "text": "0" }]);
        let done = ending(Some("exec"), &parts("Script completed\nWall time 0.2 seconds\nOutput:\n"));
        assert_eq!((done.outcome, done.text.as_str(), done.duration_ms), (Outcome::Ok, "0", Some(200)));
        let failed = ending(Some("exec"), &parts("Script failed\nWall time 0.0 seconds\nOutput:\n"));
        assert_eq!(failed.outcome, Outcome::Failed);
        let runs =
            ending(Some("exec"), &parts("Script running with cell ID 7\nWall time 10.0 seconds\nOutput:\n"));
        assert_eq!((runs.outcome, runs.cell.as_deref()), (Outcome::Unknown, Some("7")));
    }

    #[test]
    fn parts_are_joined_and_images_are_named() {
        let image = ending(Some("view_image"), &json!([{ "type": "input_image", "image_url": "data:x" }]));
        assert_eq!((image.outcome, image.text.as_str()), (Outcome::Ok, "[image]"));
        let mcp = json!([{ "type": "input_text", "text": "Wall time: 0.1 seconds\nOutput:" }, { "type": "input_text", "text": "hi" }]);
        assert_eq!(ending(Some("get"), &mcp).text, "hi");
        assert_eq!(ending(None, &json!(null)).outcome, Outcome::Unknown);
        assert_eq!(ending(None, &json!([])).outcome, Outcome::Ok);
    }
}
