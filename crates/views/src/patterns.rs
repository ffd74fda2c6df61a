//! What recurs over sessions: candidates, the catalog, and what came of deciding.

use retro_engine::patterns::{Flushed, Recurring};
use retro_engine::{Config, World, patterns as engine};
use retro_model::{SessionKey, Timestamp};
use retro_patterns::{Candidate, Decision, Impact, Pattern, Polarity, Resolution, Scored, by_name, rank};
use retro_store::Store;
use serde::Serialize;

use crate::answers::Schema;
use crate::{Costs, Error};

/// A question about what recurs.
#[derive(Debug, Clone, Default)]
pub struct DetectQuestion {
    /// Seen at least so often; nothing: twice.
    pub min_frequency: Option<u32>,
    /// Only sessions from here on.
    pub since: Option<Timestamp>,
    /// Only sessions before this.
    pub before: Option<Timestamp>,
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only sessions of projects whose name holds this.
    pub project: Option<String>,
    /// Only what this detector saw.
    pub kind: Option<String>,
}

/// How often something must be seen, and in how many sessions, to be shown.
const FREQUENCY_MIN: u32 = 2;
const SESSIONS_MIN: usize = 2;

/// What recurs.
#[derive(Debug, Clone, Serialize)]
pub struct DetectView {
    /// Sessions that were looked at.
    pub sessions: usize,
    /// What recurs, what matters most first.
    pub candidates: Vec<CandidateView>,
}

impl Schema for DetectView {
    const NAME: &'static str = "retro.detect/1";
}

/// A session by its names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct SessionRef {
    pub agent: String,
    pub session_id: String,
}

/// One candidate.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)]
pub struct CandidateView {
    pub key: String,
    pub polarity: Polarity,
    /// The detector that says most about it.
    #[serde(rename = "type")]
    pub kind: String,
    /// All that saw it.
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
    /// Nothing was decided about it yet.
    pub new: bool,
    /// The candidate itself, for who decides about it.
    #[serde(skip)]
    pub candidate: Candidate,
}

/// Evidence of each session that an answer names.
const REFS_MAX: usize = 2;

/// What recurs in a store, by what is kept of it.
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
    for candidate in candidates {
        let kept = candidate.with(|member| {
            let is_of =
                |wanted: &Option<String>| wanted.as_ref().is_none_or(|wanted| *wanted == member.agent);
            let is_in = project.as_ref().is_none_or(|project| {
                member.repo.as_ref().is_some_and(|repo| repo.to_lowercase().contains(project.as_str()))
            });
            let is_after = question.since.is_none_or(|since| member.at.is_some_and(|at| at >= since));
            let is_before = question.before.is_none_or(|before| member.at.is_some_and(|at| at < before));
            is_of(&question.agent) && is_in && is_after && is_before
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

/// What a candidate cost in dollars: of each session the share of its tokens. Nothing where a
/// price is not known.
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

/// What a detector finds, and how.
#[derive(Debug, Clone, Serialize)]
pub struct DetectorView {
    /// Its name.
    pub name: String,
    /// What it finds, in a few words.
    pub title: String,
    /// Whether what it finds is good.
    pub polarity: Polarity,
    /// What, why, how and limits, as Markdown.
    pub text: String,
}

impl Schema for DetectorView {
    const NAME: &'static str = "retro.detect.explain/1";
}

/// Every detector.
#[derive(Debug, Clone, Serialize)]
pub struct DetectorsView {
    /// By name.
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

/// What a detector finds; nothing if there is none of this name.
pub fn detector(name: &str) -> Option<DetectorView> {
    by_name(name).map(|detector| DetectorView {
        name: detector.name.to_owned(),
        title: detector.title.to_owned(),
        polarity: detector.polarity,
        text: detector.explanation(),
    })
}

/// What came of a run of `curate`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CurateView {
    /// Written down, or brought up to date.
    pub promoted: Vec<CuratedView>,
    /// Left as it is.
    pub skipped: Vec<CuratedView>,
    /// Rejected, now or before.
    pub rejected: Vec<CuratedView>,
    /// Nearly in the catalog already.
    pub duplicates: Vec<CuratedView>,
}

impl Schema for CurateView {
    const NAME: &'static str = "retro.curate/1";
}

/// What came of one candidate.
#[derive(Debug, Clone, Serialize)]
pub struct CuratedView {
    /// The pattern, or the candidate that became none.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Why.
    pub reason: String,
}

impl CurateView {
    /// Takes in what came of a candidate.
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
            let reason = format!("{how} as version {}, {ready}", pattern.version);
            CuratedView { id: pattern.id.clone(), title: pattern.title.clone(), reason }
        };
        match done {
            engine::Done::Promoted(pattern) => self.promoted.push(of(&pattern, "written down")),
            engine::Done::Updated(pattern) => self.promoted.push(of(&pattern, "updated")),
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
    /// Where they are.
    pub folder: String,
    /// Each of them.
    pub patterns: Vec<Pattern>,
    /// Files that cannot be used, and why.
    pub unreadable: Vec<UnreadableView>,
}

impl Schema for CatalogView {
    const NAME: &'static str = "retro.catalog.list/1";
}

/// A file of the catalog that cannot be used.
#[derive(Debug, Clone, Serialize)]
pub struct UnreadableView {
    /// Which.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// The catalog.
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

/// One pattern.
#[derive(Debug, Clone, Serialize)]
pub struct PatternView {
    /// All of it.
    #[serde(flatten)]
    pub pattern: Pattern,
}

impl Schema for PatternView {
    const NAME: &'static str = "retro.catalog.show/1";
}

/// The versions of a pattern, the oldest first; the last is the one that is in force.
#[derive(Debug, Clone, Serialize)]
pub struct PatternHistory {
    /// Which pattern.
    pub id: String,
    /// All of its versions.
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

/// What differs between two versions of a pattern.
#[derive(Debug, Clone, Serialize)]
pub struct PatternDiff {
    /// Which pattern.
    pub id: String,
    /// The earlier version.
    pub from: String,
    /// The later one.
    pub to: String,
    /// Lines of its file, with a sign in front: ` `, `-`, `+`.
    pub lines: Vec<String>,
}

impl Schema for PatternDiff {
    const NAME: &'static str = "retro.catalog.diff/1";
}

/// Lines that two versions of a pattern do not share.
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

/// Lines of two texts, by their longest common sequence. Patterns have some hundred lines.
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

/// What `catalog export` wrote.
#[derive(Debug, Clone, Serialize)]
pub struct CatalogExported {
    /// Its files.
    pub paths: Vec<String>,
}

impl Schema for CatalogExported {
    const NAME: &'static str = "retro.catalog.export/1";
}

/// Decisions, and whether they wait for their sink.
#[derive(Debug, Clone, Serialize)]
pub struct DecisionsView {
    /// Every decision, the oldest first.
    pub decisions: Vec<Decision>,
    /// Ids of those that wait.
    pub waiting: Vec<String>,
}

impl Schema for DecisionsView {
    const NAME: &'static str = "retro.decisions.list/1";
}

/// What was decided.
pub fn decisions(store: &Store) -> Result<DecisionsView, Error> {
    let (decisions, _) = engine::REVIEWS.read(store)?;
    let (waiting, _) = engine::QUEUE.read(store)?;
    Ok(DecisionsView { decisions, waiting: waiting.into_iter().map(|decision| decision.id).collect() })
}

/// What came of sending decisions.
#[derive(Debug, Clone, Serialize)]
pub struct DecisionsFlushed {
    /// How many were taken.
    pub sent: usize,
    /// How many wait.
    pub left: usize,
    /// Why they do.
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
