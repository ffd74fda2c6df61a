//! `cargo xtask bench search`: how fast past turns are found, and what that takes.
//!
//! Made turns go into a store of ours and into SQLite, and both are asked the same. *In
//! process* is the search alone, with everything kept open; *opened* is what a command does
//! after its start, from opening the store to the answer with its snippets.

mod nearest;
mod questions;
mod sqlite;
mod times;
mod turns;
mod whole;

use hashbrown::HashSet;
use jiff::tz::TimeZone;
use retro::engine::news::Patience;
use retro::search::{Mode, Query, Scope};
use retro::store::SessionRow;
use retro::views::{SearchQuestion, open_search};
use retro_model::{SessionKey, Timestamp};
use std::path::Path;
use std::time::Duration;

use super::logs::size;
use super::measure::Meter;
use super::shelves::{Reader, Shelves, Told, said};
use super::{Scratch, own_release, timed};
use crate::failure::Failure;
use crate::page::Part;
use crate::repository::Repository;
use crate::run::seconds;
use crate::table::table;
use questions::{KINDS, Question, Where, list};
use sqlite::Sqlite;
use times::{Times, short};
use turns::{TURNS_A_SESSION, passage, project_of, starts_at};
use whole::{Whole, over};

/// The sizes that the bars are set for.
const TURNS: usize = 45_000;
const TURNS_MANY: usize = 1_000_000;

/// Sessions that are written in one transaction.
const SESSIONS_AT_ONCE: usize = 200;

/// Questions of each kind, and how many of them are asked of what looks through all rows.
const QUESTIONS: usize = 60;
const QUESTIONS_LIKE: usize = 3;

/// Moments at which each question is asked.
const MOMENTS: usize = 3;

/// What `retro search` shows.
const LIMITS: (usize, usize) = (8, 3);

/// What ConvMemory's authors say of it, and their set-up.
const CONVMEMORY: &str = "ConvMemory, as published (\"Mac Pro\", not run here): 770 ms for a search by `LIKE` \
    in 1,617 rollouts with 45,000 turns, 31 µs for the nearest 10 of 512 vectors with 64 dimensions, 7.3 ms for an \
    import after one of 64 rollouts changed.\n";

/// The command.
pub(crate) fn command(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    if own_release(repository, &["bench", "search"], options)? {
        return Ok(());
    }
    let has = |option: &str| options.iter().any(|given| given == option);
    let value = |option: &str| {
        let at = options.iter().position(|given| given == option)?;
        options.get(at + 1).map(String::as_str)
    };
    if has("--write") && value("--part").is_some() {
        return Err(Failure::new("--write takes all parts: leave --part out"));
    }
    let wants = |part: &str| value("--part").is_none_or(|wanted| wanted == part);
    let scratch = Scratch::new()?;
    let whole = Whole {
        retro: repository.retro_of(options)?,
        meter: Meter::new(&scratch.folder),
        scratch: &scratch.folder,
    };
    let mut bench = Bench { scratch: &scratch.folder, whole, bars: Vec::new() };
    let mut text = String::new();
    if wants("turns") {
        let turns = value("--turns").and_then(|number| number.parse().ok());
        text.push_str(&bench.of_turns(turns.unwrap_or(TURNS))?);
    }
    if wants("turns") && has("--million") {
        text.push_str(&bench.of_turns(TURNS_MANY)?);
    }
    if wants("vectors") {
        text.push_str(&bench.vectors(has("--million"))?);
    }
    if wants("appends") {
        bench.appends()?;
    }
    text.push_str(&table(&["bar", "wall", "CPU", "bar at most"], &bench.bars));
    text.push('\n');
    text.push_str(CONVMEMORY);
    print!("{text}");
    if has("--write") {
        let command = match has("--million") {
            true => "cargo xtask bench search --million --write",
            false => "cargo xtask bench search --write",
        };
        let versions = format!("SQLite {}", rusqlite::version());
        Part { name: "bench search", title: "Search", command, versions: &versions }
            .write(repository, &text)?;
    }
    Ok(())
}

struct Bench<'a> {
    scratch: &'a Path,
    whole: Whole<'a>,
    bars: Vec<Vec<String>>,
}

impl Bench<'_> {
    /// Everything about one number of turns.
    fn of_turns(&mut self, turns: usize) -> Result<String, Failure> {
        let folder = self.scratch.join(format!("turns-{turns}"));
        std::fs::create_dir_all(&folder).map_err(|error| Failure::at(&folder, error))?;
        let (shelves, sqlite, made) = make(&folder, turns)?;
        let reader = Reader::open(&shelves)?;
        let extent = reader.size();
        let mut text = format!(
            "{turns} turns in {} sessions: {} pieces, {:.1} MB of text\n\n",
            turns.div_ceil(TURNS_A_SESSION),
            extent.pieces,
            extent.bytes as f64 / 1e6
        );
        let megabytes = extent.bytes as f64 / 1e6;
        let rows = made.iter().map(|(what, time, bytes)| {
            let speed = format!("{:.1} MB/s", megabytes / time.as_secs_f64());
            let share = format!("{:.0} %", *bytes as f64 * 100.0 / extent.bytes as f64);
            vec![(*what).to_owned(), seconds(*time), speed, format!("{:.1} MB", *bytes as f64 / 1e6), share]
        });
        let header = ["made of the same turns", "time", "speed", "size", "of the text"];
        text.push_str(&table(&header, &rows.collect::<Vec<_>>()));
        text.push('\n');
        text.push_str(&self.asked(&shelves, &reader, &sqlite, turns)?);
        text.push('\n');
        if turns == TURNS {
            self.whole_command(&folder, turns)?;
        }
        Ok(text)
    }

    /// Every kind of question, asked in every way.
    fn asked(
        &mut self,
        shelves: &Shelves,
        reader: &Reader<'_>,
        sqlite: &Sqlite,
        turns: usize,
    ) -> Result<String, Failure> {
        let mut rows = Vec::new();
        let (mut words_all, mut both_all) = (Vec::new(), Vec::new());
        for (name, make) in KINDS {
            let list = list(make, turns, QUESTIONS);
            let scoped: Vec<(Query, Scope)> = list
                .iter()
                .map(|question| Ok((parsed(question), scope(shelves, question, turns)?)))
                .collect::<Result<_, Failure>>()?;
            let ask = |mode: Mode| {
                Times::of(&scoped, |(query, scope)| {
                    Ok(reader.ask(query, scope, mode, LIMITS)?.sessions.len())
                })
            };
            let (mut words, mut both) = (ask(Mode::Words)?, ask(Mode::Hybrid)?);
            let opened = Times::of(&list, |question| opened(shelves, question))?;
            let mut fts = Times::of(&list, |question| sqlite.fts(question))?;
            for _ in 1..MOMENTS {
                words = words.or_cheaper(&ask(Mode::Words)?);
                both = both.or_cheaper(&ask(Mode::Hybrid)?);
                if turns < TURNS_MANY {
                    fts = fts.or_cheaper(&Times::of(&list, |question| sqlite.fts(question))?);
                }
            }
            let like = Times::of(&list[..QUESTIONS_LIKE.min(list.len())], |question| sqlite.like(question))?;
            let mut row = vec![name.to_owned(), format!("{:.0} %", words.answered() * 100.0)];
            for times in [&words, &both, &opened, &fts] {
                let wall = format!("{} / {}", short(times.wall(0.5)), short(times.wall(0.99)));
                row.extend([wall, short(times.cpu(0.5))]);
            }
            row.push(short(like.wall(0.5)));
            rows.push(row);
            words_all.push(words);
            both_all.push(both);
        }
        let is_many = turns >= TURNS_MANY;
        let worst = |all: &[Times], share: f64| {
            let wall = all.iter().map(|times| times.wall(share)).max().unwrap_or_default();
            (wall, all.iter().map(|times| times.cpu(share)).max().unwrap_or_default())
        };
        let bar = if is_many { ["10 ms", "50 ms", "40 ms"] } else { ["2 ms", "10 ms", ""] };
        self.bar(&format!("words, {turns} turns, p50 of the slowest kind"), worst(&words_all, 0.5), bar[0]);
        self.bar(&format!("words, {turns} turns, p99 of the slowest kind"), worst(&words_all, 0.99), bar[1]);
        self.bar(&format!("hybrid, {turns} turns, p50 of the slowest kind"), worst(&both_all, 0.5), bar[2]);
        let header = [
            "query",
            "answered",
            "words p50 / p99",
            "CPU",
            "hybrid p50 / p99",
            "CPU",
            "hybrid, opened",
            "CPU",
            "FTS5 p50 / p99",
            "CPU",
            "LIKE p50",
        ];
        Ok(table(&header, &rows))
    }

    /// The program itself, over the same store.
    fn whole_command(&mut self, folder: &Path, turns: usize) -> Result<(), Failure> {
        let query = list(KINDS[3].1, turns, 1).into_iter().next().map(|question| question.text);
        for mode in ["words", "hybrid"] {
            let cost = self.whole.search(&folder.join("root"), mode, query.as_deref().unwrap_or_default())?;
            let what = format!("retro search --no-sync --mode {mode}, {turns} turns, whole command");
            self.bar(&what, (cost.wall, cost.cpu.unwrap_or_default()), "40 ms");
        }
        Ok(())
    }

    /// The nearest vectors.
    fn vectors(&mut self, with_many: bool) -> Result<String, Failure> {
        let mut rows = Vec::new();
        let sets = [(512, 64, "31 µs"), (TURNS, 256, "2 ms"), (TURNS_MANY, 256, "40 ms")];
        for (count, dim, bar) in sets.into_iter().take(if with_many { 3 } else { 2 }) {
            let found = nearest::measure(&self.scratch.join(format!("vectors-{count}")), count, dim)?;
            let (one, all) = (&found.one_thread, &found.all_threads);
            rows.push(vec![
                format!("{count} x {dim}"),
                short(one.wall(0.5)),
                short(one.wall(0.99)),
                short(one.cpu(0.5)),
                short(all.wall(0.5)),
                short(found.bytes_alone.wall(0.5)),
            ]);
            let what = format!("nearest 10 of {count} x {dim}, one thread, p50");
            self.bar(&what, (one.wall(0.5), one.cpu(0.5)), bar);
        }
        let header = [
            "the 10 nearest vectors",
            "one thread p50",
            "p99",
            "CPU p50",
            "all threads p50",
            "their bytes, only read, p50",
        ];
        Ok(format!("{}\n", table(&header, &rows)))
    }

    /// One appended turn, in a small store and in a large one.
    fn appends(&mut self) -> Result<(), Failure> {
        let start = self.whole.start()?;
        self.bar("retro --version", (start.wall, start.cpu.unwrap_or_default()), "");
        for sessions in [20, 20_000] {
            let cost = self.whole.append(sessions)?;
            let what = format!("one turn appended at {sessions} sessions, over the bare start");
            let wall = cost.wall.saturating_sub(start.wall);
            self.bar(&what, (wall, over(cost, start).unwrap_or_default()), "10 ms CPU");
        }
        Ok(())
    }

    /// Keeps a figure, and shows it at once: the next may take minutes.
    fn bar(&mut self, what: &str, (wall, cpu): (Duration, Duration), bar: &str) {
        eprintln!("{what}: {} wall, {} CPU", short(wall), short(cpu));
        self.bars.push(vec![what.to_owned(), short(wall), short(cpu), bar.to_owned()]);
    }
}

/// What was made of the turns: its name, how long it took, how large it is.
type MadeOf = (&'static str, Duration, u64);

/// Puts turns into a store and into SQLite.
fn make(folder: &Path, turns: usize) -> Result<(Shelves, Sqlite, Vec<MadeOf>), Failure> {
    let (root, database) = (folder.join("root"), folder.join("sqlite.db"));
    let shelves = Shelves::create(&folder.join("home"), &root)?;
    let sqlite = Sqlite::create(&database)?;
    let (mut ours, mut theirs) = (Duration::ZERO, Duration::ZERO);
    let sessions: Vec<usize> = (0..turns.div_ceil(TURNS_A_SESSION)).collect();
    for part in sessions.chunks(SESSIONS_AT_ONCE) {
        let told: Vec<Told> = part.iter().map(|session| told(*session, turns)).collect();
        ours += timed(|| shelves.put(&told))?.0;
        let texts = told.iter().flat_map(|told| &told.passages).map(|passage| {
            let texts: Vec<&str> = passage.pieces.iter().map(|piece| piece.text.as_str()).collect();
            texts.join("\n")
        });
        let first = part.first().map_or(0, |session| session * TURNS_A_SESSION);
        let rows: Vec<(usize, String)> = (first..).zip(texts).collect();
        theirs += timed(|| sqlite.put(&rows))?.0;
    }
    let rows_bytes = size(&database);
    let (index_time, ()) = timed(|| sqlite.index())?;
    let (text, ()) = timed(|| shelves.follow("text"))?;
    let (vectors, ()) = timed(|| shelves.follow("vectors"))?;
    let made = vec![
        ("rows of our index", ours, size(&shelves.store.index_path())),
        ("text index", text, size(&shelves.store.text_folder())),
        ("vectors", vectors, size(&shelves.store.vectors_folder())),
        ("rows of SQLite, for LIKE", theirs, rows_bytes),
        ("FTS5 index", index_time, size(&database).saturating_sub(rows_bytes)),
    ];
    Ok((shelves, sqlite, made))
}

fn key(session: usize) -> SessionKey {
    SessionKey::new("claude", format!("00000000-0000-4000-8000-{session:012}"))
}

/// A session with its turns.
fn told(session: usize, turns: usize) -> Told {
    let mut row = SessionRow::new(&key(session));
    row.project = Some(project_of(session));
    row.cwd = Some(format!("/home/dev/code/{}", project_of(session)));
    row.started_at = Timestamp::from_millis(starts_at(session));
    row.ended_at = row.started_at;
    let first = session * TURNS_A_SESSION;
    let mut passages = Vec::new();
    let mut pieces = 0;
    for number in first..turns.min(first + TURNS_A_SESSION) {
        let passage = passage(number, pieces);
        pieces += passage.pieces.len() as u32;
        passages.push(passage);
    }
    Told { row, passages }
}

fn parsed(question: &Question) -> Query {
    Query::parse(&question.text, jiff::civil::Date::MAX)
}

fn scope(shelves: &Shelves, question: &Question, turns: usize) -> Result<Scope, Failure> {
    let number = |session: usize| shelves.index.session_number(&key(session)).map_err(said);
    let mut scope = Scope::default();
    match &question.place {
        Where::Everywhere => {}
        Where::Session(session) => scope.sessions = Some(number(*session)?.into_iter().collect()),
        Where::Project(project) => {
            let sessions =
                (0..turns.div_ceil(TURNS_A_SESSION)).filter(|session| project_of(*session) == *project);
            let numbers: Result<Vec<Option<u32>>, Failure> = sessions.map(number).collect();
            scope.sessions = Some(numbers?.into_iter().flatten().collect::<HashSet<u32>>());
        }
        Where::Between(from, to) => (scope.since_ms, scope.until_ms) = (Some(*from), Some(*to)),
    }
    Ok(scope)
}

/// Asks as a command does after its start. Returns how many turns it found.
fn opened(shelves: &Shelves, question: &Question) -> Result<usize, Failure> {
    let Shelves { world, config, .. } = shelves;
    let searching = open_search(world, config, Patience::None, &|_| {}).map_err(said)?;
    let day = |ms: i64| Timestamp::from_millis(ms).map(|time| time.to_jiff().to_zoned(TimeZone::UTC).date());
    let (since, until) = match question.place {
        Where::Between(from, to) => (day(from), day(to)),
        _ => (None, None),
    };
    let asked = SearchQuestion {
        project: match &question.place {
            Where::Project(project) => Some(project.clone()),
            _ => None,
        },
        session: match question.place {
            Where::Session(session) => Some(key(session)),
            _ => None,
        },
        since,
        until,
        limit: LIMITS.0,
        tz: TimeZone::UTC,
        ..SearchQuestion::new(&question.text)
    };
    Ok(searching.search(world, config, &asked).map_err(said)?.hits.len())
}
