//! Announces changes: after each sync, the names of the changed chunks.

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use retro::engine::watch::watch;
use retro::engine::{Config, SyncOptions, World};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::Shared;
use crate::Build;
use crate::build::{Options, build};

/// The channel for announcements, and the lock for writers to the folder.
pub type Telling = (broadcast::Sender<Arc<str>>, Arc<Mutex<()>>);

/// Captures the output of agents and builds the changes, until a stop is requested.
pub fn follow(
    world: &World,
    config: &Config,
    options: &Options,
    (news, building): Telling,
) -> JoinHandle<()> {
    let (world, config, options) = (world.clone(), config.clone(), options.clone());
    std::thread::spawn(move || {
        let mut tell = |_: &retro::engine::SyncReport| {
            let work = Build { world: &world, config: &config, options: &options };
            let _building = building.lock();
            // A failed build is repeated after the next change.
            if let Ok(built) = build(&work, &|_, _| {})
                && !built.changed.is_empty()
                && let Ok(names) = serde_json::to_string(&built.changed)
            {
                // There may be no listener.
                let _ = news.send(names.into());
            }
        };
        // Without a watcher the page still shows the current state.
        let _ = watch(&world, &config, &SyncOptions::default(), &|_| {}, &mut tell);
    })
}

/// The event stream of an open page.
pub async fn events(State(shared): State<Arc<Shared>>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let listener = shared.news.subscribe();
    let stream = unfold(listener, |mut listener| async move {
        match listener.recv().await {
            Ok(names) => Some((Ok(Event::default().event("changed").data(&*names)), listener)),
            // A page that missed announcements reads everything again.
            Err(RecvError::Lagged(_)) => Some((Ok(Event::default().event("changed").data("[]")), listener)),
            Err(RecvError::Closed) => None,
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}
