//! The shape of a value: its kinds of characters, their entropy, and whether it is a path, a UUID
//! or made of words.

pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'%' | b'~' | b':')
}

/// The number of bytes of each kind.
pub(super) struct Kinds {
    pub(super) letters: usize,
    pub(super) digits: usize,
    pub(super) symbols: usize,
}

impl Kinds {
    pub(super) fn of(value: &[u8]) -> Kinds {
        let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
        let plain = value.iter().filter(|byte| matches!(byte, b'_' | b'-' | b'.' | b'/' | b':')).count();
        Kinds { letters, digits, symbols: value.len() - letters - digits - plain }
    }
}

/// Shannon entropy in bits per byte.
pub(super) fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0u16; 256];
    for &byte in value {
        counts[usize::from(byte)] = counts[usize::from(byte)].saturating_add(1);
    }
    let length = value.len() as f32;
    let mut bits = 0.0;
    for &byte in value {
        // Each kind of byte once.
        let count = std::mem::take(&mut counts[usize::from(byte)]);
        if count > 0 {
            let share = f32::from(count) / length;
            bits -= share * share.log2();
        }
    }
    bits
}

pub(super) fn has_any(value: &[u8], words: &[&str]) -> bool {
    let lower = value.to_ascii_lowercase();
    words.iter().any(|word| lower.windows(word.len()).any(|part| part == word.as_bytes()))
}

pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// True for `8-4-4-4-12` hexadecimal digits.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// True if a value is a path, or a file name.
pub(super) fn is_path(value: &[u8]) -> bool {
    let rooted = matches!(value, [b'/' | b'~' | b'.' | b'@', ..] | [_, b':', b'\\' | b'/', ..]);
    let slashes = value.iter().filter(|&&byte| byte == b'/').count();
    let extension = value.rsplit(|&byte| byte == b'.').next().filter(|rest| rest.len() < value.len());
    let named = extension
        .is_some_and(|rest| (1..=5).contains(&rest.len()) && rest.iter().all(u8::is_ascii_lowercase));
    let words = |part: &[u8]| {
        let words = Words::of(part);
        part.len() <= 4 || (words.letters >= words.words * 3 && words.sound_like_words())
    };
    rooted || named || (slashes > 0 && value.split(|&byte| byte == b'/').all(words))
}

/// True if a value is made of words, as identifiers are: `nextPageToken2`, `prod-db-main`. Random
/// text changes its kind of character every two bytes, words every three or more. A fifth of random
/// letters are vowels, a third of those in words. Both measures together mistake one random token
/// in 30 for words if it has letters of one case only, one in 200 otherwise.
pub(super) fn reads_as_words(value: &[u8]) -> bool {
    let words = Words::of(value);
    words.letters * 4 >= (words.words + words.numbers) * 11 && words.sound_like_words()
}

/// A value split into words as in identifiers.
pub(super) struct Words {
    pub(super) letters: usize,
    pub(super) vowels: usize,
    pub(super) words: usize,
    pub(super) numbers: usize,
}

impl Words {
    pub(super) fn sound_like_words(&self) -> bool {
        self.vowels * 100 >= self.letters * 26
    }

    pub(super) fn of(value: &[u8]) -> Words {
        let mut all = Words { letters: 0, vowels: 0, words: 0, numbers: 0 };
        let (mut before, mut last) = (b' ', b' ');
        for &byte in value {
            let begins_word = match byte {
                // `HTTPServer` is two words; random text has many such turns.
                b'a'..=b'z' => {
                    !last.is_ascii_alphabetic() || (last.is_ascii_uppercase() && before.is_ascii_uppercase())
                }
                b'A'..=b'Z' => !last.is_ascii_uppercase(),
                _ => false,
            };
            all.letters += usize::from(byte.is_ascii_alphabetic());
            all.vowels += usize::from(matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u'));
            all.words += usize::from(begins_word);
            all.numbers += usize::from(byte.is_ascii_digit() && !last.is_ascii_digit());
            (before, last) = (last, byte);
        }
        all
    }
}

/// The longest run of base64 characters.
pub(super) fn longest_base64(value: &[u8]) -> usize {
    value
        .split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')))
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_zero_for_one_letter_and_four_bits_for_all_hex_digits() {
        assert_eq!(entropy(b"aaaaaaa"), 0.0);
        assert_eq!(entropy(b"0123456789abcdef"), 4.0);
    }

    #[test]
    fn identifiers_read_as_words_and_random_text_does_not() {
        for value in
            ["nextPageToken2", "prod-db-main", "oauth2ClientSecretName", "MY_SECRET_KEY_1", "user_token_123"]
        {
            assert!(reads_as_words(value.as_bytes()), "{value}");
        }
        for value in ["k7Tq0ZpX4mWvR2sL", "9f86d081884c7d65", "aB3dE9xKq1"] {
            assert!(!reads_as_words(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn paths_and_file_names_are_paths() {
        for value in ["/etc/app/key1", "./k3y", "src/auth2/token", "id_rsa4096.pub", "C:\\keys"] {
            assert!(is_path(value.as_bytes()), "{value}");
        }
        assert!(!is_path(b"k7Tq/0ZpX4m+WvR2sL="));
    }
}
