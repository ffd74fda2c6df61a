//! A price that the user set, converted from dollars per million tokens to a row of the table.

use jiff::civil::Date;
use std::collections::BTreeMap;

use crate::table::{ANY_PROVIDER, PriceRow, Rates};

/// A user's own price, in dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OwnPrice {
    /// The model, as logs write it.
    pub model: String,
    /// The provider that sells it. `None` for any provider.
    pub provider: Option<String>,
    /// First day of the price. Before it the other layers apply.
    pub from: Option<Date>,
    /// Input without the cached part.
    pub input: f64,
    /// Output, reasoning included.
    pub output: f64,
    /// Input that was read from a cache.
    pub cache_read: Option<f64>,
    /// Cache writes that last five minutes.
    pub cache_write_5m: Option<f64>,
    /// Cache writes that last one hour.
    pub cache_write_1h: Option<f64>,
}

/// A figure above this, in dollars per million tokens, counts as a typing error.
const DOLLARS_MAX: f64 = 10_000.0;

/// A figure below this counts as dollars per token by mistake.
const DOLLARS_MIN: f64 = 0.001;

impl OwnPrice {
    /// Converts the price to a row of the table. The error names the wrong figure.
    pub fn row(&self) -> Result<PriceRow, String> {
        let model = self.model.trim().to_lowercase();
        if model.is_empty() {
            return Err("the name of the model is empty".to_owned());
        }
        let optional =
            |name: &str, dollars: Option<f64>| dollars.map(|dollars| rate(name, dollars)).transpose();
        Ok(PriceRow {
            model,
            provider: self.provider.as_ref().map_or(ANY_PROVIDER.to_owned(), |name| name.to_lowercase()),
            from: self.from,
            source: "your configuration".to_owned(),
            date: self.from.unwrap_or(Date::constant(1970, 1, 1)),
            note: None,
            rates: Rates {
                input: rate("input", self.input)?,
                output: rate("output", self.output)?,
                cache_read: optional("cache_read", self.cache_read)?,
                cache_write_5m: optional("cache_write_5m", self.cache_write_5m)?,
                cache_write_1h: optional("cache_write_1h", self.cache_write_1h)?,
                reasoning: None,
            },
            above: Vec::new(),
            tiers: BTreeMap::new(),
            multipliers: BTreeMap::new(),
            peak: None,
            web_search: None,
        })
    }
}

/// Converts dollars per million tokens to the unit of the table.
fn rate(name: &str, dollars: f64) -> Result<u64, String> {
    if !dollars.is_finite() || dollars < 0.0 {
        return Err(format!("{name} must be dollars a million tokens, such as 3 or 0.25, not {dollars}"));
    }
    if dollars > 0.0 && dollars < DOLLARS_MIN {
        let million = dollars * 1e6;
        return Err(format!(
            "{name} is {dollars}, which looks like dollars a token; for a million tokens write {million:.4}"
        ));
    }
    if dollars > DOLLARS_MAX {
        return Err(format!(
            "{name} is {dollars}; more than {DOLLARS_MAX} dollars a million tokens is refused"
        ));
    }
    Ok((dollars * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(input: f64) -> OwnPrice {
        OwnPrice { model: " My-Model ".into(), input, output: 2.0, ..OwnPrice::default() }
    }

    #[test]
    fn dollars_a_million_become_a_row() {
        let row = OwnPrice { cache_read: Some(0.025), ..own(0.25) }.row().unwrap();
        assert_eq!((row.model.as_str(), row.provider.as_str()), ("my-model", "*"));
        assert_eq!(
            (row.rates.input, row.rates.output, row.rates.cache_read),
            (250_000, 2_000_000, Some(25_000))
        );
        assert_eq!(own(0.0).row().unwrap().rates.input, 0);
    }

    #[test]
    fn what_cannot_be_a_price_is_refused_with_advice() {
        let said = |price: OwnPrice| price.row().unwrap_err();
        assert!(said(own(-1.0)).contains("such as 3 or 0.25"));
        assert!(said(own(f64::NAN)).contains("input must be dollars"));
        assert!(said(own(0.000003)).contains("for a million tokens write 3.0000"), "{}", said(own(0.000003)));
        assert!(said(own(2e6)).contains("refused"));
        assert!(said(OwnPrice { model: "  ".into(), ..own(1.0) }).contains("empty"));
    }
}
