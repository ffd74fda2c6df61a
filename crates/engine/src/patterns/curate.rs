//! Decides about candidates, and records each decision in a fixed order.
//!
//! The pattern's file is written first, then the queue, then the review log. A stop after the first
//! write leaves a pattern without a decision: the next run finds it unchanged and writes the rest.

use retro_patterns::{
    Candidate, Change, Choice, Corpus, Decision, Pattern, Review, Status, duplicate_of, evidence_of,
};
use retro_store::{Lock, Store};

use super::catalog::{bytes_of, line_of};
use super::{Catalog, QUEUE, REVIEWS, catalog, sink};
use crate::{Config, Error, World};

/// The result of a decision about a candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Done {
    /// Its pattern was written to the catalog.
    Promoted(Pattern),
    /// Its pattern in the catalog was updated with the new evidence.
    Updated(Pattern),
    /// Nothing was written, for this reason.
    Skipped(String),
    /// It was rejected, now or before.
    Rejected(String),
    /// A nearly equal pattern is in the catalog, with this id.
    Duplicate(String),
    /// The candidate stays open.
    Open,
}

/// A person's words, which replace the generated ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// Title of the pattern.
    pub title: Option<String>,
    /// The action that helped.
    pub resolution: Option<String>,
    /// The situation in which to use it.
    pub when_to_use: Option<String>,
}

/// Decides about candidates.
pub struct Curator<'a> {
    world: &'a World,
    config: &'a Config,
    store: &'a Store,
    corpus: Corpus,
    catalog: Catalog,
    log: Vec<Decision>,
    /// Decisions of this run, each with the earlier version of its pattern.
    done: Vec<(Decision, Option<Pattern>)>,
}

impl<'a> Curator<'a> {
    /// Reads the review log and the catalog.
    pub fn open(
        world: &'a World,
        config: &'a Config,
        store: &'a Store,
        corpus: Corpus,
    ) -> Result<Curator<'a>, Error> {
        let mut curator = Curator {
            world,
            config,
            store,
            corpus,
            catalog: Catalog::default(),
            log: Vec::new(),
            done: Vec::new(),
        };
        curator.read()?;
        Ok(curator)
    }

    fn read(&mut self) -> Result<(), Error> {
        self.catalog = catalog(self.store, self.config)?;
        self.log = REVIEWS.read(self.store)?.0;
        Ok(())
    }

    /// The catalog, including its unusable files.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    fn lock(&self) -> Result<Lock, Error> {
        self.store.lock(&|| self.world.stopping())?.ok_or(Error::Interrupted)
    }

    /// The last decision about a candidate, if its evidence has not changed since.
    pub fn settled(&self, candidate: &Candidate) -> Option<Decision> {
        Review::of(&self.log).settled(candidate).cloned()
    }

    /// The candidate's pattern in the catalog.
    pub fn pattern_of(&self, candidate: &Candidate) -> Option<&Pattern> {
        self.catalog.patterns.iter().find(|pattern| pattern.is_of(candidate))
    }

    /// A pattern in the catalog that is nearly equal to the candidate.
    pub fn duplicate(&self, candidate: &Candidate) -> Option<&Pattern> {
        duplicate_of(candidate, &self.catalog.patterns)
    }

    /// Lets the gate decide.
    pub fn auto(&mut self, candidate: &Candidate, usd: Option<f64>) -> Result<Done, Error> {
        let lock = self.lock()?;
        self.read()?;
        let review = Review::of(&self.log);
        let about = review
            .about(candidate)
            .map(|decision| (decision.decision, decision.evidence == evidence_of(candidate)));
        if let Some((Choice::Rejected, is_same)) = about {
            return Ok(Done::Rejected(match is_same {
                true => "rejected before, and its evidence is the same".to_owned(),
                false => "rejected before; its evidence changed: `retro curate` asks again".to_owned(),
            }));
        }
        if let Some(known) = self.pattern_of(candidate).cloned() {
            let is_noted = about.is_some_and(|(_, is_same)| is_same);
            return self.update(&lock, candidate, usd, known, is_noted);
        }
        match about {
            Some((Choice::Approved | Choice::Promoted, _)) => {
                return Ok(Done::Skipped("somebody took it out of the catalog".to_owned()));
            }
            Some((Choice::Discussed, true)) => return Ok(Done::Skipped("it is being discussed".to_owned())),
            _ => {}
        }
        if let Some(bad) = self.unreadable(candidate) {
            return Ok(Done::Skipped(bad));
        }
        if let Some(other) = self.duplicate(candidate) {
            return Ok(Done::Duplicate(other.id.clone()));
        }
        if let Err(why) = self.config.curate.value.gate.promotes(candidate, usd) {
            return Ok(Done::Skipped(why));
        }
        let mut pattern = self.draft(candidate);
        self.settle(&mut pattern, candidate, usd);
        self.write(&lock, candidate, &pattern, None, Choice::Promoted)?;
        Ok(Done::Promoted(pattern))
    }

    /// The reason why the file of this candidate's pattern cannot be read, if it exists.
    fn unreadable(&self, candidate: &Candidate) -> Option<String> {
        let path = self.store.catalog_path(&self.catalog.folder, &candidate.key);
        let bad = self.catalog.bad.iter().find(|bad| bad.path == path)?;
        Some(format!("{} cannot be read ({}): mend or delete it", bad.path.display(), bad.what))
    }

    /// Updates an existing pattern. Unchanged if its evidence is the same.
    fn update(
        &mut self,
        lock: &Lock,
        candidate: &Candidate,
        usd: Option<f64>,
        known: Pattern,
        is_noted: bool,
    ) -> Result<Done, Error> {
        if known.provenance.hash == evidence_of(candidate) {
            // A stop came between its file and the decision.
            if !is_noted {
                let choice =
                    if known.status == Status::Approved { Choice::Approved } else { Choice::Promoted };
                self.note(lock, candidate, choice, Some(known.version.clone()))?;
            }
            return Ok(Done::Skipped("in the catalog, unchanged".to_owned()));
        }
        let mut pattern = known.updated(candidate, |repo| self.config.domain(repo).map(str::to_owned));
        self.settle(&mut pattern, candidate, usd);
        let change = pattern.change_from(&known);
        if change == Change::Unchanged {
            return Ok(Done::Skipped("in the catalog, unchanged".to_owned()));
        }
        pattern.version = Pattern::next_version(&known.version, change);
        let choice = if known.status == Status::Approved { Choice::Approved } else { Choice::Promoted };
        self.write(lock, candidate, &pattern, Some(&known), choice)?;
        Ok(Done::Updated(pattern))
    }

    fn draft(&self, candidate: &Candidate) -> Pattern {
        Pattern::of(candidate, |repo| self.config.domain(repo).map(str::to_owned))
    }

    fn settle(&self, pattern: &mut Pattern, candidate: &Candidate, usd: Option<f64>) {
        let verdict = self.config.curate.value.gate.hands_out(candidate, usd, &self.corpus, pattern);
        pattern.settle(verdict);
    }

    /// Writes a candidate's pattern because a person approved it, whatever the counts.
    pub fn approve(&mut self, candidate: &Candidate, usd: Option<f64>, words: &Words) -> Result<Done, Error> {
        let lock = self.lock()?;
        self.read()?;
        if let Some(what) = self.unreadable(candidate) {
            return Err(Error::Pattern {
                what,
                hint: "`retro catalog list` names files that cannot be read".to_owned(),
            });
        }
        let known = self.pattern_of(candidate).cloned();
        let mut pattern = match &known {
            Some(known) => known.updated(candidate, |repo| self.config.domain(repo).map(str::to_owned)),
            None => self.draft(candidate),
        };
        pattern.status = Status::Approved;
        reword(&mut pattern, words);
        self.settle(&mut pattern, candidate, usd);
        let change = known.as_ref().map(|known| pattern.change_from(known));
        if let (Some(known), Some(change)) = (&known, change) {
            pattern.version = Pattern::next_version(&known.version, change);
        }
        match change {
            // A stop came between its file and this decision.
            Some(Change::Unchanged) => {
                let decision =
                    self.note(&lock, candidate, Choice::Approved, Some(pattern.version.clone()))?;
                self.done.push((decision, known.clone()));
            }
            _ => self.write(&lock, candidate, &pattern, known.as_ref(), Choice::Approved)?,
        }
        Ok(match known {
            Some(_) => Done::Updated(pattern),
            None => Done::Promoted(pattern),
        })
    }

    /// Records that a person rejected the candidate.
    pub fn reject(&mut self, candidate: &Candidate) -> Result<Done, Error> {
        self.decide(candidate, Choice::Rejected)?;
        Ok(Done::Rejected("rejected".to_owned()))
    }

    /// Records that a person leaves the candidate open.
    pub fn discuss(&mut self, candidate: &Candidate) -> Result<Done, Error> {
        self.decide(candidate, Choice::Discussed)?;
        Ok(Done::Open)
    }

    fn decide(&mut self, candidate: &Candidate, choice: Choice) -> Result<(), Error> {
        let lock = self.lock()?;
        self.read()?;
        let decision = self.note(&lock, candidate, choice, None)?;
        self.done.push((decision, None));
        Ok(())
    }

    /// Undoes the last decision of this run. Returns the key of its candidate.
    pub fn undo(&mut self) -> Result<Option<String>, Error> {
        let Some((decision, before)) = self.done.pop() else { return Ok(None) };
        let lock = self.lock()?;
        self.read()?;
        if matches!(decision.decision, Choice::Approved | Choice::Promoted) {
            let written = self
                .catalog
                .patterns
                .iter()
                .find(|pattern| pattern.id == decision.key || pattern.provenance.loci == decision.loci);
            match (written.cloned(), before) {
                (Some(now), Some(before)) => {
                    let bytes = bytes_of(&before);
                    self.store.put_catalog(
                        &lock,
                        &self.catalog.folder,
                        &before.id,
                        &bytes,
                        Some(&line_of(&now)),
                    )?;
                }
                (Some(now), None) => {
                    self.store.remove_catalog(&lock, &self.catalog.folder, &now.id)?;
                }
                (None, _) => {}
            }
        }
        let undone = Decision {
            id: format!("{}-undone", decision.id),
            at: self.world.now(),
            decision: Choice::Undone,
            ..decision.clone()
        };
        self.append(&lock, &undone)?;
        Ok(Some(decision.key))
    }

    fn write(
        &mut self,
        lock: &Lock,
        candidate: &Candidate,
        pattern: &Pattern,
        before: Option<&Pattern>,
        choice: Choice,
    ) -> Result<(), Error> {
        let line = before.map(line_of);
        self.store.put_catalog(
            lock,
            &self.catalog.folder,
            &pattern.id,
            &bytes_of(pattern),
            line.as_deref(),
        )?;
        let decision = self.note(lock, candidate, choice, Some(pattern.version.clone()))?;
        self.done.push((decision, before.cloned()));
        Ok(())
    }

    /// Records a decision, and passes it to the sink.
    fn note(
        &mut self,
        lock: &Lock,
        candidate: &Candidate,
        choice: Choice,
        version: Option<String>,
    ) -> Result<Decision, Error> {
        let decision = Decision::of(candidate, choice, self.world.now(), version, self.log.len());
        self.append(lock, &decision)?;
        Ok(decision)
    }

    fn append(&mut self, lock: &Lock, decision: &Decision) -> Result<(), Error> {
        let is_final = decision.decision.is_final() || decision.decision == Choice::Undone;
        if is_final {
            let (waiting, _) = QUEUE.read(self.store)?;
            if !waiting.iter().any(|known| known.id == decision.id) {
                QUEUE.append(lock, self.store, std::slice::from_ref(decision))?;
            }
        }
        REVIEWS.append(lock, self.store, std::slice::from_ref(decision))?;
        self.log.push(decision.clone());
        if is_final && !self.config.curate.value.sink.is_empty() {
            // A decision that the sink refuses waits in the queue. `decisions flush` shows the
            // reason.
            sink::flush_held(self.config, self.store)?;
        }
        Ok(())
    }
}

/// Replaces the generated words by a person's.
fn reword(pattern: &mut Pattern, words: &Words) {
    let Words { title, resolution, when_to_use } = words;
    if let Some(title) = title {
        pattern.title.clone_from(title);
    }
    if let Some(when) = when_to_use {
        pattern.when_to_use.clone_from(when);
    }
    if let Some(text) = resolution {
        let evidence_refs =
            pattern.resolutions.first().map(|known| known.evidence_refs.clone()).unwrap_or_default();
        let times = pattern.resolutions.first().map_or(1, |known| known.times);
        pattern.resolutions = vec![retro_patterns::Resolution { text: text.clone(), times, evidence_refs }];
    }
    if *words != Words::default() {
        pattern.hint();
    }
}
