use clap::Subcommand;
use retro::engine::config::{KEYS, Key, platform_file};
use retro::text::terminal::safe_line;
use retro::usage::Billing;
use retro::views::answers::{Answer, SettingRow, Settings, SettingsPath, SettingsWritten};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::table::{Column, Table};

/// Show the configuration, say where it is, or write a first one
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro config show        every value and where it comes from
  retro config path        the file that is read
  retro config init        write a commented file to start from")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Clone, Copy, Subcommand)]
enum What {
    /// Every value and where it comes from
    #[command(after_help = "Examples:\n  retro config show\n  retro config show --json")]
    Show,
    /// The file that is read, or would be
    #[command(after_help = "Examples:\n  retro config path\n  $EDITOR \"$(retro config path)\"")]
    Path,
    /// Write a commented file to start from; an existing one is left alone
    #[command(after_help = "Examples:\n  retro config init\n  retro --config ./retro.toml config init")]
    Init,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    match args.what {
        What::Show => show(context),
        What::Path => path(context),
        What::Init => init(context),
    }
}

fn show(context: &Context) -> Outcome {
    let config = context.config()?;
    let list = |items: &[String]| items.join(", ");
    let paths = |items: &[std::path::PathBuf]| {
        items.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
    };
    let rows: Vec<(&str, String, String)> = vec![
        ("root", config.root.value.display().to_string(), config.root.origin.to_string()),
        ("cadence", format!("{}m", config.cadence_minutes.value), config.cadence_minutes.origin.to_string()),
        (
            "sources",
            config
                .sources
                .value
                .iter()
                .map(|(agent, roots)| format!("{agent}: {}", list(&paths(roots))))
                .collect::<Vec<_>>()
                .join("; "),
            config.sources.origin.to_string(),
        ),
        (
            "domains",
            config.domains.value.iter().map(|(r, d)| format!("{r}: {d}")).collect::<Vec<_>>().join("; "),
            config.domains.origin.to_string(),
        ),
        (
            "capture.exclude_projects",
            list(&config.exclude_projects.value),
            config.exclude_projects.origin.to_string(),
        ),
        (
            "capture.exclude_paths",
            list(&paths(&config.exclude_paths.value)),
            config.exclude_paths.origin.to_string(),
        ),
        ("capture.exclude_regex", list(&config.exclude_regex.value), config.exclude_regex.origin.to_string()),
        (
            "billing",
            match config.billing.value {
                Billing::Plan => "plan",
                Billing::Api => "api",
            }
            .to_owned(),
            config.billing.origin.to_string(),
        ),
        (
            "prices",
            list(&config.prices.value.iter().map(|row| row.model.clone()).collect::<Vec<_>>()),
            config.prices.origin.to_string(),
        ),
        (
            "embedding.model",
            config
                .embedding
                .value
                .model
                .as_ref()
                .map_or("built in".to_owned(), |path| path.display().to_string()),
            config.embedding.origin.to_string(),
        ),
        ("mine.methods", config.mining.value.methods.join(", "), config.mining.origin.to_string()),
        ("memory.retire", config.mining.value.retire.to_string(), config.mining.origin.to_string()),
        ("retention", retention(&config.retention.value), config.retention.origin.to_string()),
        ("facts.git", config.facts_git.value.to_string(), config.facts_git.origin.to_string()),
        ("capture.extras", config.extras.value.to_string(), config.extras.origin.to_string()),
    ];
    if context.global.json {
        let row = |(key, value, from)| SettingRow { key, value, from };
        let values: Vec<SettingRow> = rows.into_iter().map(row).collect();
        let file = config.file.as_ref().map(|path| path.display().to_string());
        context.print_json(&Answer::of(Settings { file, values }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|(key, value, from)| vec![key.to_owned(), value, from]).collect();
    let columns =
        [Column::left("key"), Column::left("value").wraps(20), Column::left("from").wraps(14).spare(1)];
    context.table(&Table::new(columns).rows(rows))?;
    Ok(Exit::Done)
}

/// The limits of raw bytes on one line.
fn retention(limits: &retro::engine::config::Retention) -> String {
    let bytes = crate::format::bytes;
    let (soft, hard) = (bytes(limits.raw_soft_cap_bytes), bytes(limits.raw_hard_cap_bytes));
    let age = limits.raw_max_age_days.map_or(String::new(), |days| format!(", {days} days"));
    format!("soft {soft}, hard {hard}{age}")
}

fn path(context: &Context) -> Outcome {
    let config = context.config()?;
    let path = config.file.unwrap_or_else(|| platform_file(&context.world));
    if context.global.json {
        let exists = path.exists();
        context.print_json(&Answer::of(SettingsPath { path: path.display().to_string(), exists }))?;
        return Ok(Exit::Done);
    }
    context.print(&safe_line(&path.display().to_string()))?;
    if !path.exists() {
        context.say("It does not exist yet. `retro config init` writes one.");
    }
    Ok(Exit::Done)
}

fn init(context: &Context) -> Outcome {
    let path = context.global.config.clone().unwrap_or_else(|| platform_file(&context.world));
    if path.exists() {
        return Err(Failure::hinted(
            format_args!("{} exists already", path.display()),
            "it is left as it is, and `retro config show` says what is set",
        ));
    }
    let trouble = |error| Failure::Message(format!("cannot write {}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(trouble)?;
    }
    std::fs::write(&path, template()).map_err(trouble)?;
    if context.global.json {
        context.print_json(&Answer::of(SettingsWritten { path: path.display().to_string() }))?;
        return Ok(Exit::Done);
    }
    context.say(&format!(
        "Wrote {}. Every line in it is a comment: remove the # before what you want.",
        path.display()
    ));
    Ok(Exit::Done)
}

/// A file in which everything is explained and nothing is set.
fn template() -> String {
    let mut text = String::from("# retro's configuration. Flags and environment win over it.\n");
    let mut section = "";
    let (top, inner): (Vec<&Key>, Vec<&Key>) = KEYS.iter().partition(|key| !key.name.contains('.'));
    for key in top.into_iter().chain(inner) {
        let (table, name) = key.name.split_once('.').unwrap_or(("", key.name));
        if table != section {
            text.push_str(&format!("\n# [{table}]\n"));
            section = table;
        } else {
            text.push('\n');
        }
        let name = match (table, name) {
            ("sources", "*") => "claude",
            ("domains", "*") => "my-repository",
            (_, name) => name,
        };
        text.push_str(&format!("# {}\n# {name} = {}\n", key.help, key.example));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid_with_and_without_its_comments() {
        let bare: String = template()
            .lines()
            .filter(|line| line.contains(" = ") || line.starts_with("# ["))
            .map(|line| format!("{}\n", line.trim_start_matches("# ")))
            .collect();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        for text in [template(), bare] {
            std::fs::write(&file, &text).unwrap();
            let overrides = retro::engine::config::Overrides { config: Some(file.clone()), root: None };
            let world = retro::engine::World::at(dir.path());
            let config = retro::engine::Config::load(&world, &overrides);
            assert!(config.is_ok(), "{text}\n{config:?}");
        }
    }
}
