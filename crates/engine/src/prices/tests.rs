use super::*;
use jiff::civil::date;
use retro_model::Timestamp;
use retro_usage::Layer;

const TABLE: &str = r#"{"gpt-5.5": {"litellm_provider": "openai", "input_cost_per_token": 4e-06, "output_cost_per_token": 2e-05},
    "nova-1": {"litellm_provider": "openai", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}}"#;

#[test]
fn an_import_is_kept_and_counts_from_its_day_on() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::at(dir.path());
    let config = Config::for_root(dir.path().join("store"));
    let path = file(&world, &config);
    let day = date(2027, 2, 1);
    let import = without_own(&world, &config).unwrap().import_litellm(TABLE, day, false).unwrap();
    keep(&path, &import.prices).unwrap();

    let prices = load(&world, &config).unwrap();
    let input = |at: &str| {
        let found = prices.resolve("gpt-5.5", None, Timestamp::parse(at)).unwrap();
        (found.row.rates.input, prices.layer(found.row))
    };
    assert_eq!(input("2027-01-31T00:00:00Z"), (5_000_000, Layer::BuiltIn));
    assert_eq!(input("2027-02-01T00:00:00Z"), (4_000_000, Layer::Imported));
    assert_eq!(prices.imported_rows().count(), 2);
    assert_eq!(prices.snapshot, day);

    // A second import changes nothing but the day of the snapshot.
    let again = without_own(&world, &config).unwrap().import_litellm(TABLE, date(2027, 3, 1), false).unwrap();
    assert_eq!((again.changes.len(), again.tally.unchanged), (0, 2));
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::at(dir.path());
    let config = Config::for_root(dir.path().join("store"));
    let path = file(&world, &config);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "{\"schema\":\"retro.prices/1\",\n\"snapshot\":\"x\"}").unwrap();
    let said = load(&world, &config).unwrap_err().to_string();
    assert!(
        said.contains("prices.json") && said.contains("line 2") && said.contains("import again"),
        "{said}"
    );
}
