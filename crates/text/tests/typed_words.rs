//! How many words that people typed are lost with what stands in marks, on recorded messages.
//!
//! The count is by a reader of its own, which ends each pasted block at the *first* mark that
//! closes it: what it leaves was typed beside the blocks. `typed` ends a block at the last
//! such mark, so that no pasted mark can end it early, and loses what is between.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use retro_text::typed::typed;
use std::collections::HashMap;

/// Words that may be lost.
const LOST_SHARE_MAX: f64 = 0.02;

fn words(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// A text without what is between a mark and the next one that closes it.
fn without(text: &str, open: &str, close: &str, is_block: impl Fn(&str) -> bool) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        let Some((inside, behind)) = after.split_once(close) else { break };
        left.push_str(before);
        match is_block(inside) {
            true => left.push(' '),
            false => left.push_str(inside),
        }
        rest = behind;
    }
    left + rest
}

/// A text without the content of its tags, each to the next tag that closes it.
fn without_tags(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        left.push_str(before);
        let length = after.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_:.".contains(*c)).count();
        let name = after.get(..length).unwrap_or_default();
        let inside = after.find('>').and_then(|end| after.get(end + 1..));
        let closed = inside.and_then(|inside| inside.split_once(&format!("</{name}>")));
        match closed.filter(|_| !name.is_empty()) {
            Some((_, behind)) => rest = behind,
            None => {
                left.push('<');
                rest = after;
            }
        }
    }
    left + rest
}

/// What is left of a message without its pasted blocks.
fn beside_blocks(text: &str) -> String {
    let many = |inside: &str| inside.split_whitespace().count() >= 3;
    let text = without(text, "```", "```", |_| true);
    let text = without(&text, "\"\"\"", "\"\"\"", |_| true);
    let text = without_tags(&text);
    let mut lines = String::new();
    let (mut after_gap, mut in_code) = (true, false);
    for line in text.lines() {
        let trimmed = line.trim();
        let is_indented = line.starts_with('\t') || line.starts_with("    ");
        in_code = is_indented && !trimmed.is_empty() && (after_gap || in_code);
        if !in_code && ![">", "|", "$ ", "% ", "❯"].iter().any(|sign| trimmed.starts_with(sign)) {
            let mut line = line.to_owned();
            for (open, close) in [("\"", "\""), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」")]
            {
                line = without(&line, open, close, many);
            }
            line = without(&line, "`", "`", |inside| inside.split_whitespace().count() > 8);
            lines.push_str(&line);
            lines.push('\n');
        }
        after_gap = trimmed.is_empty() || trimmed.ends_with(':');
    }
    lines
}

/// Words of the first text that the second lacks, and all of the first.
fn lost(genuine: &str, kept: &str) -> (usize, usize) {
    let kept = words(kept);
    let genuine = words(genuine);
    let missing = |(word, count): (&&str, &usize)| count.saturating_sub(*kept.get(*word).unwrap_or(&0));
    (genuine.iter().map(missing).sum(), genuine.values().sum())
}

#[test]
fn the_count_sees_what_is_lost_between_two_blocks() {
    let text = "one\n```\nX\n```\ntwo three\n```\nY\n```\nfour";
    let kept: String = typed(text).into_iter().map(|span| text[span].to_owned() + " ").collect();
    assert_eq!(lost(&beside_blocks(text), &kept), (2, 4));
}

#[test]
fn few_words_that_people_typed_are_lost() {
    let Some(shared) = std::env::var_os("RETRO_SHARED") else {
        println!("skipped: RETRO_SHARED names no recorded messages");
        return;
    };
    let path = std::path::Path::new(&shared).join("corpus/user-words.jsonl");
    let Ok(lines) = std::fs::read_to_string(path) else {
        println!("skipped: there are no recorded messages");
        return;
    };
    let (mut missing, mut all, mut messages, mut touched) = (0, 0, 0, 0);
    for line in lines.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = record["text"].as_str().unwrap_or_default();
        let kept: String = typed(text).into_iter().map(|span| text[span].to_owned() + " ").collect();
        let (gone, total) = lost(&beside_blocks(text), &kept);
        missing += gone;
        all += total;
        messages += 1;
        touched += usize::from(gone > 0);
    }
    let share = missing as f64 / all.max(1) as f64;
    println!("{missing} of {all} words lost ({:.2} %), in {touched} of {messages} messages", share * 100.0);
    assert!(messages > 100, "{messages}");
    assert!(share <= LOST_SHARE_MAX, "{missing} of {all} words, {:.2} %", share * 100.0);
}
