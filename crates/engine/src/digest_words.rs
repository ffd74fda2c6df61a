//! One passage with the words of a session's digest, so that search still finds the session after
//! its eviction.

use retro_insight::Digest;
use retro_model::{Passage, Piece, PieceKind, SessionKey, Timestamp};
use retro_search::{PIECES_MAX, path_labels};
use retro_store::{DIGESTS, KnownPassages, PackedPassage, Spool, Store};

use crate::Error;

/// The thread of the passage, which every session has. It comes before the first turn.
const THREAD: &str = "main";

/// The passage of a session's digest, packed. Empty without a digest.
pub(crate) fn packed(store: &Store, key: &SessionKey, event: &str) -> Result<Spool<PackedPassage>, Error> {
    let mut spool = Spool::new(store.root());
    if let Some(passage) = store.object::<Digest>(&DIGESTS, key)?.and_then(|digest| passage(&digest, event)) {
        let what = || format!("the digest of {key}");
        let packed = PackedPassage::pack(&passage, &KnownPassages::default());
        spool.push(&packed.map_err(|source| Error::Raw { what: what(), source })?)?;
    }
    Ok(spool)
}

/// Builds the passage from the request, the actions, the changes and the failures in the digest.
fn passage(digest: &Digest, event: &str) -> Option<Passage> {
    let mut pieces = Vec::new();
    let mut add = |kind: PieceKind, at: Option<Timestamp>, text: &str, labels: Vec<String>| {
        if !text.trim().is_empty() && pieces.len() < PIECES_MAX {
            pieces.push(Piece { kind, event: event.to_owned(), at, text: text.to_owned(), labels });
        }
    };
    let (first, last) = (digest.started_at, digest.ended_at);
    let models = digest.identity.models.iter().map(|model| format!("model:{}", model.to_lowercase()));
    let lines =
        |lines: Vec<&str>| lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    let title = digest.identity.title.as_deref().unwrap_or_default();
    add(PieceKind::User, first, &lines(vec![title, &digest.first_prompt]), Vec::new());
    add(PieceKind::User, last, &digest.last_prompt, Vec::new());
    add(PieceKind::Assistant, last, &digest.last_answer, models.collect());
    let corrections = digest.corrections.iter().map(|correction| correction.text.as_str()).collect();
    add(PieceKind::User, last, &lines(corrections), Vec::new());
    let subjects = digest.commits.iter().map(|commit| commit.subject.as_str()).collect();
    add(PieceKind::Assistant, last, &lines(subjects), Vec::new());
    let commands = digest.commands.iter().map(|command| command.command.as_str()).collect();
    let tools = digest.tools.keys().map(|tool| format!("tool:{}", tool.to_lowercase())).collect();
    add(PieceKind::Command, last, &lines(commands), tools);
    let paths: Vec<&str> = digest.files.iter().map(|file| file.path.as_str()).collect();
    let mut labels: Vec<String> = paths.iter().flat_map(|path| path_labels(path)).collect();
    labels.sort();
    labels.dedup();
    add(PieceKind::File, last, &lines(paths), labels);
    for error in &digest.errors {
        add(PieceKind::Error, last, &error.sample, vec!["is:failed".to_owned()]);
    }
    let thread = THREAD.to_owned();
    (!pieces.is_empty()).then_some(Passage { thread, turn: 0, first: 0, live: true, pieces })
}
