//! Decides if a value looks random, or written by people and their programs.
//!
//! Words, identifiers, code, paths and numbers use few of all pairs of characters, and use them
//! often; a random value uses all pairs alike. `pairs.txt` has, for each pair of printable
//! characters, how many bits more likely it is in written text than in a random value. The sum over
//! a value decides between the two: for sixteen random characters it is about -40, for a name of
//! that length about +25.

use std::sync::LazyLock;

/// Printable characters without the blank.
const KINDS: usize = 94;

/// The letter in `pairs.txt` for zero bits.
const ZERO: u8 = b'g';

/// The longest part of a value that is weighed, at its beginning and at its end: enough to be
/// certain, and a limit for adversarial text.
const PART: usize = 64;

/// Values at or below this sum count as random. Of random values, it misses one in 1,000 with 16
/// characters of all kinds, one in 100 with 12 letters and digits.
pub(super) const BITS_MAX: i32 = -8;

/// True if a value looks random.
pub(super) fn is_random(value: &[u8]) -> bool {
    written_bits(value) <= BITS_MAX
}

/// How many bits more likely a value is as written text than as a random value. Of a long one, only
/// the ends count.
pub(super) fn written_bits(value: &[u8]) -> i32 {
    if value.len() <= 2 * PART {
        return sum(value);
    }
    let end = value.get(value.len() - PART..).unwrap_or_default();
    sum(value.get(..PART).unwrap_or_default()) + sum(end)
}

fn sum(value: &[u8]) -> i32 {
    bits(value).sum()
}

/// The bits of each pair of neighbours in a value.
pub(super) fn bits(value: &[u8]) -> impl Iterator<Item = i32> + '_ {
    let pairs = &*PAIRS;
    value.windows(2).map(|pair| match pair {
        [first @ b'!'..=b'~', second @ b'!'..=b'~'] => {
            i32::from(pairs[usize::from(first - b'!') * KINDS + usize::from(second - b'!')])
        }
        // Blanks and other scripts are neutral.
        _ => 0,
    })
}

/// The least that [`written_bits`] may say of any part of a value.
pub(super) fn least_bits(value: &[u8]) -> i32 {
    let (mut here, mut least) = (0, 0);
    for bits in bits(value) {
        here = (here + bits).min(bits);
        least = least.min(here);
    }
    // Of a long part, two ends are weighed.
    least * 2
}

static PAIRS: LazyLock<Vec<i8>> = LazyLock::new(|| {
    let letters = include_bytes!("pairs.txt").iter().filter(|byte| byte.is_ascii_lowercase());
    let mut pairs: Vec<i8> = letters.map(|&letter| letter.wrapping_sub(ZERO) as i8).collect();
    pairs.resize(KINDS * KINDS, 0);
    pairs
});

/// The least that [`written_bits`] may say of anything that a value begins with.
pub(super) fn least_start(value: &[u8]) -> i32 {
    if value.len() > 2 * PART {
        return least_bits(value);
    }
    let sums = bits(value).scan(0, |sum, bits| {
        *sum += bits;
        Some(*sum)
    });
    sums.min().unwrap_or(0).min(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_pair() {
        let rows: Vec<&[u8]> = include_bytes!("pairs.txt").split(|&byte| byte == b'\n').collect();
        assert_eq!(rows.len(), KINDS + 1);
        assert!(rows[..KINDS].iter().all(|row| row.len() == KINDS && row.is_ascii()));
    }

    #[test]
    fn what_people_write_is_not_random() {
        for value in [
            "nextPageToken2",
            "prod-db-main",
            "getPassword(user)",
            "self._tokens[i+1]",
            "process.env.DB_PASSWORD1",
            "z.string().min(8)",
            "/var/run/secrets/kubernetes.io/token2",
            "2024-01-01T00:00:00Z",
            "127.0.0.1:8080",
            "correcthorsebatterystaple",
            "crypto.randomBytes(32)",
        ] {
            assert!(!is_random(value.as_bytes()), "{value} {}", written_bits(value.as_bytes()));
        }
    }

    #[test]
    fn random_values_are_random_whatever_they_are_made_of() {
        for value in ["k7Tq0ZpX4mWvR2sL", "vX#9]q<Lz(&2:hKw", "QhzKvwXqTbNfRmJg", "x9kq2vz7mw4j"] {
            assert!(is_random(value.as_bytes()), "{value} {}", written_bits(value.as_bytes()));
        }
    }

    #[test]
    fn no_part_of_a_value_has_fewer_bits_than_the_least() {
        for value in ["k7Tq0ZpX4mWvR2sL", "some_words-and.more", "sk-sk-sk-", "AzCaAzCaAzCa"] {
            let value = value.repeat(20);
            let least = least_bits(value.as_bytes());
            for start in 0..value.len() {
                for end in start..value.len() {
                    assert!(written_bits(&value.as_bytes()[start..end]) >= least, "{value} {start} {end}");
                }
            }
            let least = least_start(value.as_bytes());
            for end in 0..value.len() {
                assert!(written_bits(&value.as_bytes()[..end]) >= least, "{value} {end}");
            }
        }
    }

    #[test]
    fn the_ends_of_a_long_value_decide() {
        let long = format!("{}{}", "k7Tq0ZpX4mWvR2sL".repeat(400), "some_words".repeat(10_000));
        assert!(is_random("k7Tq0ZpX4mWvR2sL".repeat(400).as_bytes()));
        assert!(written_bits(long.as_bytes()) > written_bits("k7Tq0ZpX4mWvR2sL".repeat(400).as_bytes()));
    }
}
