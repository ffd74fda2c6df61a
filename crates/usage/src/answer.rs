//! Answers to questions about use and cost: the same that JSON prints.

use retro_model::Timestamp;
use serde::Serialize;

use crate::blocks::Block;
use crate::count::Incomplete;
use crate::figures::Figures;
use crate::query::By;

/// One row of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportRow {
    /// The day, week, month, session, project, model, agent or start of the block;
    /// `unknown` where the log does not tell.
    pub key: String,
    /// What was used.
    #[serde(flatten)]
    pub figures: Figures,
    /// First response.
    pub first_at: Option<Timestamp>,
    /// Last response.
    pub last_at: Option<Timestamp>,
    /// Models that answered.
    pub models: Vec<String>,
    /// Agents that asked.
    pub agents: Vec<String>,
    /// Of a session: which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionPart>,
    /// Of a block: where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<Block>,
    /// Model by model, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breakdown: Vec<ModelPart>,
}

/// The session of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionPart {
    /// The agent.
    pub agent: String,
    /// Its id: the one at the top of the tree.
    pub session_id: String,
    /// Its title.
    pub title: Option<String>,
    /// Its project.
    pub project: Option<String>,
    /// Sub-agents with responses of their own, counted in.
    pub children: u64,
}

/// One model's part of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelPart {
    /// The model, as logged.
    pub model: String,
    /// What it used.
    #[serde(flatten)]
    pub figures: Figures,
}

/// A model whose cost is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnpricedModel {
    /// The model, as logged.
    pub model: String,
    /// Its responses without a cost.
    pub responses: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Those of them that have a price, but so many tokens that no amount of money fits.
    #[serde(skip_serializing_if = "is_zero")]
    pub beyond: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Calls beside the conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SideCalls {
    /// How many.
    pub responses: u64,
    /// Their tokens.
    pub total_tokens: u64,
    /// Their cost, where it is known.
    pub cost_usd: Option<f64>,
}

/// Use that only the agent's own total shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnloggedPart {
    /// The agent.
    pub agent: String,
    /// The session.
    pub session_id: String,
    /// The model.
    pub model: String,
    /// Its tokens.
    pub total_tokens: u64,
    /// What they cost at list price: at least, because several requests are one figure.
    pub cost_usd: Option<f64>,
}

/// The same question with the output of lower bounds estimated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Estimated {
    /// Output, as logged.
    pub output_tokens_logged: u64,
    /// Output, with estimates in the place of bounds.
    pub output_tokens_estimated: u64,
    /// How far sums of estimates were off.
    pub error_percent: u64,
}

/// Responses whose log line has no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Undated {
    /// Put on the day their session began.
    pub at_session_start: u64,
    /// Under `unknown`; between two days they are left out.
    pub unknown: u64,
}

impl Report {
    /// Marks every cost as a lower bound: something was left out that may belong to any row.
    pub fn mark_incomplete(&mut self) {
        self.totals.cost_complete = false;
        for row in &mut self.rows {
            row.figures.cost_complete = false;
            row.breakdown.iter_mut().for_each(|part| part.figures.cost_complete = false);
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// What makes a row.
    pub by: By,
    /// The rows.
    pub rows: Vec<ReportRow>,
    /// Their sum.
    pub totals: Figures,
    /// Models whose cost is unknown.
    pub unpriced_models: Vec<UnpricedModel>,
    /// Copies that were not counted.
    pub duplicates_dropped: u64,
    /// Calls beside the conversation, not in the totals.
    pub side_calls: SideCalls,
    /// Responses that summarized the context; they are in the totals.
    pub compaction_responses: u64,
    /// What only the agent's own totals show, not in the totals.
    pub unlogged: Vec<UnloggedPart>,
    /// What could not be settled.
    pub incomplete: Vec<Incomplete>,
    /// Responses whose logged output is less than it was.
    pub lower_bound_responses: u64,
    /// What it would be with those estimated, if there are any.
    pub estimated: Option<Estimated>,
    /// Responses without a time.
    pub undated: Undated,
}
