//! Counting the lines that a replacement adds and removes.

/// Lines that a replacement adds and removes, without the common lines at both ends.
pub(crate) fn changed(old: &str, new: &str) -> (u64, u64) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let shorter = old.len().min(new.len()) - head;
    let tail =
        old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(|(old, new)| old == new).count();
    ((new.len() - head - tail) as u64, (old.len() - head - tail) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_sides_share_at_their_ends_is_not_counted() {
        assert_eq!(changed("a\nb\nc", "a\nx\ny\nc"), (2, 1));
        assert_eq!(changed("", "a\nb\n"), (2, 0));
        assert_eq!(changed("a\na", "a"), (0, 1));
        assert_eq!(changed("a", "a"), (0, 0));
    }
}
