//! The work of a period: its cost, recurring problems, and advice.

mod bounds;

use retro_engine::{Config, World};
use retro_insight::{Correction, Digest};
use retro_model::Timestamp;
use retro_patterns::Polarity;
use retro_store::Store;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

use bounds::Bounding;
pub use bounds::CostBounds;

use crate::insight::each_digest;
use crate::patterns::{DetectQuestion, detect};
use crate::{Error, ListOptions, SessionView};

/// Maximum entries of each list.
const TOP: usize = 10;
/// Corrections shown per session.
const CORRECTIONS_OF_ONE: usize = 2;
/// Minimum words of a correction. Shorter ones make no sense without their context.
const WORDS_MIN: usize = 4;
/// Minimum confidence of a correction.
const SURE: f64 = 0.7;

/// The result of `retro report`.
#[derive(Debug, Clone, Serialize)]
pub struct ReportView {
    /// `retro.report/1`.
    pub schema: &'static str,
    /// Matching sessions with a digest.
    pub sessions: u64,
    /// Those with real work.
    pub real: u64,
    /// Matching sessions that have no digest yet.
    pub undigested: u64,
    /// When the first of them began.
    pub from: Option<Timestamp>,
    /// When the last of them ended.
    pub until: Option<Timestamp>,
    /// Sessions of each agent.
    pub agents: BTreeMap<String, u64>,
    /// Real sessions by outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// List price of all sessions that have one.
    pub cost_usd: Option<f64>,
    /// True if the cost covers everything.
    pub cost_complete: bool,
    /// Why it does not, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_bounds: Option<CostBounds>,
    /// Active time, without pauses.
    pub active_seconds: u64,
    /// Number of commits made.
    pub commits: u64,
    /// Lines added in total.
    pub lines_added: u64,
    /// Lines removed in total.
    pub lines_removed: u64,
    /// Projects with the most sessions.
    pub projects: Vec<Counted>,
    /// The most frequent commands.
    pub commands: Vec<Counted>,
    /// The most frequently called tools.
    pub tools: Vec<Counted>,
    /// Errors in more than one session, or three times in one.
    pub errors: Vec<RecurringError>,
    /// The user's corrections.
    pub corrections: Vec<Corrected>,
    /// Patterns of the period, most important first.
    pub patterns: Vec<ReportedPattern>,
    /// Conspicuous findings, with the sessions that show them.
    pub findings: Vec<Finding>,
}

/// A recurring pattern.
#[derive(Debug, Clone, Serialize)]
pub struct ReportedPattern {
    /// The key of the candidate in `retro detect`.
    pub key: String,
    /// A short title.
    pub title: String,
    /// How often it occurred.
    pub frequency: u32,
    /// The number of sessions that have it.
    pub sessions: u64,
    /// The most frequent remedy.
    pub helped: Option<String>,
}

/// Maximum patterns of a report.
const PATTERNS_MAX: usize = 5;

/// The patterns in the sessions of a report.
fn patterns(
    world: &World,
    config: &Config,
    store: &Store,
    options: &ListOptions,
) -> Result<Vec<ReportedPattern>, Error> {
    let question = DetectQuestion {
        since: options.since,
        before: options.before,
        agent: options.agent.clone(),
        project: options.project.clone(),
        ..DetectQuestion::default()
    };
    let problems = detect(world, config, store, &question)?.candidates.into_iter();
    let problems = problems.filter(|one| one.polarity == Polarity::Problem).take(PATTERNS_MAX);
    Ok(problems
        .map(|one| ReportedPattern {
            sessions: one.sessions.len() as u64,
            helped: one.resolutions.first().map(|known| known.text.clone()),
            key: one.key,
            title: one.title,
            frequency: one.frequency,
        })
        .collect())
}

/// A name with its counts.
#[derive(Debug, Clone, Serialize)]
pub struct Counted {
    /// The thing that is counted.
    pub name: String,
    /// How often it occurred.
    pub count: u64,
    /// How often it failed.
    pub failed: u64,
}

/// A recurring error.
#[derive(Debug, Clone, Serialize)]
pub struct RecurringError {
    /// Identifies the error.
    pub fingerprint: String,
    /// Its line, as first printed.
    pub sample: String,
    /// True if names and numbers in it vary.
    pub varies: bool,
    /// How often it occurred.
    pub count: u64,
    /// True if the same program or tool passed later in every session.
    pub fixed: bool,
    /// Sessions in which it did not pass again.
    pub open: u64,
    /// Short ids of the sessions.
    pub sessions: Vec<String>,
}

/// A correction by the user.
#[derive(Debug, Clone, Serialize)]
pub struct Corrected {
    /// The session's short id.
    pub session: String,
    /// The event's id.
    pub event_id: String,
    /// The words of the correction.
    pub text: String,
}

/// A conspicuous finding.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static str,
    /// The finding, in a sentence.
    pub text: String,
    /// Advice for the user.
    pub advice: &'static str,
    /// How many sessions show it.
    pub count: u64,
    /// Short ids of the first few.
    pub sessions: Vec<String>,
}

/// The report on the matching sessions.
pub fn report(
    world: &World,
    config: &Config,
    store: &Store,
    options: &ListOptions,
) -> Result<ReportView, Error> {
    let mut sums = Sums::default();
    let undigested =
        each_digest(world, config, store, options, |session, digest| sums.add(session, &digest))?;
    let Sums { mut view, real, bounds, projects, commands, tools, errors, mut corrections, findings } = sums;
    view.undigested = undigested;
    view.cost_complete = bounds.is_complete && undigested == 0;
    if !view.cost_complete {
        view.cost_bounds = Some(bounds.finish(undigested));
    }
    view.real = real;
    view.errors = recurring(errors);
    view.findings = told(findings, real);
    view.patterns = patterns(world, config, store, options)?;
    // The most certain first; among equals, the newest.
    corrections.sort_by(|a, b| b.0.total_cmp(&a.0));
    view.corrections = corrections.into_iter().map(|(_, correction)| correction).take(TOP).collect();
    (view.projects, view.commands, view.tools) = (top(projects), top(commands), top(tools));
    Ok(view)
}

/// What digests say together, as far as they were looked at.
struct Sums {
    /// With what is a sum or a bound.
    view: ReportView,
    real: u64,
    bounds: Bounding,
    projects: Counts,
    commands: Counts,
    tools: Counts,
    errors: BTreeMap<String, RecurringError>,
    corrections: Vec<(f64, Corrected)>,
    /// The sessions that each rule found.
    findings: Vec<BTreeSet<String>>,
}

impl Default for Sums {
    fn default() -> Sums {
        let view = ReportView {
            schema: "retro.report/1",
            sessions: 0,
            real: 0,
            undigested: 0,
            from: None,
            until: None,
            agents: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            cost_usd: None,
            cost_complete: true,
            cost_bounds: None,
            active_seconds: 0,
            commits: 0,
            lines_added: 0,
            lines_removed: 0,
            projects: Vec::new(),
            commands: Vec::new(),
            tools: Vec::new(),
            errors: Vec::new(),
            corrections: Vec::new(),
            patterns: Vec::new(),
            findings: Vec::new(),
        };
        Sums {
            view,
            real: 0,
            bounds: Bounding::default(),
            projects: Counts::new(),
            commands: Counts::new(),
            tools: Counts::new(),
            errors: BTreeMap::new(),
            corrections: Vec::new(),
            findings: vec![BTreeSet::new(); RULES.len()],
        }
    }
}

impl Sums {
    fn add(&mut self, session: SessionView, digest: &Digest) {
        let view = &mut self.view;
        view.sessions += 1;
        view.from = [view.from, digest.started_at].into_iter().flatten().min();
        view.until = [view.until, digest.ended_at].into_iter().flatten().max();
        *view.agents.entry(session.agent.clone()).or_default() += 1;
        if let Some(usd) = session.cost_usd {
            view.cost_usd = Some(view.cost_usd.unwrap_or(0.0) + usd);
        }
        self.bounds.add(&session);
        view.active_seconds += number(digest, "active_seconds");
        view.commits += number(digest, "git_commits_made_during");
        view.lines_added += digest.lines.added;
        view.lines_removed += digest.lines.removed;
        count(&mut self.projects, session.project.as_deref().unwrap_or("(none)"), 1, 0);
        for (name, runs) in &digest.runs {
            count(&mut self.commands, name, runs.count, runs.failed);
        }
        for (tool, calls) in &digest.tools {
            count(&mut self.tools, tool, *calls, 0);
        }
        add_errors(&mut self.errors, &session, digest);
        if digest.quality.real {
            self.add_real(&session, digest);
        }
    }

    /// What only real work counts for.
    fn add_real(&mut self, session: &SessionView, digest: &Digest) {
        self.real += 1;
        *self.view.outcomes.entry(digest.outcome.value.as_str()).or_default() += 1;
        let mut sure: Vec<_> = digest.corrections.iter().filter(|correction| is_told(correction)).collect();
        sure.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        self.corrections.extend(sure.into_iter().take(CORRECTIONS_OF_ONE).map(|correction| {
            let (session, event_id) = (session.short_id.clone(), correction.event_id.clone());
            (correction.confidence, Corrected { session, event_id, text: correction.text.clone() })
        }));
        for (rule, sessions) in RULES.iter().zip(&mut self.findings) {
            if (rule.holds)(digest) {
                sessions.insert(session.short_id.clone());
            }
        }
    }
}

/// True if a correction is certain enough and makes sense alone.
fn is_told(correction: &Correction) -> bool {
    correction.confidence >= SURE && correction.text.split_whitespace().nth(WORDS_MIN - 1).is_some()
}

fn number(digest: &Digest, signal: &str) -> u64 {
    digest.readings.get(signal).and_then(|reading| reading.value.as_u64()).unwrap_or(0)
}

fn ratio(digest: &Digest, signal: &str) -> f64 {
    digest.readings.get(signal).and_then(|reading| reading.value.as_f64()).unwrap_or(0.0)
}

type Counts = BTreeMap<String, (u64, u64)>;

fn count(counts: &mut Counts, name: &str, times: u64, failed: u64) {
    let entry = counts.entry(name.to_owned()).or_default();
    entry.0 += times;
    entry.1 += failed;
}

fn top(counts: Counts) -> Vec<Counted> {
    let mut all: Vec<Counted> =
        counts.into_iter().map(|(name, (count, failed))| Counted { name, count, failed }).collect();
    all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    all.truncate(TOP);
    all
}

/// Adds the errors of a session to those of others.
fn add_errors(errors: &mut BTreeMap<String, RecurringError>, session: &SessionView, digest: &Digest) {
    for error in &digest.errors {
        let entry = errors.entry(error.fingerprint.clone()).or_insert_with(|| RecurringError {
            fingerprint: error.fingerprint.clone(),
            sample: error.sample.clone(),
            varies: false,
            count: 0,
            fixed: true,
            open: 0,
            sessions: Vec::new(),
        });
        entry.varies |= entry.sample != error.sample;
        entry.count += error.count;
        entry.fixed &= error.fixed;
        entry.open += u64::from(!error.fixed);
        entry.sessions.push(session.short_id.clone());
    }
}

/// The errors that recur, the most frequent first.
fn recurring(errors: BTreeMap<String, RecurringError>) -> Vec<RecurringError> {
    let mut errors: Vec<RecurringError> =
        errors.into_values().filter(|error| error.sessions.len() > 1 || error.count > 2).collect();
    errors.sort_by_key(|error| std::cmp::Reverse((error.sessions.len(), error.count)));
    errors.truncate(TOP);
    errors
}

/// A rule: its name, the condition on a session, its sentence, its advice.
struct Rule {
    name: &'static str,
    holds: fn(&Digest) -> bool,
    says: &'static str,
    advice: &'static str,
}

/// The rules, in the order of the report.
const RULES: &[Rule] = &[
    Rule {
        name: "failing_calls",
        holds: |digest| {
            number(digest, "failed_command_count") > 5 && ratio(digest, "failed_command_ratio") > 0.3
        },
        says: "had more than five failed calls, over 30 % of all their calls",
        advice: "write what the agent has to know about the errors above into its instructions",
    },
    Rule {
        name: "long_conversations",
        holds: |digest| number(digest, "user_message_count") > 35,
        says: "took more than 35 messages of yours",
        advice: "split such work into sessions with one goal each",
    },
    Rule {
        name: "much_searching",
        holds: |digest| {
            number(digest, "trajectory_action_count_search") > 10
                && ratio(digest, "trajectory_exploration_ratio") > 0.65
        },
        says: "spent over 65 % of their steps on reading and searching",
        advice: "add a short map of the project to the agent's instructions",
    },
    Rule {
        name: "masked_failures",
        holds: |digest| number(digest, "masked_failures") > 0,
        says: "ran a check that failed and still exited with success",
        advice: "tell the agent to run checks without `| tail` and `|| true`, or after `set -o pipefail`",
    },
    Rule {
        name: "unverified_edits",
        holds: |digest| number(digest, "verification_debt") > 3,
        says: "ended with more than three edits that no passing check followed",
        advice: "name the test command in the agent's instructions",
    },
    Rule {
        name: "secrets",
        holds: |digest| number(digest, "secret_exposure_count") > 0,
        says: "contain a secret",
        advice: "change those keys; `retro secrets` lists where they are",
    },
    Rule {
        name: "destructive_commands",
        holds: |digest| number(digest, "destructive_command") > 0,
        says: "ran a command that could destroy work",
        advice: "look at them (`retro signal show AGENT ID` gives the events), and have the agent ask first",
    },
];

/// The rules that found something, of so many sessions with real work.
fn told(found: Vec<BTreeSet<String>>, real: u64) -> Vec<Finding> {
    let found = RULES.iter().zip(found).filter(|(_, sessions)| !sessions.is_empty());
    let finding = |(rule, sessions): (&Rule, BTreeSet<String>)| {
        let count = sessions.len() as u64;
        let text = format!("{count} of {real} sessions {}", rule.says);
        let sessions = sessions.into_iter().take(TOP).collect();
        Finding { rule: rule.name, text, advice: rule.advice, count, sessions }
    };
    found.map(finding).collect()
}
