//! The profiles that come with the program.

use std::sync::LazyLock;

use record::alike::closest;

use super::Profile;

macro_rules! profiles {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../profiles/", $name, ".toml")))),*]
    };
}

/// Names and texts, in the order in which they are listed.
const TEXTS: &[(&str, &str)] = profiles! {
    "cf-lexar-300x" "cf-kingston-266x" "cf-sandisk-ultra"
    "sd-class4" "sd-worst" "class6" "class10" "class10-bypass" "a1" "a2" "a2-cq"
    "usb2-voyager" "usb2-kingston" "usb2-cruzer" "usb3-extreme" "usb3-modern" "emmc" "ssd" "ssd-pslc" "throttler"
    "disk-5400" "disk-7200" "disk-10k"
    "fake-wrap" "fake-limbo" "chain" "span-cheat-16" "span-cheat-64" "span-cheat-128" "zero-cheat"
    "flush-liar" "worn"
};

static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    TEXTS
        .iter()
        .map(|(name, text)| {
            Profile::parse(name, text)
                .expect("a test reads every profile that comes with the program")
        })
        .collect()
});

impl Profile {
    /// Every profile that comes with the program, cards first.
    pub fn all() -> &'static [Profile] {
        &PROFILES
    }

    /// The text of a profile that comes with the program, to show or to copy.
    pub fn text(name: &str) -> Option<&'static str> {
        let profile = Profile::builtin(name)?;
        TEXTS.iter().find(|(name, _)| *name == profile.name).map(|(_, text)| *text)
    }

    /// The profile of this name or alias.
    pub fn builtin(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|profile| {
            profile.name == name || profile.spec.aliases.iter().any(|alias| alias == name)
        })
    }

    /// Up to three names that may have been meant by one that does not exist, the closest first.
    pub fn closest(name: &str) -> Vec<&'static str> {
        closest(name, PROFILES.iter().map(|profile| profile.name.as_str()))
    }
}
