//! What a walk sees, kept in few pieces of memory until it can be compared.
//!
//! A sync walks while it still reads what it knows of files. Until that is there, it keeps
//! what it sees: texts of all files one after the other, and a small row for each.

use retro_agents::{Agent, Encoding, Format, Found, Sight, Stat, Whose};
use retro_model::SourceKind;
use std::path::Path;

use super::Collector;

/// Files that were seen, in the order in which they came.
#[derive(Default)]
pub(crate) struct Sightings {
    rows: Vec<Row>,
    /// Owner, source and path of each row.
    texts: String,
    /// Files that are more than such a row: unreadable ones, rows of databases, paths that
    /// are no text.
    others: Vec<(&'static dyn Agent, Found)>,
}

/// A file. Its texts end here, and begin where those of the row before it end.
struct Row {
    agent: &'static dyn Agent,
    whose: Owned,
    kind: SourceKind,
    format: Format,
    encoding: Encoding,
    extra: bool,
    owner_end: usize,
    source_end: usize,
    path_end: usize,
    stat: Stat,
}

/// Whom a file belongs to, without the name.
enum Owned {
    Session,
    Shared,
    Inside,
}

/// Files for which there is room from the start: memory that is never touched costs
/// less than to move what outgrew its place.
const ROWS: usize = 4096;

impl Sightings {
    /// None yet, and room for the files of a machine.
    pub(crate) fn roomy() -> Self {
        let texts = String::with_capacity(ROWS * 192);
        Sightings { rows: Vec::with_capacity(ROWS), texts, others: Vec::new() }
    }

    /// Keeps a file as its agent sees it.
    pub(crate) fn keep(&mut self, agent: &'static dyn Agent, sight: Sight<'_>) {
        let Sight { kind, format, encoding, extra, stat, .. } = sight;
        let (Some(path), None, None) = (sight.path.to_str(), sight.unreadable, sight.content) else {
            return self.others.push((agent, sight.keep()));
        };
        let (whose, owner) = match sight.owner {
            Whose::Session(id) => (Owned::Session, id),
            Whose::Shared(name) => (Owned::Shared, name),
            Whose::Inside => (Owned::Inside, ""),
        };
        let [owner_end, source_end, path_end] = [owner, sight.source, path].map(|text| {
            self.texts.push_str(text);
            self.texts.len()
        });
        self.rows.push(Row {
            agent,
            whose,
            kind,
            format,
            encoding,
            extra,
            owner_end,
            source_end,
            path_end,
            stat,
        });
    }

    /// Hands them over.
    pub(crate) fn tell(self, collector: &mut Collector<'_>) {
        let text = |start: usize, end: usize| self.texts.get(start..end).unwrap_or_default();
        let mut start = 0;
        for row in &self.rows {
            let Row { kind, format, encoding, extra, stat, .. } = *row;
            let owner = text(start, row.owner_end);
            let sight = Sight {
                owner: match row.whose {
                    Owned::Session => Whose::Session(owner),
                    Owned::Shared => Whose::Shared(owner),
                    Owned::Inside => Whose::Inside,
                },
                source: text(row.owner_end, row.source_end),
                kind,
                format,
                encoding,
                path: Path::new(text(row.source_end, row.path_end)),
                stat,
                extra,
                unreadable: None,
                content: None,
            };
            collector.see(row.agent, sight);
            start = row.path_end;
        }
        for (agent, file) in self.others {
            collector.take(agent, file);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::discover::{Discovery, discover, walk};
    use crate::{Config, World};
    use retro_store::Stamps;

    fn told(found: &Discovery) -> String {
        let sessions: Vec<_> = found.sessions.iter().map(|session| (&session.key, &session.files)).collect();
        let shared: Vec<_> = found.shared.iter().map(|shared| (&shared.name, &shared.file)).collect();
        format!("{sessions:#?} {shared:#?} {:#?} {:#?}", found.skipped, found.roots)
    }

    #[test]
    fn a_walk_that_waited_finds_what_one_that_did_not_finds() {
        let home = tempfile::tempdir().unwrap();
        let put = |path: &std::path::Path| {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "{\"type\":\"user\",\"sessionId\":\"s1\",\"message\":{}}\n").unwrap();
        };
        for path in [
            ".claude/projects/-w/s1.jsonl",
            ".claude/projects/-w/s1/subagents/agent-a1.jsonl",
            ".claude/projects/-w/s1/tool-results/b1:2.txt",
            ".claude/projects/-w/agent-1f2e3d4c.jsonl",
            ".claude/projects/-w/memory/MEMORY.md",
            ".claude/projects/-w/folder.jsonl/inside",
            ".claude/file-history/s1/00ff@v2",
            ".codex/sessions/rollout-2026-03-01T10-00-00-00000000-0000-7000-8000-00000000000a.jsonl",
            ".codex/history.jsonl",
            ".grok/sessions/g/s3/updates.jsonl",
        ] {
            put(path.as_ref());
        }
        #[cfg(unix)]
        put(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(
            b".claude/projects/-w/s1/tool-results/\xff.txt",
        )
        .as_ref());
        let (world, mut config) = (World::at(home.path()), Config::for_root(home.path().join("store")));
        for extras in [false, true] {
            config.extras.value = extras;
            let waited = walk(&world, &config, None).compared(&config, &Stamps::default(), false);
            let at_once = discover(&world, &config, None, &Stamps::default());
            assert!(waited.sessions.len() >= 3 && !waited.skipped.is_empty());
            assert_eq!(told(&waited), told(&at_once));
        }
    }
}
