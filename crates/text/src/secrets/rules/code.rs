//! Tokens of code hosts and package registries.

use crate::secrets::rule::{Rule, assigned};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::token(
        "artifactory-key",
        "Artifactory",
        "API key or reference token",
        &["AKCp", "cmVmd"],
        r"(?:AKCp[A-Za-z0-9]{60,75}|cmVmd[A-Za-z0-9]{59})",
    )
    .entropy(3.5),
    Rule::token("atlassian-token", "Atlassian", "API token", &["ATATT3", "ATCTT3"], r"AT[AC]TT3[\w=-]{60,}"),
    Rule::token("bitbucket-app-password", "Bitbucket", "app password", &["ATBB"], r"ATBB[\w=-]{32}")
        .entropy(3.3),
    Rule::beside(
        "bitbucket-secret",
        "Bitbucket",
        "client id or secret",
        &["bitbucket"],
        assigned!("bitbucket", r"[\w=-]{64}|[A-Za-z0-9]{32}"),
    ),
    Rule::token("clojars-token", "Clojars", "deploy token", &["CLOJARS_"], r"CLOJARS_[A-Za-z0-9]{60}")
        .entropy(3.3),
    Rule::token("crates-io-token", "crates.io", "API token", &["cio"], r"cio[A-Za-z0-9]{32}").entropy(3.6),
    Rule::token(
        "docker-token",
        "Docker Hub",
        "access token",
        &["dckr_pat_", "dckr_oat_"],
        r"dckr_[po]at_[\w-]{27,32}",
    ),
    Rule::beside(
        "gitea-token",
        "Gitea",
        "access token",
        &["gitea_token", "gitea-token", "gitea_api", "forgejo_token"],
        assigned!("(?:gitea|forgejo)[_-](?:token|api)", "[a-f0-9]{40}"),
    ),
    Rule::beside(
        "github-app-secret",
        "GitHub",
        "client secret of an application",
        &["github_client", "github-client", "github_secret", "githubclient"],
        assigned!("github[_-]?(?:client|secret)", "[a-f0-9]{40}"),
    ),
    Rule::token(
        "github-fine-grained-token",
        "GitHub",
        "fine-grained access token",
        &["github_pat_"],
        r"github_pat_\w{70,90}",
    ),
    Rule::token(
        "github-token",
        "GitHub",
        "access token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"gh[pousr]_[A-Za-z0-9]{36,255}",
    ),
    Rule::token(
        "gitlab-runner-token",
        "GitLab",
        "registration token of a runner",
        &["GR1348941"],
        r"GR1348941[\w-]{20}",
    )
    .entropy(3.0),
    Rule::named(
        "gitlab-session",
        "GitLab",
        "session cookie",
        &["_gitlab_session="],
        r"_gitlab_session=([a-z0-9]{32})",
    )
    .entropy(3.0),
    Rule::token(
        "gitlab-token",
        "GitLab",
        "access token",
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-",
            "glffct-", "gloas-",
        ],
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|oas)-(?:\w{1,5}_)?[\w.-]{20,}",
    )
    .entropy(3.0),
    Rule::beside(
        "jfrog-key",
        "JFrog",
        "API key or identity token",
        &["jfrog", "artifactory", "bintray", "xray"],
        assigned!("jfrog|artifactory|bintray|xray", "[A-Za-z0-9]{73}|[A-Za-z0-9]{64}"),
    ),
    Rule::token("npm-token", "npm", "access token", &["npm_"], r"npm_[A-Za-z0-9]{36}").entropy(3.3),
    Rule::token("nuget-key", "NuGet", "API key", &["oy2"], r"oy2[a-z0-9]{43}").entropy(3.3),
    Rule::token(
        "packagist-token",
        "Packagist",
        "API token",
        &["packagist_"],
        r"packagist_[aou][a-z]{1,2}_[a-f0-9]{68}",
    ),
    Rule::token("pypi-token", "PyPI", "upload token", &["pypi-AgE"], r"pypi-AgE[A-Za-z0-9][\w-]{50,}"),
    Rule::token("rubygems-key", "RubyGems", "API key", &["rubygems_"], r"rubygems_[a-f0-9]{48}"),
    Rule::token(
        "sourcegraph-token",
        "Sourcegraph",
        "access token",
        &["sgp_"],
        r"sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}",
    )
    .entropy(3.0),
];
