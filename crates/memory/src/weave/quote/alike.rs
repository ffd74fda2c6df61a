//! Characters that look like those which a quotation or a tag is made of.
//!
//! The lists follow the confusables of Unicode (UTS 39) and the names of its signs.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

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
/// Letters of other alphabets that look like Latin ones.
const LETTERS: &[(&str, char)] = &[
    ("аɑαａ", 'a'),
    ("сϲᴄ", 'c'),
    ("ԁḍ", 'd'),
    ("еєҽ℮ε", 'e'),
    ("һհ", 'h'),
    ("іιı", 'i'),
    ("ӏ", 'l'),
    ("мᴍ", 'm'),
    ("ոпη", 'n'),
    ("оοօᴏσ", 'o'),
    ("рρ", 'p'),
    ("гᴦꭇꮁʀ", 'r'),
    ("ѕꜱ", 's'),
    ("тτᴛ", 't'),
    ("υսᴜ", 'u'),
    ("ѵνᴠ", 'v'),
    ("хχ", 'x'),
    ("уγү", 'y'),
];

/// Whether a character opens a tag, or looks as if it did.
pub(super) fn is_angle(c: char) -> bool {
    c == '<' || (!c.is_ascii() && ANGLES.contains(c))
}

/// Whether a character looks like a slash.
pub(super) fn is_slash(c: char) -> bool {
    c == '/' || (!c.is_ascii() && SLASHES.contains(c))
}

/// The small Latin letters that a character looks like; others as they are.
pub(super) fn letters(c: char) -> impl Iterator<Item = char> {
    let plain =
        |c: char| LETTERS.iter().find(|(alike, _)| alike.contains(c)).map_or(c, |(_, letter)| *letter);
    let folded: String =
        c.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).map(plain).collect();
    folded.chars().collect::<Vec<_>>().into_iter()
}

/// A text without anything that looks like a double quotation mark, two single ones included.
pub(super) fn without_quotes(text: &str) -> String {
    let is_apostrophe = |c: char| APOSTROPHES.contains(c) || QUOTES.contains(c);
    let mut plain = String::with_capacity(text.len());
    let mut is_run = false;
    for c in text.chars() {
        match is_apostrophe(c) {
            true if is_run => {
                plain.pop();
                plain.push('\'');
            }
            true if QUOTES.contains(c) => plain.push('\''),
            _ => plain.push(c),
        }
        is_run = is_apostrophe(c);
    }
    plain
}

/// A text without anything that looks like a backtick.
pub(super) fn without_ticks(text: &str) -> String {
    text.chars().map(|c| if !c.is_ascii() && TICKS.contains(c) { '\'' } else { c }).collect()
}
