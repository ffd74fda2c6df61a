use retro::engine::findings::Ready;
use retro::engine::headless::{self, LIMIT, Miner, Spent, tokens_on};
use retro::engine::memory::News;
use retro::engine::mined::keep;
use retro::engine::{Config, memory};
use retro::memory::filters::{self, Filter};
use retro::memory::methods::{self, METHODS, Method};
use retro::memory::{Episode, Mined, mine as find};
use retro::model::{SessionKey, Tokens};
use retro::store::Store;
use retro::views::answers::{Answer, MinedSessions};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;

/// How to mine.
enum How {
    Local(Vec<&'static Method>),
    Model(Miner),
}

/// Find what the next session can reuse: fixes, rules, commands, procedures
///
/// The result of each method is kept in the document of the session, as the sections
/// mined/METHOD.json and mined/METHOD.prompt.md, a block for a prompt. With '*' for the agent and the id, all sessions that were
/// real work are mined; a session that you name is mined in any case.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro mine latest --method all
  retro mine claude 3f2a --method error_fix
  retro mine '*' '*' --method user_rules
  retro mine codex latest --filter risk_aware
  retro mine latest --method codex_headless     asks your own codex; mine.budget_tokens limits it")]
pub struct Args {
    /// The agent and the session: any unique beginning of its id, or `latest`; '*' for all
    #[arg(value_name = "SESSION", num_args = 0..=2)]
    session: Vec<String>,

    /// The method, or `all`: every one that runs on this machine alone
    #[arg(long, value_name = "METHOD", default_value = methods::DEFAULT)]
    method: String,

    /// Filters to apply besides grounded and no_secrets
    #[arg(long, value_name = "FILTER,FILTER", value_delimiter = ',')]
    filter: Vec<String>,

    /// All sessions of all agents, the same as '*' '*'
    #[arg(long)]
    all: bool,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let how = chosen(&args.method)?;
    let mut filters = filters(&args.filter)?;
    let (keys, gated) = sessions(args, &store, context)?;
    if gated {
        filters.extend(filters::for_all());
    }
    let mut results: Vec<(SessionKey, Mined)> = Vec::new();
    let mut news = Vec::new();
    let (mut passed_over, mut unread, mut is_stopped) = (0u64, 0u64, false);
    // A sync skips sessions without real work, but a session that is named explicitly is mined
    // anyway.
    let ready = gated.then(|| Ready::new(&config, &store)).transpose()?;
    let mining = Mining { how, filters, gated, ready, config: &config, store: &store, context };
    for key in &keys {
        is_stopped = context.interrupted();
        if is_stopped {
            break;
        }
        match mining.of(key)? {
            Session::Mined(found) => {
                for mined in found {
                    results.push((key.clone(), mined));
                }
            }
            Session::NoWork => passed_over += 1,
            Session::Unread => unread += 1,
        }
    }
    {
        let stops = || context.world.stopping();
        let _lock = store.lock(&stops)?.ok_or(retro::engine::Error::Interrupted)?;
        for (key, mined) in &results {
            let body = if gated && mined.candidates.is_empty() {
                store.put_mined(&mined.method, key, None)?;
                None
            } else {
                Some(keep(&store, key, mined)?)
            };
            news.push(News { key: key.clone(), method: mined.method.clone(), body });
        }
        store.sync_all()?;
    }
    memory::take_mined(&context.world, &config, &store, &news)?;
    if is_stopped {
        return Err(Failure::Message("stopped; what was mined so far is kept".to_owned()));
    }
    report(&results, passed_over, unread, gated, &store, context, &config)
}

/// The result for one session.
enum Session {
    Mined(Vec<Mined>),
    /// The session has no real work and was not named explicitly.
    NoWork,
    Unread,
}

struct Mining<'a> {
    how: How,
    filters: Vec<&'static Filter>,
    gated: bool,
    /// Findings of the sync, if all sessions are mined.
    ready: Option<Ready>,
    config: &'a Config,
    store: &'a Store,
    context: &'a Context,
}

impl Mining<'_> {
    /// Mines one session, from the findings of a sync or else from its log.
    fn of(&self, key: &SessionKey) -> Result<Session, Failure> {
        if let (How::Local(methods), Some(ready)) = (&self.how, &self.ready)
            && let Some(findings) = ready.findings(key)?
        {
            if !findings.real {
                return Ok(Session::NoWork);
            }
            if let Some(chosen) = findings.choose(methods, &self.filters) {
                return Ok(Session::Mined(chosen));
            }
        }
        let Some(episode) = retro::views::memory::episode(self.config, self.store, key)? else {
            return Ok(Session::Unread);
        };
        if self.gated && !episode.quality.real {
            return Ok(Session::NoWork);
        }
        Ok(Session::Mined(match &self.how {
            How::Local(methods) => find::mine(&episode, methods, &self.filters),
            How::Model(miner) => {
                vec![ask(*miner, &episode, &self.filters, self.config, self.store, self.context)?]
            }
        }))
    }
}

/// Asks a model, within today's budget.
fn ask(
    miner: Miner,
    episode: &Episode,
    filters: &[&'static Filter],
    config: &Config,
    store: &Store,
    context: &Context,
) -> Result<Mined, Failure> {
    let now = context.world.now();
    let used = tokens_on(store, now)?;
    let budget = config.mining.value.budget_tokens;
    if used >= budget {
        return Err(Failure::missing(
            format_args!("today's budget of {budget} tokens is used up ({used})"),
            "go on tomorrow, or raise `mine.budget_tokens`",
        ));
    }
    let note = |used: Tokens, model: Option<String>| -> Result<(), Failure> {
        let spent = Spent::new(now, miner, &episode.key, model, used);
        match store.lock(&|| context.interrupted())? {
            Some(lock) => Ok(spent.keep(store, &lock)?),
            None => Ok(()),
        }
    };
    match headless::run(&context.world, store, episode, miner, LIMIT) {
        Ok(done) => {
            note(done.tokens, done.model.clone())?;
            Ok(find::one(episode, &miner.method(), done.mined.candidates, filters))
        }
        Err(headless::Error::Absent(program)) => Err(Failure::missing(
            format_args!("`{program}` is not on the PATH"),
            "install it, or mine with a local method: `retro methods`",
        )),
        Err(error) => {
            if let headless::Error::NoAnswer { tokens, .. } = &error {
                note(**tokens, None)?;
            }
            Err(Failure::Message(error.to_string()))
        }
    }
}

fn report(
    results: &[(SessionKey, Mined)],
    passed_over: u64,
    unread: u64,
    gated: bool,
    store: &Store,
    context: &Context,
    _config: &Config,
) -> Outcome {
    let found: usize = results.iter().map(|(_, mined)| mined.candidates.len()).sum();
    if context.global.json {
        let results = results.iter().map(|(_, mined)| mined).collect();
        context.print_json(&Answer::of(MinedSessions { results, candidates: found, passed_over, unread }))?;
        return Ok(Exit::Done);
    }
    for (key, mined) in results.iter().filter(|(_, mined)| !gated || !mined.candidates.is_empty()) {
        let count = format::count(mined.candidates.len() as u64, "candidate");
        context.print(&format!("{} {}: {count}", mined.method, context.shown(&key.to_string())))?;
        for candidate in &mined.candidates {
            context.print(&format!("  {}  {}", candidate.kind.as_str(), context.shown(&candidate.text)))?;
            context.print(&format!("    when {}", context.shown(&candidate.when_to_use)))?;
        }
        for note in mined.notes.iter().filter(|_| !gated) {
            context.say(&format!("  note: {note}"));
        }
        if !gated {
            let (path, section) = store.mined_path(&mined.method, key);
            context.say(&format!("  kept in {}, section {section}", path.display()));
        }
    }
    if gated {
        context.say(&format!(
            "{} in {}; {} passed over because they were no real work.",
            format::count(found as u64, "candidate"),
            format::count(
                results.iter().map(|(key, _)| key).collect::<std::collections::BTreeSet<_>>().len() as u64,
                "session"
            ),
            format::count(passed_over, "session"),
        ));
    }
    if unread > 0 {
        context.say(&format!(
            "{} could not be read: `retro doctor` says why.",
            format::count(unread, "session")
        ));
    }
    Ok(Exit::Done)
}

fn sessions(args: &Args, store: &Store, context: &Context) -> Result<(Vec<SessionKey>, bool), Failure> {
    let words: Vec<&str> = args.session.iter().map(String::as_str).collect();
    let is_star = |word: &&str| matches!(*word, "*" | "all");
    if words.is_empty() && !args.all {
        return Err(Failure::hinted("name a session, or --all", "`retro mine latest` mines the last one"));
    }
    if args.all || words.last().is_some_and(is_star) {
        let agent = words.first().filter(|word| !is_star(word));
        let agent = super::agent_name(&agent.map(|word| (*word).to_owned()))?;
        let mut keys = store.session_keys()?;
        keys.retain(|key| agent.as_ref().is_none_or(|agent| *agent == key.agent));
        return Ok((keys, true));
    }
    Ok((vec![retro::views::session(store, &words, context.world.now())?], false))
}

fn chosen(name: &str) -> Result<How, Failure> {
    if name == "all" {
        return Ok(How::Local(METHODS.iter().collect()));
    }
    if let Some(miner) = Miner::by_method(name) {
        return Ok(How::Model(miner));
    }
    methods::by_name(name).map(|method| How::Local(vec![method])).ok_or_else(|| {
        let near = retro::views::nearest(name, METHODS.iter().map(|method| method.name));
        let hint =
            near.map_or("`retro methods` shows all".to_owned(), |near| format!("did you mean {near:?}?"));
        Failure::missing(format_args!("there is no method {name:?}"), hint)
    })
}

fn filters(names: &[String]) -> Result<Vec<&'static Filter>, Failure> {
    let find = |name: &String| {
        let missing =
            || Failure::missing(format_args!("there is no filter {name:?}"), "`retro methods` shows all");
        filters::by_name(name).ok_or_else(missing)
    };
    names.iter().map(find).collect()
}
