//! Keys of payment, commerce, shipping and exchanges.

use crate::secrets::rule::{Judge, Rule, assigned};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::token(
        "adyen-key",
        "Adyen",
        "API key",
        &["AQE"],
        r"AQE[a-z][A-Za-z0-9+/]{40,}={0,2}-[A-Za-z0-9+/]{30,}={0,2}-[\x21-\x7e]{10,20}",
    )
    .entropy(4.0),
    Rule::beside(
        "binance-secret",
        "Binance",
        "API key or secret",
        &["binance"],
        assigned!("binance", "[A-Za-z0-9]{64}"),
    ),
    Rule::token(
        "braintree-token",
        "Braintree",
        "access token",
        &["access_token$"],
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    ),
    Rule::beside(
        "coinbase-secret",
        "Coinbase",
        "access token or secret",
        &["coinbase"],
        assigned!("coinbase", r"[\w-]{64}"),
    ),
    Rule::token("easypost-key", "EasyPost", "API key", &["EZAK", "EZTK"], r"EZ[AT]K[A-Za-z0-9]{54}"),
    Rule::token(
        "flutterwave-key",
        "Flutterwave",
        "public, secret or encryption key",
        &["FLWPUBK", "FLWSECK"],
        r"FLW(?:PUB|SEC)K(?:_TEST)?-[a-zA-Z0-9]{12,32}(?:-X)?",
    )
    .entropy(3.0),
    Rule::named(
        "freemius-secret",
        "Freemius",
        "secret key",
        &["secret_key"],
        r#"secret_key["'`]?\s*(?:=>|=|:)\s*\\*["'`](sk_[^\s"'`\\]{29})\\*["'`]"#,
    )
    .entropy(3.3)
    .reach(1024),
    Rule::beside(
        "freshbooks-token",
        "FreshBooks",
        "access token",
        &["freshbooks"],
        assigned!("freshbooks", "[a-z0-9]{64}"),
    ),
    Rule::beside(
        "gocardless-token",
        "GoCardless",
        "API token",
        &["gocardless"],
        assigned!("gocardless", r"(?:live|sandbox)_[\w=-]{40}"),
    ),
    Rule::beside(
        "kraken-secret",
        "Kraken",
        "API key or secret",
        &["kraken"],
        assigned!("kraken", r"[A-Za-z0-9/=_+-]{80,90}"),
    ),
    Rule::named(
        "kucoin-secret",
        "KuCoin",
        "secret",
        &["kucoin"],
        assigned!("kucoin", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ),
    Rule::beside("kucoin-token", "KuCoin", "access token", &["kucoin"], assigned!("kucoin", "[a-f0-9]{24}"))
        .entropy(2.6),
    Rule::token("lob-key", "Lob", "API key", &["live_", "test_"], r"(?:live|test)_(?:pub_)?[a-f0-9]{31,35}")
        .entropy(3.0),
    Rule::token("mollie-key", "Mollie", "API key", &["live_", "test_"], r"(?:live|test)_[A-Za-z0-9]{30}")
        .entropy(3.8),
    Rule::token(
        "paddle-key",
        "Paddle",
        "API key",
        &["pdl_"],
        r"pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}",
    ),
    Rule::beside(
        "paypal-secret",
        "PayPal",
        "client id or secret",
        &["paypal"],
        assigned!("paypal", r"[AE][\w-]{79}"),
    ),
    Rule::beside(
        "plaid-secret",
        "Plaid",
        "client id or secret",
        &["plaid"],
        assigned!("plaid", "[a-z0-9]{30}|[a-z0-9]{24}"),
    ),
    Rule::token(
        "plaid-token",
        "Plaid",
        "access token",
        &["access-sandbox-", "access-development-", "access-production-"],
        r"access-(?:sandbox|development|production)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
    ),
    Rule::token("razorpay-key", "Razorpay", "key id", &["rzp_"], r"rzp_(?:live|test)_[A-Za-z0-9]{14}")
        .entropy(3.3),
    Rule::token(
        "settlemint-token",
        "SettleMint",
        "access token",
        &["sm_aat_", "sm_pat_", "sm_sat_"],
        r"sm_[aps]at_[A-Za-z0-9]{16}",
    )
    .entropy(3.0),
    Rule::token("shippo-token", "Shippo", "API token", &["shippo_"], r"shippo_(?:live|test)_[a-fA-F0-9]{40}"),
    Rule::token(
        "shopify-token",
        "Shopify",
        "access token or shared secret",
        &["shpat_", "shpca_", "shppa_", "shpss_", "shpua_", "shptka_"],
        r"shp(?:at|ca|pa|ss|ua|tka)_[a-fA-F0-9]{32}",
    ),
    Rule::token(
        "square-token",
        "Square",
        "access token or secret",
        &["EAAA", "sq0atp-", "sq0atb-", "sq0csp-", "sq0idp-"],
        r"(?:EAAA[\w-]{60}|sq0(?:at[pb]|csp|idp)-[\w-]{22,43})",
    )
    .entropy(3.5),
    Rule::named(
        "squarespace-token",
        "Squarespace",
        "access token",
        &["squarespace"],
        assigned!("squarespace", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ),
    Rule::token(
        "stripe-key",
        "Stripe",
        "secret or restricted key, webhook secret",
        &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "whsec_"],
        r"(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/]{32,}={0,2})",
    )
    .entropy(2.8)
    .judge(Judge::Shape),
];
