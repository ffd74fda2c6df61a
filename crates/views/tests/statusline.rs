//! The status line, through real files, sync and the view.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../engine/tests/support/mod.rs"]
mod support;

use jiff::tz::TimeZone;
use retro_engine::ask::Ledgers;
use retro_model::Timestamp;
use retro_usage::{Billing, By, Mode, Prices, Query};
use retro_views::{Asked, StatusInput, StatuslineView, statusline, statusline_alone};
use support::Machine;

const MINE: &str = "55555555-5555-4555-8555-555555555555";

/// A session of two answers: the second one an hour after the first.
fn story(id: &str, first: &str, second: &str) -> String {
    format!("@ session {id}\n@ time {first}\n> Go\n< Gone.\n@ time {second}\n> Again\n< Gone again.\n")
}

fn ask(machine: &Machine, now: &str, zone: &str, handed: &str) -> StatuslineView {
    let index = machine.store().index_to_read().unwrap();
    let prices = Prices::embedded().unwrap();
    let input = StatusInput::read(handed);
    let tz = TimeZone::get(zone).unwrap();
    let now = Timestamp::parse(now).unwrap();
    let asked = Asked {
        input: &input,
        agent: "claude",
        prices: &prices,
        mode: Mode::Auto,
        billing: Billing::Plan,
        tz: &tz,
        now,
    };
    statusline(&index, &asked).unwrap()
}

/// What the whole report says for the same day and for the running block.
fn reports(machine: &Machine, now: &str, zone: &str) -> (Option<f64>, Option<f64>) {
    let index = machine.store().index().unwrap();
    let prices = Prices::embedded().unwrap();
    let tz = TimeZone::get(zone).unwrap();
    let now = Timestamp::parse(now).unwrap();
    let today = now.to_jiff().to_zoned(tz.clone()).date();
    let ask = |query| retro_views::usage(&Ledgers::of(&index, &prices), Billing::Plan, query).unwrap().report;
    let day = Query { since: Some(today), until: Some(today), tz, ..Query::default() };
    let block = Query { by: By::Blocks, active: true, now: Some(now), ..Query::default() };
    let (day, block) = (ask(day), ask(block));
    let cost = |responses: u64, usd: Option<f64>| usd.filter(|_| responses > 0);
    (
        cost(day.totals.responses, day.totals.cost_usd),
        block.rows.first().and_then(|row| cost(row.figures.responses, row.figures.cost_usd)),
    )
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-9,
        (a, b) => a == b,
    }
}

#[test]
fn it_says_what_the_reports_say() {
    let machine = Machine::new();
    machine.tell("claude", &story(MINE, "2026-03-01T09:10:00Z", "2026-03-01T10:10:00Z"));
    machine.tell(
        "codex",
        &story("66666666-6666-4666-8666-666666666666", "2026-03-01T03:30:00Z", "2026-03-01T08:45:00Z"),
    );
    machine.tell(
        "grok",
        &story("77777777-7777-4777-8777-777777777777", "2026-02-28T22:30:00Z", "2026-03-01T01:00:00Z"),
    );
    machine.sync();
    for zone in ["UTC", "Asia/Kolkata", "America/Los_Angeles"] {
        for now in [
            "2026-02-28T23:00:00Z",
            "2026-03-01T04:00:00Z",
            "2026-03-01T10:30:00Z",
            "2026-03-01T13:00:00Z",
            "2026-03-02T10:00:00Z",
        ] {
            let view = ask(&machine, now, zone, "{}");
            // What lies in the future is not the past's: the report has no end but the day's.
            let (day, block) = reports(&machine, now, zone);
            let past = now >= "2026-03-01T10:10:30Z";
            if past {
                assert!(
                    near(view.today.map(|amount| amount.usd), day),
                    "{zone} {now}: {:?} {day:?}",
                    view.today
                );
            }
            let cost = view.block.as_ref().and_then(|block| block.cost).map(|cost| cost.usd);
            if past {
                assert!(near(cost, block), "{zone} {now}: {cost:?} {block:?}");
            }
        }
    }
}

#[test]
fn the_running_block_has_an_end_and_a_speed() {
    let machine = Machine::new();
    machine.tell("claude", &story(MINE, "2026-03-01T09:10:00Z", "2026-03-01T10:10:00Z"));
    machine.sync();
    let block = ask(&machine, "2026-03-01T10:30:00Z", "UTC", "{}").block.unwrap();
    assert_eq!(block.ends_at, Timestamp::parse("2026-03-01T14:00:00Z").unwrap());
    assert!(block.usd_per_hour.unwrap() > 0.0);
    assert_eq!(ask(&machine, "2026-03-01T14:00:00Z", "UTC", "{}").block, None);
}

#[test]
fn the_agents_own_figure_is_newer_than_the_store() {
    let machine = Machine::new();
    let more = "> Once more\n< Gone.\n".repeat(6);
    machine.tell("claude", &(story(MINE, "2026-03-01T09:10:00Z", "2026-03-01T10:10:00Z") + &more));
    machine.tell(
        "codex",
        &story("66666666-6666-4666-8666-666666666666", "2026-03-01T08:30:00Z", "2026-03-01T08:45:00Z"),
    );
    machine.sync();
    let stored = ask(&machine, "2026-03-01T10:30:00Z", "UTC", &format!("{{\"session_id\":\"{MINE}\"}}"));
    let mine = stored.session.unwrap().usd;
    let others = stored.today.unwrap().usd - mine;
    assert!(mine > 0.0 && others > 0.0);
    let handed = format!(
        "{{\"session_id\":\"{MINE}\",\"cost\":{{\"total_cost_usd\":9.5,\"total_duration_ms\":5000}}}}"
    );
    let live = ask(&machine, "2026-03-01T10:30:00Z", "UTC", &handed);
    assert_eq!(live.session.unwrap().usd, 9.5);
    assert!(near(live.today.map(|amount| amount.usd), Some(others + 9.5)));
    assert!(near(live.block.unwrap().cost.map(|amount| amount.usd), Some(others + 9.5)));
    // An agent that went on with the session counts only what came after.
    let less = format!("{{\"session_id\":\"{MINE}\",\"cost\":{{\"total_cost_usd\":{}}}}}", mine / 1e6);
    let resumed = ask(&machine, "2026-03-01T10:30:00Z", "UTC", &less);
    assert!(mine > 0.02, "more than the two may differ by: {mine}");
    assert!(near(resumed.session.map(|amount| amount.usd), Some(mine)));
    assert!(near(resumed.today.map(|amount| amount.usd), Some(others + mine)));
    // A session of yesterday: only what the store knows of today is today's.
    let later = ask(&machine, "2026-03-02T00:30:00Z", "UTC", &handed);
    assert_eq!((later.session.unwrap().usd, later.today), (9.5, None));
    // A block that began after the session: what the store has not read is missing there.
    let zone = "Pacific/Kiritimati"; // 14 hours ahead: midnight is at 10:00 in UTC
    let after_midnight = ask(&machine, "2026-03-01T10:30:00Z", zone, &handed).today.unwrap();
    assert!(!after_midnight.complete && after_midnight.usd < mine, "{after_midnight:?}");
}

#[test]
fn a_copied_answer_is_paid_once_here_too() {
    let machine = Machine::new();
    let files = machine.tell("claude", &story(MINE, "2026-03-01T09:10:00Z", "2026-03-01T10:10:00Z"));
    machine.sync();
    let before = ask(&machine, "2026-03-01T10:30:00Z", "UTC", "{}").today.unwrap();
    let other = "88888888-8888-4888-8888-888888888888";
    let text = std::fs::read_to_string(&files[0]).unwrap().replace(MINE, other);
    std::fs::write(files[0].with_file_name(format!("{other}.jsonl")), text).unwrap();
    machine.sync();
    assert_eq!(ask(&machine, "2026-03-01T10:30:00Z", "UTC", "{}").today.unwrap(), before);
}

#[test]
fn it_changes_nothing_and_needs_no_store() {
    let machine = Machine::new();
    machine.tell("claude", &story(MINE, "2026-03-01T09:10:00Z", "2026-03-01T10:10:00Z"));
    machine.sync();
    let bytes = |name: &str| std::fs::read(machine.store().root().join("index").join(name)).unwrap();
    let before = bytes("retro.sqlite");
    ask(&machine, "2026-03-01T10:30:00Z", "UTC", "{}");
    assert_eq!(bytes("retro.sqlite"), before);
    let alone = statusline_alone(&StatusInput::read("{\"cost\":{\"total_cost_usd\":1}}"), Billing::Api);
    assert_eq!((alone.session.unwrap().usd, alone.today), (1.0, None));
}
