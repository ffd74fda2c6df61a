//! Scripts written for these tests, in the forms that models write.

use super::*;

/// Calls as `tool argument`, with the command or the text. `?` marks one that is not sure.
fn calls(script: &str) -> Vec<String> {
    let told = |call: Call| {
        let args = call.args.unwrap_or_default();
        let said = args.get("cmd").or(args.get("q")).unwrap_or(&args).as_str().unwrap_or("-").to_owned();
        format!("{}{} {said}", if call.is_sure { "" } else { "?" }, call.tool)
    };
    read(script).expect("a script that is read").calls.into_iter().map(told).collect()
}

#[test]
fn calls_are_found_in_every_shape() {
    let cases: &[(&str, &[&str])] = &[
        (
            r#"const r = await tools.exec_command({"cmd":"make test","workdir":"/w"}); text(r.output)"#,
            &["exec_command make test"],
        ),
        ("text((await tools.exec_command({cmd:'a', // why\n})).output)", &["exec_command a"]),
        (
            "const [a, b] = await Promise.all([tools.exec_command({cmd: \"a\"}), tools.exec_command({cmd: `b`})])",
            &["exec_command a", "exec_command b"],
        ),
        (
            "const w = '/w'; for (const f of ['a', 'b']) await tools.exec_command({cmd: `cat ${w}/${f}`})",
            &["exec_command cat /w/a", "exec_command cat /w/b"],
        ),
        (
            "await Promise.all([['x', 1], ['y', 2]].map(async ([cmd, n]) => ({n, ...await tools.exec_command({cmd})})))",
            &["exec_command x", "exec_command y"],
        ),
        (
            "const run = (cmd) => tools.exec_command({cmd, workdir: '/w'});\nawait run('a')\nawait run(['b', 'c'].join(' && '))",
            &["exec_command a", "exec_command b && c"],
        ),
        (
            "async function go(n) { return await tools.exec_command({cmd: 'x ' + n}) }\nfor (let i = 1; i <= 2; i++) { await go(i) }",
            &["exec_command x 1", "exec_command x 2"],
        ),
        (
            "const o = {cmd: 'a', workdir: '/w'}; await tools.exec_command({...o, cmd: 'b'})",
            &["exec_command b"],
        ),
        (
            "const p = `*** Begin Patch\n*** End Patch`; text(await tools.apply_patch(p))",
            &["apply_patch *** Begin Patch\n*** End Patch"],
        ),
        ("await tools.exec_command({cmd: String.raw`grep '\\d' a`})", &["exec_command grep '\\d' a"]),
        (
            "const { exec_command: x } = tools; x({cmd: 'a'}).then(r => text(r.output)).catch(e => tools.exec_command({cmd: 'b'}))",
            &["exec_command a", "?exec_command b"],
        ),
        ("text('tools.exec_command({cmd: \"no\"})') // tools.exec_command({cmd: 'no'})", &[]),
        (
            "let r = await tools.exec_command({cmd: 'a'}); if (r.exit_code !== 0) { await tools.exec_command({cmd: 'b'}) }",
            &["exec_command a", "?exec_command b"],
        ),
        (
            "const r = await tools.exec_command({cmd: 'ls'}); for (const f of r.output.split('\\n')) await tools.exec_command({cmd: `cat ${f}`})",
            &["exec_command ls", "?exec_command -"],
        ),
        (
            "const r = await tools.exec_command({cmd: 'a'}); if (!r.output) return; await tools.exec_command({cmd: 'b'})",
            &["exec_command a", "?exec_command b"],
        ),
        (
            "let cmd = 'a'; const r = await tools.exec_command({cmd}); if (r.output) cmd = 'b'; await tools.exec_command({cmd})",
            &["exec_command a", "exec_command -"],
        ),
        (
            "try { await tools.exec_command({cmd: 'a'}) } catch { text('no') } finally { await tools.exec_command({cmd: 'b'}) }",
            &["exec_command a", "exec_command b"],
        ),
    ];
    for (script, expected) in cases {
        assert_eq!(calls(script), *expected, "{script}");
    }
}

#[test]
fn what_is_not_understood_is_not_read() {
    for script in ["class A {}", "switch (x) { case 1: }", "f(", "'open", "while (true) { f() }", "a b c"] {
        assert_eq!(read(script), None, "{script}");
    }
    let deep = format!("{}1{}", "(".repeat(500), ")".repeat(500));
    assert_eq!(read(&deep), None);
    assert_eq!(read("const f = () => f(); f()"), None);
}

/// The output and exit code that these texts show for each call of a script.
fn shown(script: &str, texts: &[&str]) -> Vec<(Option<String>, Option<i64>)> {
    let cell = read(script).unwrap();
    let seen = seen(&cell.prints, texts, cell.calls.len());
    seen.into_iter().map(|seen| (seen.output, seen.exit_code)).collect()
}

#[test]
fn answers_are_found_where_the_script_printed_them() {
    let two = "const rs = await Promise.all(['a', 'b'].map(cmd => tools.exec_command({cmd})));";
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        shown(
            &format!(
                "{two} rs.forEach((r, i) => text(`--- ${{i}} ---\\n${{r.output}}\\nexit=${{r.exit_code}}`))"
            ),
            &["--- 0 ---\nred\nexit=1", "--- 1 ---\ngreen\nexit=0",]
        ),
        [(some("red"), Some(1)), (some("green"), Some(0))]
    );
    let both = r#"[{"exit_code":2,"output":"x"},{"exit_code":0,"output":"y"}]"#;
    let expected = [(some("x"), Some(2)), (some("y"), Some(0))];
    assert_eq!(shown(&format!("{two} text(JSON.stringify(rs, null, 2))"), &[both]), expected);
    assert_eq!(shown(&format!("{two} text(rs)"), &[both]), expected);
    assert_eq!(
        shown(
            &format!("{two} text(JSON.stringify({{a: rs[0].exit_code, b: rs[1].output.trim()}}))"),
            &[r#"{"a":3,"b":"y"}"#]
        ),
        [(None, Some(3)), (some("y"), None)]
    );
    assert_eq!(
        shown(&format!("{two} text(rs.map(r => `exit=${{r.exit_code}}`).join('\\n'))"), &["exit=1\nexit=0"]),
        [(None, Some(1)), (None, Some(0))]
    );
    // The separator of two outputs occurs in one of them as well, so the split is ambiguous.
    let unclear = shown(&format!("{two} text(rs[0].output + '\\n' + rs[1].output)"), &["a\nb\nc"]);
    assert_eq!(unclear, [(None, None), (None, None)]);
    // A text that may be missing shifts all later ones.
    let one =
        "const r = await tools.exec_command({cmd: 'a'}); if (r.session_id) text('runs'); text(r.output)";
    assert_eq!(shown(one, &["x"]), [(None, None)]);
}
