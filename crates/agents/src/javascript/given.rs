//! The built-ins of the language and of Codex: methods, `Promise`, `Object`, `tools`, `text`.

use super::run::{Run, joined, key_text};
use super::value::{Value, same};
use super::{Part, Piece, Told};

/// The most copies that `repeat` makes.
const REPEAT_MAX: usize = 64;

impl Run {
    /// A field, an item or a method of a value.
    pub(super) fn member(&mut self, of: &Value, key: &Value) -> Value {
        let name = key_text(key);
        match (of, name) {
            (Value::Fields(fields), Some(name)) => {
                let found =
                    fields.borrow().iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
                found.unwrap_or(match name.as_str() {
                    "then" | "catch" | "finally" => Value::Given(name, Some(Box::new(of.clone()))),
                    _ => Value::Undefined,
                })
            }
            (Value::List(values), Some(name)) => match name.parse::<usize>() {
                Ok(at) => values.borrow().get(at).cloned().unwrap_or(Value::Undefined),
                Err(_) if name == "length" => Value::Number(values.borrow().len() as f64),
                Err(_) => Value::Given(name, Some(Box::new(of.clone()))),
            },
            (Value::Text(_), Some(name)) if name == "length" => of
                .known_text()
                .map_or(Value::Unknown, |text| Value::Number(text.encode_utf16().count() as f64)),
            (Value::Told(told), Some(name)) => match (name.as_str(), told.part) {
                ("output" | "stdout", None) => part(told, Part::Output),
                ("exit_code" | "exitCode", None) => part(told, Part::Exit),
                // `Promise.allSettled` wraps each answer.
                ("value", None) => of.clone(),
                ("status" | "reason" | "session_id", None) | ("length", Some(_)) => Value::Unknown,
                ("then" | "catch" | "finally", None) | (_, Some(_)) => {
                    Value::Given(name, Some(Box::new(of.clone())))
                }
                _ => part(told, Part::Other),
            },
            (Value::Unknown | Value::Undefined | Value::Null, _) => Value::Unknown,
            (Value::Given(above, None), Some(name)) => Value::Given(format!("{above}.{name}"), None),
            (_, Some(name)) => Value::Given(name, Some(Box::new(of.clone()))),
            _ => Value::Unknown,
        }
    }

    /// Calls a value. `None` if the script is not understood.
    pub(super) fn call(&mut self, called: &Value, items: Vec<Value>) -> Option<Value> {
        match called {
            Value::Function(function, scope) => self.apply(function, scope, &items),
            Value::Given(name, None) => self.global(name, items),
            Value::Given(name, Some(of)) => self.method(name, of, items),
            _ => {
                self.call_back(&items)?;
                Some(Value::Unknown)
            }
        }
    }

    fn global(&mut self, name: &str, items: Vec<Value>) -> Option<Value> {
        if let Some(tool) = name.strip_prefix("tools.") {
            return Some(self.tool(tool, &items));
        }
        let first = items.first().cloned().unwrap_or(Value::Undefined);
        Some(match name {
            "text" => {
                self.print(Some(&first));
                Value::Undefined
            }
            "image" | "audio" | "generatedImage" => {
                self.print(None);
                Value::Undefined
            }
            "Promise.all" | "Promise.resolve" | "Object.freeze" | "structuredClone" => first,
            "Promise.allSettled" | "Promise.any" | "Promise.race" => {
                self.cell.catches = true;
                settled(name, &first)
            }
            "JSON.stringify" => match &first {
                Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {
                    first.tree(0).map_or(Value::Unknown, |tree| Value::text(tree.to_string()))
                }
                value => match value.known_tree(0).filter(|_| items.len() == 1) {
                    Some(tree) => Value::text(tree.to_string()),
                    None => Value::Text(vec![Piece::Json(value.shape(0))]),
                },
            },
            "String" => match &first {
                Value::List(_) | Value::Fields(_) | Value::Unknown => Value::Text(vec![Piece::Any]),
                value => Value::Text(value.pieces()),
            },
            "Boolean" => first.is_true().map_or(Value::Unknown, Value::Bool),
            "Object.entries" | "Object.keys" | "Object.values" => match &first {
                Value::Fields(fields) => {
                    let fields = fields.borrow();
                    Value::list(match name {
                        "Object.entries" => fields
                            .iter()
                            .map(|(name, value)| Value::list(vec![Value::text(name.clone()), value.clone()]))
                            .collect(),
                        "Object.keys" => fields.iter().map(|(name, _)| Value::text(name.clone())).collect(),
                        _ => fields.iter().map(|(_, value)| value.clone()).collect(),
                    })
                }
                _ => Value::Unknown,
            },
            "Array.isArray" => match &first {
                Value::List(_) => Value::Bool(true),
                Value::Unknown | Value::Told(_) => Value::Unknown,
                _ => Value::Bool(false),
            },
            _ => {
                self.call_back(&items)?;
                Value::Unknown
            }
        })
    }

    fn method(&mut self, name: &str, of: &Value, items: Vec<Value>) -> Option<Value> {
        match (name, of) {
            ("then", _) => {
                let value = self.with(&items, 0, std::slice::from_ref(of))?;
                self.call_back(items.get(1..).unwrap_or_default())?;
                return Some(if items.is_empty() { of.clone() } else { value });
            }
            ("catch", _) => {
                self.cell.catches = true;
                self.call_back(&items)?;
                return Some(of.clone());
            }
            ("finally", _) => {
                self.with(&items, 0, &[])?;
                return Some(of.clone());
            }
            (_, Value::List(values)) => {
                let values = values.borrow().clone();
                return self.of_list(name, of, &values, items);
            }
            (_, Value::Told(told)) => {
                self.call_back(&items)?;
                // A method that keeps part of an output still gives that output.
                let keeps = matches!(
                    name,
                    "trim"
                        | "trimEnd"
                        | "trimStart"
                        | "slice"
                        | "substring"
                        | "toString"
                        | "replace"
                        | "replaceAll"
                );
                return Some(if keeps && told.part.is_some() { of.clone() } else { Value::Unknown });
            }
            (_, Value::Text(_)) => {
                if let Some(text) = of.known_text()
                    && let Some(value) = of_text(name, &text, &items)
                {
                    return Some(value);
                }
                if matches!(name, "trim" | "trimEnd" | "toString") {
                    return Some(of.clone());
                }
            }
            (_, Value::Number(_)) if name == "toString" => return Some(Value::Text(of.pieces())),
            _ => {}
        }
        self.call_back(&items)?;
        Some(Value::Unknown)
    }

    /// Calls one of the items with these values.
    fn with(&mut self, items: &[Value], at: usize, values: &[Value]) -> Option<Value> {
        match items.get(at) {
            Some(function @ (Value::Function(..) | Value::Given(..))) => self.call(function, values.to_vec()),
            _ => Some(Value::Unknown),
        }
    }

    fn of_list(&mut self, name: &str, list: &Value, values: &[Value], items: Vec<Value>) -> Option<Value> {
        let first = items.first();
        let number = |at: usize| match items.get(at) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        };
        let each = |run: &mut Run, at: usize, value: &Value| {
            run.with(&items, 0, &[value.clone(), Value::Number(at as f64), list.clone()])
        };
        Some(match name {
            "map" | "flatMap" | "forEach" => {
                // Async callbacks run concurrently, so the order of their output is unknown.
                let is_async = matches!(first, Some(Value::Function(function, _)) if function.is_async);
                let beside = usize::from(is_async && values.len() > 1);
                self.beside += beside;
                let mut made = Vec::new();
                for (at, value) in values.iter().enumerate() {
                    match each(self, at, value)? {
                        Value::List(inner) if name == "flatMap" => {
                            made.extend(inner.borrow().iter().cloned())
                        }
                        value => made.push(value),
                    }
                }
                self.beside -= beside;
                if name == "forEach" { Value::Undefined } else { Value::list(made) }
            }
            "filter" | "find" | "some" | "every" | "findIndex" => {
                let mut kept = Vec::new();
                let mut known = true;
                for (at, value) in values.iter().enumerate() {
                    match each(self, at, value)?.is_true() {
                        Some(true) => kept.push(value.clone()),
                        Some(false) => {}
                        None => known = false,
                    }
                }
                match (name, known) {
                    (_, false) => Value::Unknown,
                    ("filter", _) => Value::list(kept),
                    ("find", _) => kept.into_iter().next().unwrap_or(Value::Undefined),
                    ("some", _) => Value::Bool(!kept.is_empty()),
                    ("every", _) => Value::Bool(kept.len() == values.len()),
                    _ => Value::Unknown,
                }
            }
            "reduce" => {
                let mut rest = values.iter().enumerate();
                let mut sum = match items.get(1) {
                    Some(start) => start.clone(),
                    None => rest.next().map_or(Value::Undefined, |(_, value)| value.clone()),
                };
                for (at, value) in rest {
                    sum = self.with(&items, 0, &[sum, value.clone(), Value::Number(at as f64)])?;
                }
                sum
            }
            "push" => {
                if let Value::List(list) = list {
                    let is_sure = self.unsure == 0;
                    let more = items.iter().map(|item| if is_sure { item.clone() } else { Value::Unknown });
                    list.borrow_mut().extend(more);
                }
                Value::Unknown
            }
            "join" => {
                let between = match first {
                    Some(between) => between.known_text(),
                    None => Some(",".to_owned()),
                };
                let Some(between) = between else { return Some(Value::Unknown) };
                let mut pieces = Vec::new();
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        pieces.push(Piece::Words(between.clone()));
                    }
                    pieces.extend(value.pieces());
                }
                Value::Text(if pieces.is_empty() {
                    vec![Piece::Words(String::new())]
                } else {
                    joined(pieces)
                })
            }
            "concat" => {
                let mut all = values.to_vec();
                for item in &items {
                    match item {
                        Value::List(more) => all.extend(more.borrow().iter().cloned()),
                        other => all.push(other.clone()),
                    }
                }
                Value::list(all)
            }
            "slice" => {
                let at = |number: f64| match number < 0.0 {
                    true => values.len().saturating_sub(-number as usize),
                    false => (number as usize).min(values.len()),
                };
                let from = if items.is_empty() { Some(0.0) } else { number(0) };
                let to = if items.len() < 2 { Some(values.len() as f64) } else { number(1) };
                match from.zip(to) {
                    Some((from, to)) => {
                        Value::list(values.get(at(from)..at(to)).unwrap_or_default().to_vec())
                    }
                    None => Value::Unknown,
                }
            }
            "entries" => {
                let pair =
                    |(at, value): (usize, &Value)| Value::list(vec![Value::Number(at as f64), value.clone()]);
                Value::list(values.iter().enumerate().map(pair).collect())
            }
            "keys" => Value::list((0..values.len()).map(|at| Value::Number(at as f64)).collect()),
            "values" => list.clone(),
            "at" => match number(0) {
                Some(at) if at < 0.0 => {
                    let at = values.len().checked_sub(-at as usize);
                    at.and_then(|at| values.get(at)).cloned().unwrap_or(Value::Undefined)
                }
                Some(at) => values.get(at as usize).cloned().unwrap_or(Value::Undefined),
                None => Value::Unknown,
            },
            "reverse" => Value::list(values.iter().rev().cloned().collect()),
            "includes" => {
                let Some(first) = first else { return Some(Value::Bool(false)) };
                let found: Vec<Option<bool>> = values.iter().map(|value| same(value, first)).collect();
                match (found.contains(&Some(true)), found.contains(&None)) {
                    (true, _) => Value::Bool(true),
                    (false, false) => Value::Bool(false),
                    _ => Value::Unknown,
                }
            }
            _ => {
                self.call_back(&items)?;
                Value::Unknown
            }
        })
    }
}

/// The result of `Promise.allSettled` for these promises. For the other combinators, the first to
/// settle is not known.
fn settled(name: &str, promises: &Value) -> Value {
    match promises {
        Value::List(values) if name == "Promise.allSettled" => {
            let settled = |value: &Value| match value {
                Value::Told(_) => value.clone(),
                other => Value::fields(vec![
                    ("status".to_owned(), Value::Unknown),
                    ("value".to_owned(), other.clone()),
                ]),
            };
            Value::list(values.borrow().iter().map(settled).collect())
        }
        _ => Value::Unknown,
    }
}

fn part(told: &Told, part: Part) -> Value {
    Value::Told(Told { call: told.call, part: Some(part) })
}

/// A method of a known string.
fn of_text(name: &str, text: &str, items: &[Value]) -> Option<Value> {
    let word = |at: usize| items.get(at).and_then(Value::known_text);
    let made = |text: String| Some(Value::text(text));
    match name {
        "trim" => made(text.trim().to_owned()),
        "trimEnd" => made(text.trim_end().to_owned()),
        "trimStart" => made(text.trim_start().to_owned()),
        "toString" => made(text.to_owned()),
        "toUpperCase" => made(text.to_uppercase()),
        "toLowerCase" => made(text.to_lowercase()),
        "split" => {
            let by = word(0)?;
            let parts: Vec<Value> = match by.is_empty() {
                true => return None,
                false => text.split(by.as_str()).map(Value::text).collect(),
            };
            Some(Value::list(parts))
        }
        "replace" => made(text.replacen(&word(0)?, &word(1).filter(|with| !with.contains('$'))?, 1)),
        "replaceAll" => made(text.replace(&word(0)?, &word(1).filter(|with| !with.contains('$'))?)),
        "concat" => made(text.to_owned() + &items.iter().map(Value::known_text).collect::<Option<String>>()?),
        "startsWith" => Some(Value::Bool(text.starts_with(&word(0)?))),
        "endsWith" => Some(Value::Bool(text.ends_with(&word(0)?))),
        "includes" => Some(Value::Bool(text.contains(&word(0)?))),
        "repeat" => match items.first() {
            Some(Value::Number(times)) if (0.0..=REPEAT_MAX as f64).contains(times) => {
                made(text.repeat(*times as usize))
            }
            _ => None,
        },
        _ => None,
    }
}
