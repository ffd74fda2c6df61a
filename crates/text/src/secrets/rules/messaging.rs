//! Tokens of chat, mail, telephony and publishing services.

use crate::secrets::rule::{Judge, Rule, assigned, is_base64, is_digit, is_hex};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::beside("beamer-token", "Beamer", "API token", &["beamer"], assigned!("beamer", r"b_[\w=-]{44}")),
    Rule::token(
        "brevo-key",
        "Brevo",
        "key of the API or of the mail server",
        &["xkeysib-", "xsmtpsib-"],
        r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}",
    ),
    Rule::beside(
        "discord-secret",
        "Discord",
        "client secret or public key",
        &["discord"],
        assigned!("discord", r"[a-f0-9]{64}|[\w=-]{32}"),
    ),
    Rule::named(
        "discord-token",
        "Discord",
        "bot token",
        &["discord", "bot "],
        concat!(
            r#"(?i:discord[\w.-]{0,24}[\s"'`\\]{0,4}[=:,>][\s"'`=:>\\]{0,6}|bot )"#,
            r"([MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40})",
        ),
    ),
    Rule::named(
        "discord-webhook",
        "Discord",
        "webhook",
        &["/api/webhooks/"],
        r"/api/webhooks/\d{10,25}/([\w-]{60,80})",
    ),
    Rule::beside(
        "facebook-secret",
        "Facebook",
        "app secret",
        &["facebook", "fb_app", "fb_secret"],
        assigned!("facebook|fb_(?:app|secret)", "[a-f0-9]{32}"),
    ),
    Rule::token(
        "facebook-token",
        "Facebook",
        "access token",
        &["EAAC", "EAAM", "EAAB", "EAAG", "EAAD", "EAAE", "EAAF"],
        r"EAA[BCDEFGM][A-Za-z0-9]{80,}",
    )
    .entropy(4.0),
    Rule::token(
        "firebase-messaging-key",
        "Firebase",
        "server key of cloud messaging",
        &[":APA91b"],
        r"[\w-]{11,40}:APA91b[\w-]{130,}",
    )
    .before(40)
    .front(11, is_base64)
    .reach(192)
    .entropy(4.0),
    Rule::beside(
        "flickr-secret",
        "Flickr",
        "API key or secret",
        &["flickr"],
        assigned!("flickr", "[a-z0-9]{32}"),
    ),
    Rule::beside(
        "gitter-token",
        "Gitter",
        "access token",
        &["gitter"],
        assigned!("gitter", r"[a-z0-9_-]{40}"),
    ),
    Rule::token(
        "hubspot-app-token",
        "HubSpot",
        "token of a private app",
        &["pat-na", "pat-eu"],
        r"pat-(?:na|eu)\d-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
    ),
    Rule::named(
        "hubspot-key",
        "HubSpot",
        "API key",
        &["hubspot", "hapikey"],
        assigned!("hubspot|hapikey", "(?i:[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12})"),
    ),
    Rule::token("instagram-token", "Instagram", "access token", &["IGQV", "IGAA"], r"IG(?:QV|AA)[\w-]{100,}")
        .entropy(4.0),
    Rule::beside(
        "intercom-token",
        "Intercom",
        "access token",
        &["intercom"],
        assigned!("intercom", r"[\w=-]{60}"),
    ),
    Rule::token("klaviyo-key", "Klaviyo", "private key", &["pk_"], r"pk_[a-f0-9]{34}").entropy(3.0),
    Rule::beside(
        "linkedin-secret",
        "LinkedIn",
        "client id or secret",
        &["linkedin", "linked_in", "linked-in"],
        assigned!("linked[_-]?in", r"WPL_AP\d\.[A-Za-z0-9]{16}\.[\w=+/-]{6,12}|[A-Za-z0-9]{16}|[a-z0-9]{14}"),
    )
    .entropy(2.6),
    Rule::named("mailchimp-key", "Mailchimp", "API key", &["-us"], r"([a-f0-9]{32}-us\d{1,2})")
        .before(32)
        .front(32, is_hex)
        .reach(8)
        .entropy(3.0)
        .exact(),
    Rule::token("mailgun-key", "Mailgun", "API key", &["key-", "pubkey-"], r"(?:pub)?key-[a-f0-9]{32}")
        .entropy(3.0),
    Rule::beside(
        "mailgun-signing-key",
        "Mailgun",
        "signing key",
        &["mailgun"],
        assigned!("mailgun", "[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}"),
    )
    .judge(Judge::Shape),
    Rule::token("mandrill-key", "Mandrill", "API key", &["md-"], r"md-[\w-]{22}").entropy(3.9),
    Rule::beside(
        "mattermost-token",
        "Mattermost",
        "access token",
        &["mattermost"],
        assigned!("mattermost", "[a-z0-9]{26}"),
    ),
    Rule::named(
        "messagebird-key",
        "MessageBird",
        "API key or client id",
        &["messagebird", "message-bird", "message_bird"],
        assigned!("message[_-]?bird", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}|[A-Za-z0-9]{25}"),
    ),
    Rule::token("onesignal-key", "OneSignal", "API key", &["os_v2_"], r"os_v2_(?:app|org)_[a-z2-7]{100,110}")
        .entropy(3.5),
    Rule::named(
        "postmark-token",
        "Postmark",
        "token of a server or an account",
        &["postmark"],
        assigned!("postmark", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ),
    Rule::token("resend-key", "Resend", "API key", &["re_"], r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}")
        .entropy(3.8),
    Rule::beside(
        "sendbird-token",
        "Sendbird",
        "access token",
        &["sendbird"],
        assigned!("sendbird", "[a-f0-9]{40}"),
    ),
    Rule::token(
        "sendgrid-key",
        "SendGrid",
        "API key",
        &["SG."],
        r"SG\.[\w=-]{20,24}\.[\w=-]{39,50}|SG\.[\w=.-]{66}",
    )
    .entropy(3.5),
    Rule::token(
        "slack-token",
        "Slack",
        "token of a bot, a user, an app or a workspace",
        &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"],
        r"(?:xox[abcdeoprs]-[A-Za-z0-9%-]{10,}|xoxe\.xox[bp]-\d-[A-Za-z0-9]{100,}|xapp-[A-Za-z0-9/-]{20,})",
    )
    .entropy(3.0),
    Rule::named(
        "slack-webhook",
        "Slack",
        "webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w+/-]{40,})",
    ),
    Rule::beside(
        "spotify-secret",
        "Spotify",
        "client secret",
        &["spotify"],
        assigned!("spotify", "[a-f0-9]{32}"),
    ),
    Rule::named(
        "teams-webhook",
        "Microsoft Teams",
        "webhook",
        &["/incomingwebhook/"],
        r"(?i:/incomingwebhook/)([A-Za-z0-9]{32}/[A-Za-z0-9]{8}(?:-[A-Za-z0-9]{4}){3}-[A-Za-z0-9]{12})",
    ),
    Rule::token("telegram-bot-token", "Telegram", "bot token", &[":AA"], r"\d{8,10}:AA[\w-]{32,33}")
        .before(10)
        .front(8, is_digit)
        .reach(64)
        .inside_words(),
    Rule::beside(
        "telegram-bot-token-named",
        "Telegram",
        "bot token beside its name",
        &["telegr"],
        assigned!("telegr", r"\d{5,16}:A[\w-]{34}"),
    )
    .judge(Judge::Shape),
    Rule::token(
        "twilio-key",
        "Twilio",
        "API key",
        &[
            "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd",
            "SKe", "SKf",
        ],
        r"SK[a-f0-9]{32}",
    )
    .entropy(3.0),
    Rule::beside(
        "twilio-token",
        "Twilio",
        "authentication token",
        &["twilio"],
        assigned!("twilio", "[a-f0-9]{32}"),
    ),
    Rule::token("twitch-stream-key", "Twitch", "stream key", &["live_"], r"live_\d{6,12}_[A-Za-z0-9]{30}")
        .entropy(3.3),
    Rule::beside(
        "twitch-token",
        "Twitch",
        "access token or client secret",
        &["twitch"],
        assigned!("twitch", "[a-z0-9]{30}"),
    ),
    Rule::token(
        "twitter-bearer-token",
        "Twitter",
        "bearer token of an app",
        &["AAAAAAAAAAAAAAAAAAAA"],
        r"A{22}[A-Za-z0-9%]{80,100}",
    )
    .entropy(3.5)
    .reach(128)
    .inside_words(),
    Rule::beside(
        "twitter-secret",
        "Twitter",
        "key, secret or access token",
        &["twitter"],
        assigned!("twitter", r"\d{15,25}-[A-Za-z0-9]{20,40}|[A-Za-z0-9]{50}|[A-Za-z0-9]{45}|[A-Za-z0-9]{25}"),
    ),
    Rule::token("typeform-token", "Typeform", "personal access token", &["tfp_"], r"tfp_[\w=.-]{40,60}")
        .entropy(3.5),
    Rule::beside(
        "vonage-secret",
        "Vonage",
        "API secret",
        &["nexmo", "vonage"],
        assigned!("nexmo|vonage", "[A-Za-z0-9]{16}"),
    ),
    Rule::named(
        "zapier-webhook",
        "Zapier",
        "webhook",
        &["hooks.zapier.com/"],
        r"hooks\.zapier\.com/hooks/catch/(\d{4,12}/[a-z0-9]{6,12})",
    )
    .entropy(2.5),
    Rule::beside(
        "zendesk-key",
        "Zendesk",
        "secret key",
        &["zendesk"],
        assigned!("zendesk", "[A-Za-z0-9]{40}"),
    ),
];
