//! Tests with outputs written by hand.

use super::*;
use proptest::prelude::*;

fn line(output: &str) -> String {
    fingerprint(output).map(|found| found.line).unwrap_or_default()
}

#[test]
fn the_line_that_says_what_went_wrong() {
    let cases = [
        (
            "Traceback (most recent call last):\n  File \"/home/a/x.py\", line 3, in <module>\n    f()\nValueError: bad rate 7\n",
            "ValueError: bad rate <n>",
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 9\nRuntimeError: no price\n",
            "RuntimeError: no price",
        ),
        (
            "   Compiling shop v0.1.0 (/home/a/shop)\nerror[E0308]: mismatched types\n --> src/tax.rs:4:9\nerror: could not compile `shop` (lib) due to 1 previous error\n",
            "error[E0308]: mismatched types",
        ),
        (
            "thread 'tax::vat' panicked at src/tax.rs:12:5:\nassertion `left == right` failed\n  left: 3\n",
            "assertion `left == right` failed",
        ),
        (
            "thread 'main' panicked at 'no rate', src/main.rs:2:5",
            "thread 'main' panicked at 'no rate', <path>",
        ),
        (
            "src/cart.ts(12,5): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
            "error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
        ),
        ("./tax.go:7:2: undefined: Rate\n", "undefined: Rate"),
        ("tax.c:3:10: fatal error: 'rate.h' file not found\n", "fatal error: '<path>' file not found"),
        ("bash: line 1: rg: command not found", "bash: line <n>: rg: command not found"),
        ("zsh:1: command not found: python", "zsh:<n>: command not found: python"),
        (
            "sed: can't read docs/NOTES.md: No such file or directory",
            "sed: can't read <path>: No such file or directory",
        ),
        (
            "fatal: unable to access 'https://example.com/a.git/': timed out",
            "fatal: unable to access '<url>': timed out",
        ),
        (
            "$ tsc\n/usr/bin/bash: line 1: tsc: command not found\nerror: script \"check\" exited with code 127",
            "line <n>: tsc: command not found",
        ),
        (
            "npm error code ELIFECYCLE\nnpm error Missing script: \"tset\"",
            "npm error Missing script: \"tset\"",
        ),
        (
            "=== FAILURES ===\n>       assert vat(1) == 2\nE       AssertionError: assert 1 == 2\n\ntests/test_tax.py:3: AssertionError\n1 failed in 0.12s",
            "AssertionError: assert <n> == <n>",
        ),
        ("    tax_test.go:12: got 3, want 4\n--- FAIL: TestVat (0.00s)\nFAIL", "got <n>, want <n>"),
        (
            "file:///w/a.mjs:3\nTypeError: rate is not a function\n    at main (file:///w/a.mjs:3:1)\n",
            "TypeError: rate is not a function",
        ),
        ("make: *** [Makefile:3: test] Error 2", "make: *** [Makefile:<n>: test] Error <n>"),
    ];
    for (output, expected) in cases {
        assert_eq!(line(output), expected, "{output}");
    }
}

#[test]
fn an_error_that_is_said_without_its_place_has_the_same_name() {
    let logged = fingerprint("./tax.go:7:2: undefined: Rate\n");
    assert!(fingerprint("undefined: Rate").is_none());
    let said = ErrorLine::said("  undefined: Rate\n").and_then(|line| line.fingerprint());
    assert_eq!(said.map(|found| found.id), logged.map(|found| found.id));
    assert_eq!((ErrorLine::said("one line\nand another"), ErrorLine::said(" \n")), (None, None));
}

#[test]
fn an_output_without_an_error_has_none() {
    for output in
        ["", "\n\n", "test result: ok. 5 passed; 0 failed", "0 errors, 2 warnings", "Done.", "12 34"]
    {
        assert_eq!(fingerprint(output), None, "{output}");
    }
}

#[test]
fn the_same_error_elsewhere_has_the_same_name() {
    let pairs = [
        (
            "error: cannot open /home/a/x.db at 12:30:11",
            "\u{1b}[31merror\u{1b}[0m: cannot open C:\\w\\y.db at 01:02:03",
        ),
        ("ValueError: bad rate 7 in row 12", "ValueError: bad rate 123 in row 4"),
        ("fatal: bad object 1a2b3c4d5e6f", "fatal: bad object ffff0000aaaa11"),
        (
            "error: session 0c9f4a6e-1b2c-4d3e-8f90-a1b2c3d4e5f6 gone",
            "error: session 11111111-2222-3333-4444-555555555555 gone",
        ),
        (
            "src/a.ts(1,2): error TS2304: Cannot find name 'x'.",
            "lib/b.ts(31,7): error TS2304: Cannot find name 'x'.",
        ),
        ("ERROR: took 3.2s at 2026-03-01T10:00:00Z", "ERROR: took 12s at 2025-01-09T23:10:59.123Z"),
    ];
    for (a, b) in pairs {
        let (a, b) = (fingerprint(a).unwrap(), fingerprint(b).unwrap());
        assert_eq!(a, b);
        assert_eq!(a.id.len(), 12);
    }
    assert_ne!(line("ValueError: bad rate"), line("ValueError: bad price"));
    assert_ne!(line("error[E0308]: mismatched types"), line("error[E0277]: mismatched types"));
}

proptest! {
    #[test]
    fn any_text_gives_an_answer(output in any::<String>()) {
        fingerprint(&output);
    }

    #[test]
    fn normal_is_normal(line in "[ -~]{0,80}") {
        let once = normal(&line);
        prop_assert_eq!(normal(&once), once.clone());
        prop_assert!(once.chars().count() <= LINE_CHARS_MAX);
    }

    #[test]
    fn numbers_and_paths_do_not_matter(a in 0_u32..99_999, b in 0_u32..99_999, dir in "[a-z]{1,8}", name in "[a-z]{1,8}") {
        let error = |n: u32, dir: &str, name: &str| format!("\u{1b}[1mValueError\u{1b}[0m: bad line {n} in /{dir}/{name}.py");
        prop_assert_eq!(fingerprint(&error(a, "home", "x")), fingerprint(&error(b, &dir, &name)));
    }
}
