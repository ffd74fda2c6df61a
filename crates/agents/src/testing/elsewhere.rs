//! A second story of what recurs, in other languages, tools and words than the first: it was
//! written when the detectors were done, and they are judged by their first look at it.

use std::fmt::Write;
use std::path::Path;

use super::recurring::{Recurring, work};

/// Errors: name, command, the line in each session, what solves it as steps, words of that.
type Fault = (&'static str, &'static str, &'static [&'static str], &'static str, Option<&'static str>);

const FAULTS: &[Fault] = &[
    (
        "native gem",
        "bundle install",
        &[
            "An error occurred while installing nokogiri (1.15.4), and Bundler cannot continue.",
            "An error occurred while installing nokogiri (1.16.0), and Bundler cannot continue.",
            "An error occurred while installing nokogiri (1.16.2), and Bundler cannot continue.",
        ],
        "$ brew install libxml2\n| poured\n$ bundle install\n| Bundle complete!\n",
        Some("brew install libxml2"),
    ),
    (
        "submodule",
        "cmake -S . -B build",
        &[
            "CMake Error: The source directory /home/ana/viewer/third_party/fmt does not contain a CMakeLists.txt file.",
            "CMake Error: The source directory /srv/ci/viewer/third_party/fmt does not contain a CMakeLists.txt file.",
            "CMake Error: The source directory /home/kim/src/viewer/third_party/fmt does not contain a CMakeLists.txt file.",
        ],
        "$ git submodule update --init --recursive\n| Submodule path fmt: checked out\n$ cmake -S . -B build\n| -- Generating done\n",
        Some("git submodule update --init"),
    ),
    (
        "java version",
        "./gradlew assemble",
        &[
            "BUG! exception in phase 'semantic analysis' Unsupported class file major version 65",
            "BUG! exception in phase 'semantic analysis' Unsupported class file major version 66",
        ],
        "$ sdk use java 17.0.9-tem\n| Using java version 17.0.9-tem in this shell.\n$ ./gradlew assemble\n| BUILD SUCCESSFUL\n",
        Some("sdk use java 17"),
    ),
    (
        "compose plugin",
        "docker-compose up -d db",
        &[
            "bash: line 1: docker-compose: command not found",
            "zsh: command not found: docker-compose",
            "sh: 1: docker-compose: not found",
        ],
        "$ docker compose up -d db\n| Container db Started\n",
        Some("docker compose up -d db"),
    ),
    (
        "private module",
        "go build ./...",
        &[
            "go: reading https://proxy.golang.org/git.acme.test/kit/@v/v1.4.0.mod: 410 Gone",
            "go: reading https://proxy.golang.org/git.acme.test/kit/@v/v1.5.2.mod: 410 Gone",
        ],
        "$ go env -w GOPRIVATE=git.acme.test\n| \n$ go build ./...\n| \n",
        Some("GOPRIVATE=git.acme.test"),
    ),
    (
        "table missing",
        "php artisan db:seed",
        &[
            "SQLSTATE[42S02]: Base table or view not found: 1146 Table 'shop.parcels' does not exist",
            "SQLSTATE[42S02]: Base table or view not found: 1146 Table 'depot.carriers' does not exist",
            "SQLSTATE[42S02]: Base table or view not found: 1146 Table 'shop.stamps' does not exist",
        ],
        "$ php artisan migrate\n| Migrated: create tables\n$ php artisan db:seed\n| Seeded\n",
        Some("php artisan migrate"),
    ),
    (
        "certificate",
        "pip install -r requirements.txt",
        &[
            "SSLError: certificate verify failed: unable to get local issuer certificate (_ssl.c:1006)",
            "SSLError: certificate verify failed: unable to get local issuer certificate (_ssl.c:997)",
        ],
        "~ pip.conf\n+ cert = /etc/ssl/certs/acme.pem\n$ pip install -r requirements.txt\n| Successfully installed\n",
        Some("pip.conf"),
    ),
    (
        "state lock",
        "terraform apply -auto-approve",
        &[
            "Error: Error acquiring the state lock: ConditionalCheckFailedException",
            "Error: Error acquiring the state lock: ConditionalCheckFailedException",
            "Error: Error acquiring the state lock: ConditionalCheckFailedException",
        ],
        "",
        None,
    ),
    (
        "disk full",
        "docker build -t web .",
        &[
            "write /var/lib/docker/tmp/layer.tar: no space left on device",
            "ERROR: failed to copy files: write /usr/share/icons/a.svg: No space left on device",
            "OSError: [Errno 28] No space left on device",
        ],
        "$ docker system prune -af\n| Total reclaimed space: 41GB\n$ docker build -t web .\n| naming to docker.io/library/web\n",
        Some("docker system prune"),
    ),
    (
        "wrong folder",
        "dotnet run",
        &[
            "Could not find a project to run. Ensure a project exists in /home/ana/api, or pass the path using --project.",
            "Could not find a project to run. Ensure a project exists in /srv/kim/api, or pass the path using --project.",
        ],
        "$ dotnet run --project src/Api\n| Now listening\n",
        Some("--project src/Api"),
    ),
];

/// Corrections: name, and what the person says in each session.
const SAID: &[(&str, &[&str])] = &[
    (
        "branches",
        &[
            "No, don't commit to main, always make a branch first.",
            "you committed to main again, never do that, make a branch",
            "stop committing straight to main! use a branch",
        ],
    ),
    (
        "spelling",
        &[
            "no, use British spelling in all texts: colour, not color",
            "That's wrong, we use British spelling here, please write colour instead of color",
        ],
    ),
    (
        "Umlaute",
        &[
            "Nein, keine Umlaute in Dateinamen verwenden, nimm ae und oe.",
            "Ich habe doch gesagt: niemals Umlaute in Dateinamen!",
        ],
    ),
    (
        "zona horaria",
        &[
            "No, no uses la hora local, guarda siempre las fechas en UTC.",
            "Te dije que guardes las fechas en UTC, no en hora local.",
        ],
    ),
];

const REPOS: [&str; 4] = ["viewer", "depot", "atelier", "tariffs"];

impl Recurring {
    /// Tells the second story into a home.
    pub fn elsewhere(home: &Path) -> Recurring {
        let mut story = Recurring::empty(home);
        for (at, (name, command, lines, mended, solved)) in FAULTS.iter().enumerate() {
            let ids = lines.iter().enumerate().map(|(time, line)| {
                let repo = REPOS[(at + time) % REPOS.len()];
                let body = format!(
                    "{}$ {command}\n| {line}\n! 1\n{mended}< That is as far as I came.\n",
                    work(1000 + at * 10 + time)
                );
                let prompt = format!("Take item {at}.{time} of the {repo} board and bring it to review");
                let id = story.session(at + time, repo, &prompt, &body);
                story.aside(time + at * 3);
                id
            });
            let ids = ids.collect();
            story.plant(name, "recurring_error", ids, *solved);
        }
        for (at, (name, said)) in SAID.iter().enumerate() {
            let ids = said.iter().enumerate().map(|(time, said)| {
                let repo = REPOS[(at + time) % REPOS.len()];
                let body = format!(
                    "{}< It is in place.\n> {said}\n~ notes/p{at}{time}.txt\n- b\n+ c\n< Put right.\n",
                    work(1200 + at * 10 + time)
                );
                let prompt =
                    format!("Prepare page {at}{time} of the {repo} manual with pictures and captions");
                let id = story.session(at + time, repo, &prompt, &body);
                story.aside(50 + time + at * 3);
                id
            });
            let ids = ids.collect();
            story.plant(name, "correction_repeated", ids, None);
        }
        story.habits();
        story.days();
        for at in 0..24 {
            story.aside(100 + at);
        }
        story
    }

    /// What several calls of one session show.
    fn habits(&mut self) {
        let (mut storm, mut rounds, mut tools, mut infra, mut schema) =
            <(Vec<_>, Vec<_>, Vec<_>, Vec<_>, Vec<_>)>::default();
        for time in 0..3 {
            let body = format!(
                "{}{}$ ./tools/reset-probe --hard\n| probe is back\n$ make flash\n| verified\n< It runs on the board.\n",
                work(1300 + time),
                "$ make flash\n| no answer from the probe on the bus\n! 2\n".repeat(4)
            );
            storm.push(self.session(
                time,
                "firmware",
                &format!("Put build {time} onto the board and watch its lamp"),
                &body,
            ));
            let mut body = work(1310 + time);
            for round in 0..4 {
                write!(body, "~ lexer/lexer.go\n- r{round}\n+ s{round}\n$ go test ./lexer\n| --- FAIL: TestNested ({round}.01s)\n| FAIL\n! 1\n").ok();
            }
            body.push_str(
                "~ lexer/lexer.go\n- y\n+ z\n$ go test ./lexer\n| ok  lexer 0.2s\n< Nested comments parse.\n",
            );
            rounds.push(self.session(
                time,
                "tariffs",
                &format!("Let the lexer take nested comments of level {time}"),
                &body,
            ));
            let body = format!(
                "{}$ pip install -e .\n| build backend is not there\n! 1\n$ poetry install\n| no section tool.poetry\n! 1\n$ uv sync\n| Installed 40 packages\n~ pyproject.toml\n- a{time}\n+ b{time}\n< Installed.\n",
                work(1320 + time)
            );
            tools.push(self.session(
                time,
                "atelier",
                &format!("Add the palette library number {time} to the project"),
                &body,
            ));
            let calls = "$ kubectl get pods\n| web-1 Pending\n$ kubectl describe pod web-1\n| Events\n$ kubectl rollout restart deploy/web\n| restarted\n$ kubectl get events\n| Pulled\n$ kubectl logs web-1\n| up\n$ kubectl delete pod web-1\n| deleted\n$ kubectl wait --for=condition=Ready pod/web-2\n| met\n";
            infra.push(self.session(
                time,
                "depot",
                &format!("Show the weight of a parcel in list {time}"),
                &format!("{calls}~ src/list{time}.php\n- a\n+ b\n< Shown.\n"),
            ));
            let looks = "$ sqlite3 app.db '.schema invoice'\n| CREATE TABLE invoice (id INTEGER)\n".repeat(6);
            schema.push(self.session(
                time,
                "viewer",
                &format!("Write report number {time} of open invoices"),
                &format!("{looks}~ sql/open{time}.sql\n- a\n+ b\n< Written.\n"),
            ));
        }
        self.plant("probe storm", "retry_storm", storm, Some("./tools/reset-probe"));
        self.plant("lexer loop", "rework_loop", rounds, None);
        self.plant("python installers", "tool_thrash", tools, Some("uv sync"));
        self.plant("kubectl", "infra_overhead", infra, None);
        self.plant("invoice schema", "schema_thrash", schema, None);
    }

    /// What whole sessions show.
    fn days(&mut self) {
        let (mut left, mut slow, mut clean) = (Vec::new(), Vec::new(), Vec::new());
        let asked = [
            "Add an offline mode to the map view so that tiles are kept",
            "The map view needs an offline mode which keeps its tiles",
            "Give the map view an offline mode and keep tiles on the device",
        ];
        for (time, words) in asked.iter().enumerate() {
            let body = format!(
                "{}: map/tiles.kt\n| class Tiles\n$ grep -rn tiles map\n| map/a.kt:1\n^\n",
                work(1400 + time)
            );
            left.push(self.session(time, "viewer", words, &body));
            let looks = (0..27)
                .fold(String::new(), |all, look| all + &format!(": core/unit{look}.pas\n| unit U{look};\n"));
            let body = format!("{looks}~ core/late{time}.pas\n- a\n+ b\n< Done.\n");
            slow.push(self.session(
                time,
                "monolith",
                &format!("Rename the caption of dialog {time} in the settings"),
                &body,
            ));
            let body = format!(
                "~ src/cmd{time}.rs\n- a\n+ b\n$ cargo clippy\n| Finished\n$ cargo test\n| test result: ok. 9 passed; 0 failed\n$ git commit -am 'Command {time}'\n| [main 77aa{time}1c] Command {time}\n< Done and tested.\n"
            );
            clean.push(self.session(
                time,
                "kit",
                &format!("Add command {time} to the kit, with its tests"),
                &body,
            ));
        }
        self.plant("offline map", "abandoned", left, None);
        self.plant("monolith", "slow_start", slow, None);
        self.plant("kit", "clean_pass", clean, None);
    }

    /// What happens once, looking around, and a check that is asked for by a program.
    fn aside(&mut self, at: usize) {
        let repo = ["viewer", "depot", "atelier", "tariffs", "firmware"][at % 5];
        let (prompt, body) = match at % 5 {
            0 => {
                let said = ["undefined method `rate' for nil:NilClass", "cannot borrow `map` as mutable more than once at a time", "NullReferenceException: Object reference not set to an instance of an object", "invalid operation: mismatched types int and string"][at / 5 % 4];
                (
                    format!("Let step {at} of the tariff run take empty lines as well"),
                    format!("{}$ ruby bin/step_{at}.rb\n| {said} (step {at})\n! 1\n~ lib/step_{at}.rb\n- a\n+ b\n$ ruby bin/step_{at}.rb\n| ok\n< It does.\n", work(1600 + at)),
                )
            }
            1 => (
                format!("Which module decides about fee number {at}, and since when?"),
                format!("$ ls modules/fee_{at}\n| ls: modules/fee_{at}: No such file or directory\n! 2\n$ rg -n fee_{at} lib\n! 1\n$ head -5 doc/fee_{at}.md\n| head: doc/fee_{at}.md: No such file or directory\n! 1\n: doc/fees.md\n| Fees\n$ git log --oneline -S fee_{at}\n| 12ab fee\n< Module fees, since 12ab.\n"),
            ),
            2 => (
                "Check the mirrors of the archive as every morning and list what is late".to_owned(),
                "$ ./ops/mirrors.sh eu\n| mirror eu-2 is late by 40 minutes\n! 1\n$ ./ops/mirrors.sh us\n| mirror us-1 is late by 12 minutes\n! 1\n$ curl -sf https://mirror.test/state\n| curl: (22) The requested URL returned error: 503\n! 22\n< Two mirrors are late.\n".to_owned(),
            ),
            3 => (
                format!("Begin with a failing spec for discount {at}, then write the code"),
                format!("~ spec/discount_{at}_spec.rb\n+ it {{ expect(rate({at})).to eq 3 }}\n$ bundle exec rspec spec/discount_{at}_spec.rb\n| Failure/Error: expected: 3 got: nil\n| 1 example, 1 failure\n! 1\n~ lib/discount_{at}.rb\n- a\n+ b\n$ bundle exec rspec spec/discount_{at}_spec.rb\n| 1 example, 0 failures\n< Green.\n"),
            ),
            _ => (
                format!("Draw icon {at} a little larger, and bring the others into line"),
                format!("{}~ icons/i{at}.svg\n- <svg>\n+ <svg width='{at}'>\n< Drawn.\n> thanks, that looks good\n< You are welcome.\n", work(1700 + at)),
            ),
        };
        self.session(at, repo, &prompt, &body);
    }
}
