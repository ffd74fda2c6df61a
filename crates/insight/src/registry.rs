//! Every signal, one line each.

use retro_model::ToolClass;
use serde::Serialize;

use crate::signals::Looked;
use crate::signals::{
    activity, capture, commits, context, correction, cost, danger, external, failures, files, interruptions,
    masked, messages, recovery, rework, satisfaction, secrets, subagents, survival, time, tool_errors,
    trajectory_balance, trajectory_categories, trajectory_ngrams, trajectory_repetition, trajectory_results,
    trajectory_shape, trajectory_validation, validation,
};
use crate::trajectory::Category as Kind;
use crate::{Reading, Trace};
use Group::{Activity, Cost, Outcome, Risk};
use Method::{External, Heuristic, Regex};
use Read::{Category, Class, Plain};
use Sort::{Boolean, Categorical, Numeric, Text};

/// The topic of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// The actions of the session.
    Activity,
    /// The cost in money, time and attention.
    Cost,
    /// The result of the session.
    Outcome,
    /// Possible damage or leaks.
    Risk,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Sort {
    Numeric,
    Boolean,
    Categorical,
    Text,
}

/// The source of a signal's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The structure of events.
    Heuristic,
    /// Patterns in texts.
    Regex,
    /// Facts outside the log.
    External,
}

/// The function that reads a trace.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    Plain(fn(&Looked<'_>) -> Reading),
    Class(fn(&Looked<'_>, ToolClass) -> Reading, ToolClass),
    Category(fn(&Looked<'_>, Kind) -> Reading, Kind),
}

/// The definition of a signal.
#[derive(Clone, Copy)]
pub struct Signal {
    /// The name of the signal.
    pub id: &'static str,
    /// The topic of the signal.
    pub group: Group,
    /// The type of its value.
    pub kind: Sort,
    /// The source of its value.
    pub method: Method,
    /// The unit of its value.
    pub unit: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// True if it needs prices. Such a reading is never part of a digest.
    pub priced: bool,
    pub(crate) source: &'static str,
    pub(crate) read: Read,
}

impl Signal {
    pub(crate) fn read(&self, looked: &Looked<'_>) -> Reading {
        match self.read {
            Plain(read) => read(looked),
            Class(read, class) => read(looked, class),
            Category(read, category) => read(looked, category),
        }
    }

    /// What, why, how and limits, from the comment at the top of its file, as Markdown.
    pub fn explanation(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(str::trim_start).collect::<Vec<_>>().join("\n")
    }
}

/// Finds a signal by its name.
pub fn by_id(id: &str) -> Option<&'static Signal> {
    SIGNALS.binary_search_by(|signal| signal.id.cmp(id)).ok().and_then(|at| SIGNALS.get(at))
}

/// Readings of all signals that need no price, by name.
pub(crate) fn read_all(looked: &Looked<'_>) -> std::collections::BTreeMap<String, Reading> {
    let unpriced = SIGNALS.iter().filter(|signal| !signal.priced);
    unpriced
        .map(|signal| {
            (
                signal.id.to_owned(),
                truncated(signal, unread(signal, signal.read(looked), looked.trace), looked.trace),
            )
        })
        .collect()
}

/// Signals that are counted while events pass, and are valid for a session of any length.
const COUNTED: [&str; 12] = [
    "active_seconds",
    "capture_gap_signal",
    "context_pressure",
    "events_without_timestamps",
    "external_content",
    "git_commits_made_during",
    "git_survival",
    "idle_seconds",
    "secret_exposure_count",
    "secret_exposure_signal",
    "session_duration_seconds",
    "unknown_event_count",
];

/// Signals that depend on the effects of commands.
const OF_COMMANDS: [&str; 13] = [
    "command_count",
    "destructive_command",
    "edit_then_no_test",
    "failed_command_count",
    "failed_command_ratio",
    "file_edit_count",
    "git_commits_made_during",
    "masked_failures",
    "rework",
    "tests_passed_last",
    "tests_run",
    "unique_files_edited",
    "verification_debt",
];

/// The confidence of a reading that may lack commands.
const UNREAD_CONFIDENCE: f64 = 0.5;

/// Adjusts a reading if scripts could not be read: a negative result is then unknown, and a
/// positive one may be incomplete.
fn unread(signal: &Signal, reading: Reading, trace: &Trace) -> Reading {
    let steps = signal.id.starts_with("trajectory_");
    if !steps && !OF_COMMANDS.contains(&signal.id) {
        return reading;
    }
    let count = trace.unread_calls().count();
    if count == 0 {
        return reading;
    }
    let counts = reading.value.as_u64().is_some_and(|value| value > 0);
    if steps || reading.value.is_null() || !counts {
        return Reading::none("commands_unread").because(trace.unread_calls().map(|beat| beat.id.as_str()));
    }
    let confidence = reading.confidence.min(UNREAD_CONFIDENCE);
    reading.sure(confidence).with("unread", count)
}

/// Removes readings that need left-out beats.
fn truncated(signal: &Signal, reading: Reading, trace: &Trace) -> Reading {
    if trace.left_out > 0 && !COUNTED.contains(&signal.id) {
        Reading::none("session_too_large")
    } else {
        reading
    }
}

#[allow(clippy::too_many_arguments)]
const fn signal(
    id: &'static str,
    group: Group,
    kind: Sort,
    method: Method,
    unit: &'static str,
    title: &'static str,
    source: &'static str,
    read: Read,
) -> Signal {
    Signal { id, group, kind, method, unit, title, priced: false, source, read }
}

impl Signal {
    const fn priced(mut self) -> Signal {
        self.priced = true;
        self
    }
}

/// Every signal, sorted by name.
#[rustfmt::skip]
pub static SIGNALS: &[Signal] = &[
    signal("active_seconds", Cost, Numeric, Heuristic, "seconds", "Time at work", time::DOC, Plain(time::active_seconds)),
    signal("adaptive_recovery", Outcome, Numeric, Heuristic, "count", "Failures overcome in another way", recovery::DOC, Plain(recovery::adaptive_recovery)),
    signal("assistant_message_count", Activity, Numeric, Heuristic, "count", "Messages of the model", messages::DOC, Plain(messages::assistant_message_count)),
    signal("capture_gap_signal", Risk, Boolean, Heuristic, "flag", "The log is not fully understood", capture::DOC, Plain(capture::capture_gap_signal)),
    signal("command_count", Activity, Numeric, Heuristic, "count", "Commands", activity::DOC, Plain(activity::command_count)),
    signal("compactions", Activity, Numeric, Heuristic, "count", "Summaries of the context", context::DOC, Plain(context::compactions)),
    signal("context_pressure", Risk, Numeric, Heuristic, "ratio", "Largest share of the window in use", context::DOC, Plain(context::context_pressure)),
    signal("cost_per_commit", Cost, Numeric, Heuristic, "usd", "List price for each commit", cost::DOC, Plain(cost::cost_per_commit)).priced(),
    signal("cost_usd", Cost, Numeric, Heuristic, "usd", "List price", cost::DOC, Plain(cost::cost_usd)).priced(),
    signal("destructive_command", Risk, Numeric, Heuristic, "count", "Commands that could destroy work", danger::DOC, Plain(danger::destructive_command)),
    signal("edit_then_no_test", Risk, Boolean, Heuristic, "flag", "No check after the last edit", validation::DOC, Plain(validation::edit_then_no_test)),
    signal("events_without_timestamps", Risk, Numeric, Heuristic, "count", "Events without a time", capture::DOC, Plain(capture::events_without_timestamps)),
    signal("external_content", Risk, Numeric, Heuristic, "count", "Texts from outside", external::DOC, Plain(external::external_content)),
    signal("failed_command_count", Outcome, Numeric, Heuristic, "count", "Failed calls", failures::DOC, Plain(failures::failed_command_count)),
    signal("failed_command_ratio", Outcome, Numeric, Heuristic, "ratio", "Share of failed calls", failures::DOC, Plain(failures::failed_command_ratio)),
    signal("file_edit_count", Activity, Numeric, Heuristic, "count", "Calls that change a file", activity::DOC, Plain(activity::file_edit_count)),
    signal("git_commits_made_during", Outcome, Numeric, External, "count", "Commits made", commits::DOC, Plain(commits::git_commits_made_during)),
    signal("git_survival", Outcome, Numeric, External, "ratio", "Committed lines that are still there", survival::DOC, Plain(survival::git_survival)),
    signal("idle_seconds", Cost, Numeric, Heuristic, "seconds", "Time without work", time::DOC, Plain(time::idle_seconds)),
    signal("interrupted_signal", Outcome, Boolean, Heuristic, "flag", "Cut off by the person", interruptions::DOC, Plain(interruptions::interrupted_signal)),
    signal("interruption_count", Outcome, Numeric, Heuristic, "count", "Interruptions", interruptions::DOC, Plain(interruptions::interruption_count)),
    signal("masked_failures", Risk, Numeric, Heuristic, "count", "Failed checks under an exit state of success", masked::DOC, Plain(masked::masked_failures)),
    signal("permission_denials", Risk, Numeric, Heuristic, "count", "Refused calls", interruptions::DOC, Plain(interruptions::permission_denials)),
    signal("rework", Cost, Numeric, Heuristic, "count", "Files edited again after a failed check", rework::DOC, Plain(rework::rework)),
    signal("secret_exposure_count", Risk, Numeric, Regex, "count", "Secrets in texts", secrets::DOC, Plain(secrets::secret_exposure_count)),
    signal("secret_exposure_signal", Risk, Boolean, Regex, "flag", "A secret is in a text", secrets::DOC, Plain(secrets::secret_exposure_signal)),
    signal("session_duration_seconds", Cost, Numeric, Heuristic, "seconds", "From the first to the last time", time::DOC, Plain(time::session_duration_seconds)),
    signal("subagent_cost_share", Cost, Numeric, Heuristic, "ratio", "Share of the cost that sub-agents took", subagents::DOC, Plain(subagents::subagent_cost_share)).priced(),
    signal("subagent_count", Activity, Numeric, Heuristic, "count", "Sub-agents", subagents::DOC, Plain(subagents::subagent_count)),
    signal("tests_passed_last", Outcome, Boolean, Heuristic, "flag", "The last run of tests passed", validation::DOC, Plain(validation::tests_passed_last)),
    signal("tests_run", Outcome, Numeric, Heuristic, "count", "Runs of tests", validation::DOC, Plain(validation::tests_run)),
    signal("time_to_first_edit_seconds", Cost, Numeric, Heuristic, "seconds", "From the first message to the first edit", time::DOC, Plain(time::time_to_first_edit_seconds)),
    signal("tool_errors_ask", Outcome, Numeric, Heuristic, "count", "Failed calls of class ask", tool_errors::DOC, Class(tool_errors::tool_errors, ToolClass::Ask)),
    signal("tool_errors_edit", Outcome, Numeric, Heuristic, "count", "Failed calls of class edit", tool_errors::DOC, Class(tool_errors::tool_errors, ToolClass::Edit)),
    signal("tool_errors_mcp", Outcome, Numeric, Heuristic, "count", "Failed calls of class mcp", tool_errors::DOC, Class(tool_errors::tool_errors, ToolClass::Mcp)),
    signal("tool_errors_other", Outcome, Numeric, Heuristic, "count", "Failed calls of class other", tool_errors::DOC, Class(tool_errors::tool_errors, ToolClass::Other)),
    signal("tool_errors_plan", Outcome, Numeric, Heuristic, "count", "Failed calls of class plan", tool_errors::DOC, Class(tool_errors::tool_errors, ToolClass::Plan)),
    signal("tool_errors_read", Outcome, Numeric, Heuristic, "count", "Failed calls of class read", tool_errors::DOC, Class(tool_errors::tool_errors, ToolClass::Read)),
    signal("tool_errors_search", Outcome, Numeric, Heuristic, "count", "Failed calls of class search", tool_errors::DOC, Class(tool_errors::tool_errors, ToolClass::Search)),
    signal("tool_errors_shell", Outcome, Numeric, Heuristic, "count", "Failed calls of class shell", tool_errors::DOC, Class(tool_errors::tool_errors, ToolClass::Shell)),
    signal("tool_errors_subagent", Outcome, Numeric, Heuristic, "count", "Failed calls of class subagent", tool_errors::DOC, Class(tool_errors::tool_errors, ToolClass::Subagent)),
    signal("tool_errors_web", Outcome, Numeric, Heuristic, "count", "Failed calls of class web", tool_errors::DOC, Class(tool_errors::tool_errors, ToolClass::Web)),
    signal("trajectory_4gram_repetition_ratio", Risk, Numeric, Heuristic, "ratio", "Share of sequences that come again", trajectory_ngrams::DOC, Plain(trajectory_ngrams::repetition_ratio)),
    signal("trajectory_4gram_top", Activity, Text, Heuristic, "label", "Most frequent sequence of four steps", trajectory_ngrams::DOC, Plain(trajectory_ngrams::top)),
    signal("trajectory_action_count_error", Activity, Numeric, Heuristic, "count", "Steps of category error", trajectory_categories::DOC, Category(trajectory_categories::action_count, Kind::Error)),
    signal("trajectory_action_count_explain", Activity, Numeric, Heuristic, "count", "Steps of category explain", trajectory_categories::DOC, Category(trajectory_categories::action_count, Kind::Explain)),
    signal("trajectory_action_count_explore", Activity, Numeric, Heuristic, "count", "Steps of category explore", trajectory_categories::DOC, Category(trajectory_categories::action_count, Kind::Explore)),
    signal("trajectory_action_count_generate_fix", Activity, Numeric, Heuristic, "count", "Steps of category generate_fix", trajectory_categories::DOC, Category(trajectory_categories::action_count, Kind::GenerateFix)),
    signal("trajectory_action_count_locate", Activity, Numeric, Heuristic, "count", "Steps of category locate", trajectory_categories::DOC, Category(trajectory_categories::action_count, Kind::Locate)),
    signal("trajectory_action_count_other", Activity, Numeric, Heuristic, "count", "Steps of category other", trajectory_categories::DOC, Category(trajectory_categories::action_count, Kind::Other)),
    signal("trajectory_action_count_permission", Activity, Numeric, Heuristic, "count", "Steps of category permission", trajectory_categories::DOC, Category(trajectory_categories::action_count, Kind::Permission)),
    signal("trajectory_action_count_refactor", Activity, Numeric, Heuristic, "count", "Steps of category refactor", trajectory_categories::DOC, Category(trajectory_categories::action_count, Kind::Refactor)),
    signal("trajectory_action_count_reproduce", Activity, Numeric, Heuristic, "count", "Steps of category reproduce", trajectory_categories::DOC, Category(trajectory_categories::action_count, Kind::Reproduce)),
    signal("trajectory_action_count_run_tests", Activity, Numeric, Heuristic, "count", "Steps of category run_tests", trajectory_categories::DOC, Category(trajectory_categories::action_count, Kind::RunTests)),
    signal("trajectory_action_count_search", Activity, Numeric, Heuristic, "count", "Steps of category search", trajectory_categories::DOC, Category(trajectory_categories::action_count, Kind::Search)),
    signal("trajectory_action_ratio_error", Activity, Numeric, Heuristic, "ratio", "Share of steps of category error", trajectory_categories::DOC, Category(trajectory_categories::action_ratio, Kind::Error)),
    signal("trajectory_action_ratio_explain", Activity, Numeric, Heuristic, "ratio", "Share of steps of category explain", trajectory_categories::DOC, Category(trajectory_categories::action_ratio, Kind::Explain)),
    signal("trajectory_action_ratio_explore", Activity, Numeric, Heuristic, "ratio", "Share of steps of category explore", trajectory_categories::DOC, Category(trajectory_categories::action_ratio, Kind::Explore)),
    signal("trajectory_action_ratio_generate_fix", Activity, Numeric, Heuristic, "ratio", "Share of steps of category generate_fix", trajectory_categories::DOC, Category(trajectory_categories::action_ratio, Kind::GenerateFix)),
    signal("trajectory_action_ratio_locate", Activity, Numeric, Heuristic, "ratio", "Share of steps of category locate", trajectory_categories::DOC, Category(trajectory_categories::action_ratio, Kind::Locate)),
    signal("trajectory_action_ratio_other", Activity, Numeric, Heuristic, "ratio", "Share of steps of category other", trajectory_categories::DOC, Category(trajectory_categories::action_ratio, Kind::Other)),
    signal("trajectory_action_ratio_permission", Activity, Numeric, Heuristic, "ratio", "Share of steps of category permission", trajectory_categories::DOC, Category(trajectory_categories::action_ratio, Kind::Permission)),
    signal("trajectory_action_ratio_refactor", Activity, Numeric, Heuristic, "ratio", "Share of steps of category refactor", trajectory_categories::DOC, Category(trajectory_categories::action_ratio, Kind::Refactor)),
    signal("trajectory_action_ratio_reproduce", Activity, Numeric, Heuristic, "ratio", "Share of steps of category reproduce", trajectory_categories::DOC, Category(trajectory_categories::action_ratio, Kind::Reproduce)),
    signal("trajectory_action_ratio_run_tests", Activity, Numeric, Heuristic, "ratio", "Share of steps of category run_tests", trajectory_categories::DOC, Category(trajectory_categories::action_ratio, Kind::RunTests)),
    signal("trajectory_action_ratio_search", Activity, Numeric, Heuristic, "ratio", "Share of steps of category search", trajectory_categories::DOC, Category(trajectory_categories::action_ratio, Kind::Search)),
    signal("trajectory_action_redundancy", Risk, Numeric, Heuristic, "count", "Actions done again", trajectory_repetition::DOC, Plain(trajectory_repetition::action_redundancy)),
    signal("trajectory_balance_score", Activity, Numeric, Heuristic, "score", "How even the two are", trajectory_balance::DOC, Plain(trajectory_balance::balance_score)),
    signal("trajectory_consecutive_repetition_count", Risk, Numeric, Heuristic, "count", "Actions repeated at once", trajectory_repetition::DOC, Plain(trajectory_repetition::consecutive_repetition_count)),
    signal("trajectory_error_to_search_or_edit_ratio", Outcome, Numeric, Heuristic, "ratio", "Share of failures that are looked into", trajectory_results::DOC, Plain(trajectory_results::error_to_search_or_edit_ratio)),
    signal("trajectory_exploitation_ratio", Activity, Numeric, Heuristic, "ratio", "Share of working on the result", trajectory_balance::DOC, Plain(trajectory_balance::exploitation_ratio)),
    signal("trajectory_exploration_ratio", Activity, Numeric, Heuristic, "ratio", "Share of looking around", trajectory_balance::DOC, Plain(trajectory_balance::exploration_ratio)),
    signal("trajectory_failed_result_recovery_steps", Cost, Numeric, Heuristic, "count", "Steps from a failure to something else", trajectory_results::DOC, Plain(trajectory_results::failed_result_recovery_steps)),
    signal("trajectory_failure_ignored_count", Risk, Numeric, Heuristic, "count", "Failures that were not acted upon", trajectory_results::DOC, Plain(trajectory_results::failure_ignored_count)),
    signal("trajectory_fix_validation_latency_steps", Cost, Numeric, Heuristic, "count", "Steps from an edit to the next check", trajectory_validation::DOC, Plain(trajectory_validation::fix_validation_latency_steps)),
    signal("trajectory_fix_without_validation_count", Risk, Numeric, Heuristic, "count", "Edits without a check soon after", trajectory_validation::DOC, Plain(trajectory_validation::fix_without_validation_count)),
    signal("trajectory_max_repetition_run", Risk, Numeric, Heuristic, "count", "Longest run of one action", trajectory_repetition::DOC, Plain(trajectory_repetition::max_repetition_run)),
    signal("trajectory_phase_coverage", Activity, Numeric, Heuristic, "ratio", "Phases of work that were touched", trajectory_shape::DOC, Plain(trajectory_shape::phase_coverage)),
    signal("trajectory_phase_transition_count", Activity, Numeric, Heuristic, "count", "Changes between phases", trajectory_shape::DOC, Plain(trajectory_shape::phase_transition_count)),
    signal("trajectory_premature_finish_without_validation", Risk, Boolean, Heuristic, "flag", "No check after the last edit on its thread", trajectory_validation::DOC, Plain(trajectory_validation::premature_finish_without_validation)),
    signal("trajectory_repeated_action_without_progress", Risk, Boolean, Heuristic, "flag", "The same action again without an edit", trajectory_repetition::DOC, Plain(trajectory_repetition::repeated_action_without_progress)),
    signal("trajectory_result_token_reuse_ratio", Activity, Numeric, Heuristic, "ratio", "Share of results that the next step uses", trajectory_results::DOC, Plain(trajectory_results::result_token_reuse_ratio)),
    signal("trajectory_sequence_entropy", Activity, Numeric, Heuristic, "score", "How mixed the steps are", trajectory_shape::DOC, Plain(trajectory_shape::sequence_entropy)),
    signal("trajectory_step_count", Activity, Numeric, Heuristic, "count", "Steps", trajectory_shape::DOC, Plain(trajectory_shape::step_count)),
    signal("trajectory_test_fix_loop_count", Risk, Numeric, Heuristic, "count", "Loops of edit and failed check", trajectory_validation::DOC, Plain(trajectory_validation::test_fix_loop_count)),
    signal("trajectory_unknown_action_ratio", Risk, Numeric, Heuristic, "ratio", "Share of steps of no known purpose", trajectory_shape::DOC, Plain(trajectory_shape::unknown_action_ratio)),
    signal("trajectory_validation_presence", Outcome, Boolean, Heuristic, "flag", "A check follows an edit", trajectory_validation::DOC, Plain(trajectory_validation::validation_presence)),
    signal("unique_files_edited", Activity, Numeric, Heuristic, "count", "Different files changed", files::DOC, Plain(files::unique_files_edited)),
    signal("unique_files_read", Activity, Numeric, Heuristic, "count", "Different files read", files::DOC, Plain(files::unique_files_read)),
    signal("unknown_event_count", Risk, Numeric, Heuristic, "count", "Records of an unknown kind", capture::DOC, Plain(capture::unknown_event_count)),
    signal("user_correction_count", Cost, Numeric, Regex, "count", "Corrections by the person", correction::DOC, Plain(correction::user_correction_count)),
    signal("user_message_count", Activity, Numeric, Heuristic, "count", "Messages of the person", messages::DOC, Plain(messages::user_message_count)),
    signal("user_satisfaction_lexical", Outcome, Categorical, Regex, "label", "Tone of the last message", satisfaction::DOC, Plain(satisfaction::user_satisfaction_lexical)),
    signal("verification_debt", Risk, Numeric, Heuristic, "count", "Edits after the last check that passed", validation::DOC, Plain(validation::verification_debt)),
    signal("web_search_count", Activity, Numeric, Heuristic, "count", "Web searches and fetches", activity::DOC, Plain(activity::web_search_count)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_sorted_and_explained() {
        assert!(SIGNALS.is_sorted_by(|a, b| a.id < b.id));
        for signal in SIGNALS {
            let text = signal.explanation();
            for heading in ["# What", "# Why", "# How", "# Limits"] {
                assert!(text.lines().any(|line| line == heading), "{}: {heading}", signal.id);
            }
            assert_eq!(by_id(signal.id).map(|found| found.id), Some(signal.id));
        }
    }
}
