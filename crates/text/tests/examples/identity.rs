//! Examples for the rules of identity providers and keepers of secrets.

use super::Example;

// tidy: data
pub(crate) static EXAMPLES: &[Example] = &[
    (
        "auth0-secret",
        &["AUTH0_KEY={alnum:61}{digits:3}", "\"auth0_secret\": \"{alnum:61}{digits:3}\""],
        &["AUTH0_KEY=${open}AUTH0_KEY{close}", "AUTH0_KEY={alnum:20}{digits:3}", "auth0 is a service"],
    ),
    (
        "authress-key",
        &["sc_{alnum:10}.{alnum:5}.acc_{alnum:12}.{alnum+:60}"],
        &["sc_name", "sc_{alnum:10}.{alnum:5}.acc_{alnum:12}"],
    ),
    ("doppler-token", &["dp.pt.{alnum:43}", "dp.st.prd.{alnum:42}"], &["dp.pt.x", "import pandas as dp.pt"]),
    ("infisical-token", &["st.{hex:24}.{hex:32}.{hex:32}"], &["st.", "st.{hex:24}.{hex:10}.{hex:32}"]),
    ("intra42-secret", &["s-s4t2ud-{hex:64}"], &["s-s4t2ud-{hex:10}"]),
    (
        "okta-token",
        &["OKTA_KEY=00{alnum:37}{digits:3}", "\"okta_secret\": \"00{alnum:37}{digits:3}\""],
        &["OKTA_KEY=${open}OKTA_KEY{close}", "OKTA_KEY=00{alnum:12}{digits:3}", "okta is a service"],
    ),
    (
        "okta-token-header",
        &["Authorization: SSWS 00{word:39}7"],
        &["SSWS tokens", "Authorization: SSWS ${open}TOKEN{close}"],
    ),
    (
        "onepassword-secret-key",
        &[
            "A3-{upnum:6}-{upnum:11}-{upnum:5}-{upnum:5}-{upnum:5}",
            "A3-{upnum:6}-{upnum:6}-{upnum:5}-{upnum:5}-{upnum:5}-{upnum:5}",
        ],
        &["A3-", "A3-{upnum:6}-{upnum:3}-{upnum:5}-{upnum:5}-{upnum:5}"],
    ),
    ("onepassword-service-token", &["ops_eyJ{alnum:200}"], &["ops_eyJ", "ops_eyJ{alnum:66}"]),
    ("salesforce-token", &["00D{alnum:12}!{alnum:96}"], &["00D", "00D{alnum:12}!{alnum:32}"]),
    (
        "stytch-secret",
        &["secret-live-{alnum:36}", "secret-test-{alnum:36}"],
        &["secret-live-", "secret-live-{alnum:12}"],
    ),
    ("vault-token", &["hvs.{word:23}7", "hvb.{word:140}7"], &["hvs.", "hvs.client"]),
    (
        "vault-token-named",
        &["VAULT_TOKEN=s.{alnum:24}", "X-Vault-Token: b.{alnum:94}"],
        &["VAULT_TOKEN=$(cat token)", "VAULT_TOKEN=s.{alnum:6}"],
    ),
    ("workos-key", &["sk_live_a2V5{alnum:40}", "sk_test_a2V5{alnum:40}"], &["sk_", "sk_live_a2V5{alnum:13}"]),
];
