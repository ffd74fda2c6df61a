//! How long questions take: wall time and CPU time, and where the middle and the end are.

use std::time::{Duration, Instant};

use crate::failure::Failure;

/// How often each question is asked; the cheapest time counts.
const REPEATS: usize = 3;

/// The times of several questions, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Times {
    wall: Vec<Duration>,
    cpu: Vec<Duration>,
    found: usize,
}

impl Times {
    /// Asks every question; `ask` says how much it found.
    pub(super) fn of<Q>(
        questions: &[Q],
        mut ask: impl FnMut(&Q) -> Result<usize, Failure>,
    ) -> Result<Times, Failure> {
        let mut times = Times::default();
        for question in questions {
            let (mut wall, mut cpu) = (Duration::MAX, Duration::MAX);
            let mut found = 0;
            for _ in 0..REPEATS {
                let (start, cpu_start) = (Instant::now(), cpu_time());
                found = ask(question)?;
                wall = wall.min(start.elapsed());
                cpu = cpu.min(cpu_time().saturating_sub(cpu_start));
            }
            times.wall.push(wall);
            times.cpu.push(cpu);
            times.found += usize::from(found > 0);
        }
        Ok(times)
    }

    /// The cheaper time of each question, of the same questions asked at two moments: machines
    /// are slow for seconds now and then.
    pub(super) fn or_cheaper(mut self, other: &Times) -> Times {
        let cheaper = |times: &mut Vec<Duration>, others: &[Duration]| {
            times.iter_mut().zip(others).for_each(|(time, other)| *time = (*time).min(*other));
        };
        cheaper(&mut self.wall, &other.wall);
        cheaper(&mut self.cpu, &other.cpu);
        self
    }

    /// The time that this share of all questions does not exceed.
    pub(super) fn wall(&self, share: f64) -> Duration {
        at(&self.wall, share)
    }

    /// The same of CPU time on all cores.
    pub(super) fn cpu(&self, share: f64) -> Duration {
        at(&self.cpu, share)
    }

    /// The share of questions with an answer.
    pub(super) fn answered(&self) -> f64 {
        self.found as f64 / self.wall.len().max(1) as f64
    }
}

fn at(times: &[Duration], share: f64) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
}

/// A time in the unit that suits it.
pub(super) fn short(time: Duration) -> String {
    match time.as_secs_f64() * 1e3 {
        ms if ms < 1.0 => format!("{:.0} µs", ms * 1e3),
        ms if ms < 100.0 => format!("{ms:.1} ms"),
        ms if ms < 10_000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.0} s", ms / 1e3),
    }
}

/// CPU time of this program so far; none where the system does not say.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

#[cfg(not(unix))]
fn cpu_time() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_end_are_those_of_sorted_times() {
        let times: Vec<Duration> = (0..101).rev().map(Duration::from_millis).collect();
        assert_eq!(at(&times, 0.5), Duration::from_millis(50));
        assert_eq!(at(&times, 0.99), Duration::from_millis(99));
        assert_eq!(at(&[], 0.5), Duration::ZERO);
    }

    #[test]
    fn the_cheaper_of_two_moments_counts_for_each_question() {
        let times = |wall: [u64; 2]| {
            let wall = wall.map(Duration::from_millis).to_vec();
            Times { cpu: wall.clone(), wall, found: 2 }
        };
        let both = times([9, 2]).or_cheaper(&times([3, 8]));
        assert_eq!((both.wall(0.0), both.cpu(1.0)), (Duration::from_millis(2), Duration::from_millis(3)));
    }

    #[test]
    fn answers_are_counted() {
        let times = Times::of(&[1, 0, 2, 0], |found| Ok(*found)).unwrap();
        assert_eq!(times.answered(), 0.5);
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        let said = |micros| short(Duration::from_micros(micros));
        assert_eq!(
            [said(31), said(1_500), said(250_000), said(12_000_000)],
            ["31 µs", "1.5 ms", "250 ms", "12 s"]
        );
    }
}
