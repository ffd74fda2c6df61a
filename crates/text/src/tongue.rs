//! Words of many languages: how they are separated, and whether a text is English.
//!
//! Tables of words are compared with a text in the form of [`words`]: each word between spaces, so
//! that a phrase matches only whole words. Scripts without spaces are searched unchanged.

/// Words that are frequent in English, and rare in other languages.
const ENGLISH: &[&str] = &[
    "and", "are", "be", "before", "but", "can", "every", "for", "from", "have", "if", "is", "it", "must",
    "my", "never", "not", "of", "only", "our", "please", "that", "the", "this", "to", "we", "when", "with",
    "without", "you", "your",
];
/// Words that are frequent in other languages with the same letters.
const OTHERS: &[&str] = &[
    "an", "att", "bei", "bir", "bitte", "bu", "chez", "das", "de", "del", "den", "der", "des", "det", "die",
    "du", "e", "een", "ein", "eine", "el", "en", "est", "et", "gli", "het", "ich", "il", "ist", "ja",
    "jamais", "je", "jest", "la", "las", "le", "les", "lo", "los", "mai", "mir", "na", "nicht", "nie",
    "niet", "no", "non", "och", "on", "os", "pas", "por", "que", "se", "sempre", "siempre", "sie",
    "toujours", "tous", "toutes", "um", "uma", "un", "und", "uns", "van", "ve", "w", "wir", "y", "z",
];

/// True if the script of a text separates words by spaces.
pub fn is_spaced(text: &str) -> bool {
    !text
        .chars()
        .any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
}

/// True if most letters are of a script with word tables: Latin, Cyrillic, Arabic, Devanagari, Han,
/// Kana, Hangul.
pub fn is_known(text: &str) -> bool {
    let (mut known, mut all) = (0_usize, 0_usize);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        all += 1;
        let is_known = matches!(c, '\u{0}'..='\u{024f}' | '\u{1e00}'..='\u{1eff}' | '\u{0400}'..='\u{052f}'
            | '\u{0600}'..='\u{06ff}' | '\u{0900}'..='\u{097f}' | '\u{ff21}'..='\u{ff5a}')
            || !is_spaced(c.encode_utf8(&mut [0; 4]));
        known += usize::from(is_known);
    }
    known * 2 >= all
}

/// The words of a text in lower case, each between spaces.
pub fn words(text: &str) -> String {
    let lower = text.to_lowercase().replace('’', "'");
    let mut words = String::with_capacity(lower.len() + 2);
    words.push(' ');
    for word in lower.split(|c: char| !(c.is_alphanumeric() || c == '\'' || is_mark(c))) {
        if !word.is_empty() {
            words.push_str(word);
            words.push(' ');
        }
    }
    words
}

/// Marks that belong to the previous letter: accents, vowels of Devanagari and of Arabic.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036f}' | '\u{0900}'..='\u{097f}' | '\u{064b}'..='\u{0652}')
}

/// True if a text, in the form of [`words`], looks like English.
pub fn is_english(words: &str) -> bool {
    let is_ascii = words.chars().all(|c| c.is_ascii() || !c.is_alphabetic());
    let count = |list: &[&str]| words.split(' ').filter(|word| list.contains(word)).count();
    let english = count(ENGLISH);
    is_ascii && english > 0 && english >= count(OTHERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_english_is_known() {
        assert_eq!(words("Nie wieder, l’import!"), " nie wieder l'import ");
        assert!(is_english(&words("the tests are in that folder")));
        for other in
            ["die Tests liegen im Ordner", "los tests no pasan", "Ab sofort", "これは", "тесты падают"]
        {
            assert!(!is_english(&words(other)), "{other}");
        }
        assert!(is_spaced("тесты") && !is_spaced("テスト") && !is_spaced("테스트"));
        assert!(
            is_known("тесты падают") && is_known("テスト") && is_known("12:30") && !is_known("δεν δουλεύει")
        );
    }
}
