//! Laws of redaction, over texts made of secrets, near-secrets and noise.

mod encoding;
mod recipe;

use proptest::prelude::*;
use recipe::{Dice, cook};
use retro_text::{redact, redact_json, secrets};

/// Pieces that meet each other in all orders: secrets of every kind of rule,
/// their beginnings, what stands around them, and markers.
static PIECES: &[&str] = &[
    "ghp_{alnum:36}",
    "sk-ant-api03-{word:60}",
    "AKIA{upnum:16}",
    "AKIA{upnum:16} secret {alnum+:40}",
    "aws_secret_access_key={alnum+:40}",
    "eyJ{alnum:20}.eyJ{alnum:40}.{alnum:43}",
    "{pem:RSA PRIVATE}",
    "{pem\\n:PRIVATE}",
    "{pem-cut:PRIVATE}",
    "postgres://shop:{typed}{at}db",
    "Authorization: Bearer {alnum:40}",
    "password={typed}",
    "api_key: \"{alnum:30}\"",
    "secret={alnum:260}",
    "twilio={hex:32}",
    "xoxb-{digits:12}-{alnum:24}",
    "password=",
    "token: ",
    "\"secret\": \"",
    "://a:",
    "{at}",
    "ghp_",
    "AKIA",
    "eyJ",
    "{alnum:7}",
    "{hex:40}",
    "{word:90}",
    "ghp_{alnum:10}\\u0041{alnum:25}",
    "api_key=\\u0022{alnum:30}\\u0022",
    "{base64:password=ghp_(alnum)}",
    "{base64-secret}",
    "$2b$12${alnum:53}",
    "kind: Secret\\ndata:\\n  a: {alnum:30}7",
    "\\u0041",
    "\\/",
    "[redacted:jwt]",
    "[redacted:password]",
    "[redacted:",
    "\\u005bredacted:jwt]",
    "]",
    "\"",
    "'",
    "\\n",
    "\n",
    " ",
    "-",
    "=",
    ".",
    "é",
    "→",
];

fn texts() -> impl Strategy<Value = String> {
    let piece = (0..PIECES.len(), any::<u64>());
    prop::collection::vec(piece, 0..14)
        .prop_map(|pieces| pieces.iter().map(|(at, seed)| cook(PIECES[*at], &mut Dice::new(*seed))).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn redacting_twice_changes_nothing(text in texts()) {
        let once = redact(&text).into_inner();
        prop_assert_eq!(&redact(&once).into_inner(), &once);
        prop_assert!(secrets::find(&once).is_empty());
    }

    #[test]
    fn findings_are_in_order_apart_and_on_characters(text in texts()) {
        let mut end = 0;
        for finding in secrets::find(&text) {
            prop_assert!(finding.start >= end && finding.start < finding.end);
            prop_assert!(text.get(finding.start..finding.end).is_some());
            end = finding.end;
        }
    }

    #[test]
    fn a_token_between_spaces_never_stays(before in texts(), seed: u64, after in texts()) {
        let token = cook("ghp_{alnum:36}", &mut Dice::new(seed));
        let clean = redact(&format!("{before} {token} {after}"));
        prop_assert!(!clean.contains(&token));
    }

    #[test]
    fn a_token_in_base64_between_spaces_never_stays(before in texts(), seed: u64, after in texts()) {
        let code = cook("{base64-secret}", &mut Dice::new(seed));
        let clean = redact(&format!("{before} {code} {after}"));
        prop_assert!(!clean.contains(&code));
    }

    #[test]
    fn a_text_is_redacted_alike_wherever_it_stands_among_lines(text in texts()) {
        // Key blocks and headers go over lines; the rest knows nothing of its neighbours.
        let line: String = text.replace(['\n', '-'], "");
        let alone = redact(&line).into_inner();
        let among = redact(&format!("first\n\n{line}\n\nlast")).into_inner();
        prop_assert_eq!(among, format!("first\n\n{alone}\n\nlast"));
    }

    #[test]
    fn json_and_its_strings_are_redacted_alike(text in texts()) {
        let json = redact_json(serde_json::Value::from(text.clone())).into_inner();
        let plain = redact(&text).into_inner();
        prop_assert_eq!(json.as_str(), Some(plain.as_str()));
    }

    #[test]
    fn any_text_is_read_without_harm(text in any::<String>()) {
        let once = redact(&text).into_inner();
        prop_assert_eq!(redact(&once).into_inner(), once);
    }
}
