//! Runs the due stages of one session, all in one reading.
//!
//! This is the only place that runs stages. Sync calls it with the records that it just captured,
//! rebuild and later syncs with those in raw.

use retro_agents::{Parsed, settle_each};
use retro_model::{Event, SessionKey};
use retro_store::{Made, SessionRow, Writer};
use serde_json::Value;
use std::collections::BTreeMap;

use crate::remains::Remains;
use crate::stages::{Body, Making, Product, Put, Stage, Subject, Truth, When, Work};
use crate::stamp::stamp;
use crate::{Error, read, stages};

/// A session whose stages are to run.
pub(crate) struct Session<'a> {
    /// The session as its stages see it.
    pub subject: Subject<'a>,
    pub row: &'a SessionRow,
    /// Results of earlier runs, by stage.
    pub made: BTreeMap<String, Made>,
}

/// The source of a session's events.
pub(crate) enum Source {
    /// All of its sources, already read.
    Held(Vec<Parsed>),
    /// The raw files.
    Raw,
}

/// Which stages may run.
pub(crate) struct Rules {
    /// The stages, up to the last requested one.
    pub stages: &'static [Stage],
    /// The stages after it, which become due.
    pub later: &'static [Stage],
    pub now_ms: i64,
    /// Run outdated stages even if the session changed a moment ago.
    pub all: bool,
}

impl Rules {
    /// Quiet time required before a stage runs. `None` if it does not run now. A stage that runs
    /// only on request was requested if it is the last one.
    fn wait_ms(&self, stage: &Stage) -> Option<i64> {
        let is_asked = self.stages.last().is_some_and(|last| last.name == stage.name);
        stage.when.wait_ms().or_else(|| is_asked.then_some(When::Quiet.wait_ms()).flatten())
    }

    /// Whether raw files that last changed at this time are packed now.
    pub(crate) fn may_pack(&self, changed_ns: i64) -> bool {
        let age_ms = self.now_ms.saturating_sub(changed_ns / 1_000_000);
        let is_old = self.all || age_ms >= stages::PACK_HOURS * 3_600_000;
        is_old && self.stages.iter().any(|stage| stage.name == "repack")
    }
}

/// Results of the stages on a session, not yet in the index.
#[derive(Default)]
pub(crate) struct Derived {
    made: Vec<(&'static str, Made, Option<Put>, Vec<Body>)>,
    /// Stages that must run later: their name, the time, and whether their earlier result lacks
    /// captured bytes.
    due: Vec<(&'static str, i64, bool)>,
    /// Stages that make nothing of this session or are current, so they are not due.
    settled: Vec<&'static str>,
    /// Rows of the new part of a large session that still grows. They serve until the session can
    /// be settled as a whole.
    tail: Vec<Put>,
}

impl Derived {
    /// Whether a stage that waits for quiet was run.
    pub(crate) fn is_analyzed(&self) -> bool {
        let waits = |when| matches!(when, When::Quiet | When::Asked);
        let is_cold = |name: &str| stages::by_name(name).is_some_and(|stage| waits(stage.when));
        self.made.iter().any(|(name, ..)| is_cold(name))
    }

    /// Whether no stage made anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.made.is_empty() && self.tail.is_empty()
    }

    /// Puts everything into the index.
    pub(crate) fn put(self, index: &Writer<'_>, key: &SessionKey) -> Result<(), retro_store::Error> {
        for (name, made, put, bodies) in self.made {
            if let Some(put) = put {
                put(index)?;
            }
            for Body { name, part, text } in &bodies {
                index.put_body(key, name, part, text.as_deref())?;
            }
            index.put_made(key, name, &made)?;
        }
        self.tail.into_iter().try_for_each(|put| put(index))?;
        self.settled.iter().try_for_each(|name| index.clear_due(key, name))?;
        self.due.iter().try_for_each(|(name, at_ms, behind)| index.put_due(key, name, *at_ms, *behind))
    }
}

impl Session<'_> {
    fn changed_ms(&self) -> i64 {
        self.row.mtime_ns / 1_000_000
    }

    fn is_quiet(&self, rules: &Rules) -> bool {
        rules.all || rules.now_ms.saturating_sub(self.changed_ms()) >= stages::QUIET_MINUTES * 60_000
    }

    fn stamp(&self, stage: &Stage, is_quiet: bool) -> String {
        stamp(stage, Subject { is_quiet, ..self.subject }.inputs(), &self.made)
    }

    /// Returns the stamp of a stage that is out of date and may run now. Otherwise records when it
    /// may run.
    fn due(&self, stage: &'static Stage, rules: &Rules, later: &mut Derived) -> Option<String> {
        if matches!(stage.work, Work::Sync | Work::Outside | Work::Store(_)) {
            return None;
        }
        let wait_ms = rules.wait_ms(stage)?;
        let is_quiet = self.is_quiet(rules);
        let wanted = self.stamp(stage, is_quiet);
        let at_ms = self.may_run_ms(wait_ms);
        let may_run = rules.all || at_ms <= rules.now_ms;
        // A result made when the session was quiet stays valid if it only looks younger now.
        let is_made = |stamp: &str| self.made.get(stage.name).is_some_and(|made| made.stamp == stamp);
        let is_current = is_made(&wanted) || (!is_quiet && is_made(&self.stamp(stage, true)));
        if !is_current && may_run {
            return Some(wanted);
        }
        if !is_current {
            later.due.push((stage.name, at_ms, false));
        } else if stage.when == When::AppendAndQuiet && !is_quiet {
            later.due.push((stage.name, self.quiet_ms(), false));
        } else {
            // Its inputs may have been made again with the same contents.
            later.settled.push(stage.name);
        }
        None
    }

    /// The earliest starting time of a stage. A stage that does not wait ignores the clock.
    fn may_run_ms(&self, wait_ms: i64) -> i64 {
        if wait_ms == 0 { 0 } else { self.changed_ms().saturating_add(wait_ms) }
    }

    fn quiet_ms(&self) -> i64 {
        self.changed_ms().saturating_add(stages::QUIET_MINUTES * 60_000)
    }

    /// Runs the stages that are due.
    pub(crate) fn derive(
        &mut self,
        source: Source,
        rules: &Rules,
        stop: &dyn Fn() -> bool,
    ) -> Result<Derived, Error> {
        let mut derived = Derived::default();
        let first = rules.stages.iter().position(|stage| matches!(stage.work, Work::Events(_)));
        let first = first.unwrap_or(rules.stages.len());
        let (before, rest) = rules.stages.split_at(first);
        let sees_events = |stage: &&Stage| matches!(stage.work, Work::Events(_));
        let (of_events, after) = rest.split_at(rest.iter().take_while(sees_events).count());
        self.each(before, rules, &mut derived)?;
        self.of_events(of_events, source, rules, stop, &mut derived)?;
        self.each(after, rules, &mut derived)?;
        for stage in rules.later {
            if self.due(stage, rules, &mut derived).is_some() {
                let at_ms = self.may_run_ms(stage.when.wait_ms().unwrap_or(0));
                derived.due.push((stage.name, at_ms, stage.when.is_hot()));
            }
        }
        let is_quiet = self.is_quiet(rules);
        for (name, ..) in &derived.made {
            let again = by_name(rules.stages, name).filter(|stage| stage.when == When::AppendAndQuiet);
            if again.is_some() && !is_quiet {
                derived.due.push((name, self.quiet_ms(), false));
            }
        }
        Ok(derived)
    }

    /// Makes the rows of an evicted session again from its truth, for every due stage.
    pub(crate) fn restore(&mut self, remains: Option<&Remains>, rules: &Rules) -> Result<Derived, Error> {
        let mut derived = Derived::default();
        // An evicted session no longer grows, so no stage waits.
        let rules = &Rules { stages: rules.stages, later: rules.later, now_ms: rules.now_ms, all: true };
        for stage in rules.stages {
            let Some(Truth { restore, .. }) = stage.truth else { continue };
            let Some(stamp) = self.due(stage, rules, &mut derived) else { continue };
            let kept = remains.map_or(&Value::Null, |remains| remains.kept(stage.name));
            let product = restore(&self.subject(&stamp, rules), kept)?;
            self.keep(stage.name, stamp, product, &mut derived);
        }
        for stage in rules.stages.iter().filter(|stage| stage.truth.is_none()) {
            derived.settled.push(stage.name);
        }
        Ok(derived)
    }

    /// Runs the stages that do not read events, one after the other.
    fn each(&mut self, stages: &'static [Stage], rules: &Rules, derived: &mut Derived) -> Result<(), Error> {
        for stage in stages {
            let Work::Session(make) = stage.work else { continue };
            let Some(stamp) = self.due(stage, rules, derived) else { continue };
            let product = make(&self.subject(&stamp, rules))?;
            self.keep(stage.name, stamp, product, derived);
        }
        Ok(())
    }

    /// Runs the stages that read every event, with one reading for all of them.
    fn of_events(
        &mut self,
        stages: &'static [Stage],
        source: Source,
        rules: &Rules,
        stop: &dyn Fn() -> bool,
        derived: &mut Derived,
    ) -> Result<(), Error> {
        let mut at_work: Vec<(&'static str, String, Box<dyn Making>)> = Vec::new();
        for stage in stages {
            let Work::Events(make) = stage.work else { continue };
            let Some(stamp) = self.due(stage, rules, derived) else { continue };
            let making = make(&self.subject(&stamp, rules))?;
            at_work.push((stage.name, stamp, making));
        }
        if at_work.is_empty() {
            return Ok(());
        }
        let mut show = |event: &Event| -> Result<(), Error> {
            at_work.iter_mut().try_for_each(|(_, _, making)| making.event(event))
        };
        match source {
            Source::Raw => {
                let mut take = |event: Box<Event>| show(&event);
                read::stream(self.subject.store, self.subject.agent, self.subject.key, stop, &mut take)?;
            }
            Source::Held(sources) => {
                let mut result = Ok(());
                settle_each(self.subject.agent, self.subject.key, sources, &mut |event| {
                    if result.is_ok() {
                        result = show(&event);
                    }
                });
                result?;
            }
        }
        for (name, stamp, making) in at_work {
            let product = making.finish()?;
            self.keep(name, stamp, product, derived);
        }
        Ok(())
    }

    fn keep(&mut self, name: &'static str, stamp: String, product: Product, derived: &mut Derived) {
        let made = Made { stamp, output: product.output };
        self.made.insert(name.to_owned(), made.clone());
        derived.made.push((name, made, product.put, product.bodies));
    }

    fn subject<'s>(&'s self, stamp: &'s str, rules: &Rules) -> Subject<'s> {
        Subject { stamp, is_quiet: self.is_quiet(rules), ..self.subject }
    }

    /// Makes rows from the new part of a large session that still grows, so that an append costs
    /// only its own size. They may lack facts that only the whole session shows, so the stages stay
    /// due and count as behind.
    pub(crate) fn derive_tail(&self, sources: Vec<Parsed>, rules: &Rules) -> Result<Derived, Error> {
        let mut derived = Derived::default();
        let all = rules.stages.iter().chain(rules.later);
        for stage in all.filter(|stage| !matches!(stage.work, Work::Sync | Work::Outside | Work::Store(_))) {
            let Some(wait_ms) = stage.when.wait_ms() else { continue };
            let at_ms = match stage.when {
                When::Append | When::AppendAndQuiet => self.quiet_ms(),
                _ => self.may_run_ms(wait_ms),
            };
            derived.due.push((stage.name, at_ms, stage.when.is_hot()));
        }
        let subject = self.subject("", rules);
        let begin = rules.stages.iter().filter_map(|stage| stage.tail);
        let mut at_work = begin.map(|begin| begin(&subject)).collect::<Result<Vec<_>, _>>()?;
        let mut pushed = Ok(());
        settle_each(self.subject.agent, self.subject.key, sources, &mut |event| {
            if pushed.is_ok() {
                pushed = at_work.iter_mut().try_for_each(|making| making.event(&event));
            }
        });
        pushed?;
        for making in at_work {
            derived.tail.extend(making.finish()?.put);
        }
        Ok(derived)
    }
}

fn by_name(stages: &'static [Stage], name: &str) -> Option<&'static Stage> {
    stages.iter().find(|stage| stage.name == name)
}
