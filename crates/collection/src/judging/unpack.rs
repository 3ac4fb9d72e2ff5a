//! Decompression of an upload, within a limit of memory.

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::GzDecoder;

use super::{Rejection, UploadLimits};

/// The text of a body. Decompression stops as soon as the text exceeds the limit. `encoding` is the
/// header `Content-Encoding`.
///
/// # Errors
/// If it is too large, or not compressed as `encoding` says.
pub fn unpack<'a>(
    body: &'a [u8],
    encoding: Option<&str>,
    limits: &UploadLimits,
) -> Result<Cow<'a, [u8]>, Rejection> {
    if body.len() > limits.body_bytes {
        let reason =
            format!("the body has {} bytes; at most {} are taken", body.len(), limits.body_bytes);
        return Err(Rejection::invalid("too-large", reason));
    }
    let named = encoding.unwrap_or_default().trim().to_ascii_lowercase();
    let json = match named.as_str() {
        "" | "identity" => Cow::Borrowed(body),
        "gzip" | "x-gzip" => Cow::Owned(gunzip(body, limits.unpacked_bytes)?),
        _ => {
            return Err(Rejection::invalid(
                "encoding",
                "the body may be plain or packed with gzip, and nothing else".to_owned(),
            ));
        }
    };
    if json.len() > limits.unpacked_bytes {
        return Err(Rejection::invalid(
            "too-large",
            format!(
                "the document has {} bytes; at most {} are taken",
                json.len(),
                limits.unpacked_bytes
            ),
        ));
    }
    Ok(json)
}

fn gunzip(body: &[u8], most: usize) -> Result<Vec<u8>, Rejection> {
    let mut packed = GzDecoder::new(body);
    let mut json = Vec::new();
    let read = packed.by_ref().take(most as u64 + 1).read_to_end(&mut json);
    read.map_err(|error| {
        Rejection::invalid(
            "encoding",
            format!("the body is not packed with gzip, or damaged: {error}"),
        )
    })?;
    if json.len() > most {
        return Err(Rejection::invalid(
            "too-large",
            format!("the body unpacks to more than {most} bytes"),
        ));
    }
    match packed.into_inner() {
        [] => Ok(json),
        rest => Err(Rejection::invalid(
            "encoding",
            format!("{} bytes follow what is packed in the body", rest.len()),
        )),
    }
}
