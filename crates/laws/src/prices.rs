//! `prices`: any text is read as a LiteLLM price table, and the resulting table can be saved.

use jiff::civil::{Date, date};
use retro_usage::{Import, Prices, UsageError};
use std::sync::LazyLock;

use crate::Tried;

const DAY: Date = date(2026, 3, 1);

pub(crate) fn check(bytes: &[u8]) -> Tried {
    static EMBEDDED: LazyLock<Result<Prices, UsageError>> = LazyLock::new(Prices::embedded);
    let embedded = EMBEDDED.as_ref().map_err(ToString::to_string)?;
    let text = &*String::from_utf8_lossy(bytes);
    for only_known in [false, true] {
        let Ok(Import { prices, changes, .. }) = embedded.import_litellm(text, DAY, only_known) else {
            continue;
        };
        let known = |change: &&retro_usage::Change| change.was.is_some();
        assert!(
            !only_known || changes.iter().all(|change| known(&change)),
            "only known models were asked for"
        );
        let written = prices.to_json()?;
        let read = Prices::parse(&written);
        assert!(read.is_ok(), "the new table cannot be read again: {:?}", read.err());
        let read = read?.to_json()?;
        assert_eq!(read, written, "the new table comes back as another");
        let again = prices.import_litellm(text, DAY, only_known)?.changes;
        assert_eq!(again, [], "the same import changes something twice");
    }
    Ok(())
}
