//! Checks of a profile: values that are impossible, and sizes that do not divide.

use super::spec::{FaultKind, FaultSpec, Spec};
use super::units::ByteSize;
use record::units::Bytes;

/// The path of a key, and its problem.
type Problem = (Vec<String>, String);

/// Largest size of a medium in bytes; the index of its contents takes 8 bytes for a MiB.
const LARGEST: u64 = 64 << 40;

/// The first problem of a profile, if any.
pub(super) fn check(spec: &Spec) -> Result<(), Problem> {
    models(spec)?;
    medium(spec)?;
    flash(spec)?;
    disk(spec)?;
    layers(spec)?;
    spec.fault
        .iter()
        .enumerate()
        .try_for_each(|(index, fault)| check_fault(index, fault, spec.medium.capacity))
}

fn problem<T>(path: &[&str], text: impl Into<String>) -> Result<T, Problem> {
    Err((path.iter().map(|key| (*key).to_owned()).collect(), text.into()))
}

fn require(holds: bool, path: &[&str], text: impl FnOnce() -> String) -> Result<(), Problem> {
    if holds { Ok(()) } else { problem(path, text()) }
}

fn at_least_one(value: u64, path: &[&str]) -> Result<(), Problem> {
    require(value > 0, path, || "must not be 0".into())
}

fn in_range(value: f64, low: f64, high: f64, path: &[&str]) -> Result<(), Problem> {
    require(value >= low && value <= high, path, || {
        format!("{value} is not between {low} and {high}")
    })
}

fn divides(whole: ByteSize, part: ByteSize, path: &[&str], part_name: &str) -> Result<(), Problem> {
    at_least_one(whole.0, path)?;
    require(part.0 > 0 && whole.0.is_multiple_of(part.0), path, || {
        format!("{} is not a multiple of {part_name}, {}", Bytes(whole.0), Bytes(part.0))
    })
}

/// Checks that there is exactly one model, with the tables that it needs.
fn models(spec: &Spec) -> Result<(), Problem> {
    let given: Vec<&str> = [
        ("log_block", spec.log_block.is_some()),
        ("page_mapped", spec.page_mapped.is_some()),
        ("disk", spec.disk.is_some()),
    ]
    .into_iter()
    .filter_map(|(name, given)| given.then_some(name))
    .collect();
    match given.as_slice() {
        [] => {
            return problem(
                &["medium"],
                "one of the tables [log_block], [page_mapped] and [disk] must say how the medium works",
            );
        }
        [_] => {}
        [_, second, ..] => {
            return problem(
                &[second],
                format!("a medium is one of {}, not several", given.join(" and ")),
            );
        }
    }
    let flash = spec.disk.is_none();
    for (name, there) in [("read", spec.read.is_some()), ("write", spec.write.is_some())] {
        require(!flash || there, &[given[0]], || {
            format!("a [{name}] table must say what a {name} takes")
        })?;
        require(flash || !there, &[name], || {
            "a [disk] says itself what reads and writes take".into()
        })?;
    }
    Ok(())
}

fn medium(spec: &Spec) -> Result<(), Problem> {
    let medium = &spec.medium;
    let block = medium.logical_block;
    require(
        block.0.is_power_of_two() && (512..=65536).contains(&block.0),
        &["medium", "logical_block"],
        || format!("{} is not a power of two from 512 B to 64 KiB", Bytes(block.0)),
    )?;
    divides(medium.capacity, block, &["medium", "capacity"], "medium.logical_block")?;
    require(medium.capacity.0 <= LARGEST, &["medium", "capacity"], || {
        format!("{} is more than {}", Bytes(medium.capacity.0), Bytes(LARGEST))
    })?;
    if let Some(max) = medium.max_transfer {
        divides(max, block, &["medium", "max_transfer"], "medium.logical_block")?;
    }
    let queue = &spec.queue;
    in_range(f64::from(queue.depth), 1.0, 1024.0, &["queue", "depth"])?;
    in_range(f64::from(queue.channels), 1.0, 64.0, &["queue", "channels"])?;
    require(queue.channels <= queue.depth, &["queue", "channels"], || {
        format!(
            "{} channels are never all busy with a queue depth of {}",
            queue.channels, queue.depth
        )
    })
}

fn flash(spec: &Spec) -> Result<(), Problem> {
    let Some(write) = &spec.write else { return Ok(()) };
    let unit = write.unit;
    divides(unit, spec.medium.logical_block, &["write", "unit"], "medium.logical_block")?;
    if let Some(ftl) = &spec.log_block {
        divides(ftl.au, unit, &["log_block", "au"], "write.unit")?;
        divides(spec.medium.capacity, ftl.au, &["medium", "capacity"], "log_block.au")?;
        in_range(f64::from(ftl.open_aus), 1.0, 64.0, &["log_block", "open_aus"])?;
        in_range(ftl.log_merges, 0.0, 16.0, &["log_block", "log_merges"])?;
        if let Some(bypass) = &ftl.bypass {
            at_least_one(bypass.up_to.0, &["log_block", "bypass", "up_to"])?;
            require(bypass.up_to < ftl.au, &["log_block", "bypass", "up_to"], || {
                "up_to must be less than an allocation unit (au)".into()
            })?;
        }
        if let Some(front) = &ftl.front {
            in_range(front.rate_factor, 0.01, 100.0, &["log_block", "front", "rate_factor"])?;
        }
    }
    if let Some(ftl) = &spec.page_mapped {
        for (index, stage) in ftl.stages.iter().enumerate() {
            at_least_one(stage.size.0, &["page_mapped", "stages", &index.to_string(), "size"])?;
        }
    }
    Ok(())
}

fn disk(spec: &Spec) -> Result<(), Problem> {
    let Some(disk) = &spec.disk else { return Ok(()) };
    in_range(disk.rpm, 60.0, 60_000.0, &["disk", "rpm"])?;
    require(disk.rate_inner <= disk.rate_outer, &["disk", "rate_inner"], || {
        "a disk is not faster inside than outside".into()
    })
}

fn layers(spec: &Spec) -> Result<(), Problem> {
    in_range(spec.jitter.sigma, 0.0, 3.0, &["jitter", "sigma"])?;
    in_range(spec.jitter.tail_share, 0.0, 0.5, &["jitter", "tail_share"])?;
    in_range(spec.jitter.tail_factor, 1.0, 1e4, &["jitter", "tail_factor"])?;
    if let Some(fake) = &spec.fake {
        let announced = spec.medium.capacity;
        divides(fake.real, spec.medium.logical_block, &["fake", "real"], "medium.logical_block")?;
        require(fake.real < announced, &["fake", "real"], || {
            format!("{} are not less than the announced {}", Bytes(fake.real.0), Bytes(announced.0))
        })?;
        if let Some(module) = fake.module {
            divides(
                module,
                spec.medium.logical_block,
                &["fake", "module"],
                "medium.logical_block",
            )?;
            require(module >= fake.real && module < announced, &["fake", "module"], || {
                "must lie between fake.real (wraparound) and the announced size (chain)".into()
            })?;
        }
    }
    if let Some(cache) = &spec.cache {
        at_least_one(cache.size.0, &["cache", "size"])?;
    }
    if let Some(heat) = &spec.heat {
        require(
            heat.ambient < heat.resume && heat.resume < heat.limit,
            &["heat", "resume"],
            || "must lie between heat.ambient and heat.limit".into(),
        )?;
        in_range(heat.slowdown, 1.0, 1000.0, &["heat", "slowdown"])?;
        require(heat.cooling.0 > 0.0, &["heat", "cooling"], || "must not be 0".into())?;
        require(heat.per_gib >= 0.0 && heat.per_minute >= 0.0, &["heat"], || {
            "work does not cool a medium".into()
        })?;
    }
    if let Some(wear) = &spec.wear {
        divides(wear.block, spec.medium.logical_block, &["wear", "block"], "medium.logical_block")?;
        in_range(wear.bad_share, 0.0, 1.0, &["wear", "bad_share"])?;
        in_range(wear.weak_share, 0.0, 1.0, &["wear", "weak_share"])?;
        if let Some(every) = wear.slower_every {
            at_least_one(every.0, &["wear", "slower_every"])?;
        }
    }
    Ok(())
}

fn check_fault(index: usize, fault: &FaultSpec, capacity: ByteSize) -> Result<(), Problem> {
    let index = index.to_string();
    let at = |key| ["fault", &index, key];
    let begins = [fault.after.is_some(), fault.after_ops.is_some(), fault.after_written.is_some()];
    require(begins.iter().filter(|given| **given).count() <= 1, &["fault", &index], || {
        "begins at one moment: give one of after, after_ops and after_written".into()
    })?;
    let end = fault.offset.unwrap_or_default().0.checked_add(fault.size.map_or(0, |size| size.0));
    require(end.is_some_and(|end| end <= capacity.0), &at("offset"), || {
        "lies beyond the end of the medium".into()
    })?;
    let hangs = fault.kind == FaultKind::Hang;
    let lasting = hangs || matches!(fault.kind, FaultKind::Vanish | FaultKind::PowerCut);
    let failing = hangs || fault.kind == FaultKind::MediumError;
    let silent = matches!(fault.kind, FaultKind::Corruption | FaultKind::LostWrite);
    let ranged = failing || silent;
    for (key, given, belongs) in [
        ("lasts", fault.lasts.is_some(), lasting),
        ("offset", fault.offset.is_some(), ranged),
        ("size", fault.size.is_some(), ranged),
        ("direction", fault.direction.is_some(), failing),
        ("times", fault.times.is_some(), failing),
        ("share", fault.share.is_some(), silent),
    ] {
        require(!given || belongs, &at(key), || "means nothing for this kind of fault".into())?;
    }
    require(!hangs || fault.lasts.is_some(), &["fault", &index], || {
        "a hang must say how long it lasts".into()
    })?;
    in_range(fault.share.unwrap_or(1.0), 0.0, 1.0, &at("share"))
}
