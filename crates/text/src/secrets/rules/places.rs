//! Secrets known by the place where they stand, whoever made them: a key block,
//! a header, a URL, a value behind a telling name.

use crate::secrets::rule::{Judge, Rule};

/// A telling name and its value on one line: in quotes, which may be escaped,
/// or bare. The numbers are the least lengths of each.
macro_rules! value_of {
    ($name:literal, $quoted:literal, $bare:literal) => {
        concat!(
            "(?i:",
            $name,
            r#")\d?\\*["'`]?[ \t]{0,8}(?:=>|:=|=|:)[ \t]{0,8}"#,
            r#"(?:\\*"([^\s"\\]{"#,
            $quoted,
            r#",})\\*"|\\*'([^\s'\\]{"#,
            $quoted,
            r#",})\\*'|([^\s"'`\\,;(){}\[\]<>&|$]{"#,
            $bare,
            ",}))",
        )
    };
}

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::token("age-secret-key", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[AC-HJ-NP-Z02-9]{58}"),
    Rule::named("basic-auth", &["basic "], r"(?i:basic) +([A-Za-z0-9+/_-]{8,}={0,2})").judge(Judge::BasicAuth),
    Rule::named(
        "bearer-token",
        &["bearer ", "authorization"],
        concat!(
            r#"(?i:bearer|authorization\\*["'`]?[ \t]{0,4}[:=][ \t]{0,4}\\*["'`]?(?:bearer|token|bot|apikey)?)[ \t]{1,4}"#,
            r"([A-Za-z0-9_~+/.=-]{16,})",
        ),
    )
    .entropy(3.0)
    .judge(Judge::Value)
    .reach(1024),
    Rule::named(
        "command-line-secret",
        &["--password", "--passwd", "--token", "--api-key", "--apikey", "--secret", "--auth-token", "--access-token"],
        r#"--(?i:password|passwd|token|api-?key|secret|auth-token|access-token)(?:=| +)(?:\\*["']([^\s"'\\]{8,})\\*["']|([^\s"'`\\,;(){}\[\]<>&|$]{8,}))"#,
    )
    .entropy(2.5)
    .judge(Judge::Password),
    Rule::named(
        "curl-user",
        &["curl "],
        r#"curl [^\n|;]{0,300}?(?:-u|--user)[ =]\\*["']?[^\s:"'\\$]{1,80}:([^\s"'\\]{6,})"#,
    )
    .entropy(2.5)
    .judge(Judge::Password),
    Rule::token("jwt", &["eyJ"], r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{16,}").entropy(3.5).reach(2048),
    Rule::named("netrc-password", &["machine "], r"machine\s+\S+\s+login\s+\S+\s+password\s+(\S{4,})")
        .entropy(2.0)
        .judge(Judge::Password),
    Rule::named(
        "password",
        &["password", "passwd", "passphrase", "_pwd", "_pass"],
        value_of!(r"(?:password|passwd|passphrase|_pwd|_pass)(?:[_-]?(?:prod|dev|test|staging|value))?", "8", "8"),
    )
    .entropy(2.5)
    .judge(Judge::Password),
    Rule::named(
        "private-key",
        &["-----BEGIN"],
        concat!(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----",
            r"(?:((?:[^-]|-[^-])*?)-?-----END|((?:[A-Za-z0-9+/=\s]|\\+[nrt]){40,}))",
        ),
    )
    .exact()
    .reach(16 * 1024)
    .judge(Judge::KeyBody),
    Rule::token(
        "private-key-base64",
        &["LS0tLS1CRUdJTi"],
        concat!(
            r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,40}?(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW)",
            r"[A-Za-z0-9+/]{40,}={0,2}",
        ),
    )
    .reach(8 * 1024),
    Rule::named(
        "secret-value",
        &[
            "secret", "token", "api_key", "apikey", "api-key", "access_key", "accesskey", "access-key", "auth_key",
            "private_key", "privatekey", "signing_key", "encryption_key", "master_key", "credential",
        ],
        value_of!(
            r"(?:secret|token|(?:api|access|auth|private|signing|encryption|master)[_-]?key|credentials?)(?:[_-]?(?:key|token|secret|value|base|id|prod|dev|test|staging|live)){0,2}",
            "16",
            "20"
        ),
    )
    .entropy(3.0)
    .judge(Judge::Value),
    Rule::named("url-password", &["://"], r#"://[^\s/?#:@"'`<>\\|]{0,64}:([^\s/?#"'`<>\\|]{3,})@[\w\[]"#)
        .entropy(1.5)
        .judge(Judge::Password),
];
