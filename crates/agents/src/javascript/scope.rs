//! The variables of a script.

use std::cell::RefCell;
use std::rc::Rc;

use super::value::Value;

/// Variables and their values.
#[derive(Debug, Default)]
pub(super) struct Scope {
    names: RefCell<Vec<(String, Value)>>,
    above: Option<Rc<Scope>>,
}

impl Scope {
    pub(super) fn inside(above: &Rc<Scope>) -> Rc<Scope> {
        Rc::new(Scope { names: RefCell::default(), above: Some(above.clone()) })
    }

    pub(super) fn get(&self, name: &str) -> Option<Value> {
        let found =
            self.names.borrow().iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        found.or_else(|| self.above.as_ref()?.get(name))
    }

    pub(super) fn declare(&self, name: &str, value: Value) {
        self.names.borrow_mut().push((name.to_owned(), value));
    }

    pub(super) fn set(&self, name: &str, value: Value) {
        let mut names = self.names.borrow_mut();
        if let Some((_, slot)) = names.iter_mut().rev().find(|(known, _)| known == name) {
            *slot = value;
        } else if let Some(above) = &self.above {
            drop(names);
            above.set(name, value);
        } else {
            names.push((name.to_owned(), value));
        }
    }
}
