//! The rules of a repository on one page, ready for the file that agents read.

use retro_engine::{Config, World};
use retro_memory::{Here, Kind, Memory, Scope, Status};
use retro_search::Words;
use retro_store::Store;
use serde::Serialize;
use std::path::Path;

use super::{MemoryView, all, here, view};
use crate::Error;

/// Instruction files that agents read in a repository.
const FILES: &[&str] = &["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md"];
/// A longer file is not a page of rules.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// A paragraph repeats a rule if it has this share of the rule's words.
const SAID_SHARE: f64 = 0.8;

/// The result of `retro memory rules`.
#[derive(Debug, Clone, Serialize)]
pub struct RulesView {
    /// `retro.memory.rules/1`.
    pub schema: &'static str,
    /// The folder that was asked about.
    pub project: String,
    /// Memories that a person accepted or wrote.
    pub accepted: Vec<MemoryView>,
    /// Memories that were found and await a decision, the most often seen first.
    pub proposed: Vec<MemoryView>,
    /// Ids of memories that the repository's files already contain.
    pub said: Vec<String>,
    /// The files that were checked for that.
    pub files: Vec<String>,
}

/// The rules that apply in a folder.
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

/// The instruction files of a repository, and the terms of each paragraph.
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

/// True if a paragraph has nearly all words of a rule.
fn is_said(memory: &Memory, paragraphs: &[Vec<String>]) -> bool {
    let text = memory.spans.first().map_or(memory.text.as_str(), |span| span.text.as_str());
    let terms = Words::default().distinct(text);
    let covers = |paragraph: &Vec<String>| {
        let shared = terms.iter().filter(|term| paragraph.contains(term)).count();
        shared as f64 >= SAID_SHARE * terms.len() as f64
    };
    !terms.is_empty() && paragraphs.iter().any(covers)
}
