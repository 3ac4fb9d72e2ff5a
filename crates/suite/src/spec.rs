//! The spec of a cell: typed numbers that a test plans for itself. A plan stores each under the
//! name of its field, among the parameters of the cell.

use std::collections::BTreeMap;

/// Numbers by name, as stored in a plan.
pub type Numbers = BTreeMap<String, f64>;

/// The type of a field of a spec: a number, or one that may be absent.
pub trait Number: Sized {
    /// Reads the number of a plan; `None` if it must not be absent, or has an invalid value.
    fn read(found: Option<f64>) -> Option<Self>;
    /// The number for a plan; `None` if it is absent.
    fn number(&self) -> Option<f64>;
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Number for $type {
            fn read(found: Option<f64>) -> Option<$type> {
                found.filter(|number| *number >= 0.0).map(|number| number as $type)
            }
            fn number(&self) -> Option<f64> {
                Some(*self as f64)
            }
        }
    )*};
}
whole!(u64, u32, usize);

impl Number for f64 {
    fn read(found: Option<f64>) -> Option<f64> {
        found
    }
    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Number for bool {
    fn read(found: Option<f64>) -> Option<bool> {
        found.map(|number| number != 0.0)
    }
    fn number(&self) -> Option<f64> {
        Some(f64::from(u8::from(*self)))
    }
}

impl<N: Number> Number for Option<N> {
    fn read(found: Option<f64>) -> Option<Option<N>> {
        Some(found.and_then(|number| N::read(Some(number))))
    }
    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(Number::number)
    }
}

/// The numbers that a test plans for its own cells.
pub trait CellSpec: Clone {
    /// Reads the numbers of a planned cell.
    ///
    /// # Errors
    /// The name of a missing number.
    fn read(numbers: &Numbers) -> Result<Self, &'static str>;
    /// Writes each number under its name.
    fn write(&self, numbers: &mut Numbers);
}

impl CellSpec for () {
    fn read(_: &Numbers) -> Result<(), &'static str> {
        Ok(())
    }
    fn write(&self, _: &mut Numbers) {}
}

/// Defines a spec: a struct of numbers, with at most one spec that is shared by several.
macro_rules! spec {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$about:meta])* $field:ident: $type:ty,)* $(..$part:ident: $of:ty,)? }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $($(#[$about])* pub $field: $type,)*
            $(/// Numbers that other tests have, too.
            pub $part: $of,)?
        }

        impl $crate::spec::CellSpec for $name {
            fn read(numbers: &$crate::spec::Numbers) -> Result<$name, &'static str> {
                Ok($name {
                    $($field: $crate::spec::Number::read(
                        numbers.get(stringify!($field)).copied(),
                    )
                    .ok_or(stringify!($field))?,)*
                    $($part: $crate::spec::CellSpec::read(numbers)?,)?
                })
            }
            fn write(&self, numbers: &mut $crate::spec::Numbers) {
                $(numbers.extend(
                    $crate::spec::Number::number(&self.$field)
                        .map(|number| (stringify!($field).to_owned(), number)),
                );)*
                $($crate::spec::CellSpec::write(&self.$part, numbers);)?
            }
        }

        $(impl AsRef<$of> for $name {
            fn as_ref(&self) -> &$of {
                &self.$part
            }
        })?
    };
}
pub(crate) use spec;

#[cfg(test)]
mod tests {
    use super::*;

    spec! {
        Length { ops: u64, certainty: f64, }
    }
    spec! {
        Trial { form: bool, at_most: Option<u32>, ..length: Length, }
    }

    #[test]
    fn a_spec_is_written_by_name_and_read_again() {
        let trial = Trial { form: true, at_most: None, length: Length { ops: 7, certainty: 0.05 } };
        let mut numbers = Numbers::new();
        trial.write(&mut numbers);
        assert_eq!(format!("{numbers:?}"), r#"{"certainty": 0.05, "form": 1.0, "ops": 7.0}"#);
        assert_eq!(Trial::read(&numbers), Ok(trial));
        let most = Trial { at_most: Some(3), ..trial };
        most.write(&mut numbers);
        assert_eq!(Trial::read(&numbers), Ok(most));
        numbers.remove("ops");
        assert_eq!(Trial::read(&numbers), Err("ops"));
        numbers.insert("ops".into(), -1.0);
        assert_eq!(Trial::read(&numbers), Err("ops"), "no count");
    }
}
