//! Examples for the rules of databases and data platforms.

use super::Example;

// tidy: data
pub(crate) static EXAMPLES: &[Example] = &[
    (
        "algolia-key",
        &["ALGOLIA_KEY={hex:32}", "\"algolia_secret\": \"{hex:32}\""],
        &["ALGOLIA_KEY=${open}ALGOLIA_KEY{close}", "ALGOLIA_KEY={hex:10}", "algolia is a service"],
    ),
    ("astra-token", &["AstraCS:{letters:24}:{hex:64}"], &["AstraCS:", "AstraCS:{letters:24}:{hex:21}"]),
    ("clickhouse-key", &["4b1d{alnum:38}"], &["4b1d", "4b1d{alnum:12}"]),
    ("cockroach-key", &["CCDB1_{alnum:22}_{alnum:40}"], &["CCDB1_", "CCDB1_{alnum:22}_{alnum:13}"]),
    (
        "confluent-key",
        &["CONFLUENT_KEY={alnum:61}{digits:3}", "\"confluent_secret\": \"{alnum:13}{digits:3}\""],
        &[
            "CONFLUENT_KEY=${open}CONFLUENT_KEY{close}",
            "CONFLUENT_KEY={alnum:20}{digits:3}",
            "confluent is a service",
        ],
    ),
    ("contentful-management-token", &["CFPAT-{alnum:43}"], &["CFPAT-", "CFPAT-{alnum:14}"]),
    (
        "contentful-token",
        &["CONTENTFUL_KEY={alnum:40}{digits:3}", "\"contentful_secret\": \"{alnum:40}{digits:3}\""],
        &[
            "CONTENTFUL_KEY=${open}CONTENTFUL_KEY{close}",
            "CONTENTFUL_KEY={alnum:13}{digits:3}",
            "contentful is a service",
        ],
    ),
    ("databricks-token", &["dapi{hex:32}", "dapi{hex:32}-2"], &["dapi", "dapi{hex:12}"]),
    ("dbt-token", &["dbtc_{alnum:40}"], &["dbtu_", "dbtc_{alnum:13}"]),
    ("dropbox-access-token", &["sl.{alnum:130}"], &["sl.", "sl.{alnum:43}"]),
    (
        "dropbox-secret",
        &[
            "DROPBOX_KEY={alnum:11}AAAAAAAAAA{alnum:40}{digits:3}",
            "\"dropbox_secret\": \"{lownum:12}{digits:3}\"",
        ],
        &[
            "DROPBOX_KEY=${open}DROPBOX_KEY{close}",
            "DROPBOX_KEY={alnum:11}AAAAAAAAAA{alnum:13}{digits:3}",
            "dropbox is a service",
        ],
    ),
    ("elastic-key", &["essu_{alnum:60}"], &["essu_", "essu_{alnum:20}"]),
    ("fauna-key", &["fnAC{alnum:36}"], &["fnAC", "fnAC{alnum:12}"]),
    (
        "influxdb-token",
        &["INFLUX_KEY={alnum:83}{digits:3}==", "\"influx_secret\": \"{alnum:83}{digits:3}==\""],
        &["INFLUX_KEY=${open}INFLUX_KEY{close}", "INFLUX_KEY={alnum:27}{digits:3}==", "influx is a service"],
    ),
    (
        "looker-key",
        &["LOOKER_KEY={lownum:21}{digits:3}", "\"looker_secret\": \"{lownum:17}{digits:3}\""],
        &["LOOKER_KEY=${open}LOOKER_KEY{close}", "LOOKER_KEY={lownum:7}{digits:3}", "looker is a service"],
    ),
    ("mapbox-token", &["pk.ey{alnum:40}.{alnum:20}"], &["pk.ey", "pk.ey{alnum:13}.{alnum:20}"]),
    (
        "mapbox-token-named",
        &[
            "MAPBOX_KEY=pk.{lownum:57}{digits:3}.{lownum:22}",
            "\"mapbox_secret\": \"pk.{lownum:57}{digits:3}.{lownum:22}\"",
        ],
        &[
            "MAPBOX_KEY=${open}MAPBOX_KEY{close}",
            "MAPBOX_KEY=pk.{lownum:19}{digits:3}.{lownum:22}",
            "mapbox is a service",
        ],
    ),
    ("maxmind-key", &["{alnum:6}_{alnum:29}_mmk"], &["_mmk", "{alnum:6}_{alnum:9}_mmk"]),
    (
        "maxmind-key-named",
        &["MAXMIND_KEY={alnum:13}{digits:3}", "\"maxmind_secret\": \"{alnum:13}{digits:3}\""],
        &["MAXMIND_KEY=${open}MAXMIND_KEY{close}", "MAXMIND_KEY={alnum:4}{digits:3}", "maxmind is a service"],
    ),
    (
        "mongodb-atlas-key",
        &["ATLAS_PRIVATE_KEY={uuid}", "\"atlas_private_secret\": \"{uuid}\""],
        &[
            "ATLAS_PRIVATE_KEY=${open}ATLAS_PRIVATE_KEY{close}",
            "ATLAS_PRIVATE_KEY={hex:12}",
            "atlas_private is a service",
        ],
    ),
    ("neon-key", &["napi_{lownum:60}"], &["napi_", "napi_{lownum:20}"]),
    (
        "planetscale-token",
        &[
            "pscale_tkn_{alnum:32}",
            "pscale_pw_{alnum:32}",
            "pscale_oauth_{alnum:32}",
            "pscale_oauth_tkn_{alnum:32}",
        ],
        &["pscale_", "pscale_tkn_{alnum:10}"],
    ),
    (
        "snowflake-token",
        &["SNOWFLAKE_TOKEN={alnum:60}{digits:3}"],
        &["SNOWFLAKE_TOKEN=$TOKEN", "snowflake_token_file: none"],
    ),
    ("supabase-key", &["sbp_{hex:40}", "sb_secret_{word:31}7"], &["sbp_", "sb_secret_name"]),
    (
        "upstash-token",
        &["UPSTASH_KEY=A{alnum:32}{digits:3}=", "upstash: A{alnum:60}{digits:3}=="],
        &["UPSTASH_KEY=$TOKEN", "UPSTASH_KEY=A{alnum:10}"],
    ),
    ("xata-key", &["xau_{alnum:40}"], &["xau_", "xau_{alnum:13}"]),
];
