//! The form as sent: `multipart/form-data` (RFC 7578), so that it may hold a file.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use import::{Hints, IozoneUnit, KnownMedium};
use multer::Multipart;
use record::MediumKind;
use record::units::Bytes;

use crate::problem::Problem;

/// Most fields: the form has ten.
const MAX_FIELDS: usize = 20;
/// Most bytes of a field other than the text.
const MAX_FIELD_BYTES: usize = 1000;

/// Content of the form.
#[derive(Debug, Default)]
pub(super) struct ImportForm {
    /// The text, pasted or from the file.
    pub text: Vec<u8>,
    /// A token, if given.
    pub token: Option<String>,
    /// Vendor of the medium, as typed.
    pub vendor: String,
    /// Model, as typed.
    pub model: String,
    /// Capacity, as typed.
    pub capacity: String,
    /// Name of the kind of medium.
    pub kind: String,
    /// Label of the run.
    pub label: String,
    /// "ops" or "kB", for iozone tables without a head.
    pub iozone_unit: String,
    /// Digest of the preview.
    pub shown: Option<String>,
    /// True if the button that adds the records was pressed.
    pub is_to_add: bool,
}

/// Boundary between the fields.
///
/// # Errors
/// If the body is not such a form.
pub(super) fn boundary(headers: &HeaderMap) -> Result<String, Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    multer::parse_boundary(kind).map_err(|_| {
        let reason = "the form is sent as multipart/form-data";
        Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-a-form", reason)
    })
}

/// Parses a form.
///
/// # Errors
/// If it is damaged or another form.
pub(super) async fn read(bytes: Vec<u8>, boundary: &str) -> Result<ImportForm, Problem> {
    let broken = |error: multer::Error| Problem::bad(format!("the form is broken: {error}"));
    let mut parts = Multipart::new(Body::from(bytes).into_data_stream(), boundary);
    let (mut form, mut file, mut count) = (ImportForm::default(), Vec::new(), 0);
    while let Some(field) = parts.next_field().await.map_err(broken)? {
        count += 1;
        if count > MAX_FIELDS {
            return Err(Problem::bad(format!("the form has more than {MAX_FIELDS} fields")));
        }
        let name = field.name().unwrap_or_default().to_owned();
        let value = field.bytes().await.map_err(broken)?;
        match name.as_str() {
            "text" => form.text = value.to_vec(),
            "file" => file = value.to_vec(),
            _ => set(&mut form, &name, &value)?,
        }
    }
    match (form.text.trim_ascii().is_empty(), file.is_empty()) {
        (true, false) => form.text = file,
        (false, false) => {
            return Err(Problem::bad(
                "the form has a text and a file; empty the box, or choose no file",
            ));
        }
        _ => {}
    }
    Ok(form)
}

fn set(form: &mut ImportForm, name: &str, value: &[u8]) -> Result<(), Problem> {
    if value.len() > MAX_FIELD_BYTES {
        let reason = format!("a field has more than {MAX_FIELD_BYTES} bytes");
        return Err(Problem::bad(reason));
    }
    let text = String::from_utf8_lossy(value).trim().to_owned();
    match name {
        "token" => form.token = Some(text).filter(|token| !token.is_empty()),
        "vendor" => form.vendor = text,
        "model" => form.model = text,
        "capacity" => form.capacity = text,
        "kind" => form.kind = text,
        "label" => form.label = text,
        "iozone" => form.iozone_unit = text,
        "shown" => form.shown = Some(text),
        "do" => form.is_to_add = text == "add",
        _ => {}
    }
    Ok(())
}

impl ImportForm {
    /// The given properties of the medium.
    ///
    /// # Errors
    /// If a given capacity is not a size, or the kind is unknown.
    pub fn known(&self) -> Result<KnownMedium, Problem> {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let invalid =
            |reason: String| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "field", reason);
        let capacity = given(&self.capacity).map(|text| text.parse::<Bytes>());
        let capacity = capacity.transpose().map_err(|error| invalid(error.to_string()))?;
        let kind = match self.kind.as_str() {
            "" => None,
            name => Some(MediumKind::named(name).ok_or_else(|| {
                invalid("the kind is none of those in the list; choose one of them".to_owned())
            })?),
        };
        Ok(KnownMedium {
            label: given(&self.label),
            vendor: given(&self.vendor),
            model: given(&self.model),
            capacity_bytes: capacity.map(|bytes| bytes.0),
            kind,
        })
    }

    /// Hints for reading the text.
    pub fn hints(&self) -> Hints {
        Hints {
            iozone_unit: match self.iozone_unit.as_str() {
                "ops" => Some(IozoneUnit::Operations),
                "kB" => Some(IozoneUnit::Kilobytes),
                _ => None,
            },
        }
    }
}
