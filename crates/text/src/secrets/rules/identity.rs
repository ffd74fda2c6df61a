//! Keys of identity providers and of secret managers.

use crate::secrets::rule::{Judge, Rule, assigned};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::beside("auth0-secret", "Auth0", "client secret", &["auth0"], assigned!("auth0", r"[\w-]{64}")),
    Rule::token(
        "authress-key",
        "Authress",
        "access key of a service client",
        &["sc_", "ext_", "scauth_", "authress_"],
        concat!(
            r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}",
            r"\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}",
        ),
    ),
    Rule::token(
        "doppler-token",
        "Doppler",
        "token of a user, a service or the command line",
        &["dp."],
        r"dp\.(?:audit|ct|pt|sa|scim|st)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    Rule::token(
        "infisical-token",
        "Infisical",
        "service token",
        &["st."],
        r"st\.[a-f0-9]{24}\.[a-f0-9]{32}\.[a-f0-9]{32}",
    ),
    Rule::beside(
        "intra42-secret",
        "Intra 42",
        "client secret",
        &["s-s4t2"],
        r"(s-s4t2(?:ud|af)-[a-f0-9]{64})",
    )
    .judge(Judge::Shape),
    Rule::beside("okta-token", "Okta", "API token", &["okta"], assigned!("okta", r"00[\w=-]{40}")),
    Rule::named(
        "okta-token-header",
        "Okta",
        "API token in a header",
        &["ssws "],
        r"(?i:ssws) +(00[\w-]{40})",
    )
    .entropy(3.3),
    Rule::token(
        "onepassword-secret-key",
        "1Password",
        "secret key of an account",
        &["A3-"],
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
    )
    .entropy(3.3),
    Rule::token(
        "onepassword-service-token",
        "1Password",
        "token of a service account",
        &["ops_eyJ"],
        r"ops_eyJ[A-Za-z0-9+/_-]{200,}={0,3}",
    )
    .entropy(4.0)
    .reach(2048),
    Rule::token(
        "salesforce-token",
        "Salesforce",
        "access token",
        &["00D"],
        r"00D[A-Za-z0-9]{12}![A-Za-z0-9._]{96}",
    )
    .entropy(4.0),
    Rule::token(
        "stytch-secret",
        "Stytch",
        "project secret",
        &["secret-live-", "secret-test-"],
        r"secret-(?:live|test)-[\w=-]{36}",
    )
    .entropy(3.5),
    Rule::token(
        "vault-token",
        "HashiCorp Vault",
        "service, batch or recovery token",
        &["hvs.", "hvb.", "hvr."],
        r"hv[sbr]\.[\w-]{24,}",
    )
    .entropy(3.3),
    Rule::beside(
        "vault-token-named",
        "HashiCorp Vault",
        "token of the older kind",
        &["vault_token", "vault-token", "x-vault-token"],
        assigned!("vault[_-]token", r"[sbr]\.[\w-]{90,}|[sbr]\.[A-Za-z0-9]{24}"),
    )
    .judge(Judge::Shape),
    Rule::token(
        "workos-key",
        "WorkOS",
        "API key",
        &["sk_"],
        r"sk_(?:live|test)_a2V5[A-Za-z0-9+/]{40,}={0,2}",
    )
    .entropy(3.8),
];
