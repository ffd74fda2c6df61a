//! The lines that make each scheduler run `retro sync`.

use retro::agents::{AGENTS, Agent};
use retro::engine::config::Origin;
use std::path::Path;

use super::{Purpose, events};
use crate::context::{Context, Failure};

/// Names of the files of systemd.
pub const SERVICE: &str = "retro.service";
pub const TIMER: &str = "retro.timer";

/// Name of the launch agent.
pub const LABEL: &str = "retro.sync";

/// The line above retro's in a crontab, which identifies it later.
pub const CRON_MARK: &str = "# retro: capture the sessions of coding agents";

/// The command to run, and how often.
pub struct Job {
    /// The program with its arguments for store and logs.
    words: Vec<String>,
    minutes: u32,
}

impl Job {
    /// The same program with the same store, home and configuration as this run.
    pub fn of(context: &Context) -> Result<Job, Failure> {
        let config = context.config()?;
        let program = std::env::current_exe().map_or("retro".to_owned(), |path| path.display().to_string());
        let env = |name: &str| (context.world.own_env)(name).filter(|value| !value.is_empty());
        let mut words = Vec::new();
        // Without these, another home would be searched.
        let places: Vec<String> = AGENTS
            .iter()
            .flat_map(|agent| agent.variables())
            .filter(|_| context.global.home.is_none())
            .filter_map(|name| Some(format!("{name}={}", env(name)?)))
            .collect();
        if !places.is_empty() {
            words.push("/usr/bin/env".to_owned());
            words.extend(places);
        }
        words.push(program);
        let given = matches!(config.root.origin, Origin::Flag | Origin::Env(_));
        if given || env("XDG_DATA_HOME").is_some() {
            words.extend(["--root".to_owned(), absolute(&config.root.value)]);
        }
        if let Some(home) = &context.global.home {
            words.extend(["--home".to_owned(), absolute(home)]);
        }
        let file = context.global.config.clone();
        let file = file.or_else(|| config.file.clone().filter(|_| env("XDG_CONFIG_HOME").is_some()));
        if let Some(file) = file {
            words.extend(["--config".to_owned(), absolute(&file)]);
        }
        Ok(Job { words, minutes: config.cadence_minutes.value.max(1) })
    }

    fn with(&self, more: &[&str]) -> Vec<String> {
        self.words.iter().cloned().chain(more.iter().map(|word| (*word).to_owned())).collect()
    }

    /// A line of a crontab.
    pub fn cron(&self) -> String {
        // cron supports steps within an hour and within a day, nothing in between.
        let when = match self.minutes {
            0..60 => format!("*/{} * * * *", self.minutes),
            60..1440 => format!("0 */{} * * *", self.minutes / 60),
            _ => "0 12 * * *".to_owned(),
        };
        let command: Vec<String> =
            self.with(&["sync", "--quiet"]).iter().map(|word| shell_word(word)).collect();
        // cron treats a bare % as the end of the command.
        format!("{when} {}", command.join(" ").replace('%', "\\%"))
    }

    /// The service of systemd.
    pub fn service(&self) -> String {
        let command: Vec<String> =
            self.with(&["sync", "--quiet"]).iter().map(|word| systemd_word(word)).collect();
        format!(
            "[Unit]\nDescription=Capture the sessions of coding agents\n\n[Service]\nType=oneshot\nExecStart={}\n",
            command.join(" ")
        )
    }

    /// The timer of systemd.
    pub fn timer(&self) -> String {
        format!(
            "[Unit]\nDescription=Capture the sessions of coding agents every {0} minutes\n\n[Timer]\nOnBootSec=2min\n\
             OnUnitActiveSec={0}min\n\n[Install]\nWantedBy=timers.target\n",
            self.minutes
        )
    }

    /// The launch agent of macOS.
    pub fn plist(&self) -> String {
        let words: String = self
            .with(&["sync", "--quiet"])
            .iter()
            .map(|word| format!("    <string>{}</string>\n", xml(word)))
            .collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">
<plist version=\"1.0\">
<dict>
  <key>Label</key><string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
{words}  </array>
  <key>RunAtLoad</key><true/>
  <key>StartInterval</key><integer>{}</integer>
</dict>
</plist>
",
            u64::from(self.minutes) * 60
        )
    }

    /// The settings that make an agent call retro.
    pub fn hooks(&self, agent: &dyn Agent, purpose: Purpose) -> String {
        let format = format!("{}-hook", agent.name());
        let words = match purpose {
            Purpose::Capture => self.with(&["sync", "--hook"]),
            Purpose::Memory => self.with(&["memory", "weave", "--format", &format]),
        };
        let command: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
        let integration = agent.integration();
        integration.map_or(String::new(), |it| it.hooks(events(agent, purpose), &command.join(" ")))
    }
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// One word for a POSIX shell.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// One word of a systemd command line.
fn systemd_word(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-=".contains(c);
    if escaped.chars().all(plain) { escaped } else { format!("\"{escaped}\"") }
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use retro::agents::by_name;

    use super::*;

    fn job(words: &[&str], minutes: u32) -> Job {
        Job { words: words.iter().map(|word| (*word).to_owned()).collect(), minutes }
    }

    #[test]
    fn cron_lines_keep_to_what_cron_can_say() {
        assert_eq!(job(&["/bin/retro"], 15).cron(), "*/15 * * * * /bin/retro sync --quiet");
        assert_eq!(job(&["/bin/retro"], 360).cron(), "0 */6 * * * /bin/retro sync --quiet");
        assert_eq!(job(&["/my bin/retro"], 15).cron(), "*/15 * * * * '/my bin/retro' sync --quiet");
        let odd = job(&["retro", "--root", "/a%b"], 15).cron();
        assert_eq!(odd, "*/15 * * * * retro --root '/a\\%b' sync --quiet");
    }

    #[test]
    fn words_of_a_service_are_quoted_as_systemd_reads_them() {
        let service = job(&["/my bin/retro", "--root", "/50%/$x"], 15).service();
        assert!(
            service.contains("ExecStart=\"/my bin/retro\" --root \"/50%%/$$x\" sync --quiet\n"),
            "{service}"
        );
    }

    #[test]
    fn the_launch_agent_is_xml_from_its_first_character() {
        let plist = job(&["/a&b/retro"], 15).plist();
        assert!(plist.starts_with("<?xml") && plist.contains("<string>/a&amp;b/retro</string>"), "{plist}");
    }

    #[test]
    fn the_hook_is_settings_json() {
        let hooks: serde_json::Value = serde_json::from_str(
            &job(&["/bin/retro", "--root", "/s"], 15).hooks(by_name("claude").unwrap(), Purpose::Capture),
        )
        .unwrap();
        assert_eq!(hooks["hooks"]["Stop"][0]["hooks"][0]["command"], "/bin/retro --root /s sync --hook");
    }
}
