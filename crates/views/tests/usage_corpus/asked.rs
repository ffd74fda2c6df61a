//! What a user is told of a home: synced into a store of its own, the rows that
//! count. The two views over them must say the same.

use retro_engine::ask::Ledgers;
use retro_engine::{Config, SyncOptions, World, sync};
use retro_model::{LedgerRow, Timestamp};
use retro_store::{RealDisk, Store};
use retro_usage::{Billing, Mode, Prices, Query, decide};
use std::path::Path;
use std::sync::Arc;

/// The rows that count, by session and place in it.
pub(crate) struct Asked {
    /// Each with the id of its session, without what its figure contains of others.
    pub(crate) rows: Vec<(String, LedgerRow)>,
    /// Sessions of which the user is told that figures are missing.
    pub(crate) open: Vec<String>,
}

impl Asked {
    pub(crate) fn of(home: &Path) -> Asked {
        let dir = tempfile::tempdir().unwrap();
        let now: Timestamp = jiff::Timestamp::now().into();
        let later = Timestamp::from_millis(now.as_millis() + 3 * 86_400_000).unwrap();
        let world = World::at(home).with_clock(later);
        let config = Config::for_root(dir.path().join("store"));
        sync(&world, &config, &SyncOptions::default(), &|_| {}).unwrap();
        let store = Store::open(&config.root.value, Arc::new(RealDisk)).unwrap();
        let index = store.index().unwrap();
        let prices = Prices::embedded().unwrap();

        let counted = decide(index.responses().unwrap());
        assert!(counted.side.is_empty(), "no log of these agents tells a call beside the conversation");
        let rows: Vec<(String, LedgerRow)> = counted
            .rows
            .iter()
            .map(|counted| (counted.session.id.clone(), counted.own_row().clone()))
            .collect();
        let mut explained = Vec::new();
        for key in store.session_keys().unwrap() {
            for told in
                retro_views::explain(&Ledgers::of(&index, &prices), Mode::Auto, &key, &Default::default())
                    .unwrap()
                    .responses
            {
                let figures = [
                    told.input_tokens,
                    told.cache_creation_tokens,
                    told.cache_read_tokens,
                    told.output_tokens,
                ];
                explained.push((key.id.clone(), told.key, told.model, figures));
            }
        }
        let counts = |row: &LedgerRow| {
            [row.tokens.input, row.tokens.cache_write(), row.tokens.cache_read, row.tokens.output]
        };
        let mut expected: Vec<_> = rows
            .iter()
            .map(|(session, row)| (session.clone(), row.key.clone(), row.model.clone(), counts(row)))
            .collect();
        explained.sort();
        expected.sort();
        assert_eq!(explained, expected, "`usage explain` shows the rows that count");

        let view =
            retro_views::usage(&Ledgers::of(&index, &prices), Billing::Plan, Query::default()).unwrap();
        let totals = view.report.totals;
        let told = [
            totals.input_tokens,
            totals.cache_creation_tokens,
            totals.cache_read_tokens,
            totals.output_tokens,
            totals.reasoning_tokens,
            totals.responses,
        ];
        let sums = rows.iter().fold([0; 6], |mut sums, (_, row)| {
            let [input, written, read, output] = counts(row);
            let now = [input, written, read, output, row.tokens.reasoning, row.calls];
            sums.iter_mut().zip(now).for_each(|(sum, now)| *sum += now);
            sums
        });
        assert_eq!(told, sums, "`usage` sums the rows that count");

        let open = counted.open.iter().map(|(session, _)| session.id.clone()).collect();
        Asked { rows, open }
    }
}
