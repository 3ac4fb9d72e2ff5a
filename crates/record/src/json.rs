//! JSON of the record's types. They are decoded and encoded here alone: each crate that called
//! serde_json with one of them would compile all of them again.

use serde_json::Value;

use crate::collection::{CollectionLine, CollectionRun};
use crate::{
    Cell, Finding, Flag, JournalEntry, Opening, PlannedCell, Published, Record, Skip, Summary,
};

macro_rules! encoded {
    ($($of:ty)*) => {$(
        impl $of {
            /// Its JSON on one line.
            pub fn encode(&self) -> String {
                serde_json::to_string(self).expect("it has only text for keys")
            }

            /// Its JSON as a member of other JSON.
            pub fn json(&self) -> Value {
                serde_json::from_str(&self.encode()).expect("what was written is read")
            }
        }
    )*};
}
encoded!(Record Published CollectionRun CollectionLine);
encoded!(Opening JournalEntry Cell PlannedCell Skip Flag Finding Summary);

macro_rules! decoded {
    ($($of:ty)*) => {$(
        impl $of {
            /// Decodes it from JSON.
            ///
            /// # Errors
            /// The text is not JSON of this form.
            pub fn decode(json: &str) -> Result<Self, serde_json::Error> {
                serde_json::from_str(json)
            }
        }
    )*};
}
decoded!(Record Published Opening JournalEntry PlannedCell Summary);

impl Record {
    /// Text form: indented JSON with a final newline, the same bytes for the same record.
    pub fn to_json(&self) -> String {
        indented(&self.encode()) + "\n"
    }
}

/// The same JSON with a line for each value, as `serde_json::to_string_pretty` writes it.
pub fn indented(json: &str) -> String {
    let mut out = String::with_capacity(2 * json.len());
    let (mut depth, mut is_text, mut last) = (0, false, ' ');
    for sign in json.chars() {
        if is_text {
            is_text = sign != '"' || last == '\\';
            last = if last == '\\' { ' ' } else { sign };
            out.push(sign);
            continue;
        }
        let (is_first, closes) = (matches!(last, '{' | '['), matches!(sign, '}' | ']'));
        depth -= usize::from(closes);
        if is_first != closes || last == ',' {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        }
        depth += usize::from(matches!(sign, '{' | '['));
        out.push(sign);
        out.extend((sign == ':').then_some(' '));
        (is_text, last) = (sign == '"', sign);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_as_serde_does_it() {
        for json in [
            r#"{"a":[],"b":{},"c":[{}],"d":[1,[2.5e-7,null]],"e":{"f":"{\"[,:\\"},"\\\"":""}"#,
            r#"[]"#,
            r#"7"#,
            r#""é\\""#,
            include_str!("../../../fixtures/records/flashmark-0.1.0-sim.json"),
        ] {
            let value: Value = serde_json::from_str(json).unwrap();
            assert_eq!(indented(&value.to_string()), serde_json::to_string_pretty(&value).unwrap());
        }
    }
}
