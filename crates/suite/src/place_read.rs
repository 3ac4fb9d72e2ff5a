//! Reading single places of a medium.

use device::{Device, Extent, IoError, IoErrorKind, Request, do_io};

/// Data of a place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceRead {
    /// The place on the medium, in bytes.
    pub place: Extent,
    /// The data, as long as the place.
    pub data: Vec<u8>,
}

/// Reads these places; those that fail are left out.
///
/// # Errors
/// Those of a medium on which all of them fail, or an error that is not the medium's.
pub(crate) fn read_places(
    device: &mut dyn Device,
    places: &[Extent],
) -> Result<Vec<PlaceRead>, IoError> {
    Ok(read_places_until(device, places, u64::MAX)?.unwrap_or_default())
}

/// The same with a time limit by the device's clock; `None` if it is reached before the last place.
pub(crate) fn read_places_until(
    device: &mut dyn Device,
    places: &[Extent],
    until_ns: u64,
) -> Result<Option<Vec<PlaceRead>>, IoError> {
    let Some(largest_bytes) = places.iter().map(|place| place.bytes).max() else {
        return Ok(Some(Vec::new()));
    };
    device.prepare(1, largest_bytes as usize)?;
    let (mut found, mut error) = (Vec::with_capacity(places.len()), None);
    for place in places {
        if device.now() > until_ns {
            return Ok(None);
        }
        match do_io(device, Request::read(0, place.offset_bytes, place.bytes)) {
            Ok(_) => found.push(PlaceRead {
                place: *place,
                data: device.buffer(0)[..place.bytes as usize].to_vec(),
            }),
            Err(failed) if failed.kind == IoErrorKind::Medium => error = Some(failed),
            Err(failed) => return Err(failed),
        }
    }
    match error {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(Some(found)),
    }
}
