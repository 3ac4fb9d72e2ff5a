//! Description of this machine for the tables.

use std::fs;

use anyhow::Result;

/// Processor, its cores, and the version of the kernel without the suffix of its builder: "AMD
/// EPYC, 2 cores, Linux 6.18.44".
///
/// # Errors
/// If the kernel does not tell.
pub fn description() -> Result<String> {
    let text = fs::read_to_string("/proc/cpuinfo")?;
    let model = text
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let kernel = release.trim().split('-').next().unwrap_or_default();
    Ok(format!("{model}, {} cores, Linux {kernel}", std::thread::available_parallelism()?))
}

/// Load average of the last minute, per processor.
pub fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0);
    load / std::thread::available_parallelism().map_or(1.0, |processors| processors.get() as f64)
}
