//! # What
//! How often the context was summarized, and how full the model's window was at most.
//! # Why
//! What is summarized is half forgotten; work near the limit gets worse and costs more.
//! # How
//! `compactions` counts the summaries that the log records. `context_pressure` is the
//! longest prompt of the main thread (input and cache together) as a share of the model's
//! window.
//! # Limits
//! The window is known for models of Claude (200,000 tokens; 1,000,000 with `[1m]` in the
//! name or where a prompt was longer) and for GPT-5 models (272,000 tokens of input). Null
//! with `window_unknown` for others, `no_usage` without tokens.

use super::Looked;
use crate::Reading;
use crate::trace::What;

pub(crate) const DOC: &str = include_str!("context.rs");

pub(crate) fn compactions(looked: &Looked<'_>) -> Reading {
    let beats = looked.trace.beats.iter().filter(|beat| matches!(beat.what, What::Compaction));
    Reading::count(beats.map(|beat| beat.id.as_str()))
}

pub(crate) fn context_pressure(looked: &Looked<'_>) -> Reading {
    let Some((prompt, model)) = &looked.trace.prompt_max else { return Reading::none("no_usage") };
    let Some(window) = model.as_deref().and_then(|model| window(model, *prompt)) else {
        return Reading::none("window_unknown");
    };
    Reading::ratio((*prompt as f64 / window as f64).min(1.0)).with("prompt_tokens_max", *prompt)
}

/// Tokens of prompt that a model takes.
fn window(model: &str, prompt: u64) -> Option<u64> {
    let model = model.rsplit('/').next().unwrap_or(model);
    if model.starts_with("claude") {
        return Some(if model.contains("[1m]") || prompt > 200_000 { 1_000_000 } else { 200_000 });
    }
    (model.starts_with("gpt-5") && prompt <= 272_000).then_some(272_000)
}
