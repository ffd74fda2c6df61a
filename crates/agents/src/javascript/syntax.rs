//! The syntax tree: expressions and statements as written.

use std::rc::Rc;

#[derive(Debug, Clone)]
pub(super) enum Expr {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    /// A regular expression, or anything else that is not evaluated.
    Opaque,
    Name(String),
    Template(Vec<String>, Vec<Expr>),
    List(Vec<Item>),
    Fields(Vec<Field>),
    Function(Rc<Function>),
    Member(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Item>),
    New(Box<Expr>),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    Assign(&'static str, Box<Expr>, Box<Expr>),
    /// `x++`, whose value is the old one.
    Step(f64, Box<Expr>),
}

#[derive(Debug, Clone)]
pub(super) struct Item {
    pub value: Expr,
    pub spread: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Field {
    Named(Expr, Expr),
    Spread(Expr),
}

#[derive(Debug)]
pub(super) struct Function {
    pub parameters: Vec<Pattern>,
    pub body: Vec<Statement>,
    pub is_async: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Pattern {
    Name(String),
    List(Vec<Option<Pattern>>),
    Fields(Vec<(String, Pattern)>, Option<String>),
    Default(Box<Pattern>, Expr),
    Rest(Box<Pattern>),
}

#[derive(Debug, Clone)]
pub(super) enum Statement {
    Let(Pattern, Option<Expr>),
    Value(Expr),
    Block(Vec<Statement>),
    If(Expr, Box<Statement>, Option<Box<Statement>>),
    For(Box<Statement>, Option<Expr>, Option<Expr>, Box<Statement>),
    /// `for (… of …)`. The flag is set for `in`.
    Each(Pattern, Expr, Box<Statement>, bool),
    /// A loop. The flag is set if the body runs before the condition.
    While(Expr, Box<Statement>, bool),
    Try(Vec<Statement>, Option<Pattern>, Option<Vec<Statement>>, Vec<Statement>),
    Return(Option<Expr>),
    Throw(Expr),
    Break,
    Continue,
}
