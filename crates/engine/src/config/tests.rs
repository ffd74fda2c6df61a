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
    std::fs::write(&file, "sync_on_login = true\n[retention]\nraw_soft_cap_bytes = 1\n").unwrap();
    let overrides = Overrides { config: Some(file), root: None };
    let config = Config::load(&world(dir.path(), &[]), &overrides).unwrap();
    assert_eq!(config.notes.len(), 2);
    assert!(config.notes.iter().all(|note| note.contains("has no effect here")), "{:?}", config.notes);
}

#[test]
fn keys_are_sorted() {
    assert!(KEYS.is_sorted_by_key(|key| key.name));
}
