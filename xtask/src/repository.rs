//! Where the project lies and which files belong to it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::run;

/// The checkout that this program was built from.
pub(crate) struct Repository {
    /// Its top folder.
    pub(crate) root: PathBuf,
}

impl Repository {
    /// The one that holds this package.
    pub(crate) fn find() -> Result<Repository, Failure> {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = package.parent().ok_or_else(|| Failure::at(package, "has no folder above it"))?;
        Ok(Repository { root: root.to_owned() })
    }

    /// A path inside it.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Where cargo builds.
    pub(crate) fn target(&self) -> PathBuf {
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.path("target"), |dir| self.root.join(dir))
    }

    /// A cargo command that runs here.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(arguments).current_dir(&self.root);
        cargo
    }

    /// Files that are or would be committed, relative, sorted.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(&self.root);
        let listed = run::output(&mut git)?;
        let mut files: Vec<PathBuf> = listed
            .split('\0')
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
            .filter(|path| self.root.join(path).is_file())
            .collect();
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// Contents of a file, if it is text.
    pub(crate) fn text(&self, relative: &Path) -> Result<Option<String>, Failure> {
        let path = self.root.join(relative);
        let bytes = std::fs::read(&path).map_err(|error| Failure::at(&path, error))?;
        Ok(String::from_utf8(bytes).ok())
    }

    /// The program that a benchmark runs: the one that `--retro PATH` names among the options,
    /// or else the program as it is published, which is built for that.
    pub(crate) fn retro_of(&self, options: &[String]) -> Result<PathBuf, Failure> {
        let Some(at) = options.iter().position(|option| option == "--retro") else {
            return self.build_retro(true);
        };
        let path = options.get(at + 1).ok_or_else(|| Failure::new("--retro takes the path of a program"))?;
        std::path::absolute(path).map_err(|error| Failure::at(Path::new(path), error))
    }

    /// Builds the program, `as_published` or for tests, and returns where it is.
    ///
    /// For tests it comes from a build of tests: a build of its package alone has other
    /// features, for which cargo compiles the largest libraries again.
    pub(crate) fn build_retro(&self, as_published: bool) -> Result<PathBuf, Failure> {
        let mut cargo = match as_published {
            true => self.cargo(&["build", "--profile", "dist", "--package", "retro-cli"]),
            false => self.cargo(&["test", "--no-run", "--workspace", "--test", "readme"]),
        };
        cargo.args(["--quiet", "--message-format=json-render-diagnostics"]);
        let messages = run::output(&mut cargo)?;
        executable(&messages).ok_or_else(|| Failure::new("cargo built no program named retro"))
    }
}

/// The program `retro` among cargo's messages.
fn executable(messages: &str) -> Option<PathBuf> {
    messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()).find_map(
        |message| {
            let is_ours = message["target"]["name"] == "retro" && message["target"]["kind"][0] == "bin";
            is_ours.then(|| message["executable"].as_str().map(PathBuf::from))?
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_among_other_artifacts() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"retro","kind":["lib"]},"executable":null}"#,
            "\nnot json\n",
            r#"{"reason":"compiler-artifact","target":{"name":"retro","kind":["bin"]},"executable":"/t/retro"}"#,
        );
        assert_eq!(executable(messages), Some(PathBuf::from("/t/retro")));
        assert_eq!(executable(""), None);
    }

    #[test]
    fn a_program_that_is_built_already_is_taken() {
        let repository = Repository::find().unwrap();
        let options = ["--write", "--retro", "/t/retro"].map(str::to_owned);
        assert_eq!(repository.retro_of(&options).unwrap(), PathBuf::from("/t/retro"));
        assert!(repository.retro_of(&["--retro".to_owned()]).is_err());
    }

    #[test]
    fn this_file_belongs_to_the_repository() {
        let repository = Repository::find().unwrap();
        assert!(repository.path("xtask/src/repository.rs").is_file());
    }
}
