//! Keys of clouds, hosting and infrastructure.

use crate::secrets::rule::{Rule, assigned};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::token("aws-access-key-id", &["AKIA", "ASIA", "ABIA", "ACCA"], r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}"),
    Rule::token(
        "aws-key-pair",
        &["AKIA", "ASIA"],
        r"A(?:K|S)IA[A-Z0-9]{16}\b[^\n]{1,80}?[^A-Za-z0-9/+]([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|\z)",
    )
    .entropy(4.2),
    Rule::named(
        "aws-secret-key",
        &["aws_secret", "aws-secret", "awssecret", "secret_access_key", "secretaccesskey", "secret access key"],
        concat!(
            r#"(?i:aws[_-]?secret|secret[_ ]?access[_ ]?key)[\w.-]{0,24}[\s"'`\\]{0,4}(?:=>|\?=|[=:,\]])[\s"'`=:\\]{0,6}"#,
            r"([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|\z)",
        ),
    )
    .entropy(3.5),
    Rule::named(
        "aws-session-token",
        &["session_token", "sessiontoken"],
        assigned!("session_?token", r"[A-Za-z0-9/+]{100,}={0,2}"),
    )
    .entropy(4.0)
    .reach(1024),
    Rule::token("azure-client-secret", &["Q~"], r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}").before(4),
    Rule::named("azure-sas-signature", &["sig="], r"sig=([A-Za-z0-9%/+]{43,60}(?:%3[dD]|=))").entropy(4.0),
    Rule::named(
        "azure-storage-key",
        &["accountkey=", "sharedaccesskey="],
        r"(?i:(?:account|sharedaccess)key)=([A-Za-z0-9+/]{43,86}={1,2})",
    )
    .entropy(4.0),
    Rule::named(
        "cloudflare-token",
        &["cloudflare", "cf_api", "cf-api"],
        assigned!("cloudflare|cf[_-]api", r"[A-Za-z0-9_-]{40}|[a-f0-9]{37}"),
    )
    .entropy(3.4),
    Rule::token("databricks-token", &["dapi"], r"dapi[a-f0-9]{32}(?:-\d)?"),
    Rule::token("digitalocean-token", &["doo_v1_", "dop_v1_", "dor_v1_"], r"do[opr]_v1_[a-f0-9]{64}"),
    Rule::token("doppler-token", &["dp."], r"dp\.(?:audit|ct|pt|sa|scim|st)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    Rule::token("google-api-key", &["AIza"], r"AIza[\w-]{35}").entropy(3.5),
    Rule::token("google-oauth-secret", &["GOCSPX-"], r"GOCSPX-[\w-]{28}"),
    Rule::token("google-oauth-token", &["ya29.", "1//0"], r"(?:ya29\.[\w-]{30,}|1//0[\w-]{40,})").entropy(3.8),
    Rule::named(
        "heroku-key",
        &["heroku"],
        assigned!("heroku", r"(?i:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
    ),
    Rule::token("heroku-token", &["HRKU-AA"], r"HRKU-AA[\w-]{58}"),
    Rule::token("pulumi-token", &["pul-"], r"pul-[a-f0-9]{40}"),
    Rule::token("supabase-key", &["sbp_", "sb_secret_"], r"(?:sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,})"),
    Rule::token("terraform-token", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}").before(14),
    Rule::token("vault-token", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[\w-]{24,}").entropy(3.3),
];
