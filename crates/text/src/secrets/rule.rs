//! One kind of secret, as data.

use std::ops::Range;

use super::named::Names;

/// True for bytes of one kind.
pub(super) type IsByte = fn(u8) -> bool;

/// Finds the bytes of a secret in a match.
pub(super) type FindBody = fn(&[u8]) -> Option<Range<usize>>;

/// How a kind of secret is recognized.
///
/// A pattern is matched at a keyword, so it begins with it (or up to [`Rule::before`] bytes
/// earlier). The secret is the first group that took part in the match, or the whole match if there
/// is none; of several groups the last is a bare value, and those before it are in quotes. Patterns
/// are over bytes: `\w`, `\s` and `\d` are ASCII.
pub(super) struct Rule {
    /// Its name in markers: `[a-z0-9-]`, never changed once released.
    pub(super) name: &'static str,
    /// The service that issues the secret, or [`ANY`].
    pub(super) service: &'static str,
    /// A description in a few words.
    pub(super) what: &'static str,
    /// Text without any of these has no secret of this kind.
    pub(super) keywords: &'static [&'static str],
    /// How keywords are compared.
    pub(super) case: Case,
    /// Regular expression from the keyword on. Empty if `names` reads the value.
    pub(super) pattern: &'static str,
    /// The names beside the value, if it is found by its name.
    pub(super) names: Option<Names>,
    /// How many bytes before the keyword a match may begin.
    pub(super) before: usize,
    /// The bytes right before the keyword in every match: how many there are at least, and of which
    /// kind.
    pub(super) front: Option<(usize, IsByte)>,
    /// Finds the secret in a match, for a pattern without groups.
    pub(super) body: Option<FindBody>,
    /// Bytes read from the keyword on. Grows when a match fills it.
    pub(super) reach: usize,
    /// The least entropy of the secret, in bits per byte.
    pub(super) entropy_min: Option<f32>,
    /// A further condition for the secret.
    pub(super) judge: Judge,
    /// True if a match must begin at a word boundary.
    pub(super) edge: bool,
}

/// How keywords are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// Compares upper and lower case as different.
    Exact,
    /// Ignores upper and lower case.
    Any,
}

/// The condition for a match, beyond its shape. The order is the order of trust: of two findings in
/// one place the earlier in this list gives its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Judge {
    /// The body of a key block, with a long run of base64.
    KeyBody,
    /// A distinctive shape: only made-up values pass.
    Shape,
    /// Base64 of `user:password`.
    BasicAuth,
    /// A password in a URL: only well-known placeholders pass.
    UrlPassword,
    /// A password in a context where only passwords appear.
    Password,
    /// A value beside the name of its service: it must look random.
    Named,
    /// A value in any context: it must look random.
    Value,
}

/// The service of a secret that any program may have made.
pub(super) const ANY: &str = "any";

/// Bytes read after a keyword, unless the rule has its own limit.
const REACH: usize = 512;

impl Rule {
    /// A token that begins with its keyword and is known by its shape.
    pub(super) const fn token(
        name: &'static str,
        service: &'static str,
        what: &'static str,
        keywords: &'static [&'static str],
        pattern: &'static str,
    ) -> Rule {
        Rule {
            name,
            service,
            what,
            keywords,
            case: Case::Exact,
            pattern,
            names: None,
            before: 0,
            front: None,
            body: None,
            reach: REACH,
            entropy_min: Some(2.6),
            judge: Judge::Shape,
            edge: true,
        }
    }

    /// A secret known by the name or context beside it.
    pub(super) const fn named(
        name: &'static str,
        service: &'static str,
        what: &'static str,
        keywords: &'static [&'static str],
        pattern: &'static str,
    ) -> Rule {
        let rule = Rule::token(name, service, what, keywords, pattern);
        Rule { case: Case::Any, edge: false, ..rule }
    }

    /// A value without a distinctive shape, beside the name of its service.
    pub(super) const fn beside(
        name: &'static str,
        service: &'static str,
        what: &'static str,
        keywords: &'static [&'static str],
        pattern: &'static str,
    ) -> Rule {
        let rule = Rule::named(name, service, what, keywords, pattern);
        Rule { judge: Judge::Named, entropy_min: Some(3.0), ..rule }
    }

    /// A value beside a name that ends with one of the keywords.
    pub(super) const fn value_of(
        name: &'static str,
        what: &'static str,
        keywords: &'static [&'static str],
        names: Names,
    ) -> Rule {
        let rule = Rule::named(name, ANY, what, keywords, "");
        Rule { names: Some(names), ..rule }
    }

    /// True if the prefix and the length alone identify it: a service's own prefix, as `ghp_`, and
    /// a bounded number of characters after it.
    pub(super) fn is_marked(&self) -> bool {
        let is_mark = |word: &&str| word.len() >= 4 && word.ends_with(['_', '-']);
        self.judge == Judge::Shape
            && self.case == Case::Exact
            && self.keywords.iter().all(is_mark)
            && !self.pattern.contains(",}")
    }

    /// The same rule, whose match may begin this many bytes before the keyword.
    pub(super) const fn before(self, bytes: usize) -> Rule {
        Rule { before: bytes, ..self }
    }

    /// The same rule, for a match that has so many such bytes right before the keyword: a quick look
    /// before the pattern is tried.
    pub(super) const fn front(self, bytes: usize, is_one: IsByte) -> Rule {
        Rule { front: Some((bytes, is_one)), ..self }
    }

    /// The same rule, with a function that says where the secret is in a match. It costs much less
    /// than a group.
    pub(super) const fn body(self, body: FindBody) -> Rule {
        Rule { body: Some(body), ..self }
    }

    /// Whether a match is a command: it may go over many words of a line, and never over its end.
    pub(super) fn is_command(&self) -> bool {
        self.pattern.contains(r"[^\n")
    }

    /// The same rule, looking this many bytes far.
    pub(super) const fn reach(self, bytes: usize) -> Rule {
        Rule { reach: bytes, ..self }
    }

    /// The same rule with another least entropy.
    pub(super) const fn entropy(self, bits: f32) -> Rule {
        Rule { entropy_min: Some(bits), ..self }
    }

    /// The same rule with another condition.
    pub(super) const fn judge(self, judge: Judge) -> Rule {
        Rule { judge, ..self }
    }

    /// The same rule for a match that may begin inside a word.
    pub(super) const fn inside_words(self) -> Rule {
        Rule { edge: false, ..self }
    }

    /// The same rule, with case-sensitive keywords.
    pub(super) const fn exact(self) -> Rule {
        Rule { case: Case::Exact, ..self }
    }
}

/// A letter of base64, of the standard alphabet or of the one for URLs.
pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// A letter or a digit.
pub(super) fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// A digit of a number written as hexadecimal.
pub(super) fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

/// A decimal digit.
pub(super) fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// No blank and no control character.
pub(super) fn is_graphic(byte: u8) -> bool {
    byte.is_ascii_graphic()
}

/// A pattern for `name = "value"` in the forms that programs write: the rest of the name, quotes,
/// an operator, quotes that may be escaped, and the value.
macro_rules! assigned {
    ($name:literal, $value:literal) => {
        concat!(
            "(?i:",
            $name,
            r#")[ \t\w.-]{0,32}[\s"'`\\]{0,4}(?:=>|\|\||\?=|[=:,>])[\s"'`=:>\\]{0,8}("#,
            $value,
            ")"
        )
    };
}
pub(super) use assigned;
