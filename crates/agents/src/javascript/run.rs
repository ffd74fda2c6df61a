//! Walks through a script as its engine would, as far as its values are known.
//!
//! Values that only a real run produces, above all the answers of tools, are not guessed. Both
//! sides of a choice that depends on one are walked, and calls in them are not sure.

use std::rc::Rc;

use super::scope::Scope;
use super::syntax::{Expr, Field, Function, Item, Pattern, Statement};
use super::value::{Value, number_text, same};
use super::{Call, Cell, Part, Piece, Print, Told};

/// The most steps of one walk.
const STEPS_MAX: usize = 20_000;
/// Greatest nesting of function calls.
const DEPTH_MAX: usize = 24;
/// The most tool calls in one script.
const CALLS_MAX: usize = 200;

/// How control leaves a statement.
pub(super) enum Flow {
    On,
    Return(Value),
    Break,
    Continue,
    Throw,
}

/// The state of a walk. Its functions return `None` if the script is too long or not understood.
pub(super) struct Run {
    pub cell: Cell,
    steps: usize,
    depth: usize,
    /// Above 0 if this code may not run, or may run more than once.
    pub unsure: usize,
    /// Above 0 if several functions run concurrently.
    pub beside: usize,
    /// True if the function may have returned already.
    returned: bool,
}

pub(super) fn run(statements: &[Statement]) -> Option<Cell> {
    let mut run = Run { cell: Cell::default(), steps: 0, depth: 0, unsure: 0, beside: 0, returned: false };
    run.all(statements, &Rc::new(Scope::default()))?;
    Some(run.cell)
}

impl Run {
    /// Runs statements in order. After one that may have left the block, the others are not sure.
    fn all(&mut self, statements: &[Statement], scope: &Rc<Scope>) -> Option<Flow> {
        let before = self.unsure;
        for statement in statements {
            let flow = self.one(statement, scope)?;
            if !matches!(flow, Flow::On) {
                self.unsure = before;
                return Some(flow);
            }
        }
        self.unsure = before;
        Some(Flow::On)
    }

    /// Walks code that may not run. True if it may break or continue the enclosing loop.
    fn maybe(&mut self, statement: &Statement, scope: &Rc<Scope>) -> Option<bool> {
        self.unsure += 1;
        let flow = self.one(statement, scope)?;
        self.unsure -= 1;
        self.returned |= matches!(flow, Flow::Return(_));
        // A script that throws shows it in its output.
        Some(matches!(flow, Flow::Break | Flow::Continue))
    }

    fn is_sure(&self) -> bool {
        self.unsure == 0 && !self.returned
    }

    fn step(&mut self) -> Option<()> {
        self.steps += 1;
        (self.steps < STEPS_MAX && self.cell.calls.len() < CALLS_MAX).then_some(())
    }

    fn one(&mut self, statement: &Statement, scope: &Rc<Scope>) -> Option<Flow> {
        self.step()?;
        match statement {
            Statement::Let(pattern, value) => {
                let value = match value {
                    Some(value) => self.value(value, scope)?,
                    None => Value::Undefined,
                };
                self.bind(pattern, value, scope)?;
            }
            Statement::Value(value) => drop(self.value(value, scope)?),
            Statement::Block(statements) => return self.all(statements, &Scope::inside(scope)),
            Statement::If(test, then, other) => {
                let test = self.value(test, scope)?.is_true();
                match (test, other) {
                    (Some(true), _) => return self.one(then, scope),
                    (Some(false), Some(other)) => return self.one(other, scope),
                    (Some(false), None) => {}
                    (None, other) => {
                        let mut leaves = self.maybe(then, scope)?;
                        if let Some(other) = other {
                            leaves |= self.maybe(other, scope)?;
                        }
                        self.unsure += usize::from(leaves);
                    }
                }
            }
            Statement::Each(pattern, list, body, keys) => {
                return self.each(pattern, list, body, *keys, scope);
            }
            Statement::For(first, test, step, body) => {
                let inside = Scope::inside(scope);
                if let Statement::Block(first) = &**first {
                    for statement in first {
                        self.one(statement, &inside)?;
                    }
                }
                return self.while_true(test.as_ref(), step.as_ref(), body, &inside, false);
            }
            Statement::While(test, body, first) => {
                return self.while_true(Some(test), None, body, scope, *first);
            }
            Statement::Try(body, caught, handler, last) => {
                let mut flow = self.all(body, &Scope::inside(scope))?;
                if let Some(handler) = handler {
                    self.cell.catches = true;
                    let inside = Scope::inside(scope);
                    if let Some(caught) = caught {
                        self.bind(caught, Value::Unknown, &inside)?;
                    }
                    if matches!(flow, Flow::Throw) {
                        flow = self.all(handler, &inside)?;
                    } else {
                        self.unsure += 1;
                        self.all(handler, &inside)?;
                        self.unsure -= 1;
                    }
                }
                self.all(last, &Scope::inside(scope))?;
                return Some(flow);
            }
            Statement::Return(value) => {
                let value = match value {
                    Some(value) => self.value(value, scope)?,
                    None => Value::Undefined,
                };
                return Some(Flow::Return(value));
            }
            Statement::Throw(value) => {
                self.value(value, scope)?;
                return Some(Flow::Throw);
            }
            Statement::Break => return Some(Flow::Break),
            Statement::Continue => return Some(Flow::Continue),
        }
        Some(Flow::On)
    }

    fn each(
        &mut self,
        pattern: &Pattern,
        list: &Expr,
        body: &Statement,
        keys: bool,
        scope: &Rc<Scope>,
    ) -> Option<Flow> {
        let list = self.value(list, scope)?;
        let values = match (&list, keys) {
            (Value::List(values), false) => values.borrow().clone(),
            (Value::List(values), true) => {
                (0..values.borrow().len()).map(|at| Value::text(at.to_string())).collect()
            }
            (Value::Fields(fields), true) => {
                fields.borrow().iter().map(|(name, _)| Value::text(name.clone())).collect()
            }
            _ => {
                let inside = Scope::inside(scope);
                self.bind(pattern, Value::Unknown, &inside)?;
                let leaves = self.maybe(body, &inside)?;
                self.unsure += usize::from(leaves);
                return Some(Flow::On);
            }
        };
        let before = self.unsure;
        for value in values {
            let inside = Scope::inside(scope);
            self.bind(pattern, value, &inside)?;
            // A jump that may have left this round may have left the loop.
            let flow = match body {
                Statement::Block(body) => self.round(body, &inside)?,
                other => self.one(other, &inside)?,
            };
            match flow {
                Flow::Break => break,
                Flow::On | Flow::Continue => {}
                leaves => {
                    self.unsure = before;
                    return Some(leaves);
                }
            }
        }
        self.unsure = before;
        Some(Flow::On)
    }

    /// Runs the body of a loop once. Anything that it makes unsure stays unsure in the next rounds.
    fn round(&mut self, body: &[Statement], scope: &Rc<Scope>) -> Option<Flow> {
        for statement in body {
            let flow = self.one(statement, scope)?;
            if !matches!(flow, Flow::On) {
                return Some(flow);
            }
        }
        Some(Flow::On)
    }

    fn while_true(
        &mut self,
        test: Option<&Expr>,
        step: Option<&Expr>,
        body: &Statement,
        scope: &Rc<Scope>,
        mut first: bool,
    ) -> Option<Flow> {
        loop {
            self.step()?;
            let go_on = match test {
                Some(test) if !first => self.value(test, scope)?.is_true(),
                _ => Some(true),
            };
            first = false;
            match go_on {
                Some(false) => return Some(Flow::On),
                Some(true) => match self.one(body, scope)? {
                    Flow::Break => return Some(Flow::On),
                    Flow::On | Flow::Continue => {}
                    leaves => return Some(leaves),
                },
                None => {
                    let leaves = self.maybe(body, scope)?;
                    self.unsure += usize::from(leaves);
                    return Some(Flow::On);
                }
            }
            if let Some(step) = step {
                self.value(step, scope)?;
            }
        }
    }

    fn bind(&mut self, pattern: &Pattern, value: Value, scope: &Rc<Scope>) -> Option<()> {
        match pattern {
            Pattern::Name(name) => scope.declare(name, value),
            Pattern::Default(inner, other) => {
                let value = match value {
                    Value::Undefined => self.value(other, scope)?,
                    value => value,
                };
                self.bind(inner, value, scope)?;
            }
            Pattern::Rest(inner) => self.bind(inner, value, scope)?,
            Pattern::List(patterns) => {
                let known = match &value {
                    Value::List(values) => Some(values.borrow().clone()),
                    _ => None,
                };
                for (at, pattern) in patterns.iter().enumerate() {
                    let value = match (&known, pattern) {
                        (Some(values), Some(Pattern::Rest(_))) => {
                            Value::list(values.get(at..).unwrap_or_default().to_vec())
                        }
                        (Some(values), _) => values.get(at).cloned().unwrap_or(Value::Undefined),
                        (None, _) => Value::Unknown,
                    };
                    if let Some(pattern) = pattern {
                        self.bind(pattern, value, scope)?;
                    }
                }
            }
            Pattern::Fields(patterns, rest) => {
                for (name, pattern) in patterns {
                    let value = self.member(&value, &Value::text(name.clone()));
                    self.bind(pattern, value, scope)?;
                }
                if let Some(rest) = rest {
                    scope.declare(rest, Value::Unknown);
                }
            }
        }
        Some(())
    }

    pub(super) fn value(&mut self, expr: &Expr, scope: &Rc<Scope>) -> Option<Value> {
        self.step()?;
        Some(match expr {
            Expr::Undefined => Value::Undefined,
            Expr::Null => Value::Null,
            Expr::Bool(is) => Value::Bool(*is),
            Expr::Number(number) => Value::Number(*number),
            Expr::Text(text) => Value::text(text.clone()),
            Expr::Opaque => Value::Unknown,
            Expr::Name(name) => scope.get(name).unwrap_or_else(|| Value::Given(name.clone(), None)),
            Expr::Template(texts, values) => {
                let mut pieces = Vec::new();
                for (at, text) in texts.iter().enumerate() {
                    pieces.push(Piece::Words(text.clone()));
                    if let Some(value) = values.get(at) {
                        pieces.extend(self.value(value, scope)?.pieces());
                    }
                }
                Value::Text(joined(pieces))
            }
            Expr::List(items) => Value::list(self.items(items, scope)?),
            Expr::Fields(fields) => {
                let mut all: Vec<(String, Value)> = Vec::new();
                for field in fields {
                    match field {
                        Field::Named(key, value) => {
                            let key = self.value(key, scope)?.known_text();
                            let value = self.value(value, scope)?;
                            if let Some(key) = key {
                                all.retain(|(known, _)| *known != key);
                                all.push((key, value));
                            }
                        }
                        Field::Spread(value) => match self.value(value, scope)? {
                            Value::Fields(more) => {
                                for (key, value) in more.borrow().iter() {
                                    all.retain(|(known, _)| known != key);
                                    all.push((key.clone(), value.clone()));
                                }
                            }
                            Value::Undefined | Value::Null | Value::Bool(false) => {}
                            Value::Told(told) => {
                                for (name, part) in [("output", Part::Output), ("exit_code", Part::Exit)] {
                                    all.retain(|(known, _)| known != name);
                                    let told = Told { call: told.call, part: Some(part) };
                                    all.push((name.to_owned(), Value::Told(told)));
                                }
                            }
                            // An unknown value may overwrite any earlier field.
                            _ => all.iter_mut().for_each(|(_, value)| *value = Value::Unknown),
                        },
                    }
                }
                Value::fields(all)
            }
            Expr::Function(function) => Value::Function(function.clone(), scope.clone()),
            Expr::Member(of, key) => {
                let of = self.value(of, scope)?;
                let key = self.value(key, scope)?;
                self.member(&of, &key)
            }
            Expr::Call(called, items) => {
                let called = self.value(called, scope)?;
                let items = self.items(items, scope)?;
                self.call(&called, items)?
            }
            Expr::New(made) => {
                let given = match &**made {
                    Expr::Call(called, items) => {
                        let called = self.value(called, scope)?;
                        (called, self.items(items, scope)?)
                    }
                    other => (self.value(other, scope)?, Vec::new()),
                };
                self.call_back(&given.1)?;
                Value::Unknown
            }
            Expr::Unary(sign, value) => {
                let value = self.value(value, scope)?;
                match (*sign, value) {
                    ("!", value) => value.is_true().map_or(Value::Unknown, |is| Value::Bool(!is)),
                    ("-", Value::Number(number)) => Value::Number(-number),
                    ("void", _) => Value::Undefined,
                    _ => Value::Unknown,
                }
            }
            Expr::Binary(sign, left, right) => self.binary(sign, left, right, scope)?,
            Expr::Choice(test, then, other) => match self.value(test, scope)?.is_true() {
                Some(true) => self.value(then, scope)?,
                Some(false) => self.value(other, scope)?,
                None => {
                    self.unsure += 1;
                    let then = self.value(then, scope)?;
                    let other = self.value(other, scope)?;
                    self.unsure -= 1;
                    // A part of an answer with a fallback for when it is missing.
                    match (then, other) {
                        (told @ Value::Told(_), _) | (_, told @ Value::Told(_)) => told,
                        _ => Value::Unknown,
                    }
                }
            },
            Expr::Assign(sign, target, value) => {
                let mut value = self.value(value, scope)?;
                if *sign != "=" {
                    let old = self.value(target, scope)?;
                    value = match *sign {
                        "+=" => plus(&old, &value),
                        _ => Value::Unknown,
                    };
                }
                if !self.is_sure() {
                    value = Value::Unknown;
                }
                self.assign(target, value.clone(), scope)?;
                value
            }
            Expr::Step(by, target) => {
                let old = self.value(target, scope)?;
                let new = match (&old, self.is_sure()) {
                    (Value::Number(number), true) => Value::Number(number + by),
                    _ => Value::Unknown,
                };
                self.assign(target, new, scope)?;
                old
            }
        })
    }

    fn assign(&mut self, target: &Expr, value: Value, scope: &Rc<Scope>) -> Option<()> {
        match target {
            Expr::Name(name) => scope.set(name, value),
            Expr::Member(of, key) => {
                let of = self.value(of, scope)?;
                let key = self.value(key, scope)?;
                match (of, key.known_text(), key) {
                    (Value::Fields(fields), Some(key), _) => {
                        let mut fields = fields.borrow_mut();
                        fields.retain(|(known, _)| *known != key);
                        fields.push((key, value));
                    }
                    (Value::List(values), _, Value::Number(at)) if at >= 0.0 && at <= CALLS_MAX as f64 => {
                        let mut values = values.borrow_mut();
                        let at = at as usize;
                        if at >= values.len() {
                            values.resize(at + 1, Value::Undefined);
                        }
                        if let Some(slot) = values.get_mut(at) {
                            *slot = value;
                        }
                    }
                    _ => {}
                }
            }
            // `[a, b] = …` assigns to known names: their values are unknown from here on.
            Expr::List(items) => {
                for item in items {
                    self.assign(&item.value, Value::Unknown, scope)?;
                }
            }
            _ => {}
        }
        Some(())
    }

    fn binary(&mut self, sign: &str, left: &Expr, right: &Expr, scope: &Rc<Scope>) -> Option<Value> {
        let left = self.value(left, scope)?;
        let skips = match sign {
            "&&" => left.is_true().map(|is| !is),
            "||" => left.is_true(),
            "??" => match left {
                Value::Undefined | Value::Null => Some(false),
                Value::Unknown | Value::Told(_) => None,
                _ => Some(true),
            },
            _ => Some(false),
        };
        match skips {
            Some(true) => return Some(left),
            Some(false) => {}
            None => {
                self.unsure += 1;
                let right = self.value(right, scope)?;
                self.unsure -= 1;
                // `r.output || "(nothing)"` shows the output if there is any.
                return Some(match (sign, &left) {
                    ("||" | "??", Value::Told(_)) => left,
                    ("&&", _) if matches!(right, Value::Told(_)) => right,
                    _ => Value::Unknown,
                });
            }
        }
        let right = self.value(right, scope)?;
        let both = |left: &Value, right: &Value| match (left, right) {
            (Value::Number(left), Value::Number(right)) => Some((*left, *right)),
            _ => None,
        };
        Some(match sign {
            "&&" | "||" | "??" | "," => right,
            "+" => plus(&left, &right),
            "===" | "==" => same(&left, &right).map_or(Value::Unknown, Value::Bool),
            "!==" | "!=" => same(&left, &right).map_or(Value::Unknown, |is| Value::Bool(!is)),
            _ => match (sign, both(&left, &right)) {
                ("<", Some((left, right))) => Value::Bool(left < right),
                (">", Some((left, right))) => Value::Bool(left > right),
                ("<=", Some((left, right))) => Value::Bool(left <= right),
                (">=", Some((left, right))) => Value::Bool(left >= right),
                ("-", Some((left, right))) => Value::Number(left - right),
                ("*", Some((left, right))) => Value::Number(left * right),
                ("%", Some((left, right))) => Value::Number(left % right),
                ("/", Some((left, right))) => Value::Number(left / right),
                _ => Value::Unknown,
            },
        })
    }

    fn items(&mut self, items: &[Item], scope: &Rc<Scope>) -> Option<Vec<Value>> {
        let mut all = Vec::new();
        for item in items {
            let value = self.value(&item.value, scope)?;
            match value {
                Value::List(values) if item.spread => all.extend(values.borrow().iter().cloned()),
                _ => all.push(if item.spread { Value::Unknown } else { value }),
            }
        }
        Some(all)
    }

    /// Runs a function of the script.
    pub(super) fn apply(&mut self, function: &Function, scope: &Rc<Scope>, items: &[Value]) -> Option<Value> {
        if self.depth >= DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let returned = std::mem::take(&mut self.returned);
        // Code that may not have been called may have had no effect.
        self.unsure += usize::from(returned);
        let inside = Scope::inside(scope);
        for (at, pattern) in function.parameters.iter().enumerate() {
            let value = match pattern {
                Pattern::Rest(_) => Value::list(items.get(at..).unwrap_or_default().to_vec()),
                _ => items.get(at).cloned().unwrap_or(Value::Undefined),
            };
            self.bind(pattern, value, &inside)?;
        }
        let flow = self.all(&function.body, &inside)?;
        // It may have returned another value before.
        let is_sure = !std::mem::replace(&mut self.returned, returned);
        self.unsure -= usize::from(returned);
        self.depth -= 1;
        Some(match flow {
            Flow::Return(value) if is_sure => value,
            Flow::Return(_) => Value::Unknown,
            _ => Value::Undefined,
        })
    }

    /// Calls functions that were passed to code with unknown effects.
    pub(super) fn call_back(&mut self, items: &[Value]) -> Option<()> {
        self.unsure += 1;
        for item in items {
            if let Value::Function(function, scope) = item {
                let unknown = vec![Value::Unknown; function.parameters.len()];
                self.apply(function, scope, &unknown)?;
            }
        }
        self.unsure -= 1;
        Some(())
    }

    /// Records a call of a tool.
    pub(super) fn tool(&mut self, name: &str, items: &[Value]) -> Value {
        let args = items.first().and_then(|value| value.tree(0));
        self.cell.calls.push(Call { tool: name.to_owned(), args, is_sure: self.is_sure() });
        Value::Told(Told { call: self.cell.calls.len() - 1, part: None })
    }

    /// Records a printed value.
    pub(super) fn print(&mut self, value: Option<&Value>) {
        let is_sure = self.is_sure() && self.beside == 0;
        let print = match value {
            _ if !is_sure => Print::Maybe,
            Some(value @ (Value::List(_) | Value::Fields(_))) => Print::Json(value.shape(0)),
            Some(value) => match value.pieces().as_slice() {
                [Piece::Json(shape)] => Print::Json(shape.clone()),
                pieces => Print::Text(pieces.to_vec()),
            },
            None => Print::Any,
        };
        self.cell.prints.push(print);
    }
}

fn plus(left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => Value::Number(left + right),
        (Value::Text(_), _) | (_, Value::Text(_)) => {
            let mut pieces = left.pieces();
            pieces.extend(right.pieces());
            Value::Text(joined(pieces))
        }
        (Value::Told(_), _) | (_, Value::Told(_)) => {
            Value::Text(joined([left.pieces(), right.pieces()].concat()))
        }
        _ => Value::Unknown,
    }
}

/// Merges adjacent literal pieces.
pub(super) fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut all: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (all.last_mut(), piece) {
            (Some(Piece::Words(words)), Piece::Words(more)) => words.push_str(&more),
            (Some(Piece::Any), Piece::Any) => {}
            (_, piece) => all.push(piece),
        }
    }
    if all.len() > 1 {
        all.retain(|piece| !matches!(piece, Piece::Words(words) if words.is_empty()));
    }
    all
}

/// The text of a property key.
pub(super) fn key_text(key: &Value) -> Option<String> {
    match key {
        Value::Number(number) => Some(number_text(*number)),
        key => key.known_text(),
    }
}
