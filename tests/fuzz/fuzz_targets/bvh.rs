#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sinew_fuzz::read_with("a.bvh", data, sinew_fuzz::RIGGED));
