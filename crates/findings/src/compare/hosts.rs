//! What differs about the hosts and the runs of several media and could explain a difference
//! between them (docs/field/identity.md#host-facts).

use record::Record;

use super::Group;

/// A fact of a record that may move its numbers, by name.
type Fact = (&'static str, fn(&Record) -> Option<String>);

const FACTS: [Fact; 15] = [
    ("the suite", |record| Some(record.run.suite.clone()).filter(|name| !name.is_empty())),
    ("the version of the program", |record| {
        Some(record.run.software.version.clone()).filter(|version| !version.is_empty())
    }),
    ("the kind of target", |record| Some(format!("{:?}", record.target.kind).to_lowercase())),
    ("the file system", |record| record.target.filesystem.as_ref()?.kind.clone()),
    ("the link to the medium", |record| record.target.link.as_ref()?.mode.clone()),
    ("the driver", |record| record.target.link.as_ref()?.driver.clone()),
    ("the command queue", |record| {
        record
            .target
            .link
            .as_ref()?
            .command_queue
            .map(|on| if on { "on".into() } else { "off".into() })
    }),
    ("a reader in between", |record| {
        record.medium.behind_reader.map(|yes| if yes { "yes".into() } else { "no".into() })
    }),
    ("the scheduler", |record| record.target.queue.as_ref()?.scheduler.clone()),
    ("the engine", |record| record.target.engine.clone()),
    ("the board", |record| record.host.as_ref()?.board.clone()),
    ("the processor", |record| record.host.as_ref()?.cpu.clone()),
    ("the frequency governor", |record| record.host.as_ref()?.governor.clone()),
    ("the kernel", |record| record.host.as_ref()?.kernel.clone()),
    ("virtualisation", |record| record.host.as_ref()?.virtualised.clone()),
];

/// One sentence for each fact that is not the same in all records, with what it is for which
/// medium.
pub(super) fn differences(groups: &[Group]) -> Vec<String> {
    FACTS.iter().filter_map(|(name, fact)| difference(groups, name, *fact)).collect()
}

fn difference(groups: &[Group], name: &str, fact: fn(&Record) -> Option<String>) -> Option<String> {
    let known = |group: &Group| {
        let mut values: Vec<String> = group
            .records
            .iter()
            .map(|record| fact(record).unwrap_or_else(|| "not known".into()))
            .collect();
        values.sort();
        values.dedup();
        values
    };
    let all: Vec<(String, Vec<String>)> =
        groups.iter().map(|group| (group.name.clone(), known(group))).collect();
    let first = all.first()?.1.clone();
    let differs = all.iter().any(|(_, values)| values.len() > 1 || *values != first);
    let told = all
        .iter()
        .map(|(medium, values)| format!("{medium}: {}", values.join(" and ")))
        .collect::<Vec<_>>()
        .join("; ");
    differs.then(|| format!("{name} differs ({told})"))
}
