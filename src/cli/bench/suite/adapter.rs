//! The adapter, and the rate of copies in its memory.

use super::record::{Record, Run};
use crate::cli::CommandResult;
use crate::gpu::{AdapterFacts, CopyRate};
use crate::report::cpu_name;

/// Bytes that are copied.
const COPIED: u64 = 512 << 20;
/// The same by software.
const COPIED_BY_SOFTWARE: u64 = 64 << 20;
/// The same where the suite itself is tried.
const COPIED_TINY: u64 = 4 << 20;

/// The adapter, and the machine around it.
#[derive(serde::Serialize)]
struct AdapterRecord {
    #[serde(flatten)]
    facts: AdapterFacts,
    version: &'static str,
    cpu: String,
    threads: usize,
}

impl Record for AdapterRecord {
    const KIND: &'static str = "adapter";

    fn line(&self) -> String {
        let AdapterFacts {
            name,
            driver,
            driver_info,
            backend,
            device_type,
            timestamps,
            subgroups,
            subgroup_sizes: [least, most],
            limits,
            ..
        } = &self.facts;
        let clock = if *timestamps {
            "with timestamps"
        } else {
            "without timestamps between passes"
        };
        let subgroups = if *subgroups {
            format!("subgroups of {least} to {most}")
        } else {
            "no subgroups".to_owned()
        };
        format!(
            "{name} ({device_type}, {backend}), driver {driver} {driver_info}; {clock}, {subgroups}; bindings of {} MB, {} KiB of \
             workgroup memory, {} threads; beside {}, {} threads",
            limits.max_storage_buffer_binding_size / 1_000_000,
            limits.max_workgroup_bytes / 1024,
            limits.max_workgroup_threads,
            self.cpu,
            self.threads
        )
    }
}

impl Record for CopyRate {
    const KIND: &'static str = "bandwidth";

    fn line(&self) -> String {
        format!(
            "{:.1} GB/s read and written by copies of {:.0} MB (median; {:.1} at best)",
            self.gb_s,
            self.bytes as f64 / 1e6,
            self.best_gb_s
        )
    }
}

/// Both.
pub(super) fn measure(run: &mut Run<'_>) -> CommandResult {
    run.measure("the adapter", |run| {
        Ok(AdapterRecord {
            facts: run.gpu.facts(),
            version: env!("CARGO_PKG_VERSION"),
            cpu: cpu_name(),
            threads: rayon::current_num_threads(),
        })
    })?;
    run.measure("copies", |run| {
        let software = run.gpu.is_software();
        let full = if software { COPIED_BY_SOFTWARE } else { COPIED };
        let rate = run.gpu.copy_rate(run.scale.of(full, COPIED_TINY))?;
        run.copy_gb_s = Some(rate.gb_s);
        Ok(rate)
    })
}
