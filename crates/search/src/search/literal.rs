//! Prefers texts that contain the query's names, paths and codes verbatim.

use super::Ask;
use super::candidates::Group;

/// Raises pieces that contain the query's names verbatim. If the query consists only of names,
/// pieces with all of them come first.
pub(super) fn prefer(groups: &mut [Group], ask: &Ask<'_>) {
    let literals = &ask.query.literals;
    if literals.is_empty() {
        return;
    }
    for group in groups.iter_mut() {
        let mut gained = 0.0_f64;
        for piece in &mut group.pieces {
            let held = literals.iter().filter(|literal| piece.text().contains(literal.as_str())).count();
            piece.is_literal = held == literals.len();
            if held == 0 {
                continue;
            }
            let before = piece.score;
            let share = held as f64 / literals.len() as f64;
            piece.score += ask.ranker.exact(before, share);
            if piece.is_literal && ask.query.is_all_names() {
                piece.score += 1_000.0;
            }
            gained = gained.max(piece.score - before);
        }
        group.score += gained;
        group.pieces.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
    }
}
