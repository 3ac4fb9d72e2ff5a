//! What of a run others get to see: the same for `submit`, `publish` and `export`, so that a run has
//! one name everywhere.

use record::{Published, Record};
use report::words::clean;
use serde_json::Value;

use crate::exit::{OrExit, Result, usage};
use crate::keys::KeyFile;

/// Stands where something private was.
const BLANK: &str = "[not published]";
/// Shorter than this, a private word is found in too many others.
const SHORTEST: usize = 5;

/// The published part of a record, and in how many of its texts something was blanked. A test may
/// have put a path into the words for an error, a medium its serial number into its name: wherever
/// the record's own private words occur in a text, they are blanked. What cannot be printed is taken
/// out. Keys of medium and host are added only where `keys` is given.
///
/// # Errors
/// Where a number of it is not finite.
pub fn of(record: &Record, keys: Option<&KeyFile>) -> Result<(Published, usize)> {
    let mut value = serde_json::to_value(Published::from(record)).or_internal()?;
    let private = private(record);
    let mut blanked = 0;
    each_text(&mut value, &mut |text| {
        let printable = clean(text);
        let kept =
            private.iter().fold(printable.clone(), |text, word| text.replace(word.as_str(), BLANK));
        blanked += usize::from(kept != printable);
        *text = kept;
    });
    let Ok(mut run) = serde_json::from_value::<Published>(value) else {
        return usage(
            "the record holds a number that is none (not finite), so it cannot be sent; measure again",
        );
    };
    if let Some(keys) = keys {
        keys.add(record, &mut run);
    }
    Ok((run, blanked))
}

/// Words of a record that are not published, the longest first, so that one that contains another
/// is blanked as a whole.
pub fn private(record: &Record) -> Vec<String> {
    let (medium, target) = (&record.medium, &record.target);
    let host = record.host.as_ref().and_then(|host| host.id.clone());
    let mut words: Vec<String> = [&medium.serial, &medium.cid, &target.backing, &host]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    words.extend(medium.by_id.iter().cloned());
    // A path is one where it leads somewhere; that of a device tells nothing of anyone.
    let is_path =
        |path: &&str| path.contains('/') && !path.starts_with("/dev/") && !path.starts_with("sim:");
    words.extend(Some(target.path.as_str()).filter(is_path).map(str::to_owned));
    words.extend(std::env::var("HOME").ok().filter(|home| is_path(&home.as_str())));
    words.iter_mut().for_each(|word| *word = clean(word));
    words.retain(|word| word.len() >= SHORTEST);
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words
}

/// Every text of a value; names of members are ours.
fn each_text(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(list) => list.iter_mut().for_each(|value| each_text(value, change)),
        Value::Object(members) => members.values_mut().for_each(|value| each_text(value, change)),
        _ => {}
    }
}
