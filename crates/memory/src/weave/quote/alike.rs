//! Characters that look like those which a quotation or a tag is made of.
//!
//! The table of Unicode (`confusables`) is the base. The lists add signs that point or close in the
//! same way, by their names.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::confusables::looks_like;

/// Signs and letters that look like `<`, with all that point to the left.
const ANGLES: &str = "<«‹˂≤≦≨≪≮≰≲≴≶≷≸≹≺≼≾⊀⊰⊲⊴⋖⋘⋚⋛⋜⋞⋦〈⍃⏪⏮⏴◀◁◂◃◄◅❬❮❰⟨⟪⥶⥷⦉⦑⦓⦖⧀⧼⩹⩻⩽⩿⪁⪃⪅⪇⪉⪋⪌⪍⪏⪐⪑⪓⪕⪗⪙⪛⪝⪟⪡⪣⪤⪥⪦⪨⪪⪬⫷⫹⯇〈《︽︿﹤＜ᐸᚲ𝈶𐡷";
/// Signs and letters that look like `/`.
const SLASHES: &str = "/∕⁄⧸╱⟋／⼃〳᜵⁁Ⳇノ丿㇓𝈺⧵";
/// What looks like a double quotation mark.
const QUOTES: &str = "\"“”„‟″‴‶‷⁗〃〝〞〟❝❞❠＂ˮʺ˝״˶᳓ײ🙶🙷🙸⹂«»《》「」『』｢｣";
/// What looks like a single one; two of them look like a double one.
const APOSTROPHES: &str = "'‘’‚‛′‵`´＇｀ʹʼʻʽˈˊˋ՚׳՝‹›❛❜❟`΄᾽᾿῾`´";
/// What looks like a backtick.
const TICKS: &str = "\u{2cb}\u{2035}\u{ff40}\u{1fef}\u{b4}\u{55d}\u{2ca}\u{384}\u{1ffd}\u{2018}\u{201b}";
/// Letters that readers take for Latin ones and the table does not name.
const LETTERS: &[(&str, char)] = &[
    ("ḍ", 'd'),
    ("єε", 'e'),
    ("һ", 'h'),
    ("мᴍ", 'm'),
    ("пη", 'n'),
    ("ᴏ", 'o'),
    ("ꭇꮁʀ", 'r'),
    ("тτᴛ", 't'),
    ("χ", 'x'),
];

/// Whether a character opens a tag, or looks as if it did.
pub(super) fn is_angle(c: char) -> bool {
    c == '<' || (!c.is_ascii() && (ANGLES.contains(c) || looks_like(c) == Some('<')))
}

/// Whether a character looks like a slash.
pub(super) fn is_slash(c: char) -> bool {
    c == '/' || (!c.is_ascii() && (SLASHES.contains(c) || looks_like(c) == Some('/')))
}

/// A name as it looks: small Latin letters, with one letter for those that nobody tells apart
/// (`I`, `l`, `1` and `|`, `0` and `o`, `rn` and `m`).
pub(super) fn folded(name: &str) -> String {
    let letters: String = name.chars().flat_map(letters).collect();
    letters.replace("rn", "m")
}

/// The letters that a character looks like; others as they are.
fn letters(c: char) -> Vec<char> {
    let known = |c: char| LETTERS.iter().find(|(alike, _)| alike.contains(c)).map(|(_, letter)| *letter);
    let plain = |c: char| match looks_like(c).or_else(|| known(c)).unwrap_or(c) {
        'i' | '1' | '|' => 'l',
        '0' => 'o',
        letter => letter,
    };
    if let Some(letter) = looks_like(c) {
        return vec![plain(letter)];
    }
    let parts = c.nfkd().filter(|c| !is_combining_mark(*c));
    parts.map(|c| looks_like(c).unwrap_or(c)).flat_map(char::to_lowercase).map(plain).collect()
}

/// A text without anything that looks like a double quotation mark, two single ones included.
pub(super) fn without_quotes(text: &str) -> String {
    // Yod is a letter that words of Hebrew have twice.
    const YOD: char = '\u{5d9}';
    let is_quote = |c: char| QUOTES.contains(c) || looks_like(c) == Some('"');
    let is_single = |c: char| APOSTROPHES.contains(c) || (c != YOD && looks_like(c) == Some('\''));
    let is_apostrophe = |c: char| is_single(c) || is_quote(c);
    let mut plain = String::with_capacity(text.len());
    let mut is_run = false;
    for c in text.chars() {
        match is_apostrophe(c) {
            true if is_run => {
                plain.pop();
                plain.push('\'');
            }
            true if is_quote(c) => plain.push('\''),
            _ => plain.push(c),
        }
        is_run = is_apostrophe(c);
    }
    plain
}

/// A text without anything that looks like a backtick.
pub(super) fn without_ticks(text: &str) -> String {
    let is_tick = |c: char| TICKS.contains(c) || (!c.is_alphabetic() && looks_like(c) == Some('\''));
    text.chars().map(|c| if !c.is_ascii() && is_tick(c) { '\'' } else { c }).collect()
}
