//! Check that all numbers of a value are finite. JSON has no infinity: it would be written as null,
//! and could not be read back. Parsing the JSON to find out would take as long as all the rest of
//! storing a run.

use std::fmt;

use serde::Serialize;
use serde::ser;

/// A number is not finite; with its path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotFinite(String);

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotFinite {}

impl ser::Error for NotFinite {
    fn custom<T: fmt::Display>(message: T) -> NotFinite {
        NotFinite(message.to_string())
    }
}

/// Returns an error for the first number that is not finite.
pub(super) fn check(value: &impl Serialize) -> Result<(), NotFinite> {
    value.serialize(FiniteCheck)
}

/// Serializer that visits a value and writes nothing.
#[derive(Clone, Copy)]
struct FiniteCheck;

type CheckResult = Result<(), NotFinite>;

macro_rules! nothing_to_see {
    ($($name:ident($kind:ty),)*) => {
        $(fn $name(self, _: $kind) -> CheckResult {
            Ok(())
        })*
    };
}

impl ser::Serializer for FiniteCheck {
    type Ok = ();
    type Error = NotFinite;
    type SerializeSeq = FiniteCheck;
    type SerializeTuple = FiniteCheck;
    type SerializeTupleStruct = FiniteCheck;
    type SerializeTupleVariant = FiniteCheck;
    type SerializeMap = FiniteCheck;
    type SerializeStruct = FiniteCheck;
    type SerializeStructVariant = FiniteCheck;

    nothing_to_see! {
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_char(char),
        serialize_str(&str),
        serialize_bytes(&[u8]),
        serialize_unit_struct(&'static str),
    }

    fn serialize_f32(self, number: f32) -> CheckResult {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> CheckResult {
        if number.is_finite() {
            Ok(())
        } else {
            Err(NotFinite(format!("a number in it is {number}")))
        }
    }

    fn serialize_none(self) -> CheckResult {
        Ok(())
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> CheckResult {
        value.serialize(self)
    }

    fn serialize_unit(self) -> CheckResult {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> CheckResult {
        Ok(())
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> CheckResult {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> CheckResult {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<FiniteCheck, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<FiniteCheck, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<FiniteCheck, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<FiniteCheck, NotFinite> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<FiniteCheck, NotFinite> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<FiniteCheck, NotFinite> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<FiniteCheck, NotFinite> {
        Ok(self)
    }

    fn collect_str<T: ?Sized + fmt::Display>(self, _: &T) -> CheckResult {
        Ok(())
    }
}

macro_rules! looks_into {
    ($($kind:ident::$name:ident,)*) => {
        $(impl ser::$kind for FiniteCheck {
            type Ok = ();
            type Error = NotFinite;

            fn $name<T: ?Sized + Serialize>(&mut self, value: &T) -> CheckResult {
                value.serialize(*self)
            }

            fn end(self) -> CheckResult {
                Ok(())
            }
        })*
    };
}

looks_into! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

macro_rules! looks_into_fields {
    ($($kind:ident,)*) => {
        $(impl ser::$kind for FiniteCheck {
            type Ok = ();
            type Error = NotFinite;

            fn serialize_field<T: ?Sized + Serialize>(&mut self, _: &'static str, value: &T) -> CheckResult {
                value.serialize(*self)
            }

            fn end(self) -> CheckResult {
                Ok(())
            }
        })*
    };
}

looks_into_fields! {
    SerializeStruct,
    SerializeStructVariant,
}

impl ser::SerializeMap for FiniteCheck {
    type Ok = ();
    type Error = NotFinite;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, _: &T) -> CheckResult {
        Ok(())
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> CheckResult {
        value.serialize(*self)
    }

    fn end(self) -> CheckResult {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Serialize)]
    struct Deep {
        name: &'static str,
        point: [f64; 2],
        maybe: Option<f64>,
        kind: Kind,
        #[serde(flatten)]
        other: BTreeMap<String, f64>,
    }

    #[derive(Serialize)]
    enum Kind {
        One(f32),
        Two { x: f64 },
    }

    #[test]
    fn it_is_found_wherever_it_is() {
        let sound = || Deep {
            name: "NaN",
            point: [1.0, -1e308],
            maybe: None,
            kind: Kind::One(0.5),
            other: BTreeMap::new(),
        };
        let checked = |deep: &[Deep]| check(&deep).map_err(|error| error.to_string());
        assert_eq!(checked(&[sound(), Deep { maybe: Some(5e-324), ..sound() }]), Ok(()));
        assert_eq!(
            checked(&[sound(), Deep { point: [0.0, f64::NAN], ..sound() }]),
            Err("a number in it is NaN".to_owned())
        );
        assert_eq!(
            checked(&[Deep { maybe: Some(f64::INFINITY), ..sound() }]),
            Err("a number in it is inf".to_owned())
        );
        assert_eq!(
            checked(&[Deep { kind: Kind::One(f32::NAN), ..sound() }]),
            Err("a number in it is NaN".to_owned())
        );
        assert_eq!(
            checked(&[Deep { kind: Kind::Two { x: f64::NEG_INFINITY }, ..sound() }]),
            Err("a number in it is -inf".to_owned())
        );
        assert_eq!(
            checked(&[Deep { other: [("a".to_owned(), f64::NAN)].into(), ..sound() }]),
            Err("a number in it is NaN".to_owned())
        );
        assert_eq!(sound().name, "NaN");
    }
}
