//! Makes examples of secrets from recipes, so that no line of our own sources
//! looks like a secret to a scanner.
//!
//! A recipe is text with parts in braces: `ghp_{alnum:36}` stands for `ghp_` and
//! 36 random letters and digits. The random parts come from a seed that the
//! test prints.

#![allow(clippy::expect_used, clippy::panic)]

use crate::encoding;

/// A small random generator (xorshift), so that a seed gives the same examples
/// everywhere.
pub(crate) struct Dice {
    state: u64,
    masked: bool,
}

impl Dice {
    /// Dice with a seed.
    pub(crate) fn new(seed: u64) -> Dice {
        Dice { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, masked: false }
    }

    /// Dice that always show the same: `x` for every random character, as
    /// people write who mean no secret.
    #[allow(dead_code)]
    pub(crate) fn masked() -> Dice {
        Dice { state: 1, masked: true }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % bound
    }

    fn draw(&mut self, alphabet: &str, length: usize) -> String {
        if self.masked {
            return "x".repeat(length);
        }
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| letters[self.below(letters.len())]).collect()
    }
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

/// The text that a recipe stands for.
pub(crate) fn cook(recipe: &str, dice: &mut Dice) -> String {
    let mut text = String::new();
    let mut rest = recipe;
    while let Some((before, from)) = rest.split_once('{') {
        let (part, after) = from.split_once('}').expect("a brace is closed");
        text.push_str(before);
        text.push_str(&ingredient(part, dice));
        rest = after;
    }
    text.push_str(rest);
    text
}

fn ingredient(part: &str, dice: &mut Dice) -> String {
    let (kind, argument) = part.split_once(':').unwrap_or((part, ""));
    let length = argument.parse().unwrap_or(0);
    match kind {
        "alnum" => dice.draw(&[LOWER, UPPER, DIGITS].concat(), length),
        "alnum+" => dice.draw(&[LOWER, UPPER, DIGITS, "+/"].concat(), length),
        "digits" => dice.draw(DIGITS, length),
        "hex" => dice.draw("0123456789abcdef", length),
        "letters" => dice.draw(LOWER, length),
        "lownum" => dice.draw(&[LOWER, DIGITS].concat(), length),
        "upper" => dice.draw(UPPER, length),
        "upnum" => dice.draw(&[UPPER, DIGITS].concat(), length),
        "word" => dice.draw(&[LOWER, UPPER, DIGITS, "_-"].concat(), length),
        "bech" => dice.draw("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", length),
        "uuid" => [8, 4, 4, 4, 12].map(|n| dice.draw("0123456789abcdef", n)).join("-"),
        // A password as people make them: a word, a year, a sign.
        "typed" => format!("Walrus{}!", dice.draw(DIGITS, 4)),
        "base64" => encoding::base64(cook(&argument.replace(['(', ')'], ""), dice).as_bytes()),
        "base64-secret" => encoding::base64(cook("TOKEN=ghp_{alnum:36}\n", dice).as_bytes()),
        "pem" => pem(argument, "\n", dice),
        "pem\\n" => pem(argument, "\\n", dice),
        "pem-diff" => pem(argument, "\n-", dice),
        "pem-cut" => pem_cut(argument, dice),
        "pem-base64" => encoding::base64(pem(argument, "\n", dice).as_bytes()),
        "pem-numbered" => {
            let half = pem_cut(argument, dice);
            let lines: Vec<String> =
                half.lines().enumerate().map(|(at, line)| format!("{:6}→{line}", at + 1)).collect();
            lines.join("\n")
        }
        "pem-grep" => {
            let half = pem_cut(argument, dice);
            let lines: Vec<String> =
                half.lines().enumerate().map(|(at, line)| format!("id_rsa:{}:{line}", at + 1)).collect();
            lines.join("\n")
        }
        "pem-locked" => {
            let half = pem_cut(argument, dice);
            let (first, rest) = half.split_once('\n').expect("a key has lines");
            format!("{first}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n{rest}")
        }
        "base32" => dice.draw(&[UPPER, "234567"].concat(), length),
        "upletters" => dice.draw(&[LOWER, UPPER].concat(), length),
        "printable" => dice.draw(&(b'!'..=b'~').map(char::from).collect::<String>(), length),
        // Without what ends or escapes a quoted value.
        "printable-" => {
            let fits = |c: &char| !matches!(c, '"' | '\'' | '`' | '\\');
            dice.draw(&(b'!'..=b'~').map(char::from).filter(fits).collect::<String>(), length)
        }
        "esc" => "\u{1b}".to_owned(),
        "at" => "@".to_owned(),
        "open" => "{".to_owned(),
        "close" => "}".to_owned(),
        _ => panic!("{part:?} is no ingredient"),
    }
}

/// The first half of a key block.
fn pem_cut(label: &str, dice: &mut Dice) -> String {
    let whole = pem(label, "\n", dice);
    whole[..whole.len() / 2].to_owned()
}

/// A key block of a few lines.
fn pem(label: &str, newline: &str, dice: &mut Dice) -> String {
    let dashes = "-".repeat(5);
    let mut lines = vec![format!("{dashes}BEGIN {label} KEY{dashes}")];
    lines.extend((0..6).map(|_| dice.draw(&[LOWER, UPPER, DIGITS, "+/"].concat(), 64)));
    lines.push(format!("{dashes}END {label} KEY{dashes}"));
    lines.join(newline)
}
