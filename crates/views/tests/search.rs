//! Search over real stores: what is found, when, and what is not, for every agent.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use jiff::civil::date;
use retro_agents::script::Script;
use retro_agents::{AGENTS, Agent};
use retro_engine::news::Patience;
use retro_engine::{Config, SyncOptions, World, rebuild, stages, sync};
use retro_model::{PieceKind, SessionKey, Timestamp};
use retro_search::Mode;
use retro_store::{RealDisk, Store};
use retro_views::{FixView, SearchQuestion, SearchView, files, open_search};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

const CART: &str = "019ca8d7-2d00-7000-8000-0000000000aa";
const DEPLOY: &str = "019ca8f2-a440-7000-8000-0000000000bb";

fn story() -> String {
    format!(
        "@ session {CART}
@ cwd /home/dev/shop
@ branch main
@ time 2026-03-01T10:00:00Z
@ model m-large
> The cart total is off by one cent when a discount applies
< I will run the tests first.
$ cargo test cart_total
| error[E0308]: mismatched types
|   --> src/cart.rs:42:9
! 101
~ src/cart.rs
- let total = subtotal - discount;
+ let total = round(subtotal - discount);
$ cargo test cart_total
| test result: ok. 12 passed; 0 failed
< Rounding happens once now, at the end.
> thanks, write that into the changelog
< Done.
"
    )
}

fn other() -> String {
    format!(
        "@ session {DEPLOY}
@ cwd /home/dev/infra
@ branch main
@ time 2026-03-01T12:00:00Z
@ model m-large
> Why does the deploy job hang?
$ kubectl logs deploy
| waiting for lock on table orders
< The migration never releases its lock.
"
    )
}

/// A folder in memory where there is one: commits of an index wait for the disk.
fn folder() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

struct Machine {
    _dir: tempfile::TempDir,
    world: World,
    config: Config,
}

impl Machine {
    fn new() -> Machine {
        let dir = folder();
        let now = Timestamp::parse("2026-03-03T00:00:00Z").unwrap();
        let world = World::at(dir.path().join("home")).with_clock(now);
        let config = Config::for_root(dir.path().join("store"));
        Machine { _dir: dir, world, config }
    }

    fn told(agent: &dyn Agent) -> Machine {
        let machine = Machine::new();
        machine.tell(agent, &story());
        machine.tell(agent, &other());
        machine
    }

    fn tell(&self, agent: &dyn Agent, script: &str) {
        let files: Vec<(PathBuf, Vec<u8>)> = agent.write(&Script::parse(script).unwrap());
        for (path, bytes) in files {
            let path = self.world.home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }

    fn sync(&self) {
        sync(&self.world, &self.config, &SyncOptions::default(), &|_| {}).unwrap();
    }

    fn store(&self) -> Store {
        Store::open(&self.config.root.value, Arc::new(RealDisk)).unwrap()
    }

    fn ask(&self, question: &SearchQuestion, patience: Patience) -> SearchView {
        let searching = open_search(&self.world, &self.config, patience, &|_| {}).unwrap();
        searching.search(&self.world, &self.config, question).unwrap()
    }

    /// What the store has, without looking for news.
    fn find(&self, text: &str) -> SearchView {
        self.ask(&question(text), Patience::None)
    }

    fn fix(&self, text: Option<&str>) -> FixView {
        let searching = open_search(&self.world, &self.config, Patience::None, &|_| {}).unwrap();
        searching.fix(&self.world, &self.config, text, &question("")).unwrap()
    }
}

fn question(text: &str) -> SearchQuestion {
    SearchQuestion { tz: jiff::tz::TimeZone::UTC, ..SearchQuestion::new(text) }
}

fn first(view: &SearchView) -> &str {
    view.hits.first().map_or("", |hit| hit.session_id.as_str())
}

/// Everything about an answer but how long it took.
fn told(view: &SearchView) -> String {
    let mut view = view.clone();
    view.elapsed_ms = 0.0;
    serde_json::to_string_pretty(&view).unwrap()
}

const QUESTIONS: &[&str] =
    &["why was the cart total wrong", "E0308", "deploy lock", "\"off by one\"", "is:failed", "changelog"];

#[test]
fn every_agent_s_turns_are_found_by_words_names_and_phrases() {
    for agent in AGENTS {
        let machine = Machine::told(*agent);
        machine.sync();
        let name = agent.name();
        assert_eq!(first(&machine.find("why was the cart total wrong with a discount?")), CART, "{name}");
        assert_eq!(first(&machine.find("deploy hangs on a lock")), DEPLOY, "{name}");
        assert_eq!(first(&machine.find("E0308")), CART, "{name}");
        assert_eq!(first(&machine.find("\"off by one\"")), CART, "{name}");
        let view = machine.find("changelog");
        assert_eq!((first(&view), view.hits[0].turn, view.hits[0].kind), (CART, 2, "user"), "{name}");
        assert_eq!(view.searched.sessions, 2);
        assert!(view.complete && !view.hits[0].weak && view.hits[0].resume.is_some(), "{name}");
    }
}

#[test]
fn filters_of_the_query_and_of_the_command_choose() {
    let agent = AGENTS[0];
    let machine = Machine::told(agent);
    machine.sync();
    let sessions = |text: &str| {
        let question = SearchQuestion { mode: Mode::Words, ..question(text) };
        let hits = machine.ask(&question, Patience::None).hits.into_iter();
        let mut found: Vec<String> = hits.map(|hit| hit.session_id).collect();
        found.dedup();
        found
    };
    assert_eq!(sessions("lock project:infra"), [DEPLOY]);
    assert_eq!(sessions("round job project:infra"), [DEPLOY]);
    assert_eq!(sessions("file:src/cart.rs"), [CART]);
    assert_eq!(sessions("cmd:\"cargo test\""), [CART]);
    assert_eq!(sessions("cmd:kubectl"), [DEPLOY]);
    assert_eq!(sessions("total job -discount"), [DEPLOY]);
    assert_eq!(sessions("lock before:2026-03-02"), [DEPLOY]);
    let only = |kind: PieceKind| {
        let question = SearchQuestion { kinds: Some(vec![kind]), mode: Mode::Words, ..question("lock") };
        machine.ask(&question, Patience::None).hits.iter().map(|hit| hit.kind).collect::<Vec<_>>()
    };
    assert_eq!(only(PieceKind::Assistant), ["assistant"]);
    assert_eq!(only(PieceKind::Output), ["output"]);
    assert_eq!(only(PieceKind::User), Vec::<&str>::new());
    let narrowed = machine.find("deploy yesterday");
    assert_eq!(
        narrowed.narrowed.map(|narrowed| narrowed.words),
        None,
        "nothing was found then, so all was searched"
    );
    assert_eq!(first(&machine.find("deploy 2 days ago")), DEPLOY);
}

#[test]
fn an_operator_that_leaves_nothing_is_text_and_the_others_hold() {
    let machine = Machine::told(AGENTS[0]);
    machine.sync();
    let kept = |text: &str| {
        let question = SearchQuestion { mode: Mode::Words, ..question(text) };
        let view = machine.ask(&question, Patience::None);
        (first(&view).to_owned(), view.operators, view.dropped)
    };
    let told = |session: &str, operators: &[&str], dropped: &[&str]| {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        (session.to_owned(), owned(operators), owned(dropped))
    };
    assert_eq!(kept("total agent:nobody"), told(CART, &[], &["agent:nobody"]));
    assert_eq!(kept("lock after:2026-03-02"), told(DEPLOY, &[], &["after:2026-03-02"]));
    assert_eq!(kept("total -discount"), told(CART, &[], &["-discount"]));
    assert_eq!(kept("\"lock holds\""), told(DEPLOY, &[], &["\"lock holds\""]));
    assert_eq!(
        kept("lock project:infra agent:nobody before:2026-03-02"),
        told(DEPLOY, &["project:infra", "before:2026-03-02"], &["agent:nobody"])
    );
    assert_eq!(kept("zebra project:shop").1, ["project:shop"], "without it nothing is found either");
    let flag = SearchQuestion { project: Some("shop".to_owned()), mode: Mode::Words, ..question("lock") };
    assert!(machine.ask(&flag, Patience::None).hits.is_empty(), "an option of the command always holds");
    let literal = SearchQuestion { literal: true, mode: Mode::Words, ..question("lock project:shop") };
    assert_eq!(machine.ask(&literal, Patience::None).operators, Vec::<String>::new());
}

#[test]
fn an_answer_shows_each_text_once_and_only_what_has_a_reason() {
    let machine = Machine::told(AGENTS[0]);
    let copy = "019ca8f9-0000-7000-8000-0000000000cc";
    machine.tell(AGENTS[0], &story().replace(CART, copy).replace("10:00:00", "15:00:00"));
    machine.sync();
    for mode in [Mode::Words, Mode::Hybrid] {
        let question = SearchQuestion { mode, ..question("cart total discount rounding") };
        let view = machine.ask(&question, Patience::None);
        let sessions: HashSet<&str> = view.hits.iter().map(|hit| hit.session_id.as_str()).collect();
        assert!(sessions.contains(CART) || sessions.contains(copy), "{sessions:?}");
        let mut snippets: Vec<&str> = view.hits.iter().map(|hit| hit.snippet.as_str()).collect();
        let count = snippets.len();
        snippets.sort_unstable();
        snippets.dedup();
        assert_eq!(count, snippets.len(), "{snippets:?}");
        for hit in &view.hits {
            let is_near = hit.why.iter().any(|why| why.starts_with("meaning"));
            assert!(!hit.marks.is_empty() || is_near, "{hit:?}");
        }
        assert!(view.hits.is_sorted_by(|a, b| a.session_score >= b.session_score));
        assert!(!view.unsure);
    }
}

#[test]
fn an_answer_that_may_be_none_says_so_and_is_short() {
    let machine = Machine::new();
    for number in 0..8 {
        let id = format!("019ca8f9-0000-7000-8000-0000000001{number:02}");
        machine.tell(
            AGENTS[0],
            &story().replace(CART, &id).replace("The cart", &format!("Story {number}, cart")),
        );
    }
    machine.sync();
    let view = machine.find("which kubernetes ingress annotation breaks websocket upgrades behind the cart");
    let sessions: HashSet<&str> = view.hits.iter().map(|hit| hit.session_id.as_str()).collect();
    assert!(view.unsure && view.truncated && (1..=3).contains(&sessions.len()), "{sessions:?}");
    let nowhere = machine.find("zebra");
    assert!(nowhere.hits.is_empty() && nowhere.searched.since.is_some());
}

#[test]
fn a_question_to_one_project_counts_only_that_and_shows_more_of_it() {
    let machine = Machine::told(AGENTS[0]);
    machine.sync();
    let narrow = SearchQuestion { project: Some("shop".to_owned()), ..question("cart total test discount") };
    let (narrow, wide) = (machine.ask(&narrow, Patience::None), machine.find("cart total test discount"));
    assert_eq!((narrow.searched.sessions, narrow.searched.turns), (1, 2));
    assert_eq!((wide.searched.sessions, wide.searched.turns), (2, 3));
    let of_cart = |view: &SearchView| view.hits.iter().filter(|hit| hit.session_id == CART).count();
    assert!(of_cart(&narrow) > of_cart(&wide), "{} {}", of_cart(&narrow), of_cart(&wide));
    let fresh = Machine::told(AGENTS[0]);
    let asked = SearchQuestion { project: Some("shop".to_owned()), ..question("cart") };
    assert_eq!(fresh.ask(&asked, Patience::All).searched.turns, 2, "also of what is not kept yet");
}

#[test]
fn an_exact_text_is_found_even_without_words() {
    let machine = Machine::told(AGENTS[0]);
    machine.sync();
    let exact = |text: &str| {
        let question = SearchQuestion { exact: true, mode: Mode::Words, ..question(text) };
        machine.ask(&question, Patience::None).hits.len()
    };
    assert!(exact("cart.rs:42:9") > 0);
    assert_eq!(exact("cart.rs:43"), 0);
}

#[test]
fn what_is_new_on_the_machine_is_found_before_it_is_in_the_store() {
    for agent in AGENTS {
        let (asked, synced) = (Machine::told(*agent), Machine::told(*agent));
        synced.sync();
        for text in QUESTIONS {
            let words = SearchQuestion { mode: Mode::Words, ..question(text) };
            let fresh = asked.ask(&words, Patience::All);
            assert!(!asked.config.root.value.exists(), "nothing was written");
            let kept = synced.ask(&words, Patience::None);
            let ids = |view: &SearchView| -> Vec<(String, String, f64)> {
                view.hits
                    .iter()
                    .map(|hit| (hit.session_id.clone(), hit.event_id.clone(), hit.score))
                    .collect()
            };
            assert_eq!(ids(&fresh), ids(&kept), "{} {text}", agent.name());
        }
    }
}

#[test]
fn an_appended_turn_is_found_after_the_same_sync() {
    for agent in AGENTS {
        let machine = Machine::new();
        machine.tell(*agent, &story());
        machine.sync();
        let grown = format!("{}> what about zebras\n< Zebras are fine.\n", story());
        machine.tell(*agent, &grown);
        machine.sync();
        assert_eq!(first(&machine.find("zebras")), CART, "{}", agent.name());
    }
}

#[test]
fn answers_are_the_same_with_the_indexes_deleted_garbled_or_rebuilt() {
    let machine = Machine::told(AGENTS[0]);
    machine.sync();
    let answers = || -> Vec<String> {
        let by_words = |text: &&str| SearchQuestion { mode: Mode::Words, ..question(text) };
        QUESTIONS.iter().map(|text| told(&machine.ask(&by_words(text), Patience::None))).collect()
    };
    let before = answers();
    let text = machine.store().text_folder();
    std::fs::remove_dir_all(&text).unwrap();
    assert_eq!(answers(), before, "deleted");
    machine.sync();
    assert_eq!(answers(), before, "made again");
    for entry in
        walkdir::WalkDir::new(&text).into_iter().flatten().filter(|entry| entry.file_type().is_file())
    {
        let kept = std::fs::read(entry.path()).unwrap();
        let mut bytes = kept.clone();
        bytes.iter_mut().step_by(7).for_each(|byte| *byte ^= 0x2a);
        std::fs::write(entry.path(), &bytes).unwrap();
        assert_eq!(answers(), before, "garbled {}", entry.path().display());
        std::fs::write(entry.path(), &kept).unwrap();
    }
    for stage in ["text", "vectors", "turns", "calls"] {
        rebuild::rebuild(&machine.world, &machine.config, stages::by_name(stage), &|_| {}).unwrap();
        assert_eq!(answers(), before, "rebuilt {stage}");
    }
    rebuild::rebuild(&machine.world, &machine.config, None, &|_| {}).unwrap();
    assert_eq!(answers(), before, "rebuilt");
}

#[test]
fn a_session_that_is_gone_leaves_nothing_to_find() {
    let machine = Machine::told(AGENTS[0]);
    machine.sync();
    let key = SessionKey::new(AGENTS[0].name(), CART);
    machine.store().index().unwrap().write(|index| index.forget_session(&key)).unwrap();
    let view = machine.find("why was the cart total wrong");
    assert!(view.hits.iter().all(|hit| hit.session_id != CART), "{view:?}");
    assert!(
        files(machine.store().index_if_there().unwrap().as_ref(), "cart.rs", None)
            .unwrap()
            .touches
            .is_empty()
    );
    assert!(machine.fix(None).fixes.is_empty());
}

#[test]
fn a_failure_is_shown_with_what_made_it_pass_for_every_agent() {
    for agent in AGENTS {
        let machine = Machine::told(*agent);
        machine.sync();
        let view = machine.fix(Some("error[E0308]: mismatched types\n --> lib/other.rs:7:1"));
        let name = agent.name();
        assert!(view.fingerprint.is_some(), "{name}");
        let fix = &view.fixes[0];
        assert_eq!(fix.failing.command, "cargo test cart_total", "{name}");
        assert!(
            fix.steps.iter().any(|step| step.what.starts_with("edited") && step.what.contains("cart.rs")),
            "{name}: {:?}",
            fix.steps
        );
        assert_eq!(fix.passing.as_ref().unwrap().command, "cargo test cart_total", "{name}");
        assert_eq!((fix.seen, fix.fixed), (1, 1), "{name}");
    }
}

#[test]
fn an_error_is_known_by_its_message_alone() {
    let machine = Machine::new();
    let script = format!(
        "@ session {CART}\n@ cwd /home/dev/shop\n@ branch main\n@ time 2026-03-01T10:00:00Z\n> build it\n\
         $ go build ./...\n| ./tax.go:7:2: undefined: RateOf\n! 1\n~ tax.go\n- a\n+ b\n\
         $ go build ./...\n| ok\n< It builds.\n"
    );
    machine.tell(AGENTS[0], &script);
    machine.sync();
    let view = machine.fix(Some("undefined: RateOf"));
    assert!(view.fingerprint.is_some());
    assert_eq!(view.fixes[0].passing.as_ref().map(|ran| ran.command.as_str()), Some("go build ./..."));
}

#[test]
fn an_error_that_is_new_shows_the_closest_and_nonsense_shows_none() {
    let machine = Machine::new();
    let failing = |id: &str, error: &str| {
        format!(
            "@ session {id}\n@ cwd /home/dev/shop\n@ branch main\n@ time 2026-03-01T10:00:00Z\n> run it\n\
             $ make run\n| {error}\n! 2\n~ run.cfg\n- a\n+ b\n$ make run\n| fine\n< It runs.\n"
        )
    };
    let harbour = "error: the harbour crane refused the container because its weight is unknown";
    machine.tell(AGENTS[0], &failing(CART, harbour));
    machine.tell(AGENTS[0], &failing(DEPLOY, "error: the kiln refused to start because its door is open"));
    machine.sync();
    let view = machine.fix(Some("error: the harbour crane dropped a container of unknown weight"));
    assert_eq!((view.fingerprint, view.fixes[0].session_id.as_str()), (None, CART));
    let view = machine.fix(Some("error: zebra giraffe okapi refused quagga"));
    assert!(view.fixes.is_empty(), "{:?}", view.fixes);
}

#[test]
fn what_never_passed_is_not_fixed() {
    let machine = Machine::new();
    let script = format!(
        "@ session {CART}\n@ cwd /home/dev/shop\n@ branch main\n@ time 2026-03-01T10:00:00Z\n> run the tests\n\
         $ cargo test cart_total\n| error[E0308]: mismatched types\n! 101\n~ src/cart.rs\n- a\n+ b\n< It should work now.\n"
    );
    machine.tell(AGENTS[0], &script);
    machine.sync();
    let view = machine.fix(None);
    assert_eq!((view.fixes.len(), view.fixes[0].passing.is_none(), view.fixes[0].fixed), (1, true, 0));
}

#[test]
fn files_name_the_turns_that_touched_them() {
    for agent in AGENTS {
        let machine = Machine::told(*agent);
        machine.sync();
        let view = files(machine.store().index_if_there().unwrap().as_ref(), "src/cart.rs", None).unwrap();
        let touch = view.touches.iter().find(|touch| touch.access == "write");
        assert_eq!(
            touch.map(|touch| (touch.session_id.as_str(), touch.turn)),
            Some((CART, 1)),
            "{}",
            agent.name()
        );
    }
}

#[test]
fn a_session_like_another_is_found_and_the_session_itself_is_left_out() {
    let machine = Machine::told(AGENTS[0]);
    machine.tell(
        AGENTS[0],
        &story().replace(CART, "019ca8f9-0000-7000-8000-0000000000cc").replace("10:00:00", "15:00:00"),
    );
    machine.sync();
    let searching = open_search(&machine.world, &machine.config, Patience::None, &|_| {}).unwrap();
    let target = searching.turn(&[&format!("{CART}#1")], machine.world.now()).unwrap();
    assert_eq!(target.turn, Some(1));
    let view = searching.similar(&machine.world, &machine.config, &question(""), &target).unwrap();
    assert!(first(&view).ends_with("cc") && view.hits.iter().all(|hit| hit.session_id != CART));
}

#[test]
fn a_very_long_prompt_is_found_by_its_end() {
    let machine = Machine::new();
    let long: String = (0..1_500).map(|number| format!("word{number} of a long story\n  ")).collect();
    let script = format!(
        "@ session {CART}\n@ cwd /home/dev/shop\n@ branch main\n@ time 2026-03-01T10:00:00Z\n> {long}zebra\n< ok\n"
    );
    machine.tell(AGENTS[0], &script);
    machine.sync();
    assert_eq!(first(&machine.find("zebra")), CART);
    assert_eq!(first(&machine.find("word7")), CART);
    let report = retro_engine::verify::verify(&machine.store(), true, &mut |_| {}).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

#[test]
fn a_secret_is_in_no_passage_term_vector_or_snippet() {
    let secret = format!("ghp_{}", ["x7Kp2mQ9vL4t", "R8wZ1nB6yD3h", "F5jS0cGaEuVi"].concat());
    let machine = Machine::new();
    let script = story().replace("thanks, write", &format!("my key is {secret}, write"));
    machine.tell(AGENTS[0], &script);
    machine.sync();
    let view = machine.find("key changelog");
    assert!(view.hits[0].snippet.contains("[redacted:"), "{:?}", view.hits[0].snippet);
    let index = machine.store().text_folder().parent().unwrap().to_owned();
    for entry in
        walkdir::WalkDir::new(index).into_iter().flatten().filter(|entry| entry.file_type().is_file())
    {
        let bytes = std::fs::read(entry.path()).unwrap().to_ascii_lowercase();
        let needle = secret.to_ascii_lowercase();
        let holds = bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
        assert!(!holds, "{}", entry.path().display());
    }
    assert!(
        machine
            .find(&secret)
            .hits
            .iter()
            .all(|hit| hit.weak || hit.why.iter().all(|why| !why.contains("ghp")))
    );
}

#[test]
fn words_that_are_nowhere_find_nothing_and_it_says_since_when_it_looked() {
    let machine = Machine::new();
    let script = format!(
        "@ session {CART}\n@ cwd /home/dev/shop\n@ branch main\n@ time 2026-03-01T10:00:00Z\n\
         > the cart total is off by one cent\n< Rounding happens once now.\n"
    );
    machine.tell(AGENTS[0], &script);
    machine.sync();
    let since = |question: &SearchQuestion| {
        let view = machine.ask(question, Patience::None);
        assert!(view.hits.is_empty() && !view.truncated, "{:?}", view.hits);
        view.searched.since.map(|since| since.to_string())
    };
    let nowhere = question("xyzzy frobnicate");
    assert_eq!(since(&nowhere).as_deref(), Some("2026-03-01T10:00:00.000Z"));
    let later = SearchQuestion { since: Some(date(2026, 3, 2)), ..nowhere };
    assert_eq!(since(&later).as_deref(), Some("2026-03-02T00:00:00.000Z"));
    let found = machine.find("rounding");
    assert_eq!((found.hits.is_empty(), found.searched.since), (false, None));
    assert!(found.warnings.is_empty());
    assert_eq!(machine.find("project:garden rounding").dropped, ["project:garden"]);
    let garden = SearchQuestion { project: Some("garden".to_owned()), ..question("rounding") };
    let elsewhere = machine.ask(&garden, Patience::None);
    assert!(elsewhere.hits.is_empty());
    assert_eq!(elsewhere.warnings, ["no session is of that agent and project, `retro list` shows all"]);
}

#[test]
fn our_own_output_is_not_found_again() {
    let machine = Machine::new();
    let script = format!(
        "@ session {CART}\n@ cwd /home/dev/shop\n@ branch main\n@ time 2026-03-01T10:00:00Z\n> look it up\n\
         $ retro search zebra\n| a striped zebra was seen in turn 3\n< Nothing there.\n"
    );
    machine.tell(AGENTS[0], &script);
    machine.sync();
    assert!(machine.find("striped").hits.iter().all(|hit| hit.weak));
}

#[test]
fn no_query_and_no_content_is_too_strange() {
    let strange = [
        "\u{0}",
        "\u{202e}abc",
        "'; DROP TABLE passages; --",
        "\"",
        "\"\"",
        "((((",
        "a AND",
        "-",
        "--",
        "*",
        "?",
        "\\",
        "日本語",
        "🦀🦀",
        "NaN",
        "file:",
        "is:failed -is:failed",
        "\u{feff}",
        "%s%n",
        "{{7*7}}",
        "../../etc/passwd",
    ];
    let machine = Machine::new();
    let words = strange
        .iter()
        .filter(|text| !text.contains(['\u{0}', '\n']))
        .map(|text| format!("> {text} marker\n< ok\n"));
    let script = format!(
        "@ session {CART}\n@ cwd /home/dev/shop\n@ branch main\n@ time 2026-03-01T10:00:00Z\n{}",
        words.collect::<String>()
    );
    machine.tell(AGENTS[0], &script);
    machine.sync();
    for text in strange {
        machine.find(text);
        let exact = SearchQuestion { exact: true, ..question(text) };
        machine.ask(&exact, Patience::None);
    }
    assert!(!machine.find("marker").hits.is_empty());
}
