//! Every answer of a session, and why it costs what it costs, as a table.

use crate::context::{Context, Exit, Outcome};
use crate::format::thousands;
use crate::table::{Column, table};

pub fn tell(context: &Context, view: &retro::views::ExplainView) -> Outcome {
    let exit = if view.responses.is_empty() && view.dropped.is_empty() { Exit::Findings } else { Exit::Done };
    if context.global.json {
        context.print_json(view)?;
        return Ok(exit);
    }
    let rows: Vec<Vec<String>> = view
        .responses
        .iter()
        .map(|response| {
            vec![
                response.event.to_string(),
                crate::format::time(response.ts),
                thousands(response.input_tokens),
                thousands(response.cache_creation_tokens),
                thousands(response.cache_read_tokens),
                format!("{}{}", if response.exact { "" } else { "≥ " }, thousands(response.output_tokens)),
                response.cost_usd.map_or("unknown".to_owned(), |usd| format!("${usd:.4}")),
                response.price.clone().or_else(|| response.model.clone()).unwrap_or_default(),
            ]
        })
        .collect();
    let header = [
        Column::left("event"),
        Column::left("when"),
        Column::right("input"),
        Column::right("cache write"),
        Column::right("cache read"),
        Column::right("output"),
        Column::right("cost"),
        Column::flexible("price row"),
    ];
    for line in table(&header, &rows, context.columns()) {
        context.print(&line)?;
    }
    for copy in &view.dropped {
        context.print(&format!("{} repeats {} and counts there", copy.event, copy.twin))?;
    }
    Ok(exit)
}
