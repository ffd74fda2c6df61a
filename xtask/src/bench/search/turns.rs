//! Turns to search in, made from their number, so that every run on every machine has the
//! same ones.
//!
//! Words are as common as in prose (the rank-th has a share of 1/rank), a session returns
//! to its own words again and again, and names of code turn up once or a few times. A piece
//! is as long as in published logs. A turn has fewer pieces than there, about five instead
//! of thirty: a million of those would fill the disk.

use retro_model::{Passage, Piece, PieceKind, Timestamp};

/// Turns of a session, on average those of ConvMemory's published set-up.
pub(crate) const TURNS_A_SESSION: usize = 28;

/// Different words of prose.
const WORDS: usize = 50_000;

/// Words that a session returns to.
const TOPIC_WORDS: u64 = 150;

/// Projects that sessions belong to.
const PROJECTS: usize = 40;

/// The first turn of all, and the time between two sessions.
const START_MS: i64 = 1_700_000_000_000;
const SESSION_MS: i64 = 30 * 60_000;

/// Commonest first; they make up two fifths of what is said.
const COMMON: [&str; 48] = [
    "the", "to", "a", "of", "and", "is", "in", "it", "that", "for", "this", "on", "with", "be", "as", "not",
    "we", "you", "was", "are", "have", "from", "or", "at", "by", "but", "if", "an", "can", "do", "so",
    "which", "there", "what", "when", "all", "will", "has", "its", "then", "they", "how", "into", "should",
    "why", "where", "did", "does",
];

/// Numbers that look random and are the same every time.
pub(crate) struct Chance(u64);

impl Chance {
    /// A row of numbers of its own for each seed.
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// A share from 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number between two, the small ones as likely as the large ones together.
    fn spread(&mut self, from: f64, to: f64) -> usize {
        (from * (to / from).powf(self.share())) as usize
    }

    /// A rank below `end`, each with a share of one over itself.
    fn rank(&mut self, end: usize) -> usize {
        self.spread(1.0, end as f64).saturating_sub(1)
    }
}

/// The word of a rank.
pub(crate) fn word(rank: usize) -> String {
    if let Some(common) = COMMON.get(rank) {
        return (*common).to_owned();
    }
    const STARTS: [&str; 16] =
        ["b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "pl"];
    const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
    const ENDS: [&str; 5] = ["n", "r", "k", "t", "m"];
    let mut text = String::new();
    let mut rest = rank;
    for _ in 0..4 {
        text.push_str(STARTS[rest % STARTS.len()]);
        rest /= STARTS.len();
        text.push_str(VOWELS[rest % VOWELS.len()]);
        rest /= VOWELS.len();
        if rest == 0 {
            break;
        }
    }
    text.push_str(ENDS[rank % ENDS.len()]);
    text
}

/// A turn by its number, and the session it is in.
pub(crate) struct Turn {
    number: usize,
    session: usize,
    chance: Chance,
    at_ms: i64,
}

/// The number of the session of a turn.
pub(crate) fn session_of(turn: usize) -> usize {
    turn / TURNS_A_SESSION
}

/// The project of a session.
pub(crate) fn project_of(session: usize) -> String {
    format!("project{:02}", session % PROJECTS)
}

/// When a session starts.
pub(crate) fn starts_at(session: usize) -> i64 {
    START_MS + session as i64 * SESSION_MS
}

impl Turn {
    fn new(number: usize) -> Turn {
        let session = session_of(number);
        let at_ms = starts_at(session) + (number % TURNS_A_SESSION) as i64 * 60_000;
        Turn { number, session, chance: Chance::new(number as u64 + 1), at_ms }
    }

    /// A word as this session would say it.
    fn word(&mut self) -> String {
        if self.chance.below(10) < 3 {
            let own = self.chance.below(TOPIC_WORDS);
            return word(Chance::new((self.session as u64) << 20 | own).rank(WORDS));
        }
        word(self.chance.rank(WORDS))
    }

    /// A name as code has it.
    fn name(&mut self) -> String {
        let (first, second) = (self.chance.rank(WORDS), self.chance.rank(WORDS) + COMMON.len());
        match self.chance.below(3) {
            0 => format!("{}_{}", word(first), word(second)),
            1 => format!("{}{}", word(second), capital(&word(first))),
            _ => format!("{}/{}.rs", word(second), word(first)),
        }
    }

    fn prose(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            let next = if self.chance.below(25) == 0 { self.name() } else { self.word() };
            text.push_str(&next);
            text.push_str(if self.chance.below(12) == 0 { ". " } else { " " });
        }
        text
    }

    fn output(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            let (path, line) = (self.name(), self.chance.below(900));
            text.push_str(&format!("{path}:{line}: {} {} {}\n", self.word(), self.name(), self.word()));
        }
        text
    }

    fn piece(&mut self, kind: PieceKind) -> Piece {
        let text = match kind {
            PieceKind::User => {
                let bytes = self.chance.spread(20.0, 900.0);
                self.prose(bytes)
            }
            PieceKind::Command => format!("cargo test --package {} {}", self.word(), self.name()),
            PieceKind::Output => {
                let bytes = self.chance.spread(60.0, 1_400.0);
                self.output(bytes)
            }
            PieceKind::Error => {
                let code = self.chance.below(900);
                let bytes = self.chance.spread(100.0, 900.0);
                format!("error[E{code:04}]: {}\n{}", self.prose(60), self.output(bytes))
            }
            _ => {
                let bytes = self.chance.spread(80.0, 1_200.0);
                self.prose(bytes)
            }
        };
        let labels = match kind {
            PieceKind::Command => vec!["tool:bash".to_owned()],
            PieceKind::Error => vec!["is:failed".to_owned()],
            _ => Vec::new(),
        };
        Piece { kind, event: String::new(), at: Timestamp::from_millis(self.at_ms), text, labels }
    }
}

/// The words of a turn, whose first piece is the `first` of its session.
pub(crate) fn passage(number: usize, first: u32) -> Passage {
    let mut turn = Turn::new(number);
    let mut kinds = vec![PieceKind::User];
    for _ in 0..turn.chance.spread(1.0, 4.0) {
        let result = if turn.chance.below(5) == 0 { PieceKind::Error } else { PieceKind::Output };
        kinds.extend([PieceKind::Command, result]);
    }
    kinds.push(PieceKind::Assistant);
    let mut pieces: Vec<Piece> = kinds.into_iter().map(|kind| turn.piece(kind)).collect();
    for (at, piece) in pieces.iter_mut().enumerate() {
        piece.event = format!("{}:{at}", turn.number);
    }
    let in_session = (number % TURNS_A_SESSION) as u32 + 1;
    Passage { thread: "main".to_owned(), turn: in_session, first, live: true, pieces }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_the_same_every_time_and_unlike_the_next() {
        assert_eq!(passage(7, 3), passage(7, 3));
        assert_ne!(passage(7, 3).pieces[0].text, passage(8, 3).pieces[0].text);
    }

    #[test]
    fn pieces_are_as_many_and_as_long_as_said() {
        let pieces: Vec<Piece> = (0..500).flat_map(|number| passage(number, 0).pieces).collect();
        let bytes: usize = pieces.iter().map(|piece| piece.text.len()).sum();
        assert!((4..=7).contains(&(pieces.len() / 500)), "{}", pieces.len() / 500);
        assert!((250..=450).contains(&(bytes / pieces.len())), "{}", bytes / pieces.len());
    }

    #[test]
    fn words_differ() {
        let words: std::collections::HashSet<String> = (0..WORDS).map(word).collect();
        assert!(words.len() > WORDS * 9 / 10, "{}", words.len());
    }
}
