//! Keys of monitoring services: logs, errors, metrics, analytics.

use crate::secrets::rule::{Judge, Rule, assigned, is_alphanumeric};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::beside(
        "amplitude-key",
        "Amplitude",
        "API key or secret",
        &["amplitude_api", "amplitude_secret", "amplitudeapi"],
        assigned!("amplitude_?(?:api|secret)", "[a-f0-9]{32}"),
    ),
    Rule::token(
        "axiom-token",
        "Axiom",
        "API or personal token",
        &["xaat-", "xapt-"],
        r"xa(?:at|pt)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
    ),
    Rule::beside("bugsnag-key", "Bugsnag", "API key", &["bugsnag"], assigned!("bugsnag", "[a-f0-9]{32}")),
    Rule::beside(
        "datadog-key",
        "Datadog",
        "API or application key",
        &["datadog", "dd_api", "dd-api", "dd_app", "dd-app"],
        assigned!("datadog|dd[_-]ap[ip]", "[A-Za-z0-9]{40}|[a-f0-9]{32}"),
    ),
    Rule::token(
        "dynatrace-token",
        "Dynatrace",
        "API token",
        &["dt0c01.", "dt0s01.", "dt0s16."],
        r"dt0[a-z]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}",
    ),
    Rule::named(
        "grafana-key",
        "Grafana",
        "API key of the older kind",
        &["eyjrijoi"],
        r"(eyJrIjoi[A-Za-z0-9]{70,400}={0,3})",
    )
    .entropy(3.8),
    Rule::token(
        "grafana-token",
        "Grafana",
        "token of a service account or of the cloud",
        &["glsa_", "glc_"],
        r"(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,2})",
    ),
    Rule::token(
        "honeycomb-key",
        "Honeycomb",
        "ingest or management key",
        &["hcaik_", "hcbik_", "hcamk_"],
        r"hc[a-z](?:ik|mk)_[a-z0-9]{26,60}",
    )
    .entropy(3.3),
    Rule::beside(
        "logzio-token",
        "Logz.io",
        "shipping token",
        &["logzio", "logz_io", "logz.io"],
        assigned!("logz[._]?io", "[A-Za-z]{32}"),
    )
    .judge(Judge::Shape)
    .entropy(3.6),
    Rule::beside(
        "mixpanel-token",
        "Mixpanel",
        "project token or secret",
        &["mixpanel"],
        assigned!("mixpanel", "[a-f0-9]{32}"),
    ),
    Rule::token(
        "newrelic-key",
        "New Relic",
        "key of a user, a browser, an administrator, of insert or query",
        &["NRAA-", "NRAK-", "NRII-", "NRIQ-", "NRJS-", "NRRA-"],
        r"NR(?:AA-[a-f0-9]{27}|AK-[A-Z0-9]{27}|I[IQ]-[\w-]{32}|JS-[a-f0-9]{19}|RA-[a-f0-9]{42})",
    ),
    Rule::token(
        "newrelic-license-key",
        "New Relic",
        "license key",
        &["NRAL"],
        r"(?:[a-f0-9]{36}|(?:eu|us|gov)[a-f0-9x]{33,34})NRAL",
    )
    .before(36)
    .front(35, is_alphanumeric)
    .reach(8)
    .entropy(2.0),
    Rule::token(
        "newrelic-pixie-key",
        "New Relic Pixie",
        "API or deploy key",
        &["px-api-", "px-dep-"],
        r"px-(?:api|dep)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
    ),
    Rule::beside(
        "newrelic-user-key",
        "New Relic",
        "user id or key of the older kind",
        &["newrelic", "new-relic", "new_relic", "license_key"],
        assigned!("new[_-]?relic|license_key", "[a-z0-9]{64}|[a-f0-9]{40}"),
    ),
    Rule::beside(
        "opsgenie-key",
        "Opsgenie",
        "API key",
        &["opsgenie"],
        assigned!("opsgenie", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    )
    .judge(Judge::Shape),
    Rule::beside(
        "pagerduty-key",
        "PagerDuty",
        "API key",
        &["pagerduty", "pd_api"],
        assigned!("pagerduty|pd_api", r"[a-f0-9]{32}|[\w+-]{20}"),
    ),
    Rule::token(
        "posthog-key",
        "PostHog",
        "project or personal key",
        &["phc_", "phx_"],
        r"ph[cx]_[A-Za-z0-9]{43,48}",
    )
    .entropy(3.5),
    Rule::beside(
        "rollbar-token",
        "Rollbar",
        "access token",
        &["rollbar"],
        assigned!("rollbar", "[a-f0-9]{32}"),
    ),
    Rule::token("segment-token", "Segment", "public API token", &["sgp_"], r"sgp_[A-Za-z0-9]{64}")
        .entropy(3.3),
    Rule::token(
        "sentry-token",
        "Sentry",
        "token of an organization or a user",
        &["sntrys_", "sntryu_"],
        r"sntry(?:s_eyJ[\w=+/-]{40,}|u_[a-f0-9]{64})",
    )
    .reach(1024),
    Rule::beside(
        "sentry-token-named",
        "Sentry",
        "token of the older kind",
        &["sentry"],
        assigned!("sentry", "[a-f0-9]{64}"),
    ),
    Rule::beside(
        "splunk-token",
        "Splunk",
        "token of the event collector",
        &["splunk"],
        assigned!("splunk", "(?i:[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12})"),
    )
    .judge(Judge::Shape),
    Rule::beside(
        "sumologic-key",
        "Sumo Logic",
        "access id or key",
        &["sumo"],
        assigned!("sumo", "su[A-Za-z0-9]{12}|[A-Za-z0-9]{64}"),
    ),
];
