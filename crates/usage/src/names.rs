//! Finds the price row for a name in a log.
//!
//! Logs write one model in many forms: with a provider prefix (`openrouter/anthropic/…`), as a
//! cloud's own id (`us.anthropic.…-v1:0`, `…@20250929`), with a date, with the requested effort.
//! Each form is a rule. Decorations are removed one at a time, after the raw name was tried. A name
//! that no rule resolves has no price: a model that merely has a common prefix (`gpt-5` of
//! `gpt-5-mini`) costs something else.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use retro_model::Timestamp;

use crate::table::{ANY_PROVIDER, PriceRow, Prices};

/// The price row of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolved<'p> {
    /// The row of the table.
    pub row: &'p PriceRow,
    /// Factor in thousandths for the region where the model runs. 1000 changes nothing.
    pub place_multiplier: u32,
}

/// The rows of one model at one provider, earliest price first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'p> {
    rows: &'p [PriceRow],
    place_multiplier: u32,
    /// True if they are the user's own.
    own: bool,
    /// The rows that apply before the first day of a user's own rows.
    before: Option<(&'p [PriceRow], u32)>,
}

impl Prices {
    /// The row for a logged model name at a time, or without a time, on the table's own day.
    /// `None`: the price is unknown.
    pub fn resolve(
        &self,
        model: &str,
        provider: Option<&str>,
        ts: Option<Timestamp>,
    ) -> Option<Resolved<'_>> {
        self.find(model, provider)?.at(ts, self.snapshot)
    }

    /// The rows for a model at any time.
    pub(crate) fn find(&self, model: &str, provider: Option<&str>) -> Option<Found<'_>> {
        let written = model.trim().to_lowercase();
        let mut own = self.own_rows(&written, provider);
        let named = Named::read(&written, provider.map(str::to_lowercase), self);
        let mut name = named.name.clone();
        let listed = loop {
            own = own.or_else(|| self.own_rows(&name, named.provider.as_deref()));
            if let Some(found) = self.listed(&name, &named) {
                break Some(found);
            }
            match undecorated(&name) {
                Some(plainer) => name = plainer,
                None => break None,
            }
        };
        match own {
            Some(rows) => {
                let before = listed.map(|found| (found.rows, found.place_multiplier));
                Some(Found { rows, place_multiplier: 1000, own: true, before })
            }
            None => listed,
        }
    }

    fn listed(&self, name: &str, named: &Named) -> Option<Found<'_>> {
        let provider = named.provider.as_deref();
        let name = self.aliases.get(name).map_or(name, String::as_str);
        let rows = match provider {
            Some(provider) => self.rows_of(name, |seller| seller == provider).or_else(|| {
                // A host sells only some makers' models at the makers' price.
                let makers = self.hosts.get(provider);
                self.rows_of(name, |seller| match makers {
                    Some(makers) => makers.iter().any(|maker| maker == seller),
                    None => !self.hosts.contains_key(seller),
                })
            }),
            None => self.rows_of(name, |seller| !self.hosts.contains_key(seller)),
        }?;
        let multiplier = |name: &str| rows.first().and_then(|row| row.multipliers.get(name)).copied();
        let place_multiplier = match named.region {
            Region::None => 1000,
            // Models up to 4.1 cost the same in every region.
            Region::Group => multiplier("regional").unwrap_or(1000),
            Region::Government => multiplier("gov")?,
        };
        Some(Found { rows, place_multiplier, own: false, before: None })
    }

    fn own_rows(&self, name: &str, provider: Option<&str>) -> Option<&[PriceRow]> {
        let fits = |seller: &str| seller == ANY_PROVIDER || Some(seller) == provider;
        of_seller(&self.overrides, name, fits)
    }

    fn rows_of(&self, name: &str, fits: impl Fn(&str) -> bool) -> Option<&[PriceRow]> {
        of_seller(&self.rows, name, fits)
    }
}

/// The rows of the first provider of this model that fits.
fn of_seller<'p>(rows: &'p [PriceRow], name: &str, fits: impl Fn(&str) -> bool) -> Option<&'p [PriceRow]> {
    let start = rows.partition_point(|row| row.model.as_str() < name);
    let of_model = rows.get(start..)?;
    let of_model = of_model.get(..of_model.partition_point(|row| row.model == name))?;
    of_model
        .chunk_by(|a, b| a.provider == b.provider)
        .find(|rows| rows.first().is_some_and(|row| fits(&row.provider)))
}

impl<'p> Found<'p> {
    /// The row in force at a time, or without one on `default`.
    pub(crate) fn at(&self, ts: Option<Timestamp>, default: Date) -> Option<Resolved<'p>> {
        let day = match ts {
            Some(ts) if self.rows.len() > 1 || self.own => ts.to_jiff().to_zoned(TimeZone::UTC).date(),
            _ => default,
        };
        let in_force = |row: &&PriceRow| row.from.is_none_or(|from| from <= day);
        if let Some(row) = self.rows.iter().rfind(in_force) {
            return Some(Resolved { row, place_multiplier: self.place_multiplier });
        }
        let (rows, place_multiplier) = self.before?;
        Some(Resolved { row: rows.iter().rfind(in_force)?, place_multiplier })
    }
}

/// The region of a host, if the name shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Region {
    None,
    Group,
    Government,
}

/// A name split into its parts.
#[derive(Debug)]
struct Named {
    name: String,
    provider: Option<String>,
    region: Region,
}

/// Region groups of Bedrock ids.
const GROUPS: &[&str] = &["apac", "au", "eu", "global", "jp", "us", "us-gov"];

impl Named {
    fn read(written: &str, provider: Option<String>, prices: &Prices) -> Named {
        let mut named = Named { name: written.to_owned(), provider: None, region: Region::None };
        if let Some(provider) = &provider {
            named.sold_by(provider, prices);
        }
        // `arn:aws:bedrock:<region>:<account>:inference-profile/<id>`
        if let Some(id) = written.strip_prefix("arn:aws:bedrock:").and_then(|arn| arn.rsplit('/').next()) {
            named.name = id.to_owned();
            named.sold_by("bedrock", prices);
        }
        while let Some((seller, rest)) = named.name.clone().split_once('/') {
            named.name = rest.to_owned();
            named.sold_by(seller, prices);
        }
        named.read_bedrock(prices);
        if let Some((name, version)) = named.name.clone().split_once('@')
            && (is_day(version) || matches!(version, "default" | "latest"))
        {
            named.name = name.to_owned();
            named.sold_by("vertex", prices);
        }
        named
    }

    /// Sets the provider. A host is never replaced by a provider that is not one. Otherwise the
    /// last name counts.
    fn sold_by(&mut self, seller: &str, prices: &Prices) {
        let seller = prices.providers.get(seller).map_or(seller, String::as_str);
        let is_host = |name: &str| prices.hosts.contains_key(name);
        if self.provider.as_deref().is_none_or(|known| !is_host(known) || is_host(seller)) {
            self.provider = Some(seller.to_owned());
        }
    }

    /// Parses `[<group>.]anthropic.<name>`.
    fn read_bedrock(&mut self, prices: &Prices) {
        let (group, rest) = match self.name.split_once('.') {
            Some((group, rest)) if GROUPS.contains(&group) => (Some(group.to_owned()), rest.to_owned()),
            _ => (None, self.name.clone()),
        };
        let Some(name) = rest.strip_prefix("anthropic.") else { return };
        self.name = name.to_owned();
        self.sold_by("bedrock", prices);
        self.region = match group.as_deref() {
            None | Some("global") => Region::None,
            Some("us-gov") => Region::Government,
            Some(_) => Region::Group,
        };
    }
}

/// Efforts that some agents append to the name. The price stays the same.
const EFFORTS: &[&str] = &["-thinking", "-minimal", "-low", "-medium", "-high", "-xhigh"];
/// Families whose names can have an effort suffix.
const WITH_EFFORT: &[&str] = &["claude-", "gemini-", "gpt-", "o3", "o4-"];

/// The name without one decoration.
fn undecorated(name: &str) -> Option<String> {
    // The requested context window. Its price depends on the prompt.
    if let Some(rest) = name.strip_suffix("[1m]").or_else(|| name.strip_suffix(":thinking")) {
        return Some(rest.to_owned());
    }
    if let Some((rest, version)) = name.rsplit_once("-v")
        && !version.is_empty()
        && version.chars().all(|c| c.is_ascii_digit() || c == ':')
    {
        return Some(rest.to_owned());
    }
    if let Some(rest) = without_day(name).or_else(|| name.strip_suffix("-latest")) {
        return Some(rest.to_owned());
    }
    // Only Claude names may be written with dots. A dot in `gpt-5.5` is part of the name.
    if name.starts_with("claude-")
        && let Some(dashed) = dots_to_dashes(name)
    {
        return Some(dashed);
    }
    if WITH_EFFORT.iter().any(|family| name.starts_with(family)) {
        return EFFORTS.iter().find_map(|effort| name.strip_suffix(effort)).map(str::to_owned);
    }
    None
}

/// The name without `-20250929` or `-2025-09-29` at its end.
fn without_day(name: &str) -> Option<&str> {
    if let Some((rest, day)) = name.rsplit_once('-')
        && is_day(day)
    {
        return Some(rest);
    }
    let at = name.len().checked_sub("-2025-09-29".len())?;
    let (rest, day) = name.split_at_checked(at)?;
    let day = day.strip_prefix('-')?;
    let shape =
        day.char_indices().all(|(at, c)| if at == 4 || at == 7 { c == '-' } else { c.is_ascii_digit() });
    (shape && is_day(&day.replace('-', ""))).then_some(rest)
}

/// True for `20250929`.
fn is_day(text: &str) -> bool {
    let part = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<u32>().ok());
    text.len() == 8
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && part(0..4).is_some_and(|year| (2020..2100).contains(&year))
        && part(4..6).is_some_and(|month| (1..=12).contains(&month))
        && part(6..8).is_some_and(|day| (1..=31).contains(&day))
}

fn dots_to_dashes(name: &str) -> Option<String> {
    let chars: Vec<char> = name.chars().collect();
    let is_digit = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(char::is_ascii_digit);
    let dashed: String = (0..)
        .zip(&chars)
        .map(|(at, &c)| match c {
            '.' if is_digit(usize::checked_sub(at, 1)) && is_digit(Some(at + 1)) => '-',
            c => c,
        })
        .collect();
    (dashed != name).then_some(dashed)
}
