//! `retro` alone.

use crate::context::{Context, Exit, Outcome};
use crate::format::{bytes, count};

/// Bytes of logs that a first sync reads in a second, on a slow machine.
const BYTES_A_SECOND: u64 = 20_000_000;

/// How long a first sync of these bytes may take.
fn about(bytes: u64) -> String {
    match bytes.div_ceil(BYTES_A_SECOND) {
        0..=3 => "a few seconds".to_owned(),
        seconds @ 4..=90 => format!("about {seconds} s"),
        seconds => format!("about {} minutes", seconds.div_ceil(60)),
    }
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
            view.root,
            // Raw bytes, ledgers and index together were a third of the logs, whichever agent.
            bytes(view.source_bytes / 3),
            about(view.source_bytes)
        ),
        false => format!("none yet. It will be at {}", view.root),
        true => {
            let free = view.free_bytes.map_or(String::new(), |free| format!(", {} free", bytes(free)));
            let gone = match view.only_here {
                0 => String::new(),
                gone => format!(", {gone} of them only here"),
            };
            format!("{}{gone}, {}{free}, {}", count(captured, "session"), bytes(view.store_bytes), view.root)
        }
    };
    context.print_prose(&format!("{bold}In the store{bold:#}     {store}"))?;
    for warning in &view.warnings {
        let yellow = anstyle::AnsiColor::Yellow.on_default();
        context.print_prose(&format!("{yellow}warning{yellow:#}          {warning}."))?;
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
