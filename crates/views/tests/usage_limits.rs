//! What logs tell of subscriptions, through real files, sync and the view.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../engine/tests/support/mod.rs"]
mod support;

use retro_engine::ask::Ledgers;
use retro_model::Timestamp;
use retro_usage::Prices;
use retro_views::{LimitsView, limits};
use support::Machine;

/// A thread of two answers, 1 s apart from 10:00:00 on.
fn story(id: u8, hour: u8) -> String {
    format!(
        "@ session 4444444{id}-4444-4444-8444-444444444444\n@ time 2026-03-01T{hour:02}:00:00Z\n> Go\n< Gone.\n> Again\n< Gone again.\n"
    )
}

fn windows(primary: f64, resets: &str) -> String {
    format!(
        r#""rate_limits":{{"limit_id":"codex","primary":{{"used_percent":{primary},"window_minutes":300,{resets}}},"secondary":{{"used_percent":7.5,"window_minutes":10080,"resets_at":1772960400}},"plan_type":"plus"}}"#
    )
}

/// Writes a thread whose token counts carry `told`, one each.
fn tell(machine: &Machine, id: u8, hour: u8, told: &[String]) {
    let files = machine.tell("codex", &story(id, hour));
    let mut text = std::fs::read_to_string(&files[0]).unwrap();
    assert!(text.matches("\"rate_limits\":null").count() >= told.len(), "{text}");
    for limits in told {
        text = text.replacen("\"rate_limits\":null", limits, 1);
    }
    std::fs::write(&files[0], text).unwrap();
}

fn ask(machine: &Machine, now: &str) -> LimitsView {
    let now = Timestamp::parse(now).unwrap();
    let (index, prices) = (machine.store().index().unwrap(), Prices::embedded().unwrap());
    limits(&Ledgers::of(&index, &prices), None, now).unwrap()
}

const RESETS_14H: &str = "\"resets_at\":1772373600"; // 2026-03-01T14:00:00Z

#[test]
fn the_newest_reading_of_each_window_counts() {
    let machine = Machine::new();
    tell(&machine, 1, 10, &[windows(12.0, RESETS_14H), windows(25.5, RESETS_14H)]);
    tell(&machine, 2, 9, &[windows(3.0, RESETS_14H)]);
    machine.sync();
    let view = ask(&machine, "2026-03-01T11:00:00Z");
    let [short, long] = view.windows.as_slice() else { panic!("{view:?}") };
    assert_eq!((short.window.as_str(), short.window_minutes), ("codex/primary", Some(300)));
    assert_eq!((short.used_percent, short.left_percent), (Some(25.5), Some(74.5)));
    assert_eq!(short.resets_at, Timestamp::parse("2026-03-01T14:00:00Z"));
    assert_eq!((short.plan.as_deref(), short.session_id.as_bytes()[7]), (Some("plus"), b'1'));
    assert!(short.record.to_string().starts_with("m:"), "{}", short.record);
    assert_eq!((long.window.as_str(), long.used_percent, long.ended), ("codex/secondary", Some(7.5), false));
    assert_eq!(view.without, []);
}

#[test]
fn a_window_that_has_ended_since_has_no_percentage() {
    let machine = Machine::new();
    tell(&machine, 1, 10, &[windows(98.0, RESETS_14H)]);
    machine.sync();
    let view = ask(&machine, "2026-03-01T14:00:00Z");
    assert!(view.windows[0].ended);
    assert_eq!((view.windows[0].used_percent, view.windows[0].left_percent), (None, None));
    assert_eq!(view.windows[0].read_percent, 98.0);
    assert!(!view.windows[1].ended, "the week goes on");
}

#[test]
fn seconds_until_the_reset_count_from_the_record_on() {
    // As 0.42 writes it.
    let machine = Machine::new();
    tell(&machine, 1, 10, &[windows(50.0, "\"resets_in_seconds\":3600")]);
    machine.sync();
    let view = ask(&machine, "2026-03-01T10:30:00Z");
    let resets = view.windows[0].resets_at.unwrap();
    assert_eq!(resets.as_millis() - view.windows[0].read_at.as_millis(), 3_600_000);
}

#[test]
fn figures_that_cannot_be_are_not_read() {
    let machine = Machine::new();
    let odd = r#""rate_limits":{"primary":{"used_percent":"a lot","window_minutes":300},"secondary":{"used_percent":-4}}"#;
    tell(&machine, 1, 10, &[odd.to_owned()]);
    machine.sync();
    let view = ask(&machine, "2026-03-01T10:30:00Z");
    assert!(view.windows.is_empty(), "{view:?}");
    assert_eq!(view.without.len(), 1);
}

#[test]
fn agents_whose_logs_tell_nothing_say_so() {
    let machine = Machine::new();
    machine.tell("claude", support::OTHER);
    machine.tell("grok", support::OTHER);
    machine.sync();
    let view = ask(&machine, "2026-03-01T10:30:00Z");
    let without: Vec<(&str, &str)> =
        view.without.iter().map(|none| (none.agent.as_str(), none.reason.as_str())).collect();
    assert_eq!(without.iter().map(|(agent, _)| *agent).collect::<Vec<_>>(), ["claude", "grok"]);
    assert!(without.iter().all(|(_, reason)| reason.contains("do not tell")), "{without:?}");
}

#[test]
fn a_growing_thread_tells_its_newest_reading_without_waiting_to_be_settled() {
    let machine = Machine::new().busy();
    tell(&machine, 1, 10, &[windows(12.0, RESETS_14H)]);
    machine.sync();
    let files = machine.logs();
    let path = files.iter().next().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let line = text.lines().find(|line| line.contains("rate_limits\":{")).unwrap();
    let newer = line.replace("\"used_percent\":12", "\"used_percent\":40").replace("T10:00:", "T10:59:");
    std::fs::write(path, format!("{text}{newer}\n")).unwrap();
    machine.sync();
    let view = ask(&machine, "2026-03-01T11:00:00Z");
    assert_eq!(view.windows[0].used_percent, Some(40.0));
}
