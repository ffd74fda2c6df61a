//! Ranks memories for a prompt, and decides whether any fits well enough to be shown unasked.
//!
//! Relevance comes from words (BM25 over each memory's search text) and meaning (cosine). Useful
//! memories come first among equals. Old facts fade, but a person's preferences do not. Nothing
//! below the threshold is shown.

use hashbrown::{HashMap, HashSet};
use retro_model::Timestamp;
use retro_search::Words;
use retro_search::embed::{BuiltIn, Embedder, Embedding};
use serde::{Deserialize, Serialize};

use crate::again::is_telling;
use crate::candidate::{Kind, Risk, Scope};
use crate::memory::{Level, Memory, Status};
use crate::place::Place;
use crate::rules::names;
use crate::shelf::Shelf;
use crate::weights::Weights;

/// The ranking data of a memory, without its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Head {
    pub id: String,
    pub status: Status,
    pub scope: Scope,
    pub kind: Kind,
    pub risk: Risk,
    pub origin_repo: Option<String>,
    pub root: Option<String>,
    pub remote: Option<String>,
    /// True if no newer memory replaces it.
    pub current: bool,
    /// True if it may be shown unasked.
    pub unasked: bool,
    pub expires_ms: Option<i64>,
    pub created_ms: Option<i64>,
    pub confidence: f32,
    pub utility: f32,
    /// The subject, if a query can name it: an error's fingerprint, a purpose.
    pub subject: String,
    /// True for a command that passed once: it is shown unasked only for nearly the same request.
    #[serde(default)]
    pub once: bool,
    /// The subject of a rule, as terms: its first meaningful words.
    #[serde(default)]
    pub speaks_of: Vec<String>,
    /// Words that suffice for a match, as terms.
    pub keywords: Vec<Vec<String>>,
    /// Paths and identifiers that a rule names, as terms: each is enough alone.
    #[serde(default)]
    pub objects: Vec<Vec<String>>,
    /// Memories it links to.
    pub links: Vec<String>,
}

impl Head {
    /// True if a person may still decide about it.
    pub fn is_waiting(&self) -> bool {
        matches!(self.status, Status::Candidate | Status::NeedsReview) && self.current
    }
}

/// Access to all memories, in RAM or in the index.
pub trait Library {
    /// The error of a read.
    type Error;
    /// Every memory, by its number.
    fn heads(&self) -> &[Head];
    /// The numbers of the memories with a term.
    fn postings(&self, term: &str) -> Result<Vec<u32>, Self::Error>;
    /// The similarity in meaning to a memory. The query has length one.
    fn cosine(&self, number: usize, query: &Embedding) -> f32;
}

/// The place that the query is asked from.
#[derive(Debug, Clone, Default)]
pub struct Here {
    /// The folder, as named by the caller.
    pub cwd: Option<String>,
    /// The same folder without links, `.` and `..`.
    pub resolved: Option<String>,
    /// The repository around it.
    pub root: Option<String>,
    /// Its remote, without credentials.
    pub remote: Option<String>,
}

impl Here {
    /// The place, for comparison.
    pub fn place(&self) -> Place<'_> {
        Place {
            folder: self.cwd.as_deref(),
            resolved: self.resolved.as_deref(),
            root: self.root.as_deref(),
            remote: self.remote.as_deref(),
        }
    }
}

/// A query for memories.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// The words. If empty, selects the most useful memories of the folder.
    pub query: &'a str,
    /// The place it is asked from.
    pub here: Here,
    /// The time of the query.
    pub now: Timestamp,
    /// Answer as of `now`: ignore everything learned later. Otherwise use all memories, even those
    /// dated in the future by a wrong clock.
    pub of_the_past: bool,
    /// At most this many.
    pub limit: usize,
    /// Only this status. `None`: accepted memories and candidates.
    pub status: Option<Status>,
    /// Only memories that a person accepted.
    pub accepted_only: bool,
    /// Set if no person asked: only permitted memories that fit well.
    pub unasked: bool,
    /// The weight of each part of the ranking.
    pub weights: &'a Weights,
}

/// A memory that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The memory's number.
    pub number: usize,
    /// The score; higher fits better.
    pub score: f64,
    /// The reason for the match.
    pub why: String,
    /// True for the nearest memory that would not be shown unasked.
    pub weak: bool,
}

/// The answer: matching memories, or the reason for showing none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ranked {
    /// The matches, best first.
    pub fits: Vec<Fit>,
    /// Why no memory is shown.
    pub abstained: Option<&'static str>,
}

/// The match between a memory and a query.
#[derive(Debug, Clone, Copy, Default)]
struct Match {
    covered: f64,
    stems: usize,
    cosine: f64,
    named: bool,
    /// The share of the prompt's telling terms that a memory has.
    share: f64,
    /// True if the prompt mentions a rule's subject.
    spoken_of: bool,
}

/// Ranks the memories for a query.
pub fn rank<L: Library>(library: &L, ask: &Ask<'_>) -> Result<Ranked, L::Error> {
    let heads = library.heads();
    let eligible: Vec<usize> =
        (0..heads.len()).filter(|at| heads.get(*at).is_some_and(|head| is_eligible(head, ask))).collect();
    if eligible.is_empty() {
        let why = match heads.is_empty() {
            true => "there are no memories yet; sessions are mined when they have gone quiet",
            false => "no memory holds here",
        };
        return Ok(Ranked { fits: Vec::new(), abstained: Some(why) });
    }
    let query = ask.query.trim();
    let matches = match query.is_empty() {
        true => vec![Match::default(); heads.len()],
        false => matches(library, query, &eligible)?,
    };
    let mut fits: Vec<(f64, usize)> = Vec::new();
    for at in eligible {
        let (Some(head), Some(found)) = (heads.get(at), matches.get(at)) else { continue };
        let fit = match query.is_empty() {
            true => !(ask.unasked && (head.scope != Scope::Repo || head.once)),
            false => is_fit(found, ask) && (!ask.unasked || head.unasked || is_nearly_same(found, ask)),
        };
        if fit {
            fits.push((score(head, found, ask), at));
        }
    }
    fits.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    fits.truncate(ask.limit);
    let told = |(score, number): (f64, usize)| {
        let found = matches.get(number)?;
        let why = why(found, heads.get(number)?, ask);
        Some(Fit { number, score, why, weak: !query.is_empty() && !is_near(found, ask) })
    };
    let mut fits: Vec<Fit> = fits.into_iter().filter_map(told).collect();
    follow_links(library, &mut fits, ask);
    fits.truncate(ask.limit);
    let abstained = fits.is_empty().then_some("nothing fits well enough");
    Ok(Ranked { fits, abstained })
}

fn is_eligible(head: &Head, ask: &Ask<'_>) -> bool {
    let status = match ask.status {
        Some(status) => head.status == status,
        None if ask.accepted_only => head.status == Status::Accepted,
        None => matches!(head.status, Status::Accepted | Status::Candidate),
    };
    let fresh = head.expires_ms.is_none_or(|expires| expires > ask.now.as_millis())
        // A replayed session only sees facts known at the time.
        && (!ask.of_the_past || head.created_ms.is_none_or(|created| created <= ask.now.as_millis()));
    let wanted = ask.status.is_some() || head.current;
    let allowed = !ask.unasked || ((head.unasked || head.once) && head.risk != Risk::High);
    status && fresh && wanted && allowed && holds_here(head, ask)
}

/// True if a memory applies at the place of the query.
fn holds_here(head: &Head, ask: &Ask<'_>) -> bool {
    if head.scope != Scope::Repo || !ask.weights.scope_holds {
        return true;
    }
    // A query from outside any repository concerns all of them.
    let is_outside = ask.here.root.is_none() && ask.here.remote.is_none();
    is_at_home(head, ask) || (is_outside && !ask.unasked)
}

/// True if the query comes from a memory's repository.
fn is_at_home(head: &Head, ask: &Ask<'_>) -> bool {
    let home = Place {
        folder: head.origin_repo.as_deref(),
        resolved: None,
        root: head.root.as_deref(),
        remote: head.remote.as_deref(),
    };
    ask.here.cwd.is_some() && home.is_same(&ask.here.place())
}

/// Matches the query with every eligible memory, by words and by meaning.
fn matches<L: Library>(library: &L, query: &str, eligible: &[usize]) -> Result<Vec<Match>, L::Error> {
    let heads = library.heads();
    let mut words = Words::default();
    let all = words.distinct(query);
    // For a prompt of only idle words, these must do.
    let telling: Vec<String> = all.iter().filter(|term| is_telling(term)).cloned().collect();
    let terms = if telling.is_empty() { all.clone() } else { telling };
    let count = heads.len() as f64;
    let mut found = vec![Match::default(); heads.len()];
    let mut idf_all = 0.0;
    for term in &terms {
        let postings = library.postings(term)?;
        let with = postings.len() as f64;
        let idf = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
        idf_all += idf;
        for number in postings {
            let Some(found) = found.get_mut(number as usize) else { continue };
            found.covered += idf;
            found.stems += 1;
        }
    }
    // Error lines contain punctuation that plain requests lack. The search takes milliseconds.
    let has_error = query.contains([':', '[', '\n']);
    let print = has_error.then(|| retro_text::fingerprint(query)).flatten().map(|found| found.id);
    let intents = intents(query);
    let embedded = BuiltIn::new().ok().and_then(|model| model.embed(&[query]).ok()?.pop());
    let embedded = embedded.map(|query| Embedding::new(query.unit()));
    for at in eligible {
        let (Some(head), Some(found)) = (heads.get(*at), found.get_mut(*at)) else { continue };
        let cosine = embedded.as_ref().map_or(0.0, |query| f64::from(library.cosine(*at, query)));
        let has = |word: &String| terms.contains(word);
        // A single matching word of several is enough only for an accepted memory. A mined one must
        // match another part of the prompt too.
        let names = |words: &Vec<String>| {
            let is_enough = words.len() > 1 || found.stems > 1 || terms.len() == 1;
            !words.is_empty() && words.iter().all(has) && (is_enough || head.status == Status::Accepted)
        };
        let is_object =
            |words: &Vec<String>| !words.is_empty() && words.iter().all(|word| all.contains(word));
        let named = head.keywords.iter().any(names)
            || head.objects.iter().any(is_object)
            || print.as_ref().is_some_and(|print| *print == head.subject)
            || intents.contains(&head.subject.as_str());
        found.share = found.stems as f64 / terms.len().max(1) as f64;
        found.spoken_of = head.speaks_of.iter().any(|word| terms.contains(word));
        (found.cosine, found.named) = (cosine, named);
        found.covered /= idf_all.max(1e-9);
    }
    Ok(found)
}

/// Words with which users request a run or report its result.
const RUN_WORDS: &[&str] = &[
    "run", "rerun", "execute", "start", "launch", "check", "do", "does", "are", "is", "get", "red", "green",
    "pass", "passes", "fail", "fails", "failing", "all", "whole", "again", "still", "how", "please",
];

/// The intended action of a prompt, in the terms of `repo_commands`: to run something, not to write
/// it.
fn intents(query: &str) -> Vec<&'static str> {
    let lower = query.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_short = words.len() <= 3;
    if !is_short && !words.iter().any(|word| RUN_WORDS.contains(word)) {
        return Vec::new();
    }
    let names: [(&str, &[&str]); 6] = [
        ("command:test", &["test", "tests", "testing", "suite", "spec", "specs", "coverage"]),
        ("command:build", &["build", "compile", "builds", "compiles", "bundle"]),
        ("command:lint", &["lint", "linter", "lints", "clippy", "eslint", "ruff"]),
        ("command:typecheck", &["typecheck", "types", "mypy", "tsc"]),
        ("command:format", &["format", "formatter", "formatting", "prettier", "fmt"]),
        ("command:run", &["run", "start", "serve", "launch"]),
    ];
    names
        .iter()
        .filter(|(_, triggers)| triggers.iter().any(|word| words.contains(word)))
        .map(|(name, _)| *name)
        .collect()
}

fn is_fit(found: &Match, ask: &Ask<'_>) -> bool {
    let weights = ask.weights;
    is_near(found, ask) || (!ask.unasked && (found.stems > 0 || found.cosine >= weights.shown_cosine))
}

/// True if a prompt makes nearly the same request.
fn is_nearly_same(found: &Match, ask: &Ask<'_>) -> bool {
    found.stems >= ask.weights.shown_stems && found.covered >= ask.weights.shown_same
}

/// True if a memory is similar enough to be shown unasked.
fn is_near(found: &Match, ask: &Ask<'_>) -> bool {
    let weights = ask.weights;
    let named = found.named && weights.named > 0.0;
    let alike = found.cosine >= weights.shown_cosine && found.stems >= weights.shown_stems;
    let worded = found.stems >= weights.shown_stems && found.covered >= weights.shown_coverage;
    let spoken_of = found.spoken_of && found.share >= weights.shown_spoken_of;
    named || alike || worded || spoken_of
}

fn score(head: &Head, found: &Match, ask: &Ask<'_>) -> f64 {
    let weights = ask.weights;
    // If the query names the memory, other words do not lower the score.
    let words = if found.named { found.covered.max(weights.named) } else { found.covered };
    let relevance = weights.words * words + weights.meaning * found.cosine.max(0.0);
    let risk = match head.risk {
        Risk::Low => 0.0,
        Risk::Medium => weights.risk_medium,
        Risk::High => weights.risk_high,
    };
    let scope = if head.scope == Scope::Repo && is_at_home(head, ask) { weights.scope_match } else { 0.0 };
    let created = head.created_ms.and_then(Timestamp::from_millis);
    let use_ = weights.utility * f64::from(head.utility) + weights.confidence * f64::from(head.confidence);
    (relevance + use_ + scope - risk) * (0.5 + 0.5 * head.kind.left(created, ask.now, weights.half_life_days))
}

fn why(found: &Match, head: &Head, ask: &Ask<'_>) -> String {
    let mut parts = Vec::new();
    if found.named {
        parts.push("the prompt names it".to_owned());
    } else if found.stems > 0 {
        parts.push(format!("{} in common", plural(found.stems, "word")));
    }
    if found.cosine >= 0.45 {
        parts.push(format!("alike in meaning ({:.2})", found.cosine));
    }
    if head.scope == Scope::Repo {
        parts.push(match (is_at_home(head, ask), home_of(head)) {
            (true, _) => "same repository".to_owned(),
            (false, Some(home)) => format!("of {home}"),
            (false, None) => "of another repository".to_owned(),
        });
    }
    parts.join(", ")
}

/// The repository of a memory, as people name it.
fn home_of(head: &Head) -> Option<&str> {
    let place = head.remote.as_deref().or(head.root.as_deref()).or(head.origin_repo.as_deref())?;
    let bare = place.trim_end_matches(['/', '\\']);
    let bare = bare.strip_suffix(".git").unwrap_or(bare);
    bare.rsplit(['/', '\\', ':']).next().filter(|name| !name.is_empty())
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Adds memories one link away from the best ones, if they may be shown here.
fn follow_links<L: Library>(library: &L, fits: &mut Vec<Fit>, ask: &Ask<'_>) {
    let heads = library.heads();
    let linked = heads.iter().any(|head| !head.links.is_empty());
    if !linked || fits.is_empty() {
        return;
    }
    let mut more: Vec<Fit> = Vec::new();
    for fit in fits.iter() {
        let Some(head) = heads.get(fit.number) else { continue };
        for (at, other) in heads.iter().enumerate() {
            let is_link = head.links.contains(&other.id) || other.links.contains(&head.id);
            let known = fits.iter().chain(&more).any(|fit| fit.number == at);
            if is_link && !known && is_eligible(other, ask) {
                let score = fit.score * ask.weights.link_share;
                more.push(Fit { number: at, score, why: format!("linked with {}", head.id), weak: fit.weak });
            }
        }
    }
    fits.extend(more);
    fits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.number.cmp(&b.number)));
}

/// Ranking data and terms of all memories on a shelf.
#[derive(Default)]
pub struct Catalog {
    heads: Vec<Head>,
    postings: HashMap<String, Vec<u32>>,
}

impl Catalog {
    /// Builds the catalog of a shelf.
    pub fn of(shelf: &Shelf) -> Catalog {
        let (mut heads, mut postings) = (Vec::new(), HashMap::new());
        let mut words = Words::default();
        for (number, memory) in shelf.items().iter().enumerate() {
            heads.push(head(memory, &mut words, number, &mut postings));
        }
        Catalog { heads, postings }
    }

    /// The ranking data of each memory.
    pub fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// Every term, with the memories that contain it.
    pub fn terms(&self) -> impl Iterator<Item = (&String, &Vec<u32>)> {
        self.postings.iter()
    }
}

/// A shelf with its catalog, ready for queries.
pub struct Memories<'a> {
    /// The shelf of memories.
    pub shelf: &'a Shelf,
    /// The shelf's catalog.
    pub catalog: &'a Catalog,
}

impl Library for Memories<'_> {
    type Error = std::convert::Infallible;

    fn heads(&self) -> &[Head] {
        &self.catalog.heads
    }

    fn postings(&self, term: &str) -> Result<Vec<u32>, Self::Error> {
        Ok(self.catalog.postings.get(term).cloned().unwrap_or_default())
    }

    fn cosine(&self, number: usize, query: &Embedding) -> f32 {
        self.shelf.vectors().get(number).map_or(0.0, |vector| vector.cosine(query))
    }
}

/// Maximum leading words that name a rule's subject.
const SPEAKS_OF_MAX: usize = 3;

/// The terms of a rule's subject.
fn speaks_of(memory: &Memory, words: &mut Words) -> Vec<String> {
    if memory.method != "user_rules" {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    for span in &memory.spans {
        let terms = words.distinct(&span.text).into_iter().filter(is_telling);
        found.extend(terms.take(SPEAKS_OF_MAX));
    }
    found.sort();
    found.dedup();
    found
}

/// Paths and identifiers that a rule names in its own words.
fn objects(memory: &Memory, words: &mut Words) -> Vec<Vec<String>> {
    if memory.method != "user_rules" {
        return Vec::new();
    }
    let named = memory.spans.iter().flat_map(|span| names(&span.text));
    let mut found: Vec<Vec<String>> = named.map(|name| words.distinct(&name)).collect();
    found.sort();
    found.dedup();
    found
}

fn head(memory: &Memory, words: &mut Words, number: usize, postings: &mut HashMap<String, Vec<u32>>) -> Head {
    // Words that a method wrote around its quotations do not count.
    let is_quoted = memory.source == crate::memory::Source::Mined && !memory.spans.is_empty();
    let key = if is_quoted { memory.key_text() } else { format!("{}\n{}", memory.key_text(), memory.text) };
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    let mut terms = HashSet::new();
    words.each(&key, |term| {
        if !terms.contains(term.text) {
            terms.insert(term.text.to_owned());
        }
    });
    for term in terms {
        postings.entry(term).or_default().push(number);
    }
    // Names in a rule suffice for a match. A file or a tool does not.
    let named = if memory.method == "user_rules" || memory.source != crate::memory::Source::Mined {
        memory.keywords.as_slice()
    } else {
        &[]
    };
    Head {
        id: memory.id.clone(),
        status: memory.status,
        scope: memory.scope,
        kind: memory.kind,
        risk: memory.risk,
        origin_repo: memory.origin_repo.clone(),
        root: memory.place().root.map(str::to_owned),
        remote: memory.repository.remote.clone(),
        current: memory.superseded_by.is_none(),
        unasked: memory.level() == Level::Unasked,
        once: memory.is_once(),
        speaks_of: speaks_of(memory, words),
        expires_ms: memory.expires_at.map(Timestamp::as_millis),
        created_ms: memory.created_at.map(Timestamp::as_millis),
        confidence: memory.confidence as f32,
        utility: memory.utility.lower_bound() as f32,
        subject: memory.subject.clone(),
        keywords: named.iter().map(|keyword| words.distinct(keyword)).collect(),
        objects: objects(memory, words),
        links: crate::authored::links(&format!("{}\n{}", memory.text, memory.when_to_use)),
    }
}
