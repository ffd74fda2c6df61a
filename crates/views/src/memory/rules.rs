//! The rules of a repository on one page: what could stand in the file that agents read.

use retro_engine::{Config, World};
use retro_memory::{Here, Kind, Memory, Scope, Status};
use retro_search::Words;
use retro_store::Store;
use serde::Serialize;
use std::path::Path;

use super::{MemoryView, all, here, view};
use crate::Error;

/// Files that tell agents how to work in a repository.
const FILES: &[&str] = &["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md"];
/// A longer file is no page of rules.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// The share of a rule's words that a paragraph must have to say the same.
const SAID_SHARE: f64 = 0.8;

/// The answer.
#[derive(Debug, Clone, Serialize)]
pub struct RulesView {
    /// `retro.memory.rules/1`.
    pub schema: &'static str,
    /// The folder that was asked about.
    pub project: String,
    /// What a person accepted or wrote.
    pub accepted: Vec<MemoryView>,
    /// What was found and waits for a decision, what was said most often first.
    pub proposed: Vec<MemoryView>,
    /// What the files of the repository say already, by id.
    pub said: Vec<String>,
    /// Files that were read for that.
    pub files: Vec<String>,
}

/// The rules that hold in a folder.
pub fn rules(world: &World, config: &Config, store: &Store, project: &str) -> Result<RulesView, Error> {
    let here = here(Some(project));
    let mut found = all(world, config, store)?;
    found.retain(|memory| is_rule(memory) && holds(memory, &here));
    found.sort_by(|a, b| {
        let by_worth = b.seen.cmp(&a.seen).then(b.confidence.total_cmp(&a.confidence));
        by_worth.then(b.created_at.cmp(&a.created_at)).then_with(|| a.id.cmp(&b.id))
    });
    let (files, paragraphs) = paragraphs(Path::new(here.root.as_deref().unwrap_or(project)));
    let mut view_of = RulesView {
        schema: "retro.memory.rules/1",
        project: project.to_owned(),
        accepted: Vec::new(),
        proposed: Vec::new(),
        said: Vec::new(),
        files,
    };
    for memory in &found {
        if is_said(memory, &paragraphs) {
            view_of.said.push(memory.id.clone());
        } else if memory.status == Status::Accepted {
            view_of.accepted.push(view(memory));
        } else {
            view_of.proposed.push(view(memory));
        }
    }
    Ok(view_of)
}

fn is_rule(memory: &Memory) -> bool {
    matches!(memory.kind, Kind::UserPreference | Kind::RepoConvention)
        && matches!(memory.status, Status::Accepted | Status::Candidate)
        && memory.superseded_by.is_none()
}

fn holds(memory: &Memory, here: &Here) -> bool {
    memory.scope != Scope::Repo || memory.place().is_same(&here.place())
}

/// The files of a repository that agents read, and the terms of each of their paragraphs.
fn paragraphs(root: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let (mut files, mut paragraphs) = (Vec::new(), Vec::new());
    let mut words = Words::default();
    for name in FILES {
        let path = root.join(name);
        let fits = std::fs::metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() <= FILE_BYTES_MAX);
        let Some(text) = fits.then(|| std::fs::read_to_string(&path).ok()).flatten() else { continue };
        files.push((*name).to_owned());
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            paragraphs.push(words.distinct(line));
        }
    }
    (files, paragraphs)
}

/// Whether a paragraph has nearly all words of a rule.
fn is_said(memory: &Memory, paragraphs: &[Vec<String>]) -> bool {
    let text = memory.spans.first().map_or(memory.text.as_str(), |span| span.text.as_str());
    let terms = Words::default().distinct(text);
    let covers = |paragraph: &Vec<String>| {
        let shared = terms.iter().filter(|term| paragraph.contains(term)).count();
        shared as f64 >= SAID_SHARE * terms.len() as f64
    };
    !terms.is_empty() && paragraphs.iter().any(covers)
}
