//! Finds the tool calls and the output of a short JavaScript script, as far as possible without
//! running it.
//!
//! Codex lets its model write a script instead of a call (0.144 on). The log then has the script
//! and its output, and often nothing else about the commands in it. A parser of the whole language
//! (oxc, swc, boa) would add megabytes and minutes of compiling, and still leave the larger part:
//! which values reach a call, and where each appears in the output. Models write a small subset of
//! the language. This module reads that subset, and reports everything else as not read.

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

/// The longest script that is read, in bytes.
const SCRIPT_BYTES_MAX: usize = 256 * 1024;

/// The calls and output of a script.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Cell {
    /// Tool calls, in order.
    pub calls: Vec<Call>,
    /// Printed texts, in order.
    pub prints: Vec<Print>,
    /// True if it may catch an error that a tool throws.
    pub catches: bool,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub tool: String,
    /// Its first argument, as far as it is known.
    pub args: Option<Tree>,
    /// True if it is made exactly once, unless the script fails before it.
    pub is_sure: bool,
}

/// One text that is printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Print {
    Text(Vec<Piece>),
    Json(Shape),
    Any,
    /// It may be missing, appear elsewhere, or appear more than once.
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

/// Where the parts of an answer are in a JSON value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Shape {
    Told(Told),
    Each(Vec<Shape>),
    Fields(Vec<(String, Shape)>),
    Any,
}

/// The answer of a call, or a part of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// Index of the call in the script.
    pub call: usize,
    /// The part of the answer. `None` for the whole answer.
    pub part: Option<Part>,
}

/// A part of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    Output,
    Exit,
    Other,
}

/// Finds the calls and output of a script. `None` if it cannot be parsed.
pub(crate) fn read(script: &str) -> Option<Cell> {
    if script.len() > SCRIPT_BYTES_MAX {
        return None;
    }
    run::run(&parse::statements(&token::tokens(script)?)?)
}

#[cfg(test)]
mod tests;
