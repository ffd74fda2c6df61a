//! Decisions about what recurs, as `retro curate` takes them.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::Response;
use retro::engine::patterns::{Curator, Words, recurring};
use retro::patterns::evidence_of;
use retro::store::{RealDisk, Store};
use retro::views::answers::Answer;
use retro::views::patterns::{CurateView, DetectQuestion, detect};
use serde::Deserialize;
use std::sync::Arc;

use super::{Shared, answer, plain};
use crate::Build;
use crate::build::{PATTERNS, patterns_again};

/// Where decisions are sent to.
pub const PATH: &str = "/patterns";

/// Bytes that a decision takes at most, with a person's own words.
pub const BYTES_MAX: usize = 16_384;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Approve,
    Reject,
    Discuss,
}

/// What is decided about which candidate.
#[derive(Debug, Deserialize)]
struct Asked {
    key: String,
    /// Names the evidence that the page showed.
    evidence: String,
    verdict: Verdict,
    /// The person's words in place of ours, with `approve`.
    #[serde(default)]
    title: String,
    #[serde(default)]
    resolution: String,
    #[serde(default)]
    when_to_use: String,
}

/// Decides, and brings the chunk of patterns up to date before it answers.
pub async fn post(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let Ok(asked) = serde_json::from_slice::<Asked>(&body) else {
        let needed = "a candidate's key, its evidence and one of approve, reject, discuss are needed";
        return plain(StatusCode::BAD_REQUEST, needed);
    };
    let told = Arc::clone(&shared);
    match tokio::task::spawn_blocking(move || told.decide_pattern(&asked)).await {
        Ok(Ok(view)) => {
            // Nobody may be listening.
            let _ = shared.news.send(format!("[{PATTERNS:?}]").into());
            let body = serde_json::to_vec(&Answer::of(view)).unwrap_or_default();
            answer(StatusCode::OK, &[(header::CONTENT_TYPE, "application/json")], body)
        }
        Ok(Err((status, why))) => plain(status, &why),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the decision ended early"),
    }
}

impl Shared {
    fn decide_pattern(&self, asked: &Asked) -> Result<CurateView, (StatusCode, String)> {
        let (world, config) = (&self.library.world, &self.library.config);
        let broken = |error: &dyn std::fmt::Display| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
        let store = Store::open(&config.root.value, Arc::new(RealDisk)).map_err(|error| broken(&error))?;
        let question = DetectQuestion::default();
        let found = detect(world, config, &store, &question).map_err(|error| broken(&error))?;
        let one = found.candidates.iter().find(|one| one.key == asked.key);
        let Some(one) = one else {
            return Err((StatusCode::NOT_FOUND, "there is no such candidate any more".to_owned()));
        };
        if evidence_of(&one.candidate) != asked.evidence {
            let why = "its evidence has changed since this page was made: look at it again";
            return Err((StatusCode::CONFLICT, why.to_owned()));
        }
        let corpus = recurring(&store).map_err(|error| broken(&error))?.corpus;
        let mut curator = Curator::open(world, config, &store, corpus).map_err(|error| broken(&error))?;
        let done = match asked.verdict {
            Verdict::Approve => curator.approve(&one.candidate, one.impact.usd, &asked.words()),
            Verdict::Reject => curator.reject(&one.candidate),
            Verdict::Discuss => curator.discuss(&one.candidate),
        };
        let mut view = CurateView::default();
        view.add(&one.candidate, done.map_err(|error| broken(&error))?);
        let work = Build { world, config, options: &self.library.options };
        let _building = self.building.lock();
        patterns_again(&work).map_err(|error| broken(&error))?;
        Ok(view)
    }
}

impl Asked {
    fn words(&self) -> Words {
        let own = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        Words {
            title: own(&self.title),
            resolution: own(&self.resolution),
            when_to_use: own(&self.when_to_use),
        }
    }
}
