//! Takes in the rows of databases.

use retro_agents::{Agent, Database, DatabaseSeen, Found, Held, Owner, RowsSeen, Sightings};
use retro_model::{SourceKey, Stamp};
use retro_store::{PlaceRef, PlaceRow};
use std::sync::Arc;

use super::{Bytes, Collector, Form};

impl Collector<'_> {
    /// Takes a database that an agent saw.
    pub(super) fn see_database(&mut self, agent: &'static dyn Agent, seen: &DatabaseSeen) {
        let path = seen.path.as_path();
        let stamp = match Database::stamp(path, seen.beside) {
            Ok(stamp) => Stamp::Rows(stamp),
            Err(error) => return self.lack(agent, path, error.to_string()),
        };
        let number = self.databases.len();
        let database = Arc::new(Database::new(agent, path, self.copies.clone()));
        self.databases.push(database.clone());
        let is_whole = |place: &PlaceRef<'_>| place.session.is_none() && place.stamp.is_same(&stamp);
        if self.known.place(path).as_ref().is_some_and(is_whole) {
            return self.see_known_rows(agent, &database, number);
        }
        let mut listed = Sightings::default();
        if let Err(error) = agent.list(&database, &mut listed) {
            return self.lack(agent, path, error.to_string());
        }
        for rows in listed.all_rows() {
            self.see_rows(agent, &database, number, rows);
        }
        self.see_all(agent, &listed);
        // Files that only the database names are checked every time, so it is opened every time.
        if listed.has_no_files() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.found.databases.push(PlaceRow {
                path: path.to_owned(),
                agent: agent.name().to_owned(),
                session: None,
                source: SourceKey::new(&name),
                revision: 0,
                stamp,
            });
        }
    }

    /// The rows of a database that has not changed: all of them are in the store.
    fn see_known_rows(&mut self, agent: &'static dyn Agent, database: &Database, number: usize) {
        let known = self.known;
        for row in known.numbers_below(&database.place_of("")) {
            if let Some(place) = known.place_at(row).filter(|place| matches!(place.stamp, Stamp::Rows(_)))
                && let Some(source) = known.get_at(row).map(|row| row.source)
            {
                let (kind, format) = agent.source_form(&source);
                let form = Form { kind, format, bytes: Bytes::Rows(number), extra: false };
                self.take_same(agent, row, place, form);
            }
        }
    }

    fn see_rows(
        &mut self,
        agent: &'static dyn Agent,
        database: &Arc<Database>,
        number: usize,
        rows: &RowsSeen,
    ) {
        let RowsSeen { session, source, kind, format, stamp } = rows;
        let path = database.place_of(session);
        let known = self.known;
        if let Some(row) = known.number(&path)
            && let Some(place) = known.place_at(row)
            && place.stamp.is_same(&Stamp::Rows(*stamp))
            && (place.session, place.source) == (Some(session), source.as_str())
        {
            let form = Form { kind: *kind, format: *format, bytes: Bytes::Rows(number), extra: false };
            return self.take_same(agent, row, place, form);
        }
        let file = Found {
            owner: Owner::Session(session.clone()),
            source: source.clone(),
            kind: *kind,
            format: *format,
            path,
            held: Held::Rows { stamp: *stamp, database: database.clone() },
            extra: false,
        };
        self.take(agent, file);
    }
}
