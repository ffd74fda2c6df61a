//! The terms of a query, with the number of pieces that contain each.

use super::{Sources, forms};
use crate::query::TERMS_MAX;
use crate::rank::Extent;
use crate::ranker::{Ranker, rarity};
use crate::{Error, Query};

/// A term of the query, with the number of pieces that contain it.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub term: String,
    /// The word, as the query has it.
    pub word: String,
    /// The weight among pieces.
    pub weight: f64,
    pub holding: u64,
    /// True for another form of a word that is not found.
    pub is_form: bool,
}

impl Known {
    fn new(term: String, word: &str, holding: u64, extent: Extent) -> Known {
        let weight = rarity(extent.pieces, holding);
        Known { term, word: word.to_owned(), weight, holding, is_form: false }
    }
}

impl Sources<'_> {
    /// The terms to search for, rarest first. A word that is not found is replaced by other forms
    /// that exist.
    pub(super) fn terms(&self, query: &Query, extent: Extent, ranker: &Ranker) -> Result<Vec<Known>, Error> {
        let names: Vec<&str> = query.wanted.iter().map(|wanted| wanted.term.as_str()).collect();
        let counts = self.counts(&names)?;
        let mut terms: Vec<Known> = Vec::new();
        for (wanted, holding) in query.wanted.iter().zip(counts) {
            let is_formed = holding == 0 && !wanted.is_name && !query.is_kept;
            let forms = if is_formed { forms::of(self, &wanted.term)? } else { Vec::new() };
            if forms.is_empty() {
                terms.push(Known::new(wanted.term.clone(), &wanted.word, holding, extent));
            }
            for (form, holding) in forms {
                if terms.iter().all(|known| known.term != form) && !names.contains(&form.as_str()) {
                    let known = Known::new(form, &wanted.word, holding, extent);
                    terms.push(Known { weight: ranker.of_form(known.weight), is_form: true, ..known });
                }
            }
        }
        if terms.len() > TERMS_MAX {
            // Of a long text, search only words that other texts have too.
            let least = if query.is_kept { 2 } else { 1 };
            terms.retain(|known| known.holding >= least);
            terms.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.term.cmp(&b.term)));
            terms.truncate(TERMS_MAX);
        }
        terms.sort_by(|a, b| a.holding.cmp(&b.holding).then(a.term.cmp(&b.term)));
        Ok(terms)
    }

    /// The number of pieces that contain each term.
    pub(super) fn counts(&self, terms: &[&str]) -> Result<Vec<u64>, Error> {
        let mut counts = vec![0; terms.len()];
        self.tail.count(terms, &mut counts);
        for (count, term) in counts.iter_mut().zip(terms) {
            *count += self.finder.as_ref().map_or(Ok(0), |finder| finder.count(term))?;
        }
        Ok(counts)
    }
}
