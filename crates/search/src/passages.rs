//! Turns settled events into passages. A search finds nothing else.
//!
//! Every prompt, answer, call and output becomes a piece, or several if it is long. Text by the
//! agent program itself is left out, and so is retro's own output: a search would find it instead
//! of its sources.

use hashbrown::HashMap;
use retro_model::{Event, Kind, Origin, Outcome, Passage, Piece, PieceKind, Timestamp, ToolCall, ToolClass};
use serde_json::Value;

/// A passage is closed when it has this many pieces.
pub const PIECES_MAX: usize = 32;

/// A longer text becomes several pieces, cut at line ends.
const PIECE_BYTES: usize = 1_200;

/// Only the head and tail of longer text by people and models are indexed.
const PROSE_BYTES_MAX: usize = 64 * 1024;

/// Indexed bytes of a successful call's output, head and tail.
const OUTPUT_BYTES: (usize, usize) = (1_400, 600);

/// Indexed bytes of a file that was read, head and tail.
const READ_BYTES: (usize, usize) = (600, 0);

/// Indexed lines and bytes of a failed call's output.
const ERROR_LINES: usize = 40;
const ERROR_BYTES: (usize, usize) = (3_600, 3_600);

/// Indexed bytes of a call's arguments, enough for most edits.
const CALL_BYTES: usize = 4_000;

/// The word under which an editing tool reports problems in the edited file.
const DIAGNOSTICS: &str = "diagnostics";

/// Maximum parts of a path in a label, counted from its end.
const PATH_PARTS_MAX: usize = 6;

/// Collects the passages of a session from its events as they come.
#[derive(Default)]
pub struct Passages {
    done: Vec<Passage>,
    open: HashMap<String, Open>,
    calls: HashMap<String, Call>,
}

/// A thread and its open passage.
#[derive(Default)]
struct Open {
    passage: Option<Passage>,
    /// Pieces of the thread so far.
    count: u32,
    /// Turns before the first event, if only new events are read.
    turns_before: u32,
    model: Option<String>,
}

/// Facts about a call that its result needs.
struct Call {
    class: ToolClass,
    is_ours: bool,
}

impl Passages {
    /// Continues after these passages, the last ones of each thread.
    pub fn after(last: Vec<Passage>) -> Passages {
        let mut passages = Passages::default();
        for passage in last {
            let count = passage.first + passage.pieces.len() as u32;
            let turns_before = passage.turn;
            let thread = passage.thread.clone();
            passages.open.insert(thread, Open { passage: Some(passage), count, turns_before, model: None });
        }
        passages
    }

    /// Takes the next settled event.
    pub fn push(&mut self, event: &Event) {
        if let Some(model) = &event.model {
            self.thread(event).model = Some(model.to_lowercase());
        }
        match event.kind {
            Kind::User | Kind::Denial => self.message(event),
            Kind::Assistant | Kind::Plan | Kind::Subagent => self.prose(event, PieceKind::Assistant),
            Kind::Reasoning => self.prose(event, PieceKind::Reasoning),
            Kind::ToolCall => self.call(event),
            Kind::ToolResult => self.result(event),
            Kind::Error => self.add(event, PieceKind::Error, text_of(event), vec!["is:failed".to_owned()]),
            _ => {}
        }
    }

    /// Takes passages that no later event can change.
    pub fn take_closed(&mut self) -> Vec<Passage> {
        std::mem::take(&mut self.done)
    }

    /// All remaining passages, by thread and place.
    pub fn finish(mut self) -> Vec<Passage> {
        self.done.extend(self.open.into_values().filter_map(|open| open.passage));
        self.done.sort_by(|a, b| (&a.thread, a.first).cmp(&(&b.thread, b.first)));
        self.done
    }

    fn message(&mut self, event: &Event) {
        match event.origin {
            Origin::User => self.prose(event, PieceKind::User),
            Origin::Agent => self.prose(event, PieceKind::Assistant),
            _ => {}
        }
    }

    fn prose(&mut self, event: &Event, kind: PieceKind) {
        if event.origin == Origin::Harness {
            return;
        }
        let text = without_ours(text_of(event));
        let mut labels = Vec::new();
        if kind == PieceKind::Assistant
            && let Some(model) = &self.thread(event).model
        {
            labels.push(format!("model:{model}"));
        }
        self.add(event, kind, &head_and_tail(&text, (PROSE_BYTES_MAX / 2, PROSE_BYTES_MAX / 2)), labels);
    }

    fn call(&mut self, event: &Event) {
        let Some(tool) = &event.tool else { return };
        let is_ours = tool.command.as_ref().is_some_and(|command| is_our_command(command));
        self.calls.insert(tool.call_id.clone(), Call { class: tool.class, is_ours });
        let kind = match tool.class {
            ToolClass::Read | ToolClass::Edit => PieceKind::File,
            _ => PieceKind::Command,
        };
        self.add(event, kind, &call_text(tool), call_labels(tool));
    }

    fn result(&mut self, event: &Event) {
        let Some(result) = &event.result else { return };
        let call = self.calls.remove(&result.call_id);
        if call.as_ref().is_some_and(|call| call.is_ours) {
            return;
        }
        let text = without_ours(text_of(event));
        let is_edit = call.as_ref().is_some_and(|call| call.class == ToolClass::Edit);
        if is_edit && result.outcome != Outcome::Failed && !text.contains(DIAGNOSTICS) {
            // The confirmation of an edit repeats the call.
            return;
        }
        let is_read = call.is_some_and(|call| call.class == ToolClass::Read);
        match result.outcome {
            Outcome::Failed => {
                let ends = ends_of_lines(&text, ERROR_LINES);
                let labels = vec!["is:failed".to_owned()];
                self.add(event, PieceKind::Error, &head_and_tail(&ends, ERROR_BYTES), labels);
            }
            _ if is_read => self.add(event, PieceKind::Output, &head_and_tail(&text, READ_BYTES), Vec::new()),
            _ => self.add(event, PieceKind::Output, &head_and_tail(&text, OUTPUT_BYTES), Vec::new()),
        }
    }

    fn thread(&mut self, event: &Event) -> &mut Open {
        self.open.entry_ref(event.thread.as_str()).or_default()
    }

    fn add(&mut self, event: &Event, kind: PieceKind, text: &str, labels: Vec<String>) {
        let id = event.id.to_string();
        let mut labels = Some(labels);
        for text in pieces_of(text) {
            let labels = labels.take().unwrap_or_default();
            let piece = Piece { kind, event: id.clone(), at: event.ts, text: text.to_owned(), labels };
            self.put(event, piece);
        }
    }

    fn put(&mut self, event: &Event, piece: Piece) {
        let open = self.open.entry_ref(event.thread.as_str()).or_default();
        let turn = event.turn + open.turns_before;
        let fits = open.passage.as_ref().is_some_and(|passage| {
            passage.turn == turn && passage.live == event.live && passage.pieces.len() < PIECES_MAX
        });
        if !fits {
            self.done.extend(open.passage.take());
        }
        let passage = open.passage.get_or_insert_with(|| Passage {
            thread: event.thread.as_str().to_owned(),
            turn,
            first: open.count,
            live: event.live,
            pieces: Vec::new(),
        });
        passage.pieces.push(piece);
        open.count += 1;
    }
}

fn text_of(event: &Event) -> &str {
    event.text.as_ref().map_or("", |text| text.as_str())
}

/// The text of a call: its command, or its name and arguments.
fn call_text(tool: &ToolCall) -> String {
    if let Some(command) = &tool.command {
        return head_and_tail(command, (CALL_BYTES, 0)).into_owned();
    }
    let mut text = tool.name.clone();
    for path in paths_of(tool) {
        text.push(' ');
        text.push_str(path);
    }
    if let Some(args) = &tool.args {
        strings_of(args, &mut text);
    }
    head_and_tail(&text, (CALL_BYTES, 0)).into_owned()
}

/// Appends every text inside a value, each on a new line.
fn strings_of(value: &Value, into: &mut String) {
    if into.len() > 2 * CALL_BYTES {
        return;
    }
    match value {
        Value::String(text) if !into.contains(text.as_str()) => {
            into.push('\n');
            into.push_str(head(text, CALL_BYTES));
        }
        Value::Array(values) => values.iter().for_each(|value| strings_of(value, into)),
        Value::Object(fields) => fields.values().for_each(|value| strings_of(value, into)),
        _ => {}
    }
}

fn paths_of(tool: &ToolCall) -> impl Iterator<Item = &str> {
    let used = tool.paths.iter().map(|used| used.path.as_str());
    let edited = tool.edits.iter().flat_map(|edit| [Some(&edit.path), edit.to.as_ref()]);
    let mut seen: Vec<&str> = Vec::new();
    used.chain(edited.flatten().map(|path| path.as_str())).filter(move |path| {
        let is_new = !seen.contains(path);
        seen.push(path);
        is_new
    })
}

fn call_labels(tool: &ToolCall) -> Vec<String> {
    let mut labels = vec![format!("tool:{}", tool.name.to_lowercase())];
    for path in paths_of(tool) {
        labels.extend(path_labels(path));
    }
    labels
}

/// The labels of a file: its name, and its name with each of the folders above it.
pub fn path_labels(path: &str) -> impl Iterator<Item = String> {
    let path = path.to_lowercase().replace('\\', "/");
    let mut ends: Vec<String> = Vec::new();
    let mut end = path.len();
    while ends.len() < PATH_PARTS_MAX {
        let Some(at) = path[..end].rfind('/') else { break };
        ends.push(format!("file:{}", &path[at + 1..]));
        end = at;
    }
    if ends.len() < PATH_PARTS_MAX {
        ends.push(format!("file:{path}"));
    }
    ends.into_iter().filter(|label| label != "file:")
}

/// True if a command runs retro.
fn is_our_command(command: &str) -> bool {
    let mut words =
        command.split_whitespace().skip_while(|word| word.contains('=') && !word.starts_with('='));
    words.next().is_some_and(|word| word.rsplit('/').next() == Some("retro"))
}

/// The text without blocks that retro passed to the agent.
fn without_ours(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains("<retro") {
        return text.into();
    }
    let mut rest = text;
    let mut kept = String::new();
    while let Some(start) = rest.find("<retro") {
        kept.push_str(&rest[..start]);
        let Some(end) = rest[start..].find("</retro").and_then(|close| {
            let close = start + close;
            rest[close..].find('>').map(|end| close + end + 1)
        }) else {
            kept.push_str(&rest[start..]);
            return kept.into();
        };
        rest = &rest[end..];
    }
    kept.push_str(rest);
    kept.into()
}

/// Splits a text into pieces, at line ends if possible.
fn pieces_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let piece = head(rest, PIECE_BYTES);
        let end = match piece.len() == rest.len() {
            true => rest.len(),
            false => {
                let line = piece.rfind('\n').map(|at| at + 1);
                let word =
                    piece.rfind(char::is_whitespace).map(|at| at + 1).filter(|at| *at > PIECE_BYTES / 2);
                line.filter(|at| *at > PIECE_BYTES / 2).or(word).unwrap_or(piece.len())
            }
        };
        let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        rest = after.trim_start();
        Some(piece.trim_end())
    })
}

/// The beginning of a text, cut at a character boundary.
fn head(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// The head and the tail of a text, with a mark where the middle is left out.
fn head_and_tail(text: &str, (head_max, tail_max): (usize, usize)) -> std::borrow::Cow<'_, str> {
    if text.len() <= head_max + tail_max {
        return text.into();
    }
    let tail = &text[text.ceil_char_boundary(text.len() - tail_max)..];
    let gap = if tail.is_empty() { "" } else { "\n…\n" };
    format!("{}{gap}{tail}", head(text, head_max)).into()
}

/// The first and last lines of a text.
fn ends_of_lines(text: &str, lines: usize) -> std::borrow::Cow<'_, str> {
    let count = text.lines().count();
    if count <= 2 * lines {
        return text.into();
    }
    let first: Vec<&str> = text.lines().take(lines).collect();
    let last: Vec<&str> = text.lines().skip(count - lines).collect();
    format!("{}\n…\n{}", first.join("\n"), last.join("\n")).into()
}

/// The time of a passage for the index, from its first piece with a time.
pub(crate) fn time_ms(at: Option<Timestamp>) -> i64 {
    at.map_or(0, Timestamp::as_millis)
}
