//! The `sinew` binary: no verb opens the workbench, a verb goes to the command line.

fn main() {}
