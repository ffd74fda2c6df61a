//! Decisions about memories: the only thing that the server changes, as `retro memory accept`
//! and its like do.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::Response;
use retro::store::{RealDisk, Store};
use retro::views::memory::{Decided, Verdict, decide};
use serde::Deserialize;
use std::sync::Arc;

use super::{Shared, answer, plain};
use crate::Build;
use crate::build::memories_again;

/// Where decisions are sent to.
pub const PATH: &str = "/memory";

/// Bytes that a decision takes at most.
pub const BYTES_MAX: usize = 4_096;

/// What is decided about which memory.
#[derive(Debug, Deserialize)]
struct Asked {
    id: String,
    /// accept, reject, retire, restore.
    verdict: String,
}

/// Decides, and brings the chunks of memories up to date before it answers.
pub async fn post(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let asked = serde_json::from_slice::<Asked>(&body).ok();
    let Some((verdict, asked)) = asked.and_then(|asked| Some((Verdict::parse(&asked.verdict)?, asked)))
    else {
        return plain(
            StatusCode::BAD_REQUEST,
            "a memory's id and one of accept, reject, retire, restore are needed",
        );
    };
    let told = Arc::clone(&shared);
    match tokio::task::spawn_blocking(move || told.decide(verdict, &asked.id)).await {
        Ok(Ok(decided)) => {
            // Nobody may be listening.
            let _ = shared.news.send("[\"memory\"]".into());
            let body = serde_json::to_vec(&decided).unwrap_or_default();
            answer(StatusCode::OK, &[(header::CONTENT_TYPE, "application/json")], body)
        }
        Ok(Err((status, why))) => plain(status, &why),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the decision ended early"),
    }
}

impl Shared {
    fn decide(&self, verdict: Verdict, id: &str) -> Result<Decided, (StatusCode, String)> {
        let (world, config) = (&self.library.world, &self.library.config);
        let broken = |error: &dyn std::fmt::Display| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
        let store = Store::open(&config.root.value, Arc::new(RealDisk)).map_err(|error| broken(&error))?;
        let known = retro::views::memory::all(world, config, &store).map_err(|error| broken(&error))?;
        if !known.iter().any(|memory| memory.id == id) {
            return Err((StatusCode::NOT_FOUND, "there is no such memory any more".to_owned()));
        }
        let decided =
            decide(world, config, &store, verdict, &[id.to_owned()]).map_err(|error| broken(&error))?;
        let work = Build { world, config, options: &self.library.options };
        let _building = self.building.lock();
        memories_again(&work).map_err(|error| broken(&error))?;
        Ok(decided)
    }
}
