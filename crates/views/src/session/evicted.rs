//! A session whose raw bytes were given up: what its digest kept of it, as a reader sees it.

use retro_engine::Error;
use retro_insight::Digest;
use retro_model::{
    Address, Event, Kind, Native, Origin, Part, RawRef, SessionKey, SourceKey, Thread, Timestamp,
};
use retro_store::{DIGESTS, Store};
use retro_text::redact;

use super::family::Member;

/// The member of a family that stands for an evicted session. `None` if it is not evicted.
pub(super) fn member(store: &Store, key: &SessionKey) -> Result<Option<Member>, Error> {
    let Some(at) = store.session(key)?.and_then(|file| file.evicted_at) else { return Ok(None) };
    let digest: Option<Digest> = store.object(&DIGESTS, key)?;
    let mut events = Vec::new();
    if let Some(digest) = &digest {
        said(&mut events, Kind::User, Origin::User, &digest.first_prompt, digest.started_at);
    }
    let day = at.to_string().chars().take(10).collect::<String>();
    let kept = match &digest {
        Some(_) => "Its first and last prompt, its last answer, digest, costs, files and memories are kept.",
        None => "It had no digest: only its costs are kept.",
    };
    let note =
        format!("Evicted on {day}: retro gave up the captured bytes to stay within its limits. {kept}");
    said(
        &mut events,
        Kind::User,
        Origin::Harness,
        &note,
        digest.as_ref().and_then(|digest| digest.started_at),
    );
    if let Some(digest) = &digest {
        if digest.last_prompt != digest.first_prompt {
            said(&mut events, Kind::User, Origin::User, &digest.last_prompt, digest.ended_at);
        }
        said(&mut events, Kind::Assistant, Origin::Model, &digest.last_answer, digest.ended_at);
    }
    let (event_counts, models) = match digest {
        Some(digest) => (digest.events, digest.identity.models),
        None => Default::default(),
    };
    Ok(Some(Member {
        key: key.clone(),
        left_out: event_counts.values().sum::<u64>().saturating_sub(events.len() as u64),
        events,
        event_counts,
        coverage: Default::default(),
        gaps: Vec::new(),
        versions: Vec::new(),
        models,
        pictures: Default::default(),
    }))
}

/// Adds a text as an event. A prompt of a person starts a turn.
fn said(events: &mut Vec<Event>, kind: Kind, origin: Origin, text: &str, ts: Option<Timestamp>) {
    if text.is_empty() {
        return;
    }
    let before = events.last().map_or(0, |event| event.turn);
    let starts = (kind, origin) == (Kind::User, Origin::User);
    let record = events.len() as u64 + 1;
    let source = SourceKey::main();
    let address = Address { source: source.clone(), revision: 1, record };
    events.push(Event {
        id: address.event(Part::Whole),
        seq: record,
        turn: before + u32::from(starts || before == 0),
        thread: Thread::main(),
        live: true,
        ts,
        kind,
        origin,
        text: Some(redact(text)),
        truncated: false,
        tool: None,
        result: None,
        usage: None,
        copy_of: None,
        parent: None,
        native: Native::default(),
        response: None,
        model: None,
        cwd: None,
        branch: None,
        child: None,
        raw: RawRef { source, revision: 1, record, offset: 0, length: 0 },
        data: None,
    });
}
