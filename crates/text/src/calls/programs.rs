//! Programs whose name alone shows their purpose.

use super::Purpose::{self, Build, Format, Install, Lint, Read, Run, Search, Test, Typecheck, Vcs};

/// The programs of each purpose, sorted.
#[rustfmt::skip]
pub(super) const ALONE: &[(Purpose, &[&str])] = &[
    (Test, &[
        "ava", "bats", "behat", "behave", "busted", "c8", "cargo-nextest", "ctest", "cucumber", "cypress",
        "doctest", "ginkgo", "gotestsum", "hurl", "jasmine", "jest", "karma", "minitest", "mocha", "nose2",
        "nosetests", "nox", "nyc", "paratest", "pest", "phpunit", "prove", "py.test", "pytest", "robot",
        "rspec", "tap", "testcafe", "tox", "unittest", "vitest", "wtr",
    ]),
    (Build, &[
        "c++", "cc", "clang", "clang++", "esbuild", "g++", "gcc", "ghc", "javac", "kotlinc", "latexmk",
        "maturin", "msbuild", "ninja", "parcel", "pdflatex", "protoc", "rollup", "rustc", "swc", "tauri",
        "tsup", "wasm-pack", "webpack",
    ]),
    (Typecheck, &[
        "basedpyright", "dialyzer", "dmypy", "flow", "mypy", "phpstan", "psalm", "pyre", "pyrefly", "pyright",
        "pytype", "srb", "svelte-check", "tsc", "tsgo", "ty", "vue-tsc",
    ]),
    (Lint, &[
        "actionlint", "ansible-lint", "bandit", "clang-tidy", "clippy-driver", "cppcheck", "cpplint", "cspell",
        "detekt", "djlint", "eslint", "fieldalignment", "flake8", "golangci-lint", "hadolint", "knip", "ktlint",
        "lefthook", "luacheck", "markdownlint", "markdownlint-cli2", "modernize", "oxlint", "phpcs",
        "pre-commit", "pylint", "rubocop", "semgrep", "shellcheck", "standard", "staticcheck", "stylelint",
        "swiftlint", "tflint", "typos", "vale", "vulture", "xo", "yamllint",
    ]),
    (Format, &[
        "autopep8", "black", "clang-format", "dprint", "gofmt", "gofumpt", "goimports", "isort", "ktfmt",
        "nixfmt", "prettier", "rustfmt", "shfmt", "stylua", "taplo", "yapf",
    ]),
    (Install, &[
        "apk", "apt", "apt-get", "brew", "choco", "conda", "corepack", "dnf", "fnm", "gem", "nvm", "pacman",
        "pip", "pip3", "pyenv", "rustup", "scoop", "winget",
    ]),
    (Vcs, &[
        "gh", "git-lfs", "glab", "hg", "jj", "sl", "svn",
    ]),
    (Search, &[
        "ack", "ag", "ast-grep", "command", "egrep", "fd", "fdfind", "fgrep", "find", "findstr",
        "get-childitem", "grep", "locate", "pgrep", "rg", "select-string", "sg", "type", "ugrep", "where",
        "whereis", "which",
    ]),
    (Read, &[
        "awk", "bat", "cat", "cmp", "column", "cut", "df", "diff", "dir", "du", "exa", "eza", "file",
        "get-content", "head", "hexdump", "jq", "less", "ls", "lsof", "more", "nl", "od", "perl", "printenv",
        "ps", "pwd", "readlink", "realpath", "sed", "sort", "stat", "strings", "tail", "tr", "tree", "uniq",
        "wc", "xxd", "yq",
    ]),
    (Run, &[
        "electron", "flask", "gunicorn", "java", "lua", "nodemon", "php", "ruby", "streamlit", "ts-node", "tsx",
        "uvicorn",
    ]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_sorted_and_have_one_purpose() {
        assert!(ALONE.iter().all(|(_, names)| names.is_sorted()));
        let mut all: Vec<&str> = ALONE.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
