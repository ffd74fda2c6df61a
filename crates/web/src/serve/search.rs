//! Search for a served page: the same index as `retro search`, by words and by meaning.

use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use retro::engine::ask::Patience;
use retro::engine::{Config, World};
use retro::model::PieceKind;
use retro::views::{SearchQuestion, SearchView, open_search};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

use super::{Shared, answer, plain};
use crate::build::Options;
use crate::session::Redact;
use retro::views::readable as text;

/// Maximum sessions in a result.
const SESSIONS_MAX: usize = 40;

/// Maximum characters of a query.
const QUESTION_CHARS_MAX: usize = 1_000;

/// A query from the page. Fields are named like the options of `retro search`.
#[derive(Debug, Default, Deserialize)]
pub struct Asked {
    #[serde(default)]
    q: String,
    agent: Option<String>,
    project: Option<String>,
    since: Option<Date>,
    until: Option<Date>,
    /// Comma-separated kinds: user, assistant, command, output, file.
    #[serde(rename = "in")]
    kinds: Option<String>,
}

/// The environment of a search.
pub struct Library {
    pub world: World,
    pub config: Config,
    pub options: Options,
}

/// Answers a query.
pub async fn search(State(shared): State<Arc<Shared>>, Query(asked): Query<Asked>) -> Response {
    if asked.q.trim().is_empty() || asked.q.chars().count() > QUESTION_CHARS_MAX {
        return plain(StatusCode::BAD_REQUEST, "a question of 1 to 1,000 characters is needed");
    }
    let found = tokio::task::spawn_blocking(move || shared.library.find(&asked)).await;
    match found {
        Ok(Ok(found)) => {
            let body = found.to_string().into_bytes();
            answer(StatusCode::OK, &[(header::CONTENT_TYPE, "application/json")], body)
        }
        Ok(Err(why)) => plain(StatusCode::INTERNAL_SERVER_ERROR, &why),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the search ended early"),
    }
}

impl Library {
    fn find(&self, asked: &Asked) -> Result<Value, String> {
        let Library { world, config, options } = self;
        let searching =
            open_search(world, config, Patience::None, &|_| {}).map_err(|error| error.to_string())?;
        let question = SearchQuestion {
            agent: asked.agent.clone(),
            project: asked.project.clone().or_else(|| options.project.clone()),
            since: asked.since,
            until: asked.until,
            kinds: kinds(asked.kinds.as_deref(), options.redact == Redact::Strict),
            limit: SESSIONS_MAX,
            tz: options.tz.clone().unwrap_or_else(TimeZone::system),
            ..SearchQuestion::new(asked.q.clone())
        };
        searching.search(world, config, &question).map(shown).map_err(|error| error.to_string())
    }
}

/// The kinds of text to search. Leaves out outputs for a strict page.
fn kinds(names: Option<&str>, is_strict: bool) -> Option<Vec<PieceKind>> {
    let name = |kind: &PieceKind| match kind {
        PieceKind::User => "user",
        PieceKind::Assistant | PieceKind::Reasoning => "assistant",
        PieceKind::Command => "command",
        PieceKind::Output | PieceKind::Error => "output",
        PieceKind::File => "file",
    };
    let is_asked = |kind: &PieceKind| names.is_none_or(|names| names.split(',').any(|one| one == name(kind)));
    let is_shown = |kind: &PieceKind| !is_strict || !matches!(name(kind), "output" | "file");
    if names.is_none() && !is_strict {
        return None;
    }
    Some(PieceKind::ALL.into_iter().filter(|kind| is_asked(kind) && is_shown(kind)).collect())
}

/// The result, with snippets split into parts, so that the page neither counts bytes nor parses
/// markup.
fn shown(view: SearchView) -> Value {
    let parts: Vec<Value> = view.hits.iter().map(|hit| parts(&hit.snippet, &hit.marks)).collect();
    let mut value = serde_json::to_value(&view).unwrap_or_default();
    for (hit, parts) in value["hits"].as_array_mut().into_iter().flatten().zip(parts) {
        hit["parts"] = parts;
        if let Some(hit) = hit.as_object_mut() {
            hit.remove("snippet");
            hit.remove("marks");
        }
    }
    value
}

/// `[["text", false], ["word", true]]`.
fn parts(snippet: &str, marks: &[(usize, usize)]) -> Value {
    let mut parts: Vec<Value> = Vec::new();
    let mut at = 0;
    let mut push = |text: Option<&str>, is_mark: bool| {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            parts.push(json!([text::plain(text), is_mark]));
        }
    };
    for (from, to) in marks.iter().copied().filter(|(from, to)| from < to) {
        if from < at || snippet.get(from..to).is_none() {
            continue;
        }
        push(snippet.get(at..from), false);
        push(snippet.get(from..to), true);
        at = to;
    }
    push(snippet.get(at..), false);
    Value::Array(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_parts() {
        assert_eq!(parts("a VAT b", &[(2, 5)]), json!([["a ", false], ["VAT", true], [" b", false]]));
        assert_eq!(parts("é", &[(1, 2)]), json!([["é", false]]));
        assert_eq!(parts("ab", &[(0, 1), (0, 2)]), json!([["a", true], ["b", false]]));
        assert_eq!(parts("", &[(4, 9)]), json!([]));
    }

    #[test]
    fn a_strict_page_finds_no_outputs() {
        assert_eq!(kinds(None, false), None);
        assert_eq!(kinds(Some("user,file"), false), Some(vec![PieceKind::User, PieceKind::File]));
        assert_eq!(kinds(Some("output,file"), true), Some(Vec::new()));
        assert!(!kinds(None, true).unwrap().contains(&PieceKind::Output));
    }
}
