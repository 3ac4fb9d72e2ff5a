//! The machine that measures (docs/field/identity.md#host-facts).

use std::collections::BTreeMap;
use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use record::{Host, Temperature};
use sha2::Sha256;

use crate::roots::{Roots, link_name, names, number, text};

/// Purpose of the keyed hash: it makes this program's machine number differ from other hashes.
const PURPOSE: &[u8] = b"flashmark machine";

/// All facts about the machine at the start of a run; the caller measures the rate of memory.
pub fn facts(roots: &Roots) -> Host {
    let cpuinfo = text(&roots.proc.join("cpuinfo")).unwrap_or_default();
    Host {
        id: machine_number(roots),
        kernel: text(&roots.proc.join("sys/kernel/osrelease")),
        arch: text(&roots.proc.join("sys/kernel/arch")).or_else(machine),
        board: board(roots),
        cpu: cpu(&cpuinfo),
        cpus: cpus(roots),
        governor: text(&roots.sys.join("devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        cpu_khz: cpu_khz(roots),
        memory_bytes: memory(roots, "MemTotal"),
        memory_bps: None,
        load: load(roots),
        clocksource: text(
            &roots.sys.join("devices/system/clocksource/clocksource0/current_clocksource"),
        ),
        virtualised: virtualised(roots, &cpuinfo),
        kernel_options: kernel_options(&text(&roots.proc.join("cmdline")).unwrap_or_default()),
        vm: writeback_limits(roots),
        throttled: throttled(roots),
        temperatures: temperatures(roots),
    }
}

/// Identifier of a machine: the serial number of a board (boards that run copies of one card image
/// differ in it), otherwise /etc/machine-id. Both are confidential (machine-id(5)), so it is a
/// keyed hash.
fn machine_number(roots: &Roots) -> Option<String> {
    let own = text(&roots.proc.join("device-tree/serial-number"))
        .or_else(|| text(&roots.etc.join("machine-id")))
        .filter(|own| own.chars().any(|c| c.is_ascii_hexdigit() && c != '0'))
        .filter(|own| own != "uninitialized")?;
    let hash =
        Hmac::<Sha256>::new_from_slice(own.as_bytes()).ok()?.chain_update(PURPOSE).finalize();
    Some(record::text::hex(&hash.into_bytes()[..16]))
}

/// Machine type of `uname -m`; kernels before 6.1 do not have it in /proc.
fn machine() -> Option<String> {
    rustix::system::uname().machine().to_str().ok().map(str::to_owned)
}

/// The device tree's model (a Raspberry Pi includes its revision), otherwise the firmware's names.
fn board(roots: &Roots) -> Option<String> {
    if let Some(model) = text(&roots.proc.join("device-tree/model")) {
        return Some(model);
    }
    let dmi = |name: &str| {
        text(&roots.sys.join("class/dmi/id").join(name)).filter(|name| !is_filler(name))
    };
    let vendor = dmi("sys_vendor").or_else(|| dmi("board_vendor"));
    let product = dmi("product_name").or_else(|| dmi("board_name"));
    let words: Vec<String> = [vendor, product].into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// True if a name is a placeholder of the firmware that the maker did not fill in.
fn is_filler(name: &str) -> bool {
    [
        "to be filled",
        "default string",
        "system product name",
        "system manufacturer",
        "not specified",
        "o.e.m.",
    ]
    .iter()
    .any(|filler| name.to_ascii_lowercase().contains(filler))
}

fn cpu(cpuinfo: &str) -> Option<String> {
    ["model name", "Processor", "cpu model", "Hardware"]
        .iter()
        .find_map(|key| field(cpuinfo, key))
        .map(str::to_owned)
}

/// The value of the first `key : value` line.
fn field<'a>(table: &'a str, key: &str) -> Option<&'a str> {
    table.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim()).filter(|value| !value.is_empty())
    })
}

/// Processors online, from a list such as "0-3,6".
fn cpus(roots: &Roots) -> Option<u32> {
    let list = text(&roots.sys.join("devices/system/cpu/online"))?;
    let count = |range: &str| -> Option<u32> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        (last.parse::<u32>().ok()? + 1).checked_sub(first.parse().ok()?)
    };
    list.split(',').map(count).sum()
}

fn cpu_khz(roots: &Roots) -> Option<[u64; 2]> {
    let limit = |name: &str| number(&roots.sys.join("devices/system/cpu/cpu0/cpufreq").join(name));
    Some([limit("scaling_min_freq")?, limit("scaling_max_freq")?])
}

/// A line of `/proc/meminfo`, in bytes.
fn memory(roots: &Roots, key: &str) -> Option<u64> {
    let table = text(&roots.proc.join("meminfo"))?;
    let kib: u64 = field(&table, key)?.strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

/// Load average over one minute.
pub fn load(roots: &Roots) -> Option<f64> {
    text(&roots.proc.join("loadavg"))?.split(' ').next()?.parse().ok()
}

/// The hypervisor; "none" if there is evidence against one, `None` without evidence.
fn virtualised(roots: &Roots, cpuinfo: &str) -> Option<String> {
    const NAMES: [(&str, &str); 13] = [
        ("QEMU", "qemu"),
        ("KVM", "kvm"),
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("innotek", "virtualbox"),
        ("Xen", "xen"),
        ("Virtual Machine", "hyper-v"),
        ("Amazon EC2", "amazon"),
        ("Google Compute Engine", "google"),
        ("Bochs", "bochs"),
        ("Parallels", "parallels"),
        ("OpenStack", "openstack"),
        ("Firecracker", "firecracker"),
    ];
    if let Some(kind) = text(&roots.sys.join("hypervisor/type")) {
        return Some(kind);
    }
    let names: Vec<String> = ["sys_vendor", "product_name", "board_vendor", "bios_vendor"]
        .iter()
        .filter_map(|name| text(&roots.sys.join("class/dmi/id").join(name)))
        .chain(text(&roots.proc.join("device-tree/hypervisor/compatible")))
        .collect();
    let known = NAMES.iter().find(|(word, _)| names.iter().any(|name| name.contains(word)));
    if let Some((_, name)) = known {
        return Some((*name).to_owned());
    }
    if cpuinfo.contains("User Mode Linux") {
        return Some("uml".to_owned());
    }
    // x86 processors say in a flag whether something is below them; others do not
    let flags = field(cpuinfo, "flags")?;
    let below = flags.split(' ').any(|flag| flag == "hypervisor");
    Some(if below { "unknown hypervisor" } else { "none" }.to_owned())
}

/// The words of the kernel command line that matter for storage or timing.
fn kernel_options(cmdline: &str) -> Vec<String> {
    const BEGINNINGS: &str = "sdtweak sdhci mmc bcm2835 dtparam=sd dtoverlay=sd elevator= scsi \
        usb-storage usb_storage usbcore dwc_otg nvme libata ahci pcie_aspm iommu mitigations= \
        isolcpus= nohz processor. intel_idle idle= sd_mod";
    let matters = |word: &&str| BEGINNINGS.split_whitespace().any(|start| word.starts_with(start));
    cmdline.split_whitespace().filter(matters).map(str::to_owned).collect()
}

/// Thresholds at which the kernel begins to write back, and the size of swap.
fn writeback_limits(roots: &Roots) -> BTreeMap<String, u64> {
    const LIMITS: &str = "dirty_ratio dirty_background_ratio dirty_bytes dirty_background_bytes \
        dirty_expire_centisecs dirty_writeback_centisecs swappiness vfs_cache_pressure";
    let limit =
        |name: &str| Some((name.to_owned(), number(&roots.proc.join("sys/vm").join(name))?));
    let limits = LIMITS.split_whitespace().filter_map(limit);
    limits.chain(memory(roots, "SwapTotal").map(|bytes| ("swap_bytes".to_owned(), bytes))).collect()
}

/// State of power and heat from the firmware of a Raspberry Pi.
pub fn throttled(roots: &Roots) -> Option<String> {
    let path = roots.sys.join("devices/platform/soc/soc:firmware/get_throttled");
    let bits = u32::from_str_radix(text(&path)?.trim_start_matches("0x"), 16).ok()?;
    Some(throttle_words(bits))
}

/// The bits of get_throttled: the lower half is now, the upper half since the start.
fn throttle_words(bits: u32) -> String {
    const MEANINGS: [&str; 4] =
        ["under-voltage", "frequency capped", "throttled", "soft temperature limit"];
    let meanings = |shift: usize, when: &str| {
        let set =
            MEANINGS.iter().enumerate().filter(move |(bit, _)| bits >> (bit + shift) & 1 == 1);
        set.map(|(_, meaning)| format!("{meaning} {when}")).collect::<Vec<_>>()
    };
    let words = [meanings(0, "now"), meanings(16, "since the start")].concat();
    if words.is_empty() { "no".to_owned() } else { words.join(", ") }
}

/// All thermometers, with their readings at the start.
fn temperatures(roots: &Roots) -> Vec<Temperature> {
    let now = temperatures_now(roots).into_iter();
    now.map(|(sensor, celsius)| Temperature {
        sensor,
        start_celsius: Some(celsius),
        end_celsius: None,
    })
    .collect()
}

/// Every thermometer with its reading in degrees Celsius: thermal zones by type, sensors by chip,
/// device and label ("nvme nvme0 Composite").
pub fn temperatures_now(roots: &Roots) -> BTreeMap<String, f64> {
    let mut readings = BTreeMap::new();
    let mut add = |name: String, path: &Path| {
        let celsius =
            text(path).and_then(|text| text.parse::<f64>().ok()).map(|millis| millis / 1000.0);
        if let Some(celsius) = celsius.filter(|celsius| (-100.0..300.0).contains(celsius)) {
            let taken = readings
                .keys()
                .filter(|known: &&String| {
                    **known == name || known.starts_with(&format!("{name} #"))
                })
                .count();
            readings
                .insert(if taken == 0 { name } else { format!("{name} #{}", taken + 1) }, celsius);
        }
    };
    let zones = roots.sys.join("class/thermal");
    for zone in names(&zones).into_iter().filter(|name| name.starts_with("thermal_zone")) {
        let zone_dir = zones.join(&zone);
        add(text(&zone_dir.join("type")).unwrap_or(zone), &zone_dir.join("temp"));
    }
    let chips = roots.sys.join("class/hwmon");
    for chip in names(&chips) {
        let dir = chips.join(&chip);
        let device = link_name(&dir.join("device"));
        for input in names(&dir)
            .into_iter()
            .filter(|name| name.starts_with("temp") && name.ends_with("_input"))
        {
            let label = text(&dir.join(input.replace("_input", "_label")));
            let words = [
                text(&dir.join("name")),
                device.clone(),
                label.or_else(|| input.strip_suffix("_input").map(str::to_owned)),
            ];
            add(words.into_iter().flatten().collect::<Vec<_>>().join(" "), &dir.join(&input));
        }
    }
    readings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_kernel_a_processor_and_memory() {
        let host = facts(&Roots::default());
        assert!(
            host.kernel.is_some()
                && host.cpus >= Some(1)
                && host.memory_bytes > Some(1 << 20)
                && host.arch.is_some()
        );
    }
}
