//! Secrets known by their context, from any service: a key block, a header, a URL, a value after a
//! telling name.

use std::ops::Range;

use crate::secrets::named::Names;
use crate::secrets::rule::{ANY, Judge, Rule};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::token(
        "age-secret-key",
        "age",
        "secret key",
        &["AGE-SECRET-KEY-1"],
        r"AGE-SECRET-KEY-1[AC-HJ-NP-Z02-9]{58}",
    ),
    Rule::token(
        "azure-cli-password",
        "Azure",
        "password of a command",
        &[
            "az login",
            "az acr",
            "az ad ",
            "az sql",
            "az vm ",
            "az postgres",
            "az mysql",
            "az webapp",
            "az account",
        ],
        r#"az [a-z-]+ [^\n|;]{0,300}?(?:-p|--password)[ =]\\*["']?([^\s"'\\$]{8,})"#,
    )
    .entropy(2.5)
    .judge(Judge::Password),
    Rule::named(
        "basic-auth",
        ANY,
        "user and password in a header",
        &["basic "],
        r"(?i:basic) +([A-Za-z0-9+/_-]{8,}={0,2})",
    )
    .judge(Judge::BasicAuth),
    Rule::named(
        "bearer-token",
        ANY,
        "token in a header",
        &["bearer ", "authorization"],
        concat!(
            r#"(?i:bearer[ \t]{1,4}|authorization\\*["'`]?[ \t]{0,4}[:=][ \t]{0,4}\\*["'`]?"#,
            r"(?:(?:bearer|token|bot|apikey)[ \t]{1,4})?)",
            r"([A-Za-z0-9_~+/.=-]{16,})",
        ),
    )
    .entropy(3.0)
    .judge(Judge::Value)
    .reach(1024),
    Rule::value_of(
        "command-line-secret",
        "value of an option",
        &[
            "--password",
            "--passwd",
            "--passphrase",
            "--pass",
            "--token",
            "--api-key",
            "--apikey",
            "--secret",
            "--client-secret",
            "--auth-token",
            "--access-token",
            "--secret-key",
        ],
        Names { tails: &[], weak: &[], is_option: true },
    )
    .entropy(2.5)
    .judge(Judge::Password),
    Rule::named(
        "cookie",
        ANY,
        "session in a cookie",
        &["cookie"],
        concat!(
            r#"(?i:cookie)\\*["'`]?[ \t]{0,4}[:=][ \t]{0,4}\\*["'`]?(?:[^\n"'\\]{0,400}?[; .])?"#,
            r#"(?i:[\w-]{0,24}(?:sess(?:ion)?(?:_?id)?|sid|auth|token|jwt))=([^\s;"',\\]{16,})"#,
        ),
    )
    .entropy(3.0)
    .judge(Judge::Value),
    Rule::named(
        "curl-user",
        ANY,
        "password of `curl -u`",
        &["curl "],
        r#"curl (?:[^\n|;]|\\\r?\n){0,300}?(?:-u|--user)[ =]\\*["']?[^\s:"'\\$]{1,80}:([^\s"'\\]{6,})"#,
    )
    .entropy(2.5)
    .judge(Judge::Password),
    Rule::named(
        "django-secret-key",
        "Django",
        "secret key of a site",
        &["secret_key"],
        concat!(
            r#"(?i:secret_key)\\*["']?\s{0,4}[=:]\s{0,4}"#,
            r#"\\*["']((?:django-insecure-)?[a-z0-9!@\#$%^&*(\-_=+)]{50})\\*["']"#,
        ),
    )
    .entropy(3.8),
    Rule::named(
        "docker-config-auth",
        "Docker",
        "user and password in `config.json`",
        &["auth\"", "auth\\\""],
        r#"auth\\*"\s{0,4}:\s{0,4}\\*"([A-Za-z0-9+/]{12,}={0,2})\\*""#,
    )
    .judge(Judge::BasicAuth),
    Rule::named(
        "docker-login-password",
        "Docker",
        "password of `docker login`",
        &["docker login"],
        r#"docker login [^\n|;]{0,200}?(?:-p|--password)[ =]\\*["']?([^\s"'\\$]{8,})"#,
    )
    .entropy(2.5)
    .judge(Judge::Password),
    Rule::named(
        "htpasswd-password",
        ANY,
        "password of `htpasswd -b`",
        &["htpasswd "],
        concat!(
            r"htpasswd(?: +-[A-Za-z]+)* +(?:-[A-Za-z]*n[A-Za-z]*b[A-Za-z]*|-[A-Za-z]*b[A-Za-z]*n[A-Za-z]*",
            r#"|-[A-Za-z]*b[A-Za-z]*(?: +-[A-Za-z]+)* +[^\s-]\S*) +[^\s-]\S* +\\*["']?([^\s"'\\$|;>]{6,})"#,
        ),
    )
    .entropy(2.5)
    .judge(Judge::Password),
    Rule::named(
        "jwk-private-part",
        ANY,
        "private part of a JSON web key",
        &["\"d\"", "\"d\\\""],
        r#""d\\*"\s{0,4}:\s{0,4}\\*"([\w-]{42,700})\\*""#,
    )
    .entropy(4.2)
    .reach(1024),
    Rule::token("jwt", ANY, "signed token", &["eyJ"], r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{16,}")
        .entropy(3.5)
        .reach(2048),
    Rule::named(
        "kerberos-hash",
        "Kerberos",
        "hash of a ticket",
        &["$krb5"],
        concat!(r"\$krb5(?:asrep|tgs|pa)\$\d+\$[^\s$]{1,100}\$", r"(?:[^\s$]{1,200}\$){0,2}([a-f0-9]{32,})"),
    )
    .entropy(3.0)
    .reach(1024),
    Rule::named(
        "kubernetes-bootstrap-token",
        "Kubernetes",
        "secret of a bootstrap token",
        &["token-secret"],
        r#"token-secret\\*["']?:\s{0,4}\\*["']?([a-z0-9]{16})"#,
    )
    .entropy(2.3),
    Rule::named(
        "kubernetes-secret",
        "Kubernetes",
        "value of a secret in its manifest",
        &["kind: secret", "kind: \"secret"],
        concat!(
            r#"(?i:kind): "?(?i:secret)"?(?:\s|\\n)[^{}]{0,400}?(?:\s|\\n)data:"#,
            r#"(?:\s|\\n)+[\w.-]+: *"?([A-Za-z0-9+/]{12,}={0,2})"#,
        ),
    )
    .entropy(3.0)
    .judge(Judge::Value)
    .reach(1024),
    Rule::named(
        "mysql-password",
        "MySQL",
        "password of a command",
        &["mysql ", "mysqldump ", "mysqladmin ", "mariadb "],
        r#"(?i:mysql(?:dump|admin)?|mariadb)(?: [^\n|;]*?)? -p\\*["']?([^\s"'\\$=]{6,})"#,
    )
    .entropy(2.5)
    .judge(Judge::Password)
    .reach(192),
    Rule::named(
        "netrc-password",
        ANY,
        "password in `.netrc`",
        &["machine "],
        r"machine\s+\S+\s+login\s+\S+\s+password\s+(\S{4,})",
    )
    .entropy(2.0)
    .judge(Judge::Password),
    Rule::named(
        "npmrc-token",
        "npm",
        "token in `.npmrc`",
        &["_authtoken", ":_auth="],
        r#":_(?i:authtoken|auth) ?= ?\\*["']?([\w+/=-]{20,})"#,
    )
    .before(1)
    .entropy(3.0),
    Rule::named(
        "openssl-password",
        "OpenSSL",
        "password of a command",
        &[" pass:"],
        r#"-pass(?:in|out)? pass:\\*["']?([^\s"'\\$]{6,})"#,
    )
    .before(8)
    .entropy(2.5)
    .judge(Judge::Password),
    Rule::named(
        "otpauth-secret",
        ANY,
        "secret of one-time passwords",
        &["otpauth://"],
        r#"otpauth://[^\s"'<>\\]{1,300}?[?&](?i:secret)=([A-Za-z2-7]{16,}=*)"#,
    )
    .entropy(2.5),
    Rule::value_of(
        "password",
        "value behind a name of a password",
        &[
            "password",
            "passwd",
            "passphrase",
            "passwort",
            "_pwd",
            "_pass",
            "_pw",
            "pass",
            "pwd",
            "pw=",
            "pw\"",
        ],
        Names {
            tails: &["prod", "dev", "test", "staging", "value"],
            weak: &["pass", "pwd", "pw"],
            is_option: false,
        },
    )
    .entropy(2.5)
    .judge(Judge::Password),
    Rule::named(
        "password-hash",
        ANY,
        "hash of a password",
        &["$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$8$", "$9$", "$argon2"],
        concat!(
            r"\$(?:1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|2[aby]\$\d\d\$[./A-Za-z0-9]{53}",
            r"|[56]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}",
            r"|[89]\$[./A-Za-z0-9]{14}\$[./A-Za-z0-9]{43}",
            r"|argon2(?:id?|d)\$v=\d+\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]{8,}\$[A-Za-z0-9+/]{20,})",
        ),
    )
    .entropy(3.5),
    Rule::named(
        "pgpass-password",
        "PostgreSQL",
        "password in `.pgpass`",
        &[":5432:", ":5433:", ":6432:", ":*:*:"],
        r#"[\w.*/-]+:(?:\d+|\*):[\w.*-]+:[\w.@*-]+:([^\s:"'\\]{4,})"#,
    )
    .before(24)
    .reach(96)
    .entropy(2.0)
    .judge(Judge::Password),
    Rule::named(
        "private-key",
        ANY,
        "key block",
        &["-----BEGIN"],
        concat!(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----",
            r"(?:(?:[^-]|-[^-])*?-?-----END|(?:[A-Za-z0-9+/=\s]|\\+[nrt]){40,}",
            // Lines with a number or a file name before them, or with headers.
            r"|(?:(?:[ \t]*(?:\r?\n|(?:\\+r)?\\+n))+(?:[ \t]*\d{1,7}[ \t]*(?:\xe2\x86\x92|[:|\t])[ \t]?",
            r"|[^\s\\]{1,120}?[:-]\d{1,7}[:-]|[ \t>+-]{0,8})",
            r"(?:[A-Z][A-Za-z-]{2,20}: [^\n\\]{0,100}|[A-Za-z0-9+/=]{4,}))+)",
        ),
    )
    .exact()
    .body(between_dashes)
    .reach(16 * 1024)
    .judge(Judge::KeyBody),
    Rule::named(
        "putty-key",
        "PuTTY",
        "private lines of a key file",
        &["private-lines:"],
        r"(?i:private-lines): \d+(?:\s|\\+[rn])+((?:[A-Za-z0-9+/=\s]|\\+[nr]){40,})",
    )
    .reach(8 * 1024)
    .judge(Judge::KeyBody),
    Rule::named(
        "redis-password",
        "Redis",
        "password of a command or a configuration",
        &["redis-cli ", "requirepass "],
        r#"(?:redis-cli [^\n|;]{0,200}?-a|requirepass) +\\*["']?([^\s"'\\$]{8,})"#,
    )
    .entropy(2.5)
    .judge(Judge::Password),
    Rule::value_of(
        "secret-value",
        "value behind a telling name",
        &[
            "secret",
            "token",
            "api_key",
            "apikey",
            "api-key",
            "access_key",
            "accesskey",
            "access-key",
            "auth_key",
            "authkey",
            "private_key",
            "privatekey",
            "signing_key",
            "signingkey",
            "encryption_key",
            "encryptionkey",
            "master_key",
            "masterkey",
            "credential",
            "credentials",
        ],
        Names {
            tails: &[
                "key", "token", "secret", "value", "base", "id", "prod", "dev", "test", "staging", "live",
            ],
            weak: &[],
            is_option: false,
        },
    )
    .entropy(3.0)
    .judge(Judge::Value),
    Rule::named(
        "sql-password",
        ANY,
        "password of a database user",
        &["identified by", "identified with"],
        concat!(
            r"(?i:identified (?:by|with [\w']{4,40} by)) +(?:password +)?",
            r#"\\*["']([^\s"'\\]{6,})\\*["']"#,
        ),
    )
    .entropy(2.5)
    .judge(Judge::Password),
    Rule::named(
        "ssh-password",
        "SSH",
        "password of `sshpass`",
        &["sshpass "],
        r#"sshpass +-p *\\*["']?([^\s"'\\$]{6,})"#,
    )
    .entropy(2.0)
    .judge(Judge::Password),
    Rule::named(
        "stdin-password",
        ANY,
        "password handed to a command",
        &["sudo -S", "--password-stdin", "--stdin"],
        concat!(
            r#"(?:echo|printf)(?: +-[ne]+)? +\\*["']?([^\s"'\\$|]{4,})(?:\\+n)?\\*["']? *\| *"#,
            r"(?:sudo(?: +-[A-Za-z]+)* +-S|[^\n|;]{1,120}?--(?:password-)?stdin)",
        ),
    )
    .before(200)
    .entropy(2.0)
    .judge(Judge::Password),
    Rule::named(
        "terraform-default",
        "Terraform",
        "value of a variable with a telling name",
        &["variable \"", "variable \\\""],
        concat!(
            r#"variable \\*"[\w-]{0,60}(?i:password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key)"#,
            r#"[\w-]{0,20}\\*"(?:\s|\\+n)*\{[^{}]{0,600}?default(?:\s|\\+[nt])*=[ \t]*\\*"([^"\s\\]{6,})\\*""#,
        ),
    )
    .entropy(2.5)
    .judge(Judge::Password)
    .reach(1024),
    Rule::named(
        "url-password",
        ANY,
        "password in a URL",
        &["://"],
        // A password that was percent-encoded may hold `/`, `?` and `#`. A port begins with a digit.
        concat!(
            r#"://[^\s/?#:@"'`<>\\|]{0,64}:"#,
            r#"([^\s/?#"'`<>\\|]{3,}|[^\s/?#"'`<>\\|@\d:\[\]][^\s"'`<>\\|@]{2,})@[\w\[]"#,
        ),
    )
    .entropy(1.5)
    .judge(Judge::UrlPassword),
    Rule::named(
        "wireguard-key",
        "WireGuard",
        "private or preshared key",
        &["privatekey", "presharedkey"],
        r"(?i:privatekey|presharedkey) ?= ?([A-Za-z0-9+/]{43}=)",
    )
    .entropy(4.0),
];

/// The body of a key block: what is behind the line that begins it, and before the one that ends it.
fn between_dashes(block: &[u8]) -> Option<Range<usize>> {
    const DASHES: &[u8] = b"-----";
    let begin = DASHES.len() + memchr::memmem::find(block.get(DASHES.len()..)?, DASHES)?;
    let start = begin + DASHES.len();
    let end = match block.strip_suffix(b"-----END") {
        Some(body) if body.len() >= start => body.strip_suffix(b"-").unwrap_or(body).len().max(start),
        _ => block.len(),
    };
    Some(start..end)
}
