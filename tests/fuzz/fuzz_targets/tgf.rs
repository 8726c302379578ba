#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sinew_fuzz::read_with("a.tgf", data, sinew_fuzz::MESH));
