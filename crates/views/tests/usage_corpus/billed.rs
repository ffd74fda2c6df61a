//! What the model server billed: a line of its ledger, and the fields in which
//! it can differ from a row of ours.

use retro_model::LedgerRow;
use serde_json::Value;

/// A field that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// The session or sub-agent thread that the answer belongs to.
    Session,
    Model,
    /// How many answers the figures are the sum of.
    Calls,
    Input,
    CacheWrite5m,
    CacheWrite1h,
    /// Written to a cache whose life is not told. No server bills this.
    CacheWriteUnsplit,
    CacheRead,
    Output,
    Reasoning,
}

/// An answer, in all fields that are compared. Ours and the server's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Figures {
    pub(crate) session: String,
    pub(crate) model: String,
    pub(crate) calls: u64,
    pub(crate) input: u64,
    pub(crate) cache_write_5m: u64,
    pub(crate) cache_write_1h: u64,
    pub(crate) cache_write_unsplit: u64,
    pub(crate) cache_read: u64,
    pub(crate) output: u64,
    pub(crate) reasoning: u64,
}

impl Figures {
    pub(crate) fn of_row(session: &str, row: &LedgerRow) -> Figures {
        Figures {
            session: session.to_owned(),
            model: row.model.clone().unwrap_or_default(),
            calls: row.calls,
            input: row.tokens.input,
            cache_write_5m: row.tokens.cache_write_5m,
            cache_write_1h: row.tokens.cache_write_1h,
            cache_write_unsplit: row.tokens.cache_write_unsplit,
            cache_read: row.tokens.cache_read,
            output: row.tokens.output,
            reasoning: row.tokens.reasoning,
        }
    }

    /// Everything written to a cache.
    pub(crate) fn cache_write(&self) -> u64 {
        self.cache_write_5m + self.cache_write_1h + self.cache_write_unsplit
    }

    /// Whether nothing was billed.
    pub(crate) fn is_nothing(&self) -> bool {
        self.input + self.cache_write() + self.cache_read + self.output + self.reasoning == 0
    }

    /// The fields in which two answers differ.
    pub(crate) fn differing(&self, other: &Figures) -> Vec<Field> {
        let fields = [
            (Field::Session, self.session != other.session),
            (Field::Model, self.model != other.model),
            (Field::Calls, self.calls != other.calls),
            (Field::Input, self.input != other.input),
            (Field::CacheWrite5m, self.cache_write_5m != other.cache_write_5m),
            (Field::CacheWrite1h, self.cache_write_1h != other.cache_write_1h),
            (Field::CacheWriteUnsplit, self.cache_write_unsplit != other.cache_write_unsplit),
            (Field::CacheRead, self.cache_read != other.cache_read),
            (Field::Output, self.output != other.output),
            (Field::Reasoning, self.reasoning != other.reasoning),
        ];
        fields.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
    }

    fn add(&mut self, other: &Figures) {
        self.calls += other.calls;
        self.input += other.input;
        self.cache_write_5m += other.cache_write_5m;
        self.cache_write_1h += other.cache_write_1h;
        self.cache_read += other.cache_read;
        self.output += other.output;
        self.reasoning += other.reasoning;
    }
}

/// A line of the server's ledger, or the lines of one turn together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Billed {
    /// Number of the line.
    pub(crate) n: u64,
    /// `main`, `side` or `compaction`: what the server was asked for.
    pub(crate) kind: String,
    /// What it answered, as HTTP counts.
    pub(crate) status: u64,
    /// Whether the answer reached the agent to its end.
    pub(crate) delivered: bool,
    /// The wire interface, where several were spoken.
    pub(crate) api: String,
    pub(crate) request_id: String,
    pub(crate) response_id: String,
    /// It is the last line of its session.
    pub(crate) is_last: bool,
    pub(crate) figures: Figures,
}

impl Billed {
    fn of(line: &Value) -> Billed {
        let count = |column: &str| line[column].as_u64().unwrap_or(0);
        let text = |column: &str| line[column].as_str().unwrap_or_default().to_owned();
        // A sub-agent of Codex is a thread of its own.
        let thread = line["thread_hint"].as_str().map_or_else(|| text("session_hint"), str::to_owned);
        Billed {
            n: count("n"),
            kind: text("kind"),
            status: line["status"].as_u64().or(line["http_status"].as_u64()).unwrap_or(200),
            delivered: line["delivered"] == true,
            api: text("api"),
            request_id: text("request_id"),
            response_id: text("response_id"),
            is_last: false,
            figures: Figures {
                session: thread,
                model: text("model"),
                calls: 1,
                input: count("input"),
                cache_write_5m: count("cache_write_5m"),
                cache_write_1h: count("cache_write_1h"),
                cache_write_unsplit: 0,
                cache_read: count("cache_read"),
                output: count("output"),
                reasoning: count("reasoning"),
            },
        }
    }

    /// Every line of a ledger. Over some interfaces a request does not tell its
    /// session; it is `only`, where there was no other.
    pub(crate) fn all(ledger: &str, only: Option<&str>) -> Vec<Billed> {
        let mut lines: Vec<Billed> =
            ledger.lines().map(|line| Billed::of(&serde_json::from_str(line).unwrap())).collect();
        for line in lines.iter_mut().filter(|line| line.figures.session.is_empty()) {
            line.figures.session = only.unwrap_or_default().to_owned();
        }
        for at in 0..lines.len() {
            let session = &lines[at].figures.session;
            lines[at].is_last = !lines[at + 1..].iter().any(|later| later.figures.session == *session);
        }
        lines
    }

    /// Adds another line of the same turn.
    pub(crate) fn add(&mut self, other: &Billed) {
        self.figures.add(&other.figures);
    }
}
