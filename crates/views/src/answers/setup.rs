//! Results of commands on settings, schedulers and manual pages.

use serde::Serialize;

use super::Schema;

/// The folder with the manual pages.
#[derive(Debug, Clone, Serialize)]
pub struct ManualPages {
    /// The folder's path.
    pub folder: String,
}

impl Schema for ManualPages {
    const NAME: &'static str = "retro.man/1";
}

/// Lines for a scheduler or for an agent's settings.
#[derive(Debug, Clone, Serialize)]
pub struct ScheduleLines {
    /// The lines to install.
    pub lines: String,
}

impl Schema for ScheduleLines {
    const NAME: &'static str = "retro.schedule/1";
}

/// The schedulers that can run `retro sync`, and whether they do.
#[derive(Debug, Clone, Serialize)]
pub struct ScheduleStatus {
    /// One row per scheduler.
    pub schedulers: Vec<SchedulerRow>,
}

/// The state of a scheduler.
#[derive(Debug, Clone, Serialize)]
pub struct SchedulerRow {
    /// The scheduler's name.
    pub scheduler: &'static str,
    /// True if retro's lines are installed.
    pub installed: bool,
    /// True if the scheduler is running them.
    pub running: bool,
}

impl Schema for ScheduleStatus {
    const NAME: &'static str = "retro.schedule.status/1";
}

/// The result of installing or removing a schedule.
#[derive(Debug, Clone, Serialize)]
pub struct ScheduleChange {
    /// True if anything changed.
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
    /// Every setting, with its value.
    pub values: Vec<SettingRow>,
}

/// A setting and its value.
#[derive(Debug, Clone, Serialize)]
pub struct SettingRow {
    /// The setting's key.
    pub key: &'static str,
    /// Its current value.
    pub value: String,
    /// The layer that set it.
    pub from: String,
}

impl Schema for Settings {
    const NAME: &'static str = "retro.config/1";
}

/// The path of the settings file.
#[derive(Debug, Clone, Serialize)]
pub struct SettingsPath {
    /// The file's path.
    pub path: String,
    /// True if the file exists.
    pub exists: bool,
}

impl Schema for SettingsPath {
    const NAME: &'static str = "retro.config.path/1";
}

/// The result of writing a settings file.
#[derive(Debug, Clone, Serialize)]
pub struct SettingsWritten {
    /// The file's path.
    pub path: String,
}

impl Schema for SettingsWritten {
    const NAME: &'static str = "retro.config.init/1";
}
