//! Decisions about memories, the only changes that the server makes. They equal `retro memory
//! accept` and its siblings.

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

/// The address for decisions.
pub const PATH: &str = "/memory";

/// Maximum size of a decision.
pub const BYTES_MAX: usize = 4_096;

/// A decision about a memory.
#[derive(Debug, Deserialize)]
struct Asked {
    id: String,
    /// accept, reject, retire, restore.
    verdict: String,
}

/// Decides, and updates the memory chunks before it answers.
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
            // There may be no listener.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Options, build};
    use crate::serve::{guard, search};
    use axum::body::to_bytes;
    use retro::engine::{Config, World};
    use retro::memory::Status;
    use retro::views::memory::all;
    use serde_json::json;
    use tokio::sync::broadcast;

    /// A server's state over a store with one memory, and the channel of its announcements.
    fn shared(dir: &tempfile::TempDir) -> (Arc<Shared>, broadcast::Receiver<Arc<str>>) {
        let world = World::at(dir.path().join("home"));
        let config = Config::for_root(dir.path().join("store"));
        let store = Store::open_or_create(&config.root.value, Arc::new(RealDisk)).unwrap();
        let memory = json!({
            "id": "tabs", "source": "added", "kind": "case", "scope": "user", "status": "candidate",
            "text": "use tabs", "when_to_use": "", "confidence": 0.8, "priority": 3, "risk": "low", "origin": "user",
        });
        let memory = serde_json::from_value(memory).unwrap();
        retro::engine::memory::add(&world, &config, &store, &[memory]).unwrap();
        let options = Options { out: dir.path().join("out"), ..Options::default() };
        build(&Build { world: &world, config: &config, options: &options }, &|_, _| {}).unwrap();
        let (news, heard) = broadcast::channel(4);
        let folder = options.out.clone();
        let library = search::Library { world, config, options };
        let guard = guard::Guard::new(1).unwrap();
        (Arc::new(Shared { folder, library, guard, news, building: Arc::default() }), heard)
    }

    fn status(shared: &Shared) -> Status {
        let (world, config) = (&shared.library.world, &shared.library.config);
        let store = Store::open(&config.root.value, Arc::new(RealDisk)).unwrap();
        all(world, config, &store).unwrap()[0].status
    }

    #[test]
    fn a_decision_is_made_once_and_told_to_open_pages() {
        let dir = tempfile::tempdir().unwrap();
        let (shared, mut heard) = shared(&dir);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let ask = |body: &str| {
            runtime.block_on(async {
                let answer = post(State(Arc::clone(&shared)), Bytes::copy_from_slice(body.as_bytes())).await;
                let status = answer.status().as_u16();
                (
                    status,
                    String::from_utf8(to_bytes(answer.into_body(), 9_999).await.unwrap().to_vec()).unwrap(),
                )
            })
        };
        for (body, wanted) in [
            ("", 400),
            ("{\"id\":\"tabs\"}", 400),
            ("{\"id\":\"tabs\",\"verdict\":\"forget\"}", 400),
            ("{\"id\":\"ta\",\"verdict\":\"accept\"}", 404),
        ] {
            assert_eq!(ask(body).0, wanted, "{body}");
        }
        assert_eq!((status(&shared), heard.try_recv().is_err()), (Status::Candidate, true));
        let (code, said) = ask("{\"id\":\"tabs\",\"verdict\":\"accept\"}");
        assert_eq!(code, 200, "{said}");
        assert!(said.contains("retro.memory.decided/1") && said.contains("memory_accepted"), "{said}");
        assert_eq!(status(&shared), Status::Accepted);
        assert_eq!(&*heard.try_recv().unwrap(), "[\"memory\"]");
        let chunk = std::fs::read(shared.folder.join("data/memory.js")).unwrap();
        let chunk = String::from_utf8(crate::chunk::unpacked(&chunk).unwrap()).unwrap();
        assert!(chunk.contains("\"accepted\":1"), "{chunk}");
    }
}
