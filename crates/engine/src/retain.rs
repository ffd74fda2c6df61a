//! Retention: raw bytes are given up when `raw/` is larger or older than its user wants.
//!
//! `survey.rs` collects what is known of sessions, `plan.rs` decides, `evict.rs` does it. A
//! sync sweeps by itself once its user has set a limit or has run `retro retain --yes`; until
//! then it only says what it would do.

pub mod evidence;
pub mod plan;
mod survey;
mod unindexed;

use retro_model::{SessionKey, Timestamp};
use retro_store::{Index, Journal, RealDisk, SWEEPS, SessionRow, Store};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::Progress;
use crate::config::Retention;
use crate::evict::evict_with_loss;
pub use crate::retained::{CapsView, Distilled, EvictedSession, Pass, PassSum, Passes, Retained};
use crate::{Config, Error, World, reconcile};
use plan::{Caps, Going, Held, Plan};
use survey::{Failed, Survey, survey};
use unindexed::Unindexed;

/// One sweep, as it is remembered. It names no session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepLine {
    /// When.
    pub at: Timestamp,
    /// `retain` where a person asked for it, else `sync`.
    pub by: String,
    /// Sessions whose raw bytes went.
    pub sessions: u64,
    /// Of these, the ones that had no digest.
    pub data_loss: u64,
    /// Bytes of `raw/` that went.
    pub freed: u64,
    /// Bytes of `raw/` afterwards.
    pub usage: u64,
}

static LINES: Journal<SweepLine> = Journal::at(SWEEPS);

const BY_PERSON: &str = "retain";
const BY_SYNC: &str = "sync";

/// Rounds of a sweep: what cannot be analyzed or given up is found out while trying.
const ROUNDS_MAX: usize = 4;

/// How to sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sweep {
    /// Change nothing.
    DryRun,
    /// A person asked for it.
    ByPerson,
    /// A sync does it by itself.
    BySync,
}

/// Gives up raw bytes until the limits hold, or says what would go.
pub fn retain(
    world: &World,
    config: &Config,
    how: Sweep,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Retained, Error> {
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let index = store.index()?;
    if how != Sweep::DryRun {
        reconcile::reconcile(world, crate::stages::STAGES, &store, &index)?;
    }
    let Unindexed { unread, lost } = unindexed::look(&store, &index)?;
    if !lost.is_empty() {
        return unready(config, &store, &index, how, lost.len());
    }
    let failed = Failed { unread, ..Failed::default() };
    let mut at_work = AtWork { world, config, store: &store, index: &index, failed };
    let mut plan = at_work.plan()?;
    let mut answer = Retained::of(config, &store, how, &plan)?;
    if how == Sweep::DryRun {
        answer.take(&plan.going, None);
        answer.needs = at_work.needs(&plan.held);
        answer.final_usage = plan.after;
        answer.freed = plan.before - plan.after;
        return Ok(answer);
    }
    for _ in 0..ROUNDS_MAX {
        if plan.going.is_empty() || world.stopping() {
            break;
        }
        let gone = at_work.give_up(&plan, progress)?;
        answer.take(&plan.going, Some(&gone));
        let is_done = plan.going.iter().all(|going| gone.contains(&going.key));
        plan = at_work.plan()?;
        if is_done {
            break;
        }
    }
    answer.needs = at_work.needs(&plan.held);
    answer.final_usage = plan.before;
    answer.freed = answer.usage_before.saturating_sub(answer.final_usage);
    remember(world, &store, how, &answer)?;
    Ok(answer)
}

/// Says that nothing was given up, because the index has not all sessions.
fn unready(
    config: &Config,
    store: &Store,
    index: &Index,
    how: Sweep,
    lost: usize,
) -> Result<Retained, Error> {
    let before = index.disk_bytes()? + store.shared_raw_bytes()?;
    let plan = Plan { before, after: before, ..Plan::default() };
    let mut answer = Retained::of(config, store, how, &plan)?;
    let sessions = if lost == 1 { "1 session".to_owned() } else { format!("{lost} sessions") };
    answer.needs = vec![format!(
        "the index was lost and does not have {sessions} yet: run `retro sync`, then this again"
    )];
    Ok(answer)
}

/// Keeps that a sweep was made. A person's run is remembered even if nothing went: from then on
/// a sync sweeps too.
fn remember(world: &World, store: &Store, how: Sweep, answer: &Retained) -> Result<(), Error> {
    if how == Sweep::BySync && answer.evicted.is_empty() {
        return Ok(());
    }
    let Some(lock) = world.lock(store)? else { return Err(Error::Interrupted) };
    let line = SweepLine {
        at: world.now(),
        by: if how == Sweep::ByPerson { BY_PERSON } else { BY_SYNC }.to_owned(),
        sessions: answer.evicted.len() as u64,
        data_loss: answer.data_loss.len() as u64,
        freed: answer.freed,
        usage: answer.final_usage,
    };
    Ok(LINES.append(&lock, store, &[line])?)
}

/// Whether a sync gives up raw bytes by itself.
pub fn is_enabled(config: &Config, store: &Store) -> Result<bool, Error> {
    Ok(config.retention.value.is_set || LINES.read(store)?.0.iter().any(|line| line.by == BY_PERSON))
}

/// A sweep at work.
struct AtWork<'a> {
    world: &'a World,
    config: &'a Config,
    store: &'a Store,
    index: &'a Index,
    failed: Failed,
}

impl AtWork<'_> {
    fn plan(&self) -> Result<Plan, Error> {
        let AtWork { world, config, store, index, failed } = self;
        let Survey { items, fixed } = survey(world, config, store, index, failed)?;
        let last = LINES.read(store)?.0.iter().map(|line| line.at).max();
        let (now_ms, last_ms) = (world.now().as_millis(), last.map(Timestamp::as_millis));
        plan::plan(&items, fixed, caps(&config.retention.value), now_ms, last_ms).map_err(|behind| {
            Error::ClockBehind {
                now: world.now(),
                last: Timestamp::from_millis(behind.last_sweep_ms).unwrap_or_else(|| world.now()),
            }
        })
    }

    /// Why more than the soft cap stays, in words, and which sessions cannot be read.
    fn needs(&self, held: &[Held]) -> Vec<String> {
        let mut needs = needs(held);
        needs.extend(unread(&self.failed.unread));
        needs
    }

    /// Gives up what a plan says. What could not be is remembered for the next plan.
    fn give_up(
        &mut self,
        plan: &Plan,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<HashSet<SessionKey>, Error> {
        let keys: Vec<SessionKey> = plan.going.iter().map(|going| going.key.clone()).collect();
        let lost: HashSet<SessionKey> =
            plan.going.iter().filter(|going| going.data_loss).map(|going| going.key.clone()).collect();
        let evicted = evict_with_loss(self.world, self.config, &keys, &lost, progress)?;
        for (key, _) in evicted.left {
            match lost.contains(&key) {
                true => self.failed.stuck.insert(key),
                false => self.failed.unreadable.insert(key),
            };
        }
        Ok(evicted.sessions.into_iter().collect())
    }
}

impl Retained {
    fn of(config: &Config, store: &Store, how: Sweep, plan: &Plan) -> Result<Retained, Error> {
        let limits = &config.retention.value;
        let (bytes, cap) = (store.distilled_bytes()?, limits.distilled_cap_bytes);
        Ok(Retained {
            dry_run: how == Sweep::DryRun,
            enabled: how == Sweep::ByPerson || is_enabled(config, store)?,
            caps: CapsView {
                raw_soft_cap_bytes: limits.raw_soft_cap_bytes,
                raw_hard_cap_bytes: limits.raw_hard_cap_bytes,
                raw_max_age_days: limits.raw_max_age_days,
            },
            usage_before: plan.before,
            final_usage: plan.before,
            freed: 0,
            passes: Passes::default(),
            evicted: Vec::new(),
            data_loss: Vec::new(),
            distilled: Distilled { bytes, cap, alert: bytes > cap },
            needs: Vec::new(),
        })
    }

    /// Takes in what goes: all of a dry run, else those that are gone.
    fn take(&mut self, going: &[Going], gone: Option<&HashSet<SessionKey>>) {
        for one in going.iter().filter(|one| gone.is_none_or(|gone| gone.contains(&one.key))) {
            let sum = match one.pass {
                Pass::Age => &mut self.passes.age,
                Pass::Soft => &mut self.passes.soft,
                Pass::Hard => &mut self.passes.hard,
            };
            (sum.sessions, sum.bytes) = (sum.sessions + 1, sum.bytes + one.bytes);
            let evicted = EvictedSession {
                agent: one.key.agent.clone(),
                session_id: one.key.id.clone(),
                bytes: one.bytes,
                pass: one.pass,
                analyzed: !one.data_loss,
            };
            if one.data_loss {
                self.data_loss.push(evicted.clone());
            }
            self.evicted.push(evicted);
        }
    }
}

fn caps(limits: &Retention) -> Caps {
    const DAY_MS: i64 = 86_400_000;
    Caps {
        soft: limits.raw_soft_cap_bytes,
        hard: limits.raw_hard_cap_bytes,
        max_age_ms: limits.raw_max_age_days.map(|days| i64::from(days) * DAY_MS),
    }
}

/// Why more than the soft cap stays, in words.
fn needs(held: &[Held]) -> Vec<String> {
    let said = held.iter().map(|Held { why, sessions, bytes }| {
        let (what, help) = match why {
            plan::WhyHeld::Pinned => ("sessions that go with a pinned one", "`retro unpin` frees them"),
            plan::WhyHeld::Evidence => {
                ("sessions that an approved memory or pattern rests on", "only the hard cap takes these")
            }
            plan::WhyHeld::NotAnalyzed => {
                ("sessions that are not analyzed yet", "`retro sync` analyzes them once they are quiet")
            }
            plan::WhyHeld::Shared => {
                ("files that serve many sessions, or none that can be read", "they stay")
            }
        };
        match sessions {
            0 => format!("{bytes} bytes are {what}: {help}"),
            _ => format!("{sessions} {what} have {bytes} bytes: {help}"),
        }
    });
    said.collect()
}

/// How many sessions are named.
const NAMED_MAX: usize = 5;

/// Names the sessions that are left out because they cannot be read.
fn unread(keys: &BTreeSet<SessionKey>) -> Option<String> {
    let named: Vec<String> = keys.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    let more = match keys.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!keys.is_empty()).then(|| {
        format!(
            "sessions that cannot be read stay, with the trees that they are in: {}{more}; \
             `retro verify` says why",
            named.join(", ")
        )
    })
}

/// Under which name the index remembers what the last look of a sync saw.
const LOOKED: &str = "retention";

/// How long a look of a sync is good for while nothing is captured.
const LOOK_MS: i64 = 6 * 3_600_000;

/// The last stage of a sync. Costs two small questions while `raw/` is below its cap.
pub(crate) fn after_sync(
    world: &World,
    config: &Config,
    store: &Store,
    index: &Index,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Option<Retained>, Error> {
    let limits = &config.retention.value;
    // What sessions take beside their raw files is in it too: never too little.
    let used = index.disk_bytes()? + store.shared_raw_bytes()?;
    if used <= limits.raw_soft_cap_bytes && limits.raw_max_age_days.is_none() {
        return Ok(None);
    }
    let is_enabled = is_enabled(config, store)?;
    let look = format!("{used} {} {is_enabled} {limits:?}", world.now().as_millis() / LOOK_MS);
    let look = blake3::hash(look.as_bytes()).to_hex().to_string();
    if index.meta(LOOKED)?.as_ref() == Some(&look) {
        return Ok(None);
    }
    unindexed::remember(store, index)?;
    let how = if is_enabled { Sweep::BySync } else { Sweep::DryRun };
    let retained = retain(world, config, how, progress)?;
    if retained.evicted.is_empty() || !is_enabled {
        index.write(|index| index.set_meta(LOOKED, &look))?;
    }
    Ok(Some(retained).filter(|retained| !retained.evicted.is_empty() || !retained.needs.is_empty()))
}

/// What takes the space of `raw/`, and everything else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// By project, the largest first.
    pub projects: Vec<ProjectRoom>,
    /// Bytes by kind: the folders of the store.
    pub kinds: BTreeMap<&'static str, u64>,
}

/// What the sessions of a project take.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ProjectRoom {
    /// Its name. `None` for sessions that name no folder.
    pub project: Option<String>,
    /// Its sessions in the store.
    pub sessions: u64,
    /// Of these, the ones whose raw bytes were given up.
    pub evicted: u64,
    /// Of these, the pinned ones.
    pub pinned: u64,
    /// Bytes of their raw files.
    pub raw_bytes: u64,
}

/// Says what takes the space.
pub fn explain(config: &Config) -> Result<Explained, Error> {
    let store = Store::open(&config.root.value, Arc::new(RealDisk))?;
    let mut projects: BTreeMap<Option<String>, ProjectRoom> = BTreeMap::new();
    let rows = store.index_if_there()?.map_or(Ok(Vec::new()), |index| index.session_rows())?;
    let keys: Vec<SessionKey> = rows.iter().map(SessionRow::key).collect();
    for ((row, key), room) in rows.iter().zip(&keys).zip(store.raw_rooms(&keys)?) {
        let of_project = projects.entry(row.project.clone()).or_default();
        let file = store.session(key).ok().flatten();
        of_project.project.clone_from(&row.project);
        of_project.sessions += 1;
        of_project.evicted += u64::from(file.as_ref().is_some_and(|file| file.evicted_at.is_some()));
        of_project.pinned += u64::from(file.is_some_and(|file| !file.pins.is_empty()));
        of_project.raw_bytes += room.bytes;
    }
    let mut projects: Vec<ProjectRoom> = projects.into_values().collect();
    projects.sort_by(|a, b| (b.raw_bytes, &a.project).cmp(&(a.raw_bytes, &b.project)));
    Ok(Explained { projects, kinds: store.sizes()? })
}

/// Keeps a session, or no longer: it then goes after all others. Says whether that is new.
pub fn pin(
    world: &World,
    config: &Config,
    key: &SessionKey,
    reason: Option<&str>,
    keep: bool,
) -> Result<bool, Error> {
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let Some(_lock) = world.lock(&store)? else { return Err(Error::Interrupted) };
    let index = store.index()?;
    let fits = index.marks()? == store.marks();
    let mut file = store.session(key)?.ok_or_else(|| Error::NoSession(key.to_string()))?;
    let before = file.pins.clone();
    match keep {
        true => drop(file.pins.insert(retro_text::redact(reason.unwrap_or("pinned")).into_inner())),
        false => file.pins.clear(),
    }
    if file.pins == before {
        return Ok(false);
    }
    store.put_session(&file)?;
    store.sync_all()?;
    if fits {
        index.write(|index| index.put_marks(&store.marks()))?;
    }
    Ok(true)
}
