//! The values of a script, as far as they are known before it runs.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Map, Number, Value as Tree, json};

use super::scope::Scope;
use super::syntax::Function;
use super::{Piece, Shape, Told};

/// Greatest nesting of a value that is converted.
const LEVELS_MAX: usize = 12;

/// A value, as far as it is known before the script runs.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Vec<Piece>),
    List(Rc<RefCell<Vec<Value>>>),
    Fields(Rc<RefCell<Vec<(String, Value)>>>),
    Function(Rc<Function>, Rc<Scope>),
    /// The answer of a call, or a part of the answer.
    Told(Told),
    /// A built-in, by its name: `tools`, `Promise.all`, or a method of a value.
    Given(String, Option<Box<Value>>),
    Unknown,
}

impl Value {
    pub(super) fn text(text: impl Into<String>) -> Value {
        Value::Text(vec![Piece::Words(text.into())])
    }

    pub(super) fn list(values: Vec<Value>) -> Value {
        Value::List(Rc::new(RefCell::new(values)))
    }

    pub(super) fn fields(fields: Vec<(String, Value)>) -> Value {
        Value::Fields(Rc::new(RefCell::new(fields)))
    }

    /// The string, if all of it is known.
    pub(super) fn known_text(&self) -> Option<String> {
        match self {
            Value::Text(pieces) => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Words(words) => Some(words.as_str()),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }

    /// Its pieces when it is embedded in a string.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        match self {
            Value::Text(pieces) => pieces.clone(),
            Value::Told(told) => vec![Piece::Told(told.clone())],
            Value::Number(number) => vec![Piece::Words(number_text(*number))],
            Value::Bool(is) => vec![Piece::Words(is.to_string())],
            Value::Null => vec![Piece::Words("null".to_owned())],
            Value::Undefined => vec![Piece::Words("undefined".to_owned())],
            _ => vec![Piece::Any],
        }
    }

    /// Its truth value, if known.
    pub(super) fn is_true(&self) -> Option<bool> {
        Some(match self {
            Value::Undefined | Value::Null => false,
            Value::Bool(is) => *is,
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Text(_) => !self.known_text()?.is_empty(),
            Value::List(_) | Value::Fields(_) | Value::Function(..) | Value::Given(..) => true,
            // A call answers with an object, whose parts are unknown.
            Value::Told(told) if told.part.is_none() => true,
            Value::Told(_) | Value::Unknown => return None,
        })
    }

    /// As JSON, for logged arguments. Unknown parts are left out.
    pub(super) fn tree(&self, level: usize) -> Option<Tree> {
        if level > LEVELS_MAX {
            return None;
        }
        Some(match self {
            Value::Null => Tree::Null,
            Value::Bool(is) => json!(is),
            Value::Number(number) => whole(*number).map_or_else(|| json!(number), Tree::Number),
            Value::Text(_) => Tree::String(self.known_text()?),
            Value::List(values) => {
                values.borrow().iter().map(|value| value.tree(level + 1).unwrap_or(Tree::Null)).collect()
            }
            Value::Fields(fields) => {
                let mut map = Map::new();
                for (name, value) in fields.borrow().iter() {
                    if let Some(value) = value.tree(level + 1) {
                        map.insert(name.clone(), value);
                    }
                }
                Tree::Object(map)
            }
            _ => return None,
        })
    }

    /// As JSON, if all of it is known.
    pub(super) fn known_tree(&self, level: usize) -> Option<Tree> {
        if level > LEVELS_MAX {
            return None;
        }
        match self {
            Value::List(values) => values.borrow().iter().map(|value| value.known_tree(level + 1)).collect(),
            Value::Fields(fields) => {
                let pair =
                    |(name, value): &(String, Value)| Some((name.clone(), value.known_tree(level + 1)?));
                fields.borrow().iter().map(pair).collect::<Option<Map<_, _>>>().map(Tree::Object)
            }
            value => value.tree(level),
        }
    }

    /// Where the parts of an answer are in its JSON form.
    pub(super) fn shape(&self, level: usize) -> Shape {
        match self {
            Value::Told(told) => Shape::Told(told.clone()),
            Value::Text(pieces) => match pieces.as_slice() {
                [Piece::Told(told)] => Shape::Told(told.clone()),
                _ => Shape::Any,
            },
            Value::List(values) if level < LEVELS_MAX => {
                Shape::Each(values.borrow().iter().map(|value| value.shape(level + 1)).collect())
            }
            Value::Fields(fields) if level < LEVELS_MAX => Shape::Fields(
                fields.borrow().iter().map(|(name, value)| (name.clone(), value.shape(level + 1))).collect(),
            ),
            _ => Shape::Any,
        }
    }
}

fn whole(number: f64) -> Option<Number> {
    (number.fract() == 0.0 && number.abs() < 9e15).then(|| Number::from(number as i64))
}

pub(super) fn number_text(number: f64) -> String {
    whole(number).map_or_else(|| number.to_string(), |number| number.to_string())
}

pub(super) fn same(left: &Value, right: &Value) -> Option<bool> {
    Some(match (left, right) {
        (Value::Undefined | Value::Null, Value::Undefined | Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Number(left), Value::Number(right)) => left == right,
        (Value::Text(_), Value::Text(_)) => left.known_text()? == right.known_text()?,
        (
            Value::Undefined | Value::Null | Value::Bool(_) | Value::Number(_),
            Value::Undefined
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::List(_)
            | Value::Fields(_),
        ) => false,
        _ => return None,
    })
}
