//! Sets the user's own price for a model.

use retro::engine::config::{PriceChange, platform_file, remove_price, set_price};
use retro::usage::Prices;
use retro::views::answers::{Answer, PriceSet};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::when::day;

/// Set your own price for a model, in dollars a million tokens
///
/// It is written to the configuration file as a `[[prices]]` entry, everything
/// else in the file stays as it is, and every figure uses it from then on. A price
/// that is set already is changed where you name a value; a new one needs --input
/// and --output. What runs on your own machine may cost 0.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro pricing set my-model --input 0.25 --output 2
  retro pricing set claude-opus-5 --input 4 --output 20 --cache-read 0.4
  retro pricing set gpt-5.5 --input 4 --output 24 --from 2026-12-01
  retro pricing set my-model --remove")]
pub struct Args {
    /// The model, as logs write it
    model: String,

    /// Uncached input
    #[arg(long, value_name = "USD")]
    input: Option<f64>,

    /// Output, reasoning included
    #[arg(long, value_name = "USD")]
    output: Option<f64>,

    /// Read from a cache
    #[arg(long, value_name = "USD")]
    cache_read: Option<f64>,

    /// Written to a cache of five minutes
    #[arg(long, value_name = "USD")]
    cache_write_5m: Option<f64>,

    /// Written to a cache of one hour
    #[arg(long, value_name = "USD")]
    cache_write_1h: Option<f64>,

    /// First day of the price; before it the other prices hold
    #[arg(long, value_name = "DAY")]
    from: Option<String>,

    /// Remove your price, the one --from names or all of the model
    #[arg(long, conflicts_with_all = ["input", "output", "cache_read", "cache_write_5m", "cache_write_1h"])]
    remove: bool,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let file = config.file.clone().unwrap_or_else(|| platform_file(&context.world));
    let model = args.model.trim();
    if model == "unknown" {
        return Err(Failure::hinted(
            "\"unknown\" is no model: reports call so what a log does not name",
            "`retro usage model` lists the models that logs name",
        ));
    }
    let from = args.from.as_deref().map(|text| day(text, context)).transpose()?;
    let (done, exit) = if args.remove {
        match remove_price(&file, model, from)? {
            0 => {
                let text = format!("{} sets no price for {model:?}", file.display());
                return Err(Failure::NotFound(text));
            }
            _ => ("removed", Exit::Done),
        }
    } else {
        let change = PriceChange {
            model: model.to_owned(),
            from,
            input: args.input,
            output: args.output,
            cache_read: args.cache_read,
            cache_write_5m: args.cache_write_5m,
            cache_write_1h: args.cache_write_1h,
        };
        match set_price(&file, &change)? {
            true => ("changed", Exit::Done),
            false => ("set", Exit::Done),
        }
    };
    if context.global.json {
        context.print_json(&Answer::of(PriceSet { model, done, file: file.display().to_string() }))?;
    } else {
        context.say(&format!("The price of {model} is {done} in {}.", file.display()));
        for missing in without_price(args, model) {
            context.say(&format!(
                "note: it has no price for {missing}, so costs with such tokens are lower bounds. --cache-read sets one."
            ));
        }
    }
    Ok(exit)
}

/// Kinds of tokens that have a built-in price but no price here.
fn without_price(args: &Args, model: &str) -> Vec<&'static str> {
    let Ok(program) = Prices::embedded() else { return Vec::new() };
    let Some(known) = program.resolve(model, None, None).filter(|_| !args.remove) else { return Vec::new() };
    let rates = &known.row.rates;
    let mut missing = Vec::new();
    if rates.cache_read.is_some() && args.cache_read.is_none() {
        missing.push("cache reads");
    }
    missing
}
