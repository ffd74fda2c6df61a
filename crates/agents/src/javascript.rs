//! What a short script of JavaScript calls and prints, as far as it can be told without
//! running it.
//!
//! Codex lets its model write a script instead of a call (0.144 on). The log then has the
//! script and what it printed, and often nothing else of the commands in it. A parser of
//! the whole language (oxc, swc, boa) would add megabytes and minutes of compiling, and
//! still leave the larger part: which values reach a call, and which of them stand where
//! in the output. Models write a small part of the language; this reads that part, and
//! says of anything else that it is not read.

mod given;
mod parse;
mod run;
mod scope;
mod syntax;
mod token;
mod told;
mod value;

use serde::{Deserialize, Serialize};
use serde_json::Value as Tree;

pub(crate) use told::{Seen, seen};

/// Bytes of a script that is read.
const SCRIPT_BYTES_MAX: usize = 256 * 1024;

/// What a script does.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Cell {
    /// Calls of tools, in order.
    pub calls: Vec<Call>,
    /// What it prints, in order.
    pub prints: Vec<Print>,
    /// It may catch what a tool throws.
    pub catches: bool,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub tool: String,
    /// What of its first argument is known.
    pub args: Option<Tree>,
    /// It is made exactly once, unless the script fails before it.
    pub is_sure: bool,
}

/// One text that is printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Print {
    Text(Vec<Piece>),
    Json(Shape),
    Any,
    /// It may not be printed, or elsewhere, or more than once.
    Maybe,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Piece {
    Words(String),
    Told(Told),
    Json(Shape),
    Any,
}

/// Where in a JSON value the parts of an answer stand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Shape {
    Told(Told),
    Each(Vec<Shape>),
    Fields(Vec<(String, Shape)>),
    Any,
}

/// What a call answers, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// Number of the call.
    pub call: usize,
    /// None: all of it.
    pub part: Option<Part>,
}

/// A part of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    Output,
    Exit,
    Other,
}

/// Reads what a script does. `None` if it cannot be read.
pub(crate) fn read(script: &str) -> Option<Cell> {
    if script.len() > SCRIPT_BYTES_MAX {
        return None;
    }
    run::run(&parse::statements(&token::tokens(script)?)?)
}

#[cfg(test)]
mod tests;
