//! Examples for the rules of monitoring and analytics.

use super::Example;

// tidy: data
pub(crate) static EXAMPLES: &[Example] = &[
    (
        "amplitude-key",
        &["AMPLITUDE_API_KEY={hex:32}", "\"amplitude_api_secret\": \"{hex:32}\""],
        &[
            "AMPLITUDE_API_KEY=${open}AMPLITUDE_API_KEY{close}",
            "AMPLITUDE_API_KEY={hex:10}",
            "amplitude_api is a service",
        ],
    ),
    ("axiom-token", &["xaat-{uuid}", "xapt-{uuid}"], &["xaat-", "xaat-{hex:12}"]),
    (
        "bugsnag-key",
        &["BUGSNAG_KEY={hex:32}", "\"bugsnag_secret\": \"{hex:32}\""],
        &["BUGSNAG_KEY=${open}BUGSNAG_KEY{close}", "BUGSNAG_KEY={hex:10}", "bugsnag is a service"],
    ),
    (
        "datadog-key",
        &["DD_API_KEY={hex:32}", "datadog_app_key: '{hex:40}'"],
        &["datadog: true", "DD_API_KEY=$KEY"],
    ),
    ("dynatrace-token", &["dt0c01.{alnum:24}.{alnum:64}"], &["dt0c01.", "dt0c01.{alnum:24}.{alnum:6}"]),
    ("grafana-key", &["eyJrIjoi{alnum:80}="], &["eyJrIjoi{alnum:20}"]),
    ("grafana-token", &["glsa_{alnum:32}_{hex:8}"], &["glsa_x"]),
    ("honeycomb-key", &["hcaik_{lownum:26}", "hcamk_{lownum:58}"], &["hcaik_", "hcaik_{lownum:6}"]),
    (
        "logzio-token",
        &["LOGZIO_KEY={letters:32}", "\"logzio_secret\": \"{letters:32}\""],
        &["LOGZIO_KEY=${open}LOGZIO_KEY{close}", "LOGZIO_KEY={letters:10}", "logzio is a service"],
    ),
    (
        "mixpanel-token",
        &["MIXPANEL_KEY={hex:32}", "\"mixpanel_secret\": \"{hex:32}\""],
        &["MIXPANEL_KEY=${open}MIXPANEL_KEY{close}", "MIXPANEL_KEY={hex:10}", "mixpanel is a service"],
    ),
    ("newrelic-key", &["NRAK-{upnum:27}", "NRJS-{hex:19}"], &["NRAK-"]),
    ("newrelic-license-key", &["{hex:36}NRAL", "eu01xx{hex:30}NRAL"], &["NRAL", "{hex:10}NRAL"]),
    ("newrelic-pixie-key", &["px-api-{uuid}", "px-dep-{uuid}"], &["px-api-", "px-api-{hex:12}"]),
    (
        "newrelic-user-key",
        &["NEWRELIC_KEY={lownum:61}{digits:3}", "\"newrelic_secret\": \"{hex:40}\""],
        &[
            "NEWRELIC_KEY=${open}NEWRELIC_KEY{close}",
            "NEWRELIC_KEY={lownum:20}{digits:3}",
            "newrelic is a service",
        ],
    ),
    (
        "opsgenie-key",
        &["OPSGENIE_KEY={uuid}", "\"opsgenie_secret\": \"{uuid}\""],
        &["OPSGENIE_KEY=${open}OPSGENIE_KEY{close}", "OPSGENIE_KEY={hex:12}", "opsgenie is a service"],
    ),
    (
        "pagerduty-key",
        &["PAGERDUTY_KEY={hex:32}", "\"pagerduty_secret\": \"{alnum:17}{digits:3}\""],
        &["PAGERDUTY_KEY=${open}PAGERDUTY_KEY{close}", "PAGERDUTY_KEY={hex:10}", "pagerduty is a service"],
    ),
    ("posthog-key", &["phc_{alnum:43}"], &["phc_", "phc_{alnum:14}"]),
    (
        "rollbar-token",
        &["ROLLBAR_KEY={hex:32}", "\"rollbar_secret\": \"{hex:32}\""],
        &["ROLLBAR_KEY=${open}ROLLBAR_KEY{close}", "ROLLBAR_KEY={hex:10}", "rollbar is a service"],
    ),
    ("segment-token", &["sgp_{alnum:64}"], &["sgp_", "sgp_{alnum:21}"]),
    ("sentry-token", &["sntryu_{hex:64}", "sntrys_eyJ{alnum:80}"], &["sntryu_"]),
    (
        "sentry-token-named",
        &["SENTRY_KEY={hex:64}", "\"sentry_secret\": \"{hex:64}\""],
        &["SENTRY_KEY=${open}SENTRY_KEY{close}", "SENTRY_KEY={hex:21}", "sentry is a service"],
    ),
    (
        "splunk-token",
        &["SPLUNK_KEY={uuid}", "\"splunk_secret\": \"{uuid}\""],
        &["SPLUNK_KEY=${open}SPLUNK_KEY{close}", "SPLUNK_KEY={hex:12}", "splunk is a service"],
    ),
    (
        "sumologic-key",
        &["SUMO_KEY=su{alnum:9}{digits:3}", "\"sumo_secret\": \"{alnum:61}{digits:3}\""],
        &["SUMO_KEY=${open}SUMO_KEY{close}", "SUMO_KEY=su{alnum:3}{digits:3}", "sumo is a service"],
    ),
];
