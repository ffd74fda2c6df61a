//! Secrets as a reader sees them, whatever is written between their characters: colour codes,
//! signs of a URL, ends of lines, the frame of a table, the quotes of a block.

#![allow(clippy::expect_used)]

mod encoding;
mod recipe;

use recipe::{Dice, cook};
use retro_text::{redact, secrets};

/// Values tried for each shape.
const TRIES: u64 = 60;

/// What stands for a token that a service marks, and for a value of no shape.
const TOKEN: &str = "ghp_{alnum:36}";
const VALUE: &str = "{alnum:20}";

/// How many of the values that a shape holds are left, of `TRIES`. `TOKEN` and `VALUE` are put
/// in whole; `4TOKEN`, `4VALUE` and `TOKEN4`, `VALUE4` are their first four characters and the rest.
fn left(shape: &str) -> usize {
    let stays = |seed: &u64| {
        let token = cook(TOKEN, &mut Dice::new(*seed));
        let value = cook(VALUE, &mut Dice::new(*seed + 1_000));
        let mut text = shape.to_owned();
        for (name, secret) in [("TOKEN", &token), ("VALUE", &value)] {
            let (first, rest) = secret.split_at(4);
            text = text.replace(&format!("4{name}"), first).replace(&format!("{name}4"), rest);
            text = text.replace(name, secret);
        }
        let clean = redact(&text).into_inner();
        assert_eq!(redact(&clean).as_str(), clean, "{shape:?} (seed {seed})");
        [&token, &value].iter().any(|secret| clean.contains(&secret[4..]))
    };
    (0..TRIES).filter(stays).count()
}

fn assert_gone(shapes: &[&str], most: usize) {
    let kept: Vec<(&&str, usize)> =
        shapes.iter().map(|shape| (shape, left(shape))).filter(|(_, count)| *count > most).collect();
    assert!(kept.is_empty(), "left of {TRIES}: {kept:#?}");
}

#[test]
fn colour_codes_hide_nothing() {
    assert_gone(
        &[
            // grep --color=always, rg --color=always
            "\u{1b}[01;31m\u{1b}[K4TOKEN\u{1b}[m\u{1b}[KTOKEN4",
            "DB_\u{1b}[01;31m\u{1b}[KPASSWORD\u{1b}[m\u{1b}[K=VALUE",
            "key \u{1b}[0m\u{1b}[1m\u{1b}[31m4TOKEN\u{1b}[0mTOKEN4 end",
            r"key \u001b[31m4TOKEN\u001b[0mTOKEN4 end",
            "\u{1b}[35m.env\u{1b}[m:api_\u{1b}[1mkey\u{1b}[0m=VALUE",
        ],
        0,
    );
}

#[test]
fn colour_codes_of_other_programs_hide_nothing() {
    assert_gone(
        &[
            "\u{1b}[38;2;248;248;242m4TOKEN\u{1b}[38;2;190;132;255mTOKEN4\u{1b}[0m",
            "\u{1b}[34;1m\"password\"\u{1b}[0m\u{1b}[1;39m:\u{1b}[0m \u{1b}[0;32m\"VALUE\"\u{1b}[0m",
            "\u{1b}]8;;https://example.com\u{1b}\\4TOKEN\u{1b}]8;;\u{1b}\\TOKEN4",
            "^[[31m4TOKEN^[[0mTOKEN4",
            "\u{1b}[1m4TOKEN\u{1b}(B\u{1b}[mTOKEN4",
            r"\x1b[7mapi_key\x1b[0m = '4VALUE\x1b[32mVALUE4'",
        ],
        1,
    );
}

#[test]
fn characters_without_width_hide_nothing() {
    assert_gone(
        &[
            "key 4TOKEN\u{200b}TOKEN4 end",
            "key 4TOKEN\u{ad}TOKEN4 end",
            "password: 4VALUE\u{2060}VALUE4",
            "api_key=4VALUE\u{feff}VALUE4",
            "pass\u{200d}word = \"VALUE\"",
            "key \u{1b}[31m4TOKEN\u{200b}\u{1b}[0mTOKEN4 end",
            r"key 4TOKEN\u200bTOKEN4 end",
            "→ über 4TOKEN\u{200b}TOKEN4 “x”",
        ],
        0,
    );
}

#[test]
fn parts_of_a_name_hide_nothing() {
    assert_gone(&["mcp__TOKEN__get", "mcp__TOKEN", "a__TOKEN b"], 0);
}

#[test]
fn signs_of_a_url_hide_nothing() {
    assert_gone(
        &[
            "postgres%3A%2F%2Fapp%3AVALUE%40db.example.com%2Fx",
            "postgres%3A%2F%2Fapp%3Ax4VALUE%23VALUE4%40db.example.com%2Fx",
            "postgres%3A%2F%2Fapp%3Ax4VALUE%2FVALUE4%40db.example.com%2Fx",
            "dsn=mysql%3A%2F%2Fapp%3Ax4VALUE%253FVALUE4%40db.example.com",
            "https://example.com/login?next=%2Fa%3Ftoken%3DVALUE%26user%3Danna",
            "header=Authorization%3A%20Bearer%20VALUEVALUE",
            "q=DB_PASSWORD%3DVALUE",
        ],
        0,
    );
}

#[test]
fn signs_of_a_url_in_other_forms_hide_nothing() {
    assert_gone(
        &[
            "dsn=mysql%3a%2f%2froot%3aVALUE%4010.0.0.1%3a3306",
            "redirect=https%253A%252F%252Fu%253AVALUE%2540host.example.com%252Fx",
            "body=%7B%22password%22%3A%22VALUE%22%7D",
            "https://proxy.example.com/?url=amqps%3A%2F%2Fguest%3AVALUE%40mq%2Fvhost%3Fheartbeat%3D30",
            "client%5Fsecret=VALUE",
        ],
        1,
    );
}

#[test]
fn a_wrapped_line_hides_nothing() {
    assert_gone(
        &["the deploy key is 4TOKEN\nTOKEN4 and no other", "the deploy key is 4TOKEN\n  TOKEN4\n"],
        0,
    );
    for at in [1, 6, 12, 20, 30, 38] {
        for seed in 0..TRIES {
            let token = cook(TOKEN, &mut Dice::new(seed));
            let text = format!("key {}\n{}\nend", &token[..at], &token[at..]);
            let clean = redact(&text).into_inner();
            assert!(clean.ends_with("\nend"), "{at}, seed {seed}: {clean:?}");
            assert!(!clean.contains(&token[at..]), "{at}, seed {seed}: {clean:?}");
        }
    }
}

#[test]
fn lines_wrapped_in_other_ways_hide_nothing() {
    let recipes = ["sk-ant-api03-{alnum:90}AA", "eyJ{alnum:60}.eyJ{alnum:90}.{alnum:43}", "glpat-{alnum:20}"];
    let mut kept = Vec::new();
    for recipe in recipes {
        for columns in [16, 20, 60, 80] {
            for (end, front) in [("\n", ""), ("\r\n", ""), ("\n    ", "    ")] {
                for seed in 0..TRIES {
                    let token = cook(recipe, &mut Dice::new(seed));
                    let lines: Vec<&str> = (0..token.len())
                        .step_by(columns)
                        .map(|at| &token[at..token.len().min(at + columns)])
                        .collect();
                    let text = format!("{front}{}\nend of it", lines.join(end));
                    let clean = redact(&text).into_inner();
                    assert_eq!(redact(&clean).as_str(), clean);
                    // The last line alone may be too short to be told from a word.
                    let is_left =
                        lines.iter().filter(|line| line.len() >= 8).any(|line| clean.contains(line));
                    kept.extend(is_left.then_some((recipe, columns, end, seed)));
                    assert!(clean.ends_with("\nend of it"), "{clean}");
                }
            }
        }
    }
    assert!(kept.len() <= 20, "{} of {}: {kept:?}", kept.len(), 3 * 4 * 3 * TRIES);
}

#[test]
fn blocks_and_files_of_settings_hide_nothing() {
    assert_gone(
        &[
            "db:\n  password: |\n    VALUE\n  port: 5432\n",
            "password = \"\"\"VALUE\"\"\"\n",
            "password: \"\"\"\n  VALUE\n\"\"\"",
            "db.example.com:5432:shop:app:VALUE\n",
            "variable \"db_password\" {\n  type    = string\n  default = \"VALUE\"\n}",
        ],
        0,
    );
}

#[test]
fn blocks_in_other_languages_hide_nothing() {
    assert_gone(
        &[
            "client_secret: >-\n    VALUE\nnext: 1",
            "data:\\n  password: |\\n    VALUE\\n  other: x",
            "PASSWORD = '''VALUE'''\n",
            "api_key = \"\"\"\nVALUE\"\"\"\n",
            "stringData:\n  token: |-\r\n    VALUE\r\n",
            "*:*:*:app:VALUE",
            "10.0.0.1:6432:*:app:VALUE\nlocalhost:5432:x:y:VALUE",
            "variable \"api_token\" {\n  description = \"for deploys\"\n  default     = \"VALUE\"\n  sensitive = true\n}",
            "{\\\"password\\\": r\\\"\\\"\\\"VALUE\\\"\\\"\\\"}",
        ],
        1,
    );
}

#[test]
fn columns_hide_nothing() {
    assert_gone(
        &[
            "user,password\nanna,VALUE\nben,VALUE\n",
            "| user | password |\n|------|----------|\n| anna | VALUE |\n",
            " id | login | password \n----+-------+----------\n  1 | anna  | VALUE\n",
        ],
        0,
    );
}

#[test]
fn columns_of_other_programs_hide_nothing() {
    assert_gone(
        &[
            "name\temail\tpasswd\nanna\ta@example.com\tVALUE\n",
            "\"name\";\"passwort\"\r\n\"Anna; die erste\";\"VALUE\"\r\n",
            "+----+----------+\n| id | password |\n+----+----------+\n|  1 | VALUE |\n|  2 | VALUE |\n+----+----------+",
            "`user` | **api_key** | note\n:--- | :--- | ---\nanna | `VALUE` | x",
            "id,db_password,host,api_token\n1,VALUE,a,x\n2,x,b,VALUE\n",
            "url,username,password,note\nhttps://example.com,\"anna, b\",VALUE,\n",
        ],
        1,
    );
}

/// Texts of which nothing goes: they only look like a secret, or like the frame of one.
#[test]
fn what_only_looks_so_stays() {
    for text in [
        "def login(user, password):\n    return check(user, password)\n",
        "connect(\n    user, password, host,\n    timeout_ms, retries_max, verbose,\n)",
        "| name | password |\n|------|----------|\n| string | required, at least 12 characters |\n",
        "| option | token | default |\n|---|---|---|\n| --auth | access | none |\n",
        "user,password\nanna,changeme\nben,********\n",
        "password: |\n  {{ .Values.db.password }}\n",
        "password: >\n  the one that you were given\n",
        "password = \"\"\"\n    Returns the password of a user.\n    \"\"\"\n",
        "see crates/engine/src/capture/\nrevision_of_the_session_file.rs for it",
        "crates/engine/tests/snapshots/sk-\nlearn-and-other-things-that-are-long",
        "https://example.com/a%20b?x=%3Cpassword%3E&token=%24TOKEN",
        "The token%20is%20in%20the%20drawer",
        "\u{1b}[31mpassword\u{1b}[0m: required",
        "pass\nword: the two halves of a name",
        "a.b.c:5432:11:note: here",
        "variable \"db_password\" {\n  type = string\n}\nvariable \"x\" {\n  default = \"Frankfurt1\"\n}",
        "the hash is 3f2a0c1e9d8b7a6f\n5e4d3c2b1a09f8e7d6c5b4a3 of the tree",
        "cargo run --example\nsk_learn_pipeline_number_12_of_the_big_set",
    ] {
        assert_eq!(redact(text).as_str(), text);
    }
}

#[test]
fn only_the_secret_goes_and_what_frames_it_stays() {
    let token = cook(TOKEN, &mut Dice::new(7));
    let (first, rest) = token.split_at(9);
    for (text, clean) in [
        (format!("a {first}\n  {rest} b"), "a [redacted:github-token]\n  [redacted:github-token] b"),
        (
            format!("\u{1b}[31m{first}\u{1b}[m{rest}\u{1b}[0m b"),
            "\u{1b}[31m[redacted:github-token]\u{1b}[0m b",
        ),
        (format!("x%3D{token}%26y"), "x%3D[redacted:github-token]%26y"),
    ] {
        assert_eq!(redact(&text).as_str(), clean);
        assert!(secrets::find(clean).is_empty());
    }
}
