//! Examples for the rules of clouds and infrastructure.

use super::Example;

// tidy: data
pub(crate) static EXAMPLES: &[Example] = &[
    ("akamai-token", &["akab-{lownum:16}-{lownum:16}"], &["akab-", "akab-{lownum:5}-{lownum:16}"]),
    ("alibaba-access-key-id", &["LTAI{alnum:17}"], &["LTAI", "LTAI{alnum:5}"]),
    (
        "alibaba-secret-key",
        &["ALIBABA_KEY={alnum:27}{digits:3}", "\"alibaba_secret\": \"{alnum:27}{digits:3}\""],
        &["ALIBABA_KEY=${open}ALIBABA_KEY{close}", "ALIBABA_KEY={alnum:9}{digits:3}", "alibaba is a service"],
    ),
    (
        "aws-access-key-id",
        &["AKIA{upnum:16}", "id ASIA{upnum:16},"],
        &[concat!("AKIA", "IOSFODNN7EXAMPLE"), "xAKIA{upnum:16}", "AKIA{upnum:17}"],
    ),
    ("aws-appsync-key", &["da2-{lownum:26}"], &["da2-", "da2-{lownum:8}"]),
    ("aws-bedrock-key", &["ABSK{alnum:100}", "bedrock-api-key-{alnum:40}"], &["ABSK", "ABSK{alnum:33}"]),
    (
        "aws-key-pair",
        &["key AKIA{upnum:16} with secret {alnum+:40}.", "AKIA{upnum:16}\\tand {alnum+:40}"],
        &[concat!("AKIA", "IOSFODNN7EXAMPLE at commit {hex:40}")],
    ),
    (
        "aws-secret-key",
        &[
            "AWS_SECRET_ACCESS_KEY={alnum+:40}",
            "\\\"SecretAccessKey\\\": \\\"{alnum+:40}\\\"",
            "aws_secret_access_key = {alnum+:40}\\n",
        ],
        &[
            "AWS_SECRET_ACCESS_KEY=$(pass aws)",
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ],
    ),
    (
        "aws-session-token",
        &["aws_session_token={alnum+:300}=="],
        &["aws_session_token=none", "session_token: {digits:5}"],
    ),
    ("azure-client-secret", &["secret abc8Q~{alnum:34}"], &["Q~", "a~b8Q~{alnum:3}"]),
    ("azure-devops-token", &["{alnum:76}AZDO{alnum:4}"], &["AZDO", "{alnum:20}AZDO{alnum:4}"]),
    (
        "azure-resource-key",
        &["{alnum:44}AzFu{alnum:8}==", "{alnum:76}ACDb{alnum:6}=="],
        &["AzFu", "{alnum:10}AzFu{alnum:8}=="],
    ),
    (
        "azure-sas-signature",
        &["https://x.blob.core.windows.net/c?sv=2024-01-01&sig={alnum:43}%3D"],
        &["sig={alnum:12}", "def f(sig=None)"],
    ),
    (
        "azure-storage-key",
        &["AccountName=x;AccountKey={alnum+:86}==;"],
        &["AccountKey=<key>;", "AccountKey={alnum:10}"],
    ),
    (
        "backblaze-key",
        &[
            "BACKBLAZE_KEY=K00{digits:1}{alnum:24}{digits:3}",
            "\"backblaze_secret\": \"K00{digits:1}{alnum:24}{digits:3}\"",
        ],
        &[
            "BACKBLAZE_KEY=${open}BACKBLAZE_KEY{close}",
            "BACKBLAZE_KEY=K00{digits:1}{alnum:8}{digits:3}",
            "backblaze is a service",
        ],
    ),
    (
        "cisco-meraki-key",
        &["MERAKI_KEY={hex:40}", "\"meraki_secret\": \"{hex:40}\""],
        &["MERAKI_KEY=${open}MERAKI_KEY{close}", "MERAKI_KEY={hex:13}", "meraki is a service"],
    ),
    ("cloudflare-origin-ca-key", &["v1.0-{hex:24}-{hex:146}"], &["v1.0-", "v1.0-{hex:24}-{hex:48}"]),
    (
        "cloudflare-token",
        &["CLOUDFLARE_API_TOKEN={word:39}7"],
        &["cloudflare: enabled", "CLOUDFLARE_API_TOKEN=${open}TOKEN{close}"],
    ),
    (
        "defined-networking-token",
        &["dnkey-{alnum:26}-{alnum:52}"],
        &["dnkey-", "dnkey-{alnum:26}-{alnum:17}"],
    ),
    ("digitalocean-token", &["dop_v1_{hex:64}"], &["dop_v1_{hex:10}"]),
    (
        "fastly-token",
        &["FASTLY_KEY={alnum:29}{digits:3}", "\"fastly_secret\": \"{alnum:29}{digits:3}\""],
        &["FASTLY_KEY=${open}FASTLY_KEY{close}", "FASTLY_KEY={alnum:9}{digits:3}", "fastly is a service"],
    ),
    ("fly-token", &["fo1_{alnum:43}", "fm1_{alnum:100}"], &["fo1_", "fo1_{alnum:14}"]),
    (
        "google-api-key",
        &["AIza{word:34}7", "key=AIza{alnum:35}&v=3"],
        &["AIza", "xAIza{alnum:35}", "AIza{alnum:40}"],
    ),
    ("google-oauth-secret", &["GOCSPX-{word:27}7"], &["GOCSPX-short"]),
    ("google-oauth-token", &["ya29.{word:100}7", "1//0{word:60}7"], &["ya29.", "a // 0"]),
    ("heroku-key", &["HEROKU_API_KEY={uuid}"], &["heroku run {uuid}", "trace {uuid}"]),
    ("heroku-token", &["HRKU-AA{word:57}7"], &["HRKU-AA"]),
    (
        "hetzner-token",
        &["HCLOUD_KEY={alnum:61}{digits:3}", "\"hcloud_secret\": \"{alnum:61}{digits:3}\""],
        &["HCLOUD_KEY=${open}HCLOUD_KEY{close}", "HCLOUD_KEY={alnum:20}{digits:3}", "hcloud is a service"],
    ),
    (
        "ibm-cloud-key",
        &["IBMCLOUD_KEY={alnum:41}{digits:3}", "\"ibmcloud_secret\": \"{alnum:41}{digits:3}\""],
        &[
            "IBMCLOUD_KEY=${open}IBMCLOUD_KEY{close}",
            "IBMCLOUD_KEY={alnum:13}{digits:3}",
            "ibmcloud is a service",
        ],
    ),
    (
        "linode-token",
        &["LINODE_KEY={hex:64}", "\"linode_secret\": \"{hex:64}\""],
        &["LINODE_KEY=${open}LINODE_KEY{close}", "LINODE_KEY={hex:21}", "linode is a service"],
    ),
    ("netlify-token", &["nfp_{alnum:36}"], &["nfp_", "nfp_{alnum:12}"]),
    (
        "ngrok-token",
        &[
            "NGROK_KEY={alnum:24}{digits:3}_{alnum:21}",
            "\"ngrok_secret\": \"{alnum:24}{digits:3}_{alnum:21}\"",
        ],
        &[
            "NGROK_KEY=${open}NGROK_KEY{close}",
            "NGROK_KEY={alnum:8}{digits:3}_{alnum:21}",
            "ngrok is a service",
        ],
    ),
    ("openshift-token", &["sha256~{alnum:43}"], &["sha256~", "sha256~{alnum:14}"]),
    ("pulumi-token", &["pul-{hex:40}"], &["pul-{hex:7}"]),
    (
        "railway-token",
        &["RAILWAY_TOKEN={uuid}", "railway_api_token: '{uuid}'"],
        &["RAILWAY_TOKEN=$TOKEN", "railway_project: {hex:12}"],
    ),
    ("render-key", &["rnd_{alnum:32}"], &["rnd_", "rnd_{alnum:10}"]),
    (
        "scaleway-secret",
        &["SCW_SECRET_KEY={uuid}", "\"scw_secret_secret\": \"{uuid}\""],
        &[
            "SCW_SECRET_KEY=${open}SCW_SECRET_KEY{close}",
            "SCW_SECRET_KEY={hex:12}",
            "scw_secret is a service",
        ],
    ),
    ("scalingo-token", &["tk-us-{alnum:48}"], &["tk-us-", "tk-us-{alnum:16}"]),
    ("tailscale-key", &["tskey-{alnum:10}-{alnum:20}"], &["tskey-", "tskey-{alnum:10}-{alnum:6}"]),
    ("tencent-secret-id", &["AKID{alnum:32}"], &["AKID", "AKID{alnum:10}"]),
    ("terraform-token", &["token {alnum:14}.atlasv1.{alnum:67}"], &["x.atlasv1.y"]),
    ("upcloud-token", &["ucat_{upnum:26}"], &["ucat_", "ucat_{upnum:8}"]),
    (
        "vercel-token",
        &["vercel_blob_rw_{alnum:16}_{alnum:30}", "vck_{alnum:48}"],
        &["vercel_blob_rw_", "vercel_blob_rw_{alnum:16}_{alnum:10}"],
    ),
    (
        "vultr-key",
        &["VULTR_KEY={upnum:33}{digits:3}", "\"vultr_secret\": \"{upnum:33}{digits:3}\""],
        &["VULTR_KEY=${open}VULTR_KEY{close}", "VULTR_KEY={upnum:11}{digits:3}", "vultr is a service"],
    ),
    (
        "yandex-key",
        &[
            "YANDEX_KEY=AQVN{word:33}{digits:3}",
            "yandex_secret = \"YC{alnum:35}{digits:3}\"",
            "yandex token: t1.{alnum:40}.{alnum:86}",
        ],
        &["yandex.ru", "YANDEX_KEY=$KEY"],
    ),
];
