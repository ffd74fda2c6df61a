//! The tables. Their number is raised with every change; an index of another
//! number is made again.

/// Number of these tables.
pub(super) const SCHEMA: u32 = 7;

/// Everything in the index but what search keeps for itself. Times are
/// milliseconds since 1970 unless their name says otherwise.
pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS places (
    path BLOB PRIMARY KEY, owner TEXT NOT NULL, stamp BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS sources (
    agent TEXT NOT NULL, session TEXT NOT NULL, source TEXT NOT NULL, revision INTEGER NOT NULL,
    kind TEXT NOT NULL, format TEXT NOT NULL, end INTEGER NOT NULL, line_end INTEGER NOT NULL,
    records INTEGER NOT NULL, parser_version INTEGER NOT NULL, state BLOB NOT NULL, tail_hash BLOB NOT NULL,
    facts TEXT NOT NULL,
    PRIMARY KEY (agent, session, source, revision)
);

CREATE TABLE IF NOT EXISTS sessions (
    agent TEXT NOT NULL, id TEXT NOT NULL, title TEXT, title_rank TEXT, project TEXT, cwd TEXT, branch TEXT,
    started_at INTEGER, ended_at INTEGER, parent TEXT, bytes INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    links TEXT NOT NULL, limits TEXT,
    PRIMARY KEY (agent, id)
);

CREATE TABLE IF NOT EXISTS stages (
    agent TEXT NOT NULL, session TEXT NOT NULL, stage TEXT NOT NULL, version INTEGER NOT NULL, input TEXT NOT NULL,
    PRIMARY KEY (stage, agent, session)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS turns (
    agent TEXT NOT NULL, session TEXT NOT NULL, identity TEXT NOT NULL, place TEXT NOT NULL, event TEXT NOT NULL,
    thread TEXT NOT NULL, ts INTEGER, text TEXT,
    PRIMARY KEY (agent, session, identity)
);

CREATE TABLE IF NOT EXISTS ledgers (
    agent TEXT NOT NULL, session TEXT NOT NULL, count INTEGER NOT NULL, head BLOB NOT NULL, rows BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS ledgers_by_session ON ledgers (agent, session);

CREATE TABLE IF NOT EXISTS cells (stamp TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS failures (
    path BLOB PRIMARY KEY, agent TEXT NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL
) WITHOUT ROWID;
";
