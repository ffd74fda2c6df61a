//! Examples for the rules of what builds and ships software.

use super::Example;

// tidy: data
pub(crate) static EXAMPLES: &[Example] = &[
    (
        "browserstack-key",
        &["BROWSERSTACK_KEY={alnum:17}{digits:3}", "\"browserstack_secret\": \"{alnum:17}{digits:3}\""],
        &[
            "BROWSERSTACK_KEY=${open}BROWSERSTACK_KEY{close}",
            "BROWSERSTACK_KEY={alnum:5}{digits:3}",
            "browserstack is a service",
        ],
    ),
    ("buildkite-token", &["bkua_{hex:40}", "bkaj_{hex:40}", "bkct_{hex:40}"], &["bkua_", "bkua_{hex:13}"]),
    (
        "circleci-token",
        &["CCIPAT_{alnum:22}_{hex:40}", "CCIPRJ_{alnum:22}_{hex:40}"],
        &["CCIPAT_", "CCIPAT_{alnum:22}_{hex:13}"],
    ),
    (
        "codeclimate-token",
        &["CC_TEST_REPORTER_ID_KEY={hex:64}", "\"cc_test_reporter_id_secret\": \"{hex:64}\""],
        &[
            "CC_TEST_REPORTER_ID_KEY=${open}CC_TEST_REPORTER_ID_KEY{close}",
            "CC_TEST_REPORTER_ID_KEY={hex:21}",
            "cc_test_reporter_id is a service",
        ],
    ),
    (
        "codecov-token",
        &["CODECOV_KEY={lownum:29}{digits:3}", "\"codecov_secret\": \"{lownum:29}{digits:3}\""],
        &[
            "CODECOV_KEY=${open}CODECOV_KEY{close}",
            "CODECOV_KEY={lownum:9}{digits:3}",
            "codecov is a service",
        ],
    ),
    (
        "codecov-upload-token",
        &["CODECOV_TOKEN_KEY={uuid}", "\"codecov_token_secret\": \"{uuid}\""],
        &[
            "CODECOV_TOKEN_KEY=${open}CODECOV_TOKEN_KEY{close}",
            "CODECOV_TOKEN_KEY={hex:12}",
            "codecov_token is a service",
        ],
    ),
    ("dependency-track-key", &["odt_{alnum:32}"], &["odt_", "odt_{alnum:10}"]),
    (
        "drone-token",
        &["DRONE_TOKEN_KEY={alnum:29}{digits:3}", "\"drone_token_secret\": \"{alnum:29}{digits:3}\""],
        &[
            "DRONE_TOKEN_KEY=${open}DRONE_TOKEN_KEY{close}",
            "DRONE_TOKEN_KEY={alnum:9}{digits:3}",
            "drone_token is a service",
        ],
    ),
    (
        "harness-key",
        &["pat.{word:21}7.{alnum:24}.{alnum:20}", "sat.{alnum:22}.{alnum:24}.{alnum:20}"],
        &["pat.", "cat.{alnum:22}"],
    ),
    ("infracost-key", &["ico-{alnum:32}"], &["ico-", "ico-{alnum:10}"]),
    (
        "jenkins-token",
        &["JENKINS_KEY={hex:64}", "\"jenkins_secret\": \"{hex:34}\"", "jenkins.key: '{hex:32}'"],
        &["JENKINS_KEY=${open}JENKINS_KEY{close}", "JENKINS_KEY={hex:21}", "jenkins is a service"],
    ),
    (
        "launchdarkly-key",
        &["LAUNCHDARKLY_KEY=sdk-{uuid}", "\"launchdarkly_secret\": \"{alnum:37}{digits:3}\""],
        &[
            "LAUNCHDARKLY_KEY=${open}LAUNCHDARKLY_KEY{close}",
            "LAUNCHDARKLY_KEY=sdk-{hex:12}",
            "launchdarkly is a service",
        ],
    ),
    ("octopus-deploy-key", &["API-{upnum:32}", "API-{upnum:26}"], &["API-", "API-{upnum:10}"]),
    ("postman-key", &["PMAK-{hex:24}-{hex:34}"], &["PMAK-"]),
    ("prefect-key", &["pnu_{alnum:36}"], &["pnu_", "pnu_{alnum:12}"]),
    (
        "rapidapi-key",
        &["RAPIDAPI_KEY={alnum:47}{digits:3}", "\"rapidapi_secret\": \"{alnum:47}{digits:3}\""],
        &[
            "RAPIDAPI_KEY=${open}RAPIDAPI_KEY{close}",
            "RAPIDAPI_KEY={alnum:15}{digits:3}",
            "rapidapi is a service",
        ],
    ),
    ("readme-key", &["rdme_{lownum:70}"], &["rdme_", "rdme_{lownum:23}"]),
    (
        "saucelabs-key",
        &["SAUCE_ACCESS_KEY={uuid}", "\"sauce_access_secret\": \"{uuid}\""],
        &[
            "SAUCE_ACCESS_KEY=${open}SAUCE_ACCESS_KEY{close}",
            "SAUCE_ACCESS_KEY={hex:12}",
            "sauce_access is a service",
        ],
    ),
    (
        "sidekiq-secret",
        &["BUNDLE_GEMS__CONTRIBSYS__COM={hex:8}:{hex:8}"],
        &["BUNDLE_GEMS__CONTRIBSYS__COM=$GEMS"],
    ),
    ("sidekiq-url", &["https://{hex:8}:{hex:8}{at}gems.contribsys.com/"], &["https://gems.contribsys.com/"]),
    (
        "snyk-token",
        &["SNYK_KEY={uuid}", "\"snyk_secret\": \"{uuid}\""],
        &["SNYK_KEY=${open}SNYK_KEY{close}", "SNYK_KEY={hex:12}", "snyk is a service"],
    ),
    ("sonar-token", &["sqa_{hex:40}"], &["sqa_", "sqa_{hex:13}"]),
    (
        "sonar-token-named",
        &["SONAR_LOGIN_KEY={hex:40}", "\"sonar.login_secret\": \"{hex:40}\""],
        &[
            "SONAR_LOGIN_KEY=${open}SONAR_LOGIN_KEY{close}",
            "SONAR_LOGIN_KEY={hex:13}",
            "sonar.login is a service",
        ],
    ),
    ("stackhawk-key", &["hawk.{alnum:20}.{alnum:20}"], &["hawk.", "hawk.{alnum:6}.{alnum:20}"]),
    ("teamcity-token", &["eyJ0eXAiOiAiVENWMiJ9.{alnum:36}.{alnum:48}"], &["eyJ0eXAiOiAiVENWMiJ9.x.y"]),
    (
        "travis-token",
        &["TRAVIS_KEY={alnum:19}{digits:3}", "\"travis_secret\": \"{alnum:19}{digits:3}\""],
        &["TRAVIS_KEY=${open}TRAVIS_KEY{close}", "TRAVIS_KEY={alnum:6}{digits:3}", "travis is a service"],
    ),
];
