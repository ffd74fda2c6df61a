#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| retro_laws::check(env!("CARGO_BIN_NAME"), bytes));
