//! Answers to questions about use and cost. JSON output prints the same types.

use retro_model::Timestamp;
use serde::Serialize;

use crate::blocks::Block;
use crate::count::Incomplete;
use crate::figures::Figures;
use crate::query::By;

/// One row of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportRow {
    /// The day, week, month, session, project, model, agent or start of the block. `unknown` if it
    /// is not in the log.
    pub key: String,
    /// Tokens and cost of the row.
    #[serde(flatten)]
    pub figures: Figures,
    /// Time of the first response.
    pub first_at: Option<Timestamp>,
    /// Time of the last response.
    pub last_at: Option<Timestamp>,
    /// Models that answered, sorted.
    pub models: Vec<String>,
    /// Agents that sent the requests.
    pub agents: Vec<String>,
    /// The session, in a report by session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionPart>,
    /// The block, in a report by block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<Block>,
    /// One part per model, if the query asks for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breakdown: Vec<ModelPart>,
}

/// The session of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionPart {
    /// The name of the agent.
    pub agent: String,
    /// The id of the session at the top of the tree.
    pub session_id: String,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The name of its project, if known.
    pub project: Option<String>,
    /// Sub-agents with responses of their own, which are included.
    pub children: u64,
}

/// One model's part of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelPart {
    /// The model, as logged.
    pub model: String,
    /// Tokens and cost of the model.
    #[serde(flatten)]
    pub figures: Figures,
}

/// A model whose cost is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnpricedModel {
    /// The model, as logged.
    pub model: String,
    /// Responses without a cost.
    pub responses: u64,
    /// Total tokens of those responses.
    pub tokens: u64,
    /// Responses that have a price, but too many tokens for any representable amount.
    #[serde(skip_serializing_if = "is_zero")]
    pub beyond: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Calls outside the conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SideCalls {
    /// The number of calls.
    pub responses: u64,
    /// Total tokens of those calls.
    pub total_tokens: u64,
    /// Their cost, if known.
    pub cost_usd: Option<f64>,
}

/// Use that only the agent's own total shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnloggedPart {
    /// The name of the agent.
    pub agent: String,
    /// The id of the session.
    pub session_id: String,
    /// The model, as logged.
    pub model: String,
    /// Total tokens that are not in the log.
    pub total_tokens: u64,
    /// Their cost at list price. A lower bound, because several requests are one figure.
    pub cost_usd: Option<f64>,
}

/// The report's totals with the output of lower bounds estimated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Estimated {
    /// Output, as logged.
    pub output_tokens_logged: u64,
    /// Output, with estimates instead of lower bounds.
    pub output_tokens_estimated: u64,
    /// The error of sums of estimates, in percent.
    pub error_percent: u64,
}

/// Responses whose log line has no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Undated {
    /// Counted on the day when their session began.
    pub at_session_start: u64,
    /// Counted under `unknown`. A report with a first or last day excludes them.
    pub unknown: u64,
}

impl Report {
    /// Marks every cost as a lower bound, because something was left out that may belong to any
    /// row.
    pub fn mark_incomplete(&mut self) {
        self.totals.cost_complete = false;
        for row in &mut self.rows {
            row.figures.cost_complete = false;
            row.breakdown.iter_mut().for_each(|part| part.figures.cost_complete = false);
        }
    }
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The grouping of the rows.
    pub by: By,
    /// The rows, in the order of the query.
    pub rows: Vec<ReportRow>,
    /// The sum of all rows.
    pub totals: Figures,
    /// Models whose cost is unknown.
    pub unpriced_models: Vec<UnpricedModel>,
    /// Copies that were not counted.
    pub duplicates_dropped: u64,
    /// Calls outside the conversation, which are not in the totals.
    pub side_calls: SideCalls,
    /// Responses that summarized the context. They are in the totals.
    pub compaction_responses: u64,
    /// Use that only the agent's own totals show. It is not in the totals.
    pub unlogged: Vec<UnloggedPart>,
    /// Problems that could not be resolved.
    pub incomplete: Vec<Incomplete>,
    /// Responses whose logged output is less than the real output.
    pub lower_bound_responses: u64,
    /// The totals with estimates for those responses. `None` if there are no such responses.
    pub estimated: Option<Estimated>,
    /// Responses without a time.
    pub undated: Undated,
}
