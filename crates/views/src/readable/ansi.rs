//! Terminal output as runs of text with colours.
//!
//! A line is a text, or an array of runs. A run is a text, or `[style, text]`, where the style is a
//! list of class names: `b` bold, `d` dim, `i` italic, `u` underlined, `v` inverse, `f0`–`f15` and
//! `g0`–`g15` for foreground and background. A carriage return restarts the line, as on a terminal.
//! Every other sequence is dropped.

use serde::Serialize;

use super::plain;

/// One line of output.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Line {
    /// A line without any style.
    Plain(String),
    /// A line in several runs.
    Runs(Vec<Run>),
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Run {
    /// Text without a style.
    Plain(String),
    /// Class names, then the text.
    Styled(String, String),
}

impl Line {
    /// The text without styles.
    pub fn words(&self) -> String {
        match self {
            Line::Plain(text) => text.clone(),
            Line::Runs(runs) => runs
                .iter()
                .map(|run| match run {
                    Run::Plain(text) | Run::Styled(_, text) => text.as_str(),
                })
                .collect(),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Style {
    bold: bool,
    dim: bool,
    italic: bool,
    underlined: bool,
    inverse: bool,
    ink: Option<u8>,
    ground: Option<u8>,
}

/// Splits an output into lines.
pub fn lines(text: &str) -> Vec<Line> {
    let mut style = Style::default();
    text.lines().map(|line| styled(last_overwrite(line), &mut style)).collect()
}

/// The visible part of a line after carriage returns overwrote its start.
fn last_overwrite(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit_once('\r').map_or(line, |(_, last)| last)
}

fn styled(line: &str, style: &mut Style) -> Line {
    if !line.contains('\u{1b}') && *style == Style::default() {
        return Line::Plain(plain(line));
    }
    let mut runs: Vec<Run> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (text, after) = match rest.split_once('\u{1b}') {
            Some((text, after)) => (text, Some(after)),
            None => (rest, None),
        };
        push(&mut runs, text, style);
        rest = after.map_or("", |after| sequence(after, style));
    }
    match runs.as_slice() {
        [] => Line::Plain(String::new()),
        [Run::Plain(only)] => Line::Plain(only.clone()),
        _ => Line::Runs(runs),
    }
}

fn push(runs: &mut Vec<Run>, text: &str, style: &Style) {
    if text.is_empty() {
        return;
    }
    let classes = style.classes();
    match (runs.last_mut(), classes.is_empty()) {
        (Some(Run::Plain(before)), true) => before.push_str(&plain(text)),
        (Some(Run::Styled(known, before)), false) if *known == classes => before.push_str(&plain(text)),
        (_, true) => runs.push(Run::Plain(plain(text))),
        (_, false) => runs.push(Run::Styled(classes, plain(text))),
    }
}

/// Consumes one escape sequence, whose escape is already gone. Returns the rest of the text.
fn sequence<'t>(text: &'t str, style: &mut Style) -> &'t str {
    let mut chars = text.char_indices();
    match chars.next() {
        Some((_, '[')) => {
            for (at, character) in chars {
                if ('@'..='~').contains(&character) {
                    if character == 'm' {
                        style.take(&text[1..at]);
                    }
                    return &text[at + 1..];
                }
            }
            ""
        }
        // A title or a link: up to the bell or the string terminator.
        Some((_, ']')) => {
            let bell = text.find('\u{7}').map(|at| at + 1);
            let end = text.find('\u{1b}').map(|at| (at + 2).min(text.len()));
            let at = [bell, end].into_iter().flatten().min().unwrap_or(text.len());
            text.get(at..).unwrap_or("")
        }
        Some((_, '(' | ')' | '#')) => chars.next().map_or("", |(at, c)| &text[at + c.len_utf8()..]),
        Some((_, other)) => &text[other.len_utf8()..],
        None => "",
    }
}

impl Style {
    fn take(&mut self, codes: &str) {
        let mut codes = codes.split([';', ':']).map(|code| code.parse::<u16>().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Style::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underlined = true,
                7 => self.inverse = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underlined = false,
                27 => self.inverse = false,
                30..=37 => self.ink = Some((code - 30) as u8),
                38 => self.ink = extended(&mut codes),
                39 => self.ink = None,
                40..=47 => self.ground = Some((code - 40) as u8),
                48 => self.ground = extended(&mut codes),
                49 => self.ground = None,
                90..=97 => self.ink = Some((code - 82) as u8),
                100..=107 => self.ground = Some((code - 92) as u8),
                _ => {}
            }
        }
    }

    fn classes(&self) -> String {
        let mut names = Vec::new();
        for (is_set, name) in [
            (self.bold, "b"),
            (self.dim, "d"),
            (self.italic, "i"),
            (self.underlined, "u"),
            (self.inverse, "v"),
        ] {
            if is_set {
                names.push(name.to_owned());
            }
        }
        names.extend(self.ink.map(|ink| format!("f{ink}")));
        names.extend(self.ground.map(|ground| format!("g{ground}")));
        names.join(" ")
    }
}

/// The nearest of the sixteen colours to one of the large palettes.
fn extended(codes: &mut impl Iterator<Item = u16>) -> Option<u8> {
    match codes.next()? {
        5 => {
            let number = codes.next()?;
            Some(match number {
                0..=15 => number as u8,
                16..=231 => {
                    let cube = number - 16;
                    nearest((cube / 36 * 51) as u8, (cube / 6 % 6 * 51) as u8, (cube % 6 * 51) as u8)
                }
                _ => {
                    let grey = ((number.min(255) - 232) * 10 + 8) as u8;
                    nearest(grey, grey, grey)
                }
            })
        }
        2 => {
            let mut part = || codes.next().map(|part| part.min(255) as u8);
            Some(nearest(part()?, part()?, part()?))
        }
        _ => None,
    }
}

fn nearest(red: u8, green: u8, blue: u8) -> u8 {
    let (high, low) = (red.max(green).max(blue), red.min(green).min(blue));
    if high - low < 40 {
        return match high {
            0..=60 => 0,
            61..=150 => 8,
            151..=220 => 7,
            _ => 15,
        };
    }
    let is_on = |part: u8| part > high / 2 + low / 4;
    let base = u8::from(is_on(red)) | u8::from(is_on(green)) << 1 | u8::from(is_on(blue)) << 2;
    if high > 200 && low > 60 { base + 8 } else { base }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        serde_json::to_string(&lines(text)).unwrap()
    }

    #[test]
    fn colours_become_classes() {
        assert_eq!(json("\u{1b}[31merror\u{1b}[0m: x"), r#"[[["f1","error"],": x"]]"#);
        assert_eq!(json("\u{1b}[1;38;5;9mred\u{1b}[m"), r#"[[["b f9","red"]]]"#);
        assert_eq!(json("\u{1b}[32ma\nb\u{1b}[0m\nc"), r#"[[["f2","a"]],[["f2","b"]],"c"]"#);
    }

    #[test]
    fn what_moves_a_terminal_is_dropped() {
        assert_eq!(json("10%\r50%\r100%"), r#"["100%"]"#);
        assert_eq!(json("a\u{1b}[2Jb\u{1b}[10;3Hc"), r#"["abc"]"#);
        assert_eq!(json("a\u{1b}]0;title\u{7}b"), r#"["ab"]"#);
        assert_eq!(json("a\u{1b}]8;;https://x\u{1b}\\link\u{1b}]8;;\u{1b}\\b"), r#"["alinkb"]"#);
    }

    #[test]
    fn any_bytes_after_an_escape_are_survived() {
        for text in
            ["\u{1b}", "\u{1b}[", "\u{1b}[99999999999m", "\u{1b}[38;5m", "\u{1b}é", "\u{1b}(", "\u{1b}]ü"]
        {
            let _ = lines(text);
        }
    }
}
