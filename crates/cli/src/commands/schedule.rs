use clap::{Subcommand, ValueEnum};
use serde_json::json;

use crate::context::{Context, Exit, Outcome};

/// Print lines that make a scheduler or an agent run `retro sync`
///
/// Nothing is installed: the lines go where their comments say. How often comes
/// from `cadence` in the configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro schedule print cron
  retro schedule print systemd
  retro schedule print claude-hook")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the lines
    Print {
        /// For whom
        #[arg(value_enum)]
        target: Target,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Target {
    /// A line for `crontab -e`
    Cron,
    /// A user service and its timer
    Systemd,
    /// A launch agent for macOS
    Launchd,
    /// Hooks for Claude Code's settings.json
    ClaudeHook,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let What::Print { target } = args.what;
    let minutes = context.config()?.cadence_minutes.value;
    let program = std::env::current_exe().map_or("retro".to_owned(), |path| path.display().to_string());
    let lines = match target {
        Target::Cron => cron(&program, minutes),
        Target::Systemd => systemd(&program, minutes),
        Target::Launchd => launchd(&program, minutes),
        Target::ClaudeHook => claude_hook(&program),
    };
    match context.global.json {
        true => context.print_json(&json!({"schema": "retro.schedule/1", "lines": lines}))?,
        false => context.print(lines.trim_end())?,
    }
    Ok(Exit::Done)
}

fn cron(program: &str, minutes: u32) -> String {
    // cron knows steps inside an hour and inside a day, nothing between.
    let when = match minutes {
        0..60 => format!("*/{minutes} * * * *"),
        60..1440 => format!("0 */{} * * *", minutes / 60),
        _ => "0 12 * * *".to_owned(),
    };
    format!("# add with: crontab -e\n{when} {} sync --quiet\n", shell_word(program))
}

fn systemd(program: &str, minutes: u32) -> String {
    format!(
        "# ~/.config/systemd/user/retro.service
[Unit]
Description=Capture coding agents' sessions

[Service]
Type=oneshot
ExecStart=\"{program}\" sync --quiet

# ~/.config/systemd/user/retro.timer
[Unit]
Description=Capture coding agents' sessions every {minutes} minutes

[Timer]
OnBootSec=2min
OnUnitActiveSec={minutes}min

[Install]
WantedBy=timers.target

# then: systemctl --user enable --now retro.timer
"
    )
}

fn launchd(program: &str, minutes: u32) -> String {
    let program = program.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<!-- ~/Library/LaunchAgents/retro.sync.plist, then: launchctl load -w on that file -->
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">
<plist version=\"1.0\">
<dict>
  <key>Label</key><string>retro.sync</string>
  <key>ProgramArguments</key>
  <array><string>{program}</string><string>sync</string><string>--quiet</string></array>
  <key>RunAtLoad</key><true/>
  <key>StartInterval</key><integer>{}</integer>
</dict>
</plist>
",
        u64::from(minutes) * 60
    )
}

fn claude_hook(program: &str) -> String {
    let command = format!("{} sync --hook", shell_word(program));
    let hook = json!([{"hooks": [{"type": "command", "command": command, "timeout": 5}]}]);
    let hooks = json!({"hooks": {"Stop": hook, "SessionEnd": hook}});
    format!("{}\n", serde_json::to_string_pretty(&hooks).unwrap_or_default())
}

/// One word for a POSIX shell.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cron_lines_keep_to_what_cron_can_say() {
        assert!(cron("/bin/retro", 15).contains("\n*/15 * * * * /bin/retro sync"));
        assert!(cron("/bin/retro", 360).contains("\n0 */6 * * * /bin/retro"));
        assert!(cron("/my bin/retro", 15).contains("'/my bin/retro'"));
    }

    #[test]
    fn the_hook_is_settings_json() {
        let hooks: serde_json::Value = serde_json::from_str(&claude_hook("/bin/retro")).unwrap();
        assert_eq!(hooks["hooks"]["Stop"][0]["hooks"][0]["command"], "/bin/retro sync --hook");
    }
}
