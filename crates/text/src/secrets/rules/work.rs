//! Tokens of planning, drawing and writing tools, and of smart devices.

use crate::secrets::rule::{Judge, Rule, assigned};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::token("adafruit-io-key", "Adafruit IO", "API key", &["aio_"], r"aio_[A-Za-z0-9]{28}").entropy(3.3),
    Rule::beside(
        "adafruit-key",
        "Adafruit IO",
        "API key of the older kind",
        &["adafruit"],
        assigned!("adafruit", r"[a-z0-9_-]{32}"),
    ),
    Rule::beside("adobe-client-id", "Adobe", "client id", &["adobe"], assigned!("adobe", "[a-f0-9]{32}")),
    Rule::token("adobe-client-secret", "Adobe", "client secret", &["p8e-", "p8e_"], r"p8e[-_][\w-]{32}")
        .entropy(3.0),
    Rule::beside(
        "airtable-token",
        "Airtable",
        "personal access token",
        &["airtable"],
        assigned!("airtable", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ),
    Rule::beside("asana-client-id", "Asana", "client id", &["asana"], assigned!("asana", r"\d{16}"))
        .judge(Judge::Shape)
        .entropy(2.2),
    Rule::beside(
        "asana-secret",
        "Asana",
        "client secret or access token",
        &["asana"],
        assigned!("asana", r"[a-z0-9]{32}|\d/\d{10,17}(?:/\d{10,17})?:[a-f0-9]{32}"),
    )
    .entropy(2.6)
    .judge(Judge::Shape),
    Rule::beside(
        "blynk-token",
        "Blynk",
        "device token",
        &["blynk"],
        r"(?i:blynk)[\w.-]{0,12}/external/api/[\w/]{3,30}\?token=([\w-]{32})",
    ),
    Rule::token("clickup-token", "ClickUp", "personal token", &["pk_"], r"pk_\d{6,9}_[A-Z0-9]{32}"),
    Rule::token("figma-token", "Figma", "personal access token", &["figd_"], r"figd_[\w-]{38,44}"),
    Rule::token("frameio-token", "Frame.io", "API token", &["fio-u-"], r"fio-u-[\w=-]{64}").entropy(3.3),
    Rule::token(
        "linear-key",
        "Linear",
        "API key or access token",
        &["lin_api_", "lin_oauth_"],
        r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}",
    ),
    Rule::beside(
        "linear-secret",
        "Linear",
        "client secret",
        &["linear"],
        assigned!("linear", "[a-f0-9]{32}"),
    ),
    Rule::token(
        "notion-token",
        "Notion",
        "integration token",
        &["ntn_", "secret_"],
        r"(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43})",
    )
    .entropy(3.5),
    Rule::beside(
        "openweather-key",
        "OpenWeather",
        "API key",
        &["openweather", "owm_api"],
        assigned!("openweather|owm_api", "[a-f0-9]{32}"),
    ),
    Rule::named(
        "particle-token",
        "Particle",
        "access token",
        &["api.particle.io"],
        r"api\.particle\.io/[^\s?]{1,80}\?access_token=([a-f0-9]{40})",
    )
    .entropy(3.0),
    Rule::named(
        "thingsboard-token",
        "ThingsBoard",
        "token of a device",
        &["thingsboard"],
        r"thingsboard[\w.-]{1,40}(?::\d+)?/api/v1/([a-z0-9]{20})/",
    )
    .entropy(3.0),
    Rule::beside("todoist-token", "Todoist", "API token", &["todoist"], assigned!("todoist", "[a-f0-9]{40}")),
    Rule::beside(
        "trello-token",
        "Trello",
        "key or token",
        &["trello"],
        assigned!("trello", "ATTA[a-f0-9A-F]{60,80}|[a-f0-9]{64}|[a-f0-9]{32}"),
    ),
    Rule::token(
        "wakatime-key",
        "WakaTime",
        "API key",
        &["waka_"],
        r"waka_[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
    ),
];
