//! Examples for the rules of payment and commerce.

use super::Example;

// tidy: data
pub(crate) static EXAMPLES: &[Example] = &[
    ("adyen-key", &["AQEx{alnum:60}-{alnum:40}-{alnum:16}"], &["AQEx{alnum:20}"]),
    (
        "binance-secret",
        &["BINANCE_KEY={alnum:61}{digits:3}", "\"binance_secret\": \"{alnum:61}{digits:3}\""],
        &[
            "BINANCE_KEY=${open}BINANCE_KEY{close}",
            "BINANCE_KEY={alnum:20}{digits:3}",
            "binance is a service",
        ],
    ),
    (
        "braintree-token",
        &["access_token$production${lownum:16}${hex:32}", "access_token$sandbox${lownum:16}${hex:32}"],
        &["access_token$", "access_token$production${lownum:16}${hex:10}"],
    ),
    (
        "coinbase-secret",
        &["COINBASE_KEY={alnum:61}{digits:3}", "\"coinbase_secret\": \"{alnum:61}{digits:3}\""],
        &[
            "COINBASE_KEY=${open}COINBASE_KEY{close}",
            "COINBASE_KEY={alnum:20}{digits:3}",
            "coinbase is a service",
        ],
    ),
    ("easypost-key", &["EZAK{alnum:54}"], &["EZAK", "EZAK{alnum:18}"]),
    ("flutterwave-key", &["FLWPUBK-{alnum:12}", "FLWSECK-{alnum:12}"], &["FLWPUBK", "FLWPUBK-{alnum:4}"]),
    ("freemius-secret", &["'secret_key' => 'sk_{alnum:29}',"], &["'secret_key' => $key"]),
    (
        "freshbooks-token",
        &["FRESHBOOKS_KEY={lownum:61}{digits:3}", "\"freshbooks_secret\": \"{lownum:61}{digits:3}\""],
        &[
            "FRESHBOOKS_KEY=${open}FRESHBOOKS_KEY{close}",
            "FRESHBOOKS_KEY={lownum:20}{digits:3}",
            "freshbooks is a service",
        ],
    ),
    (
        "gocardless-token",
        &[
            "GOCARDLESS_KEY=live_{alnum:37}{digits:3}",
            "\"gocardless_secret\": \"sandbox_{alnum:37}{digits:3}\"",
        ],
        &[
            "GOCARDLESS_KEY=${open}GOCARDLESS_KEY{close}",
            "GOCARDLESS_KEY=live_{alnum:12}{digits:3}",
            "gocardless is a service",
        ],
    ),
    (
        "kraken-secret",
        &["KRAKEN_KEY={alnum:77}{digits:3}", "\"kraken_secret\": \"{alnum:77}{digits:3}\""],
        &["KRAKEN_KEY=${open}KRAKEN_KEY{close}", "KRAKEN_KEY={alnum:25}{digits:3}", "kraken is a service"],
    ),
    (
        "kucoin-secret",
        &["KUCOIN_KEY={uuid}", "\"kucoin_secret\": \"{uuid}\""],
        &["KUCOIN_KEY=${open}KUCOIN_KEY{close}", "KUCOIN_KEY={hex:12}", "kucoin is a service"],
    ),
    (
        "kucoin-token",
        &["KUCOIN_KEY={hex:24}", "\"kucoin_secret\": \"{hex:24}\""],
        &["KUCOIN_KEY=${open}KUCOIN_KEY{close}", "KUCOIN_KEY={hex:8}", "kucoin is a service"],
    ),
    ("lob-key", &["live_{hex:31}", "test_{hex:31}"], &["live_", "live_{hex:10}"]),
    ("mollie-key", &["live_{alnum:30}", "test_{alnum:30}"], &["live_", "live_{alnum:10}"]),
    (
        "paddle-key",
        &[
            "pdl_live_apikey_{lownum:26}_{alnum:22}_{alnum:3}",
            "pdl_sdbx_apikey_{lownum:26}_{alnum:22}_{alnum:3}",
        ],
        &["pdl_", "pdl_live_apikey_{lownum:8}_{alnum:22}_{alnum:3}"],
    ),
    (
        "paypal-secret",
        &["PAYPAL_KEY=A{alnum:76}{digits:3}", "\"paypal_secret\": \"A{alnum:76}{digits:3}\""],
        &["PAYPAL_KEY=${open}PAYPAL_KEY{close}", "PAYPAL_KEY=A{alnum:25}{digits:3}", "paypal is a service"],
    ),
    (
        "plaid-secret",
        &["PLAID_KEY={lownum:27}{digits:3}", "\"plaid_secret\": \"{lownum:21}{digits:3}\""],
        &["PLAID_KEY=${open}PLAID_KEY{close}", "PLAID_KEY={lownum:9}{digits:3}", "plaid is a service"],
    ),
    (
        "plaid-token",
        &["access-sandbox-{uuid}", "access-development-{uuid}", "access-production-{uuid}"],
        &["access-sandbox-", "access-sandbox-{hex:12}"],
    ),
    ("razorpay-key", &["rzp_live_{alnum:14}", "rzp_test_{alnum:14}"], &["rzp_", "rzp_live_{alnum:4}"]),
    ("settlemint-token", &["sm_aat_{alnum:16}"], &["sm_aat_", "sm_aat_{alnum:5}"]),
    ("shippo-token", &["shippo_live_{hex:40}", "shippo_test_{hex:40}"], &["shippo_", "shippo_live_{hex:13}"]),
    ("shopify-token", &["shpat_{hex:32}"], &["shpat_{hex:6}"]),
    ("square-token", &["EAAA{word:59}7", "sq0atp-{word:21}7"], &["EAAA", "{alnum:30}EAAA{alnum:60}"]),
    (
        "squarespace-token",
        &["SQUARESPACE_KEY={uuid}", "\"squarespace_secret\": \"{uuid}\""],
        &[
            "SQUARESPACE_KEY=${open}SQUARESPACE_KEY{close}",
            "SQUARESPACE_KEY={hex:12}",
            "squarespace is a service",
        ],
    ),
    (
        "stripe-key",
        &["sk_live_{alnum:24}", "rk_test_{alnum:90}", "whsec_{alnum:32}"],
        &["sk_live_xxxxxxxxxxxxxxxxxxxxxxxx", "sk_test_..."],
    ),
];
