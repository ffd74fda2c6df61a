//! `signals.md`: every signal, as `retro signal list` and `retro signal explain` tell it.

use serde_json::Value;
use std::collections::BTreeMap;

use crate::failure::Failure;

/// The page. `ask` runs the program with these words.
pub(super) fn page(ask: &dyn Fn(&[&str]) -> Result<String, Failure>) -> Result<String, Failure> {
    let list = ask(&["signal", "list", "--json"])?;
    let bad = |error: serde_json::Error| Failure::new(format!("`retro signal list --json`: {error}"));
    let list: Value = serde_json::from_str(&list).map_err(bad)?;
    let signals = list["signals"].as_array().cloned().unwrap_or_default();
    let mut families: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for signal in signals {
        let id = signal["id"].as_str().unwrap_or_default().to_owned();
        let explained = ask(&["signal", "explain", &id, "--json"])?;
        let explained: Value = serde_json::from_str(&explained).map_err(bad)?;
        families.entry(explained["text"].as_str().unwrap_or_default().to_owned()).or_default().push(signal);
    }
    let mut page = String::from(
        "# Signals\n\nWhat `retro signal` can say of a session. A reading always exists: a value, or null with a reason.\n",
    );
    let mut families: Vec<(String, Vec<Value>)> = families.into_iter().collect();
    families.sort_by_key(|(_, signals)| signals.first().map(|signal| signal["id"].to_string()));
    for (text, signals) in families {
        page.push_str("\n## ");
        let names: Vec<&str> = signals.iter().filter_map(|signal| signal["id"].as_str()).collect();
        page.push_str(names.first().copied().unwrap_or_default());
        page.push_str(
            "\n\n| signal | group | kind | method | unit | |\n| --- | --- | --- | --- | --- | --- |\n",
        );
        for signal in &signals {
            let field = |name: &str| signal[name].as_str().unwrap_or_default().to_owned();
            let cells: Vec<String> =
                ["group", "kind", "method", "unit", "title"].into_iter().map(field).collect();
            page.push_str(&format!("| `{}` | {} |\n", field("id"), cells.join(" | ")));
        }
        for line in text.lines() {
            match line.strip_prefix("# ") {
                Some(heading) => page.push_str(&format!("\n**{heading}.** ")),
                None => page.push_str(&format!("{line}\n")),
            }
        }
    }
    Ok(page)
}
