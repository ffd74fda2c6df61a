//! Made-up months of work, for tests of memory: three repositories, three agents, errors that come
//! back, rules that the user repeats, commands that change, and old items that are wrong by now.
//! The story defines which memory each session should get.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use retro_model::Timestamp;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::script::Script;
use crate::{AGENTS, Agent};

/// The memory that a prompt should get.
#[derive(Clone, PartialEq, Debug)]
enum Truth {
    /// A memory that contains this text.
    Says(&'static str),
    /// No memory at all.
    Nothing,
}

/// The sessions that were written, and the memory that each should get.
pub struct Months {
    home: PathBuf,
    /// Number of sessions written.
    pub made: u32,
    day: u32,
    truths: BTreeMap<String, Truth>,
    seed: u64,
}

/// The result of comparing shown memories with the truth.
#[derive(Debug, Default)]
pub struct Judged {
    /// Sessions that should have got a memory.
    pub wanted: usize,
    /// Of these, the sessions that got it.
    pub found: usize,
    /// Sessions that got an unrelated memory.
    pub wrong: usize,
    /// The misses and errors, one per line.
    pub said: String,
}

/// An error and its fix: command, error, fix, prompts.
const ERRORS: &[(&str, &str, &str, &[&str])] = &[
    (
        "npm run build",
        "Error: Cannot find module 'sharp'",
        "$ npm install sharp --ignore-scripts",
        &[
            "the build dies with Cannot find module 'sharp'",
            "again: Error: Cannot find module 'sharp' when I build",
        ],
    ),
    (
        "pytest -q tests/api",
        "ModuleNotFoundError: No module named 'psycopg'",
        "$ pip install psycopg[binary]",
        &[
            "pytest says ModuleNotFoundError: No module named 'psycopg'",
            "No module named 'psycopg' again, please look",
        ],
    ),
    (
        "cargo build --workspace",
        "error: failed to run custom build command for `openssl-sys v0.9.99`",
        "$ sudo apt-get install -y libssl-dev",
        &[
            "build fails: failed to run custom build command for `openssl-sys`",
            "openssl-sys custom build command fails on this box too",
        ],
    ),
    (
        "docker compose up -d",
        "Error response from daemon: driver failed programming external connectivity: port 5432 is already allocated",
        "$ systemctl stop postgresql",
        &[
            "compose up fails, port 5432 is already allocated",
            "driver failed programming external connectivity on 5432",
        ],
    ),
    (
        "go test ./internal/store",
        "store_test.go:18: dial tcp 127.0.0.1:6379: connect: connection refused",
        "$ docker start redis-test",
        &[
            "the store tests get dial tcp 127.0.0.1:6379: connect: connection refused",
            "connection refused on 6379 in the store tests",
        ],
    ),
    (
        "npx tsc --noEmit -p web",
        "web/src/api.ts(12,7): error TS2307: Cannot find module './generated/client'",
        "$ make generate",
        &[
            "tsc: error TS2307: Cannot find module './generated/client'",
            "TS2307 for generated/client came back",
        ],
    ),
];

/// A rule: its subject, the first and the later wording of the user, and tasks where it matters.
const RULES: &[(&str, &str, &str, &[&str])] = &[
    (
        "date-fns",
        "No, don't use moment, use date-fns instead.",
        "use date-fns, not moment",
        &[
            "Add a date picker to the order form",
            "Add a date filter to the orders page",
            "Format the delivery date on the receipt",
        ],
    ),
    (
        "pnpm",
        "no, use pnpm instead of npm here",
        "pnpm please, use pnpm, not npm",
        &[
            "Add the package zod to the web app",
            "Add the package lodash-es to the web app",
            "Install eslint-plugin-import",
        ],
    ),
    (
        "unwrap",
        "Never use unwrap in this crate, use the error type.",
        "don't use unwrap, use the error type",
        &["Write a parser for the price list", "Write a loader for the price file", "Parse the tax table"],
    ),
    (
        "tenacity",
        "No, don't use time.sleep loops. Use tenacity instead, we always use tenacity for retries in this repo.",
        "use tenacity instead of time.sleep",
        &[
            "Make the payment client retry on network errors",
            "Retry the shipping client on timeouts",
            "Make the mail client retry",
        ],
    ),
];

/// A command that is replaced: the first one, its later error, the one that works now.
const COMMANDS: &[(&str, &str, &str)] = &[
    (
        "make test-all JOBS=4",
        "make: *** No rule to make target 'test-all'.  Stop.",
        "just test --all-features",
    ),
    ("yarn run test:unit --ci", "error Command \"test:unit\" not found.", "pnpm vitest run --project unit"),
];

/// Tasks that no memory is about.
const TASKS: &[&str] = &[
    "Rename the header component and its stylesheet",
    "Explain how the checkout page loads its prices",
    "Make the logo larger on small screens",
    "Write a paragraph about refunds for the handbook",
    "Move the settings dialog into its own module",
    "Why does the sidebar flicker when it opens?",
    "Translate the empty basket message into Dutch",
    "Sort the invoice list by customer name",
    "Remove the unused avatar images",
    "Draw the architecture of the shipping service",
    "Give the admin table sticky column heads",
    "Say what the webhook signature protects against",
];

impl Months {
    /// Writes all sessions below a home.
    pub fn write(home: &Path) -> Months {
        let mut months = Months { home: home.to_owned(), made: 0, day: 0, truths: BTreeMap::new(), seed: 7 };
        months.tell();
        months
    }

    /// Compares with the truth. `shown` gives the texts that a session got.
    pub fn judge(&self, shown: impl Fn(&str) -> Vec<String>) -> Judged {
        let mut judged = Judged::default();
        for (session, truth) in &self.truths {
            let texts = shown(session);
            match truth {
                Truth::Says(what) => {
                    judged.wanted += 1;
                    let found = texts.iter().any(|text| text.contains(what));
                    judged.found += usize::from(found);
                    if !found {
                        let _ = writeln!(judged.said, "missed {what}: {texts:?}");
                    }
                }
                Truth::Nothing if !texts.is_empty() => {
                    judged.wrong += 1;
                    let _ = writeln!(judged.said, "wrong in {session}: {texts:?}");
                }
                Truth::Nothing => {}
            }
        }
        judged
    }

    fn random(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize % below
    }

    /// Writes a session: a prompt with its truth, then its steps. It has enough other steps to
    /// count as real work.
    fn session(&mut self, repo: &str, prompt: &str, truth: Truth, body: &str) {
        self.made += 1;
        self.day += 1;
        let id = format!("019ca8d7-2d00-7000-8000-{:012}", self.made);
        let at =
            Timestamp::parse("2026-01-01T09:00:00Z").unwrap().as_millis() + i64::from(self.day) * 43_200_000;
        let time = Timestamp::from_millis(at).unwrap();
        let mut text = format!(
            "@ session {id}\n@ cwd /home/dev/{repo}\n@ branch main\n@ time {time}\n@ model m-large\n> {prompt}\n"
        );
        for step in 0..7 {
            let _ = write!(text, ": src/part{}.txt\n| line {step}\n", (self.made + step) % 90);
        }
        text.push_str(body);
        for step in 0..3 {
            let _ = write!(text, "~ notes/day{}.txt\n- old {step}\n+ new {step}\n", self.made);
        }
        text.push_str("< That is done.\n");
        let agent: &dyn Agent = AGENTS[self.random(AGENTS.len())];
        for (path, bytes) in agent.write(&Script::parse(&text).unwrap()) {
            let path = self.home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        self.truths.insert(id, truth);
    }

    fn error(&mut self, repo: &str, which: usize, time: usize) {
        let (command, error, fix, prompts) = ERRORS[which];
        let (prompt, truth) = match time {
            0 => (format!("Get `{}` going", command.split(' ').next().unwrap()), Truth::Nothing),
            time => {
                (prompts[(time - 1) % prompts.len()].to_owned(), Truth::Says(fix.strip_prefix("$ ").unwrap()))
            }
        };
        let body = format!("$ {command}\n| {error}\n! 1\n{fix}\n| ok\n$ {command}\n| ok\n");
        self.session(repo, &prompt, truth, &body);
    }

    fn rule(&mut self, repo: &str, which: usize, time: usize) {
        let (name, first, later, tasks) = RULES[which];
        let truth = if time == 0 { Truth::Nothing } else { Truth::Says(name) };
        let said = if time == 0 { first } else { later };
        let body = format!(
            "~ src/work.txt\n- a\n+ b\n< I did it my way.\n> {said}\n~ src/work.txt\n- b\n+ c\n< Changed.\n"
        );
        self.session(repo, tasks[time % tasks.len()], truth, &body);
    }

    fn command(&mut self, repo: &str, which: usize, time: usize) {
        let (old, error, new) = COMMANDS[which];
        let (truth, body) = match time {
            0 => (Truth::Nothing, format!("$ {old}\n| 12 passed\n$ {old}\n| 12 passed\n")),
            1 => (Truth::Says(old), format!("$ {old}\n| 13 passed\n$ {old}\n| 13 passed\n")),
            // The command no longer works. A memory of it is wrong here, and nothing could have
            // shown that.
            2 => (
                Truth::Says(old),
                format!("$ {old}\n| {error}\n! 2\n$ {new}\n| 14 passed\n$ {new}\n| 14 passed\n"),
            ),
            _ => (Truth::Says(new), format!("$ {new}\n| 15 passed\n$ {new}\n| 15 passed\n")),
        };
        self.session(repo, "Run the tests and tell me what is red", truth, &body);
    }

    fn noise(&mut self, repo: &str) {
        let task = TASKS[self.random(TASKS.len())];
        self.session(repo, task, Truth::Nothing, "$ ls src\n| part1.txt\n");
    }

    /// Writes everything, over about eight months.
    fn tell(&mut self) {
        let repos = ["shop", "billing", "portal"];
        let mut events: Vec<(u8, usize, usize)> = Vec::new();
        for time in 0..4 {
            (0..ERRORS.len()).for_each(|which| events.push((0, which, time)));
            (0..RULES.len()).for_each(|which| events.push((1, which, time)));
            (0..COMMANDS.len()).for_each(|which| events.push((2, which, time)));
        }
        for (kind, which, time) in events {
            let repo = repos[which % repos.len()];
            for _ in 0..3 {
                let other = repos[self.random(repos.len())];
                self.noise(other);
            }
            match kind {
                0 => self.error(repo, which, time),
                1 => self.rule(repo, which, time),
                _ => self.command(repo, which, time),
            }
        }
        for _ in 0..20 {
            let repo = repos[self.random(repos.len())];
            self.noise(repo);
        }
    }
}
