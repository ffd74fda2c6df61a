use clap::Subcommand;
use retro::engine::config::{Embedding, platform_file, set_embedding};
use retro::engine::{rebuild, stages};
use retro::views::EmbedView;
use std::path::PathBuf;

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::{self, thousands};
use crate::progress::Bar;

/// Say which model gives turns their meaning, and make the vectors again
///
/// The built-in table needs no download. A retro built with the feature `embedding-runtime`
/// can run any GGUF embedding model instead; the choice is kept as `[embedding]` in the
/// configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro embed status
  retro embed rebuild
  retro embed rebuild --model ~/models/nomic-embed-text-v1.5.Q4_K_M.gguf --threads 4
  retro embed rebuild --built-in")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show the model, how many vectors there are, and how many passages still lack one
    Status,
    /// Make all vectors again
    Rebuild {
        /// A GGUF embedding model, from now on
        #[arg(long, value_name = "PATH.gguf")]
        model: Option<PathBuf>,

        /// The built-in table, from now on
        #[arg(long, conflicts_with_all = ["model", "gpu_layers", "threads", "threads_batch"])]
        built_in: bool,

        /// Layers that a graphics processor computes
        #[arg(long, value_name = "N")]
        gpu_layers: Option<u32>,

        /// Texts embedded at once, each by one thread [default: all processors]
        #[arg(long, value_name = "N")]
        threads: Option<usize>,

        /// The same as --threads; it wins if both are set
        #[arg(long, value_name = "N")]
        threads_batch: Option<usize>,
    },
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    match &args.what {
        What::Status => status(context),
        What::Rebuild { built_in: true, .. } => again(context, Some(Embedding::default())),
        What::Rebuild { model, gpu_layers, threads, threads_batch, .. } => {
            let before = context.config()?.embedding.value;
            // The next command may be run in another folder.
            let model = model.as_ref().map(std::path::absolute).transpose()?;
            let wanted = Embedding {
                model: model.or_else(|| before.model.clone()),
                gpu_layers: gpu_layers.or(before.gpu_layers),
                threads: threads.or(before.threads),
                threads_batch: threads_batch.or(before.threads_batch),
            };
            let is_news = wanted != before;
            if is_news && wanted.model.is_none() {
                context.say("The built-in table needs no layers and no threads: nothing was written down.");
                return again(context, None);
            }
            again(context, is_news.then_some(wanted))
        }
    }
}

fn status(context: &Context) -> Outcome {
    let config = context.config()?;
    show(context, &retro::views::embed_status(&config)?)
}

fn show(context: &Context, view: &EmbedView) -> Outcome {
    if context.global.json {
        context.print_json(view)?;
    } else {
        tell(context, view)?;
    }
    Ok(Exit::Done)
}

fn tell(context: &Context, view: &EmbedView) -> Result<(), Failure> {
    context.print(&format!("model       {} ({} dimensions)", view.model, view.dimensions))?;
    context.print(&format!("vectors     {}", thousands(view.vectors)))?;
    context.print(&format!("on disk     {}", format::bytes(view.bytes)))?;
    if view.missing > 0 {
        context.say(&format!(
            "{} without a vector yet: `retro sync` makes them.",
            format::count(view.missing, "passage")
        ));
    }
    Ok(())
}

/// Makes all vectors again, with another model if one is wanted.
fn again(context: &Context, wanted: Option<Embedding>) -> Outcome {
    let mut config = context.config()?;
    if let Some(wanted) = wanted {
        config.embedding.value = wanted;
        // A model that cannot be run is not written down.
        stages::vectors::embedder(&config)?;
        let file = config.file.clone().unwrap_or_else(|| platform_file(&context.world));
        set_embedding(&file, &config.embedding.value)?;
        context.say(&format!("Wrote [embedding] to {}.", file.display()));
    }
    context.store(&config)?;
    let bar = Bar::new(context);
    rebuild::rebuild(&context.world, &config, stages::by_name("vectors"), &|step| bar.step(step))?;
    bar.done();
    let view = retro::views::embed_status(&config)?;
    show(context, &view)
}
