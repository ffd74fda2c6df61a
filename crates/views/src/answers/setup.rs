//! Answers about settings, schedulers and manual pages.

use serde::Serialize;

use super::Schema;

/// The folder with the manual pages.
#[derive(Debug, Clone, Serialize)]
pub struct ManualPages {
    /// The folder.
    pub folder: String,
}

impl Schema for ManualPages {
    const NAME: &'static str = "retro.man/1";
}

/// Lines for a scheduler or an agent's settings.
#[derive(Debug, Clone, Serialize)]
pub struct ScheduleLines {
    /// The lines.
    pub lines: String,
}

impl Schema for ScheduleLines {
    const NAME: &'static str = "retro.schedule/1";
}

/// Which schedulers run `retro sync`.
#[derive(Debug, Clone, Serialize)]
pub struct ScheduleStatus {
    /// Each scheduler.
    pub schedulers: Vec<SchedulerRow>,
}

/// A scheduler.
#[derive(Debug, Clone, Serialize)]
pub struct SchedulerRow {
    /// Its name.
    pub scheduler: &'static str,
    /// Whether our lines are there.
    pub installed: bool,
    /// Whether it runs them.
    pub running: bool,
}

impl Schema for ScheduleStatus {
    const NAME: &'static str = "retro.schedule.status/1";
}

/// A scheduler was changed.
#[derive(Debug, Clone, Serialize)]
pub struct ScheduleChange {
    /// Whether it was.
    pub done: bool,
}

impl Schema for ScheduleChange {
    const NAME: &'static str = "retro.schedule.change/1";
}

/// The settings in force.
#[derive(Debug, Clone, Serialize)]
pub struct Settings {
    /// The file of settings, if there is one.
    pub file: Option<String>,
    /// Each setting.
    pub values: Vec<SettingRow>,
}

/// A setting.
#[derive(Debug, Clone, Serialize)]
pub struct SettingRow {
    /// Its key.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// Who set it.
    pub from: String,
}

impl Schema for Settings {
    const NAME: &'static str = "retro.config/1";
}

/// Where the file of settings is.
#[derive(Debug, Clone, Serialize)]
pub struct SettingsPath {
    /// The file.
    pub path: String,
    /// Whether it is there.
    pub exists: bool,
}

impl Schema for SettingsPath {
    const NAME: &'static str = "retro.config.path/1";
}

/// A file of settings was written.
#[derive(Debug, Clone, Serialize)]
pub struct SettingsWritten {
    /// The file.
    pub path: String,
}

impl Schema for SettingsWritten {
    const NAME: &'static str = "retro.config.init/1";
}
