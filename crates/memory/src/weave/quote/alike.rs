//! Characters that look like those of a quotation or a tag.
//!
//! The base is Unicode's table (`confusables`). The lists add characters that point or close in the
//! same way, chosen by their names.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::confusables::looks_like;

/// Characters that look like `<`, and all that point to the left.
const ANGLES: &str = "<«‹˂≤≦≨≪≮≰≲≴≶≷≸≹≺≼≾⊀⊰⊲⊴⋖⋘⋚⋛⋜⋞⋦〈⍃⏪⏮⏴◀◁◂◃◄◅❬❮❰⟨⟪⥶⥷⦉⦑⦓⦖⧀⧼⩹⩻⩽⩿⪁⪃⪅⪇⪉⪋⪌⪍⪏⪐⪑⪓⪕⪗⪙⪛⪝⪟⪡⪣⪤⪥⪦⪨⪪⪬⫷⫹⯇〈《︽︿﹤＜ᐸᚲ𝈶𐡷";
/// Characters that look like `/`.
const SLASHES: &str = "/∕⁄⧸╱⟋／⼃〳᜵⁁Ⳇノ丿㇓𝈺⧵";
/// Look-alikes of a double quotation mark.
const QUOTES: &str = "\"“”„‟″‴‶‷⁗〃〝〞〟❝❞❠＂ˮʺ˝״˶᳓ײ🙶🙷🙸⹂«»《》「」『』｢｣";
/// Look-alikes of a single one. Two of them look like a double one.
const APOSTROPHES: &str = "'‘’‚‛′‵`´＇｀ʹʼʻʽˈˊˋ՚׳՝‹›❛❜❟`΄᾽᾿῾`´";
/// Look-alikes of a backtick.
const TICKS: &str = "\u{2cb}\u{2035}\u{ff40}\u{1fef}\u{b4}\u{55d}\u{2ca}\u{384}\u{1ffd}\u{2018}\u{201b}";
/// Letters that readers take for Latin ones and the table lacks.
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

/// True if a character opens a tag, or looks like one that does.
pub(super) fn is_angle(c: char) -> bool {
    c == '<' || (!c.is_ascii() && (ANGLES.contains(c) || looks_like(c) == Some('<')))
}

/// True if a character looks like a slash.
pub(super) fn is_slash(c: char) -> bool {
    c == '/' || (!c.is_ascii() && (SLASHES.contains(c) || looks_like(c) == Some('/')))
}

/// A name by its looks: lower-case Latin letters, with indistinguishable ones merged (`I`, `l`, `1`
/// and `|`, `0` and `o`, `rn` and `m`).
pub(super) fn folded(name: &str) -> String {
    let letters: String = name.chars().flat_map(letters).collect();
    letters.replace("rn", "m")
}

/// The letters that a character looks like, else the character itself.
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

/// A text without look-alikes of a double quotation mark, including two single ones.
pub(super) fn without_quotes(text: &str) -> String {
    // Hebrew words may contain the letter yod twice.
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

/// A text without look-alikes of a backtick.
pub(super) fn without_ticks(text: &str) -> String {
    let is_tick = |c: char| TICKS.contains(c) || (!c.is_alphabetic() && looks_like(c) == Some('\''));
    text.chars().map(|c| if !c.is_ascii() && is_tick(c) { '\'' } else { c }).collect()
}
