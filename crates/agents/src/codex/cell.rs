//! Calls inside the script of a call: code mode (0.144 on).
//!
//! From 0.149 on, each call of a script has its own item (`act`), and these count. Older logs have
//! only the JavaScript source and its output. The script's calls are events of their own, and how
//! each ended is known if the script printed it. A script, or a call in it, that cannot be read
//! becomes a call without a command.

use retro_model::{Edit, Kind, Origin, Outcome, Part as Piece, ToolCall, ToolClass, ToolResult};
use retro_text::{redact, redact_owned};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::line::Line;
use super::outcome::Ending;
use super::rule::Rule;
use super::state::State;
use super::tools;
use crate::javascript::{self, Print, Seen, Shape};
use crate::{Json, Out, field};

/// Limit in bytes for the literal text in a script's output that is remembered until it ends.
const PRINTS_BYTES_MAX: usize = 8 * 1024;
/// The most edits per call that are remembered until then.
const EDITS_MAX: usize = 64;

/// A running script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Cell {
    /// Id of the call that runs it.
    pub script: String,
    calls: Vec<Inner>,
    /// The output still to come, in order.
    prints: Vec<Print>,
    /// True if it may catch the error of a tool.
    catches: bool,
}

/// A call in a script, with or without a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Inner {
    class: ToolClass,
    /// True if only the script's output can show how it ended.
    is_command: bool,
    is_sure: bool,
    is_over: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edits: Vec<Edit>,
}

/// Reads the calls of a script.
pub(super) fn read(
    line: &Line<'_>,
    row: &'static str,
    script: &str,
    text: &str,
    state: &mut State,
    out: &mut Out,
) {
    let cwd = state.cwd.as_ref().map(|cwd| cwd.as_str().to_owned());
    let Some(cell) = javascript::read(text) else {
        let args = Json::from(json!({ "unread": "the script" }));
        let call = tools::call(&inner_id(script, 0), "exec_command", None, &args, cwd.as_deref());
        return push(line, row, 0, Inside::Unread, call, script, out);
    };
    let mut calls = Vec::new();
    for (at, made) in cell.calls.into_iter().enumerate() {
        let args = Json::from(made.args.unwrap_or_default());
        let call = made_call(&inner_id(script, at), &made.tool, &args, cwd.as_deref());
        let is_sure = made.is_sure && is_read(&call);
        let call = if is_sure { call } else { without_deed(call) };
        let mut edits = call.edits.clone();
        edits.truncate(EDITS_MAX);
        let is_command = call.class == ToolClass::Shell || call.command.is_some();
        calls.push(Inner { class: call.class, is_command, is_sure, is_over: false, edits });
        let inside = if is_sure { Inside::Read } else { Inside::Unread };
        push(line, row, at, inside, call, script, out);
    }
    let prints = fitting(cell.prints);
    state.runs(Cell { script: script.to_owned(), calls, prints, catches: cell.catches });
}

/// How certain a call in a script is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    Read,
    /// It is not known what it runs, or whether it runs.
    Unread,
}

fn inner_id(script: &str, at: usize) -> String {
    format!("{script}~{at}")
}

fn made_call(call_id: &str, tool: &str, args: &Json<'_>, cwd: Option<&str>) -> ToolCall {
    let mut call = tools::call(call_id, tool, None, args, cwd);
    // `multi_agent_v1__spawn_agent`: the tool's name follows the group's.
    if call.class == ToolClass::Other
        && let Some((_, name)) = tool.rsplit_once("__")
    {
        call.class = tools::class(name, None, args);
    }
    call
}

/// True if the call's purpose is known.
fn is_read(call: &ToolCall) -> bool {
    match (call.name.as_str(), call.class) {
        ("write_stdin" | "wait", _) => true,
        (_, ToolClass::Shell) => call.command.is_some(),
        ("apply_patch", _) => !call.edits.is_empty(),
        _ => true,
    }
}

fn without_deed(call: ToolCall) -> ToolCall {
    ToolCall { command: None, edits: Vec::new(), paths: Vec::new(), ..call }
}

fn push(
    line: &Line<'_>,
    row: &'static str,
    at: usize,
    inside: Inside,
    mut call: ToolCall,
    script: &str,
    out: &mut Out,
) {
    let part = Piece::Block(u32::try_from(at).unwrap_or(u32::MAX));
    let mut draft = line.nameless(row, part, Kind::ToolCall, Origin::Model);
    line.identify(&mut draft, "inside", &call.call_id);
    call.parent_call = Some(script.to_owned());
    draft.event.native.message_id = None;
    draft.hint.look_for(Rule::Inside { script: script.to_owned(), class: call.class, inside });
    draft.event.tool = Some(Box::new(call));
    out.push(draft);
}

/// The first prints of a script, up to the limit. Those with secrets are replaced by `Any`.
fn fitting(prints: Vec<Print>) -> Vec<Print> {
    let mut bytes = 0;
    let fits = |print: &Print| {
        bytes += match print {
            Print::Text(pieces) => pieces
                .iter()
                .map(|piece| match piece {
                    javascript::Piece::Words(words) => words.len() + 16,
                    javascript::Piece::Json(shape) => weight(shape),
                    _ => 16,
                })
                .sum::<usize>(),
            Print::Json(shape) => weight(shape),
            Print::Any | Print::Maybe => 8,
        };
        bytes <= PRINTS_BYTES_MAX
    };
    let is_open = |text: &str| redact(text).as_str() == text;
    let mut prints: Vec<Print> = prints.into_iter().take_while(fits).collect();
    for print in &mut prints {
        let is_clean = match print {
            Print::Text(pieces) => pieces.iter().all(|piece| match piece {
                javascript::Piece::Words(words) => is_open(words),
                _ => true,
            }),
            _ => true,
        };
        if !is_clean {
            *print = Print::Any;
        }
    }
    prints
}

fn weight(shape: &Shape) -> usize {
    match shape {
        Shape::Each(shapes) => 8 + shapes.iter().map(weight).sum::<usize>(),
        Shape::Fields(fields) => {
            8 + fields.iter().map(|(name, shape)| name.len() + weight(shape)).sum::<usize>()
        }
        Shape::Told(_) | Shape::Any => 16,
    }
}

/// The endings of a script's calls, as far as its output, or the next piece of it, shows them.
pub(super) fn ended(
    line: &Line<'_>,
    row: &'static str,
    cell: &mut Cell,
    output: &Json<'_>,
    ending: &Ending,
    out: &mut Out,
) {
    let printed = printed(output, ending);
    let texts: Vec<&str> = printed.iter().map(String::as_str).collect();
    let is_over = ending.cell.is_none();
    let is_loose = cell.prints.contains(&Print::Maybe);
    // Texts match prints by position, unless their numbers differ.
    let fits = match (is_over, ending.outcome) {
        (true, Outcome::Ok) => is_loose || texts.len() == cell.prints.len(),
        _ => is_loose || texts.len() <= cell.prints.len(),
    };
    let mut seen = match fits {
        true => javascript::seen(&cell.prints, &texts, cell.calls.len()),
        false => vec![Seen::default(); cell.calls.len()],
    };
    // All output of a script with one call belongs to that call.
    if let ([seen], true) = (seen.as_mut_slice(), is_over)
        && seen.output.is_none()
        && !ending.text.is_empty()
    {
        seen.output = Some(ending.text.clone());
    }
    let printed_now = texts.len().min(cell.prints.len());
    if !is_loose {
        cell.prints.drain(..printed_now);
    }
    let (catches, script) = (cell.catches, cell.script.clone());
    for (at, (call, seen)) in cell.calls.iter_mut().zip(seen).enumerate() {
        if call.is_over || !(is_over || seen.answered) {
            continue;
        }
        call.is_over = true;
        let outcome = match (seen.exit_code, ending.outcome) {
            (Some(0), _) => Outcome::Ok,
            (Some(_), _) => Outcome::Failed,
            (None, Outcome::Interrupted) if !seen.answered => Outcome::Interrupted,
            // A tool that fails throws, and ends the script.
            (None, Outcome::Ok) if !call.is_command && call.is_sure && (seen.answered || !catches) => {
                Outcome::Ok
            }
            (None, Outcome::Failed) if is_refused(call, ending) => Outcome::Failed,
            _ => Outcome::Unknown,
        };
        let text = seen.output.unwrap_or_default();
        let result = ToolResult {
            call_id: inner_id(&script, at),
            outcome,
            exit_code: seen.exit_code,
            duration_ms: None,
            truncated: false,
            bytes: text.len() as u64,
            spilled_to: None,
            edits: if outcome == Outcome::Ok { std::mem::take(&mut call.edits) } else { Vec::new() },
        };
        let part = Piece::Block(u32::try_from(at).unwrap_or(u32::MAX));
        let origin = match call.class {
            ToolClass::Web | ToolClass::Mcp => Origin::External,
            _ => Origin::Tool,
        };
        let mut draft = line.nameless(row, part, Kind::ToolResult, origin);
        line.identify(&mut draft, "inside", &result.call_id);
        draft.event.native.message_id = None;
        let inside = if call.is_sure { Inside::Read } else { Inside::Unread };
        draft.hint.look_for(Rule::Inside { script: script.clone(), class: call.class, inside });
        draft.event.result = Some(Box::new(result));
        draft.event.text = (!text.is_empty()).then(|| redact_owned(text));
        out.push(draft);
    }
}

/// True if the script's output says that its patch failed.
fn is_refused(call: &Inner, ending: &Ending) -> bool {
    call.class == ToolClass::Edit && ending.text.contains("apply_patch verification failed")
}

/// The texts that a script printed.
fn printed(output: &Json<'_>, ending: &Ending) -> Vec<String> {
    let mut texts: Vec<String> = match output {
        Json::Array(parts) if parts.len() > 1 => parts
            .iter()
            .skip(1)
            .map(|part| part.as_str().or_else(|| field::text(part, "text")).unwrap_or_default().to_owned())
            .collect(),
        _ if ending.text.is_empty() => Vec::new(),
        _ => vec![ending.text.clone()],
    };
    texts.retain(|text| !text.starts_with("Script error:"));
    texts
}
