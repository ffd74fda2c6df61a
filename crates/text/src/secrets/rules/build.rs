//! Tokens of tools that build, test, check and ship software.

use crate::secrets::rule::{Judge, Rule, assigned, is_graphic};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::beside(
        "browserstack-key",
        "BrowserStack",
        "access key",
        &["browserstack"],
        assigned!("browserstack", "[A-Za-z0-9]{20}"),
    ),
    Rule::token(
        "buildkite-token",
        "Buildkite",
        "token of the API or of an agent",
        &["bkua_", "bkaj_", "bkct_"],
        r"bk(?:ua|aj|ct)_[a-f0-9]{40}",
    ),
    Rule::token(
        "circleci-token",
        "CircleCI",
        "personal or project token",
        &["CCIPAT_", "CCIPRJ_"],
        r"CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[a-f0-9]{40}",
    ),
    Rule::beside(
        "codeclimate-token",
        "Code Climate",
        "reporter id",
        &["cc_test_reporter_id", "codeclimate"],
        assigned!("cc_test_reporter_id|codeclimate", "[a-f0-9]{64}"),
    ),
    Rule::beside(
        "codecov-token",
        "Codecov",
        "upload token",
        &["codecov"],
        assigned!("codecov", r"[a-z0-9]{32}"),
    ),
    Rule::named(
        "codecov-upload-token",
        "Codecov",
        "upload token of a repository",
        &["codecov_token"],
        assigned!("codecov_token", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ),
    Rule::token(
        "dependency-track-key",
        "Dependency-Track",
        "API key",
        &["odt_"],
        r"odt_(?:[A-Za-z0-9]{8}_)?[A-Za-z0-9]{32,40}",
    )
    .entropy(3.3),
    Rule::beside(
        "drone-token",
        "Drone",
        "user token",
        &["drone_token", "droneci", "drone-ci"],
        assigned!("drone(?:_token|-?ci)", "[A-Za-z0-9]{32}"),
    ),
    Rule::token(
        "harness-key",
        "Harness",
        "personal or service account token",
        &["pat.", "sat."],
        r"[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}",
    ),
    Rule::token("infracost-key", "Infracost", "API key", &["ico-"], r"ico-[A-Za-z0-9]{32}").entropy(3.3),
    Rule::beside(
        "jenkins-token",
        "Jenkins",
        "API token or crumb",
        &["jenkins"],
        assigned!("jenkins", "[a-f0-9]{64}|[a-f0-9]{34}|[a-f0-9]{32}"),
    ),
    Rule::named(
        "launchdarkly-key",
        "LaunchDarkly",
        "SDK key, mobile key or access token",
        &["launchdarkly", "ld_sdk", "ld_api"],
        assigned!(
            "launchdarkly|ld_(?:sdk|api)",
            r"(?:sdk|mob|api)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}|[\w=-]{40}"
        ),
    )
    .entropy(3.0),
    Rule::token(
        "octopus-deploy-key",
        "Octopus Deploy",
        "API key",
        &["API-"],
        r"API-(?:[A-Z0-9]{32,36}|[A-Z0-9]{26})",
    )
    .entropy(3.4),
    Rule::token("postman-key", "Postman", "API key", &["PMAK-"], r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    Rule::token("prefect-key", "Prefect", "API key", &["pnu_"], r"pnu_[A-Za-z0-9]{36}").entropy(3.0),
    Rule::beside("rapidapi-key", "RapidAPI", "API key", &["rapidapi"], assigned!("rapidapi", r"[\w-]{50}")),
    Rule::token("readme-key", "ReadMe", "API key", &["rdme_"], r"rdme_[a-z0-9]{70}").entropy(3.3),
    Rule::named(
        "saucelabs-key",
        "Sauce Labs",
        "access key",
        &["sauce_access", "sauce-access", "saucelabs", "sauceaccess"],
        assigned!("sauce(?:labs|[_-]?access)", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ),
    Rule::named(
        "sidekiq-secret",
        "Sidekiq",
        "user and password of the gem server",
        &["contribsys"],
        assigned!("contribsys__com", "[a-f0-9]{8}:[a-f0-9]{8}"),
    ),
    Rule::named(
        "sidekiq-url",
        "Sidekiq",
        "password in a URL of the gem server",
        &["contribsys.com"],
        r"[a-f0-9]{8}:([a-f0-9]{8})@(?:gems|enterprise)\.contribsys\.com",
    )
    .before(34)
    .front(18, is_graphic)
    .reach(32)
    .entropy(1.5),
    Rule::named(
        "snyk-token",
        "Snyk",
        "API token",
        &["snyk"],
        assigned!("snyk", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ),
    Rule::token(
        "sonar-token",
        "SonarQube",
        "token of a user, a project or all of it",
        &["sqa_", "sqp_", "squ_"],
        r"sq[apu]_[a-f0-9]{40}",
    )
    .entropy(3.0),
    Rule::beside(
        "sonar-token-named",
        "SonarQube",
        "token of the older kind",
        &["sonar.login", "sonar_login", "sonar_token", "sonar.token"],
        assigned!("sonar[._](?:login|token)", "[a-f0-9]{40}"),
    ),
    Rule::token("stackhawk-key", "StackHawk", "API key", &["hawk."], r"hawk\.[\w-]{20}\.[\w-]{20}")
        .entropy(3.5),
    Rule::token(
        "teamcity-token",
        "TeamCity",
        "access token",
        &["eyJ0eXAiOiAiVENWMiJ9."],
        r"eyJ0eXAiOiAiVENWMiJ9\.[\w-]{36}\.[\w-]{48}",
    )
    .judge(Judge::Shape),
    Rule::beside(
        "travis-token",
        "Travis CI",
        "access token",
        &["travis"],
        assigned!("travis", r"[A-Za-z0-9_-]{22}"),
    ),
];
