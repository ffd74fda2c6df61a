use super::WhichSession;
use crate::context::{Context, Exit, Failure, Outcome};

/// Print the events of a session, one JSON object a line
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro events latest
  retro events claude 3f2a | jq 'select(.kind == \"tool_call\") | .tool.command'")]
pub struct Args {
    #[command(flatten)]
    session: WhichSession,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let store = context.store(&context.config()?)?;
    let key = args.session.find(&store, context)?;
    let mut lines = Vec::new();
    retro::views::each_event(&store, &key, |event| -> Result<(), Failure> {
        let line = serde_json::to_string(event).map_err(|e| Failure::Message(e.to_string()))?;
        lines.extend_from_slice(context.json_shown(&line).as_bytes());
        lines.push(b'\n');
        if lines.len() > 256 * 1024 {
            context.print_bytes(&lines)?;
            lines.clear();
        }
        Ok(())
    })?;
    context.print_bytes(&lines)?;
    Ok(Exit::Done)
}
