use super::*;
use crate::index::testing_columns;
use crate::layout::INDEX;
use std::collections::BTreeMap;

/// The register as a table of Markdown.
fn page() -> String {
    let mut text = String::from(
        "| place | what it is | losing it | transcript | raw given up | session forgotten |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for line in REGISTER {
        let place = match &line.place {
            Place::Document(kind) => {
                let section =
                    kind.section_name().map_or_else(String::new, |name| format!(": section `{name}`"));
                format!("`{}/<agent>/<session>{}`{section}", kind.folder(), kind.ending())
            }
            Place::Mined => format!(
                "`{}/<agent>/<session>{}`: sections `{MINED}/<method>.json`, `.prompt.md`",
                SESSIONS.folder(),
                SESSIONS.ending()
            ),
            Place::Folder(path) => format!("`{path}/`"),
            Place::File(path) | Place::Journal(path) => format!("`{path}`"),
            Place::Table { name, .. } => format!("`{INDEX}/retro.sqlite`: table `{name}`"),
            Place::Outside(name) => format!("outside the root: {name}"),
        };
        let standing = match line.standing {
            Standing::Truth => "truth",
            Standing::Cache => "derived",
            Standing::Passing => "passing",
        };
        let evict = match line.evict {
            Evict::Keep => "stays",
            Evict::Remove => "goes",
        };
        let forget = match line.forget {
            Forget::Keep => "stays",
            Forget::Remove => "goes",
            Forget::Mask => "its part goes",
            Forget::Remake => "made again",
            Forget::OutOfReach => "out of reach",
        };
        let words = if line.text { "words" } else { "" };
        text.push_str(&format!("| {place} | {} | {standing} | {words} | {evict} | {forget} |\n", line.what));
    }
    text
}

#[test]
fn the_page_about_the_store_has_the_register() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/store.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (start, end) = ("<!-- register -->\n", "<!-- end of register -->");
    let (before, rest) = text.split_once(start).unwrap();
    let (found, after) = rest.split_once(end).unwrap();
    if std::env::var_os("RETRO_WRITE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{start}{}{end}{after}", page())).unwrap();
        return;
    }
    assert_eq!(found, page(), "write it with RETRO_WRITE_DOCS=1");
}

#[test]
fn every_table_and_column_of_the_index_has_its_line() {
    let mut said: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in REGISTER {
        if let Place::Table { name, columns, .. } = line.place {
            let columns = columns.split(", ").map(str::to_owned).collect();
            assert!(said.insert(name.to_owned(), columns).is_none(), "{name} has two lines");
        }
    }
    assert_eq!(said, testing_columns());
}

#[test]
fn a_path_has_the_line_of_its_place() {
    let what = |path: &str| line_of(Path::new(path)).map(|line| line.what);
    for (path, beginning) in [
        ("store.json", "what makes"),
        ("sessions/claude/s.zst", "what a session is"),
        ("sessions/claude/s.zst.part", "what a session is"),
        ("sessions/claude/s.json", "what a session is"),
        ("ledger/claude/s.jsonl", "its model answers"),
        ("sessions/mark", "which index"),
        ("mined/error_fix/claude/s.json", "what a method"),
        ("mined/of-my-own/claude/s.prompt.md", "what a method"),
        ("raw/claude/s~m.zst", "the captured bytes"),
        ("raw/claude/s/m~2.zst", "the captured bytes"),
        ("raw/mark", "which index"),
        ("memories/items.jsonl", "memories that were added"),
        ("memories/authored/a/b.md", "notes"),
        ("headless/tokens.jsonl", "what runs"),
        ("headless/claude_headless/claude/s.jsonl", "what these runs"),
        ("index/retro.sqlite", "the index"),
        ("index/retro.sqlite-wal", "the index"),
        ("index/text/meta.json", "words"),
        ("index/making", "locked"),
    ] {
        assert!(what(path).is_some_and(|what| what.starts_with(beginning)), "{path}: {:?}", what(path));
    }
    for path in
        ["x", "sessions/s.json", "sessions/claude/a/b.json", "index/x", "raw", "../lock", "mined/a.json"]
    {
        assert_eq!(what(path), None, "{path}");
    }
}

#[test]
fn words_of_a_transcript_never_stay_when_their_session_is_forgotten() {
    for line in REGISTER.iter().filter(|line| line.text) {
        let written_by_people = matches!(line.place, Place::Journal(ITEMS));
        assert!(line.forget != Forget::Keep || written_by_people, "{}", line.what);
    }
}
