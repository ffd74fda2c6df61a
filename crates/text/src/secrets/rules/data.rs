//! Keys of databases, data platforms, content and file stores.

use crate::secrets::rule::{Rule, assigned, is_alphanumeric};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::beside("algolia-key", "Algolia", "API key", &["algolia"], assigned!("algolia", "[a-f0-9]{32}")),
    Rule::token(
        "astra-token",
        "DataStax Astra",
        "application token",
        &["AstraCS:"],
        r"AstraCS:[A-Za-z]{24}:[a-f0-9]{64}",
    ),
    Rule::token("clickhouse-key", "ClickHouse Cloud", "API secret", &["4b1d"], r"4b1d[A-Za-z0-9]{38}")
        .entropy(3.8),
    Rule::token(
        "cockroach-key",
        "CockroachDB",
        "API key",
        &["CCDB1_"],
        r"CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}",
    ),
    Rule::beside(
        "confluent-key",
        "Confluent",
        "access token or secret",
        &["confluent"],
        assigned!("confluent", "[A-Za-z0-9+/]{64}|[A-Za-z0-9]{16}"),
    ),
    Rule::token(
        "contentful-management-token",
        "Contentful",
        "personal access token",
        &["CFPAT-"],
        r"CFPAT-[\w-]{43}",
    )
    .entropy(3.3),
    Rule::beside(
        "contentful-token",
        "Contentful",
        "delivery token",
        &["contentful"],
        assigned!("contentful", r"[\w=-]{43}"),
    ),
    Rule::token(
        "databricks-token",
        "Databricks",
        "personal access token",
        &["dapi"],
        r"dapi[a-f0-9]{32}(?:-\d)?",
    ),
    Rule::token(
        "dbt-token",
        "dbt",
        "token of a user or a service",
        &["dbtu_", "dbtc_"],
        r"dbt[uc]_[\w-]{40,48}",
    )
    .entropy(3.5),
    Rule::token("dropbox-access-token", "Dropbox", "access token", &["sl."], r"sl\.(?:u\.)?[\w=-]{130,}")
        .entropy(4.0)
        .reach(2048),
    Rule::beside(
        "dropbox-secret",
        "Dropbox",
        "app secret or long-lived token",
        &["dropbox"],
        assigned!("dropbox", r"[A-Za-z0-9]{11}AAAAAAAAAA[\w=-]{43}|[a-z0-9]{15}"),
    ),
    Rule::token("elastic-key", "Elastic", "API key", &["essu_"], r"essu_[A-Za-z0-9+/]{60,}={0,2}")
        .entropy(3.5),
    Rule::token("fauna-key", "Fauna", "secret", &["fnAC", "fnAD", "fnAE", "fnAF"], r"fnA[C-F][\w-]{36}")
        .entropy(3.5),
    Rule::beside("influxdb-token", "InfluxDB", "API token", &["influx"], assigned!("influx", r"[\w-]{86}==")),
    Rule::beside(
        "looker-key",
        "Looker",
        "client id or secret",
        &["looker"],
        assigned!("looker", "[a-z0-9]{24}|[a-z0-9]{20}"),
    ),
    Rule::token(
        "mapbox-token",
        "Mapbox",
        "access token",
        &["pk.ey", "sk.ey", "tk.ey"],
        r"[pst]k\.ey[\w-]{40,}\.[\w-]{20,}",
    )
    .entropy(3.8),
    Rule::beside(
        "mapbox-token-named",
        "Mapbox",
        "access token of the older kind",
        &["mapbox"],
        assigned!("mapbox", r"pk\.[a-z0-9]{60}\.[a-z0-9]{22}"),
    ),
    Rule::token("maxmind-key", "MaxMind", "license key", &["_mmk"], r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk")
        .before(36)
        .front(29, is_alphanumeric)
        .reach(8),
    Rule::beside(
        "maxmind-key-named",
        "MaxMind",
        "license key of the older kind",
        &["maxmind"],
        assigned!("maxmind", "[A-Za-z0-9]{16}"),
    ),
    Rule::named(
        "mongodb-atlas-key",
        "MongoDB Atlas",
        "private API key",
        &["atlas_private", "mongodb_atlas", "mcli_private"],
        assigned!("atlas_private|mongodb_atlas|mcli_private", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ),
    Rule::token("neon-key", "Neon", "API key", &["napi_"], r"napi_[a-z0-9]{60,70}").entropy(3.3),
    Rule::token(
        "planetscale-token",
        "PlanetScale",
        "API token, OAuth token or password",
        &["pscale_"],
        r"pscale_(?:tkn|pw|oauth|oauth_tkn|app_secret)_[\w=.-]{32,64}",
    )
    .entropy(3.3),
    Rule::beside(
        "snowflake-token",
        "Snowflake",
        "programmatic access token",
        &["snowflake_token", "snowflake_pat"],
        assigned!("snowflake_(?:token|pat)", r"[\w.-]{40,}"),
    ),
    Rule::token(
        "supabase-key",
        "Supabase",
        "access token or secret key",
        &["sbp_", "sb_secret_"],
        r"(?:sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,})",
    ),
    Rule::beside(
        "upstash-token",
        "Upstash",
        "REST token",
        &["upstash"],
        assigned!("upstash", r"A[\w-]{35,120}={1,2}"),
    ),
    Rule::token("xata-key", "Xata", "API key", &["xau_"], r"xau_[A-Za-z0-9]{40,48}").entropy(3.5),
];
