//! Describes a call's task, and why it failed, in a few words.

use retro_model::{Edit, Event, Outcome, ToolCall, ToolClass, ToolResult};
use retro_text::diff::FileDiff;
use serde_json::Value;

use super::entry::{Question, Step};

/// The task of a call, on one line. Never empty if the call has arguments.
pub fn what(tool: &ToolCall, cwd: Option<&str>) -> String {
    if let Some(command) = &tool.command {
        return command.to_string();
    }
    let args = tool.args.as_deref();
    let text = |name: &str| args.and_then(|args| args.get(name)?.as_str()).filter(|text| !text.is_empty());
    if tool.class == ToolClass::Search
        && let Some(pattern) = text("pattern").or_else(|| text("query"))
    {
        let place = tool.paths.first().map(|path| format!(" in {}", below(&path.path, cwd)));
        return format!("{pattern}{}", place.unwrap_or_default());
    }
    if let Some(path) = tool.paths.first() {
        return below(&path.path, cwd).to_owned();
    }
    if let Some(edit) = tool.edits.first() {
        let more = tool.edits.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        return format!("{}{more}", below(&edit.path, cwd));
    }
    if let Some(skill) = text("skill") {
        return [Some(skill), text("args")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    }
    if tool.class == ToolClass::Plan
        && let Some(said) = args.and_then(plan_line)
    {
        return said;
    }
    args.map(said_in).unwrap_or_default()
}

/// Arguments that describe a call, best first.
const TELLING: &[&str] = &[
    "description",
    "title",
    "query",
    "url",
    "subject",
    "question",
    "task_name",
    "prompt",
    "message",
    "name",
    "cmd",
    "command",
    "path",
    "file_path",
    "target_file",
    "text",
    "code",
    "chars",
    "plan",
    "ids",
    "id",
    "session_id",
    "action",
];

/// The words of arguments: the most descriptive one, else all of them.
fn said_in(args: &Value) -> String {
    let first_line =
        |text: &str| text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
    match args {
        Value::String(text) => first_line(text).unwrap_or_default(),
        Value::Object(fields) => {
            let telling = TELLING.iter().find_map(|name| match fields.get(*name)? {
                Value::String(text) => first_line(text),
                Value::Array(items) => {
                    let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                    (!words.is_empty()).then(|| words.join(", "))
                }
                Value::Number(number) => Some(format!("{name} {number}")),
                _ => None,
            });
            telling.unwrap_or_else(|| if fields.is_empty() { String::new() } else { args.to_string() })
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The plan in a call: its progress and current step, or the step that changes.
fn plan_line(args: &Value) -> Option<String> {
    let text = |name: &str| args.get(name).and_then(Value::as_str);
    let steps = steps(args);
    if !steps.is_empty() {
        let done = steps.iter().filter(|step| step.done).count();
        let next = steps.iter().find(|step| !step.done).map(|step| format!(": {}", step.text));
        return Some(format!("{done} of {} done{}", steps.len(), next.unwrap_or_default()));
    }
    match (text("taskId"), text("status").or_else(|| text("subject"))) {
        (Some(id), Some(change)) => Some(format!("#{id} {change}")),
        (Some(id), None) => Some(format!("#{id}")),
        (None, _) => text("subject").map(str::to_owned),
    }
}

/// The steps of a plan, in any agent's format.
pub fn steps(data: &Value) -> Vec<Step> {
    let lists = ["plan", "todos", "newTodos", "entries", "tasks"];
    let list = lists.iter().find_map(|name| data.get(*name)?.as_array());
    let step = |item: &Value| {
        let text =
            ["step", "content", "subject", "text"].iter().find_map(|name| item.get(*name)?.as_str())?;
        let done = item.get("status").and_then(Value::as_str).is_some_and(|status| status == "completed");
        Some(Step { text: text.to_owned(), done })
    };
    list.into_iter().flatten().filter_map(step).collect()
}

/// The questions of a call, with the answers that its result holds.
pub fn questions(tool: &ToolCall, result: Option<&Event>) -> Vec<Question> {
    let Some(args) = &tool.args else { return Vec::new() };
    let answers = result.and_then(|event| event.data.as_ref()).and_then(|data| data.get("answers"));
    let answer = |question: &str| match answers?.get(question)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => Some(items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")),
        _ => None,
    };
    let label = |option: &Value| {
        option.as_str().or_else(|| option.get("label").and_then(Value::as_str)).map(str::to_owned)
    };
    let one = |asked: &Value| {
        let question = asked.get("question").and_then(Value::as_str)?;
        let options = asked.get("options").and_then(Value::as_array).into_iter().flatten();
        Some(Question {
            question: question.to_owned(),
            options: options.filter_map(label).collect(),
            answer: answer(question),
        })
    };
    match args.get("questions").and_then(Value::as_array) {
        Some(list) => list.iter().filter_map(one).collect(),
        None => one(args).into_iter().collect(),
    }
}

/// A path relative to the working directory, if it is below it.
fn below<'p>(path: &'p str, cwd: Option<&str>) -> &'p str {
    let inside = cwd.and_then(|cwd| path.strip_prefix(cwd)).and_then(|rest| rest.strip_prefix(['/', '\\']));
    inside.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// The edits made, from the result. Without one, the edits requested.
pub fn edits(tool: &ToolCall, result: Option<&ToolResult>) -> Vec<Edit> {
    match result {
        Some(result) if !result.edits.is_empty() => result.edits.clone(),
        Some(result) if result.outcome == Outcome::Ok => tool.edits.clone(),
        _ => Vec::new(),
    }
}

/// The lines that an edit asks to change.
pub fn diffs(tool: &ToolCall) -> Vec<FileDiff> {
    if tool.class != ToolClass::Edit {
        return Vec::new();
    }
    let path = tool.paths.first().map(|path| path.path.as_str());
    tool.args.as_ref().map_or(Vec::new(), |args| retro_text::diff::diffs(args, path))
}

/// Maximum lines shown of a failed result.
const TROUBLE_LINES_MAX: usize = 6;

/// Words that mark a line as the reason of a failure.
const REASONS: &[&str] = &[
    "error",
    "fail",
    "panic",
    "exception",
    "fatal",
    "assert",
    "denied",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "not found",
    "no such",
    "invalid",
    "refused",
    "unexpected",
    "undefined",
    "unknown",
    "timed out",
    "timeout",
    "missing",
    "expected",
    "abort",
    "unable",
    "rejected",
    "not permitted",
    "traceback",
];

/// The lines of a failed result that explain it: all of a short result; of a long one the last
/// lines that name a reason, else its end.
pub fn trouble(text: &str, exit_code: Option<i64>) -> Option<String> {
    let text = text.trim().trim_start_matches("<tool_use_error>").trim_end_matches("</tool_use_error>");
    // The line of the call already shows the exit code.
    let repeats = |line: &str| {
        let line = line.trim().to_lowercase();
        let said = line.strip_prefix("exit code").or_else(|| line.strip_prefix("exit"));
        let number = said.map(|rest| rest.trim_start_matches([':', ' ']).trim());
        number.is_some_and(|number| Some(number) == exit_code.map(|code| code.to_string()).as_deref())
    };
    let lines: Vec<&str> =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !repeats(line)).collect();
    let chosen: Vec<&str> = if lines.len() <= TROUBLE_LINES_MAX {
        lines
    } else {
        let says_why = |line: &&&str| {
            let line = line.to_lowercase();
            REASONS.iter().any(|reason| line.contains(reason))
        };
        let why: Vec<&str> = lines.iter().filter(says_why).copied().collect();
        let from = if why.is_empty() { &lines } else { &why };
        from[from.len().saturating_sub(TROUBLE_LINES_MAX)..].to_vec()
    };
    let indent = chosen.iter().map(|line| line.len() - line.trim_start_matches(' ').len()).min()?;
    Some(chosen.iter().map(|line| &line[indent..]).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use retro_text::redact_json;
    use serde_json::json;

    fn call(name: &str, class: ToolClass, args: Value) -> ToolCall {
        ToolCall {
            call_id: "c".into(),
            parent_call: None,
            name: name.into(),
            class,
            args: Some(redact_json(args)),
            command: None,
            cwd: None,
            paths: Vec::new(),
            edits: Vec::new(),
        }
    }

    #[test]
    fn every_call_says_what_was_done() {
        let said = |name: &str, class, args| what(&call(name, class, args), None);
        assert_eq!(
            said("Skill", ToolClass::Other, json!({"skill": "review", "args": "main"})),
            "review main"
        );
        assert_eq!(said("Grep", ToolClass::Search, json!({"pattern": "fn vat", "path": "src"})), "fn vat");
        let todos = json!({"todos": [{"content": "Read", "status": "completed"}, {"content": "Fix", "status": "pending"}]});
        assert_eq!(said("TodoWrite", ToolClass::Plan, todos), "1 of 2 done: Fix");
        assert_eq!(
            said("TaskUpdate", ToolClass::Plan, json!({"taskId": "3", "status": "completed"})),
            "#3 completed"
        );
        assert_eq!(
            said("spawn_agent", ToolClass::Subagent, json!({"message": "Look\nmore", "task_name": "find"})),
            "find"
        );
        assert_eq!(
            said("js", ToolClass::Mcp, json!({"action": "run", "tabId": 3, "text": "1 + 1"})),
            "1 + 1"
        );
        assert_eq!(said("odd", ToolClass::Mcp, json!({"flag": true})), "{\"flag\":true}");
        assert_eq!(said("exec", ToolClass::Shell, json!("\nawait run()\nmore")), "await run()");
        assert_eq!(said("none", ToolClass::Other, json!({})), "");
    }

    #[test]
    fn of_a_failure_the_lines_that_say_why_are_shown() {
        let listing: String = (0..40).map(|n| format!("src/file{n}.rs\n")).collect();
        let text = format!(
            "Exit code 1\n{listing}E   AssertionError: 1 != 2\nFAILED tests/test_cart.py::total\n3 passed in 2 s"
        );
        assert_eq!(
            trouble(&text, Some(1)).unwrap(),
            "E   AssertionError: 1 != 2\nFAILED tests/test_cart.py::total"
        );
        assert_eq!(trouble("exit: 2\n  a\n    b\n", Some(2)).unwrap(), "a\n  b");
        assert_eq!(trouble("<tool_use_error>File not read</tool_use_error>", None).unwrap(), "File not read");
        let end = trouble(&listing, None).unwrap();
        assert_eq!((end.lines().count(), end.lines().last()), (TROUBLE_LINES_MAX, Some("src/file39.rs")));
        assert_eq!(trouble("Exit code 1", Some(1)), None);
    }

    #[test]
    fn questions_come_with_their_answers() {
        let asked = call(
            "AskUserQuestion",
            ToolClass::Ask,
            json!({"questions": [
            {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}, {"question": "When?"}]}),
        );
        let questions = questions(&asked, None);
        assert_eq!(questions[0].options, ["A", "B"]);
        assert_eq!((questions.len(), questions[1].answer.as_deref()), (2, None));
    }
}
