//! `detectors.md`: every detector, as `retro detect --explain` tells it.

use serde_json::Value;

use crate::failure::Failure;

/// The page. `ask` runs the program with these words.
pub(super) fn page(ask: &dyn Fn(&[&str]) -> Result<String, Failure>) -> Result<String, Failure> {
    let list = ask(&["detect", "--explain", "all", "--json"])?;
    let bad =
        |error: serde_json::Error| Failure::new(format!("`retro detect --explain all --json`: {error}"));
    let list: Value = serde_json::from_str(&list).map_err(bad)?;
    let mut page = String::from(
        "# Detectors\n\nWhat `retro detect` looks for in each session. How signs become patterns: \
         [patterns](../patterns.md).\n",
    );
    for detector in list["detectors"].as_array().into_iter().flatten() {
        let field = |name: &str| detector[name].as_str().unwrap_or_default();
        page.push_str(&format!("\n## {}\n\nA {}: {}.\n", field("name"), field("polarity"), field("title")));
        for line in field("text").lines() {
            match line.strip_prefix("# ") {
                Some(heading) => page.push_str(&format!("\n**{heading}.** ")),
                None => page.push_str(&format!("{line}\n")),
            }
        }
    }
    Ok(page)
}
