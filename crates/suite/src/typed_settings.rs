//! Settings of a test as the fields of a struct: a test cannot read one that it does not have.

use device::Extent;
use record::{Content, Region};

use crate::{Setting, SettingError, TargetInfo, TestSettings};

/// All settings of a test.
pub trait TypedSettings: Sized {
    /// All settings, with the published values.
    const LIST: &'static [Setting];
    /// Reads all of them. An `Err` names the first with an invalid value.
    fn read(settings: &TestSettings) -> Result<Self, SettingError>;
}

/// Kind of a setting: the values that can be typed, and their type.
pub trait Kind {
    /// The value that a test gets.
    type Value;
    /// Reads the setting of this name; `words` are the choices, if it is a word.
    fn read(
        settings: &TestSettings,
        name: &str,
        words: &[&'static str],
    ) -> Result<Self::Value, SettingError>;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident: $value:ty = |$settings:ident, $name:ident, $words:pat_param| $read:expr;)*) => {$(
        $(#[$doc])*
        pub enum $kind {}

        impl Kind for $kind {
            type Value = $value;
            fn read(
                $settings: &TestSettings,
                $name: &str,
                $words: &[&'static str],
            ) -> Result<$value, SettingError> {
                $read
            }
        }
    )*};
}

kinds! {
    /// A block size, in bytes.
    Block: u64 = |settings, name, _| settings.block(name);
    /// Block sizes, in bytes.
    Blocks: Vec<u64> = |settings, name, _| settings.blocks(name);
    /// A size in bytes, never 0.
    Size: u64 = |settings, name, _| settings.size(name);
    /// Sizes in bytes, none of them 0.
    Sizes: Vec<u64> = |settings, name, _| settings.sizes(name);
    /// An offset in bytes.
    Place: u64 = |settings, name, _| settings.place(name);
    /// Offsets in bytes.
    Places: Vec<u64> = |settings, name, _| settings.places(name);
    /// Part of the medium: as large as there is room, or as a user chose.
    Span: WantedSpan = |settings, name, _| settings.size(name).map(|bytes| WantedSpan::new(bytes, settings));
    /// Several parts of the medium.
    Spans: Vec<WantedSpan> = |settings, name, _| {
        let sizes = settings.sizes(name)?;
        Ok(sizes.into_iter().map(|bytes| WantedSpan::new(bytes, settings)).collect())
    };
    /// A duration in nanoseconds.
    Time: u64 = |settings, name, _| settings.duration_ns(name);
    /// A whole number of at least 1.
    Count: u64 = |settings, name, _| settings.count(name);
    /// Whole numbers of at least 1.
    Counts: Vec<u32> = |settings, name, _| settings.counts(name);
    /// A share between 0 and 1.
    Share: f64 = |settings, name, _| settings.share(name);
    /// Yes or no.
    YesNo: bool = |settings, name, _| settings.yes(name);
    /// A kind of data.
    Data: Content = |settings, name, _| settings.content(name);
    /// Kinds of data.
    DataKinds: Vec<Content> = |settings, name, _| settings.contents(name);
    /// One of some words.
    Word: &'static str = |settings, name, words| settings.choice(name, words);
    /// Some of some words.
    Words: Vec<&'static str> = |settings, name, words| settings.choices(name, words);
    /// Any text.
    Text: String = |settings, name, _| Ok(settings.text(name).to_owned());
    /// A region, one of `words`.
    RegionWord: Region = |settings, name, words| settings.choice(name, words).map(region_of);
    /// Regions, some of `words`.
    RegionWords: Vec<Region> = |settings, name, words| {
        Ok(settings.choices(name, words)?.into_iter().map(region_of).collect())
    };
}

fn region_of(word: &str) -> Region {
    match word {
        "front" => Region::Front,
        "whole" => Region::Whole,
        _ => Region::Middle,
    }
}

/// A span that is set by its size.
#[derive(Clone, Debug)]
pub struct WantedSpan {
    /// Its size in bytes.
    pub bytes: u64,
    settings: TestSettings,
}

impl WantedSpan {
    fn new(bytes: u64, settings: &TestSettings) -> WantedSpan {
        WantedSpan { bytes, settings: settings.clone() }
    }

    /// The whole region, in place of this size.
    pub fn all(&self) -> WantedSpan {
        WantedSpan { bytes: u64::MAX, ..self.clone() }
    }

    /// The range of this size in the region, or the reason why there is none; as
    /// [`TestSettings::range`].
    pub fn within(
        &self,
        target: &TargetInfo,
        region: Region,
    ) -> Result<Result<Extent, String>, SettingError> {
        self.settings.range(target, region, self.bytes)
    }
}

/// Defines the settings of a test, one per line: name, kind (with the words to choose from),
/// published value, and description.
#[macro_export]
macro_rules! settings {
    ($name:ident { $($field:ident: $kind:ident $(($words:expr))? = $default:literal, $about:literal;)* }) => {
        /// The settings of the test.
        pub struct $name {
            $(#[doc = $about]
            pub $field: <$crate::typed_settings::$kind as $crate::typed_settings::Kind>::Value,)*
        }

        impl $crate::typed_settings::TypedSettings for $name {
            const LIST: &'static [$crate::Setting] = &[$($crate::Setting {
                name: stringify!($field),
                default: $default,
                about: $about,
            }),*];
            fn read(settings: &$crate::TestSettings) -> Result<$name, $crate::SettingError> {
                Ok($name {
                    $($field: <$crate::typed_settings::$kind as $crate::typed_settings::Kind>::read(
                        settings,
                        stringify!($field),
                        None $(.or(Some(&$words[..])))?.unwrap_or_default(),
                    )?,)*
                })
            }
        }
    };
}
pub use settings;
