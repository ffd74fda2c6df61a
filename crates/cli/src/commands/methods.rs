use retro::engine::headless::Miner;
use retro::memory::{filters::FILTERS, methods::METHODS};
use retro::views::answers::{Answer, FilterRow, MethodRow, Methods};

use crate::context::{Context, Exit, Outcome};
use crate::table::{Column, Table};

/// List the methods that find what the next session can reuse, and the filters
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro methods
  retro mine latest --method all
  retro methods --json")]
pub struct Args {}

pub fn run(_args: &Args, context: &Context) -> Outcome {
    let configured = context.config()?.mining.value.methods;
    if context.global.json {
        let local = METHODS.iter().map(|method| MethodRow {
            name: method.name.to_owned(),
            title: method.title.to_owned(),
            local: true,
            by_sync: configured.iter().any(|name| name == method.name),
        });
        let models = Miner::all().map(|miner| MethodRow {
            name: miner.method(),
            title: miner.title(),
            local: false,
            by_sync: false,
        });
        let filters = FILTERS.iter().map(|filter| FilterRow { name: filter.name, title: filter.title });
        let methods = Methods { methods: local.chain(models).collect(), filters: filters.collect() };
        context.print_json(&Answer::of(methods))?;
        return Ok(Exit::Done);
    }
    let columns = [Column::left("name"), Column::left("what it is"), Column::left("what it does").wraps(20)];
    let row = |name: &str, what: &str, title: &str| vec![name.to_owned(), what.to_owned(), title.to_owned()];
    let local = METHODS.iter().map(|method| row(method.name, "method", method.title));
    let models = Miner::all().map(|miner| row(&miner.method(), "method, asks a model", &miner.title()));
    let filters = FILTERS.iter().map(|filter| row(filter.name, "filter", filter.title));
    let rows = local.chain(models).chain(filters);
    context.table(&Table::new(columns).rows(rows))?;
    Ok(Exit::Done)
}
