//! Prices, limits and the status line as a user meets them: real processes, a home of
//! their own.
#![allow(clippy::unwrap_used, clippy::panic)]

use retro::agents::{by_name, script::Script};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A machine with one session of an agent on it.
struct User {
    dir: tempfile::TempDir,
}

struct Answer {
    code: i32,
    stdout: String,
    stderr: String,
}

const STORY: &str = "@ session 99999999-9999-4999-8999-999999999999\n@ model my-own-model\n> Go\n< Gone.\n";

impl User {
    fn with(agent: &str) -> User {
        let user = User { dir: tempfile::tempdir().unwrap() };
        for (path, bytes) in by_name(agent).unwrap().write(&Script::parse(STORY).unwrap()) {
            let path = user.file(&path.display().to_string());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        user
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run_with(&self, args: &[&str], input: &str) -> Answer {
        let mut child = Command::new(env!("CARGO_BIN_EXE_retro"))
            .args(args)
            .env_clear()
            .env("HOME", self.dir.path())
            .env("TZ", "UTC")
            .current_dir(self.dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Answer {
            code: output.status.code().unwrap(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    fn run(&self, args: &[&str]) -> Answer {
        self.run_with(args, "")
    }

    fn json(&self, args: &[&str]) -> Value {
        let answer = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&answer.stdout)
            .unwrap_or_else(|e| panic!("{e}: {} {}", answer.stdout, answer.stderr))
    }
}

#[test]
fn a_price_of_ones_own_is_used_everywhere() {
    let user = User::with("claude");
    user.run(&["sync"]);
    let usage = user.json(&["usage"]);
    assert_eq!((&usage["billing"], &usage["totals"]["cost_usd"]), (&Value::from("plan"), &Value::Null));
    assert_eq!(user.run(&["pricing", "show", "my-own-model"]).code, 1);

    let set = user.run(&[
        "pricing",
        "set",
        "my-own-model",
        "--input",
        "1",
        "--output",
        "1",
        "--cache-read",
        "1",
        "--cache-write-5m",
        "1",
        "--cache-write-1h",
        "1",
    ]);
    assert_eq!(set.code, 0, "{}", set.stderr);
    let usage = user.json(&["usage"]);
    let (tokens, usd) =
        (usage["totals"]["total_tokens"].as_f64().unwrap(), usage["totals"]["cost_usd"].as_f64().unwrap());
    assert!((tokens / 1e6 - usd).abs() < 1e-9, "{tokens} {usd}");
    let explained = user.json(&["usage", "explain", "claude", "9999"]);
    assert!(explained["responses"][0]["price"].as_str().unwrap().contains("your configuration"));
    assert_eq!(user.json(&["pricing", "show", "my-own-model"])["layer"], "override");

    let bad = user.run(&["pricing", "set", "my-own-model", "--input", "0.000003"]);
    assert_eq!(bad.code, 2);
    assert!(bad.stderr.contains("looks like dollars a token"), "{}", bad.stderr);
    assert_eq!(user.run(&["pricing", "set", "my-own-model", "--remove"]).code, 0);
    assert_eq!(user.run(&["pricing", "set", "my-own-model", "--remove"]).code, 1);
    assert_eq!(user.json(&["usage"])["totals"]["cost_usd"], Value::Null);
}

#[test]
fn an_import_says_what_changed_and_is_kept() {
    let user = User::with("claude");
    std::fs::write(
        user.file("table.json"),
        r#"{"my-own-model": {"litellm_provider": "openai", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
            "gpt-5.5": {"litellm_provider": "openai", "input_cost_per_token": 4e-06, "output_cost_per_token": 2e-05},
            "painter": {"litellm_provider": "openai", "mode": "image_generation"}}"#,
    )
    .unwrap();
    let args = ["pricing", "import", "table.json", "--date", "2030-01-01"];
    let dry = user.run(&[&args[..], &["--dry-run"]].concat());
    assert!(dry.stdout.contains("5.00 → 4.00") && dry.stdout.contains("new"), "{}", dry.stdout);
    assert!(dry.stderr.contains("1 changed, 1 added, 0 unchanged"), "{}", dry.stderr);
    assert!(dry.stderr.contains("1 not for text"), "{}", dry.stderr);
    assert!(!user.file(".config/retro/prices.json").exists());

    let done = user.run(&args);
    assert!(done.stderr.contains("prices.json, as figures of 2030-01-01"), "{}", done.stderr);
    assert!(user.file(".config/retro/prices.json").exists());
    let again = user.json(&args);
    assert_eq!(
        (again["changes"].as_array().unwrap().len(), &again["tally"]["unchanged"]),
        (0, &Value::from(2))
    );
    assert_eq!(user.json(&["pricing", "show", "my-own-model"])["layer"], "imported");
    assert_eq!(user.run(&["pricing", "set", "my-own-model", "--input", "3", "--output", "3"]).code, 0);
    let own = user.json(&["pricing", "show", "my-own-model"]);
    assert_eq!((&own["layer"], &own["row"]["input"]), (&Value::from("override"), &Value::from(3_000_000)));

    std::fs::write(user.file("broken.json"), "{").unwrap();
    let broken = user.run(&["pricing", "import", "broken.json"]);
    assert_eq!(broken.code, 2);
    assert!(broken.stderr.contains("broken.json") && broken.stderr.contains("line 1"), "{}", broken.stderr);
}

#[test]
fn who_pays_by_use_is_told_a_cost() {
    let user = User::with("claude");
    user.run(&["sync"]);
    let plan = user.run(&["usage"]);
    assert!(
        plan.stdout.contains("list price")
            && plan
                .stderr
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains("not what a plan charges"),
        "{}",
        plan.stdout
    );
    std::fs::create_dir_all(user.file(".config/retro")).unwrap();
    std::fs::write(user.file(".config/retro/config.toml"), "billing = \"api\"\n").unwrap();
    let api = user.run(&["usage"]);
    assert!(!api.stdout.contains("list price") && api.stdout.contains("cost"), "{}", api.stdout);
    assert_eq!(user.json(&["usage"])["billing"], "api");
    let line = user.run_with(&["statusline"], "{\"cost\":{\"total_cost_usd\":1.5}}").stdout;
    assert!(line.starts_with("cost $1.50 session"), "{line}");
}

#[test]
fn a_status_line_is_one_line_whatever_comes() {
    let user = User::with("claude");
    for input in ["", "no json", "[1,2]", "{\"model\":7,\"cost\":null}"] {
        let answer = user.run_with(&["statusline"], input);
        assert_eq!((answer.code, answer.stdout.lines().count()), (0, 1), "{input:?}: {}", answer.stdout);
    }
    assert!(!user.file(".local/share/retro").exists(), "it makes no store");
    let handed = "{\"model\":{\"display_name\":\"Opus\\u001b[31m 5\"},\"cost\":{\"total_cost_usd\":0.25},\
        \"context_window\":{\"used_percentage\":34},\"rate_limits\":{\"five_hour\":{\"used_percentage\":41.6}}}";
    let line = user.run_with(&["statusline"], handed).stdout;
    assert!(!line.contains('\u{1b}') && line.starts_with("Opus"), "{line:?}");
    assert!(line.contains("list price $0.25 session · context 34% · 5h 42% used"), "{line}");
    std::fs::create_dir_all(user.file(".config/retro")).unwrap();
    std::fs::write(user.file(".config/retro/config.toml"), "nonsense = [").unwrap();
    let broken = user.run_with(&["statusline"], handed);
    assert_eq!((broken.code, broken.stdout.lines().count()), (0, 1));
    assert!(broken.stderr.contains("config.toml"), "{}", broken.stderr);
}

#[test]
fn limits_are_told_or_their_absence_is() {
    let user = User::with("claude");
    let none = user.run(&["usage", "limits"]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("claude: its logs do not tell"), "{}", none.stderr);
    let user = User::with("codex");
    let log = walk(&user.file(".codex/sessions"));
    let text = std::fs::read_to_string(&log).unwrap();
    let told = r#""rate_limits":{"primary":{"used_percent":40,"window_minutes":300,"resets_at":4102444800}}"#;
    std::fs::write(&log, text.replace("\"rate_limits\":null", told)).unwrap();
    let view = user.json(&["usage", "limits"]);
    assert_eq!(view["schema"], "retro.usage.limits/1");
    assert_eq!(
        (&view["windows"][0]["used_percent"], &view["windows"][0]["left_percent"]),
        (&Value::from(40.0), &Value::from(60.0))
    );
    let table = user.run(&["usage", "limits"]).stdout;
    assert!(table.contains("codex primary") && table.contains("5 hours") && table.contains("▇"), "{table}");
}

/// The first file below a folder.
fn walk(folder: &std::path::Path) -> PathBuf {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let first = entries.remove(0);
    if first.is_dir() { walk(&first) } else { first }
}

#[test]
fn a_price_of_ones_own_says_what_it_leaves_out_and_whose_it_replaces() {
    let user = User::with("claude");
    let set = user.run(&["pricing", "set", "claude-sonnet-4-6", "--input", "1", "--output", "2"]);
    assert!(set.stderr.contains("no price for cache reads"), "{}", set.stderr);
    let shown = user.run(&["pricing", "show", "claude-sonnet-4-6"]);
    let told = format!("{}{}", shown.stdout, shown.stderr);
    assert!(told.contains("Your own price") && told.contains("The program's own row says 3.00"), "{told}");
    let unknown = user.run(&["pricing", "set", "unknown", "--input", "1", "--output", "2"]);
    assert_eq!(unknown.code, 2, "{}", unknown.stderr);
    assert!(unknown.stderr.contains("is no model"), "{}", unknown.stderr);
}

#[test]
fn a_price_is_shown_with_its_tiers_and_why_it_is_this_one() {
    let user = User::with("claude");
    let name = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
    let shown = user.run(&["pricing", "show", name]);
    let told = format!("{}{}", shown.stdout, shown.stderr);
    for text in
        [&format!("{name} is claude-sonnet-4-5 of bedrock"), "prompt above 200,000 tokens", "a web search"]
    {
        assert!(told.contains(text), "{text}\n{told}");
    }
}

#[test]
fn an_entry_with_a_broken_price_is_named_as_such() {
    let user = User::with("claude");
    let table = r#"{"gpt-5.4": {"litellm_provider": "openai", "input_cost_per_token": 4e-06, "output_cost_per_token": 2e-05},
        "gpt-5.5": {"litellm_provider": "openai", "input_cost_per_token": "dear", "output_cost_per_token": 2e-05}}"#;
    std::fs::write(user.file("table.json"), table).unwrap();
    let told = user.run(&["pricing", "import", "table.json", "--dry-run"]);
    let told = format!("{}{}", told.stdout, told.stderr);
    assert!(told.contains("Skipped: 1 without a price."), "{told}");
}
