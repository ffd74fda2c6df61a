//! Tokens of services: chat, mail, payment, tracking.

use crate::secrets::rule::{Rule, assigned};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::named("datadog-key", &["datadog", "dd_api", "dd-api", "dd_app", "dd-app"], assigned!("datadog|dd[_-]ap[ip]", "[a-f0-9]{40}|[a-f0-9]{32}"))
        .entropy(3.0),
    Rule::named(
        "discord-token",
        &["discord", "bot "],
        r#"(?i:discord[\w.-]{0,24}[\s"'`\\]{0,4}[=:,>][\s"'`=:>\\]{0,6}|bot )([MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40})"#,
    ),
    Rule::named("discord-webhook", &["/api/webhooks/"], r"/api/webhooks/\d{10,25}/([\w-]{60,80})"),
    Rule::token("figma-token", &["figd_"], r"figd_[\w-]{38,44}"),
    Rule::token("grafana-token", &["glsa_", "glc_"], r"(?:glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,2})"),
    Rule::token("linear-key", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    Rule::token("mailgun-key", &["key-"], r"key-[a-f0-9]{32}").entropy(3.0),
    Rule::token("newrelic-key", &["NRAK-", "NRII-", "NRJS-"], r"NR(?:AK-[A-Z0-9]{27}|II-[\w-]{32}|JS-[a-f0-9]{19})"),
    Rule::token("newrelic-license-key", &["NRAL"], r"[a-f0-9]{36}NRAL").before(36),
    Rule::token("notion-token", &["ntn_", "secret_"], r"(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43})").entropy(3.5),
    Rule::token("postman-key", &["PMAK-"], r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    Rule::token("sendgrid-key", &["SG."], r"SG\.[\w-]{22}\.[\w-]{43}"),
    Rule::token("sentry-token", &["sntrys_", "sntryu_"], r"sntry(?:s_eyJ[\w=+/-]{40,}|u_[a-f0-9]{64})"),
    Rule::token("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    Rule::token(
        "slack-token",
        &["xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"],
        r"(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xoxe\.xox[bp]-\d-[A-Za-z0-9]{100,}|xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]{20,})",
    )
    .entropy(3.0),
    Rule::named("slack-webhook", &["hooks.slack.com/"], r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w+/-]{40,})"),
    Rule::token("square-token", &["EAAA", "sq0atp-", "sq0csp-", "sq0idp-"], r"(?:EAAA[\w-]{60}|sq0(?:atp|csp|idp)-[\w-]{22,43})")
        .entropy(3.5),
    Rule::token(
        "stripe-key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
        r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{32,}={0,2})",
    )
    .entropy(3.0),
    Rule::token("telegram-bot-token", &[":AA"], r"\d{8,10}:AA[\w-]{32,33}").before(10).inside_words(),
    Rule::token(
        "twilio-key",
        &[
            "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf",
        ],
        r"SK[a-f0-9]{32}",
    )
    .entropy(3.0),
    Rule::named("twilio-token", &["twilio"], assigned!("twilio", "[a-f0-9]{32}")).entropy(3.0),
];
