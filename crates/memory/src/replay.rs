//! Replays past prompts: for each one, the memories that earlier knowledge would have shown, and
//! whether they were right.

use serde::Serialize;

use crate::candidate::Candidate;
use crate::needs::{Needs, Row, needs};
use crate::past::{Past, Worth};
use crate::rank::{Ask, Catalog, Here, Memories, rank};
use crate::shelf::{Shelf, before};
use crate::weights::Weights;

/// Maximum memories shown per prompt.
const SHOWN_MAX: usize = 3;

/// The result of a replay.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Replay {
    /// Sessions that were replayed.
    pub sessions: usize,
    /// Prompts in them.
    pub prompts: usize,
    /// Prompts with at least one memory shown.
    pub shown: usize,
    /// Prompts with a right memory shown.
    pub right: usize,
    /// Prompts with a wrong memory shown.
    pub wrong: usize,
    /// Needs that were known before and not shown.
    pub missed: usize,
    /// Repeated messages, requests and failures.
    pub needs: Needs,
    /// Prompts without any memory shown.
    pub abstained: usize,
    /// The share of prompts with a wrong or irrelevant memory shown.
    pub wrong_show: f64,
    /// Every prompt with memories shown, and every miss.
    pub rows: Vec<Row>,
}

/// One mined item: agent, session, candidate.
pub type Found = (String, String, Candidate);

/// Replays sessions with the items mined from them, using these weights.
pub fn replay(pasts: &[Past], mut mined: Vec<Found>, weights: &Weights) -> Replay {
    mined.sort_by(|a, b| before(&a.2, &b.2));
    let mut mined = mined.into_iter().peekable();
    let mut prompts: Vec<(&Past, usize)> =
        pasts.iter().flat_map(|past| (0..past.prompts.len()).map(move |at| (past, at))).collect();
    prompts.sort_by_key(|(past, at)| (past.prompts.get(*at).and_then(|prompt| prompt.at), &past.key, *at));
    let mut shelf = Shelf::new();
    let mut catalog = Catalog::default();
    let mut replay = Replay { sessions: pasts.len(), prompts: prompts.len(), ..Replay::default() };
    let mut shown_in: hashbrown::HashMap<&retro_model::SessionKey, Vec<String>> = hashbrown::HashMap::new();
    let mut wrong_shows = 0;
    for (past, at) in prompts {
        let Some(prompt) = past.prompts.get(at) else { continue };
        let Some(now) = prompt.at else {
            replay.abstained += 1;
            continue;
        };
        let mut grew = false;
        while let Some((agent, session, candidate)) =
            mined.next_if(|(_, _, candidate)| candidate.created_at.is_none_or(|created| created < now))
        {
            shelf.add(&agent, &session, &candidate);
            grew = true;
        }
        if grew {
            catalog = Catalog::of(&shelf);
        }
        let here = Here {
            cwd: past.cwd.clone(),
            resolved: None,
            root: past.root.clone(),
            remote: past.remote.clone(),
        };
        let ask = Ask {
            query: &prompt.text,
            here,
            now,
            of_the_past: true,
            limit: SHOWN_MAX,
            status: None,
            accepted_only: false,
            unasked: true,
            weights,
        };
        let Ok(ranked) = rank(&Memories { shelf: &shelf, catalog: &catalog }, &ask);
        let before = shown_in.entry(&past.key).or_default();
        let shown: Vec<&crate::Memory> = ranked
            .fits
            .iter()
            .filter_map(|fit| shelf.items().get(fit.number))
            // A memory is shown at most once per session, and never to its own session.
            .filter(|memory| {
                !before.contains(&memory.id)
                    && !memory.origins.iter().any(|origin| origin.session_id == past.key.id)
            })
            .collect();
        before.extend(shown.iter().map(|memory| memory.id.clone()));
        if shown.is_empty() {
            replay.abstained += 1;
            continue;
        }
        let judged: Vec<_> = shown.iter().map(|memory| past.judge(memory, prompt.place)).collect();
        let has = |worth| judged.iter().find(|(found, _, _)| *found == worth);
        replay.shown += 1;
        replay.right += usize::from(has(Worth::Right).is_some());
        replay.wrong += usize::from(has(Worth::Wrong).is_some());
        wrong_shows += usize::from(has(Worth::Wrong).is_some() || has(Worth::Idle).is_some());
        let found = [Worth::Wrong, Worth::Right, Worth::Applies, Worth::Idle].into_iter().find_map(has);
        let (verdict, why) = found.map_or(("idle", ""), |(worth, _, why)| (name(*worth), *why));
        replay.rows.push(Row {
            agent: past.key.agent.clone(),
            session_id: past.key.id.clone(),
            event_id: prompt.event_id.clone(),
            memory_ids: shown.iter().map(|memory| memory.id.clone()).collect(),
            verdict,
            why: why.to_owned(),
        });
    }
    let (needs, missed) = needs(pasts, shelf.items(), &shown_in);
    replay.needs = needs;
    replay.missed = missed.len();
    replay.rows.extend(missed);
    replay.wrong_show = if replay.prompts == 0 { 0.0 } else { wrong_shows as f64 / replay.prompts as f64 };
    replay.wrong_show = (replay.wrong_show * 10_000.0).round() / 10_000.0;
    replay
}

fn name(worth: Worth) -> &'static str {
    match worth {
        Worth::Right => "right",
        Worth::Wrong => "wrong",
        Worth::Applies => "applies",
        Worth::Idle => "idle",
    }
}
