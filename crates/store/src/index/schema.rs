//! The tables. Their number is raised with every change; an index with an older
//! number is rebuilt.

/// Number of these tables.
pub(super) const SCHEMA: u32 = 16;

/// Everything in the index but what search keeps for itself. Times are
/// milliseconds since 1970 unless their name says otherwise. Tables with many rows a session
/// have the number of `keys` for it: agent and id in each row and index took a third of them.
pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS places (
    path BLOB PRIMARY KEY, owner TEXT NOT NULL, stamp BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS places_by_owner ON places (owner);

CREATE TABLE IF NOT EXISTS sources (
    agent TEXT NOT NULL, session TEXT NOT NULL, source TEXT NOT NULL, revision INTEGER NOT NULL,
    kind TEXT NOT NULL, format TEXT NOT NULL, end INTEGER NOT NULL, line_end INTEGER NOT NULL,
    records INTEGER NOT NULL, parser_version INTEGER NOT NULL, state BLOB NOT NULL, tail_hash BLOB NOT NULL,
    facts BLOB NOT NULL, seal INTEGER NOT NULL,
    PRIMARY KEY (agent, session, source, revision)
);

CREATE TABLE IF NOT EXISTS sessions (
    number INTEGER PRIMARY KEY, agent TEXT NOT NULL, id TEXT NOT NULL, title TEXT, title_rank TEXT, project TEXT, cwd TEXT, branch TEXT,
    started_at INTEGER, ended_at INTEGER, parent TEXT, bytes INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    links TEXT NOT NULL, limits TEXT, content TEXT NOT NULL, disk_bytes INTEGER NOT NULL, changed INTEGER NOT NULL,
    pieces INTEGER NOT NULL, text_bytes INTEGER NOT NULL,
    UNIQUE (agent, id)
);
CREATE INDEX IF NOT EXISTS sessions_by_change ON sessions (changed);
CREATE INDEX IF NOT EXISTS sessions_by_parent ON sessions (agent, parent) WHERE parent IS NOT NULL;

CREATE TABLE IF NOT EXISTS keys (
    session INTEGER PRIMARY KEY, agent TEXT NOT NULL, id TEXT NOT NULL, UNIQUE (agent, id)
);

CREATE TABLE IF NOT EXISTS turns (
    session INTEGER NOT NULL, event TEXT NOT NULL, thread TEXT NOT NULL, number INTEGER NOT NULL,
    started_at INTEGER, ended_at INTEGER, last TEXT NOT NULL, events INTEGER NOT NULL, live INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    PRIMARY KEY (session, event)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS turns_by_change ON turns (changed);
CREATE INDEX IF NOT EXISTS turns_by_thread ON turns (session, thread, number);

CREATE TABLE IF NOT EXISTS passages (
    number INTEGER PRIMARY KEY, session INTEGER NOT NULL, event TEXT NOT NULL, thread TEXT NOT NULL,
    line INTEGER NOT NULL, turn INTEGER NOT NULL, first INTEGER NOT NULL, pieces INTEGER NOT NULL,
    text_bytes INTEGER NOT NULL, live INTEGER NOT NULL, at INTEGER, hash INTEGER NOT NULL, body BLOB NOT NULL,
    changed INTEGER NOT NULL,
    UNIQUE (session, line, first)
);
CREATE INDEX IF NOT EXISTS passages_by_change ON passages (changed);
CREATE INDEX IF NOT EXISTS passages_by_time ON passages (at, session);
CREATE INDEX IF NOT EXISTS passages_dead ON passages (number) WHERE live = 0;

CREATE TABLE IF NOT EXISTS touches (
    session INTEGER NOT NULL, event TEXT NOT NULL, thread TEXT NOT NULL, turn INTEGER NOT NULL,
    path TEXT NOT NULL, name TEXT NOT NULL, writes INTEGER NOT NULL, added INTEGER, removed INTEGER, at INTEGER,
    failed INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS touches_by_session ON touches (session);
CREATE INDEX IF NOT EXISTS touches_by_name ON touches (name);

CREATE TABLE IF NOT EXISTS repairs (
    session INTEGER NOT NULL, event TEXT NOT NULL, fingerprint TEXT NOT NULL, at INTEGER,
    fixed INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS repairs_by_session ON repairs (session);
CREATE INDEX IF NOT EXISTS repairs_by_fingerprint ON repairs (fingerprint);
CREATE INDEX IF NOT EXISTS repairs_by_time ON repairs (at);

CREATE TABLE IF NOT EXISTS repair_errors (
    session INTEGER NOT NULL, event TEXT NOT NULL, fingerprint TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS repair_errors_by_session ON repair_errors (session);
CREATE INDEX IF NOT EXISTS repair_errors_by_fingerprint ON repair_errors (fingerprint);

CREATE TABLE IF NOT EXISTS removed_passages (number INTEGER PRIMARY KEY, changed INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS removed_passages_by_change ON removed_passages (changed);
CREATE TABLE IF NOT EXISTS openers (
    session INTEGER NOT NULL, event TEXT NOT NULL, native BLOB NOT NULL, leaf BLOB,
    own INTEGER NOT NULL, started_at INTEGER, copied_from TEXT
);
CREATE INDEX IF NOT EXISTS openers_by_session ON openers (session);
CREATE INDEX IF NOT EXISTS openers_by_native ON openers (native);
CREATE INDEX IF NOT EXISTS openers_by_leaf ON openers (leaf) WHERE leaf IS NOT NULL;

CREATE TABLE IF NOT EXISTS names (
    agent TEXT NOT NULL, holder TEXT NOT NULL, of TEXT NOT NULL, is_leaf INTEGER NOT NULL, title TEXT NOT NULL,
    PRIMARY KEY (agent, holder, of)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS removed (
    agent TEXT NOT NULL, session TEXT NOT NULL, event TEXT NOT NULL, changed INTEGER NOT NULL,
    PRIMARY KEY (agent, session, event)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS removed_by_change ON removed (changed);

CREATE TABLE IF NOT EXISTS stages (
    session INTEGER NOT NULL, stage TEXT NOT NULL, stamp BLOB NOT NULL, output BLOB NOT NULL,
    seal INTEGER NOT NULL, changed INTEGER NOT NULL,
    PRIMARY KEY (session, stage)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS stages_by_change ON stages (stage, changed);

CREATE TABLE IF NOT EXISTS due (
    agent TEXT NOT NULL, session TEXT NOT NULL, stage TEXT NOT NULL, at INTEGER NOT NULL, behind INTEGER NOT NULL,
    PRIMARY KEY (agent, session, stage)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS due_by_time ON due (at);
CREATE INDEX IF NOT EXISTS due_behind ON due (stage) WHERE behind = 1;

CREATE TABLE IF NOT EXISTS ledgers (
    agent TEXT NOT NULL, session TEXT NOT NULL, count INTEGER NOT NULL, head BLOB NOT NULL, rows BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS ledgers_by_session ON ledgers (agent, session);

CREATE TABLE IF NOT EXISTS cells (stamp TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS bodies (
    session INTEGER NOT NULL, name TEXT NOT NULL, part TEXT NOT NULL, body BLOB, changed INTEGER NOT NULL,
    PRIMARY KEY (session, name, part)
);
CREATE INDEX IF NOT EXISTS bodies_by_change ON bodies (name, changed);

CREATE TABLE IF NOT EXISTS memories (number INTEGER PRIMARY KEY, id TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS memory_terms (term TEXT PRIMARY KEY, list BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS memory_values (name TEXT PRIMARY KEY, value BLOB NOT NULL);

CREATE TABLE IF NOT EXISTS failures (
    path BLOB PRIMARY KEY, agent TEXT NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL
) WITHOUT ROWID;
";
