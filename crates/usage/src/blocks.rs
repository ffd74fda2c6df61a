//! Windows of five hours, as subscription limits count them.
//!
//! A block begins with the first response after the one before it ended, at the
//! full hour in UTC. It ends five hours later, or earlier when five hours pass
//! without a response: then the next response begins a new one.

use retro_model::Timestamp;
use serde::Serialize;

use crate::NanoUsd;
use crate::figures::Sum;

const HOUR_MS: i64 = 3_600_000;
/// Length of a block.
pub const BLOCK_MS: i64 = 5 * HOUR_MS;
/// The age up to which a block is recent.
pub(crate) const RECENT_MS: i64 = 3 * 24 * HOUR_MS;

/// Fields that only a block has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Block {
    /// When it began.
    pub start: Timestamp,
    /// When its five hours are over.
    pub end: Timestamp,
    /// True if it is running.
    pub is_active: bool,
    /// The token limit to compare with.
    pub token_limit: Option<u64>,
    /// The used part of the limit, in percent.
    pub token_limit_percent: Option<f64>,
    /// The speed of use, while it runs.
    pub burn_rate: Option<BurnRate>,
    /// The use at its end at the present speed, while it runs.
    pub projection: Option<Projection>,
}

/// Speed of use, from the first to the last response of a block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BurnRate {
    /// Tokens of all kinds.
    pub tokens_per_minute: f64,
    /// Tokens without cache reads and writes.
    pub uncached_tokens_per_minute: f64,
    /// Cost, if known.
    pub cost_usd_per_hour: Option<f64>,
}

/// A running block, extrapolated to its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Projection {
    /// Minutes until its end.
    pub remaining_minutes: u64,
    /// Tokens of all kinds.
    pub total_tokens: u64,
    /// Cost, if known.
    pub cost_usd: Option<f64>,
}

/// The times of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start_ms: i64,
    first_ms: i64,
    last_ms: i64,
}

/// Splits times, which must ascend, into blocks, each with the number of times in it.
pub(crate) fn cut(times: &[Timestamp]) -> Vec<(Span, usize)> {
    let mut blocks: Vec<(Span, usize)> = Vec::new();
    for ms in times.iter().map(|ts| ts.as_millis()) {
        match blocks.last_mut() {
            Some((span, count)) if ms - span.start_ms <= BLOCK_MS && ms - span.last_ms <= BLOCK_MS => {
                span.last_ms = ms;
                *count += 1;
            }
            _ => {
                let start_ms = ms - ms.rem_euclid(HOUR_MS);
                blocks.push((Span { start_ms, first_ms: ms, last_ms: ms }, 1));
            }
        }
    }
    blocks
}

/// The time of the first response in the running block, from the times of responses, which must
/// ascend. `None` if no block is running. The times must reach back to a pause of five hours, or to
/// the very first response.
pub fn block_start(times: &[Timestamp], now: Timestamp) -> Option<Timestamp> {
    let (span, _) = cut(times).pop()?;
    span.is_active(Some(now)).then(|| Timestamp::from_millis(span.first_ms))?
}

impl Span {
    pub(crate) fn is_active(&self, now: Option<Timestamp>) -> bool {
        now.map(Timestamp::as_millis)
            .is_some_and(|now| now - self.last_ms < BLOCK_MS && now < self.start_ms + BLOCK_MS)
    }

    /// The block with the use in it.
    pub(crate) fn block(&self, sum: &Sum, now: Option<Timestamp>, token_limit: Option<u64>) -> Option<Block> {
        let is_active = self.is_active(now);
        let burn_rate = if is_active { self.burn_rate(sum) } else { None };
        let left_ms = now.map_or(0, |now| (self.start_ms + BLOCK_MS - now.as_millis()).max(0));
        let projection = burn_rate.as_ref().map(|rate| {
            let minutes = left_ms as f64 / 60_000.0;
            let more = (rate.tokens_per_minute * minutes).round() as u64;
            let cost = sum.cost().zip(rate.cost_usd_per_hour);
            Projection {
                remaining_minutes: u64::try_from(left_ms / 60_000).unwrap_or(0),
                total_tokens: sum.tokens.total().saturating_add(more),
                cost_usd: cost.map(|(cost, hourly)| cost.to_usd() + hourly * minutes / 60.0),
            }
        });
        let percent = |limit: u64| (limit > 0).then(|| sum.tokens.total() as f64 * 100.0 / limit as f64);
        Some(Block {
            start: Timestamp::from_millis(self.start_ms)?,
            end: Timestamp::from_millis(self.start_ms + BLOCK_MS)?,
            is_active,
            token_limit,
            token_limit_percent: token_limit.and_then(percent),
            burn_rate,
            projection,
        })
    }

    /// A single response has no speed.
    fn burn_rate(&self, sum: &Sum) -> Option<BurnRate> {
        let minutes = (self.last_ms - self.first_ms) as f64 / 60_000.0;
        (minutes > 0.0).then(|| BurnRate {
            tokens_per_minute: sum.tokens.total() as f64 / minutes,
            uncached_tokens_per_minute: sum.tokens.input.saturating_add(sum.tokens.output) as f64 / minutes,
            cost_usd_per_hour: sum.cost().map(|cost: NanoUsd| cost.to_usd() / minutes * 60.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(times: &[&str]) -> Vec<(String, usize)> {
        let times: Vec<Timestamp> = times.iter().map(|time| at(time)).collect();
        let start = |span: Span| Timestamp::from_millis(span.start_ms).unwrap().to_string();
        cut(&times).into_iter().map(|(span, count)| (start(span)[8..16].to_owned(), count)).collect()
    }

    fn at(time: &str) -> Timestamp {
        Timestamp::parse(&format!("2026-01-{time}:00Z")).unwrap()
    }

    #[test]
    fn a_block_begins_at_the_full_hour_and_lasts_five() {
        assert_eq!(
            spans(&["01T10:40", "01T14:59", "01T15:00", "01T15:01", "01T20:00"]),
            [("01T10:00".into(), 3), ("01T15:00".into(), 2)]
        );
    }

    #[test]
    fn five_quiet_hours_end_a_block() {
        assert_eq!(
            spans(&["01T10:00", "01T10:05", "01T16:06"]),
            [("01T10:00".into(), 2), ("01T16:00".into(), 1)]
        );
        assert_eq!(spans(&[]), []);
    }

    #[test]
    fn only_a_running_block_has_a_speed() {
        let span = cut(&[at("01T10:30"), at("01T11:30")])[0].0;
        let mut sum = Sum::default();
        (sum.tokens.input, sum.tokens.cache_read) = (600, 5400);
        let block = span.block(&sum, Some(at("01T12:00")), Some(12_000)).unwrap();
        assert!(block.is_active);
        assert_eq!(block.token_limit_percent, Some(50.0));
        let rate = block.burn_rate.unwrap();
        assert_eq!((rate.tokens_per_minute, rate.uncached_tokens_per_minute), (100.0, 10.0));
        let projection = block.projection.unwrap();
        assert_eq!((projection.remaining_minutes, projection.total_tokens), (180, 24_000));
        for late in [Some(at("01T15:00")), Some(at("02T10:00")), None] {
            let block = span.block(&sum, late, None).unwrap();
            assert_eq!((block.is_active, block.burn_rate, block.projection), (false, None, None));
        }
    }
}
