//! Settings of a test as the fields of a struct: a test cannot read one that it does not have.

use std::fmt::Display;
use std::marker::PhantomData;
use std::str::FromStr;

use record::units::Bytes;
use record::{Content, Region};

use crate::settings::{GivenSetting, Setting, SettingError, TestSettings};

/// The largest block in bytes: published results of dd have blocks of 100 MiB.
const MAX_BLOCK_BYTES: u64 = 128 << 20;

/// All settings of a test.
pub trait TypedSettings: Sized {
    /// All settings, with the published values.
    const LIST: &'static [Setting];
    /// Reads all of them. An `Err` names the first with an invalid value.
    fn read(settings: &TestSettings) -> Result<Self, SettingError>;
}

impl GivenSetting<'_> {
    fn text(&self) -> &str {
        self.value.as_typed().unwrap_or_default().trim()
    }

    fn parse<T: FromStr<Err: Display>>(&self) -> Result<T, String> {
        self.text().parse().map_err(|error: T::Err| error.to_string())
    }

    fn count<T: FromStr + PartialOrd + Default>(&self) -> Result<T, String> {
        let count = self.text().parse().ok().filter(|count| *count > T::default());
        count.ok_or_else(|| format!("'{}' is not a whole number of at least 1", self.text()))
    }
}

/// Kind of a setting: the values that can be typed, and their type.
pub trait Kind {
    /// The value that a test gets.
    type Value;
    /// Reads a setting; `words` are the choices, if it is a word.
    ///
    /// # Errors
    /// The problem and the valid values.
    fn read(given: GivenSetting<'_>, words: &[&'static str]) -> Result<Self::Value, String>;
}

/// Reads the setting of this name; `words` are the choices, if it is a word.
///
/// # Errors
/// It has an invalid value.
pub fn read_setting<K: Kind>(
    settings: &TestSettings,
    name: &str,
    words: &[&'static str],
) -> Result<K::Value, SettingError> {
    K::read(settings.given(name), words).map_err(|reason| settings.bad(name, reason))
}

/// Several of a kind, separated by commas.
pub struct List<K>(PhantomData<K>);

impl<K: Kind> Kind for List<K> {
    type Value = Vec<K::Value>;

    fn read(given: GivenSetting<'_>, words: &[&'static str]) -> Result<Self::Value, String> {
        let item =
            |text: &str| K::read(GivenSetting { value: &text.trim().into(), ..given }, words);
        given.text().split(',').map(item).collect()
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $(, of several $list:ident)?: $value:ty = |$given:ident, $words:pat_param| $read:expr;)*) => {$(
        $(#[$doc])*
        pub enum $kind {}

        $(/// Several of these.
        pub type $list = List<$kind>;)?

        impl Kind for $kind {
            type Value = $value;
            fn read($given: GivenSetting<'_>, $words: &[&'static str]) -> Result<$value, String> {
                $read
            }
        }
    )*};
}

kinds! {
    /// An offset in bytes.
    Place: u64 = |given, _| given.parse::<Bytes>().map(|bytes| bytes.0);
    /// A size in bytes, never 0.
    Size, of several Sizes: u64 = |given, words| match Place::read(given, words)? {
        0 => Err("must be more than 0".to_owned()),
        bytes => Ok(bytes),
    };
    /// A block size in bytes: a multiple of 512, up to 128 MiB.
    Block, of several Blocks: u64 = |given, words| match Size::read(given, words)? {
        block if block % 512 == 0 && block <= MAX_BLOCK_BYTES => Ok(block),
        block => Err(format!("{block} bytes is no block: use a multiple of 512 bytes up to 128 MiB")),
    };
    /// Part of the medium: as large as there is room, or as a user chose.
    Span, of several Spans: WantedSpan = |given, words| {
        Ok(WantedSpan { bytes: Size::read(given, words)?, is_asked: given.is_asked })
    };
    /// A duration in nanoseconds.
    Time: u64 = |given, _| given.value.duration_ns();
    /// A whole number of at least 1.
    Count: u64 = |given, _| given.count();
    /// The same, of things of which there are few.
    Few, of several Counts: u32 = |given, _| given.count();
    /// A share between 0 and 1.
    Share: f64 = |given, _| given.value.share();
    /// Yes or no.
    YesNo: bool = |given, _| Ok(Word::read(given, &["yes", "no"])? == "yes");
    /// A kind of data.
    Data, of several DataKinds: Content = |given, _| content(given.text());
    /// One of some words.
    Word, of several Words: &'static str = |given, words| {
        let text = given.text();
        let found = words.iter().find(|word| **word == text).copied();
        found.ok_or_else(|| format!("'{text}' is not one of {}", words.join(", ")))
    };
    /// Any text.
    Text: String = |given, _| Ok(given.text().to_owned());
    /// A region, one of `words`.
    RegionWord, of several RegionWords: Region = |given, words| {
        Ok(match Word::read(given, words)? {
            "front" => Region::Front,
            "whole" => Region::Whole,
            _ => Region::Middle,
        })
    };
}

fn content(text: &str) -> Result<Content, String> {
    let number = |text: &str| text.trim_end_matches('%').parse::<u8>().ok();
    let found = match text.split_once(':') {
        None if text == "zeros" => Some(Content::Zeros),
        None if text == "repeated" => Some(Content::Repeated),
        None if text == "incompressible" => Some(Content::Incompressible),
        Some(("byte", value)) => number(value).map(Content::Byte),
        Some(("compressible", percent)) => {
            number(percent).filter(|p| *p <= 100).map(Content::Compressible)
        }
        _ => None,
    };
    found.ok_or_else(|| {
        format!("'{text}' is not one of zeros, repeated, incompressible, byte:0..255, compressible:0..100%")
    })
}

/// A span that is set by its size.
#[derive(Clone, Copy, Debug)]
pub struct WantedSpan {
    /// Its size in bytes.
    pub bytes: u64,
    /// True if a user chose it: then it is not reduced to the room that there is.
    pub is_asked: bool,
}

impl WantedSpan {
    /// The whole region, in place of this size.
    pub fn all(self) -> WantedSpan {
        WantedSpan { bytes: u64::MAX, ..self }
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
                    $($field: $crate::typed_settings::read_setting::<$crate::typed_settings::$kind>(
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
