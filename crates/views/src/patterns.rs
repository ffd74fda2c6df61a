//! Patterns over sessions: candidates, the catalog, and the results of curation.

use retro_engine::patterns::{Flushed, Recurring};
use retro_engine::{Config, World, patterns as engine};
use retro_model::{SessionKey, Timestamp};
use retro_patterns::{Candidate, Decision, Impact, Pattern, Polarity, Resolution, Scored, by_name, rank};
use retro_store::Store;
use serde::Serialize;

use crate::answers::Schema;
use crate::{Costs, Error};

/// A query for candidates.
#[derive(Debug, Clone, Default)]
pub struct DetectQuestion {
    /// Minimum frequency. `None`: two.
    pub min_frequency: Option<u32>,
    /// Only sessions from this time on.
    pub since: Option<Timestamp>,
    /// Only sessions before this time.
    pub before: Option<Timestamp>,
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only sessions of projects whose name contains this.
    pub project: Option<String>,
    /// Only candidates of this detector.
    pub kind: Option<String>,
}

/// Minimum frequency, and minimum number of sessions, of a candidate.
const FREQUENCY_MIN: u32 = 2;
const SESSIONS_MIN: usize = 2;

/// The result of `retro detect`.
#[derive(Debug, Clone, Serialize)]
pub struct DetectView {
    /// Number of sessions examined.
    pub sessions: usize,
    /// The candidates, most important first.
    pub candidates: Vec<CandidateView>,
}

impl Schema for DetectView {
    const NAME: &'static str = "retro.detect/1";
}

/// A session's agent and id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct SessionRef {
    pub agent: String,
    pub session_id: String,
}

/// One candidate, as shown.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)]
pub struct CandidateView {
    pub key: String,
    pub polarity: Polarity,
    /// The detector that explains it best.
    #[serde(rename = "type")]
    pub kind: String,
    /// Every detector that found it.
    pub types: Vec<String>,
    pub locus: String,
    pub title: String,
    pub frequency: u32,
    pub sessions: Vec<SessionRef>,
    pub repos: Vec<String>,
    pub agents: Vec<String>,
    pub cross_agent: bool,
    pub first_seen: Option<Timestamp>,
    pub last_seen: Option<Timestamp>,
    pub impact: Impact,
    pub resolutions: Vec<Resolution>,
    pub evidence_refs: Vec<String>,
    pub score: f64,
    pub why: String,
    /// True if no decision exists for it yet.
    pub new: bool,
    /// The candidate itself, for code that decides about it.
    #[serde(skip)]
    pub candidate: Candidate,
}

/// Evidence shown for each session.
const REFS_MAX: usize = 2;

/// The candidates of a store, from its stored records.
pub fn detect(
    world: &World,
    config: &Config,
    store: &Store,
    question: &DetectQuestion,
) -> Result<DetectView, Error> {
    let Recurring { sessions, candidates, .. } = engine::recurring(store)?;
    let costs = Costs::of(world, config, store);
    let mut fits: Vec<Candidate> = Vec::new();
    let project = question.project.as_ref().map(|project| project.to_lowercase());
    let excluded = &config.detect.value.exclude;
    for candidate in candidates {
        let kept = candidate.with(|member| {
            let is_of =
                |wanted: &Option<String>| wanted.as_ref().is_none_or(|wanted| *wanted == member.agent);
            let is_in = project.as_ref().is_none_or(|project| {
                member.repo.as_ref().is_some_and(|repo| repo.to_lowercase().contains(project.as_str()))
            });
            let is_after = question.since.is_none_or(|since| member.at.is_some_and(|at| at >= since));
            let is_before = question.before.is_none_or(|before| member.at.is_some_and(|at| at < before));
            // A project that was left out since the last sync is left out at once.
            let is_out = member.repo.as_ref().is_some_and(|repo| excluded.contains(repo));
            is_of(&question.agent) && is_in && is_after && is_before && !is_out
        });
        let Some(candidate) = kept else { continue };
        let is_kind = question.kind.as_ref().is_none_or(|kind| candidate.types.contains(kind));
        let is_often = candidate.frequency() >= question.min_frequency.unwrap_or(FREQUENCY_MIN);
        if is_kind && is_often && candidate.members.len() >= SESSIONS_MIN {
            fits.push(candidate);
        }
    }
    let curator = engine::Curator::open(world, config, store, Default::default())?;
    let view = |scored: Scored| {
        let usd = usd(&scored.candidate, costs.as_ref());
        let settled = curator.settled(&scored.candidate).is_some();
        view(scored, usd, !settled)
    };
    Ok(DetectView { sessions, candidates: rank(fits, world.now()).into_iter().map(view).collect() })
}

/// The cost of a candidate in dollars: of each session, the candidate's share of the tokens. `None`
/// if a price is unknown.
fn usd(candidate: &Candidate, costs: Option<&Costs>) -> Option<f64> {
    let mut sum = 0.0;
    for member in &candidate.members {
        if member.impact.tokens == 0 {
            continue;
        }
        let key = SessionKey::new(&*member.agent, &*member.session_id);
        let total = costs?.of_session(&key)?.total_usd?;
        sum += total * member.impact.tokens as f64 / member.impact.of_tokens.max(1) as f64;
    }
    Some((sum * 10_000.0).round() / 10_000.0)
}

fn view(scored: Scored, usd: Option<f64>, new: bool) -> CandidateView {
    let Scored { candidate, score, why } = scored;
    let (first_seen, last_seen) = candidate.span();
    let seconds: u64 = candidate.members.iter().map(|member| member.impact.seconds).sum();
    CandidateView {
        key: candidate.key.clone(),
        polarity: candidate.polarity,
        kind: candidate.kind.clone(),
        types: candidate.types.clone(),
        locus: candidate.locus.clone(),
        title: candidate.title.clone(),
        frequency: candidate.frequency(),
        sessions: candidate
            .members
            .iter()
            .map(|member| SessionRef { agent: member.agent.clone(), session_id: member.session_id.clone() })
            .collect(),
        repos: candidate.repos(),
        agents: candidate.agents(),
        cross_agent: candidate.is_cross_agent(),
        first_seen,
        last_seen,
        impact: Impact {
            tokens: candidate.members.iter().map(|member| member.impact.tokens).sum(),
            usd,
            minutes: (seconds as f64 / 6.0).round() / 10.0,
        },
        resolutions: candidate.resolutions.clone(),
        evidence_refs: candidate.refs(REFS_MAX),
        score,
        why,
        new,
        candidate,
    }
}

/// The description of a detector.
#[derive(Debug, Clone, Serialize)]
pub struct DetectorView {
    /// The detector's name.
    pub name: String,
    /// A short title.
    pub title: String,
    /// Whether its findings are good or bad.
    pub polarity: Polarity,
    /// Its documentation in Markdown: what, why, how and limits.
    pub text: String,
}

impl Schema for DetectorView {
    const NAME: &'static str = "retro.detect.explain/1";
}

/// The result of `retro detect explain`.
#[derive(Debug, Clone, Serialize)]
pub struct DetectorsView {
    /// Every detector, by name.
    pub detectors: Vec<DetectorView>,
}

impl Schema for DetectorsView {
    const NAME: &'static str = "retro.detect.explain_all/1";
}

/// Every detector, by name.
pub fn detectors() -> DetectorsView {
    let names = retro_patterns::DETECTORS.iter().map(|known| known.name);
    DetectorsView { detectors: names.filter_map(detector).collect() }
}

/// The description of a detector. `None` if no detector has this name.
pub fn detector(name: &str) -> Option<DetectorView> {
    by_name(name).map(|detector| DetectorView {
        name: detector.name.to_owned(),
        title: detector.title.to_owned(),
        polarity: detector.polarity,
        text: detector.explanation(),
    })
}

/// The result of `retro curate`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CurateView {
    /// New and updated patterns.
    pub promoted: Vec<CuratedView>,
    /// Candidates that were left unchanged.
    pub skipped: Vec<CuratedView>,
    /// Candidates rejected now or earlier.
    pub rejected: Vec<CuratedView>,
    /// Candidates that the catalog nearly has already.
    pub duplicates: Vec<CuratedView>,
}

impl Schema for CurateView {
    const NAME: &'static str = "retro.curate/1";
}

/// The result for one candidate.
#[derive(Debug, Clone, Serialize)]
pub struct CuratedView {
    /// The pattern's id, or the candidate's if it became no pattern.
    pub id: String,
    /// Its short title.
    pub title: String,
    /// Why it ended there.
    pub reason: String,
}

impl CurateView {
    /// Adds the result for a candidate.
    pub fn add(&mut self, candidate: &Candidate, done: engine::Done) {
        let row = |reason: String| CuratedView {
            id: candidate.key.clone(),
            title: candidate.title.clone(),
            reason,
        };
        let of = |pattern: &Pattern, how: &str| {
            let ready = match &pattern.not_ready {
                None => "ready to hand out".to_owned(),
                Some(why) => format!("not to be handed out yet: {why}"),
            };
            let reason = format!("{how} version {}, {ready}", pattern.version);
            CuratedView { id: pattern.id.clone(), title: pattern.title.clone(), reason }
        };
        match done {
            engine::Done::Promoted(pattern) => self.promoted.push(of(&pattern, "new,")),
            engine::Done::Updated(pattern) => self.promoted.push(of(&pattern, "updated to")),
            engine::Done::Skipped(why) => self.skipped.push(row(why)),
            engine::Done::Open => self.skipped.push(row("left open".to_owned())),
            engine::Done::Rejected(why) => self.rejected.push(row(why)),
            engine::Done::Duplicate(other) => {
                self.duplicates.push(row(format!("nearly the same as {other}")))
            }
        }
    }
}

/// The patterns of the catalog.
#[derive(Debug, Clone, Serialize)]
pub struct CatalogView {
    /// The catalog's folder.
    pub folder: String,
    /// Every pattern in it.
    pub patterns: Vec<Pattern>,
    /// Unusable files, and why.
    pub unreadable: Vec<UnreadableView>,
}

impl Schema for CatalogView {
    const NAME: &'static str = "retro.catalog.list/1";
}

/// An unusable file of the catalog.
#[derive(Debug, Clone, Serialize)]
pub struct UnreadableView {
    /// The file's path.
    pub path: String,
    /// Why it cannot be used.
    pub reason: String,
}

/// Reads the whole catalog.
pub fn catalog(store: &Store, config: &Config) -> Result<CatalogView, Error> {
    let catalog = engine::catalog(store, config)?;
    let bad =
        |bad: retro_store::BadLine| UnreadableView { path: bad.path.display().to_string(), reason: bad.what };
    Ok(CatalogView {
        folder: catalog.folder.display().to_string(),
        patterns: catalog.patterns,
        unreadable: catalog.bad.into_iter().map(bad).collect(),
    })
}

/// A pattern, as shown.
#[derive(Debug, Clone, Serialize)]
pub struct PatternView {
    /// The whole pattern.
    #[serde(flatten)]
    pub pattern: Pattern,
}

impl Schema for PatternView {
    const NAME: &'static str = "retro.catalog.show/1";
}

/// The versions of a pattern, oldest first. The last is in force.
#[derive(Debug, Clone, Serialize)]
pub struct PatternHistory {
    /// The pattern's id.
    pub id: String,
    /// All its versions.
    pub versions: Vec<Pattern>,
}

impl Schema for PatternHistory {
    const NAME: &'static str = "retro.catalog.history/1";
}

/// All versions of a pattern.
pub fn pattern_history(store: &Store, config: &Config, id: &str) -> Result<PatternHistory, Error> {
    let catalog = engine::catalog(store, config)?;
    let now = catalog.find(id)?;
    let mut versions = engine::history(store, config, &now.id)?;
    versions.retain(|version| version.version != now.version);
    versions.push(now.clone());
    Ok(PatternHistory { id: now.id.clone(), versions })
}

/// The differences between two versions of a pattern.
#[derive(Debug, Clone, Serialize)]
pub struct PatternDiff {
    /// The pattern's id.
    pub id: String,
    /// The earlier version.
    pub from: String,
    /// The later version.
    pub to: String,
    /// Lines of the file, each with a sign in front: ` `, `-`, `+`.
    pub lines: Vec<String>,
}

impl Schema for PatternDiff {
    const NAME: &'static str = "retro.catalog.diff/1";
}

/// Compares two versions of a pattern.
pub fn pattern_diff(
    store: &Store,
    config: &Config,
    id: &str,
    from: &str,
    to: &str,
) -> Result<PatternDiff, Error> {
    let PatternHistory { id, versions } = pattern_history(store, config, id)?;
    let find = |wanted: &str| {
        versions.iter().find(|version| version.version == wanted).ok_or_else(|| {
            let known: Vec<&str> = versions.iter().map(|version| version.version.as_str()).collect();
            retro_engine::Error::Pattern {
                what: format!("{id} has no version {wanted}; it has {}", known.join(", ")),
                hint: format!("`retro catalog history {id}` shows them"),
            }
        })
    };
    let text = |pattern: &Pattern| {
        serde_json::to_value(pattern)
            .and_then(|value| serde_json::to_string_pretty(&value))
            .unwrap_or_default()
    };
    let (old, new) = (text(find(from)?), text(find(to)?));
    Ok(PatternDiff { lines: diff(&old, &new), id, from: from.to_owned(), to: to.to_owned() })
}

/// Compares the lines of two texts by their longest common subsequence. Patterns have a few hundred
/// lines.
fn diff(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    let at =
        |lengths: &[u32], row: usize, column: usize| lengths.get(row * width + column).copied().unwrap_or(0);
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            let value = match old.get(row) == new.get(column) {
                true => at(&lengths, row + 1, column + 1) + 1,
                false => at(&lengths, row + 1, column).max(at(&lengths, row, column + 1)),
            };
            if let Some(slot) = lengths.get_mut(row * width + column) {
                *slot = value;
            }
        }
    }
    let (mut row, mut column, mut lines) = (0, 0, Vec::new());
    loop {
        match (old.get(row), new.get(column)) {
            (Some(a), Some(b)) if a == b => {
                lines.push(format!(" {a}"));
                (row, column) = (row + 1, column + 1);
            }
            (Some(a), Some(_)) if at(&lengths, row + 1, column) >= at(&lengths, row, column + 1) => {
                lines.push(format!("-{a}"));
                row += 1;
            }
            (_, Some(b)) => {
                lines.push(format!("+{b}"));
                column += 1;
            }
            (Some(a), None) => {
                lines.push(format!("-{a}"));
                row += 1;
            }
            (None, None) => return lines,
        }
    }
}

/// The result of `catalog export`.
#[derive(Debug, Clone, Serialize)]
pub struct CatalogExported {
    /// The files that were written.
    pub paths: Vec<String>,
}

impl Schema for CatalogExported {
    const NAME: &'static str = "retro.catalog.export/1";
}

/// Decisions, and whether they still have to be sent.
#[derive(Debug, Clone, Serialize)]
pub struct DecisionsView {
    /// Every decision, oldest first.
    pub decisions: Vec<Decision>,
    /// Ids of those not sent yet.
    pub waiting: Vec<String>,
}

impl Schema for DecisionsView {
    const NAME: &'static str = "retro.decisions.list/1";
}

/// Reads the decisions and the queue.
pub fn decisions(store: &Store) -> Result<DecisionsView, Error> {
    let (decisions, _) = engine::REVIEWS.read(store)?;
    let (waiting, _) = engine::QUEUE.read(store)?;
    Ok(DecisionsView { decisions, waiting: waiting.into_iter().map(|decision| decision.id).collect() })
}

/// The result of sending decisions.
#[derive(Debug, Clone, Serialize)]
pub struct DecisionsFlushed {
    /// How many were accepted.
    pub sent: usize,
    /// How many still wait.
    pub left: usize,
    /// Why they wait.
    pub problem: Option<String>,
}

impl Schema for DecisionsFlushed {
    const NAME: &'static str = "retro.decisions.flush/1";
}

impl From<Flushed> for DecisionsFlushed {
    fn from(flushed: Flushed) -> Self {
        let Flushed { sent, left, problem } = flushed;
        DecisionsFlushed { sent, left, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn a_diff_keeps_what_is_equal() {
        assert_eq!(diff("a\nb\nc", "a\nx\nc\nd"), [" a", "-b", "+x", " c", "+d"]);
        assert_eq!(diff("", "a"), ["+a"]);
    }
}
