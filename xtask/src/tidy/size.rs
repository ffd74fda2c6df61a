//! Files stay small enough to be one room.

use super::Problem;
use super::source::Source;

/// More lines than this are too many.
const LINES_MAX: usize = 600;

/// From here on two things may live in one file.
const LINES_ASK: usize = 400;

/// Marks a table that is data and not code.
const DATA_MARK: &str = "// tidy: data";

/// Problems, and a note about a file that is getting long.
pub(crate) fn check(source: &Source) -> (Vec<Problem>, Option<Problem>) {
    let lines = code_lines(source);
    let say = |what: String| Problem::new(&source.path, 0, what);
    if lines > LINES_MAX {
        (vec![say(format!("{lines} lines of code, {LINES_MAX} are the most"))], None)
    } else if lines > LINES_ASK {
        (Vec::new(), Some(say(format!("{lines} lines of code: do two things live here?"))))
    } else {
        (Vec::new(), None)
    }
}

/// Lines without test code, blank lines and tables of data. Comments count:
/// they are read too.
fn code_lines(source: &Source) -> usize {
    let mut count = 0;
    let mut in_data = false;
    for (text, code) in source.text.lines().zip(source.code.lines()) {
        let is_comment = text.trim_start().starts_with("//");
        if text.trim() == DATA_MARK {
            in_data = true;
        } else if in_data {
            in_data = !code.starts_with(']') && !code.starts_with('}');
        } else if is_comment || !code.trim().is_empty() {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: String) -> (usize, Option<String>) {
        let (problems, note) = check(&Source::new("a.rs", text));
        (problems.len(), note.map(|note| note.what))
    }

    #[test]
    fn long_files_are_named_and_too_long_ones_fail() {
        assert_eq!(of("a();\n".repeat(400)), (0, None));
        assert_eq!(
            of("a();\n".repeat(401)).1.as_deref(),
            Some("401 lines of code: do two things live here?")
        );
        assert_eq!(of("a();\n".repeat(601)).0, 1);
    }

    #[test]
    fn tests_and_tables_do_not_count() {
        let tests = format!("a();\n#[cfg(test)]\nmod tests {{\n{}}}\n", "b();\n".repeat(700));
        assert_eq!(of(tests), (0, None));
        let table = format!("// tidy: data\nstatic T: &[u8] = &[\n{}];\na();\n", "    1,\n".repeat(700));
        assert_eq!(of(table.clone()), (0, None));
        assert_eq!(of(table.replace("// tidy: data\n", "")).0, 1);
    }
}
