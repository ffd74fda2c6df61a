use super::*;
use std::sync::Arc;

fn world(home: &Path, vars: &[(&str, &str)]) -> World {
    let vars: Vec<(String, String)> = vars.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let mut world = World::at(home);
    world.platform = crate::platform::Platform::Unix;
    world.own_env = Arc::new(move |name| vars.iter().find(|(k, _)| k == name).map(|(_, v)| v.clone()));
    world
}

fn error(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.toml");
    std::fs::write(&file, text).unwrap();
    let overrides = Overrides { config: Some(file), root: None };
    let error = Config::load(&world(dir.path(), &[]), &overrides).unwrap_err().to_string();
    error.replace(&dir.path().display().to_string(), "DIR")
}

#[test]
fn flag_beats_environment_beats_file_beats_default() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    let none = Overrides::default();
    let bare = Config::load(&world(home, &[]), &none).unwrap();
    assert_eq!(bare.root.value, home.join(".local/share/retro/store"));
    assert_eq!(bare.root.origin, Origin::Default);

    let file = home.join(".config/retro/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "root = \"~/mine\"\ncadence = \"6h\"\n").unwrap();
    let config = Config::load(&world(home, &[]), &none).unwrap();
    assert_eq!(config.root.value, home.join("mine"));
    assert_eq!(config.root.origin, Origin::File(file));
    assert_eq!(config.cadence_minutes.value, 360);

    let config = Config::load(&world(home, &[("RETRO_ROOT", "/env")]), &none).unwrap();
    assert_eq!(config.root.value, Path::new("/env"));
    let flag = Overrides { root: Some("/flag".into()), config: None };
    let config = Config::load(&world(home, &[("RETRO_ROOT", "/env")]), &flag).unwrap();
    assert_eq!(config.root, Setting { value: "/flag".into(), origin: Origin::Flag });
}

#[test]
fn the_file_in_the_root_wins_over_the_platforms() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("config.toml"), "[capture]\nextras = true\n").unwrap();
    let overrides = Overrides { root: Some(root.clone()), config: None };
    let config = Config::load(&world(dir.path(), &[]), &overrides).unwrap();
    assert!(config.extras.value);
    assert_eq!(config.file, Some(root.join("config.toml")));
}

#[test]
fn a_configuration_that_is_too_large_or_has_an_endless_key_is_refused_in_a_few_words() {
    for text in [
        format!("{} = 1\n", "k".repeat(900_000)),
        format!("[{}]\nx = 1\n", "k".repeat(900_000)),
        format!("root = {}\n", "[".repeat(900_000)),
        "# a comment\n".repeat(1_000_000),
    ] {
        let said = error(&text);
        assert!(said.len() < 10_000, "{} bytes", said.len());
    }
}

#[test]
fn a_wrong_key_is_named_with_the_nearest_right_one() {
    assert_eq!(
        error("[capture]\nexclude_path = []\n"),
        "DIR/c.toml: unknown key `capture.exclude_path`; did you mean `capture.exclude_paths`?"
    );
    assert_eq!(error("cadense = \"1h\"\n"), "DIR/c.toml: unknown key `cadense`; did you mean `cadence`?");
    assert_eq!(error("zzz = 1\n"), "DIR/c.toml: unknown key `zzz`");
    assert_eq!(error("capture = 1\n"), "DIR/c.toml: `capture` must be a section, written [capture]");
    assert_eq!(error("[capture]\nextras = \"yes\"\n"), "DIR/c.toml: `capture.extras` must be true or false");
    assert!(error("[capture]\nexclude_regex = [\"(\"]\n").contains("\"(\" is none"));
    assert!(error("cadence = \"0m\"\n").contains("at least a minute"));
}

#[test]
fn a_seeds_key_is_accepted_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.toml");
    std::fs::write(&file, "sync_on_login = true\n[store]\ndir = \"x\"\n").unwrap();
    let overrides = Overrides { config: Some(file), root: None };
    let config = Config::load(&world(dir.path(), &[]), &overrides).unwrap();
    assert_eq!(config.notes.len(), 2);
    assert!(config.notes.iter().all(|note| note.contains("has no effect here")), "{:?}", config.notes);
}

#[test]
fn limits_of_raw_bytes_are_read_and_wrong_names_are_corrected() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.toml");
    std::fs::write(&file, "[retention]\nraw_soft_cap_bytes = \"2GiB\"\nraw_max_age_days = 45\n").unwrap();
    let overrides = Overrides { config: Some(file), root: None };
    let limits = Config::load(&world(dir.path(), &[]), &overrides).unwrap().retention.value;
    assert_eq!(
        (limits.raw_soft_cap_bytes, limits.raw_max_age_days, limits.is_set),
        (2 << 30, Some(45), true)
    );
    assert_eq!(
        error("[retention]\nraw_soft_cap = 1\n"),
        "DIR/c.toml: unknown key `retention.raw_soft_cap`; did you mean `retention.raw_soft_cap_bytes`?"
    );
    assert!(error("[retention]\nraw_soft_cap_bytes = \"a lot\"\n").contains("4GiB"));
}

#[test]
fn keys_are_sorted() {
    assert!(KEYS.is_sorted_by_key(|key| key.name));
}

/// Makes a file with this text, runs `change` on it, and returns its new text.
fn changed(text: &str, change: impl FnOnce(&Path)) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.toml");
    std::fs::write(&file, text).unwrap();
    change(&file);
    std::fs::read_to_string(&file).unwrap()
}

fn price(model: &str, input: Option<f64>, output: Option<f64>) -> PriceChange {
    PriceChange { model: model.into(), input, output, ..PriceChange::default() }
}

#[test]
fn setting_a_price_touches_nothing_else() {
    let text = "# mine\ncadence = \"15m\"   # often\n\n[[prices]]\n# the big one\nmodel = \"Big\"\ninput = 5 # was 6\noutput = 25.0\n";
    let after = changed(text, |file| {
        assert!(set_price(file, &price("big", Some(4.5), None)).unwrap(), "it had one");
    });
    assert_eq!(after, text.replace("input = 5 #", "input = 4.5 #"));
    let after = changed(text, |file| {
        assert!(!set_price(file, &price("small", Some(0.0), Some(0.5))).unwrap());
        let from = Some(jiff::civil::date(2026, 12, 1));
        assert!(!set_price(file, &PriceChange { from, ..price("big", Some(4.0), Some(20.0)) }).unwrap());
    });
    assert!(after.starts_with(text), "{after}");
    let rows = after.parse::<Table>().unwrap();
    let rows = prices::read(Path::new("c.toml"), &rows["prices"]).unwrap();
    let read: Vec<(&str, u64, Option<String>)> = rows
        .iter()
        .map(|row| (row.model.as_str(), row.rates.input, row.from.map(|from| from.to_string())))
        .collect();
    assert_eq!(
        read,
        [("big", 5_000_000, None), ("small", 0, None), ("big", 4_000_000, Some("2026-12-01".to_owned()))]
    );
}

#[test]
fn a_price_that_cannot_be_is_not_written() {
    let text = "cadence = \"15m\"\n";
    for (change, said) in [
        (price("m", Some(1.0), None), "has no `output`"),
        (price("m", Some(-1.0), Some(1.0)), "such as 3 or 0.25"),
        (price("m", Some(0.000005), Some(1.0)), "looks like dollars a token"),
        (price(" ", Some(1.0), Some(1.0)), "is empty"),
    ] {
        let after = changed(text, |file| {
            let error = set_price(file, &change).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        });
        assert_eq!(after, text);
    }
    assert_eq!(
        changed("a = [\n", |file| assert!(set_price(file, &price("m", Some(1.0), Some(1.0))).is_err())),
        "a = [\n"
    );
}

#[test]
fn removing_a_price_leaves_the_rest() {
    let text = "# top\nprices = [{ model = \"a\", input = 1, output = 1 }, { model = \"b\", input = 1, output = 1 }]\n";
    let after = changed(text, |file| {
        assert_eq!(remove_price(file, "nobody", None).unwrap(), 0);
        assert_eq!(std::fs::read_to_string(file).unwrap(), text, "nothing to remove, nothing written");
        assert_eq!(remove_price(file, "A", None).unwrap(), 1);
    });
    assert!(
        after.starts_with("# top\n") && !after.contains("\"a\"") && after.contains("model = \"b\""),
        "{after}"
    );
    let last = changed("# top\n[[prices]]\nmodel = \"a\"\ninput = 1\noutput = 1\n", |file| {
        assert_eq!(remove_price(file, "a", None).unwrap(), 1);
    });
    assert_eq!(last.parse::<Table>().unwrap().len(), 0, "{last}");
}

#[test]
fn a_wrong_price_is_named_with_its_line() {
    let entry = |lines: &str| {
        format!(
            "cadence = \"15m\"\n\n[[prices]]\nmodel = \"ok\"\ninput = 1\noutput = 2\n\n[[prices]]\nmodel = \"m\"\n{lines}"
        )
    };
    assert_eq!(
        error(&entry("inptu = 1\noutput = 2\n")),
        "DIR/c.toml:8: price of \"m\": has an unknown key `inptu`; did you mean `input`?"
    );
    assert!(error(&entry("input = 1\n")).starts_with("DIR/c.toml:8: price of \"m\": has no `output`"));
    assert!(error(&entry("input = \"1\"\noutput = 2\n")).contains("`input` must be a number"));
    assert!(error(&entry("input = 1\noutput = 2\nfrom = \"soon\"\n")).contains("a day such as 2026-03-01"));
    assert!(error("prices = 3\n").contains("written [[prices]]"));
    assert_eq!(error("billing = \"free\"\n"), "DIR/c.toml: `billing` must be \"plan\" or \"api\"");
}

#[test]
fn a_new_file_is_made_for_the_first_price() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("new/config.toml");
    set_price(&file, &price("mine", Some(0.25), Some(2.0))).unwrap();
    let overrides = Overrides { config: Some(file), root: None };
    let config = Config::load(&world(dir.path(), &[]), &overrides).unwrap();
    let prices = crate::prices::load(&world(dir.path(), &[]), &config).unwrap();
    assert_eq!(prices.resolve("mine", None, None).unwrap().row.rates.input, 250_000);
}
