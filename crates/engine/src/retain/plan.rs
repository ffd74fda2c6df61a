//! Which raw bytes are given up: pure, so that what a dry run prints is what a run does.
//!
//! Sessions go by unit: a tree with everything that rests on it. Three passes follow each
//! other. *Age* takes what was analyzed and is older than the limit. *Soft* takes what was
//! analyzed, the least recently active first, until the soft cap holds. *Hard* does the same
//! for the hard cap with all others: what was not analyzed is analyzed first, and only if that
//! is not possible it goes without a digest, which the plan says. What is pinned or
//! is evidence goes in the hard pass alone, after the others.

use retro_model::SessionKey;
use serde::Serialize;
use std::collections::BTreeMap;

use crate::retained::Pass;

/// The limits of `raw/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Bytes above which analyzed sessions go.
    pub soft: u64,
    /// Bytes above which any session goes.
    pub hard: u64,
    /// Milliseconds after which an analyzed session goes, whatever the space.
    pub max_age_ms: Option<i64>,
}

/// A session that has raw bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Which session.
    pub key: SessionKey,
    /// Bytes of its raw files.
    pub bytes: u64,
    /// The latest believable time of a record, never later than its capture.
    pub last_ms: i64,
    /// When its newest bytes were captured.
    pub captured_ms: i64,
    /// Its digest exists, and every stage has seen all of its bytes.
    pub analyzed: bool,
    /// Otherwise: whether it can be analyzed now.
    pub can_analyze: bool,
    /// Its user asked to keep it.
    pub pinned: bool,
    /// Something that a person approved rests on it.
    pub protected: bool,
    /// Which sessions go together with it: those with the same number.
    pub unit: usize,
}

/// A session that goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Going {
    /// Which session.
    pub key: SessionKey,
    /// Bytes of its raw files.
    pub bytes: u64,
    /// In which pass.
    pub pass: Pass,
    /// It has its digest already.
    pub analyzed: bool,
    /// It has none, and cannot get one: what is not in the index is lost.
    pub data_loss: bool,
}

/// Raw bytes that stay although they are above a cap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Held {
    /// Why they stay.
    pub why: WhyHeld,
    /// How many sessions.
    pub sessions: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Why raw bytes stay although `raw/` is above a cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyHeld {
    /// A session that is pinned, or one that goes together with it.
    Pinned,
    /// A session that a memory or a pattern rests on.
    Evidence,
    /// A session that was not analyzed yet.
    NotAnalyzed,
    /// Files that serve many sessions.
    Shared,
}

/// What goes, and what stays although it is too much.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Bytes of `raw/` before.
    pub before: u64,
    /// Bytes of `raw/` after.
    pub after: u64,
    /// What goes, in this order.
    pub going: Vec<Going>,
    /// Why more than a cap stays. Empty where every cap holds.
    pub held: Vec<Held>,
}

impl Plan {
    /// Sessions that have to be analyzed before they go.
    pub fn to_analyze(&self) -> impl Iterator<Item = &SessionKey> {
        self.going.iter().filter(|going| !going.analyzed && !going.data_loss).map(|going| &going.key)
    }
}

/// The clock says a time before the last sweep: what is old cannot be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockBehind {
    /// When the last sweep was.
    pub last_sweep_ms: i64,
    /// What the clock says.
    pub now_ms: i64,
}

/// Sessions that go together.
#[derive(Debug)]
struct Unit<'a> {
    items: Vec<&'a Item>,
    bytes: u64,
    last_ms: i64,
    /// The later of its last activity and its capture.
    aged_ms: i64,
    analyzed: bool,
    can_analyze: bool,
    /// 0 for an ordinary one, 1 for evidence, 2 for a pinned one.
    class: u8,
    gone: bool,
}

impl<'a> Unit<'a> {
    fn of(mut items: Vec<&'a Item>) -> Unit<'a> {
        items.sort_by(|a, b| a.key.cmp(&b.key));
        let class = |item: &&Item| match (item.pinned, item.protected) {
            (true, _) => 2,
            (_, true) => 1,
            _ => 0,
        };
        let last = |item: &&Item| item.last_ms;
        Unit {
            bytes: items.iter().map(|item| item.bytes).sum(),
            last_ms: items.iter().map(last).max().unwrap_or(i64::MIN),
            aged_ms: items.iter().map(|item| item.last_ms.max(item.captured_ms)).max().unwrap_or(i64::MIN),
            analyzed: items.iter().all(|item| item.analyzed),
            can_analyze: items.iter().all(|item| item.analyzed || item.can_analyze),
            class: items.iter().map(class).max().unwrap_or(0),
            gone: false,
            items,
        }
    }

    /// What goes earlier comes first.
    fn order(&self) -> (u8, i64, Option<&SessionKey>) {
        (self.class, self.last_ms, self.items.first().map(|item| &item.key))
    }
}

/// Plans one sweep. `shared` are bytes of `raw/` that belong to no session.
pub fn plan(
    items: &[Item],
    shared: u64,
    caps: Caps,
    now_ms: i64,
    last_sweep_ms: Option<i64>,
) -> Result<Plan, ClockBehind> {
    if let Some(last_sweep_ms) = last_sweep_ms.filter(|last| now_ms < *last) {
        return Err(ClockBehind { last_sweep_ms, now_ms });
    }
    let mut by_unit: BTreeMap<usize, Vec<&Item>> = BTreeMap::new();
    for item in items.iter().filter(|item| item.bytes > 0) {
        by_unit.entry(item.unit).or_default().push(item);
    }
    let mut units: Vec<Unit<'_>> = by_unit.into_values().map(Unit::of).collect();
    units.sort_by(|a, b| a.order().cmp(&b.order()));
    let before = shared + units.iter().map(|unit| unit.bytes).sum::<u64>();
    let mut sweep = Sweep { units, plan: Plan { before, after: before, ..Plan::default() } };
    if let Some(max_age_ms) = caps.max_age_ms {
        let is_old = |unit: &Unit<'_>| now_ms.saturating_sub(unit.aged_ms) > max_age_ms;
        sweep.pass(Pass::Age, 0, |unit| unit.analyzed && unit.class == 0 && is_old(unit));
    }
    sweep.pass(Pass::Soft, caps.soft, |unit| unit.analyzed && unit.class == 0);
    sweep.pass(Pass::Hard, caps.hard, |unit| unit.can_analyze);
    sweep.pass(Pass::Hard, caps.hard, |_| true);
    Ok(sweep.end(shared, caps))
}

struct Sweep<'a> {
    units: Vec<Unit<'a>>,
    plan: Plan,
}

impl Sweep<'_> {
    /// Takes units that may go, until so many bytes are left.
    fn pass(&mut self, pass: Pass, cap: u64, may_go: impl Fn(&Unit<'_>) -> bool) {
        for unit in &mut self.units {
            if self.plan.after <= cap {
                return;
            }
            if unit.gone || !may_go(unit) {
                continue;
            }
            unit.gone = true;
            self.plan.after -= unit.bytes;
            self.plan.going.extend(unit.items.iter().map(|item| Going {
                key: item.key.clone(),
                bytes: item.bytes,
                pass,
                analyzed: item.analyzed,
                data_loss: !item.analyzed && !unit.can_analyze,
            }));
        }
    }

    fn end(mut self, shared: u64, caps: Caps) -> Plan {
        if self.plan.after <= caps.soft {
            return self.plan;
        }
        let mut held: BTreeMap<WhyHeld, (u64, u64)> = BTreeMap::new();
        for unit in self.units.iter().filter(|unit| !unit.gone) {
            let why = match unit.class {
                2 => WhyHeld::Pinned,
                1 => WhyHeld::Evidence,
                _ => WhyHeld::NotAnalyzed,
            };
            let sum = held.entry(why).or_default();
            *sum = (sum.0 + unit.items.len() as u64, sum.1 + unit.bytes);
        }
        if shared > 0 {
            held.insert(WhyHeld::Shared, (0, shared));
        }
        let held = held.into_iter().map(|(why, (sessions, bytes))| Held { why, sessions, bytes });
        self.plan.held = held.collect();
        self.plan
    }
}

#[cfg(test)]
mod tests;
