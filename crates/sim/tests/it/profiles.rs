//! Test of profiles as people write them: found by name, and refused with file, line and key.

use device::{Device, Request};
use flashmark_sim::{Profile, SimDevice, SimOptions};

const GOOD: &str = r#"about = "a card"
source = "test"
guesses = "none"
[medium]
capacity = "4 GiB"
[read]
command = "0.8 ms"
rate = "20 MB/s"
[write]
command = "0.8 ms"
rate = "9.2 MB/s"
unit = "16 KiB"
[log_block]
au = "4 MiB"
open_aus = 3
copy_rate = "11.6 MB/s"
erase = "4 ms"
"#;

fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    Profile::parse("cards/mine.toml", &GOOD.replace(from, to)).expect_err("it is bad").to_string()
}

/// The same with tables after the last line.
fn refused_with(tables: &str) -> String {
    let last = "erase = \"4 ms\"";
    refused(last, &format!("{last}\n{tables}"))
}

#[test]
fn what_is_wrong_is_named_with_file_line_and_key() {
    let all = [
        refused("[log_block]", "[log_block]\nopen_au = 3"),
        refused("au = \"4 MiB\"\n", ""),
        refused("au = \"4 MiB\"", "au = \"4 MB\""),
        refused("capacity = \"4 GiB\"", "capacity = \"4 GB\""),
        refused("\"9.2 MB/s\"", "\"9.2 MB\""),
        refused("\"20 MB/s\"", "\"0 MB/s\""),
        refused("\"4 ms\"", "4"),
        refused("\"4 GiB\"", "\"4kk\""),
        refused("open_aus = 3", "open_aus = 0"),
        refused("open_aus = 3", "open_aus = -1"),
        refused("[log_block]", "[page_mapped]\n[log_block]"),
        refused("[read]\ncommand = \"0.8 ms\"\nrate = \"20 MB/s\"\n", ""),
        refused("[read]", "[read"),
        refused_with("[queue]\ndepth = 1\nchannels = 4"),
        refused_with("[fake]\nreal = \"8 GiB\""),
        refused_with(
            "[[fault]]\nkind = \"hang\"\n[[fault]]\nkind = \"read-only\"\nlasts = \"1 s\"",
        ),
        refused_with(
            "[[fault]]\nkind = \"read-only\"\n[[fault]]\nkind = \"read-only\"\nlasts = \"1 s\"",
        ),
        refused_with("[[fault]]\nkind = \"explodes\""),
        refused_with(
            "[heat]\nambient = 30.0\nlimit = 60.0\nresume = 70.0\ncooling = \"1 s\"\nslowdown = 2.0",
        ),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    cards/mine.toml, line 14: log_block.open_au: unknown field `open_au`, expected one of `au`, `open_aus`, `copy_rate`, `erase`, `log_merges`, `page_buffer`, `fills_gaps`, `bypass`, `front`
    cards/mine.toml, line 13: log_block: missing field `au`
    cards/mine.toml, line 14: log_block.au: 4.00 MB is not a multiple of write.unit, 16 KiB
    cards/mine.toml, line 5: medium.capacity: 4.00 GB is not a multiple of log_block.au, 4 MiB
    cards/mine.toml, line 11: write.rate: '9.2 MB' is not a rate; write a number with kB/s, MB/s, GB/s or MiB/s, for example "9.2 MB/s"
    cards/mine.toml, line 8: read.rate: '0 MB/s' is under 1 kB/s, which would hardly end
    cards/mine.toml, line 17: log_block.erase: invalid type: integer `4`, expected a time as text with its unit, for example "0.8 ms"
    cards/mine.toml, line 5: medium.capacity: '4kk' is not a size; write a number with B, KiB, MiB, GiB (binary) or kB, MB, GB (decimal), for example 4KiB or 32GB
    cards/mine.toml, line 15: log_block.open_aus: 0 is not between 1 and 64
    cards/mine.toml, line 15: log_block.open_aus: invalid value: integer `-1`, expected u32
    cards/mine.toml, line 13: page_mapped: a medium is one of log_block and page_mapped, not several
    cards/mine.toml, line 10: log_block: a [read] table must say what a read takes
    cards/mine.toml, line 6: unclosed table, expected `]`
    cards/mine.toml, line 20: queue.channels: 4 channels are never all busy with a queue depth of 1
    cards/mine.toml, line 19: fake.real: 8 GiB are not less than the announced 4 GiB
    cards/mine.toml, line 18: fault.0: a hang must say how long it lasts
    cards/mine.toml, line 22: fault.1.lasts: means nothing for this kind of fault
    cards/mine.toml, line 19: fault.kind: unknown variant `explodes`, expected one of `medium-error`, `hang`, `vanish`, `corruption`, `lost-write`, `power-cut`, `read-only`
    cards/mine.toml, line 21: heat.resume: must lie between heat.ambient and heat.limit
    "#);
}

proptest::proptest! {
    /// A profile with any change is read or refused with a line that exists; one that is read can
    /// be used.
    #[test]
    fn a_damaged_one_is_read_or_refused(at in 0..GOOD.len(), gone in 0usize..12, put in "[0-9a-z\"=.\\[\\] \n-]{0,8}") {
        let mut text = GOOD.to_owned();
        text.replace_range(at..(at + gone).min(GOOD.len()), &put);
        match Profile::parse("x.toml", &text) {
            Ok(profile) => {
                let mut device = SimDevice::new(&profile, SimOptions::default());
                device.prepare(1, 1 << 20).unwrap();
                let block = device.facts().logical_block_bytes;
                for offset in [0, device.facts().capacity_bytes - block] {
                    device.submit(Request::write(0, offset, block)).unwrap();
                    device.reap(1, &mut Vec::new()).unwrap();
                }
            }
            Err(error) => assert!((1..=text.lines().count() + 1).contains(&error.line), "{error}"),
        }
    }
}

#[test]
fn a_good_one_keeps_its_words() {
    let profile = Profile::parse("cards/mine.toml", GOOD).unwrap();
    assert_eq!(
        (profile.name(), profile.about(), profile.au_bytes(), profile.capacity_bytes()),
        ("mine", "a card", Some(4 << 20), 4 << 30)
    );
}

/// Numbers of docs/field/ftl.md#profiles and other names, each with the profile that it means.
const ALIASES: &str = "1=cf-lexar-300x 2=cf-kingston-266x 2b=cf-sandisk-ultra 3=sd-class4 3b=sd-worst 4=class6 \
    5=class10 5b=class10-bypass 6=a1 7=a2 7cq=a2-cq 8=usb2-voyager 8b=usb2-kingston \
    9=usb3-extreme 10=emmc 11=ssd 11pslc=ssd-pslc 12=disk-5400 13=disk-10k 14=fake-wrap \
    14limbo=fake-limbo span-cheat=span-cheat-64 a1=a1";

#[test]
fn profiles_are_found_by_name_and_by_number() {
    for (alias, name) in ALIASES.split(' ').filter_map(|pair| pair.split_once('=')) {
        assert_eq!(Profile::builtin(alias).map(Profile::name), Some(name), "{alias}");
    }
}

#[test]
fn names_and_aliases_are_unique_and_every_profile_has_its_source() {
    let mut names: Vec<&str> = Profile::all()
        .iter()
        .flat_map(|p| std::iter::once(p.name()).chain(p.aliases().iter().map(String::as_str)))
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    for profile in Profile::all() {
        let (about, name) = (profile.about(), profile.name());
        assert!(
            profile.source().contains("docs/field/") && !profile.guesses().is_empty(),
            "{name}"
        );
        assert!(about.len() <= 160 && !about.contains('\n'), "{name}");
    }
}

#[test]
fn a_name_that_is_none_gets_the_closest() {
    let closest = ["clas10", "disk", "A1", "limbo", "nothing-like-it"]
        .map(|name| format!("{name}: {}", Profile::closest(name).join(" ")).trim_end().to_owned());
    insta::assert_snapshot!(closest.join("\n"), @r"
    clas10: class10 class6
    disk: disk-5400 disk-7200 disk-10k
    A1: a1 a2
    limbo: fake-limbo
    nothing-like-it:
    ");
}
