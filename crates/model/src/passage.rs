//! The text that search indexes: a turn, piece by piece.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The kind of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PieceKind {
    /// A text of a person.
    User,
    /// A text of the model.
    Assistant,
    /// Reasoning of the model, if a turn has no other text of it.
    Reasoning,
    /// A command or another call of a tool.
    Command,
    /// A file that was read or changed, with the changes.
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

    /// True for a text of a person or the model, and false for a call or its output.
    pub fn is_prose(self) -> bool {
        matches!(self, PieceKind::User | PieceKind::Assistant | PieceKind::Reasoning)
    }
}

/// One piece of text that can be found: a prompt, an answer, a call, an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The kind of text.
    pub kind: PieceKind,
    /// Id of the event it is from.
    pub event: String,
    /// Its time, if it is in the log.
    pub at: Option<Timestamp>,
    /// The text, redacted. Long outputs are cut in the middle.
    pub text: String,
    /// Labels that a query can ask for: `tool:bash`, `file:src/cart.rs`, `model:…`, `is:failed`.
    pub labels: Vec<String>,
}

/// Consecutive pieces of one turn. A short turn is one passage, a long one is several, so that an
/// append changes only the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// The name of the thread.
    pub thread: String,
    /// The turn's number on that thread. 0 before the first message.
    pub turn: u32,
    /// Index of its first piece on the thread, from 0.
    pub first: u32,
    /// False on a branch that was rewound.
    pub live: bool,
    /// Its pieces. Never empty.
    pub pieces: Vec<Piece>,
}

impl Passage {
    /// Id of the event of its first piece, which identifies the passage within its session.
    pub fn event(&self) -> &str {
        self.pieces.first().map_or("", |piece| piece.event.as_str())
    }

    /// The earliest time of any piece.
    pub fn at(&self) -> Option<Timestamp> {
        self.pieces.iter().filter_map(|piece| piece.at).min()
    }
}
