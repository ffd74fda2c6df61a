//! Prices and ledger arithmetic.
