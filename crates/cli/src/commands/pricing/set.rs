//! Setting one's own price for a model.

use jiff::civil::Date;
use retro::engine::config::{PriceChange, platform_file, remove_price, set_price};
use serde_json::json;

use crate::context::{Context, Exit, Failure, Outcome};

/// Set your own price for a model, in dollars a million tokens
///
/// It is written to the configuration file as a `[[prices]]` entry, everything
/// else in the file stays as it is, and every figure uses it from then on. A price
/// that is set already is changed where you name a value; a new one needs --input
/// and --output. What runs on your own machine may cost 0.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro pricing set my-model --input 0.25 --output 2
  retro pricing set claude-opus-5 --input 4 --output 20 --cache-read 0.4 --cache-write-5m 5 --cache-write-1h 8
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
    from: Option<Date>,

    /// Remove your price, the one --from names or all of the model
    #[arg(long, conflicts_with_all = ["input", "output", "cache_read", "cache_write_5m", "cache_write_1h"])]
    remove: bool,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let file = config.file.clone().unwrap_or_else(|| platform_file(&context.world));
    let model = args.model.trim();
    let (done, exit) = if args.remove {
        match remove_price(&file, model, args.from)? {
            0 => {
                let text = format!("{} sets no price for {model:?}", file.display());
                return Err(Failure::NotFound(text));
            }
            _ => ("removed", Exit::Done),
        }
    } else {
        let change = PriceChange {
            model: model.to_owned(),
            from: args.from,
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
        context.print_json(&json!({
            "schema": "retro.pricing_set/1", "model": model, "done": done, "file": file.display().to_string(),
        }))?;
    } else {
        context.say(&format!("The price of {model} is {done} in {}.", file.display()));
    }
    Ok(exit)
}
