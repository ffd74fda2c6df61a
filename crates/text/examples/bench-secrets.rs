//! How fast texts are scanned that are made to be slow. Ignored: it measures. Run it with
//!
//! ```sh
//! CARGO_PROFILE_DEV_OPT_LEVEL=3 cargo test -p retro-text --target-dir target/speed \
//!     --test speed -- --ignored --nocapture
//! ```

use retro_text::secrets;
use std::time::Instant;

/// Bytes of a text, and how often it is scanned: the best time counts.
const TEXT_BYTES: usize = 256 * 1024;
const RUNS: usize = 3;

/// Bytes a second that the slowest text must reach.
const BYTES_A_SECOND_MIN: f64 = 5.0e6;

/// Time that this thread was on a processor, where the system tells.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(stat.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

/// Bytes a second of a text that repeats a piece.
fn speed(piece: &str, text_bytes: usize) -> f64 {
    let text = piece.repeat(text_bytes / piece.len());
    let once = |_| {
        let begin = (Instant::now(), cpu_seconds());
        std::hint::black_box(secrets::find(&text));
        match (begin.1, cpu_seconds()) {
            (Some(from), Some(to)) => to - from,
            _ => begin.0.elapsed().as_secs_f64(),
        }
    };
    text.len() as f64 / (0..RUNS).map(once).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "measures"]
fn texts_that_are_made_to_be_slow_are_scanned_fast_enough() {
    let private = ["-----BEGIN RSA", " PRIVATE KEY-----"].concat();
    let line = "aB3".repeat(16);
    let pieces = [
        "mysql -p ".to_owned(),
        "mysql -p\n".to_owned(),
        "mysql -h db -u app -p shop ".to_owned(),
        "sk-".to_owned(),
        "sk-a1".to_owned(),
        format!("{private}\n"),
        format!("{private}\nMIIE{line}\n"),
        private.clone(),
        format!("{private}\\n"),
        "\\".to_owned(),
        "\\u00".to_owned(),
        "\u{1b}]".to_owned(),
        "\u{1b}[31m".to_owned(),
        "%25".to_owned(),
        "%3A%2F%2Fa%3Ab%40".to_owned(),
        "[redacted:jwt]".to_owned(),
        "user,password,token\n".to_owned(),
        "password,".to_owned(),
        "| password | token |\n".to_owned(),
        ":5432:".to_owned(),
        ":*:".to_owned(),
        format!("{line}\n"),
        "variable \"".to_owned(),
        "a word and another one\n".to_owned(),
    ];
    let mut slow = Vec::new();
    for piece in pieces {
        let speed = speed(&piece, TEXT_BYTES);
        println!("{:8.1} MB/s  {piece:?}", speed / 1e6);
        slow.extend((speed < BYTES_A_SECOND_MIN).then_some(piece));
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

#[test]
#[ignore = "measures"]
fn texts_of_one_keyword() {
    let mut speeds: Vec<(f64, String)> = Vec::new();
    for keyword in secrets::keywords() {
        for end in ["", " ", "\n", "=", "x1 ", " -p "] {
            let piece = format!("{keyword}{end}");
            speeds.push((speed(&piece, TEXT_BYTES / 8), piece));
        }
    }
    speeds.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (speed, piece) in speeds.iter().take(40) {
        println!("{:8.1} MB/s  {piece:?}", speed / 1e6);
    }
    let slow = speeds.iter().filter(|(speed, _)| *speed < BYTES_A_SECOND_MIN).count();
    println!("{slow} of {} below {:.0} MB/s", speeds.len(), BYTES_A_SECOND_MIN / 1e6);
}
