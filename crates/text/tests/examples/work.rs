//! Examples for the rules of tools of everyday work.

use super::Example;

// tidy: data
pub(crate) static EXAMPLES: &[Example] = &[
    ("adafruit-io-key", &["aio_{alnum:28}"], &["aio_", "aio_{alnum:9}"]),
    (
        "adafruit-key",
        &["ADAFRUIT_KEY={lownum:29}{digits:3}", "\"adafruit_secret\": \"{lownum:29}{digits:3}\""],
        &[
            "ADAFRUIT_KEY=${open}ADAFRUIT_KEY{close}",
            "ADAFRUIT_KEY={lownum:9}{digits:3}",
            "adafruit is a service",
        ],
    ),
    (
        "adobe-client-id",
        &["ADOBE_KEY={hex:32}", "\"adobe_secret\": \"{hex:32}\""],
        &["ADOBE_KEY=${open}ADOBE_KEY{close}", "ADOBE_KEY={hex:10}", "adobe is a service"],
    ),
    ("adobe-client-secret", &["p8e-{alnum:32}"], &["p8e-", "p8e-{alnum:10}"]),
    (
        "airtable-token",
        &[
            "AIRTABLE_KEY=pat{alnum:11}{digits:3}.{hex:64}",
            "\"airtable_secret\": \"pat{alnum:11}{digits:3}.{hex:64}\"",
        ],
        &[
            "AIRTABLE_KEY=${open}AIRTABLE_KEY{close}",
            "AIRTABLE_KEY=pat{alnum:11}{digits:3}.{hex:21}",
            "airtable is a service",
        ],
    ),
    (
        "asana-client-id",
        &["ASANA_KEY={digits:16}", "\"asana_secret\": \"{digits:16}\""],
        &["ASANA_KEY=${open}ASANA_KEY{close}", "ASANA_KEY={digits:5}", "asana is a service"],
    ),
    (
        "asana-secret",
        &["ASANA_KEY={lownum:29}{digits:3}", "\"asana_token\": \"1/{digits:16}:{hex:32}\""],
        &["ASANA_KEY=$KEY", "asana_key: {lownum:8}"],
    ),
    (
        "blynk-token",
        &["https://blynk.cloud/external/api/get?token={alnum:29}{digits:3}&V1"],
        &["https://blynk.cloud/external/api/get?token=mine"],
    ),
    ("clickup-token", &["pk_{digits:6}_{upnum:32}"], &["pk_", "pk_{digits:6}_{upnum:10}"]),
    ("figma-token", &["figd_{word:40}"], &["figd_x"]),
    ("frameio-token", &["fio-u-{alnum:64}"], &["fio-u-", "fio-u-{alnum:21}"]),
    ("linear-key", &["lin_api_{alnum:40}"], &["lin_api_client"]),
    (
        "linear-secret",
        &["LINEAR_KEY={hex:32}", "\"linear_secret\": \"{hex:32}\""],
        &["LINEAR_KEY=${open}LINEAR_KEY{close}", "LINEAR_KEY={hex:10}", "linear is a service"],
    ),
    ("notion-token", &["ntn_{digits:11}{alnum:35}", "secret_{alnum:43}"], &["secret_name", "ntn_"]),
    (
        "openweather-key",
        &["OPENWEATHER_KEY={hex:32}", "\"openweather_secret\": \"{hex:32}\""],
        &[
            "OPENWEATHER_KEY=${open}OPENWEATHER_KEY{close}",
            "OPENWEATHER_KEY={hex:10}",
            "openweather is a service",
        ],
    ),
    (
        "particle-token",
        &["https://api.particle.io/v1/devices?access_token={hex:40}"],
        &["https://api.particle.io/v1/devices"],
    ),
    (
        "thingsboard-token",
        &["https://thingsboard.cloud/api/v1/{lownum:20}/telemetry"],
        &["https://thingsboard.cloud/api/v1/devices/telemetry"],
    ),
    (
        "todoist-token",
        &["TODOIST_KEY={hex:40}", "\"todoist_secret\": \"{hex:40}\""],
        &["TODOIST_KEY=${open}TODOIST_KEY{close}", "TODOIST_KEY={hex:13}", "todoist is a service"],
    ),
    (
        "trello-token",
        &["TRELLO_KEY=ATTA{hex:60}", "\"trello_secret\": \"{hex:64}\"", "trello.key: '{hex:32}'"],
        &["TRELLO_KEY=${open}TRELLO_KEY{close}", "TRELLO_KEY=ATTA{hex:20}", "trello is a service"],
    ),
    ("wakatime-key", &["waka_{uuid}"], &["waka_", "waka_{hex:12}"]),
];
