//! The page of commands, from what the program prints as help.

use crate::failure::Failure;

/// Every command with its help, the program's own first. `help` runs the
/// program with the given words and `--help`.
pub(crate) fn page(help: &dyn Fn(&[String]) -> Result<String, Failure>) -> Result<String, Failure> {
    let mut text = String::from("# Commands\n");
    add(&mut text, &mut Vec::new(), help)?;
    Ok(text)
}

fn add(
    text: &mut String,
    words: &mut Vec<String>,
    help: &dyn Fn(&[String]) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let said = help(words)?;
    let title =
        std::iter::once("retro").chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    text.push_str(&format!("\n## {title}\n\n```text\n{}\n```\n", trimmed(&said)));
    for command in commands(&said) {
        words.push(command);
        add(text, words, help)?;
        words.pop();
    }
    Ok(())
}

/// The help without blanks at the ends of lines, which clap leaves in tables.
fn trimmed(help: &str) -> String {
    help.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The commands that a help text lists under `Commands:`.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| line.starts_with(' ') || line.is_empty());
    let named = lines.filter_map(|line| {
        let name = line.strip_prefix("  ")?;
        let name = name.split(' ').next().filter(|name| !name.is_empty())?;
        (name != "help").then(|| name.trim_end_matches(',').to_owned())
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "Keep sessions.\n\nUsage: retro [COMMAND]\n\nCommands:\n  list    What is there  \n  config  Settings,\n          all of them\n  help    Print this\n\nOptions:\n  -h  Help\n";

    fn help(words: &[String]) -> Result<String, Failure> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Ok(match words.as_slice() {
            [] => MAIN,
            ["config"] => "Commands:\n  get  One\n",
            ["list"] => "Lists.\n",
            ["config", "get"] => "Gets.\n",
            _ => return Err(Failure::new("no such command")),
        }
        .to_owned())
    }

    #[test]
    fn commands_are_those_listed_without_help_and_wrapped_lines() {
        assert_eq!(commands(MAIN), ["list", "config"]);
        assert!(commands("Options:\n  -h\n").is_empty());
    }

    #[test]
    fn every_command_has_a_heading_and_its_help() {
        let page = page(&help).unwrap();
        let headings: Vec<&str> = page.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(headings, ["## retro", "## retro list", "## retro config", "## retro config get"]);
        assert!(page.contains("```text\nGets.\n```"));
        assert!(!page.contains(" \n"), "no blanks at ends of lines");
    }
}
