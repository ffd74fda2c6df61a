//! Tokens of the places where code and packages live.

use crate::secrets::rule::Rule;

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::token("atlassian-token", &["ATATT3", "ATCTT3"], r"AT[AC]TT3[\w=-]{60,}"),
    Rule::token("crates-io-token", &["cio"], r"cio[A-Za-z0-9]{32}").entropy(3.6),
    Rule::token("docker-token", &["dckr_pat_", "dckr_oat_"], r"dckr_[po]at_[\w-]{27,32}"),
    Rule::token("github-fine-grained-token", &["github_pat_"], r"github_pat_\w{22}_\w{59}"),
    Rule::token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    Rule::token(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-",
            "glffct-", "gloas-",
        ],
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|oas)-(?:\w{1,5}_)?[\w.-]{20,}",
    )
    .entropy(3.0),
    Rule::token("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{36}").entropy(3.3),
    Rule::token("pypi-token", &["pypi-AgE"], r"pypi-AgE[A-Za-z0-9][\w-]{50,}"),
    Rule::token("rubygems-key", &["rubygems_"], r"rubygems_[a-f0-9]{48}"),
];
