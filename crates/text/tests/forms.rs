//! Secrets in the forms in which logs hold them: behind escapes, in base64, in a
//! URL, a header, an environment, a diff.

#![allow(clippy::expect_used)]

mod encoding;
mod recipe;

use recipe::{Dice, cook};
use retro_text::{redact, secrets};
use serde_json::json;

/// Seeds tried for each form. A failing one is named by the assertion.
const SEEDS: std::ops::Range<u64> = 0..40;

/// Secrets of several kinds of rules.
static SECRETS: &[&str] =
    &["ghp_{alnum:36}", "AKIA{upnum:16}", "sk-ant-api03-{alnum:90}AA", "glpat-{alnum:20}"];

/// Every secret with every seed, given to a test.
fn each_secret(test: impl Fn(&str, u64)) {
    for seed in SEEDS {
        for recipe in SECRETS {
            test(&cook(recipe, &mut Dice::new(seed)), seed);
        }
    }
}

/// A text without the secret; the test fails if nothing was found in it.
fn cleaned(text: &str, seed: u64) -> String {
    let clean = redact(text).into_inner();
    assert_ne!(clean, text, "nothing is found (seed {seed})");
    clean
}

#[test]
fn an_escaped_character_hides_nothing() {
    each_secret(|secret, seed| {
        for at in [1, 3, 7, secret.len() - 9] {
            for slashes in ["\\", "\\\\", "\\\\\\\\"] {
                let (before, after) = secret.split_at(at);
                let (first, after) = after.split_at(1);
                let code = first.bytes().next().expect("one character");
                let text = format!("{{\\\"key\\\":\\\"{before}{slashes}u{code:04x}{after}\\\"}}");
                assert!(!cleaned(&text, seed).contains(after), "seed {seed}, character {at}");
            }
        }
    });
}

#[test]
fn escaped_characters_around_a_secret_stay() {
    let token = cook("ghp_{alnum:36}", &mut Dice::new(2));
    let text = format!(r"a\u0026token=\u0022{token}\u0022\u003cb");
    assert_eq!(*redact(&text), r"a\u0026token=\u0022[redacted:github-token]\u0022\u003cb");
}

#[test]
fn an_escaped_slash_cuts_no_secret() {
    for seed in SEEDS {
        let half = cook("{alnum:19}", &mut Dice::new(seed));
        let text = format!("aws_secret_access_key={half}\\/{half}7\\n");
        assert!(!cleaned(&text, seed).contains(&half));
    }
}

#[test]
fn a_key_block_is_found_however_deep_it_is_escaped() {
    for seed in SEEDS {
        let key = cook("{pem:RSA PRIVATE}", &mut Dice::new(seed));
        let body = key.lines().nth(3).expect("a key has lines").to_owned();
        let mut text = key;
        for depth in 0..4 {
            assert!(!cleaned(&text, seed).contains(&body), "depth {depth}, seed {seed}");
            text = json!({ "key": text }).to_string();
        }
    }
}

#[test]
fn base64_of_a_text_with_a_secret_goes_as_a_whole() {
    each_secret(|secret, seed| {
        for text in [
            secret.to_owned(),
            format!("TOKEN={secret}\n"),
            format!("{{\"a\": [\"{secret}\"], \"b\": \"é\"}}"),
        ] {
            let code = encoding::base64(text.as_bytes());
            let url_code = code.replace('+', "-").replace('/', "_").replace('=', "");
            for code in [&code, &url_code] {
                for (before, after) in
                    [("", ""), ("data: ", "\n"), ("\"", "\""), ("\\n", "\\n"), ("/v1/", "?a")]
                {
                    let clean = cleaned(&format!("{before}{code}{after}"), seed);
                    assert!(clean.starts_with(&format!("{before}[redacted:")), "seed {seed}: {clean}");
                    assert!(clean.ends_with(&format!("]{after}")), "seed {seed}: {clean}");
                }
            }
        }
    });
}

#[test]
fn wrapped_base64_goes_as_a_whole() {
    for seed in SEEDS {
        let text = cook(
            "# the settings of a shop, as they were written down\nTOKEN=ghp_{alnum:36}\n",
            &mut Dice::new(seed),
        );
        let code = encoding::base64(text.repeat(3).as_bytes());
        for columns in [64, 76] {
            let lines: Vec<&str> =
                code.as_bytes().chunks(columns).filter_map(|line| std::str::from_utf8(line).ok()).collect();
            for end in ["\n", "\r\n", "\\n"] {
                let clean = cleaned(&format!("a {}{end}", lines.join(end)), seed);
                assert_eq!(
                    clean,
                    format!("a [redacted:github-token]{end}"),
                    "seed {seed}, {columns} columns"
                );
            }
        }
    }
}

#[test]
fn base64_of_harmless_text_and_of_bytes_stays() {
    let words = encoding::base64("nothing to hide here, only a few words of text".as_bytes());
    let bytes = encoding::base64(&(0..600u32).map(|at| (at * at % 251) as u8).collect::<Vec<_>>());
    let text = format!("{words}\n{bytes}\n/usr/local/share/applications/shop-assistant_settings");
    assert_eq!(secrets::find(&text), []);
}

#[test]
fn a_secret_far_inside_a_long_run_of_base64_is_found() {
    let words = "a line of harmless words\n".repeat(60_000);
    let text = cook(&format!("{words}TOKEN=ghp_{{alnum:36}}\n"), &mut Dice::new(4));
    let clean = redact(&encoding::base64(text.as_bytes()));
    assert_eq!(*clean, "[redacted:github-token]");
}

#[test]
fn the_places_where_secrets_stand() {
    // Each recipe, and what must be gone: the password or the token in it.
    for recipe in [
        "https://dev:{secret}{at}git.shop.test/a.git",
        "https://{secret}{at}git.shop.test/a.git",
        "postgres://shop:{secret}{at}db:5432/main?sslmode=off",
        "> Authorization: Bearer {secret}\\r\\n",
        "< set-cookie: session={secret}; Path=/",
        "curl -H 'X-Api-Key: {secret}' https://api.shop.test",
        "HOME=/home/dev\nSHOP_TOKEN={secret}\nLANG=C",
        "declare -x SHOP_TOKEN=\"{secret}\"",
        "-SHOP_TOKEN={secret}",
        "+  token: '{secret}',",
        "@@ -1,2 +1,2 @@\\n-key={secret}\\n+key=",
        "12\\tSHOP_TOKEN={secret}",
        "12→SHOP_TOKEN={secret}",
        "?access_token={secret}&page=2",
        "token%3D{secret}%26page",
    ] {
        each_secret(|secret, seed| {
            let (before, after) = recipe.split_once("{secret}").expect("a recipe names the secret");
            let dice = &mut Dice::new(seed);
            let text = format!("{}{secret}{}", cook(before, dice), cook(after, dice));
            assert!(!cleaned(&text, seed).contains(secret), "{recipe} (seed {seed})");
        });
    }
}
