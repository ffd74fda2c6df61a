//! What search looks through: the words of a turn, piece by piece.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PieceKind {
    /// Words of a person.
    User,
    /// Words of the model.
    Assistant,
    /// Thinking of the model, where a turn has no other words of it.
    Reasoning,
    /// A command or another call of a tool.
    Command,
    /// A file that was read or changed, with what was changed.
    File,
    /// Output of a call.
    Output,
    /// Output of a call that failed, and errors of the agent itself.
    Error,
}

impl PieceKind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [PieceKind; 7] = [
        PieceKind::User,
        PieceKind::Assistant,
        PieceKind::Reasoning,
        PieceKind::Command,
        PieceKind::File,
        PieceKind::Output,
        PieceKind::Error,
    ];

    /// The name that `--in` takes.
    pub fn place(self) -> &'static str {
        match self {
            PieceKind::User => "user",
            PieceKind::Assistant | PieceKind::Reasoning => "assistant",
            PieceKind::Command => "command",
            PieceKind::File => "file",
            PieceKind::Output | PieceKind::Error => "output",
        }
    }

    /// Whether it is somebody's words, and not a call or its output.
    pub fn is_prose(self) -> bool {
        matches!(self, PieceKind::User | PieceKind::Assistant | PieceKind::Reasoning)
    }
}

/// One piece of text that can be found: a prompt, an answer, a call, an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// Id of the event it is from.
    pub event: String,
    /// When, if the log says so.
    pub at: Option<Timestamp>,
    /// The words, redacted; long outputs are cut in the middle.
    pub text: String,
    /// What can be asked for by name: `tool:bash`, `file:src/cart.rs`, `model:…`, `is:failed`.
    pub labels: Vec<String>,
}

/// Pieces of one turn that follow each other. A short turn is one passage, a long one is
/// several, so that an append changes only the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Line of work.
    pub thread: String,
    /// The turn's number on that thread; 0 before the first message.
    pub turn: u32,
    /// Which piece of the thread its first piece is, from 0.
    pub first: u32,
    /// False on a branch that was rewound.
    pub live: bool,
    /// Its pieces, never none.
    pub pieces: Vec<Piece>,
}

impl Passage {
    /// Id of the event of its first piece: names the passage within its session.
    pub fn event(&self) -> &str {
        self.pieces.first().map_or("", |piece| piece.event.as_str())
    }

    /// The earliest time on any piece.
    pub fn at(&self) -> Option<Timestamp> {
        self.pieces.iter().filter_map(|piece| piece.at).min()
    }
}
