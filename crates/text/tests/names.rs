//! Secrets known by the name beside them: as a key of JSON, in a list of arguments, in
//! text, whatever signs they are made of.

mod encoding;
mod recipe;

use proptest::prelude::*;
use recipe::{Dice, cook};
use retro_text::{redact, redact_json, secrets};
use serde_json::{Value, json};

/// Values tried for each shape.
const TRIES: u64 = 1_000;

/// How many of the values that a recipe makes are left whole or in parts, per thousand.
fn left(shape: &str, value: &str) -> usize {
    let is_left = |seed: &u64| {
        let value = cook(value, &mut Dice::new(*seed));
        let text = shape.replace("VALUE", &value);
        !redact(&text).ends_with(&format!("]{}", shape.rsplit_once("VALUE").map_or("", |(_, end)| end)))
            || redact(&text).contains(&value)
    };
    (0..TRIES).filter(is_left).count()
}

#[test]
fn random_values_go_whole_whatever_they_are_made_of() {
    // The text, the value, and how many of a thousand may stay.
    for (shape, value, most) in [
        ("DB_PASSWORD=VALUE", "{printable:16}", 10),
        ("A=1\nDB_PASSWORD=VALUE\nB=2", "{printable:16}", 10),
        ("password='VALUE'", "{printable-:16}", 10),
        ("{\"password\": \"VALUE\"}", "{printable-:16}", 10),
        ("API_KEY=VALUE", "{printable:16}", 10),
        ("client_secret: \"VALUE\"", "{printable-:16}", 10),
        ("DB_PASSWORD=VALUE", "{alnum:12}", 50),
        ("password: \"VALUE\"", "{alnum:12}", 50),
        ("API_KEY=VALUE", "{alnum:12}", 50),
        ("API_KEY=VALUE", "{alnum:16}", 50),
        ("AUTH_TOKEN=VALUE", "{lownum:20}", 50),
        ("DB_PASSWORD=VALUE", "{upletters:16}", 50),
        ("postgres://shop:VALUE@db/main", "{alnum:12}", 0),
        ("postgres://shop:VALUE@db/main", "{upletters:12}", 0),
    ] {
        let count = left(shape, value);
        println!("{shape:?} with {value}: {count} of {TRIES} left");
        assert!(count <= most, "{shape:?} with {value}: {count} of {TRIES} left");
    }
}

#[test]
fn a_key_tells_of_its_value() {
    for key in [
        "password",
        "DB_PASSWORD",
        "dbPassword",
        "api_key",
        "apiKey",
        "X-Api-Key",
        "Authorization",
        "client_secret",
        "accessToken",
        "pass",
    ] {
        for seed in 0..40 {
            let value = cook("{alnum:24}", &mut Dice::new(seed));
            let clean = redact_json(json!({ "env": [{ key: value, "user": "admin" }] })).into_inner();
            assert!(!clean.to_string().contains(&value), "{key} (seed {seed}): {clean}");
            assert_eq!(clean["env"][0]["user"], "admin");
        }
    }
}

#[test]
fn keys_of_services_and_other_forms_tell_too() {
    for seed in 0..40 {
        let dice = &mut Dice::new(seed);
        let aws = cook("{alnum+:40}", dice);
        let hex = cook("{hex:32}", dice);
        let words = cook("Walrus{digits:4}!", dice);
        let digits = 7_134_850_269u64 + seed * 7_919_421;
        let clean = redact_json(json!({
            "aws_secret_access_key": aws,
            "twilio": { "auth_token": hex },
            "list": [{ "name": "DB_PASSWORD", "value": words }, { "name": "LANG", "value": "de" }],
            "passwords": { "password": [words] },
            "password": digits,
        }));
        let text = clean.to_string();
        for secret in [&aws, &hex, &words, &digits.to_string()] {
            assert!(!text.contains(secret.as_str()), "seed {seed}: {text}");
        }
        assert!(text.contains("\"de\""));
    }
}

#[test]
fn the_words_of_a_command_tell_of_each_other() {
    for seed in 0..40 {
        let dice = &mut Dice::new(seed);
        let typed = cook("Walrus{digits:4}!", dice);
        let random = cook("{printable:16}x", dice);
        for command in [
            json!(["mysql", "-h", "db", format!("-p{typed}"), "main"]),
            json!(["curl", "-s", "-u", format!("dev:{typed}"), "https://api.shop.test"]),
            json!(["deploy", "--password", typed]),
            json!(["deploy", "--token", random]),
            json!(["deploy", "--password", random, "now"]),
            json!(["env", format!("DB_PASSWORD={typed}"), "run"]),
        ] {
            let clean = redact_json(json!({ "command": command })).to_string();
            let quoted = |text: &str| json!(text).to_string().trim_matches('"').to_owned();
            assert!(!clean.contains(&typed) && !clean.contains(&quoted(&random)), "seed {seed}: {clean}");
        }
    }
}

#[test]
fn ordinary_arguments_stay() {
    let arguments = json!({
        "command": ["bash", "-lc", "cargo test --all"],
        "token_count": 123_456,
        "max_tokens": 64_000,
        "password": "",
        "secret": null,
        "token": "next_page_token",
        "password_field": "#password",
        "api_key": "${API_KEY}",
        "Authorization": "Bearer <token>",
        "options": ["--password", "--token", "$TOKEN"],
        "name": "password",
        "key": "src/auth/token.rs",
    });
    assert_eq!(*redact_json(arguments.clone()), arguments);
}

#[test]
fn a_marker_shields_nothing() {
    for seed in 0..40 {
        let dice = &mut Dice::new(seed);
        let token = cook("ghp_{alnum:36}", dice);
        let typed = cook("Walrus{digits:4}!", dice);
        let key = cook("{pem:RSA PRIVATE}", dice);
        let lines: Vec<&str> = key.lines().collect();
        for text in [
            format!("[redacted:jwt]{token}"),
            format!("{token}[redacted:jwt]"),
            format!("curl -H \"a: [redacted:jwt]\" -u admin:{typed} https://shop.test"),
            format!("{}\n{}\n[redacted:jwt]\n{}\n{}", lines[0], lines[1], lines[2], lines[7]),
            format!("password=[redacted:jwt]{token}"),
            format!("[redacted:password]password={typed}"),
        ] {
            let clean = redact(&text);
            for secret in [token.as_str(), &typed, lines[1], lines[2]] {
                assert!(!clean.contains(secret), "seed {seed}: {clean}");
            }
        }
    }
}

/// Tokens that touch each other: only the last of them ends like a word, and when it is
/// gone the one before it does.
#[test]
fn a_row_of_tokens_goes_whole_and_soon() {
    let token = |seed| cook("{digits:9}:AA{alnum:33}", &mut Dice::new(seed));
    let row: String = (0..2_000).map(token).collect();
    let clean = redact(&format!("a {row} b"));
    assert!(!clean.contains(":AA"));
    assert!(clean.starts_with("a [redacted:telegram-bot-token]"));
    assert!(clean.ends_with("[redacted:telegram-bot-token] b"));
}

fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        prop::sample::select(vec![
            "DB_PASSWORD",
            "--password",
            "mysql",
            "curl",
            "-u",
            "[redacted:password]",
            "name",
            "value",
            "token",
            "a [redacted:jwt] b",
            "password=",
            "\"",
        ])
        .prop_map(str::to_owned),
        (
            any::<u64>(),
            prop::sample::select(vec![
                "{printable:16}",
                "{alnum:24}",
                "-p{typed}",
                "dev:{typed}",
                "ghp_{alnum:36}"
            ])
        )
            .prop_map(|(seed, recipe)| cook(recipe, &mut Dice::new(seed))),
    ];
    let leaf = prop_oneof![text.clone().prop_map(Value::from), any::<u64>().prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(text.clone(), inner, 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn redacting_json_twice_changes_nothing(value in values()) {
        let once = redact_json(value).into_inner();
        prop_assert_eq!(redact_json(once.clone()).into_inner(), once);
    }

    #[test]
    fn no_finding_covers_a_marker(seed: u64, before in "[a-z=: ]{0,8}", after in "[a-z=: ]{0,8}") {
        let value = cook("{printable:20}", &mut Dice::new(seed));
        let text = format!("password={before}[redacted:jwt]{after}{value}");
        for finding in secrets::find(&text) {
            prop_assert!(!text[finding.start..finding.end].contains("[redacted:jwt]"));
        }
    }
}

/// A word of a command ends at a blank, whatever signs are in it.
#[test]
fn the_value_of_an_option_is_taken_whole() {
    let (front, back) = (["k7Tq0Z", "pX4m"].concat(), ["Wv#R2s", "L9%b"].concat());
    for between in ["\\n", "\\t", "'", "\"", "&", "$", "|"] {
        let text = format!("deploy --token {front}{between}{back}");
        let clean = redact(&text).to_string();
        assert!(!clean.contains(&front) && !clean.contains(&back), "{text}: {clean}");
    }
    let quoted = format!("deploy --token '{front}'{back}");
    let clean = redact(&quoted).to_string();
    assert!(!clean.contains(&front) && !clean.contains(&back), "{clean}");
    let next = format!("deploy --token {front}{back}\\nnpm install");
    assert!(redact(&next).ends_with("npm install"), "{}", *redact(&next));
}
