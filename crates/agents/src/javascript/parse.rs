//! The statements and values of a script.
//!
//! The part of JavaScript that models write into a tool call: no classes, generators,
//! labels or `switch`. A script with anything else is not read at all.

use std::rc::Rc;

use super::syntax::{Expr, Field, Function, Item, Pattern, Statement};
use super::token::{Placed, Token};

/// Greatest nesting of brackets and statements.
const DEPTH_MAX: usize = 40;

/// The statements of a script. `None` if any of it is not understood.
pub(super) fn statements(tokens: &[Placed]) -> Option<Vec<Statement>> {
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let mut all = Vec::new();
    while parser.at < tokens.len() {
        parser.statement(&mut all)?;
    }
    Some(all)
}

struct Parser<'t> {
    tokens: &'t [Placed],
    at: usize,
    depth: usize,
}

/// Binary operators, grouped by precedence.
const BINARY: &[&[&str]] = &[
    &["??", "||"],
    &["&&"],
    &["|", "^", "&"],
    &["===", "!==", "==", "!="],
    &["<", ">", "<=", ">=", "instanceof", "in"],
    &["<<", ">>", ">>>"],
    &["+", "-"],
    &["*", "/", "%"],
    &["**"],
];

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.ahead(0)
    }

    fn ahead(&self, by: usize) -> Option<&'t Token> {
        self.tokens.get(self.at + by).map(|placed| &placed.token)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(found)) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(found)) if found == word)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, sign: &str) -> Option<()> {
        self.take(sign).then_some(())
    }

    fn name(&mut self) -> Option<String> {
        let Some(Token::Word(word)) = self.peek() else { return None };
        self.at += 1;
        Some(word.clone())
    }

    fn starts_line(&self) -> bool {
        self.tokens.get(self.at).is_none_or(|placed| placed.first)
    }

    /// Goes one level deeper, if the limit allows it.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    fn end(&mut self) -> Option<()> {
        (self.take(";") || self.is("}") || self.starts_line()).then_some(())
    }

    fn block(&mut self) -> Option<Vec<Statement>> {
        self.need("{")?;
        let mut all = Vec::new();
        while !self.take("}") {
            self.peek()?;
            self.deeper(|parser| parser.statement(&mut all))?;
        }
        Some(all)
    }

    fn one(&mut self) -> Option<Box<Statement>> {
        let mut all = Vec::new();
        self.deeper(|parser| parser.statement(&mut all))?;
        Some(Box::new(match all.len() {
            1 => all.pop()?,
            _ => Statement::Block(all),
        }))
    }

    fn statement(&mut self, all: &mut Vec<Statement>) -> Option<()> {
        if self.take(";") {
            return Some(());
        }
        if self.is("{") {
            all.push(Statement::Block(self.block()?));
            return Some(());
        }
        let word = match self.peek()? {
            Token::Word(word) => word.as_str(),
            _ => "",
        };
        match word {
            "const" | "let" | "var" if !matches!(self.ahead(1), Some(Token::Sign("." | "=" | "("))) => {
                self.at += 1;
                self.declared(all)?;
                return self.end();
            }
            "function" => {
                self.at += 1;
                return self.declared_function(all, false);
            }
            "async" if matches!(self.ahead(1), Some(Token::Word(word)) if word == "function") => {
                self.at += 2;
                return self.declared_function(all, true);
            }
            "class" | "switch" | "import" | "export" | "with" => return None,
            "if" => all.push(self.choice()?),
            "for" => all.push(self.every()?),
            "while" => {
                self.at += 1;
                let test = self.in_brackets()?;
                all.push(Statement::While(test, self.one()?, false));
            }
            "do" => {
                self.at += 1;
                let body = self.one()?;
                self.take_word("while").then_some(())?;
                all.push(Statement::While(self.in_brackets()?, body, true));
                self.take(";");
            }
            "try" => all.push(self.tried()?),
            "return" => {
                self.at += 1;
                let value = if self.is(";") || self.is("}") || self.starts_line() {
                    None
                } else {
                    Some(self.value()?)
                };
                all.push(Statement::Return(value));
                return self.end();
            }
            "throw" => {
                self.at += 1;
                all.push(Statement::Throw(self.value()?));
                return self.end();
            }
            "break" | "continue" => {
                self.at += 1;
                all.push(if word == "break" { Statement::Break } else { Statement::Continue });
                return self.end();
            }
            _ => {
                all.push(Statement::Value(self.value()?));
                return self.end();
            }
        }
        Some(())
    }

    fn declared(&mut self, all: &mut Vec<Statement>) -> Option<()> {
        loop {
            let pattern = self.pattern()?;
            let value = if self.take("=") { Some(self.assigned()?) } else { None };
            all.push(Statement::Let(pattern, value));
            if !self.take(",") {
                return Some(());
            }
        }
    }

    fn declared_function(&mut self, all: &mut Vec<Statement>, is_async: bool) -> Option<()> {
        let name = self.name()?;
        let function = self.function(is_async)?;
        // A function may be called above the line that declares it.
        all.insert(0, Statement::Let(Pattern::Name(name), Some(function)));
        Some(())
    }

    fn in_brackets(&mut self) -> Option<Expr> {
        self.need("(")?;
        let value = self.value()?;
        self.need(")")?;
        Some(value)
    }

    fn choice(&mut self) -> Option<Statement> {
        self.at += 1;
        let test = self.in_brackets()?;
        let then = self.one()?;
        let other = if self.take_word("else") { Some(self.one()?) } else { None };
        Some(Statement::If(test, then, other))
    }

    fn every(&mut self) -> Option<Statement> {
        self.at += 1;
        self.take_word("await");
        self.need("(")?;
        let mut first = Vec::new();
        if ["const", "let", "var"].iter().any(|word| self.is_word(word)) {
            self.at += 1;
            let start = self.at;
            let pattern = self.pattern()?;
            let of = self.is_word("of");
            if of || self.is_word("in") {
                self.at += 1;
                let list = self.value()?;
                self.need(")")?;
                return Some(Statement::Each(pattern, list, self.one()?, !of));
            }
            self.at = start;
            self.declared(&mut first)?;
        } else if !self.is(";") {
            first.push(Statement::Value(self.value()?));
        }
        self.need(";")?;
        let test = if self.is(";") { None } else { Some(self.value()?) };
        self.need(";")?;
        let step = if self.is(")") { None } else { Some(self.value()?) };
        self.need(")")?;
        Some(Statement::For(Box::new(Statement::Block(first)), test, step, self.one()?))
    }

    fn tried(&mut self) -> Option<Statement> {
        self.at += 1;
        let body = self.block()?;
        let (mut caught, mut handler) = (None, None);
        if self.take_word("catch") {
            if self.take("(") {
                caught = Some(self.pattern()?);
                self.need(")")?;
            }
            handler = Some(self.block()?);
        }
        let last = if self.take_word("finally") { self.block()? } else { Vec::new() };
        Some(Statement::Try(body, caught, handler, last))
    }

    fn pattern(&mut self) -> Option<Pattern> {
        let pattern = if self.take("[") {
            let mut all = Vec::new();
            while !self.take("]") {
                if self.take(",") {
                    all.push(None);
                    continue;
                }
                all.push(Some(self.pattern_or_default()?));
                if !self.is("]") {
                    self.need(",")?;
                }
            }
            Pattern::List(all)
        } else if self.take("{") {
            let (mut all, mut rest) = (Vec::new(), None);
            while !self.take("}") {
                if self.take("...") {
                    rest = Some(self.name()?);
                } else {
                    let name = match self.peek()? {
                        Token::Text(text) => {
                            self.at += 1;
                            text.clone()
                        }
                        _ => self.name()?,
                    };
                    let mut inner = Pattern::Name(name.clone());
                    if self.take(":") {
                        inner = self.pattern_or_default()?;
                    } else if self.take("=") {
                        inner = Pattern::Default(Box::new(inner), self.assigned()?);
                    }
                    all.push((name, inner));
                }
                if !self.is("}") {
                    self.need(",")?;
                }
            }
            Pattern::Fields(all, rest)
        } else if self.take("...") {
            return Some(Pattern::Rest(Box::new(self.deeper(Self::pattern)?)));
        } else {
            Pattern::Name(self.name()?)
        };
        Some(pattern)
    }

    fn pattern_or_default(&mut self) -> Option<Pattern> {
        let pattern = self.deeper(Self::pattern)?;
        Some(match self.take("=") {
            true => Pattern::Default(Box::new(pattern), self.assigned()?),
            false => pattern,
        })
    }

    /// A parameter list and a body, at the opening bracket.
    fn function(&mut self, is_async: bool) -> Option<Expr> {
        let parameters = self.parameters()?;
        let body = self.block()?;
        Some(Expr::Function(Rc::new(Function { parameters, body, is_async })))
    }

    fn parameters(&mut self) -> Option<Vec<Pattern>> {
        self.need("(")?;
        let mut all = Vec::new();
        while !self.take(")") {
            all.push(self.pattern_or_default()?);
            if !self.is(")") {
                self.need(",")?;
            }
        }
        Some(all)
    }

    fn value(&mut self) -> Option<Expr> {
        let mut value = self.assigned()?;
        while self.take(",") {
            let next = self.assigned()?;
            value = Expr::Binary(",", Box::new(value), Box::new(next));
        }
        Some(value)
    }

    fn assigned(&mut self) -> Option<Expr> {
        self.deeper(|parser| {
            if let Some(function) = parser.arrow() {
                return function;
            }
            let value = parser.chosen()?;
            const SIGNS: &[&str] =
                &["=", "+=", "-=", "*=", "/=", "%=", "??=", "||=", "&&=", "|=", "&=", "^="];
            let Some(Token::Sign(sign)) = parser.peek() else { return Some(value) };
            let Some(sign) = SIGNS.iter().find(|known| *known == sign) else { return Some(value) };
            parser.at += 1;
            let right = parser.assigned()?;
            Some(Expr::Assign(sign, Box::new(value), Box::new(right)))
        })
    }

    /// An arrow function, if one begins here. The inner `None`: it is not understood.
    fn arrow(&mut self) -> Option<Option<Expr>> {
        let start = self.at;
        let is_async = self.is_word("async")
            && matches!(self.ahead(1), Some(Token::Sign("(") | Token::Word(_)))
            && !matches!(self.ahead(1), Some(Token::Word(word)) if word == "function");
        self.at += usize::from(is_async);
        let parameters = match self.peek() {
            Some(Token::Word(_)) if matches!(self.ahead(1), Some(Token::Sign("=>"))) => {
                self.name().map(|name| vec![Pattern::Name(name)])
            }
            Some(Token::Sign("(")) if self.arrow_behind() => self.parameters(),
            _ => None,
        };
        let Some(parameters) = parameters.filter(|_| self.take("=>")) else {
            self.at = start;
            return None;
        };
        let body = if self.is("{") {
            self.block()
        } else {
            self.assigned().map(|value| vec![Statement::Return(Some(value))])
        };
        Some(body.map(|body| Expr::Function(Rc::new(Function { parameters, body, is_async }))))
    }

    /// True if `=>` follows the bracket that closes this one.
    fn arrow_behind(&self) -> bool {
        let mut open = 0_usize;
        for (at, placed) in self.tokens.iter().enumerate().skip(self.at) {
            match placed.token {
                Token::Sign("(" | "[" | "{") => open += 1,
                Token::Sign(")" | "]" | "}") => open = open.saturating_sub(1),
                _ => {}
            }
            if open == 0 {
                return matches!(
                    self.tokens.get(at + 1).map(|placed| &placed.token),
                    Some(Token::Sign("=>"))
                );
            }
        }
        false
    }

    fn chosen(&mut self) -> Option<Expr> {
        let test = self.binary(0)?;
        if !self.take("?") {
            return Some(test);
        }
        let then = self.assigned()?;
        self.need(":")?;
        let other = self.assigned()?;
        Some(Expr::Choice(Box::new(test), Box::new(then), Box::new(other)))
    }

    fn binary(&mut self, level: usize) -> Option<Expr> {
        let Some(signs) = BINARY.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            let found = match self.peek() {
                Some(Token::Sign(sign)) => signs.iter().find(|known| *known == sign),
                Some(Token::Word(word)) => signs.iter().find(|known| **known == word.as_str()),
                _ => None,
            };
            let Some(sign) = found else { return Some(left) };
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = Expr::Binary(sign, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Option<Expr> {
        for sign in ["!", "-", "+", "~"] {
            if self.take(sign) {
                let value = self.deeper(Self::unary)?;
                return Some(Expr::Unary(sign, Box::new(value)));
            }
        }
        for (sign, by) in [("++", 1.0), ("--", -1.0)] {
            if self.take(sign) {
                let target = self.deeper(Self::unary)?;
                let by = Box::new(Expr::Number(by));
                return Some(Expr::Assign("+=", Box::new(target), by));
            }
        }
        for word in ["await", "typeof", "void", "delete"] {
            if self.is_word(word) && !matches!(self.ahead(1), Some(Token::Sign("=" | "." | "," | ")"))) {
                self.at += 1;
                let value = self.deeper(Self::unary)?;
                // `await` changes no value here: a promise equals its result.
                return Some(if word == "await" {
                    value
                } else {
                    Expr::Unary(if word == "void" { "void" } else { "?" }, Box::new(value))
                });
            }
        }
        let value = self.called()?;
        if !self.starts_line() {
            for (sign, by) in [("++", 1.0), ("--", -1.0)] {
                if self.take(sign) {
                    return Some(Expr::Step(by, Box::new(value)));
                }
            }
        }
        Some(value)
    }

    fn called(&mut self) -> Option<Expr> {
        let mut value = self.primary()?;
        loop {
            let optional = self.take("?.");
            if self.is("(") {
                value = Expr::Call(Box::new(value), self.arguments()?);
            } else if self.take("[") {
                let key = self.value()?;
                self.need("]")?;
                value = Expr::Member(Box::new(value), Box::new(key));
            } else if optional || self.take(".") {
                value = Expr::Member(Box::new(value), Box::new(Expr::Text(self.name()?)));
            } else if let Some(Token::Template(texts, values)) = self.peek() {
                self.at += 1;
                let is_raw = matches!(&value, Expr::Member(_, key) if matches!(&**key, Expr::Text(key) if key == "raw"));
                value = match is_raw {
                    true => {
                        let texts = texts.iter().map(|(_, written)| written.clone()).collect();
                        Expr::Template(texts, self.inner(values)?)
                    }
                    false => Expr::Opaque,
                };
            } else {
                return Some(value);
            }
        }
    }

    /// The values of a template.
    fn inner(&self, values: &[Vec<Placed>]) -> Option<Vec<Expr>> {
        let value = |tokens: &Vec<Placed>| {
            let mut inner = Parser { tokens, at: 0, depth: self.depth + 1 };
            let value = inner.value()?;
            (inner.at == tokens.len()).then_some(value)
        };
        values.iter().map(value).collect()
    }

    fn arguments(&mut self) -> Option<Vec<Item>> {
        self.need("(")?;
        self.items(")")
    }

    fn items(&mut self, end: &str) -> Option<Vec<Item>> {
        let mut all = Vec::new();
        while !self.take(end) {
            if self.take(",") {
                all.push(Item { value: Expr::Undefined, spread: false });
                continue;
            }
            let spread = self.take("...");
            all.push(Item { value: self.assigned()?, spread });
            if !self.is(end) {
                self.need(",")?;
            }
        }
        Some(all)
    }

    fn primary(&mut self) -> Option<Expr> {
        let token = self.peek()?;
        self.at += 1;
        Some(match token {
            Token::Text(text) => Expr::Text(text.clone()),
            Token::Number(number) => Expr::Number(*number),
            Token::Regex => Expr::Opaque,
            Token::Template(texts, values) => {
                let texts = texts.iter().map(|(text, _)| text.clone()).collect();
                Expr::Template(texts, self.inner(values)?)
            }
            Token::Sign("(") => {
                let value = self.value()?;
                self.need(")")?;
                value
            }
            Token::Sign("[") => Expr::List(self.items("]")?),
            Token::Sign("{") => Expr::Fields(self.fields()?),
            Token::Sign(_) => return None,
            Token::Word(word) => match word.as_str() {
                "true" => Expr::Bool(true),
                "false" => Expr::Bool(false),
                "null" => Expr::Null,
                "undefined" => Expr::Undefined,
                "async" if self.take_word("function") => self.expression_function(true)?,
                "function" => self.expression_function(false)?,
                "new" => {
                    let made = self.deeper(Self::called)?;
                    Expr::New(Box::new(made))
                }
                "class" | "yield" | "super" => return None,
                _ => Expr::Name(word.clone()),
            },
        })
    }

    fn expression_function(&mut self, is_async: bool) -> Option<Expr> {
        if !self.is("(") {
            self.name()?;
        }
        self.function(is_async)
    }

    fn fields(&mut self) -> Option<Vec<Field>> {
        let mut all = Vec::new();
        while !self.take("}") {
            if self.take("...") {
                all.push(Field::Spread(self.assigned()?));
            } else {
                all.push(self.field()?);
            }
            if !self.is("}") {
                self.need(",")?;
            }
        }
        Some(all)
    }

    fn field(&mut self) -> Option<Field> {
        let is_async = self.is_word("async") && matches!(self.ahead(1), Some(Token::Word(_)));
        self.at += usize::from(is_async);
        let token = self.peek()?;
        self.at += 1;
        let key = match token {
            Token::Word(word) => Expr::Text(word.clone()),
            Token::Text(text) => Expr::Text(text.clone()),
            Token::Number(number) => Expr::Text(number.to_string()),
            Token::Sign("[") => {
                let key = self.value()?;
                self.need("]")?;
                key
            }
            _ => return None,
        };
        if self.take(":") {
            return Some(Field::Named(key, self.assigned()?));
        }
        if self.is("(") {
            return Some(Field::Named(key, self.function(is_async)?));
        }
        match token {
            Token::Word(word) => Some(Field::Named(key, Expr::Name(word.clone()))),
            _ => None,
        }
    }
}
