//! Parses days in a query's words: `last week`, `in March`, `3 days ago`.

use jiff::civil::Date;
use retro_model::Days;

/// A span of days found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The named days.
    pub days: Days,
    /// The words that name them.
    pub words: String,
    /// The text without those words.
    pub rest: String,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Maximum number of words that name a span of days.
const WORDS_MAX: usize = 4;

/// A longer text is not a question but was pasted, and its days are its author's.
const QUESTION_WORDS_MAX: usize = 16;

/// Finds the first words that name days. Counts only words that are hardly ambiguous.
pub(super) fn find(text: &str, today: Date) -> Option<Named> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() > QUESTION_WORDS_MAX {
        return None;
    }
    for start in 0..words.len() {
        for count in (1..=WORDS_MAX.min(words.len() - start)).rev() {
            let span = words.get(start..start + count)?;
            let Some(days) = read(span, today) else { continue };
            let mut rest: Vec<&str> = words[..start].to_vec();
            rest.extend(&words[start + count..]);
            return Some(Named { days, words: span.join(" "), rest: rest.join(" ") });
        }
    }
    None
}

fn read(words: &[&str], today: Date) -> Option<Days> {
    let words: Vec<String> =
        words.iter().map(|word| word.trim_end_matches([',', '.', '?', '!']).to_lowercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["today" | "yesterday"] => parse(words[0], today),
        ["last" | "this", "week" | "month" | "year"] => parse(&words.join(" "), today),
        ["last", day] | ["on", day] if day.len() > 5 && day.ends_with("day") => parse(day, today),
        [count, unit, "ago"] if count.parse::<u16>().is_ok() => {
            // A point in time and its surroundings.
            let days = parse(&format!("{count} {unit}"), today)?;
            let around = match unit.trim_end_matches('s') {
                "day" => Days { first: days.first, last: days.first },
                "week" => {
                    Days { first: days.first, last: days.first.checked_add(jiff::Span::new().days(6)).ok()? }
                }
                _ => Days::month(days.first),
            };
            Some(around)
        }
        ["in", name] if *name != "may" => month(name, None, today),
        ["in", name, year] => month(name, Some(year.parse().ok()?), today),
        _ => None,
    }
}

fn parse(text: &str, today: Date) -> Option<Days> {
    Days::parse(text, today).ok()
}

/// The month with this name, in a year, else the last one that has begun.
fn month(name: &str, year: Option<i16>, today: Date) -> Option<Days> {
    let at = MONTHS.iter().position(|month| *month == name)?;
    let number = i8::try_from(at + 1).ok()?;
    let year = year.unwrap_or(if number > today.month() { today.year() - 1 } else { today.year() });
    Date::new(year, number, 1).ok().map(Days::month)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn named(text: &str) -> Option<String> {
        let named = find(text, date(2026, 11, 17))?;
        Some(format!("{}..{} {:?} {:?}", named.days.first, named.days.last, named.words, named.rest))
    }

    #[test]
    fn days_are_found_in_a_question() {
        for (text, expected) in [
            ("cart rounding in March", "2026-03-01..2026-03-31 \"in March\" \"cart rounding\""),
            ("what broke in December 2024?", "2024-12-01..2024-12-31 \"in December 2024?\" \"what broke\""),
            ("what broke in December?", "2025-12-01..2025-12-31 \"in December?\" \"what broke\""),
            ("deploy yesterday failed", "2026-11-16..2026-11-16 \"yesterday\" \"deploy failed\""),
            ("migration 2 weeks ago", "2026-11-03..2026-11-09 \"2 weeks ago\" \"migration\""),
            ("last month bug", "2026-10-01..2026-10-31 \"last month\" \"bug\""),
            ("on friday", "2026-11-13..2026-11-13 \"on friday\" \"\""),
        ] {
            assert_eq!(named(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_words_name_no_day() {
        for text in [
            "week view",
            "the last test",
            "march through the list",
            "in may be",
            "2 ago",
            "may fail",
            "monday",
            "the issue quoted twenty tokens when it was filed and the checkpoint returns twenty three of \
             them today",
        ] {
            assert_eq!(named(text), None, "{text}");
        }
    }
}
