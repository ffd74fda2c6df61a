//! A session with its sub-agents: their events, and the line of work of each.
//!
//! Some agents log a sub-agent inside the session, others as a session beside it. Here both
//! become threads of one family. An event of the session itself is named by its id, one of
//! a child by `<child>#<id>`, so that no two events of a family share a name.

use crate::children_of_calls;
use retro_engine::read;
use retro_model::{Coverage, Event, EventId, Gap, Kind, SessionKey};
use retro_store::Store;
use std::collections::{BTreeMap, HashMap};

use super::evicted;
use super::pictures::{Picture, Shown, pictures};
use crate::Error;
use crate::judged::judge;

/// One session of a family.
pub struct Member {
    /// The session's key.
    pub key: SessionKey,
    /// Its settled events. If there are very many, only the first and the last.
    pub events: Vec<Event>,
    /// The number of events left out between those.
    pub left_out: u64,
    /// All events by kind.
    pub event_counts: BTreeMap<Kind, u64>,
    /// The mapping of its records to events.
    pub coverage: Coverage,
    /// Parts that could not be read.
    pub gaps: Vec<Gap>,
    /// Program versions that wrote it.
    pub versions: Vec<String>,
    /// Models that answered.
    pub models: Vec<String>,
    /// Its pictures: by record, and as files.
    pub pictures: (Shown, Vec<Picture>),
}

/// A line of work.
pub struct Line<'f> {
    /// Index of the family member; 0 is the session itself.
    pub member: usize,
    /// Its name: `main`, or the sub-agent's.
    pub name: String,
    /// The call that started it, by its line and its call id.
    pub started_by: Option<(usize, &'f str)>,
    /// Its events, in order.
    pub events: Vec<&'f Event>,
}

/// A session and its sub-agents.
pub struct Family {
    /// The session itself first.
    pub members: Vec<Member>,
}

impl Family {
    /// Reads a session and these children. Skips a child that cannot be read.
    pub fn read(
        store: &Store,
        key: &SessionKey,
        children: &[SessionKey],
        has_pictures: bool,
    ) -> Result<Family, Error> {
        let mut members = vec![member(store, key)?];
        members.extend(children.iter().filter_map(|child| member(store, child).ok()));
        for child in members.iter_mut().skip(1) {
            // A child that got its parent's history holds copies of it.
            child.events.retain(|event| event.copy_of.is_none());
        }
        for member in members.iter_mut().filter(|_| has_pictures) {
            member.pictures = pictures(store, &member.key, &member.events);
        }
        Ok(Family { members })
    }

    /// The name of an event within the family.
    pub fn name(&self, member: usize, id: &EventId) -> String {
        match self.members.get(member) {
            Some(owner) if member > 0 => format!("{}#{id}", owner.key.id),
            _ => id.to_string(),
        }
    }

    /// Every line of work: the session's own first, then each at its call.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let mut lines: Vec<Line<'_>> = Vec::new();
        let mut found: HashMap<(usize, &str), usize> = HashMap::new();
        for (at, member) in self.members.iter().enumerate() {
            for event in &member.events {
                let number = *found.entry((at, event.thread.as_str())).or_insert_with(|| {
                    let name = match (at, event.thread.is_main()) {
                        (0, _) | (_, false) => event.thread.as_str().to_owned(),
                        (_, true) => member.key.id.clone(),
                    };
                    lines.push(Line { member: at, name, started_by: None, events: Vec::new() });
                    lines.len() - 1
                });
                if let Some(line) = lines.get_mut(number) {
                    line.events.push(event);
                }
            }
        }
        self.link(&mut lines, &found);
        lines
    }

    /// Sets the call that started each line.
    fn link<'f>(&'f self, lines: &mut [Line<'f>], found: &HashMap<(usize, &str), usize>) {
        let by_session: HashMap<&str, usize> =
            self.members.iter().enumerate().map(|(at, member)| (member.key.id.as_str(), at)).collect();
        for (at, member) in self.members.iter().enumerate() {
            let children = children_of_calls(&member.events);
            for event in &member.events {
                let Some(tool) = &event.tool else { continue };
                let Some(child) = children.get(tool.call_id.as_str()) else { continue };
                let own = found.get(&(at, *child)).copied();
                let other = by_session.get(child).and_then(|other| found.get(&(*other, "main"))).copied();
                let from = found.get(&(at, event.thread.as_str())).copied();
                if let (Some(to), Some(from)) = (own.or(other).filter(|to| *to > 0), from)
                    && from != to
                    && let Some(line) = lines.get_mut(to)
                    && line.started_by.is_none()
                {
                    line.started_by = Some((from, &tool.call_id));
                }
            }
        }
        break_circles(lines);
    }
}

/// Breaks cycles: in a damaged log, two sub-agents may appear to start each other.
fn break_circles(lines: &mut [Line<'_>]) {
    for start in 0..lines.len() {
        let mut at = start;
        let mut steps = 0;
        while let Some((above, _)) = lines.get(at).and_then(|line| line.started_by) {
            steps += 1;
            if above == start || steps > lines.len() {
                if let Some(line) = lines.get_mut(start) {
                    line.started_by = None;
                }
                break;
            }
            at = above;
        }
    }
}

fn member(store: &Store, key: &SessionKey) -> Result<Member, Error> {
    if let Some(evicted) = evicted::member(store, key)? {
        return Ok(evicted);
    }
    let agent = retro_agents::by_name(&key.agent)
        .ok_or_else(|| crate::Error::NoAgent { name: key.agent.clone(), hint: String::new() })?;
    let read::Legible { mut settled, event_counts, left_out } =
        read::legible(store, agent, key).map_err(crate::Error::from)?;
    judge(key, &mut settled.events);
    Ok(Member {
        key: key.clone(),
        events: settled.events,
        left_out,
        event_counts,
        coverage: settled.coverage,
        gaps: settled.gaps,
        versions: settled.facts.versions.iter().cloned().collect(),
        models: settled.facts.models.iter().cloned().collect(),
        pictures: Default::default(),
    })
}
