//! Examples for the rules of where code and packages live.

use super::Example;

// tidy: data
pub(crate) static EXAMPLES: &[Example] = &[
    ("artifactory-key", &["AKCp{alnum:60}", "cmVmd{alnum:59}"], &["AKCp", "AKCp{alnum:20}"]),
    ("atlassian-token", &["ATATT3{word:180}x"], &["ATATT3xFf"]),
    ("bitbucket-app-password", &["ATBB{alnum:32}"], &["ATBB", "ATBB{alnum:10}"]),
    (
        "bitbucket-secret",
        &["BITBUCKET_KEY={alnum:61}{digits:3}", "\"bitbucket_secret\": \"{alnum:29}{digits:3}\""],
        &[
            "BITBUCKET_KEY=${open}BITBUCKET_KEY{close}",
            "BITBUCKET_KEY={alnum:20}{digits:3}",
            "bitbucket is a service",
        ],
    ),
    ("clojars-token", &["CLOJARS_{alnum:60}"], &["CLOJARS_", "CLOJARS_{alnum:20}"]),
    ("crates-io-token", &["cargo login cio{alnum:31}7"], &["precious", "cio{alnum:8}"]),
    ("docker-token", &["dckr_pat_{word:27}"], &["dckr_pat_"]),
    (
        "gitea-token",
        &["GITEA_TOKEN_KEY={hex:40}", "\"gitea_token_secret\": \"{hex:40}\""],
        &[
            "GITEA_TOKEN_KEY=${open}GITEA_TOKEN_KEY{close}",
            "GITEA_TOKEN_KEY={hex:13}",
            "gitea_token is a service",
        ],
    ),
    (
        "github-app-secret",
        &["GITHUB_CLIENT_KEY={hex:40}", "\"github_client_secret\": \"{hex:40}\""],
        &[
            "GITHUB_CLIENT_KEY=${open}GITHUB_CLIENT_KEY{close}",
            "GITHUB_CLIENT_KEY={hex:13}",
            "github_client is a service",
        ],
    ),
    ("github-fine-grained-token", &["github_pat_{alnum:22}_{alnum:59}"], &["github_pat_{alnum:10}"]),
    (
        "github-token",
        &[
            "ghp_{alnum:36}",
            "token%3Dgho_{alnum:36}",
            "+GITHUB_TOKEN=ghs_{alnum:36}\\n",
            "https://x:ghu_{alnum:36}{at}github.com/a",
        ],
        &["ghp_{alnum:20}", concat!("gh", "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), "ghp_user_token_123"],
    ),
    ("gitlab-runner-token", &["GR1348941{alnum:20}"], &["GR1348941", "GR1348941{alnum:6}"]),
    ("gitlab-session", &["Cookie: _gitlab_session={lownum:32}"], &["_gitlab_session=none"]),
    ("gitlab-token", &["glpat-{word:19}7", "gldt-{alnum:20}"], &["glpat-xxxxxxxxxxxxxxxxxxxx", "glpat-"]),
    (
        "jfrog-key",
        &["JFROG_KEY={alnum:70}{digits:3}", "\"jfrog_secret\": \"{alnum:61}{digits:3}\""],
        &["JFROG_KEY=${open}JFROG_KEY{close}", "JFROG_KEY={alnum:23}{digits:3}", "jfrog is a service"],
    ),
    ("npm-token", &["npm_{alnum:36}"], &["npm_config_registry", "npm_lifecycle_event"]),
    ("nuget-key", &["oy2{lownum:43}"], &["oy2", "oy2{lownum:14}"]),
    (
        "packagist-token",
        &["packagist_a{letters:1}_{hex:68}"],
        &["packagist_", "packagist_a{letters:1}_{hex:22}"],
    ),
    ("pypi-token", &["pypi-AgEIcHlwaS5vcmc{word:120}7"], &["pypi-AgE", "pypi-publish"]),
    ("rubygems-key", &["rubygems_{hex:48}"], &["rubygems_version"]),
    ("sourcegraph-token", &["sgp_{hex:40}", "sgp_{hex:40}"], &["sgp_", "sgp_{hex:13}"]),
];
