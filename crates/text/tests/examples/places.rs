//! Examples for the rules of secrets known by their place.

use super::Example;

// tidy: data
pub(crate) static EXAMPLES: &[Example] = &[
    ("age-secret-key", &["AGE-SECRET-KEY-1{bech:58}"], &["AGE-SECRET-KEY-1", "AGE-SECRET-KEY-1{bech:20}"]),
    (
        "azure-cli-password",
        &[
            "az login --service-principal -u shop -p {typed} --tenant x",
            "az acr login -n shop -u dev -p '{alnum:20}'",
        ],
        &["az login -u shop -p $PASS", "az group list -o table", "blaz group -p {typed}"],
    ),
    (
        "basic-auth",
        &[
            "Authorization: Basic {base64:shop:(alnum)x7f3k}",
            "-H 'authorization: basic {base64:dev:Tr0ub4dor}'",
        ],
        &["basic authentication", "Basic {base64:user:password}", "basic internationalization"],
    ),
    (
        "bearer-token",
        &[
            "Authorization: Bearer {alnum:30}7x",
            "\\\"Authorization\\\": \\\"Bearer {word:64}7a1\\\"",
            "curl -H 'Authorization: token {hex:40}'",
            "Authorization: {alnum:32}",
            "\"Authorization\": \"{hex:40}\"",
        ],
        &[
            "Authorization: Bearer $TOKEN",
            "Bearer ${open}{open}token{close}{close}",
            "bearer authentication-middleware-2024",
            "Authorization: Bearer YOUR_API_TOKEN_12345",
        ],
    ),
    (
        "command-line-secret",
        &[
            "mysql --password={typed} shop",
            "deploy --token {hex:22}7x",
            "login --api-key \\\"{alnum:24}7\\\"",
            "deploy --client-secret {printable:20}",
        ],
        &[
            "mysql --password=$DB_PASSWORD",
            "deploy --token <token>",
            "deploy --token /run/secrets/token1",
            "tool --token-limit 20000000",
        ],
    ),
    (
        "cookie",
        &[
            "Cookie: theme=dark; sessionid={lownum:32}; lang=de",
            "< Set-Cookie: PHPSESSID={lownum:26}; path=/",
            "\"cookie\": \"connect.sid={alnum:40}\"",
        ],
        &["Cookie: theme=dark; lang=de", "cookie: session=$SESSION", "set-cookie: sessionid=; Max-Age=0"],
    ),
    (
        "curl-user",
        &["curl -s -u shop:{typed} https://api.shop.test"],
        &["curl -u shop:$PASS https://api.shop.test", "curl https://api.shop.test:8443/a"],
    ),
    (
        "django-secret-key",
        &["SECRET_KEY = 'django-insecure-{lownum:48}-7'", "SECRET_KEY: \"{lownum:40}(x)$&*+!%7\""],
        &["SECRET_KEY = os.environ['SECRET_KEY']", "SECRET_KEY = 'django-insecure-{lownum:10}'"],
    ),
    (
        "docker-config-auth",
        &[
            "\"auths\": {open}\"r.shop.test\": {open}\"auth\": \"{base64:shop:(alnum)x7f3k}\"{close}{close}",
            "\\\"auth\\\": \\\"{base64:dev:Tr0ub4dor}\\\"",
        ],
        &["\"auth\": \"required\"", "\"auth\": \"{base64:user:password}\""],
    ),
    (
        "docker-login-password",
        &["docker login -u shop -p {typed} r.shop.test"],
        &["docker login -u shop -p $PASS", "docker login --password-stdin"],
    ),
    (
        "htpasswd-password",
        &[
            "htpasswd -b .htpasswd dev {typed}",
            "htpasswd -nbB dev {typed}",
            "htpasswd -c -b .htpasswd dev {typed}",
        ],
        &["htpasswd -c .htpasswd dev", "htpasswd -nb dev $PASS"],
    ),
    (
        "jwk-private-part",
        &["{open}\"kty\":\"EC\",\"d\":\"{word:42}7\"{close}", "\\\"d\\\":\\\"{alnum:43}\\\""],
        &["\"d\": \"M12 0C5.37 0 0 5.37 0 12s5.37 12 12 12\"", "\"d\": \"{alnum:8}\""],
    ),
    (
        "jwt",
        &["eyJ{alnum:30}.eyJ{alnum:120}.{word:42}7", "Cookie: s=eyJ{alnum:20}.eyJ{alnum:900}.{word:85}7;"],
        &["eyJ{alnum:30}", "eyJ{alnum:30}.x.y", "xeyJ{alnum:30}.eyJ{alnum:30}.{alnum:43}"],
    ),
    ("kerberos-hash", &["$krb5asrep$23$dev{at}shop.test:{hex:32}${hex:120}"], &["$krb5asrep$23$"]),
    (
        "kubernetes-bootstrap-token",
        &["token-id: {hex:6}\\ntoken-secret: {hex:16}"],
        &["token-secret: $SECRET"],
    ),
    (
        "kubernetes-secret",
        &[
            "apiVersion: v1\\nkind: Secret\\nmetadata:\\n  name: shop\\ndata:\\n  extra: {alnum:30}7x",
            "kind: Secret
type: Opaque
data:
  extra: {alnum:30}7x==",
        ],
        &[
            "kind: Secret
metadata:
  name: shop",
            "kind: SecretStore
data:
  extra: {alnum:30}",
        ],
    ),
    (
        "mysql-password",
        &["mysql -h db -u shop -p{typed} main"],
        &["mysql -u shop -p main", "mysql -u shop -p$PASS main"],
    ),
    (
        "netrc-password",
        &["machine api.shop.test login dev password {typed}"],
        &["machine learning login page password reset"],
    ),
    (
        "npmrc-token",
        &["//r.shop.test/:_authToken={uuid}", "//r.shop.test/:_auth={alnum:30}7="],
        &["//r.shop.test/:_authToken=${open}NPM_TOKEN{close}"],
    ),
    (
        "openssl-password",
        &["openssl rsa -in a.pem -passin pass:{typed}"],
        &["openssl rsa -passin pass:$PASS", "the tests pass: all 12 of them"],
    ),
    (
        "otpauth-secret",
        &["otpauth://totp/Shop:dev?secret={base32:32}&issuer=Shop"],
        &["otpauth://totp/Shop:dev?issuer=Shop", "otpauth://totp/Shop?secret=$SECRET"],
    ),
    (
        "password",
        &[
            "DB_PASSWORD={typed}",
            "password: \"{typed}\"",
            "{open}\\\"password\\\":\\\"{alnum:14}7x\\\"{close}",
            "+  passwd => '{alnum:12}7x',",
            "SMTP_PASS={alnum:16}7x",
            "DB_PASSWORD={printable:16}",
            "password = \"{printable-:16}\"",
            "password: '{alnum:12}'",
            "password: {esc}[33m{alnum:12}{esc}[0m",
            "{esc}[1mpassword{esc}[0m: {alnum:12}",
            "define('DB_PASSWORD', '{alnum:12}');",
            "set -gx DB_PASSWORD {alnum:12}",
            "ENV DB_PASSWORD {alnum:12}",
            "PASS={alnum:12}7x",
            "DB_PW={alnum:12}",
            "auth: {open} user: 'dev', pass: '{alnum:12}' {close}",
            "Server=db;Uid=dev;Pwd={alnum:12};Encrypt=true",
            "<password>{alnum:12}</password>",
            "<add key=\"DB_PASSWORD\" value=\"{alnum:12}\"/>",
            "DB_PASSWORD=7{digits:7}",
            "GMAIL_APP_PASSWORD=\"{letters:4} {letters:4} {letters:4} {letters:4}\"",
            "| password | {alnum:12} |",
            "| user | dev |\n| `DB_PASSWORD` | `{alnum:12}` |",
            "config[\"password\"] = \"{alnum:12}\"",
            "let password: &str = \"{alnum:12}\";",
            "**Password:** {alnum:12}",
            "[redacted:password] password={alnum:12}",
        ],
        &[
            "password: string",
            "pub const WRONG_PASSWORD: WIN32_ERROR = 1323;",
            "password = getPassword(user)",
            "PASSWORD=$DB_PASSWORD",
            "password=${open}DB_PASSWORD{close}",
            "password: \"changeme123\"",
            "password: process.env.DB_PASSWORD1",
            "\"password\": \"********\"",
            "PASSWORD=<your password>",
            "password_file: /run/secrets/db_password1",
            "passwordLabel:\"Password:\",rememberMeLabel:\"Remember 2\"",
            "password: [redacted:password]",
            "the password is checked in auth2.rs",
            "| password | varchar(255) |",
            "| password | string |",
            "PASS: src/auth2.test.ts",
            "PASS=12 FAIL=0",
            "<password>secret</password>",
            "password: z.string().min(8).max(64),",
            "password: /^(?=.*[A-Z])[A-Za-z0-9]{open}8,{close}$/",
            "PWD=/home/dev/shop2",
            "os.environ['DB_PASSWORD'], 'shop_2'",
            "def login(password: str, retries: int = 3)",
            "e.password,t=n.b(e)",
        ],
    ),
    (
        "password-hash",
        &[
            "$2b$12${alnum:53}",
            "shop:$6${alnum:8}${alnum:86}:19000",
            "$1${alnum:8}${alnum:22}",
            "$argon2id$v=19$m=65536,t=3,p=4${alnum:22}${alnum:43}",
        ],
        &["sed 's/a/$1$2/'", "$2b$12$short"],
    ),
    (
        "pgpass-password",
        &[
            "db.example.com:5432:shop:app:{typed}",
            "# production\n*:*:*:app:{alnum:16}",
            "10.0.0.7:5433:*:deploy:{alnum:20}",
        ],
        &[
            "db.example.com:5432:shop:app:$PGPASSWORD",
            "hostname:5432:database:username:password",
            "127.0.0.1:5432:5432",
            "error at a.ts:5432:11:note: here",
        ],
    ),
    (
        "private-key",
        &[
            "{pem:RSA PRIVATE}",
            "{pem:PRIVATE}",
            "\"key\": \"{pem\\n:EC PRIVATE}\\n\"",
            "-{pem-diff:OPENSSH PRIVATE}",
            "{pem-cut:RSA PRIVATE}",
            "{pem-numbered:RSA PRIVATE}",
            "{pem-grep:RSA PRIVATE}",
            "{pem-locked:RSA PRIVATE}",
            "tls.key: {pem-base64:RSA PRIVATE}",
            "{pem-base64:EC PRIVATE}",
        ],
        &["{pem:PUBLIC}", "looks for BEGIN RSA PRIVATE KEY", "ca.crt: {pem-base64:PUBLIC}", "LS0tLS1CRUdJTi"],
    ),
    (
        "putty-key",
        &["Private-Lines: 2
{alnum+:64}
{alnum+:40}=="],
        &["Private-Lines: 14"],
    ),
    (
        "redis-password",
        &["redis-cli -h cache -a {typed} ping", "requirepass {alnum:20}7x"],
        &["redis-cli -a $PASS", "# requirepass foobared"],
    ),
    (
        "secret-value",
        &[
            "JWT_SECRET={hex:32}",
            "api_key: \"{alnum:30}7x\"",
            "{open}\\\"clientSecret\\\": \\\"{alnum:38}7x\\\"{close}",
            "X-Api-Key: {hex:40}",
            "+ACCESS_TOKEN='{word:38}7x'",
            "const apiKey = '{alnum:30}7x';",
            "API_KEY={alnum:16}",
            "CLIENT_SECRET={printable:16}",
            "API_TOKEN={uuid}",
            "[redacted:jwt] API_KEY={alnum:20}",
        ],
        &[
            "token = next_token_from_stream(input)",
            "\"input_tokens\": 20000000000000000000",
            "max_tokens: 64000, token_count: 123456789012345678901234",
            "secret: {uuid}",
            "API_KEY=${open}API_KEY{close}",
            "api_key = os.environ[\"SHOP_API_KEY_2024\"]",
            "API_KEY=your-api-key-goes-here-1234",
            "api_key: <api-key-1234567890abcd>",
            "secretName: \"shop-database-credentials-v2\"",
            "token: /var/run/secrets/kubernetes.io/token2",
            "commit {hex:40}",
            "sha256: {hex:64}",
            "token: \"{open}{open} secrets.TOKEN_2024_PROD {close}{close}\"",
            "tokenizer = \"o200k_base_extended_2024\"",
            "secret = 1234567890123456789012345",
        ],
    ),
    (
        "sql-password",
        &["CREATE USER shop IDENTIFIED BY '{typed}'", "identified with mysql_native_password by '{typed}'"],
        &["identified by the index", "IDENTIFIED BY '$PASS'"],
    ),
    (
        "ssh-password",
        &["sshpass -p {typed} ssh dev{at}shop.test"],
        &["sshpass -e ssh shop.test", "sshpass -p $PASS ssh shop.test"],
    ),
    (
        "stdin-password",
        &["echo {typed} | sudo -S apt update", "echo '{alnum:12}' | docker login -u dev --password-stdin"],
        &["echo $PASS | sudo -S ls", "make | sudo tee log", "cat key | docker login --password-stdin"],
    ),
    (
        "terraform-default",
        &[
            "variable \"db_password\" {open}\n  type    = string\n  default = \"{typed}\"\n{close}",
            "variable \"api_token\" {open}\n  default   = \"{alnum:24}\"\n  sensitive = true\n{close}",
        ],
        &[
            "variable \"db_password\" {open}\n  type = string\n{close}\nvariable \"region\" {open}\n  default = \"eu-west-1\"\n{close}",
            "variable \"db_password\" {open}\n  default = \"changeme\"\n{close}",
            "variable \"instance_type\" {open}\n  default = \"t3.micro7\"\n{close}",
        ],
    ),
    (
        "url-password",
        &[
            "postgres://shop:{typed}{at}db.shop.test/main",
            "https://dev:{alnum:18}7{at}git.shop.test/a.git",
            "redis://:{hex:24}{at}cache:6379",
            "postgres://shop:{alnum:12}{at}db/main",
            "postgres://shop:{upletters:12}{at}db/main",
        ],
        &[
            "postgres://user:password{at}localhost/db",
            "postgres://$USER:$PASS{at}localhost/db",
            "https://<user>:<pass>{at}host",
            "https://host:8080/a{at}b",
            "http://[::1]:80/x{at}y",
            "postgres://postgres:postgres{at}localhost:5432",
        ],
    ),
    ("wireguard-key", &["PrivateKey = {alnum+:42}4="], &["PrivateKey = <key>"]),
];
