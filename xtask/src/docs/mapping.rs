//! The pages that say what becomes of each record of an agent's logs.

use serde::Deserialize;

use crate::failure::Failure;

/// What `retro agents --json` prints, as far as it is needed here.
#[derive(Deserialize)]
struct Agents {
    agents: Vec<Agent>,
}

#[derive(Deserialize)]
struct Agent {
    name: String,
    title: String,
    #[serde(default)]
    mapping: Vec<Row>,
}

/// One kind of record: what it gives, and what a reader should know.
#[derive(Deserialize)]
struct Row {
    record: String,
    #[serde(default)]
    gives: Vec<String>,
    #[serde(default)]
    may_fold: bool,
    #[serde(default)]
    note: String,
}

/// The name of each agent that has a mapping, with its page.
pub(crate) fn pages(json: &str) -> Result<Vec<(String, String)>, Failure> {
    let agents: Agents = serde_json::from_str(json)
        .map_err(|error| Failure::new(format!("retro agents --json printed something else: {error}")))?;
    let mapped = agents.agents.iter().filter(|agent| !agent.mapping.is_empty());
    Ok(mapped.map(|agent| (agent.name.clone(), page(agent))).collect())
}

fn page(agent: &Agent) -> String {
    let mut text = format!(
        "# {}: what becomes of each record\n\n\
         A record gives the events named beside it. Where none is named it is *folded*: it completes other\n\
         events and has none of its own. Records that are not listed become `unknown`.\n\n\
         | record | gives | note |\n| --- | --- | --- |\n",
        agent.title
    );
    for row in &agent.mapping {
        let mut gives: Vec<String> = row.gives.iter().map(|kind| format!("`{kind}`")).collect();
        if gives.is_empty() || row.may_fold {
            gives.push("*folded*".to_owned());
        }
        let cells = [format!("`{}`", row.record), gives.join(", "), row.note.clone()];
        text.push_str(&format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mapped_agent_has_a_page_with_a_row_a_record() {
        let json = r#"{"schema":"retro.agents/1","agents":[
            {"name":"claude","title":"Claude Code","found":true,"mapping":[
                {"record":"user","gives":["user","tool_result"],"note":"typed | pasted"},
                {"record":"summary","gives":[],"note":""},
                {"record":"system","gives":["note"],"may_fold":true,"note":"x"}]},
            {"name":"other","title":"Other"}]}"#;
        let pages = pages(json).unwrap();
        assert_eq!(pages.len(), 1);
        let (name, page) = &pages[0];
        assert_eq!(name, "claude");
        assert!(page.starts_with("# Claude Code: what becomes of each record\n"));
        assert!(page.contains("| `user` | `user`, `tool_result` | typed \\| pasted |\n"));
        assert!(page.contains("| `summary` | *folded* |  |\n"));
        assert!(page.contains("| `system` | `note`, *folded* | x |\n"));
    }

    #[test]
    fn what_is_not_the_list_of_agents_is_an_error() {
        assert!(pages("[]").is_err());
    }
}
