//! Every rule with texts it must find and texts it must leave alone, and what
//! holds for the scanner as a whole.

mod recipe;

use recipe::{Dice, cook};
use retro_text::{redact, secrets};
use std::collections::BTreeSet;

/// Seeds tried for each recipe. A failing one is named by the assertion.
const SEEDS: std::ops::Range<u64> = 0..40;

/// A rule, recipes of texts that hold such a secret, recipes of texts that hold none.
type Example = (&'static str, &'static [&'static str], &'static [&'static str]);

// tidy: data
static EXAMPLES: &[Example] = &[
    ("age-secret-key", &["AGE-SECRET-KEY-1{bech:58}"], &["AGE-SECRET-KEY-1", "AGE-SECRET-KEY-1{bech:20}"]),
    (
        "anthropic-key",
        &[
            "sk-ant-api03-{word:93}AA",
            "export KEY=sk-ant-oat01-{word:80}AA\\n",
            "\u{1b}[32msk-ant-admin01-{alnum:90}",
        ],
        &[
            "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "sk-ant-…",
            "the prefix sk-ant-api03-",
        ],
    ),
    ("atlassian-token", &["ATATT3{word:180}x"], &["ATATT3xFf"]),
    (
        "aws-access-key-id",
        &["AKIA{upnum:16}", "id ASIA{upnum:16},"],
        &["AKIAIOSFODNN7EXAMPLE", "xAKIA{upnum:16}", "AKIA{upnum:17}"],
    ),
    (
        "aws-key-pair",
        &["key AKIA{upnum:16} with secret {alnum+:40}.", "AKIA{upnum:16}\\tand {alnum+:40}"],
        &["AKIAIOSFODNN7EXAMPLE at commit {hex:40}"],
    ),
    (
        "aws-secret-key",
        &[
            "AWS_SECRET_ACCESS_KEY={alnum+:40}",
            "\\\"SecretAccessKey\\\": \\\"{alnum+:40}\\\"",
            "aws_secret_access_key = {alnum+:40}\\n",
        ],
        &[
            "AWS_SECRET_ACCESS_KEY=$(pass aws)",
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ],
    ),
    (
        "aws-session-token",
        &["aws_session_token={alnum+:300}=="],
        &["aws_session_token=none", "session_token: {digits:5}"],
    ),
    ("azure-client-secret", &["secret abc8Q~{alnum:34}"], &["Q~", "a~b8Q~{alnum:3}"]),
    (
        "azure-sas-signature",
        &["https://x.blob.core.windows.net/c?sv=2024-01-01&sig={alnum:43}%3D"],
        &["sig={alnum:12}", "def f(sig=None)"],
    ),
    (
        "azure-storage-key",
        &["AccountName=x;AccountKey={alnum+:86}==;"],
        &["AccountKey=<key>;", "AccountKey={alnum:10}"],
    ),
    (
        "basic-auth",
        &[
            "Authorization: Basic {base64:shop:(alnum)x7f3k}",
            "-H 'authorization: basic {base64:dev:Tr0ub4dor}'",
        ],
        &["basic authentication", "Basic {base64:user:password}", "basic internationalization"],
    ),
    (
        "bearer-token",
        &[
            "Authorization: Bearer {alnum:30}7x",
            "\\\"Authorization\\\": \\\"Bearer {word:64}7a1\\\"",
            "curl -H 'Authorization: token {hex:40}'",
        ],
        &[
            "Authorization: Bearer $TOKEN",
            "Bearer ${open}{open}token{close}{close}",
            "bearer authentication-middleware-2024",
            "Authorization: Bearer YOUR_API_TOKEN_12345",
        ],
    ),
    (
        "cloudflare-token",
        &["CLOUDFLARE_API_TOKEN={word:39}7"],
        &["cloudflare: enabled", "CLOUDFLARE_API_TOKEN=${open}TOKEN{close}"],
    ),
    (
        "command-line-secret",
        &[
            "mysql --password={typed} shop",
            "deploy --token {hex:22}7x",
            "login --api-key \\\"{alnum:24}7\\\"",
        ],
        &[
            "mysql --password=$DB_PASSWORD",
            "deploy --token <token>",
            "deploy --token /run/secrets/token1",
            "tool --token-limit 20000000",
        ],
    ),
    ("crates-io-token", &["cargo login cio{alnum:31}7"], &["precious", "cio{alnum:8}"]),
    (
        "curl-user",
        &["curl -s -u shop:{typed} https://api.shop.test"],
        &["curl -u shop:$PASS https://api.shop.test", "curl https://api.shop.test:8443/a"],
    ),
    ("databricks-token", &["dapi{hex:32}", "dapi{hex:32}-2"], &["dapi", "dapi{hex:12}"]),
    (
        "datadog-key",
        &["DD_API_KEY={hex:32}", "datadog_app_key: '{hex:40}'"],
        &["datadog: true", "DD_API_KEY=$KEY"],
    ),
    ("deepseek-key", &["sk-{hex:32}"], &["task-{hex:32}", "sk-{hex:31}"]),
    ("digitalocean-token", &["dop_v1_{hex:64}"], &["dop_v1_{hex:10}"]),
    (
        "discord-token",
        &[
            "DISCORD_TOKEN=M{alnum:23}.{word:6}.{word:30}",
            "Authorization: Bot N{alnum:25}.{word:6}.{word:38}",
        ],
        &["discord.js", "DISCORD_TOKEN=your.token.here"],
    ),
    (
        "discord-webhook",
        &["https://discord.com/api/webhooks/{digits:18}/{word:68}"],
        &["/api/webhooks/{digits:18}/short", "POST /api/webhooks/"],
    ),
    ("docker-token", &["dckr_pat_{word:27}"], &["dckr_pat_"]),
    ("doppler-token", &["dp.pt.{alnum:43}", "dp.st.prd.{alnum:42}"], &["dp.pt.x", "import pandas as dp.pt"]),
    ("figma-token", &["figd_{word:40}"], &["figd_x"]),
    ("fireworks-key", &["fw_{alnum:24}"], &["fw_version", "fw_{alnum:5}"]),
    ("github-fine-grained-token", &["github_pat_{alnum:22}_{alnum:59}"], &["github_pat_{alnum:10}"]),
    (
        "github-token",
        &[
            "ghp_{alnum:36}",
            "token%3Dgho_{alnum:36}",
            "+GITHUB_TOKEN=ghs_{alnum:36}\\n",
            "https://x:ghu_{alnum:36}{at}github.com/a",
        ],
        &["ghp_{alnum:20}", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_user_token_123"],
    ),
    ("gitlab-token", &["glpat-{word:19}7", "gldt-{alnum:20}"], &["glpat-xxxxxxxxxxxxxxxxxxxx", "glpat-"]),
    (
        "google-api-key",
        &["AIza{word:34}7", "key=AIza{alnum:35}&v=3"],
        &["AIza", "xAIza{alnum:35}", "AIza{alnum:40}"],
    ),
    ("google-oauth-secret", &["GOCSPX-{word:27}7"], &["GOCSPX-short"]),
    ("google-oauth-token", &["ya29.{word:100}7", "1//0{word:60}7"], &["ya29.", "a // 0"]),
    ("grafana-token", &["glsa_{alnum:32}_{hex:8}"], &["glsa_x"]),
    ("groq-key", &["gsk_{alnum:52}"], &["gsk_test"]),
    ("heroku-key", &["HEROKU_API_KEY={uuid}"], &["heroku run {uuid}", "trace {uuid}"]),
    ("heroku-token", &["HRKU-AA{word:57}7"], &["HRKU-AA"]),
    ("huggingface-token", &["hf_{alnum:34}", "api_org_{alnum:34}"], &["hf_hub_download", "hf_{alnum:8}"]),
    (
        "jwt",
        &["eyJ{alnum:30}.eyJ{alnum:120}.{word:42}7", "Cookie: s=eyJ{alnum:20}.eyJ{alnum:900}.{word:85}7;"],
        &["eyJ{alnum:30}", "eyJ{alnum:30}.x.y", "xeyJ{alnum:30}.eyJ{alnum:30}.{alnum:43}"],
    ),
    ("langsmith-key", &["lsv2_pt_{hex:32}_{hex:10}"], &["lsv2_pt_"]),
    ("linear-key", &["lin_api_{alnum:40}"], &["lin_api_client"]),
    ("mailgun-key", &["key-{hex:32}"], &["key-value", "primary-key-{hex:8}", "key-{hex:40}"]),
    (
        "netrc-password",
        &["machine api.shop.test login dev password {typed}"],
        &["machine learning login page password reset"],
    ),
    ("newrelic-key", &["NRAK-{upnum:27}", "NRJS-{hex:19}"], &["NRAK-"]),
    ("newrelic-license-key", &["{hex:36}NRAL"], &["NRAL", "{hex:10}NRAL"]),
    ("notion-token", &["ntn_{digits:11}{alnum:35}", "secret_{alnum:43}"], &["secret_name", "ntn_"]),
    ("npm-token", &["npm_{alnum:36}"], &["npm_config_registry", "npm_lifecycle_event"]),
    (
        "openai-key",
        &["sk-proj-{word:120}7", "sk-{alnum:20}T3BlbkFJ{alnum:20}", "sk-svcacct-{word:60}7"],
        &["sk-proj-your-key-here", "sk-test", "risk-{alnum:48}"],
    ),
    ("openrouter-key", &["sk-or-v1-{hex:64}"], &["sk-or-v1-..."]),
    (
        "password",
        &[
            "DB_PASSWORD={typed}",
            "password: \"{typed}\"",
            "{open}\\\"password\\\":\\\"{alnum:14}7x\\\"{close}",
            "+  passwd => '{alnum:12}7x',",
            "SMTP_PASS={alnum:16}7x",
        ],
        &[
            "password: string",
            "password = getPassword(user)",
            "PASSWORD=$DB_PASSWORD",
            "password=${open}DB_PASSWORD{close}",
            "password: \"changeme123\"",
            "password: process.env.DB_PASSWORD1",
            "\"password\": \"********\"",
            "PASSWORD=<your password>",
            "password_file: /run/secrets/db_password1",
            "passwordLabel:\"Password:\",rememberMeLabel:\"Remember 2\"",
            "password: [redacted:password]",
            "the password is checked in auth2.rs",
        ],
    ),
    ("perplexity-key", &["pplx-{alnum:48}"], &["pplx-api"]),
    ("postman-key", &["PMAK-{hex:24}-{hex:34}"], &["PMAK-"]),
    (
        "private-key",
        &[
            "{pem:RSA PRIVATE}",
            "{pem:PRIVATE}",
            "\"key\": \"{pem\\n:EC PRIVATE}\\n\"",
            "-{pem-diff:OPENSSH PRIVATE}",
            "{pem-cut:RSA PRIVATE}",
        ],
        &["{pem:PUBLIC}", "looks for BEGIN RSA PRIVATE KEY"],
    ),
    (
        "private-key-base64",
        &["tls.key: {pem-base64:RSA PRIVATE}", "{pem-base64:EC PRIVATE}"],
        &["ca.crt: {pem-base64:PUBLIC}", "LS0tLS1CRUdJTi"],
    ),
    ("pulumi-token", &["pul-{hex:40}"], &["pul-{hex:7}"]),
    ("pypi-token", &["pypi-AgEIcHlwaS5vcmc{word:120}7"], &["pypi-AgE", "pypi-publish"]),
    ("replicate-token", &["r8_{alnum:37}"], &["r8_unorm"]),
    ("rubygems-key", &["rubygems_{hex:48}"], &["rubygems_version"]),
    (
        "secret-value",
        &[
            "JWT_SECRET={hex:32}",
            "api_key: \"{alnum:30}7x\"",
            "{open}\\\"clientSecret\\\": \\\"{alnum:38}7x\\\"{close}",
            "X-Api-Key: {hex:40}",
            "+ACCESS_TOKEN='{word:38}7x'",
            "const apiKey = '{alnum:30}7x';",
        ],
        &[
            "token = next_token_from_stream(input)",
            "\"input_tokens\": 20000000000000000000",
            "max_tokens: 64000, token_count: 123456789012345678901234",
            "secret: {uuid}",
            "API_KEY=${open}API_KEY{close}",
            "api_key = os.environ[\"SHOP_API_KEY_2024\"]",
            "API_KEY=your-api-key-goes-here-1234",
            "api_key: <api-key-1234567890abcd>",
            "secretName: \"shop-database-credentials-v2\"",
            "token: /var/run/secrets/kubernetes.io/token2",
            "commit {hex:40}",
            "sha256: {hex:64}",
            "token: \"{open}{open} secrets.TOKEN_2024_PROD {close}{close}\"",
            "tokenizer = \"o200k_base_extended_2024\"",
            "secret = 1234567890123456789012345",
        ],
    ),
    ("sendgrid-key", &["SG.{word:21}7.{word:42}7"], &["SG.Application.Name"]),
    ("sentry-token", &["sntryu_{hex:64}", "sntrys_eyJ{alnum:80}"], &["sntryu_"]),
    ("shopify-token", &["shpat_{hex:32}"], &["shpat_{hex:6}"]),
    (
        "slack-token",
        &["xoxb-{digits:12}-{digits:12}-{alnum:24}", "xapp-1-{upnum:11}-{digits:13}-{hex:64}"],
        &["xoxb-your-token", "xoxb-xxxxxxxxxxxx-xxxxxxxxxxxx"],
    ),
    (
        "slack-webhook",
        &["https://hooks.slack.com/services/T{upnum:10}/B{upnum:10}/{alnum:24}"],
        &[
            "https://hooks.slack.com/services/",
            "hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        ],
    ),
    ("square-token", &["EAAA{word:59}7", "sq0atp-{word:21}7"], &["EAAA", "{alnum:30}EAAA{alnum:60}"]),
    (
        "stripe-key",
        &["sk_live_{alnum:24}", "rk_test_{alnum:90}", "whsec_{alnum:32}"],
        &["sk_live_xxxxxxxxxxxxxxxxxxxxxxxx", "sk_test_..."],
    ),
    ("supabase-key", &["sbp_{hex:40}", "sb_secret_{word:31}7"], &["sbp_", "sb_secret_name"]),
    (
        "telegram-bot-token",
        &["https://api.telegram.org/bot{digits:10}:AA{word:32}7/getMe"],
        &["12:AA", "{digits:10}:AA{alnum:10}"],
    ),
    ("terraform-token", &["token {alnum:14}.atlasv1.{alnum:67}"], &["x.atlasv1.y"]),
    ("twilio-key", &["SK{hex:32}"], &["SKU{hex:31}", "SK{hex:20}", "TASK{hex:32}"]),
    ("twilio-token", &["TWILIO_AUTH_TOKEN={hex:32}"], &["twilio: {hex:7}", "import twilio"]),
    (
        "url-password",
        &[
            "postgres://shop:{typed}{at}db.shop.test/main",
            "https://dev:{alnum:18}7{at}git.shop.test/a.git",
            "redis://:{hex:24}{at}cache:6379",
        ],
        &[
            "postgres://user:password{at}localhost/db",
            "postgres://$USER:$PASS{at}localhost/db",
            "https://<user>:<pass>{at}host",
            "https://host:8080/a{at}b",
            "http://[::1]:80/x{at}y",
            "postgres://postgres:postgres{at}localhost:5432",
        ],
    ),
    ("vault-token", &["hvs.{word:23}7", "hvb.{word:140}7"], &["hvs.", "hvs.client"]),
    ("xai-key", &["xai-{alnum:80}"], &["xai-org"]),
];

#[test]
fn every_rule_finds_its_examples_and_leaves_the_others() {
    for (rule, found, left) in EXAMPLES {
        for seed in SEEDS {
            for recipe in *found {
                let text = cook(recipe, &mut Dice::new(seed));
                let names: Vec<_> = secrets::find(&text).into_iter().map(|finding| finding.rule).collect();
                assert!(names.contains(rule), "{rule} misses {recipe} (seed {seed}): {names:?}");
            }
            for recipe in *left {
                let text = cook(recipe, &mut Dice::new(seed));
                let names: Vec<_> = secrets::find(&text).into_iter().map(|finding| finding.rule).collect();
                assert!(!names.contains(rule), "{rule} takes {recipe} (seed {seed}) for a secret");
            }
        }
    }
}

#[test]
fn what_is_no_secret_for_its_rule_is_none_for_the_rules_of_values_either() {
    for (rule, _, left) in
        EXAMPLES.iter().filter(|(rule, ..)| ["password", "secret-value", "url-password"].contains(rule))
    {
        for recipe in *left {
            let text = cook(recipe, &mut Dice::new(1));
            assert_eq!(redact(&text).as_str(), text, "{rule}: {recipe}");
        }
    }
}

#[test]
fn every_rule_has_examples_of_both_kinds() {
    let shown: BTreeSet<_> = EXAMPLES.iter().map(|(rule, ..)| *rule).collect();
    let known: BTreeSet<_> = secrets::rule_names().collect();
    assert_eq!(shown, known);
    assert!(EXAMPLES.is_sorted_by_key(|(rule, ..)| *rule));
    assert!(EXAMPLES.iter().all(|(_, found, left)| !found.is_empty() && !left.is_empty()));
}

#[test]
fn only_the_secret_goes() {
    let dice = &mut Dice::new(7);
    let token = cook("ghp_{alnum:36}", dice);
    assert_eq!(*redact(&format!("a {token} b")), "a [redacted:github-token] b");
    let url = cook("postgres://shop:{typed}{at}db/main", dice);
    assert_eq!(*redact(&url), "postgres://shop:[redacted:url-password]@db/main");
    let key = cook("{pem:RSA PRIVATE}", dice);
    let dashes = "-----";
    let clean = format!(
        "{dashes}BEGIN RSA PRIVATE KEY{dashes}[redacted:private-key]{dashes}END RSA PRIVATE KEY{dashes}"
    );
    assert_eq!(*redact(&key), clean);
}

#[test]
fn a_long_secret_goes_whole() {
    let text = cook("x eyJ{alnum:40}.eyJ{alnum:70000}.{alnum:86} y", &mut Dice::new(3));
    let clean = redact(&text);
    assert_eq!(clean.head(40).as_str(), "x [redacted:jwt] y");
}

#[test]
fn the_surest_rule_gives_its_name() {
    let text = cook("GITHUB_TOKEN=ghp_{alnum:36}", &mut Dice::new(5));
    assert_eq!(*redact(&text), "GITHUB_TOKEN=[redacted:github-token]");
}

#[test]
fn json_is_redacted_in_keys_and_values() {
    let token = cook("ghp_{alnum:36}", &mut Dice::new(11));
    let json = serde_json::json!({ &token: [{ "note": format!("use {token}") }], "n": 1 });
    let clean = retro_text::redact_json(json).into_inner();
    assert_eq!(
        clean.to_string(),
        r#"{"[redacted:github-token]":[{"note":"use [redacted:github-token]"}],"n":1}"#
    );
}
