//! One kind of secret, as data.

use super::named::Names;

/// How a kind of secret is recognized.
///
/// A pattern is tried where a keyword stands, so it begins with it (or up to
/// [`Rule::before`] bytes earlier). The secret is the first group that took
/// part in the match, or the whole match if there is none; of several groups
/// the last is a bare value, those before it stand in quotes. Patterns are over
/// bytes: `\w`, `\s` and `\d` are ASCII.
pub(super) struct Rule {
    /// Its name, as it stands in the marker: `[a-z0-9-]`, never changed once released.
    pub(super) name: &'static str,
    /// Whose secret it is, or [`ANY`].
    pub(super) service: &'static str,
    /// What it is, in a few words.
    pub(super) what: &'static str,
    /// Text without any of these has no secret of this kind.
    pub(super) keywords: &'static [&'static str],
    /// Whether keywords are compared letter by letter or in any case.
    pub(super) case: Case,
    /// Regular expression from the keyword on; empty if `names` reads the value.
    pub(super) pattern: &'static str,
    /// How the names are made beside which a value stands, if it is read that way.
    pub(super) names: Option<Names>,
    /// Bytes before the keyword at which a match may begin.
    pub(super) before: usize,
    /// Bytes from the keyword on that are looked at. Grows when a match fills it.
    pub(super) reach: usize,
    /// Least entropy of the secret, in bits a byte.
    pub(super) entropy_min: Option<f32>,
    /// What else the secret must be.
    pub(super) judge: Judge,
    /// Whether the match must not go on from a word before it.
    pub(super) edge: bool,
}

/// How keywords are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// Letter by letter.
    Exact,
    /// Capitals and small letters are the same.
    Any,
}

/// What a match must be, beyond its shape. The order is the order of trust: of
/// two findings in one place the first-named gives its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Judge {
    /// The body of a key block: holds a long run of base64.
    KeyBody,
    /// The shape says what it is; only made-up values are let go.
    Shape,
    /// Base64 of `user:password`.
    BasicAuth,
    /// A password in a URL: only what everybody writes there is let go.
    UrlPassword,
    /// A password at a place where only passwords stand.
    Password,
    /// It stands beside the name of its service: it must look random.
    Named,
    /// Anything could stand there: it must look random.
    Value,
}

/// The service of a secret that anybody may have made.
pub(super) const ANY: &str = "any";

/// Bytes looked at after a keyword, unless the rule says otherwise.
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
            reach: REACH,
            entropy_min: Some(2.6),
            judge: Judge::Shape,
            edge: true,
        }
    }

    /// A secret known by the name or place beside it.
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

    /// A value that has no shape of its own, beside the name of its service.
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

    /// Whether its beginning and its length alone say what it is: a service's own
    /// mark, as `ghp_`, and a bounded number of characters behind it.
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

    /// The same rule, looking this many bytes far.
    pub(super) const fn reach(self, bytes: usize) -> Rule {
        Rule { reach: bytes, ..self }
    }

    /// The same rule with another least entropy.
    pub(super) const fn entropy(self, bits: f32) -> Rule {
        Rule { entropy_min: Some(bits), ..self }
    }

    /// The same rule with another judge.
    pub(super) const fn judge(self, judge: Judge) -> Rule {
        Rule { judge, ..self }
    }

    /// The same rule for a match that may go on from a word.
    pub(super) const fn inside_words(self) -> Rule {
        Rule { edge: false, ..self }
    }

    /// The same rule, compared letter by letter.
    pub(super) const fn exact(self) -> Rule {
        Rule { case: Case::Exact, ..self }
    }
}

/// A pattern for `name = "value"` in the ways programs write it: a rest of the
/// name, quotes, an operator, quotes that may be escaped, and the value.
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
