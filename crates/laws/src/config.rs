//! `config`: any text is read as a configuration. Accepted values can be used, and errors name the
//! rejected ones.

use retro_engine::World;
use retro_engine::config::{Config, Overrides};
use tempfile::TempDir;

use crate::Tried;

thread_local! {
    /// The folder of the file. Created once, since a fuzzer runs this ten thousand times.
    static FOLDER: std::io::Result<TempDir> = tempfile::tempdir();
}

pub(crate) fn check(bytes: &[u8]) -> Tried {
    FOLDER.with(|folder| {
        let folder = folder.as_ref().map_err(ToString::to_string)?.path();
        let path = folder.join("config.toml");
        std::fs::write(&path, bytes)?;
        let world = World::at(folder);
        let overrides = Overrides { config: Some(path.clone()), root: None };
        match Config::load(&world, &overrides) {
            Ok(config) => {
                assert!(config.cadence_minutes.value >= 1, "a cadence of nothing");
                assert_eq!(config.file, Some(path));
                let again = Config::load(&world, &overrides)?;
                assert_eq!(format!("{config:?}"), format!("{again:?}"));
            }
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("config.toml"), "{message} does not name the file");
            }
        }
        Ok(())
    })
}
