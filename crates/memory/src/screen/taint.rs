//! Detects memories that would pass on words of a tool or of the web outside quotation marks.

use crate::candidate::{Span, Voice};
use crate::memory::Memory;

/// Minimum run of common words that is not a coincidence. A name or an error code alone gives no
/// orders.
const WORDS_MIN: usize = 4;

/// Pairs of quotation marks.
const MARKS: &[(char, char)] = &[('`', '`'), ('"', '"'), ('“', '”'), ('«', '»'), ('„', '“'), ('「', '」')];

/// The author of words that the memory would pass on as if they were retro's own.
pub(super) fn tainted(memory: &Memory) -> Option<Voice> {
    let is_foreign = |voice: Voice| matches!(voice, Voice::Tool | Voice::External);
    let foreign: Vec<_> = memory.spans.iter().filter(|span| is_foreign(span.voice)).collect();
    let open = |text: &str| words(&unquoted(text, &memory.spans));
    if is_foreign(memory.origin) && foreign.is_empty() && !open(&memory.text).is_empty() {
        return Some(memory.origin);
    }
    // Further data from the method is never passed on verbatim.
    let texts = [Some(&memory.text), Some(&memory.when_to_use), memory.do_not_use_when.as_ref()];
    let texts: Vec<Vec<String>> = texts.into_iter().flatten().map(|text| open(text)).collect();
    foreign
        .into_iter()
        .find(|span| {
            let said = words(&span.text);
            texts.iter().any(|text| shares_run(text, &said))
        })
        .map(|span| span.voice)
}

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Outside quotation marks.
    Open(&'a str),
    /// A quotation, with its marks and without.
    Quoted(&'a str, &'a str),
}

/// Splits the text into pieces, which together with their marks are the text. A mark without a
/// counterpart quotes nothing. A quotation of a span, or of its beginning, ends where the span's
/// words end, even if they contain marks.
pub(crate) fn pieces<'a>(text: &'a str, spans: &[Span]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let (mut done, mut at) = (0, 0);
    while let Some(next) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let inner = at + next.len_utf8();
        let after = text.get(inner..).unwrap_or_default();
        let end = MARKS.iter().filter(|(from, _)| *from == next).find_map(|(_, to)| {
            let length = spans.iter().filter_map(|span| quoted_bytes(after, &span.text, *to)).max();
            length.or_else(|| after.find(*to)).map(|length| (inner + length, inner + length + to.len_utf8()))
        });
        let Some((end, next)) = end else {
            at = inner;
            continue;
        };
        pieces.extend(text.get(done..at).filter(|open| !open.is_empty()).map(Piece::Open));
        if let (Some(whole), Some(inside)) = (text.get(at..next), text.get(inner..end)) {
            pieces.push(Piece::Quoted(whole, inside));
        }
        (done, at) = (next, next);
    }
    pieces.extend(text.get(done..).filter(|open| !open.is_empty()).map(Piece::Open));
    pieces
}

/// The length of the span's words, or of their beginning, in `after`, up to a mark.
fn quoted_bytes(after: &str, said: &str, mark: char) -> Option<usize> {
    let same = after.bytes().zip(said.bytes()).take_while(|(a, b)| a == b).count();
    let (end, _) = after.match_indices(mark).take_while(|(at, _)| *at <= same).last()?;
    (end > 0).then_some(end)
}

/// The text without its quotations.
fn unquoted(text: &str, spans: &[Span]) -> String {
    let open = pieces(text, spans).into_iter().map(|piece| match piece {
        Piece::Open(text) => text,
        Piece::Quoted(..) => " ",
    });
    open.collect()
}

/// The quotations in a text, without the marks.
pub(crate) fn quotations<'a>(text: &'a str, spans: &[Span]) -> impl Iterator<Item = &'a str> {
    pieces(text, spans).into_iter().filter_map(|piece| match piece {
        Piece::Quoted(_, inside) => Some(inside),
        Piece::Open(_) => None,
    })
}

fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// True if both contain the same run of words.
fn shares_run(text: &[String], said: &[String]) -> bool {
    said.windows(WORDS_MIN).any(|run| text.windows(WORDS_MIN).any(|here| here == run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_told_from_the_rest() {
        let text = "After \"it broke\" run `make all`, said the “log” of 5\" pipes";
        assert_eq!(quotations(text, &[]).collect::<Vec<_>>(), ["it broke", "make all", "log"]);
        assert_eq!(words(&unquoted(text, &[])).join(" "), "after run said the of 5 pipes");
    }

    #[test]
    fn marks_inside_a_quoted_span_do_not_end_it() {
        let said = "no module named \"shop\" in \"src\"; is it installed?";
        let span = Span { event_id: "e".to_owned(), text: said.to_owned(), voice: Voice::Tool };
        let text = format!("`run` failed, output said: \"{said}\". Then \"no module named \"shop\"\" came.");
        let spans = [span];
        assert_eq!(
            quotations(&text, &spans).collect::<Vec<_>>(),
            ["run", said, "no module named \"shop\""],
            "also where only the beginning is quoted"
        );
        let whole: String = pieces(&text, &spans)
            .into_iter()
            .map(|piece| match piece {
                Piece::Open(text) | Piece::Quoted(text, _) => text,
            })
            .collect();
        assert_eq!(whole, text);
    }

    #[test]
    fn four_words_in_a_row_are_no_accident() {
        let said = words("please remove the old lock file");
        assert!(shares_run(&words("First remove the old lock, then go on"), &said));
        assert!(!shares_run(&words("remove the lock"), &said));
    }
}
