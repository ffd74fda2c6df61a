//! Reads the sessions of a home directory through an agent, the way the engine
//! does: discover, look inside, parse, settle.
#![allow(dead_code)]

use retro_agents::script::Script;
use retro_agents::{
    Agent, Cursor, Draft, Encoding, Format, Found, Out, Owner, Parsed, Part, Places, Reader, Settled, Sight,
    Sightings, settle,
};
use retro_model::{Coverage, SessionKey, SourceKey};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Head that is looked at where a name does not tell.
const HEAD_BYTES: usize = 64 * 1024;

/// One source of a session, in memory.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) key: SourceKey,
    /// From 1; a second file of the same part is a later line of growth.
    pub(crate) revision: u32,
    pub(crate) format: Format,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// What a home holds.
#[derive(Default)]
pub(crate) struct Home {
    pub(crate) sessions: BTreeMap<String, Vec<Source>>,
    pub(crate) shared: Vec<(String, PathBuf)>,
    pub(crate) unreadable: Vec<(PathBuf, String)>,
}

impl Home {
    pub(crate) fn read(agent: &dyn Agent, home: &Path) -> Home {
        let places = Places { home: home.to_owned(), env: &|_| None, extra_roots: Vec::new() };
        let mut all = Home::default();
        for root in agent.roots(&places) {
            let mut seen = Sightings::default();
            agent.discover(&root, &mut seen);
            let mut files: Vec<Sight<'_>> = seen.files().collect();
            files.sort_by_key(|file| file.path);
            files.into_iter().for_each(|file| all.take(agent, file));
            all.unreadable.extend_from_slice(seen.all_unreadable());
            all.unreadable.extend_from_slice(seen.all_no_logs());
        }
        all
    }

    fn take(&mut self, agent: &dyn Agent, file: Sight<'_>) {
        if file.extra {
            return;
        }
        let bytes = match file.encoding {
            Encoding::Zstd => zstd::decode_all(std::fs::File::open(file.path).unwrap()).unwrap(),
            Encoding::Plain => std::fs::read(file.path).unwrap(),
        };
        let found =
            owned(agent, file, &bytes).unwrap_or_else(|| panic!("{} has no owner", file.path.display()));
        let mut source =
            Source { key: found.source, revision: 1, format: found.format, path: found.path, bytes };
        match found.owner {
            Owner::Session(id) => {
                let sources = self.sessions.entry(id).or_default();
                source.revision += sources.iter().filter(|other| other.key == source.key).count() as u32;
                sources.push(source);
            }
            Owner::Shared(name) => self.shared.push((name, source.path)),
        }
    }
}

/// A file with the owner that its name or its bytes give it.
pub(crate) fn owned(agent: &dyn Agent, file: Sight<'_>, bytes: &[u8]) -> Option<Found> {
    let named = file.owner.owner();
    let small_main = file.source == SourceKey::MAIN && bytes.len() <= HEAD_BYTES;
    if (small_main || named.is_none())
        && let Some(kindred) = agent.identify(file.path, &bytes[..bytes.len().min(HEAD_BYTES)])
        && (named.is_none() || matches!(kindred.owner, Owner::Shared(_)))
    {
        return Some(Found { source: kindred.source, format: kindred.format, ..file.keep(kindred.owner) });
    }
    named.map(|owner| file.keep(owner))
}

/// The parts of a source as a reader needs them.
pub(crate) fn part(session: &SessionKey, source: &Source) -> Part {
    Part {
        session: session.clone(),
        source: source.key.clone(),
        revision: source.revision,
        format: source.format,
    }
}

/// Reads a source in one piece.
pub(crate) fn parse(agent: &dyn Agent, session: &SessionKey, source: &Source) -> Parsed {
    parse_cut(agent, session, source, &[])
}

/// Reads a source cut at these offsets: at each cut everything is given up but
/// the cursor, and a new reader goes on from the last line end.
pub(crate) fn parse_cut(agent: &dyn Agent, session: &SessionKey, source: &Source, cuts: &[usize]) -> Parsed {
    let mut cursor: Option<Cursor> = None;
    let mut whole = Out::default();
    let mut start = 0;
    for end in cuts.iter().copied().chain([source.bytes.len()]) {
        let end = end.clamp(start, source.bytes.len());
        let mut reader = Reader::new(agent, part(session, source), cursor.as_ref());
        let from = cursor.as_ref().map_or(0, |cursor| cursor.line_end as usize);
        reader.feed(&source.bytes[from..end]);
        let saved = reader.save();
        if end == source.bytes.len() {
            let mut parsed = reader.finish();
            let last = std::mem::take(&mut parsed.out);
            whole.append(last);
            return Parsed { out: whole, ..parsed };
        }
        // What a reader gave up to its last whole line, read again up to there.
        let mut lines = Reader::new(agent, part(session, source), cursor.as_ref());
        let line_end = match source.format {
            Format::JsonLines => saved.line_end as usize,
            _ => 0,
        };
        if line_end > from {
            lines.feed(&source.bytes[from..line_end]);
            whole.append(lines.finish().out);
            cursor = Some(saved);
        }
        start = end;
    }
    unreachable!("the last cut is the end")
}

/// The settled session.
pub(crate) fn settled(agent: &dyn Agent, id: &str, sources: &[Source]) -> Settled {
    let session = SessionKey::new(agent.name(), id);
    let parsed = sources.iter().map(|source| parse(agent, &session, source)).collect();
    settle(agent, &session, parsed)
}

/// The settled drafts, with their hints, and what was folded without a draft.
pub(crate) fn settled_drafts(
    agent: &dyn Agent,
    id: &str,
    sources: &[Source],
) -> (Vec<Draft>, BTreeMap<&'static str, u64>) {
    let session = SessionKey::new(agent.name(), id);
    let mut parsed: Vec<Parsed> = sources.iter().map(|source| parse(agent, &session, source)).collect();
    parsed.sort_by(|a, b| (&a.part.source, a.part.revision).cmp(&(&b.part.source, b.part.revision)));
    let mut drafts = Vec::new();
    let mut folded: BTreeMap<&'static str, u64> = BTreeMap::new();
    for one in parsed {
        drafts.extend(one.out.drafts);
        for (row, count) in one.out.folded {
            *folded.entry(row).or_default() += count;
        }
    }
    agent.settle(&session, &mut drafts);
    (drafts, folded)
}

/// A script as the agent would log it.
pub(crate) fn written(agent: &dyn Agent, script: &Script) -> Vec<Source> {
    agent
        .write(script)
        .into_iter()
        .map(|(path, bytes)| {
            let name = path.file_name().unwrap().to_str().unwrap();
            let key = match name.strip_suffix(".jsonl").or(name.strip_suffix(".json")).unwrap() {
                stem if stem == script.session => SourceKey::main(),
                stem => SourceKey::new(stem),
            };
            let format = agent.source_form(&key).1;
            Source { key, revision: 1, format, path, bytes }
        })
        .collect()
}

/// Claude Code records as the program would write them: what a test leaves out is
/// added, so that they are chained, timed and at home in a folder.
pub(crate) fn log(agent: &dyn Agent, key: &str, records: Vec<Value>) -> Source {
    let source = SourceKey::new(key);
    let format = agent.source_form(&source).1;
    let mut bytes = Vec::new();
    let mut last = Value::Null;
    for (n, mut record) in (1..).zip(records) {
        let chained = matches!(
            record["type"].as_str(),
            Some("user" | "assistant" | "system" | "attachment" | "progress")
        );
        if let Some(fields) = record.as_object_mut().filter(|_| chained) {
            let mut add = |name: &str, value: Value| {
                fields.entry(name).or_insert(value);
            };
            add("uuid", json!(if key == "m" { format!("u{n}") } else { format!("{key}-{n}") }));
            add("parentUuid", last.clone());
            add("timestamp", json!(format!("2026-03-01T10:00:{n:02}.000Z")));
            add("sessionId", json!("s1"));
            add("cwd", json!("/w"));
            add("version", json!("2.1.325"));
            last = record["uuid"].clone();
        }
        bytes.extend_from_slice(record.to_string().as_bytes());
        bytes.push(b'\n');
    }
    Source { key: source, revision: 1, format, path: key.into(), bytes }
}

/// Whether the five parts of a coverage make up its records.
pub(crate) fn adds_up(coverage: &Coverage) -> bool {
    let Coverage { records, mapped, folded, noted, unknown, malformed, .. } = *coverage;
    records == mapped + folded + noted + unknown + malformed
}

/// A small generator of numbers, so that a failing run can be repeated from its seed.
pub(crate) struct Seeded(pub(crate) u64);

impl Seeded {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}
