//! The rows that a script leaves in the program's database of threads, as SQL.

use std::path::PathBuf;

use crate::script::{Script, Step};

/// A subset of the columns of 0.166.
const TABLES: &str = "\
CREATE TABLE threads(id TEXT PRIMARY KEY, rollout_path TEXT, created_at INTEGER, source TEXT, cwd TEXT, title TEXT,
  name TEXT, first_user_message TEXT, tokens_used INTEGER, archived INTEGER, archived_at INTEGER, git_branch TEXT);
CREATE TABLE thread_spawn_edges(parent_thread_id TEXT, child_thread_id TEXT PRIMARY KEY, status TEXT);
";

/// The database and the SQL that fills it: a row for each thread of the script.
pub(crate) fn write_database(script: &Script) -> (PathBuf, String) {
    let mut sql = TABLES.to_owned();
    for (fork, steps) in script.sessions() {
        let id = fork.map_or(&script.session, |fork| &fork.session);
        let told = |pick: fn(&Step) -> Option<&str>| steps.iter().find_map(pick).unwrap_or_default();
        let name = told(|step| if let Step::Title(title) = step { Some(title) } else { None });
        let prompt = told(|step| if let Step::User(text) = step { Some(text) } else { None });
        let words = [id, "cli", &script.cwd, prompt, prompt, name, &script.branch].map(quoted);
        let [id, source, cwd, title, prompt, name, branch] = words;
        sql.push_str(&format!(
            "INSERT INTO threads(id, created_at, source, cwd, title, first_user_message, name, archived, git_branch)
             VALUES ({id}, {}, {source}, {cwd}, {title}, {prompt}, {name}, 0, {branch});\n",
            script.start_ms / 1000
        ));
    }
    (PathBuf::from(".codex").join("state_5.sqlite"), sql)
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
