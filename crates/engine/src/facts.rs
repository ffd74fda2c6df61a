//! Asks git about the repositories in which sessions worked.
//!
//! A sync does this last, without holding the lock. It observes the repository of every session
//! whose digest shows that git may have new facts, keeps the observation in its document, and
//! adds it to the digest. Questions never wait for git. Pure code evaluates the output
//! (`retro_insight::GitFacts`), and `git.rs` runs git safely.

mod commits;
mod git;
mod remote;

use rayon::prelude::*;
use retro_insight::{DAY_MS, Digest, GitFacts};
use retro_model::SessionKey;
use retro_store::{DIGESTS, FACTS, Index, Made, Store};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::stage::{Everything, Stage, StampInputs};
use crate::stages::{by_name, digest::output_of, facts::kept};
use crate::stamp::stamp;
use crate::{Config, Error, World, agent_of};
use commits::Place;
use git::Git;

/// Number of repositories that are asked at once.
const REPOSITORIES_AT_ONCE: usize = 2;
/// Time that one sync spends on this. The next one continues.
const PASS_TIME_MAX: Duration = Duration::from_secs(60);
/// Key of the index value with the times at which folders were asked.
const ASKED: &str = "facts_asked";
/// Key of the index value that records whether git could be asked: `on`, `off` or `missing`.
const GIT: &str = "facts_git";

/// A session about which git is asked.
struct Asking {
    key: SessionKey,
    digest: Digest,
    before: Vec<GitFacts>,
}

/// The observation of one session.
struct Answer {
    asking: Asking,
    facts: GitFacts,
}

/// When a repository was asked, by its top folder.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Asked(BTreeMap<String, i64>);

/// Observes every due session, and adds the result to facts and digests.
pub(crate) fn observe(all: &Everything<'_>, stages: &[Stage]) -> Result<(), Error> {
    let Everything { world, config, store, index, .. } = *all;
    let program = git::find(world);
    switch(config, store, index, program.is_some())?;
    if !config.facts_git.value {
        return Ok(());
    }
    let now_ms = world.now().as_millis();
    let is_due =
        |(key, due): (SessionKey, Vec<String>)| due.iter().any(|name| name == "facts").then_some(key);
    let due: Vec<SessionKey> = index.due(now_ms)?.into_iter().filter_map(is_due).collect();
    if due.is_empty() {
        return Ok(());
    }
    let mut asked: Asked =
        index.meta(ASKED)?.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    asked.0.retain(|_, at_ms| *at_ms <= now_ms && now_ms - *at_ms < DAY_MS);
    let mut repositories: Repositories = BTreeMap::new();
    let mut later: Vec<(SessionKey, Option<i64>)> = Vec::new();
    let mut unasked = Vec::new();
    for key in due {
        match ask(store, &key)? {
            None => later.push((key, None)),
            Some((_, asking)) if program.is_none() => unasked.push(without_git(asking, world)),
            Some((folder, asking)) => {
                let top = git::top_of(&folder).unwrap_or_else(|| folder.clone()).display().to_string();
                match asked.0.get(&top) {
                    Some(at_ms) => later.push((key, Some(at_ms + DAY_MS))),
                    None => repositories.entry(top).or_default().entry(folder).or_default().push(asking),
                }
            }
        }
    }
    let (answers, tops) = match &program {
        Some(program) => ask_all(world, program, repositories),
        None => (unasked, Vec::new()),
    };
    asked.0.extend(tops.into_iter().map(|top| (top, now_ms)));
    keep(all, stages, answers, &later, &asked)
}

/// Records whether git can be asked. While it cannot, no session waits for it. Once it can again,
/// it is asked about every session.
fn switch(config: &Config, store: &Store, index: &Index, has_git: bool) -> Result<(), Error> {
    let before = index.meta(GIT)?.unwrap_or_else(|| "on".to_owned());
    let now = match (config.facts_git.value, has_git) {
        (false, _) => "off",
        (true, false) => "missing",
        (true, true) => "on",
    };
    let keys = if now == "on" && before != "on" { store.session_keys()? } else { Vec::new() };
    let is_left = now == "off" && index.due_counts()?.contains_key("facts");
    if now == before && !is_left {
        return Ok(());
    }
    index.write(|index| {
        if is_left {
            index.clear_stage("facts")?;
        }
        for key in &keys {
            index.put_due(key, "facts", 0, false)?;
        }
        index.set_meta(GIT, now)
    })?;
    Ok(())
}

/// The facts about a session on a machine without git.
fn without_git(asking: Asking, world: &World) -> Answer {
    let facts = GitFacts {
        observed_at: Some(world.now()),
        reason: Some("git_missing".to_owned()),
        asked: commits::asked(&asking.digest),
        ..GitFacts::default()
    };
    Answer { asking, facts }
}

/// The folder of a session and the question about it. `None` if the session needs none.
fn ask(store: &Store, key: &SessionKey) -> Result<Option<(PathBuf, Asking)>, Error> {
    let digest = match store.object::<Digest>(&DIGESTS, key) {
        Ok(digest) => digest,
        Err(retro_store::Error::Damaged { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let Some(digest) = digest else { return Ok(None) };
    let Some(folder) = digest.identity.cwd.as_ref().map(PathBuf::from).filter(|cwd| cwd.is_absolute()) else {
        return Ok(None);
    };
    let before = kept(store, key)?;
    Ok(Some((folder, Asking { key: key.clone(), digest, before })))
}

/// Sessions by the top of their repository and the folder they worked in.
type Repositories = BTreeMap<String, BTreeMap<PathBuf, Vec<Asking>>>;

/// Asks about every repository, several at once. Returns the answers, and the repositories that
/// were asked.
fn ask_all(world: &World, program: &Path, repositories: Repositories) -> (Vec<Answer>, Vec<String>) {
    let started = Instant::now();
    let work = |(top, folders): (String, BTreeMap<PathBuf, Vec<Asking>>)| {
        let mut answers = Vec::new();
        for (folder, all) in folders {
            let git = Git::new(world, program.to_owned(), folder);
            let place = Place::of(&git);
            for asking in all {
                if world.stopping() || started.elapsed() > PASS_TIME_MAX {
                    return (answers, None);
                }
                let facts = commits::observe(&git, &place, &asking.digest, world.now());
                answers.push(Answer { asking, facts });
            }
        }
        (answers, Some(top))
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(REPOSITORIES_AT_ONCE).build();
    let found: Vec<(Vec<Answer>, Option<String>)> = match pool {
        Ok(pool) => pool.install(|| repositories.into_par_iter().map(work).collect()),
        Err(_) => repositories.into_iter().map(work).collect(),
    };
    let (answers, tops): (Vec<Vec<Answer>>, Vec<Option<String>>) = found.into_iter().unzip();
    (answers.into_iter().flatten().collect(), tops.into_iter().flatten().collect())
}

/// Stores the observations, and the digests that contain them.
fn keep(
    all: &Everything<'_>,
    stages: &[Stage],
    answers: Vec<Answer>,
    later: &[(SessionKey, Option<i64>)],
    asked: &Asked,
) -> Result<(), Error> {
    let Everything { world, config, store, index, .. } = *all;
    let Some(_lock) = store.lock(&|| world.stopping())? else { return Ok(()) };
    let fits = index.marks()? == store.marks();
    let mut due: Vec<(SessionKey, Option<i64>)> = later.to_vec();
    let mut made = Vec::new();
    for Answer { asking, facts } in answers {
        let Asking { key, mut digest, mut before } = asking;
        let commits = facts.asked;
        if facts.reason.is_some() && commits == 0 {
            // Neither an answer nor commits: such facts are not worth keeping, and there may be
            // thousands.
            due.push((key, None));
            continue;
        }
        let stamps_before = stamp_of(config, store, index, &key)?;
        GitFacts::add(&mut before, facts);
        store.put_lines(&FACTS, &key, &before)?;
        due.push((key.clone(), GitFacts::next_ms(&before, commits, digest.ended_at)));
        let is_current = index.made(&key, "digest")?.is_some_and(|made| made.stamp == stamps_before);
        if let (true, Some(facts)) = (is_current, GitFacts::of(&before)) {
            digest.observe(facts);
            store.put_object(&DIGESTS, &key, &digest)?;
            let output = output_of(&digest);
            made.push((key.clone(), Made { stamp: stamp_of(config, store, index, &key)?, output }));
        }
    }
    store.sync_all()?;
    let marks = fits.then(|| store.marks());
    let text = serde_json::to_string(asked).unwrap_or_default();
    index.write(|index| {
        for (key, made) in &made {
            index.put_made(key, "digest", made)?;
            for stage in stages.iter().filter(|stage| stage.reads("digest")) {
                index.put_due(key, stage.name, 0, false)?;
            }
        }
        for (key, at_ms) in &due {
            match at_ms {
                Some(at_ms) => index.put_due(key, "facts", *at_ms, false)?,
                None => index.clear_due(key, "facts")?,
            }
        }
        index.set_meta(ASKED, &text)?;
        marks.iter().try_for_each(|marks| index.put_marks(marks))
    })?;
    Ok(())
}

/// The stamp that a session's digest would have now.
fn stamp_of(config: &Config, store: &Store, index: &Index, key: &SessionKey) -> Result<String, Error> {
    let (Some(row), Some(agent), Some(stage)) = (index.session_row(key)?, agent_of(key), by_name("digest"))
    else {
        return Ok(String::new());
    };
    let children = crate::family::children_content(index, key, 0)?;
    let facts = store.name_of(&FACTS, key)?;
    let inputs = StampInputs {
        children: &children,
        facts: &facts,
        ..StampInputs::of_events(config, agent, &row.content)
    };
    Ok(stamp(stage, inputs, &index.made_of(key)?))
}
