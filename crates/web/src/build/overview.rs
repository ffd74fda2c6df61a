//! Chunks over all sessions: the page's first data, and the state of the store.

use jiff::tz::TimeZone;
use retro::engine::ask::Ledgers;
use retro::engine::damage::Trouble;
use retro::engine::{Config, World};
use retro::model::{SessionKey, Timestamp};
use retro::store::Store;
use retro::usage::{Cells, Mode, cost};
use retro::views;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

use super::Options;
use super::search::Part;
use crate::Error;
use crate::chunk::Chunk;
use crate::rows::Month;
use crate::session::{Ground, Redact};

/// The inputs of these chunks.
pub struct Told<'a> {
    pub world: &'a World,
    pub config: &'a Config,
    pub options: &'a Options,
    pub tz: &'a TimeZone,
    pub ground: &'a Ground<'a>,
    pub ledgers: Ledgers<'a>,
    pub build: &'a str,
    pub looked: Looked,
}

/// State of the store, read while its sessions are built.
pub struct Looked {
    /// Checks of its files.
    files: Vec<views::Check>,
    /// The progress of each stage.
    stages: views::StagesView,
}

/// The results of earlier steps.
pub struct Sums<'a> {
    pub months: &'a [Month],
    pub parts: &'a [Part],
    pub sessions: usize,
    pub memories: Value,
    pub patterns: Value,
    /// Problems of single sessions.
    pub troubles: &'a [Trouble],
    /// Time and result of the last check of the store's files.
    pub verified: Option<&'a (i64, String)>,
}

/// The chunks, and the time until which they depend only on their inputs.
pub struct Made {
    pub chunks: Vec<Chunk>,
    pub good_until_ms: i64,
    /// Time and result of the check of the store's files, if it found no problem.
    pub verified: Option<(i64, String)>,
}

/// Warnings count in days.
const DAY_MS: i64 = 86_400_000;

/// Builds the chunks.
pub fn chunks(told: &Told<'_>, sums: &Sums<'_>) -> Result<Made, Error> {
    let Told { world, config, options, tz, ground, ref ledgers, build, .. } = *told;
    let now = world.now();
    let limits = views::limits(ledgers, None, now)?;
    let status = views::status(world, config)?;
    let meta = json!({
        "schema": "retro.page/1",
        "version": env!("CARGO_PKG_VERSION"),
        "build": build,
        "made_at": now,
        "zone": tz.iana_name().unwrap_or("UTC"),
        "sessions": sums.sessions,
        "captured": status.captured,
        "unread": status.unread,
        "billing": config.billing.value,
        "prices_of": ground.prices.snapshot.to_string(),
        "mode": mode(options),
        "since": options.since,
        "project": options.project,
        "strict": options.redact == Redact::Strict,
        "months": sums.months,
        "search": sums.parts,
        "memories": sums.memories,
        "patterns": sums.patterns,
        "limits": limits,
    });
    let (doctor, verified) = doctor(told, sums)?;
    let health = json!({
        "status": status,
        "doctor": doctor,
        "stages": told.looked.stages,
        "agents": views::agents(world, config),
        "prices": prices(ground),
    });
    let chunks = vec![Chunk::of("meta", &meta)?, Chunk::of("health", &health)?];
    Ok(Made { chunks, good_until_ms: good_until_ms(&limits, now), verified })
}

/// Reads the state of the whole store.
pub fn look(
    store: &Store,
    world: &World,
    config: &Config,
    verified: Option<&(i64, String)>,
) -> Result<Looked, Error> {
    let files = files(store, world.now(), verified)?;
    Ok(Looked { files, stages: views::stages(world, config)? })
}

/// Checks the files of a store. The duration grows with the store, so once a day is enough.
fn files(
    store: &Store,
    now: Timestamp,
    verified: Option<&(i64, String)>,
) -> Result<Vec<views::Check>, Error> {
    let Some((at_ms, what)) = of_today(verified, now) else { return Ok(views::look_through(store)?) };
    let at = Timestamp::from_millis(*at_ms).map_or_else(String::new, |ts| format!(", at {ts}"));
    let what = format!("{what}{at}");
    Ok(vec![views::Check { name: "files", health: views::Health::Good, what, help: None }])
}

fn of_today(verified: Option<&(i64, String)>, now: Timestamp) -> Option<&(i64, String)> {
    verified.filter(|(at_ms, _)| at_ms.div_euclid(DAY_MS) == now.as_millis().div_euclid(DAY_MS))
}

fn doctor(told: &Told<'_>, sums: &Sums<'_>) -> Result<(views::DoctorView, Option<(i64, String)>), Error> {
    let now = told.world.now();
    let known = views::Known { troubles: Some(sums.troubles), files: Some(told.looked.files.clone()) };
    let doctor = views::doctor_with(told.world, told.config, known)?;
    let is_good = |check: &&views::Check| check.name == "files" && check.health == views::Health::Good;
    let looked = doctor.checks.iter().find(is_good).map(|check| (now.as_millis(), check.what.clone()));
    let verified = of_today(sums.verified, now).cloned().or(looked);
    Ok((doctor, verified))
}

/// The next day, or the end of a current window.
fn good_until_ms(limits: &views::LimitsView, now: Timestamp) -> i64 {
    let day = (now.as_millis().div_euclid(DAY_MS) + 1).saturating_mul(DAY_MS);
    let ends = limits.windows.iter().filter(|window| !window.ended).map(|window| {
        let minutes = i64::try_from(window.window_minutes.unwrap_or(0)).unwrap_or(0);
        let length_ms = minutes.saturating_mul(60_000);
        window.resets_at.map_or(window.read_at.as_millis().saturating_add(length_ms), |end| end.as_millis())
    });
    ends.chain([day]).min().unwrap_or(day)
}

fn mode(options: &Options) -> &'static str {
    match options.mode {
        Mode::Auto => "auto",
        Mode::Calculate => "calculate",
        Mode::Display => "display",
    }
}

/// The price row of each model in use.
fn prices(ground: &Ground<'_>) -> Vec<Value> {
    let mut models: BTreeMap<String, Value> = BTreeMap::new();
    for row in ground.counted.rows.iter().map(|row| row.own_row()) {
        let Some(model) = row.model.clone().filter(|model| !models.contains_key(model)) else { continue };
        let told = cost(row, ground.prices, ground.mode);
        let dollars = |rate: u64| rate as f64 / 1e6;
        let value = json!({
            "model": model,
            "priced_as": told.price_row.as_ref().map(|found| &found.row.model),
            "source": told.price_row.as_ref().map(|found| found.row.source.to_string()),
            "from": told.price_row.as_ref().and_then(|found| found.row.from).map(|day| day.to_string()),
            "input": told.rates.map(|rates| dollars(rates.input)),
            "output": told.rates.map(|rates| dollars(rates.output)),
            "cache_read": told.rates.and_then(|rates| rates.cache_read).map(dollars),
            "cache_write": told.rates.and_then(|rates| rates.cache_write_5m).map(dollars),
        });
        models.insert(model, value);
    }
    models.into_values().collect()
}

/// Responses and cost of each tree: if they are the same, so are its chunks.
pub fn money_of_trees(
    cells: &Cells,
    roots: &HashMap<SessionKey, SessionKey>,
) -> HashMap<SessionKey, (u64, i64)> {
    let mut sums: HashMap<SessionKey, (u64, i64)> = HashMap::new();
    for cell in cells.each() {
        let root = roots.get(cell.session).unwrap_or(cell.session);
        let sum = sums.entry(root.clone()).or_default();
        sum.0 += cell.figures.responses;
        sum.1 = sum.1.saturating_add(cell.nano.map_or(0, |nano| nano.0));
    }
    sums
}
