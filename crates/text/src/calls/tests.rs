//! Command lines and outputs written for these tests, in the form that agents log.

use super::*;
use proptest::prelude::*;

#[test]
fn what_a_command_is_for() {
    use Purpose::*;
    let cases = [
        ("cargo test", Test, "cargo test"),
        ("cargo +nightly nextest run -p api", Test, "cargo test"),
        ("cd api && RUST_LOG=debug cargo test 2>&1 | tail -20", Test, "cargo test"),
        ("cargo build --release; echo $?", Build, "cargo build"),
        ("cargo check", Typecheck, "cargo check"),
        ("cargo clippy -- -D warnings", Lint, "cargo clippy"),
        ("cargo fmt --check", Lint, "cargo fmt"),
        ("cargo fmt", Format, "cargo fmt"),
        ("cargo xtask test", Test, "cargo xtask test"),
        ("PYTHONPATH=. pytest -q", Test, "pytest"),
        ("uv run python -m unittest discover", Test, "unittest"),
        ("tox -e py312", Test, "tox"),
        ("go test ./... | tee log", Test, "go test"),
        ("go vet ./...", Lint, "go vet"),
        ("go build ./... && echo ok", Build, "go build"),
        ("npm t", Test, "script test"),
        ("npm run test:unit -- --watch=false", Test, "script test:unit"),
        ("yarn workspace web lint", Lint, "script lint"),
        ("bun test src", Test, "bun test"),
        ("bun run typecheck", Typecheck, "script typecheck"),
        ("pnpm --filter web build", Build, "script build"),
        ("npx vitest run", Test, "vitest"),
        ("npx playwright test", Test, "playwright test"),
        ("node --test tests/", Test, "node --test"),
        ("node scripts/build.mjs", Build, "node scripts/build.mjs"),
        ("make check", Test, "script check"),
        ("make -j8", Build, "make all"),
        ("just lint", Lint, "script lint"),
        ("mise run test:ci", Test, "script test:ci"),
        ("./gradlew :app:testDebugUnitTest", Test, "gradlew :app:testDebugUnitTest"),
        ("mvn -q verify", Test, "mvn verify"),
        ("ctest --output-on-failure", Test, "ctest"),
        ("cmake --build build", Build, "cmake build"),
        ("dotnet test", Test, "dotnet test"),
        ("bundle exec rspec", Test, "rspec"),
        ("vendor/bin/phpunit", Test, "phpunit"),
        ("swift test", Test, "swift test"),
        ("zig build test", Build, "zig build"),
        ("mix test", Test, "mix test"),
        ("deno test -A", Test, "deno test"),
        ("ruff check .", Lint, "ruff check"),
        ("ruff format .", Format, "ruff format"),
        ("npx tsc --noEmit", Typecheck, "tsc"),
        ("mypy src", Typecheck, "mypy"),
        ("shellcheck *.sh", Lint, "shellcheck"),
        ("npx prettier --check .", Lint, "prettier"),
        ("bash -lc 'cd web && npm test'", Test, "script test"),
        ("bash -n run-tests.sh", Lint, "bash -n"),
        ("Test-Path a.txt", Other, "test-path"),
        ("bash scripts/run-tests.sh", Test, "run-tests.sh"),
        ("out=$(go test ./...); echo \"$out\"", Test, "go test"),
        ("pip install -r requirements.txt", Install, "pip"),
        ("npm ci", Install, "npm ci"),
        ("git add -A && git commit -m 'Fix the test'", Vcs, "git add"),
        ("git grep test", Search, "git grep"),
        ("rg -n 'cargo test' docs", Search, "rg"),
        ("echo 'run pytest'", Other, "echo"),
        ("sed -n '1,20p' tests/a.py", Read, "sed"),
        ("cat > a.sh <<'EOF'; cargo test; EOF", Read, "cat"),
        ("python app.py", Run, "python app.py"),
        ("", Other, ""),
    ];
    for (line, purpose, runner) in cases {
        let call = understand(line);
        assert_eq!((call.purpose(), call.runner()), (purpose, runner), "{line}");
    }
}

fn judged(line: &str, code: i64, output: &str) -> Judged {
    let exit = if code == 0 { Exit::Ok } else { Exit::Failed };
    understand(line).judge(exit, Some(code), output)
}

#[test]
fn the_summary_counts_where_the_exit_code_is_hidden() {
    use Verdict::*;
    let cases = [
        ("cargo test | tail -3", 0, "test result: FAILED. 3 passed; 1 failed; 0 ignored", Failed),
        ("cargo test 2>&1 | tail -3", 0, "test result: ok. 4 passed; 0 failed; 0 ignored", Passed),
        ("cargo test || true", 0, "error: test failed, to rerun pass `--lib`", Failed),
        ("cargo test; echo done", 0, "test result: FAILED. 0 passed; 1 failed\ndone", Failed),
        (
            "cargo build 2>&1 | tail -1",
            0,
            "error: could not compile `shop` (lib) due to 2 previous errors",
            Failed,
        ),
        ("cargo build 2>&1 | tail -1", 0, "    Finished `dev` profile in 0.5s", Passed),
        ("pytest -q | tail -1", 0, "1 failed, 5 passed in 0.35s", Failed),
        ("pytest -q | tail -1", 0, "6 passed, 1 warning in 0.35s", Passed),
        ("pytest | tail", 0, "===== 2 errors in 0.10s =====", Failed),
        ("python -m unittest 2>&1 | tail -1", 0, "FAILED (failures=1)", Failed),
        ("python -m unittest 2>&1 | tail -1", 0, "OK", Passed),
        (
            "go test ./... 2>&1 | tail",
            0,
            "ok  \tshop/tax\t0.003s\nFAIL\tshop/cart [build failed]\nFAIL",
            Failed,
        ),
        ("go test ./... | tail", 0, "ok  \tshop/tax\t0.003s", Passed),
        ("npx jest | tail", 0, "Tests:       1 failed, 5 passed, 6 total", Failed),
        (
            "npx vitest run | tail",
            0,
            " Test Files  1 failed (1)\n      Tests  1 failed | 5 passed (6)",
            Failed,
        ),
        ("npx vitest run | tail", 0, "      Tests  5 passed (5)", Passed),
        ("npx mocha | tail", 0, "  5 passing (20ms)\n  1 failing", Failed),
        ("npx playwright test | tail", 0, "  1 failed\n  4 passed (3.1s)", Failed),
        ("node --test | tail", 0, "ℹ pass 5\nℹ fail 0", Passed),
        ("bun test | tail", 0, " 5 pass\n 1 fail\nRan 6 tests", Failed),
        ("deno test | tail", 0, "FAILED | 4 passed | 1 failed (12ms)", Failed),
        ("./gradlew test | tail", 0, "BUILD FAILED in 3s", Failed),
        ("mvn test | tail", 0, "[INFO] BUILD SUCCESS", Passed),
        ("ctest | tail", 0, "80% tests passed, 1 tests failed out of 5", Failed),
        ("dotnet test | tail", 0, "Passed!  - Failed:     0, Passed:     5, Skipped: 0", Passed),
        ("rspec | tail", 0, "5 examples, 1 failure", Failed),
        ("phpunit | tail", 0, "OK (5 tests, 9 assertions)", Passed),
        ("mix test | tail", 0, "5 tests, 0 failures", Passed),
        ("npx tsc --noEmit | head", 0, "src/a.ts(1,2): error TS2304: Cannot find name 'x'.", Failed),
        ("npx tsc --noEmit | head", 0, "", Passed),
        ("go build ./... | tail", 0, "(Bash completed with no output)", Passed),
        ("npx eslint . | tail", 0, "✖ 3 problems (2 errors, 1 warning)", Failed),
        ("ruff check . | tail", 0, "All checks passed!", Passed),
        ("mypy . | tail -1", 0, "Found 2 errors in 1 file (checked 9 source files)", Failed),
        ("npm run check | tail", 0, "npm error Lifecycle script `check` failed with error:", Failed),
        ("pytest | tail -2", 0, "some words", Unknown),
    ];
    for (line, code, output, verdict) in cases {
        let found = judged(line, code, output);
        assert_eq!(found.verdict, verdict, "{line}\n{output}");
        assert_eq!(found.masked, verdict == Failed, "{line}\n{output}");
    }
}

#[test]
fn the_exit_code_counts_where_it_is_the_runners_own() {
    use Verdict::*;
    let cases = [
        ("cargo test", 0, "", Passed),
        ("cargo test", 101, "", Failed),
        (
            "cargo test",
            0,
            "test parses `test result: FAILED.` ... ok\ntest result: ok. 1 passed; 0 failed",
            Passed,
        ),
        ("cargo fmt && cargo test", 1, "", Failed),
        ("cargo test && rg TODO src", 1, "test result: ok. 1 passed; 0 failed", Passed),
        ("cargo test > log; echo \"exit: $?\"", 0, "exit: 101", Failed),
        ("cargo test > log; echo $?", 0, "0", Passed),
        ("cargo test | tail -1; echo $?", 0, "test result: FAILED. 1 passed; 2 failed\n0", Failed),
        ("set -o pipefail; cargo test | tail", 1, "", Failed),
        ("git push", 1, "rejected", Failed),
        ("ls missing", 2, "ls: cannot access 'missing': No such file or directory", Failed),
    ];
    for (line, code, output, verdict) in cases {
        assert_eq!(judged(line, code, output).verdict, verdict, "{line}\n{output}");
    }
    let cut = understand("cargo test").judge(Exit::Unknown, None, "running 3 tests");
    assert_eq!(cut.verdict, Verdict::Unknown);
}

#[test]
fn finding_nothing_is_no_failure() {
    use Verdict::*;
    let cases = [
        ("rg -n vat src", 1, "", NothingFound),
        ("cd src && grep -rn vat . | grep -v test", 1, "", NothingFound),
        ("diff a b", 1, "1c1\n< a\n---\n> b", NothingFound),
        ("test -f a && echo yes", 1, "", NothingFound),
        ("rg -n vat a.rs && sed -n 1,9p a.rs", 1, "", NothingFound),
        ("test -e x; echo $?", 0, "1", Passed),
        ("[ -d x ]", 1, "", NothingFound),
        ("git grep vat", 1, "", NothingFound),
        ("which pnpm", 1, "", NothingFound),
        ("rg vat missing", 2, "rg: missing: No such file or directory (os error 2)", Failed),
        ("grep vat missing", 1, "grep: missing: No such file or directory", Failed),
        ("rg vat", 127, "bash: rg: command not found", Failed),
    ];
    for (line, code, output, verdict) in cases {
        assert_eq!(judged(line, code, output).verdict, verdict, "{line}\n{output}");
    }
}

#[test]
fn tests_are_counted() {
    let found = judged(
        "cargo test",
        101,
        "test result: ok. 4 passed; 0 failed\ntest result: FAILED. 3 passed; 2 failed",
    );
    assert_eq!((found.passed, found.failed), (Some(7), Some(2)));
    let found =
        judged("npx jest", 1, "Test Suites: 1 failed, 2 total\nTests:       2 failed, 5 passed, 7 total");
    assert_eq!((found.passed, found.failed), (Some(5), Some(2)));
}

#[test]
fn commits_are_seen() {
    assert!(understand("git add -A && git commit -m x").commits());
    assert!(understand("bash -lc \"git -C web commit -m 'x'\"").commits());
    assert!(!understand("git log --grep commit").commits());
    assert!(!understand("git commit --dry-run").commits());
}

proptest! {
    #[test]
    fn any_line_and_output_are_judged(line in any::<String>(), output in any::<String>(), code in -3_i64..300) {
        let call = understand(&line);
        call.judge(Exit::Failed, Some(code), &output);
        call.judge(Exit::Ok, None, &output);
        call.danger();
        same_command(&call, &call);
    }

    #[test]
    fn any_shell_signs_are_understood(line in "[a-z '\"$()<>|&;#\\\\{}=-]{0,60}") {
        let call = understand(&line);
        prop_assert_eq!(understand(&line), call);
    }

    #[test]
    fn wrapping_changes_neither_purpose_nor_command(
        inner in prop::sample::select(vec!["cargo test", "pytest tests/a.py", "npm run lint", "go build ./..."]),
        wrap in prop::sample::select(vec!["cd x && {}", "{} 2>&1 | tail -5", "A=1 {}", "timeout 60 {}", "bash -lc '{}'", "{}; echo done", "time {} || true"]),
    ) {
        let plain = understand(inner);
        let wrapped = understand(&wrap.replace("{}", inner));
        prop_assert_eq!(plain.purpose(), wrapped.purpose());
        prop_assert!(same_command(&plain, &wrapped));
    }
}
