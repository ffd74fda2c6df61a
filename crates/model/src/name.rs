//! A short text that stands on every event: copying it is cheap.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// Equal, ordered, hashed and written as the text it is.
#[derive(Clone)]
pub(crate) enum Name {
    /// A word of our own. Not shared, so that no two threads count its users.
    Fixed(&'static str),
    /// One from a log.
    Shared(Arc<str>),
}

impl Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            Name::Fixed(text) => text,
            Name::Shared(text) => text,
        }
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Name::Shared(text.into())
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Name::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_name_is_its_text_wherever_it_comes_from() {
        let (fixed, shared) = (Name::Fixed("m"), Name::from("m".to_owned()));
        assert_eq!(fixed, shared);
        assert!(fixed < Name::from("n".to_owned()));
        assert_eq!(HashSet::from([fixed.clone()]).get(&shared), Some(&fixed));
        assert_eq!(format!("{fixed:?}{shared:?}"), "\"m\"\"m\"");
        assert_eq!(serde_json::to_string(&shared).unwrap(), "\"m\"");
        assert_eq!(serde_json::from_str::<Name>("\"m\"").unwrap(), fixed);
    }
}
