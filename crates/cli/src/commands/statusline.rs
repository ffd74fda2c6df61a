use jiff::tz::TimeZone;
use retro::agents::AGENTS;
use retro::engine::prices;
use retro::store::{RealDisk, Store};
use retro::text::terminal::one_line;
use retro::usage::{Billing, Mode};
use retro::views::{Amount, Asked, RunningBlock, StatusInput, StatusLimit, StatuslineView};
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use super::usage::{CostMode, mode_of};
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::span;
use crate::handed::handed_over;

/// Print one line for an agent's status bar
///
/// Reads what the agent hands over on stdin and prints the model, what this session,
/// today and the running five hours come to, the use of the context window and of
/// your allowance, where the agent tells them. Reads the store as it is: it captures
/// nothing, writes nothing and waits for nobody. What is missing is left out.
#[derive(Debug, clap::Args)]
#[command(after_help = install())]
pub struct Args {
    /// Whose cost figures count
    #[arg(long, value_enum, env = "RETRO_COST_MODE", default_value = "auto")]
    mode: CostMode,
}

/// Installation instructions for each agent with a status line.
fn install() -> String {
    let mut text = String::new();
    for agent in AGENTS {
        let Some(integration) = agent.integration() else { continue };
        let Some(settings) = integration.status_line("retro statusline") else { continue };
        text.push_str(&format!(
            "To install it in {}, merge this into {}:\n\n",
            agent.title(),
            integration.settings
        ));
        settings.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
        text.push('\n');
    }
    text + "Today and the running five hours come from the store: `retro schedule install` keeps it fresh.
Amounts are list prices. Say `billing = \"api\"` in the configuration if you pay by use.

Examples:
  echo '{\"model\":{\"display_name\":\"Opus\"}}' | retro statusline"
}

/// Maximum bytes read from the agent, which usually sends a few thousand.
const INPUT_BYTES_MAX: usize = 1024 * 1024;

/// How long the agent may take to send them.
const PATIENCE: Duration = Duration::from_secs(1);

pub fn run(args: &Args, context: &Context) -> Outcome {
    if std::io::stdin().is_terminal() {
        context.say(
            "An agent runs this command and hands it a JSON object on stdin. Nothing was handed over here.\n",
        );
        context.say(&install());
        return Ok(Exit::Done);
    }
    // Unreadable input counts as absent. A status line must not fail or wait forever.
    let bytes = handed_over(INPUT_BYTES_MAX, PATIENCE);
    let input = StatusInput::read(&String::from_utf8_lossy(&bytes));
    let view = ask(context, &input, mode_of(args.mode)).unwrap_or_else(|failure| {
        // A message that says where to look is better than a blank bar.
        if let Failure::Message(text) | Failure::NotFound(text) = failure {
            context.say(&text);
        }
        retro::views::statusline_alone(&input, Billing::default())
    });
    match context.global.json {
        true => context.print_json(&view)?,
        false => context.print(&line(&view, context.world.now()))?,
    }
    Ok(Exit::Done)
}

fn ask(context: &Context, input: &StatusInput, mode: Mode) -> Result<StatuslineView, Failure> {
    let config = context.config()?;
    let billing = config.billing.value;
    let alone = || Ok(retro::views::statusline_alone(input, billing));
    let Ok(store) = Store::open(&config.root.value, Arc::new(RealDisk)) else { return alone() };
    let Some(index) = store.index_to_read() else { return alone() };
    let prices = prices::load(&context.world, &config)?;
    let (tz, now) = (TimeZone::system(), context.world.now());
    let asked = Asked { input, agent: "claude", prices: &prices, mode, billing, tz: &tz, now };
    Ok(retro::views::statusline(&index, &asked)?)
}

/// The known parts, with a dot between them.
fn line(view: &StatuslineView, now: retro::model::Timestamp) -> String {
    let mut parts: Vec<String> = view.model.iter().map(|model| one_line(model, 40)).collect();
    let amounts: Vec<String> = [
        view.session.map(|amount| format!("{} session", money(amount))),
        view.today.map(|amount| format!("{} today", money(amount))),
        view.block.as_ref().map(|block| running(block, now)),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !amounts.is_empty() {
        parts.push(format!("{} {}", view.billing.word(), amounts.join(", ")));
    }
    parts.extend(view.context_percent.map(|percent| format!("context {percent:.0}%")));
    let limits: Vec<String> = view.limits.iter().map(|limit| of_limit(limit, now)).collect();
    if !limits.is_empty() {
        parts.push(limits.join(", "));
    }
    match parts.is_empty() {
        true => "retro: nothing known yet. `retro sync` reads what is there".to_owned(),
        false => parts.join(" · "),
    }
}

fn money(amount: Amount) -> String {
    format!("{}${:.2}", if amount.complete { "" } else { "≥ " }, amount.usd)
}

fn running(block: &RunningBlock, now: retro::model::Timestamp) -> String {
    let cost = block.cost.map_or("block".to_owned(), |cost| format!("{} block", money(cost)));
    let speed = block.usd_per_hour.map_or(String::new(), |usd| format!(", ${usd:.2}/h"));
    format!("{cost} ({} left{speed})", span(now, block.ends_at))
}

fn of_limit(limit: &StatusLimit, now: retro::model::Timestamp) -> String {
    let resets = limit.resets_at.filter(|at| *at > now);
    let resets = resets.map_or(String::new(), |at| format!(" (resets in {})", span(now, at)));
    format!("{} {:.0}% used{resets}", limit.window, limit.used_percent)
}
