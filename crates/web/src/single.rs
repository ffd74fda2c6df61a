//! A single HTML file to send: a session, or the overview.
//!
//! Script and style are inside, allowed by their hashes. Data is in inert script elements. The file
//! loads nothing else.

use base64::Engine;
use retro::model::SessionKey;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

use crate::chunk::{Chunk, Packing, packed, session_name, unpacked};
use crate::folder::write_private;
use crate::{Error, assets};

/// The content of the file.
#[derive(Debug, Clone)]
pub enum Single {
    /// A session, complete.
    Session(SessionKey),
    /// Overview, list and cost, without the text of sessions.
    Overview,
}

/// Writes one file from an up-to-date dashboard folder.
pub fn single(folder: &Path, what: &Single, to: &Path) -> Result<u64, Error> {
    let data = folder.join("data");
    let (names, start) = match what {
        Single::Session(key) => {
            let name = session_name(key);
            let start = format!("#/session/{}/{}", key.agent, escaped(&key.id));
            let mut names = chunks_of(&data, &name)?;
            // The names of its readings.
            names.push("signals".to_owned());
            (names, Some(start))
        }
        Single::Overview => (vec!["health".to_owned(), "signals".to_owned()], None),
    };
    let mut islands = String::new();
    for chunk in frame(&data, what)? {
        push(&mut islands, &chunk.name, &packed(&chunk.json, Packing::Small)?);
    }
    for name in names {
        let script = std::fs::read(data.join(format!("{name}.js")))?;
        let json = unpacked(&script).ok_or_else(|| Error::Json(format!("{name} is damaged")))?;
        push(&mut islands, &name, &packed(&json, Packing::Small)?);
        push_pictures(&mut islands, folder, &json)?;
    }
    let page = page(&islands, start.as_deref());
    write_private(to, page.as_bytes()).map_err(|source| Error::Write { path: to.to_owned(), source })?;
    Ok(page.len() as u64)
}

/// The page's first data: all rows, or only that of the session.
fn frame(data: &Path, what: &Single) -> Result<Vec<Chunk>, Error> {
    let read = |name: &str| -> Result<serde_json::Value, Error> {
        let script = std::fs::read(data.join(format!("{name}.js")))?;
        let json = unpacked(&script).ok_or_else(|| Error::Json(format!("{name} is damaged")))?;
        serde_json::from_slice(&json).map_err(|error| Error::Json(error.to_string()))
    };
    let mut meta = read("meta")?;
    meta["search"] = serde_json::json!([]);
    // Memories and patterns quote sessions that are not in the file.
    meta["memories"] = serde_json::json!({"total": 0, "to_review": 0});
    meta["patterns"] = serde_json::json!({"total": 0, "open": 0});
    let months: Vec<String> = meta["months"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|month| Some(format!("rows/{}", month["month"].as_str()?)))
        .collect();
    let mut chunks = Vec::new();
    for name in months {
        let mut rows = read(&name)?;
        if let Single::Session(key) = what
            && !keep_only(&mut rows, key)
        {
            continue;
        }
        if matches!(what, Single::Session(_)) {
            meta["months"] = serde_json::json!([{"month": rows["month"], "sessions": 1, "bytes": 0}]);
            meta["sessions"] = 1.into();
            meta["single"] = true.into();
        }
        if matches!(what, Single::Overview) {
            let signals = name.replace("rows/", "g/");
            chunks.push(Chunk::of(signals.clone(), &read(&signals)?)?);
        }
        chunks.push(Chunk::of(name, &rows)?);
    }
    chunks.push(Chunk::of("meta", &meta)?);
    Ok(chunks)
}

/// Keeps only one session of a month. False if the month does not contain it.
fn keep_only(month: &mut serde_json::Value, key: &SessionKey) -> bool {
    let column = |name: &str| month["rows"][name].as_array().cloned().unwrap_or_default();
    let (agents, ids) = (column("agent"), column("session_id"));
    let place = agents.iter().zip(&ids).position(|(agent, id)| *agent == *key.agent && *id == *key.id);
    let Some(place) = place else { return false };
    let kept: Vec<usize> = {
        let rows = month["cells"]["row"].as_array().cloned().unwrap_or_default();
        rows.iter()
            .enumerate()
            .filter(|(_, row)| row.as_u64() == Some(place as u64))
            .map(|(at, _)| at)
            .collect()
    };
    if let Some(columns) = month["rows"].as_object_mut() {
        for column in columns.values_mut().filter_map(|column| column.as_array_mut()) {
            *column = column.get(place).cloned().into_iter().collect();
        }
        columns.insert("length".to_owned(), 1.into());
    }
    if let Some(columns) = month["cells"].as_object_mut() {
        for (name, column) in columns.iter_mut().filter(|(name, _)| *name != "models") {
            let Some(list) = column.as_array_mut() else { continue };
            *list = kept.iter().filter_map(|at| list.get(*at).cloned()).collect();
            if name == "row" {
                list.iter_mut().for_each(|row| *row = 0.into());
            }
        }
    }
    true
}

/// The names of a session's chunks in a folder.
fn chunks_of(data: &Path, name: &str) -> Result<Vec<String>, Error> {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(data.join(folder))? {
        let found = entry?.file_name();
        let Some(found) = found.to_str().and_then(|found| found.strip_suffix(".js")) else { continue };
        let part = found.strip_prefix(file).and_then(|rest| rest.strip_prefix('.'));
        if part.is_some_and(|part| !part.contains('.')) {
            names.push(format!("{folder}/{found}"));
        }
    }
    names.sort();
    if names.is_empty() { Err(Error::Missing(PathBuf::from(name))) } else { Ok(names) }
}

fn push(islands: &mut String, name: &str, packed: &str) {
    // Base64 and retro's own names cannot end a script element.
    islands.push_str(&format!("<script type=\"application/json\" id=\"d:{name}\">\"{packed}\"</script>\n"));
}

/// The pictures that a chunk names, each once.
fn push_pictures(islands: &mut String, folder: &Path, json: &[u8]) -> Result<(), Error> {
    let Ok(entries) = std::fs::read_dir(folder.join("img")) else { return Ok(()) };
    let text = String::from_utf8_lossy(json);
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if text.contains(&format!("\"{name}\"")) && !islands.contains(&format!("id=\"d:img/{name}\"")) {
            let bytes = std::fs::read(entry.path())?;
            push(islands, &format!("img/{name}"), &base64::engine::general_purpose::STANDARD.encode(bytes));
        }
    }
    Ok(())
}

fn page(islands: &str, start: Option<&str>) -> String {
    let script = assets::SCRIPT.replace("</script", "<\\/script");
    let hash = |text: &str| base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes()));
    let csp = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data: blob:; \
         base-uri 'none'; form-action 'none'; object-src 'none'; require-trusted-types-for 'script'; \
         trusted-types svelte-trusted-html retro-chunk",
        hash(&script),
        hash(assets::STYLE)
    );
    let start =
        start.map_or(String::new(), |start| format!("<meta name=\"retro-session\" content=\"{start}\" />"));
    let index = assets::index(&csp, "single");
    let index = between(&index, "STYLE", &format!("{start}<style>{}</style>", assets::STYLE));
    let index = between(&index, "SCRIPT", &format!("<script>{script}</script>"));
    index.replace("<!--DATA-->", islands)
}

/// Replaces the text between two marker comments.
fn between(page: &str, mark: &str, with: &str) -> String {
    let (open, close) = (format!("<!--{mark}-->"), format!("<!--/{mark}-->"));
    match (page.split_once(&open), page.split_once(&close)) {
        (Some((before, _)), Some((_, after))) => [before, with, after].concat(),
        _ => page.to_owned(),
    }
}

/// An id, escaped for an address and an attribute.
fn escaped(id: &str) -> String {
    let stays = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    id.bytes()
        .map(|byte| if stays(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_inside_and_nothing_of_an_id_is_markup() {
        let page =
            page("<script type=\"application/json\" id=\"d:meta\">\"x\"</script>", Some("#/session/a/b"));
        assert!(!page.contains("src=\"app.js\"") && !page.contains("href=\"app.css\""));
        assert!(page.contains("script-src 'sha256-") && page.contains("content=\"single\""));
        assert_eq!(escaped("a\"><script>"), "a%22%3E%3Cscript%3E");
    }
}
