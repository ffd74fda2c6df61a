//! How many secrets pass the scanner: random values in the shapes in which logs hold them.
//!
//! Each row is a shape and a way to draw values. A value that stands in the redacted text
//! is left whole; one of which five characters in a row stand there is left in part.

use retro_text::{redact, redact_json};

use super::Outcome;
use crate::failure::Failure;
use crate::page::Part;
use crate::repository::Repository;
use crate::table::table;

/// Values drawn for each row.
const TRIES: usize = 1_000;

/// Where drawing begins; another seed gives other values and much the same table.
const SEED: u64 = 20_260_101;

/// Characters in a row that give a part of a secret away.
const PART: usize = 5;

/// A shape of text, the characters of its values and their number, and how many values of
/// a hundred may stay.
struct Row {
    shape: &'static str,
    kind: Kind,
    length: usize,
    percent_max: usize,
}

/// What values are made of.
#[derive(Clone, Copy)]
enum Kind {
    /// Everything that can be typed.
    All,
    /// Everything but quotes and backslashes.
    Unquoted,
    Alnum,
    Letters,
    Lower,
    LowerDigits,
    Hex,
    Digits,
    Uuid,
}

// tidy: data
static ROWS: &[Row] = &[
    Row { shape: "A=1⏎DB_PASSWORD=VALUE⏎B=2", kind: Kind::All, length: 16, percent_max: 1 },
    Row { shape: "password='VALUE'", kind: Kind::Unquoted, length: 16, percent_max: 1 },
    Row { shape: "\"password\": \"VALUE\"", kind: Kind::Unquoted, length: 16, percent_max: 1 },
    Row { shape: "CLIENT_SECRET=VALUE", kind: Kind::All, length: 16, percent_max: 1 },
    Row { shape: "API_KEY=VALUE", kind: Kind::All, length: 16, percent_max: 1 },
    Row { shape: "deploy --token VALUE", kind: Kind::All, length: 16, percent_max: 1 },
    Row { shape: "DB_PASSWORD=VALUE", kind: Kind::Alnum, length: 12, percent_max: 5 },
    Row { shape: "DB_PASSWORD=VALUE", kind: Kind::Alnum, length: 16, percent_max: 5 },
    Row { shape: "DB_PASSWORD=VALUE", kind: Kind::Letters, length: 16, percent_max: 5 },
    Row { shape: "DB_PASSWORD=VALUE", kind: Kind::Lower, length: 16, percent_max: 100 },
    Row { shape: "DB_PASSWORD=VALUE", kind: Kind::Digits, length: 8, percent_max: 5 },
    Row { shape: "API_KEY=VALUE", kind: Kind::Alnum, length: 12, percent_max: 5 },
    Row { shape: "API_KEY=VALUE", kind: Kind::Alnum, length: 16, percent_max: 5 },
    Row { shape: "API_KEY=VALUE", kind: Kind::Alnum, length: 40, percent_max: 1 },
    Row { shape: "CLIENT_SECRET=VALUE", kind: Kind::LowerDigits, length: 32, percent_max: 5 },
    Row { shape: "SECRET_KEY=VALUE", kind: Kind::Alnum, length: 20, percent_max: 5 },
    Row { shape: "API_TOKEN=VALUE", kind: Kind::Hex, length: 32, percent_max: 5 },
    Row { shape: "API_TOKEN=VALUE", kind: Kind::Uuid, length: 36, percent_max: 1 },
    Row { shape: "Authorization: Bearer VALUE", kind: Kind::Alnum, length: 32, percent_max: 5 },
    Row { shape: "postgres://u:VALUE@h/db", kind: Kind::Alnum, length: 12, percent_max: 0 },
    Row { shape: "postgres://u:VALUE@h/db", kind: Kind::Letters, length: 12, percent_max: 0 },
    Row { shape: "define('DB_PASSWORD', 'VALUE')", kind: Kind::Alnum, length: 12, percent_max: 5 },
    Row { shape: "<password>VALUE</password>", kind: Kind::Alnum, length: 12, percent_max: 5 },
    Row { shape: "set -x DB_PASSWORD VALUE", kind: Kind::Alnum, length: 12, percent_max: 5 },
    Row { shape: "PASS=VALUE", kind: Kind::Alnum, length: 12, percent_max: 5 },
    Row { shape: "json {\"password\": VALUE}", kind: Kind::All, length: 16, percent_max: 1 },
    Row { shape: "json {\"env\": {\"DB_PASSWORD\": VALUE}}", kind: Kind::Alnum, length: 12, percent_max: 5 },
    Row { shape: "json {\"X-Api-Key\": VALUE}", kind: Kind::Alnum, length: 24, percent_max: 5 },
    Row { shape: "json {\"Authorization\": VALUE}", kind: Kind::Alnum, length: 32, percent_max: 5 },
    Row { shape: "json {\"aws_secret_access_key\": VALUE}", kind: Kind::Alnum, length: 40, percent_max: 1 },
    Row { shape: "json [\"deploy\", \"--password\", VALUE]", kind: Kind::All, length: 16, percent_max: 1 },
    Row { shape: "json [\"curl\", \"-u\", u:VALUE]", kind: Kind::Alnum, length: 12, percent_max: 5 },
    Row { shape: "json [\"mysql\", -pVALUE]", kind: Kind::Alnum, length: 12, percent_max: 5 },
];

/// Draws the values of each row, redacts them and counts what is left.
pub(super) fn run(_: &Repository, _: u64) -> Result<Outcome, Failure> {
    let (text, outcome) = rates();
    print!("{text}");
    Ok(outcome)
}

/// The same, and with `--write` puts the table into the page of figures.
pub(crate) fn secrets(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    let (text, outcome) = rates();
    print!("{text}");
    if options.iter().any(|option| option == "--write") {
        let command = "cargo xtask trial secrets --write";
        Part { name: "secrets", title: "Secrets that pass", command, versions: "" }
            .write(repository, &text)?;
    }
    match outcome.failures {
        0 => Ok(()),
        count => Err(Failure::new(format!("{count} shapes let more pass than they may"))),
    }
}

fn rates() -> (String, Outcome) {
    let mut dice = Dice(SEED);
    let mut outcome = Outcome::default();
    let mut rows = Vec::new();
    for row in ROWS {
        let (mut whole, mut part) = (0, 0);
        for _ in 0..TRIES {
            let value = dice.value(row.kind, row.length);
            match left(row.shape, &value) {
                Some(Left::Whole) => whole += 1,
                Some(Left::Part) => part += 1,
                None => {}
            }
        }
        outcome.points += TRIES;
        outcome.failures += usize::from((whole + part) * 100 > row.percent_max * TRIES);
        let percent = |count: usize| format!("{:.1} %", count as f64 * 100.0 / TRIES as f64);
        let shape = row.shape.replace('|', "/");
        rows.push(vec![
            format!("`{shape}`, {} {}", row.length, row.kind.words()),
            TRIES.to_string(),
            percent(whole),
            percent(part),
        ]);
    }
    let text = table(&["shape and value", "tried", "left whole", "part of 5+ characters left"], &rows);
    (format!("Seed {SEED}. `⏎` is a line end; `json` is a value given as JSON.\n\n{text}"), outcome)
}

/// What is left of a value.
enum Left {
    Whole,
    Part,
}

fn left(shape: &str, value: &str) -> Option<Left> {
    let clean = match shape.strip_prefix("json ") {
        Some(shape) => redact_json(json(shape, value)).to_string(),
        None => redact(&shape.replace('⏎', "\n").replace("VALUE", value)).to_string(),
    };
    let written = if shape.starts_with("json ") { escaped(value) } else { value.to_owned() };
    if clean.contains(&written) {
        return Some(Left::Whole);
    }
    let is_seen = |part: &[char]| clean.contains(&part.iter().collect::<String>());
    let characters: Vec<char> = written.chars().collect();
    characters.windows(PART).any(is_seen).then_some(Left::Part)
}

/// The JSON of a shape: the word with the value in it becomes a string.
fn json(shape: &str, value: &str) -> serde_json::Value {
    let is_edge = |c: char| matches!(c, ' ' | '[' | ']' | '{' | '}' | ',');
    let at = shape.find("VALUE").unwrap_or_default();
    let start = shape[..at].rfind(is_edge).map_or(0, |edge| edge + 1);
    let word = format!("\"{}{}\"", &shape[start..at], escaped(value));
    let text = format!("{}{word}{}", &shape[..start], &shape[at + "VALUE".len()..]);
    serde_json::from_str(&text).unwrap_or_default()
}

fn escaped(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Kind::All => "of all characters",
            Kind::Unquoted => "of all characters but quotes and backslashes",
            Kind::Alnum => "letters and digits",
            Kind::Letters => "letters",
            Kind::Lower => "small letters",
            Kind::LowerDigits => "small letters and digits",
            Kind::Hex => "hexadecimal digits",
            Kind::Digits => "digits",
            Kind::Uuid => "characters of a UUID",
        }
    }

    fn has(self, byte: u8) -> bool {
        match self {
            Kind::All => byte.is_ascii_graphic(),
            Kind::Unquoted => byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'\\'),
            Kind::Alnum => byte.is_ascii_alphanumeric(),
            Kind::Letters => byte.is_ascii_alphabetic(),
            Kind::Lower => byte.is_ascii_lowercase(),
            Kind::LowerDigits => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Kind::Hex | Kind::Uuid => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Kind::Digits => byte.is_ascii_digit(),
        }
    }
}

/// Random numbers from a seed, the same everywhere.
struct Dice(u64);

impl Dice {
    fn value(&mut self, kind: Kind, length: usize) -> String {
        let letters: Vec<u8> = (0..=127).filter(|byte| kind.has(*byte)).collect();
        let is_dash = |at: usize| matches!((kind, at), (Kind::Uuid, 8 | 13 | 18 | 23));
        let mut draw = |at| if is_dash(at) { '-' } else { char::from(letters[self.below(letters.len())]) };
        (0..length).map(&mut draw).collect()
    }

    /// SplitMix64.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) % bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_seen() {
        assert!(matches!(left("the VALUE", "plainword"), Some(Left::Whole)));
        assert!(left("DB_PASSWORD=VALUE", "k7Tq0ZpX4mWvR2sL").is_none());
        assert!(left("json {\"password\": VALUE}", "k7Tq0Zp\"4mWvR2sL").is_none());
    }

    #[test]
    fn shapes_become_json() {
        assert_eq!(json("[\"curl\", u:VALUE]", "a\"b"), serde_json::json!(["curl", "u:a\"b"]));
        assert_eq!(json("{\"a\": VALUE}", "b"), serde_json::json!({ "a": "b" }));
    }

    #[test]
    fn values_are_drawn_as_asked() {
        let value = Dice(SEED).value(Kind::Uuid, 36);
        assert_eq!(value.matches('-').count(), 4);
        assert!(Dice(1).value(Kind::Digits, 8).bytes().all(|byte| byte.is_ascii_digit()));
    }
}
