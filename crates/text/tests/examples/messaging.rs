//! Examples for the rules of chat, mail and publishing.

use super::Example;

// tidy: data
pub(crate) static EXAMPLES: &[Example] = &[
    (
        "beamer-token",
        &["BEAMER_KEY=b_{alnum:41}{digits:3}", "\"beamer_secret\": \"b_{alnum:41}{digits:3}\""],
        &["BEAMER_KEY=${open}BEAMER_KEY{close}", "BEAMER_KEY=b_{alnum:13}{digits:3}", "beamer is a service"],
    ),
    (
        "brevo-key",
        &["xkeysib-{hex:64}-{alnum:16}", "xsmtpsib-{hex:64}-{alnum:16}"],
        &["xkeysib-", "xkeysib-{hex:21}-{alnum:16}"],
    ),
    (
        "discord-secret",
        &["DISCORD_KEY={hex:64}", "\"discord_secret\": \"{alnum:29}{digits:3}\""],
        &["DISCORD_KEY=${open}DISCORD_KEY{close}", "DISCORD_KEY={hex:21}", "discord is a service"],
    ),
    (
        "discord-token",
        &[
            "DISCORD_TOKEN=M{alnum:23}.{word:6}.{word:30}",
            "Authorization: Bot N{alnum:25}.{word:6}.{word:38}",
        ],
        &["discord.js", "DISCORD_TOKEN=your.token.here"],
    ),
    (
        "discord-webhook",
        &["https://discord.com/api/webhooks/{digits:18}/{word:68}"],
        &["/api/webhooks/{digits:18}/short", "POST /api/webhooks/"],
    ),
    (
        "facebook-secret",
        &["FACEBOOK_KEY={hex:32}", "\"facebook_secret\": \"{hex:32}\""],
        &["FACEBOOK_KEY=${open}FACEBOOK_KEY{close}", "FACEBOOK_KEY={hex:10}", "facebook is a service"],
    ),
    ("facebook-token", &["EAAB{alnum:80}"], &["EAAC", "EAAB{alnum:26}"]),
    ("firebase-messaging-key", &["AAAA{word:7}:APA91b{word:133}7"], &[":APA91b"]),
    (
        "flickr-secret",
        &["FLICKR_KEY={lownum:29}{digits:3}", "\"flickr_secret\": \"{lownum:29}{digits:3}\""],
        &["FLICKR_KEY=${open}FLICKR_KEY{close}", "FLICKR_KEY={lownum:9}{digits:3}", "flickr is a service"],
    ),
    (
        "gitter-token",
        &["GITTER_KEY={lownum:37}{digits:3}", "\"gitter_secret\": \"{lownum:37}{digits:3}\""],
        &["GITTER_KEY=${open}GITTER_KEY{close}", "GITTER_KEY={lownum:12}{digits:3}", "gitter is a service"],
    ),
    (
        "hubspot-app-token",
        &["pat-na{digits:1}-{uuid}", "pat-eu{digits:1}-{uuid}"],
        &["pat-na", "pat-na{digits:1}-{hex:12}"],
    ),
    (
        "hubspot-key",
        &["HUBSPOT_KEY={uuid}", "\"hubspot_secret\": \"{uuid}\""],
        &["HUBSPOT_KEY=${open}HUBSPOT_KEY{close}", "HUBSPOT_KEY={hex:12}", "hubspot is a service"],
    ),
    ("instagram-token", &["IGQV{alnum:100}", "IGAA{alnum:100}"], &["IGQV", "IGQV{alnum:33}"]),
    (
        "intercom-token",
        &["INTERCOM_KEY={alnum:57}{digits:3}", "\"intercom_secret\": \"{alnum:57}{digits:3}\""],
        &[
            "INTERCOM_KEY=${open}INTERCOM_KEY{close}",
            "INTERCOM_KEY={alnum:19}{digits:3}",
            "intercom is a service",
        ],
    ),
    ("klaviyo-key", &["pk_{hex:34}"], &["pk_", "pk_{hex:11}"]),
    (
        "linkedin-secret",
        &[
            "LINKEDIN_KEY=WPL_AP{digits:1}.{alnum:13}{digits:3}.{alnum:6}",
            "\"linkedin_secret\": \"{alnum:13}{digits:3}\"",
            "linkedin.key: '{lownum:11}{digits:3}'",
        ],
        &[
            "LINKEDIN_KEY=${open}LINKEDIN_KEY{close}",
            "LINKEDIN_KEY=WPL_AP{digits:1}.{alnum:4}{digits:3}.{alnum:6}",
            "linkedin is a service",
        ],
    ),
    ("mailchimp-key", &["{hex:32}-us12"], &["in-us1", "{hex:8}-us12"]),
    (
        "mailgun-key",
        &["key-{hex:32}", "mailgun pubkey-{hex:32}"],
        &["key-value", "primary-key-{hex:8}", "key-{hex:40}"],
    ),
    (
        "mailgun-signing-key",
        &["MAILGUN_KEY={hex:32}-{hex:8}-{hex:8}", "\"mailgun_secret\": \"{hex:32}-{hex:8}-{hex:8}\""],
        &[
            "MAILGUN_KEY=${open}MAILGUN_KEY{close}",
            "MAILGUN_KEY={hex:10}-{hex:8}-{hex:8}",
            "mailgun is a service",
        ],
    ),
    ("mandrill-key", &["md-{alnum:22}"], &["md-", "md-{alnum:7}"]),
    (
        "mattermost-token",
        &["MATTERMOST_KEY={lownum:23}{digits:3}", "\"mattermost_secret\": \"{lownum:23}{digits:3}\""],
        &[
            "MATTERMOST_KEY=${open}MATTERMOST_KEY{close}",
            "MATTERMOST_KEY={lownum:7}{digits:3}",
            "mattermost is a service",
        ],
    ),
    (
        "messagebird-key",
        &["MESSAGEBIRD_KEY={uuid}", "\"messagebird_secret\": \"{alnum:22}{digits:3}\""],
        &[
            "MESSAGEBIRD_KEY=${open}MESSAGEBIRD_KEY{close}",
            "MESSAGEBIRD_KEY={hex:12}",
            "messagebird is a service",
        ],
    ),
    (
        "onesignal-key",
        &["os_v2_app_{letters:100}", "os_v2_org_{letters:100}"],
        &["os_v2_", "os_v2_app_{letters:33}"],
    ),
    (
        "postmark-token",
        &["POSTMARK_KEY={uuid}", "\"postmark_secret\": \"{uuid}\""],
        &["POSTMARK_KEY=${open}POSTMARK_KEY{close}", "POSTMARK_KEY={hex:12}", "postmark is a service"],
    ),
    ("resend-key", &["re_{alnum:8}_{alnum:24}"], &["re_", "re_{alnum:8}_{alnum:8}"]),
    (
        "sendbird-token",
        &["SENDBIRD_KEY={hex:40}", "\"sendbird_secret\": \"{hex:40}\""],
        &["SENDBIRD_KEY=${open}SENDBIRD_KEY{close}", "SENDBIRD_KEY={hex:13}", "sendbird is a service"],
    ),
    ("sendgrid-key", &["SG.{word:21}7.{word:42}7"], &["SG.Application.Name", "SG.{word:10}"]),
    (
        "slack-token",
        &["xoxb-{digits:12}-{digits:12}-{alnum:24}", "xapp-1-{upnum:11}-{digits:13}-{hex:64}"],
        &["xoxb-your-token", concat!("xo", "xb-xxxxxxxxxxxx-xxxxxxxxxxxx")],
    ),
    (
        "slack-webhook",
        &["https://hooks.slack.com/services/T{upnum:10}/B{upnum:10}/{alnum:24}"],
        &[
            "https://hooks.slack.com/services/",
            concat!("hooks.slack.com/serv", "ices/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"),
        ],
    ),
    (
        "spotify-secret",
        &["SPOTIFY_KEY={hex:32}", "\"spotify_secret\": \"{hex:32}\""],
        &["SPOTIFY_KEY=${open}SPOTIFY_KEY{close}", "SPOTIFY_KEY={hex:10}", "spotify is a service"],
    ),
    (
        "teams-webhook",
        &["https://x.webhook.office.com/webhookb2/{uuid}{at}{uuid}/IncomingWebhook/{hex:32}/{uuid}"],
        &["/IncomingWebhook/setup"],
    ),
    (
        "telegram-bot-token",
        &["https://api.telegram.org/bot{digits:10}:AA{word:32}7/getMe"],
        &["12:AA", "{digits:10}:AA{alnum:10}"],
    ),
    ("telegram-bot-token-named", &["TELEGRAM_TOKEN={digits:9}:A{word:33}7"], &["telegram: {digits:9}"]),
    ("twilio-key", &["SK{hex:32}"], &["SKU{hex:31}", "SK{hex:20}", "TASK{hex:32}"]),
    ("twilio-token", &["TWILIO_AUTH_TOKEN={hex:32}"], &["twilio: {hex:7}", "import twilio"]),
    ("twitch-stream-key", &["live_{digits:6}_{alnum:30}"], &["live_", "live_{digits:6}_{alnum:10}"]),
    (
        "twitch-token",
        &["TWITCH_KEY={lownum:27}{digits:3}", "\"twitch_secret\": \"{lownum:27}{digits:3}\""],
        &["TWITCH_KEY=${open}TWITCH_KEY{close}", "TWITCH_KEY={lownum:9}{digits:3}", "twitch is a service"],
    ),
    (
        "twitter-bearer-token",
        &["AAAAAAAAAAAAAAAAAAAAAA{alnum:90}"],
        &["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"],
    ),
    (
        "twitter-secret",
        &[
            "TWITTER_KEY={digits:15}-{alnum:17}{digits:3}",
            "\"twitter_secret\": \"{alnum:47}{digits:3}\"",
            "twitter.key: '{alnum:42}{digits:3}'",
            "twitter token: {alnum:22}{digits:3}",
        ],
        &[
            "TWITTER_KEY=${open}TWITTER_KEY{close}",
            "TWITTER_KEY={digits:15}-{alnum:5}{digits:3}",
            "twitter is a service",
        ],
    ),
    ("typeform-token", &["tfp_{alnum:40}"], &["tfp_", "tfp_{alnum:13}"]),
    (
        "vonage-secret",
        &["NEXMO_KEY={alnum:13}{digits:3}", "\"nexmo_secret\": \"{alnum:13}{digits:3}\""],
        &["NEXMO_KEY=${open}NEXMO_KEY{close}", "NEXMO_KEY={alnum:4}{digits:3}", "nexmo is a service"],
    ),
    (
        "zapier-webhook",
        &["https://hooks.zapier.com/hooks/catch/{digits:7}/{lownum:8}/"],
        &["https://hooks.zapier.com/hooks/catch/"],
    ),
    (
        "zendesk-key",
        &["ZENDESK_KEY={alnum:37}{digits:3}", "\"zendesk_secret\": \"{alnum:37}{digits:3}\""],
        &[
            "ZENDESK_KEY=${open}ZENDESK_KEY{close}",
            "ZENDESK_KEY={alnum:12}{digits:3}",
            "zendesk is a service",
        ],
    ),
];
