//! Keys of clouds, hosting, networks and infrastructure.

use crate::secrets::rule::{Rule, assigned, is_alphanumeric, is_base64, is_graphic};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::token(
        "akamai-token",
        "Akamai",
        "client token or access token",
        &["akab-"],
        r"akab-[a-z0-9]{16}-[a-z0-9]{16}",
    )
    .entropy(3.3),
    Rule::token(
        "alibaba-access-key-id",
        "Alibaba Cloud",
        "access key id",
        &["LTAI"],
        r"LTAI[A-Za-z0-9]{17,21}",
    )
    .entropy(3.3),
    Rule::beside(
        "alibaba-secret-key",
        "Alibaba Cloud",
        "access key secret",
        &["alibaba", "aliyun"],
        assigned!("alibaba|aliyun", "[A-Za-z0-9]{30}"),
    ),
    Rule::token(
        "aws-access-key-id",
        "AWS",
        "access key id",
        &["AKIA", "ASIA", "ABIA", "ACCA", "A3T"],
        r"A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}",
    ),
    Rule::token("aws-appsync-key", "AWS AppSync", "API key", &["da2-"], r"da2-[a-z0-9]{26}").entropy(3.0),
    Rule::token(
        "aws-bedrock-key",
        "AWS Bedrock",
        "API key",
        &["ABSK", "bedrock-api-key-"],
        r"(?:ABSK[A-Za-z0-9+/]{100,270}={0,2}|bedrock-api-key-[A-Za-z0-9+/]{40,}={0,2})",
    )
    .entropy(3.3),
    Rule::token(
        "aws-key-pair",
        "AWS",
        "secret access key that follows its id",
        &["AKIA", "ASIA"],
        concat!(
            r"A(?:K|S)IA[A-Z0-9]{16}\b[^\n]{1,80}?",
            r"[^A-Za-z0-9/+]([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|\z)",
        ),
    )
    .entropy(4.2),
    Rule::named(
        "aws-secret-key",
        "AWS",
        "secret access key",
        &[
            "aws_secret",
            "aws-secret",
            "awssecret",
            "secret_access_key",
            "secretaccesskey",
            "secret access key",
        ],
        concat!(
            "(?i:aws[_-]?secret|secret[_ ]?access[_ ]?key)",
            r#"[\w.-]{0,24}[\s"'`\\]{0,4}(?:=>|\?=|[=:,\]])[\s"'`=:\\]{0,6}"#,
            r"([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|\z)",
        ),
    )
    .entropy(3.5),
    Rule::named(
        "aws-session-token",
        "AWS",
        "session token",
        &["session_token", "sessiontoken"],
        assigned!("session_?token", r"[A-Za-z0-9/+]{100,}={0,2}"),
    )
    .entropy(4.0)
    .reach(1024),
    Rule::token(
        "azure-client-secret",
        "Azure",
        "client secret of an application",
        &["0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"],
        r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}",
    )
    .before(3)
    .front(3, is_graphic)
    .reach(64),
    Rule::token(
        "azure-devops-token",
        "Azure DevOps",
        "personal access token",
        &["AZDO"],
        r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}",
    )
    .before(76)
    .front(76, is_alphanumeric)
    .reach(16),
    Rule::token(
        "azure-resource-key",
        "Azure",
        "key of a resource that carries its signature",
        &["AzFu", "AzSe", "AzCa", "ACDb", "+ABa", "+AMC", "+ASt", "AIoT", "ASbT", "AEhb"],
        concat!(
            r"[A-Za-z0-9+/_-]{33,76}(?:Az(?:Fu|Se|Ca)|ACDb|\+A(?:Ba|MC|St)|AIoT|ASbT|AEhb)",
            "[A-Za-z0-9+/_-]{5,10}={0,2}",
        ),
    )
    .before(76)
    .front(33, is_base64)
    .reach(32)
    .entropy(4.3),
    Rule::named(
        "azure-sas-signature",
        "Azure",
        "signature of a shared access URL",
        &["sig="],
        r"sig=([A-Za-z0-9%/+]{43,60}(?:%3[dD]|=))",
    )
    .entropy(4.0),
    Rule::named(
        "azure-storage-key",
        "Azure",
        "account key in a connection string",
        &["accountkey=", "sharedaccesskey="],
        r"(?i:(?:account|sharedaccess)key)=([A-Za-z0-9+/]{43,86}={1,2})",
    )
    .entropy(4.0),
    Rule::beside(
        "backblaze-key",
        "Backblaze",
        "application key",
        &["backblaze", "b2_application"],
        assigned!("backblaze|b2_application", "K00[0-9][A-Za-z0-9+/]{27}"),
    ),
    Rule::beside(
        "cisco-meraki-key",
        "Cisco Meraki",
        "API key",
        &["meraki"],
        assigned!("meraki", "[a-f0-9]{40}"),
    ),
    Rule::token(
        "cloudflare-origin-ca-key",
        "Cloudflare",
        "origin CA key",
        &["v1.0-"],
        r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}",
    ),
    Rule::beside(
        "cloudflare-token",
        "Cloudflare",
        "API token or global key",
        &["cloudflare", "cf_api", "cf-api"],
        assigned!("cloudflare|cf[_-]api", r"[A-Za-z0-9_-]{40}|[a-f0-9]{37}"),
    )
    .entropy(3.4),
    Rule::token(
        "defined-networking-token",
        "Defined Networking",
        "API token",
        &["dnkey-"],
        r"dnkey-[\w=-]{26}-[\w=-]{52}",
    )
    .entropy(3.3),
    Rule::token(
        "digitalocean-token",
        "DigitalOcean",
        "access or refresh token",
        &["doo_v1_", "dop_v1_", "dor_v1_"],
        r"do[opr]_v1_[a-f0-9]{64}",
    ),
    Rule::beside("fastly-token", "Fastly", "API token", &["fastly"], assigned!("fastly", r"[\w=-]{32}")),
    Rule::token(
        "fly-token",
        "Fly.io",
        "access token",
        &["fo1_", "fm1_", "fm2_", "fm1r_", "fm1a_"],
        r"(?:fo1_[\w-]{43}|fm(?:1[ar]?|2)_[A-Za-z0-9+/]{100,}={0,3})",
    )
    .entropy(3.5),
    Rule::token("google-api-key", "Google", "API key", &["AIza"], r"AIza[\w-]{35}").entropy(3.5),
    Rule::token(
        "google-oauth-secret",
        "Google",
        "client secret of an application",
        &["GOCSPX-"],
        r"GOCSPX-[\w-]{28}",
    ),
    Rule::token(
        "google-oauth-token",
        "Google",
        "access or refresh token",
        &["ya29.", "1//0"],
        r"(?:ya29\.[\w-]{30,}|1//0[\w-]{40,})",
    )
    .entropy(3.8),
    Rule::named(
        "heroku-key",
        "Heroku",
        "API key",
        &["heroku"],
        assigned!("heroku", r"(?i:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
    ),
    Rule::token("heroku-token", "Heroku", "API key of the newer kind", &["HRKU-AA"], r"HRKU-AA[\w-]{58}"),
    Rule::beside(
        "hetzner-token",
        "Hetzner",
        "API token",
        &["hcloud", "hetzner"],
        assigned!("hcloud|hetzner", "[A-Za-z0-9]{64}"),
    ),
    Rule::beside(
        "ibm-cloud-key",
        "IBM Cloud",
        "API key",
        &["ibmcloud", "ibm_cloud", "ibm-cloud", "bluemix", "watson"],
        assigned!("ibm[_-]?cloud|bluemix|watson", r"[\w-]{44}"),
    ),
    Rule::beside(
        "linode-token",
        "Linode",
        "personal access token",
        &["linode"],
        assigned!("linode", "[a-f0-9]{64}"),
    ),
    Rule::token("netlify-token", "Netlify", "personal access token", &["nfp_"], r"nfp_[A-Za-z0-9]{36,40}")
        .entropy(3.3),
    Rule::beside(
        "ngrok-token",
        "ngrok",
        "authentication token",
        &["ngrok"],
        assigned!("ngrok", "[A-Za-z0-9]{27}_[A-Za-z0-9]{21}"),
    ),
    Rule::token("openshift-token", "OpenShift", "user token", &["sha256~"], r"sha256~[\w-]{43}").entropy(3.5),
    Rule::token("pulumi-token", "Pulumi", "access token", &["pul-"], r"pul-[a-f0-9]{40}"),
    Rule::named(
        "railway-token",
        "Railway",
        "project or account token",
        &["railway_"],
        assigned!("railway_(?:api_)?token", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ),
    Rule::token("render-key", "Render", "API key", &["rnd_"], r"rnd_[A-Za-z0-9]{32}").entropy(3.3),
    Rule::named(
        "scaleway-secret",
        "Scaleway",
        "secret key",
        &["scw_secret", "scaleway"],
        assigned!("scw_secret|scaleway", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ),
    Rule::token("scalingo-token", "Scalingo", "API token", &["tk-us-"], r"tk-us-[\w-]{48}").entropy(3.3),
    Rule::token(
        "tailscale-key",
        "Tailscale",
        "key of a node, a client or the API",
        &["tskey-"],
        r"tskey-(?:[a-z]{3,8}-)?[A-Za-z0-9]{10,20}(?:CNTRL)?-[A-Za-z0-9]{20,40}",
    )
    .entropy(3.3),
    Rule::token("tencent-secret-id", "Tencent Cloud", "secret id", &["AKID"], r"AKID[A-Za-z0-9]{32}")
        .entropy(3.5),
    Rule::token(
        "terraform-token",
        "HashiCorp Terraform",
        "token of Terraform Cloud",
        &[".atlasv1."],
        r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}",
    )
    .before(14)
    .front(14, is_alphanumeric)
    .reach(128),
    Rule::token("upcloud-token", "UpCloud", "API token", &["ucat_"], r"ucat_[A-Z0-9]{26}").entropy(3.0),
    Rule::token(
        "vercel-token",
        "Vercel",
        "token of an account or a blob store",
        &["vercel_blob_rw_", "vcp_", "vck_"],
        r"(?:vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{30,40}|vc[pk]_[A-Za-z0-9]{48,64})",
    )
    .entropy(3.5),
    Rule::beside("vultr-key", "Vultr", "API key", &["vultr"], assigned!("vultr", "[A-Z0-9]{36}")),
    Rule::beside(
        "yandex-key",
        "Yandex Cloud",
        "API key, access token or static key",
        &["yandex"],
        assigned!("yandex", r"AQVN[\w-]{35,38}|YC[\w-]{38}|t1\.[\w-]+={0,2}\.[\w-]{86}={0,2}"),
    ),
];
