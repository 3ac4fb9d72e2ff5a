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

#[test]
fn what_is_wrong_is_named_with_file_line_and_key() {
    let refused = |change: &str| {
        let change = change.replace("\\n", "\n");
        let text = match change.strip_prefix("+ ") {
            Some(tables) => format!("{GOOD}{tables}"),
            None => {
                let (from, to) = change.split_once(" -> ").unwrap();
                assert!(GOOD.contains(from), "{from}");
                GOOD.replace(from, to)
            }
        };
        Profile::parse("cards/mine.toml", &text).expect_err("it is bad").to_string()
    };
    crate::cases::check_rows("tests/it/refused.txt", refused);
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
