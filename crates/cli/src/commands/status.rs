//! The output of `retro` without a command.

use crate::context::{Context, Exit, Outcome};
use crate::format::{bytes, count};

/// Bytes per second that a first sync reads, on a slow machine.
const BYTES_A_SECOND: u64 = 20_000_000;

/// Size of the store in percent of the logs: raw files, ledgers and indexes together, measured on
/// the published logs.
const STORE_PERCENT: u64 = 55;

/// Width of the names on the left.
const HANG: usize = 17;

/// A number and its unit, which stay on one line.
fn whole(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// The estimated duration of a first sync of these bytes.
fn about(bytes: u64) -> String {
    match bytes.div_ceil(BYTES_A_SECOND) {
        0..=3 => "a few seconds".to_owned(),
        seconds @ 4..=90 => format!("about {seconds} s"),
        seconds => format!("about {} minutes", seconds.div_ceil(60)),
    }
}

/// The size of raw bytes, their growth, and when they reach their cap.
fn budget(room: &retro::views::RoomView) -> String {
    let cap = bytes(room.raw_soft_cap_bytes);
    let growth = room
        .growth_week_bytes
        .map_or(String::new(), |growth| format!(", about {} more a week", whole(&bytes(growth))));
    let when = match room.weeks_to_cap {
        Some(0) if room.enabled => ": reached, old raw bytes are given up".to_owned(),
        Some(0) => ": reached, `retro retain` says what could go".to_owned(),
        Some(weeks) => format!(": reached in about {}", whole(&count(weeks, "week"))),
        None => String::new(),
    };
    format!("{}{growth}, cap {}{when}", whole(&bytes(room.raw_bytes)), whole(&cap))
}

pub fn run(context: &Context) -> Outcome {
    let view = retro::views::status(&context.world, &context.config()?)?;
    if context.global.json {
        context.print_json(&view)?;
        return Ok(Exit::Done);
    }
    let bold = anstyle::Style::new().bold();
    let found: u64 = view.found.values().sum();
    let captured: u64 = view.captured.values().sum();
    let by_agent = |counts: &std::collections::BTreeMap<String, u64>| {
        counts.iter().map(|(agent, count)| format!("{agent} {count}")).collect::<Vec<_>>().join(", ")
    };
    let here = match found {
        0 => "no sessions found".to_owned(),
        _ => format!("{} ({}), {}", count(found, "session"), by_agent(&view.found), bytes(view.source_bytes)),
    };
    context.print(&format!("{bold}On this machine{bold:#}  {here}"))?;
    let store = match view.store_exists {
        false if found > 0 => format!(
            "none yet. `retro sync` makes one at {}: about {} for these logs, in {}",
            context.homely(&view.root),
            whole(&bytes(view.source_bytes / 100 * STORE_PERCENT)),
            whole(&about(view.source_bytes))
        ),
        false => format!("none yet. It will be at {}", context.homely(&view.root)),
        true => {
            let free = view.free_bytes.map_or(String::new(), |free| format!(", {} free", bytes(free)));
            let gone = match view.only_here {
                0 => String::new(),
                gone => format!(", {gone} of them only here"),
            };
            let place = context.homely(&view.root);
            format!("{}{gone}, {}{free}, {place}", count(captured, "session"), bytes(view.store_bytes))
        }
    };
    context.print_hanging(&format!("{bold}In the store{bold:#}     {store}"), HANG)?;
    if let Some(room) = &view.room {
        context.print_hanging(&format!("{bold}Raw bytes{bold:#}        {}", budget(room)), HANG)?;
    }
    for warning in &view.warnings {
        let yellow = anstyle::AnsiColor::Yellow.on_default();
        context.print_hanging(&format!("{yellow}warning{yellow:#}          {warning}."), HANG)?;
    }
    if !view.unsupported.is_empty() {
        context.print(&format!("Not supported yet  {}", view.unsupported.join(", ")))?;
    }
    if !view.next.is_empty() {
        context.print(&format!("\n{bold}Next{bold:#}"))?;
        let widest = view.next.iter().map(|next| next.command.len()).max().unwrap_or(0);
        for next in &view.next {
            context.print(&format!("  {:widest$}   {}", next.command, next.why))?;
        }
    }
    context.print("\n`retro --help` lists everything.")?;
    Ok(Exit::Done)
}
