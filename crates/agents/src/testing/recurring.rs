//! Made-up weeks of work with known recurrences: problems of each type in other paths, ports,
//! versions and wordings, in one agent and in two, solved and unsolved, and successes. Between them
//! are errors that come once, exploration, and checks that a program requests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use retro_model::Timestamp;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::AGENTS;
use crate::script::Script;

/// A recurrence in the story.
#[derive(Debug, Clone)]
pub struct Planted {
    /// A name for messages of the test.
    pub name: &'static str,
    /// The detector that should find it.
    pub kind: &'static str,
    /// The sessions that contain it.
    pub sessions: Vec<String>,
    /// Words of the solution. `None` if it is unsolved.
    pub solved: Option<&'static str>,
}

/// The sessions that were written, and the recurrences in them.
pub struct Recurring {
    home: PathBuf,
    /// Number of sessions written.
    pub made: u32,
    /// The recurrences in them.
    pub planted: Vec<Planted>,
}

/// The result of comparing candidates with the planted recurrences.
#[derive(Debug, Default)]
pub struct Matched {
    /// Recurrences that were planted and found.
    pub found: usize,
    /// Recurrences that were found more than once.
    pub twice: usize,
    /// Solved recurrences whose candidate names the solution.
    pub solved: usize,
    /// Recurrences that were planted with a solution.
    pub solvable: usize,
    /// Candidates that were not planted.
    pub noise: usize,
    /// The misses and the noise, one per line.
    pub said: String,
}

/// A candidate for the comparison: its title, sessions and solutions.
pub type Candidate = (String, Vec<String>, Vec<String>);

/// Errors: name, command, the line in each session, the solution if there is one.
type Fault = (&'static str, &'static str, &'static [&'static str], Option<&'static str>);

const FAULTS: &[Fault] = &[
    (
        "port in use",
        "npm run dev",
        &[
            "Error: listen EADDRINUSE: address already in use :::3000",
            "Error: listen EADDRINUSE: address already in use 127.0.0.1:5173",
            "OSError: [Errno 98] Address already in use",
            "bind: address already in use (port 8080)",
        ],
        Some("$ fuser -k 3000/tcp"),
    ),
    (
        "library missing",
        "cargo build --release",
        &[
            "error: failed to run custom build command for `openssl-sys v0.9.99`",
            "error: failed to run custom build command for `openssl-sys v0.9.102`",
            "error: failed to run custom build command for `openssl-sys v0.9.103 (/srv/reg/openssl-sys)`",
        ],
        Some("$ sudo apt-get install -y libssl-dev"),
    ),
    (
        "generated client missing",
        "npx tsc --noEmit -p web",
        &[
            "web/src/api.ts(12,7): error TS2307: Cannot find module './generated/client'",
            "portal/src/main.ts(3,1): error TS2307: Cannot find module './generated/client'",
        ],
        Some("$ make generate"),
    ),
    (
        "migration lock",
        "alembic upgrade head",
        &[
            "sqlalchemy.exc.OperationalError: lock timeout while waiting for relation alembic_version",
            "sqlalchemy.exc.OperationalError: lock timeout while waiting for relation alembic_version",
            "sqlalchemy.exc.OperationalError: lock timeout while waiting for relation alembic_version",
        ],
        None,
    ),
    (
        "token expired",
        "terraform plan -out=/tmp/plan",
        &[
            "Error: error configuring provider: the security token included in the request is expired",
            "Error: error configuring provider: the security token included in the request is expired",
        ],
        Some("$ aws sso login --profile staging"),
    ),
    (
        "pnpm store",
        "pnpm install --frozen-lockfile",
        &[
            " ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with frozen-lockfile because pnpm-lock.yaml is not up to date with package.json",
            " ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with frozen-lockfile because pnpm-lock.yaml is not up to date with apps/web/package.json",
        ],
        Some("$ pnpm install --no-frozen-lockfile"),
    ),
];

/// Corrections: name, and the user's words in each session.
const SAID: &[(&str, &[&str])] = &[
    (
        "date library",
        &[
            "No, don't use moment, use date-fns instead.",
            "use date-fns, not moment",
            "I said date-fns! Never use moment here.",
            "no, moment is wrong here, we use date-fns",
        ],
    ),
    (
        "no mocks",
        &[
            "no, don't mock the database in these tests, use the real database container",
            "stop, never mock the database here, run the real database container",
            "I told you not to mock the database, use the database container instead",
        ],
    ),
    (
        "changelog",
        &[
            "No, you forgot the changelog entry again, always write one in CHANGELOG.md",
            "no, you forgot CHANGELOG.md, never skip the changelog entry",
        ],
    ),
];

impl Recurring {
    /// Writes the whole story below a home.
    pub fn write(home: &Path) -> Recurring {
        let mut story = Recurring::empty(home);
        story.tell();
        story
    }

    /// Before the first session.
    pub(super) fn empty(home: &Path) -> Recurring {
        Recurring { home: home.to_owned(), made: 0, planted: Vec::new() }
    }

    /// Compares what was found with what is there.
    pub fn judge(&self, found: &[Candidate]) -> Matched {
        let mut matched = Matched::default();
        let mut is_used = vec![false; found.len()];
        for planted in &self.planted {
            let of = |(_, sessions, _): &Candidate| {
                let own = sessions.iter().filter(|id| planted.sessions.contains(id)).count();
                own * 2 > sessions.len() && own * 2 >= planted.sessions.len()
            };
            let fits: Vec<usize> = (0..found.len()).filter(|at| of(&found[*at])).collect();
            fits.iter().for_each(|at| is_used[*at] = true);
            match fits.as_slice() {
                [] => writeln!(matched.said, "missed: {} ({})", planted.name, planted.kind).unwrap(),
                [_] => matched.found += 1,
                more => {
                    matched.found += 1;
                    matched.twice += 1;
                    for at in more {
                        writeln!(matched.said, "several: {}: {}", planted.name, found[*at].0).unwrap();
                    }
                }
            }
            if let Some(words) = planted.solved {
                matched.solvable += 1;
                let is_named = fits.iter().any(|at| found[*at].2.iter().any(|text| text.contains(words)));
                matched.solved += usize::from(is_named);
                if !is_named {
                    writeln!(matched.said, "not solved: {}", planted.name).unwrap();
                }
            }
        }
        for (at, (title, sessions, _)) in found.iter().enumerate() {
            if !is_used[at] {
                matched.noise += 1;
                writeln!(matched.said, "noise: {title} {sessions:?}").unwrap();
            }
        }
        matched
    }

    pub(super) fn session(&mut self, agent: usize, repo: &str, prompt: &str, body: &str) -> String {
        self.made += 1;
        let id = format!("{:08x}-7777-4777-8777-7777777777{:02x}", self.made, self.made % 256);
        let start = Timestamp::parse("2026-02-01T09:00:00Z").unwrap().as_millis();
        let at = Timestamp::from_millis(start + i64::from(self.made) * 18_000_000).unwrap();
        let mut script = format!("@ session {id}\n@ cwd /home/dev/{repo}\n@ time {at}\n> {prompt}\n");
        // Enough steps before it, so that every session counts as real work.
        for page in 0..7 {
            write!(script, ": docs/page{}.md\n| line {page}\n", self.made * 7 + page).unwrap();
        }
        script.push_str(body);
        let agent = AGENTS
            .iter()
            .filter(|known| ["claude", "codex", "grok"].contains(&known.name()))
            .nth(agent % 3)
            .unwrap();
        for (path, bytes) in agent.write(&Script::parse(&script).expect("a script")) {
            let path = self.home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        id
    }

    pub(super) fn plant(
        &mut self,
        name: &'static str,
        kind: &'static str,
        sessions: Vec<String>,
        solved: Option<&'static str>,
    ) {
        let solved = solved.map(|text| text.strip_prefix("$ ").unwrap_or(text));
        self.planted.push(Planted { name, kind, sessions, solved });
    }

    /// Writes all sessions of the story.
    fn tell(&mut self) {
        let repos = ["shop", "billing", "portal", "ledger"];
        for (at, (name, command, lines, fix)) in FAULTS.iter().enumerate() {
            let mut ids = Vec::new();
            for (time, line) in lines.iter().enumerate() {
                let repo = repos[(at + time) % repos.len()];
                let prompt = format!("Please get part {at}{time} of the {repo} release over the line today");
                let again = format!("$ {command}\n| {line}\n! 1\n");
                let mended = fix.map_or(String::new(), |fix| format!("{fix}\n| done\n$ {command}\n| ok\n"));
                let body = format!(
                    "{}{again}{mended}{}< As far as it goes.\n",
                    work(at * 10 + time),
                    again.repeat(usize::from(fix.is_none()))
                );
                ids.push(self.session(at + time, repo, &prompt, &body));
                self.noise(time + at * 3);
            }
            self.plant(name, "recurring_error", ids, *fix);
        }
        for (at, (name, said)) in SAID.iter().enumerate() {
            let mut ids = Vec::new();
            for (time, said) in said.iter().enumerate() {
                let repo = repos[(at + time) % repos.len()];
                let prompt = format!("Write module number {at}{time} for {repo}, with its own page of notes");
                let body = format!(
                    "{}< I did it my way.\n> {said}\n~ src/m{at}{time}.txt\n- b\n+ c\n< Changed.\n",
                    work(100 + at * 10 + time)
                );
                ids.push(self.session(at + time, repo, &prompt, &body));
                self.noise(40 + time + at * 3);
            }
            self.plant(name, "correction_repeated", ids, None);
        }
        self.storms();
        self.loops();
        self.tools();
        self.whole_sessions();
        for at in 0..30 {
            self.noise(100 + at);
        }
    }

    fn storms(&mut self) {
        let mut ids = Vec::new();
        for time in 0..3 {
            let storm = "$ ./scripts/deploy.sh staging\n! 7\n".repeat(4);
            let fix = "$ ./scripts/unlock.sh staging\n| unlocked\n$ ./scripts/deploy.sh staging\n| ok\n";
            let prompt = format!("Bring build {time} to staging and say when it is there");
            ids.push(self.session(
                time,
                "shop",
                &prompt,
                &format!("{}{storm}{fix}< It is there.\n", work(200 + time)),
            ));
        }
        self.plant("deploy storm", "retry_storm", ids, Some("$ ./scripts/unlock.sh staging"));
    }

    fn loops(&mut self) {
        let mut ids = Vec::new();
        for time in 0..3 {
            let mut body = work(300 + time);
            for round in 0..4 {
                write!(body, "~ src/rounding.py\n- a{round}\n+ b{round}\n$ pytest -q tests/test_rounding.py\n| E       assert {round} == {}\n| 1 failed\n! 1\n", round + time + 1).unwrap();
            }
            body.push_str("~ src/rounding.py\n- x\n+ y\n$ pytest -q tests/test_rounding.py\n| 1 passed\n< Passes now.\n");
            ids.push(self.session(
                time,
                "billing",
                &format!("Correct the rounding of bill {time} to two digits"),
                &body,
            ));
        }
        self.plant("rounding loop", "rework_loop", ids, None);
    }

    fn tools(&mut self) {
        let (mut thrash, mut infra, mut schema) = (Vec::new(), Vec::new(), Vec::new());
        for time in 0..3 {
            let body = format!(
                "{}$ npm install\n| lifecycle script broke\n! 1\n$ yarn install\n| lifecycle script broke\n! 1\n$ bun install\n| installed\n~ package.json\n- a{time}\n+ b{time}\n< Done.\n",
                work(400 + time)
            );
            thrash.push(self.session(
                time,
                "portal",
                &format!("Add the charting package {time} to the front page"),
                &body,
            ));
            let infra_calls = "$ docker compose up -d\n| started\n$ docker compose ps\n| up\n$ docker compose restart db\n| ok\n$ docker logs db\n| ready\n$ docker compose down\n| ok\n$ docker compose up -d\n| started\n$ docker exec db true\n| ok\n";
            infra.push(self.session(
                time,
                "ledger",
                &format!("Rename the field amount to total in report {time}"),
                &format!("{infra_calls}~ src/report{time}.txt\n- amount\n+ total\n< Renamed.\n"),
            ));
            let looks = "$ psql -c '\\d orders'\n| id bigint\n".repeat(6);
            schema.push(self.session(
                time,
                "shop",
                &format!("Write the query number {time} for late orders"),
                &format!("{looks}~ sql/late{time}.sql\n- a\n+ b\n< Written.\n"),
            ));
        }
        self.plant("package managers", "tool_thrash", thrash, Some("$ bun install"));
        self.plant("docker", "infra_overhead", infra, None);
        self.plant("orders table", "schema_thrash", schema, None);
    }

    fn whole_sessions(&mut self) {
        let (mut left, mut slow, mut clean) = (Vec::new(), Vec::new(), Vec::new());
        for (time, words) in [
            "Port the invoice renderer to the new template engine",
            "Move the invoice renderer over to the new template engine please",
            "The invoice renderer should use the new template engine, port it",
        ]
        .iter()
        .enumerate()
        {
            let body = format!(
                "{}: templates/invoice.html\n| <html>\n$ grep -rn render src\n| src/a.py:1\n^\n",
                work(500 + time)
            );
            left.push(self.session(time, "billing", words, &body));
            let mut body = String::new();
            for look in 0..26 {
                write!(body, ": lib/part{look}.ex\n| defmodule P{look}\n").unwrap();
            }
            write!(body, "~ lib/late{time}.ex\n- a\n+ b\n< Done.\n").unwrap();
            slow.push(self.session(
                time,
                "atlas",
                &format!("Change the label of button {time} on the start page"),
                &body,
            ));
            let body = format!(
                "~ src/page{time}.ts\n- a\n+ b\n$ npm run lint\n| ok\n$ npm test\n| Tests: 4 passed, 4 total\n$ git commit -am 'Page {time}'\n| [main abc123{time}] Page {time}\n< Done and tested.\n"
            );
            clean.push(self.session(
                time,
                "gallery",
                &format!("Add page {time} to the gallery, with its tests"),
                &body,
            ));
        }
        self.plant("invoice renderer", "abandoned", left, None);
        self.plant("atlas", "slow_start", slow, None);
        self.plant("gallery", "clean_pass", clean, None);
    }

    /// Writes steps that happen once, exploration, and checks that a program requests.
    fn noise(&mut self, at: usize) {
        let repo = ["shop", "billing", "portal", "ledger", "atlas"][at % 5];
        let (prompt, body) = match at % 4 {
            0 => {
                let kind = ["KeyError: 'tax'", "TypeError: total is not a function", "ValueError: bad day", "IndexError: list index out of range"][at / 4 % 4];
                (
                    format!("Handle case {at} of the import, there is a file in tmp that shows it"),
                    format!("{}$ python run_{at}.py\n| {kind} in step {at}\n! 1\n~ src/run_{at}.py\n- a\n+ b\n$ python run_{at}.py\n| ok\n< Handled.\n", work(600 + at)),
                )
            }
            1 => (
                format!("Where is setting number {at} read, and who else looks at it?"),
                format!("$ cat src/missing_{at}.toml\n| cat: src/missing_{at}.toml: No such file or directory\n! 1\n$ grep -rn setting_{at} src\n! 1\n$ ls conf\n| a.toml\n$ cat config/none.toml\n| cat: config/none.toml: No such file or directory\n! 1\n: conf/a.toml\n| x = 1\n$ which missing-tool\n! 1\n< It is read in a.toml.\n"),
            ),
            2 => (
                "Run the nightly health check and report what is not well".to_owned(),
                "$ curl -sf http://localhost:8080/health\n| curl: (7) Failed to connect to localhost port 8080: Connection refused\n! 7\n$ ./scripts/health.sh\n| health: cannot reach service orders, connection refused\n! 1\n$ ./scripts/health.sh --all\n| health: cannot reach service orders, connection refused\n! 1\n< The service is not well.\n".to_owned(),
            ),
            _ => (
                format!("Write the test for rule {at} first, then make it pass"),
                format!("~ tests/test_rule_{at}.py\n+ def test(): assert rule({at})\n$ pytest -q tests/test_rule_{at}.py\n| E       assert None\n| 1 failed\n! 1\n~ src/rule_{at}.py\n- a\n+ b\n$ pytest -q tests/test_rule_{at}.py\n| 1 passed\n< Passes.\n"),
            ),
        };
        self.session(at, repo, &prompt, &body);
    }
}

/// Some work in front, other in every session.
pub(super) fn work(seed: usize) -> String {
    let mut text = String::new();
    for at in 0..3 {
        write!(text, ": src/file_{seed}_{at}.txt\n| part {at}\n").unwrap();
    }
    write!(text, "~ src/work_{seed}.txt\n- before {seed}\n+ after {seed}\n").unwrap();
    text
}
