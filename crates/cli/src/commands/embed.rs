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
  retro embed rebuild --model ~/models/nomic-embed-text-v1.5.Q4_K_M.gguf --threads 4")]
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

        /// Layers that a graphics processor computes
        #[arg(long, value_name = "N")]
        gpu_layers: Option<u32>,

        /// Threads for one text [default: one less than there are processors]
        #[arg(long, value_name = "N")]
        threads: Option<usize>,

        /// Threads for many texts at once [default: as for one]
        #[arg(long, value_name = "N")]
        threads_batch: Option<usize>,
    },
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    match &args.what {
        What::Status => status(context),
        What::Rebuild { model, gpu_layers, threads, threads_batch } => {
            let wanted = Embedding {
                model: model.clone(),
                gpu_layers: *gpu_layers,
                threads: *threads,
                threads_batch: *threads_batch,
            };
            again(context, &wanted)
        }
    }
}

fn status(context: &Context) -> Outcome {
    let config = context.config()?;
    let view = retro::views::embed_status(&config)?;
    if context.global.json {
        context.print_json(&view)?;
        return Ok(Exit::Done);
    }
    tell(context, &view)?;
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

fn again(context: &Context, wanted: &Embedding) -> Outcome {
    let mut config = context.config()?;
    if *wanted != Embedding::default() {
        let mut embedding = config.embedding.value.clone();
        embedding.model = wanted.model.clone().or(embedding.model);
        embedding.gpu_layers = wanted.gpu_layers.or(embedding.gpu_layers);
        embedding.threads = wanted.threads.or(embedding.threads);
        embedding.threads_batch = wanted.threads_batch.or(embedding.threads_batch);
        config.embedding.value = embedding;
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
    status(context)
}
