//! Finishes built sessions. Their chunks are written to the folder at once. Data for lists and
//! search is collected later, in order.

use rayon::prelude::*;
use retro::engine::damage::Trouble;
use retro::model::SessionKey;
use retro::views::SessionView;
use std::collections::{HashMap, HashSet};

use super::Built;
use super::plan::Plan;
use super::search::Search;
use super::signals::{self, Said};
use super::state::{Known, State};
use crate::Error;
use crate::chunk::Chunk;
use crate::folder::{Folder, Place};
use crate::session::{Ground, session};
use crate::words::Turn;

/// Collects data of the built sessions, one after another.
pub struct Taking<'s> {
    pub folder: &'s mut Folder,
    pub state: &'s mut State,
    pub search: &'s mut Search,
    pub built: &'s mut Built,
    pub said: &'s mut HashMap<String, Vec<Said>>,
}

impl Taking<'_> {
    /// Collects a session's data for lists, and its words.
    pub fn take(
        &mut self,
        plan: &Plan<'_>,
        (name, key, made): (&String, &SessionKey, Result<Packed, Error>),
    ) -> Result<(), Error> {
        let made = match made {
            Ok(made) => made,
            Err(error @ Error::Write { .. }) => return Err(error),
            Err(error) => {
                self.built.failed.push((key.to_string(), error.to_string()));
                return Ok(());
            }
        };
        self.folder.count(&made.written);
        self.folder.clear_session(name, &made.files)?;
        self.search.add(name, &made.words);
        for picture in &made.pictures {
            self.folder.put(&format!("img/{}", picture.name), &picture.bytes)?;
        }
        let (money, digest) = (plan.money(key), plan.digest(key).to_owned());
        let pictures = made.pictures.into_iter().map(|picture| picture.name).collect();
        let known = Known { money, digest, pictures, summary: made.summary };
        self.state.looked.extend(made.looked.into_iter().map(|(key, trouble)| (key.to_string(), trouble)));
        self.state.sessions.insert(name.clone(), known);
        self.said.insert(name.clone(), made.said);
        self.built.changed.push(name.clone());
        self.built.rebuilt += 1;
        Ok(())
    }
}

/// A session whose chunks are written.
pub struct Packed {
    /// Names of its files, without extension.
    files: HashSet<String>,
    /// Sizes of the files. `None` if a file was up to date.
    written: Vec<Option<u64>>,
    summary: crate::session::Summary,
    words: Vec<Turn>,
    pictures: Vec<crate::session::Picture>,
    looked: Vec<(SessionKey, Option<Trouble>)>,
    /// Its signal values, for the table of its month.
    said: Vec<Said>,
}

/// Builds a session and writes its chunks.
pub fn made(
    ground: &Ground<'_>,
    view: &SessionView,
    kids: &[SessionKey],
    (build, place): (&str, &Place),
) -> Result<Packed, Error> {
    let made = session(ground, view, kids)?;
    let written = made
        .chunks
        .par_iter()
        .map(|chunk| place.write(&format!("data/{}.js", chunk.name), &chunk.script(build)?));
    let file = |chunk: &Chunk| chunk.name.rsplit_once('/').map_or(&*chunk.name, |(_, file)| file).to_owned();
    Ok(Packed {
        written: written.collect::<Result<Vec<_>, Error>>()?,
        files: made.chunks.iter().map(file).collect(),
        summary: made.summary,
        words: made.words,
        pictures: made.pictures,
        looked: made.looked,
        said: signals::said(made.readings, ground.signals),
    })
}
