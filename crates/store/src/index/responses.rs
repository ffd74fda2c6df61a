//! The rows of all ledgers in one table: what a cost question reads instead of logs.

use retro_model::{LedgerRow, SessionKey, Thread, Timestamp};
use rusqlite::Row;

use super::rows::{named, text, unreadable};
use super::writer::name;
use super::{Index, Writer};
use crate::Error;

const COLUMNS: &str = "agent, session, event, key, own, thread, ts, cwd, provider, model, tier, input, \
                       cache_write_5m, cache_write_1h, cache_write_unsplit, cache_read, output, reasoning, \
                       web_searches, calls, includes, kind, exactness, text_bytes, reported_cost_nano";

impl Index {
    /// Every row of every session, in no order that means anything.
    pub fn responses(&self) -> Result<Vec<(SessionKey, LedgerRow)>, Error> {
        self.all(&format!("SELECT {COLUMNS} FROM responses"), [], read)
    }

    /// The rows since an instant, with all rows of the same answers, whatever their
    /// time and session.
    pub fn responses_since(&self, ts: Timestamp) -> Result<Vec<(SessionKey, LedgerRow)>, Error> {
        let text = format!(
            "SELECT {COLUMNS} FROM responses WHERE key IN (SELECT key FROM responses WHERE ts >= ?1)"
        );
        self.all(&text, [ts.as_millis()], read)
    }

    /// The rows of one session, with all rows of the same answers in others.
    pub fn responses_with(&self, key: &SessionKey) -> Result<Vec<(SessionKey, LedgerRow)>, Error> {
        let text = format!(
            "SELECT {COLUMNS} FROM responses WHERE key IN
             (SELECT key FROM responses WHERE agent = ?1 AND session = ?2)"
        );
        self.all(&text, (&key.agent, &key.id), read)
    }

    /// The times of answers up to `now`, rising, as far back as there is no pause
    /// longer than `pause_ms`. Copies that say so are left out.
    pub fn busy_times(&self, now: Timestamp, pause_ms: i64) -> Result<Vec<Timestamp>, Error> {
        let text = "SELECT ts FROM responses WHERE ts <= ?1 AND own > 0 AND kind IN ('main', 'compaction')
                    ORDER BY ts DESC";
        let read = || -> rusqlite::Result<Vec<Timestamp>> {
            let mut statement = self.connection.prepare_cached(text)?;
            let mut rows = statement.query([now.as_millis()])?;
            let (mut times, mut later) = (Vec::new(), now.as_millis());
            while let Some(row) = rows.next()? {
                let ts: i64 = row.get(0)?;
                if later.saturating_sub(ts) > pause_ms {
                    break;
                }
                later = ts;
                times.extend(Timestamp::from_millis(ts));
            }
            times.reverse();
            Ok(times)
        };
        read().map_err(Error::index(&self.path))
    }

    /// The rows of one session, in the order of its ledger.
    pub fn responses_of(&self, key: &SessionKey) -> Result<Vec<LedgerRow>, Error> {
        let text = format!("SELECT {COLUMNS} FROM responses WHERE agent = ?1 AND session = ?2");
        let rows = self.all(&text, (&key.agent, &key.id), read)?;
        let mut rows: Vec<LedgerRow> = rows.into_iter().map(|(_, row)| row).collect();
        rows.sort_by(|a, b| (&a.event, &a.key).cmp(&(&b.event, &b.key)));
        Ok(rows)
    }
}

impl Index {
    /// A number that rises whenever a row of a ledger changes.
    pub fn responses_version(&self) -> Result<u64, Error> {
        let found =
            self.one("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'responses_version'", [], |row| {
                row.get::<_, i64>(0)
            })?;
        Ok(found.unwrap_or(0).cast_unsigned())
    }

    /// How many rows there are.
    pub fn responses_count(&self) -> Result<u64, Error> {
        let count = self.one("SELECT COUNT(*) FROM responses", [], |row| row.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0).cast_unsigned())
    }

    /// The stamp of the sums that are kept.
    pub fn cells_stamp(&self) -> Result<Option<String>, Error> {
        self.one("SELECT stamp FROM cells LIMIT 1", [], |row| row.get(0))
    }

    /// Sums that were kept under this stamp.
    pub fn cells(&self, stamp: &str) -> Result<Option<Vec<u8>>, Error> {
        self.one("SELECT body FROM cells WHERE stamp = ?1", [stamp], |row| row.get(0))
    }
}

impl Writer<'_> {
    /// Keeps sums of rows, in the place of those that were kept before.
    pub fn put_cells(&self, stamp: &str, body: &[u8]) -> Result<(), Error> {
        self.run("DELETE FROM cells", [])?;
        self.run("INSERT INTO cells (stamp, body) VALUES (?1, ?2)", (stamp, body))
    }

    fn bump_responses(&self) -> Result<(), Error> {
        self.run(
            "INSERT INTO meta (key, value) VALUES ('responses_version', 1) \
             ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1",
            [],
        )
    }

    /// Puts the rows of a session in the place of those it had.
    pub fn put_responses(&self, key: &SessionKey, rows: &[LedgerRow]) -> Result<(), Error> {
        self.clear_responses(key)?;
        self.add_responses(key, rows)
    }

    /// Drops the rows of a session.
    pub fn clear_responses(&self, key: &SessionKey) -> Result<(), Error> {
        self.bump_responses()?;
        self.run("DELETE FROM responses WHERE agent = ?1 AND session = ?2", (&key.agent, &key.id))
    }

    /// Adds rows to those a session has.
    pub fn add_responses(&self, key: &SessionKey, rows: &[LedgerRow]) -> Result<(), Error> {
        self.bump_responses()?;
        let text = format!(
            "REPLACE INTO responses ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, \
             ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25)"
        );
        for row in rows {
            let includes = match row.includes.is_empty() {
                true => None,
                false => serde_json::to_string(&row.includes).ok(),
            };
            let values: [&dyn rusqlite::ToSql; 25] = [
                &key.agent,
                &key.id,
                &row.event.to_string(),
                &row.key,
                &row.own,
                &row.thread.as_str(),
                &row.ts.map(Timestamp::as_millis),
                &row.cwd,
                &row.provider,
                &row.model,
                &row.tier,
                &row.input.cast_signed(),
                &row.cache_write_5m.cast_signed(),
                &row.cache_write_1h.cast_signed(),
                &row.cache_write_unsplit.cast_signed(),
                &row.cache_read.cast_signed(),
                &row.output.cast_signed(),
                &row.reasoning.cast_signed(),
                &row.web_searches.cast_signed(),
                &row.calls.cast_signed(),
                &includes,
                &name(&row.kind),
                &name(&row.exactness),
                &row.text_bytes.cast_signed(),
                &row.reported_cost_nano,
            ];
            self.run(&text, values)?;
        }
        Ok(())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<(SessionKey, LedgerRow)> {
    let count = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
    let includes: Option<String> = row.get(20)?;
    let key = SessionKey { agent: row.get(0)?, id: row.get(1)? };
    let ledger = LedgerRow {
        event: text(row, 2)?.parse().map_err(|error| unreadable(2, error))?,
        key: row.get(3)?,
        own: row.get(4)?,
        thread: Thread::sub(row.get::<_, String>(5)?),
        ts: row.get::<_, Option<i64>>(6)?.and_then(Timestamp::from_millis),
        cwd: row.get(7)?,
        provider: row.get(8)?,
        model: row.get(9)?,
        tier: row.get(10)?,
        input: count(11)?,
        cache_write_5m: count(12)?,
        cache_write_1h: count(13)?,
        cache_write_unsplit: count(14)?,
        cache_read: count(15)?,
        output: count(16)?,
        reasoning: count(17)?,
        web_searches: count(18)?,
        calls: count(19)?,
        includes: includes.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        kind: named(21, text(row, 21)?)?,
        exactness: named(22, text(row, 22)?)?,
        text_bytes: count(23)?,
        reported_cost_nano: row.get(24)?,
    };
    Ok((key, ledger))
}
