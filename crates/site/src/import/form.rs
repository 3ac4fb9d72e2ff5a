//! The form as it was sent: `multipart/form-data` (RFC 7578), so that a file may be in it.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use import::{Hints, IozoneUnit, KnownMedium};
use multer::Multipart;
use record::MediumKind;
use record::units::Bytes;

use crate::problem::Problem;

/// The form has ten fields; what has more is another one.
const MOST_FIELDS: usize = 20;
/// Bytes of a field other than the text.
const MOST_FIELD_BYTES: usize = 1000;

/// What somebody has filled in.
#[derive(Debug, Default)]
pub(super) struct ImportForm {
    /// The text, pasted or of the file.
    pub text: Vec<u8>,
    /// A token, where one was given.
    pub token: Option<String>,
    /// What is told of the medium, by the name of its field.
    pub vendor: String,
    /// Its model.
    pub model: String,
    /// Its capacity, as typed.
    pub capacity: String,
    /// The name of its kind.
    pub kind: String,
    /// What the run is called.
    pub label: String,
    /// "ops" or "kB" for iozone tables without a head.
    pub iozone_unit: String,
    /// The digest of what was shown.
    pub shown: Option<String>,
    /// Whether the button that adds was pressed.
    pub is_to_add: bool,
}

/// The boundary between the fields.
///
/// # Errors
/// Where the body is no such form.
pub(super) fn boundary(headers: &HeaderMap) -> Result<String, Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    multer::parse_boundary(kind).map_err(|_| {
        let reason = "the form is sent as multipart/form-data";
        Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-a-form", reason)
    })
}

/// Takes a form apart.
///
/// # Errors
/// Where it is broken or another one.
pub(super) async fn read(bytes: Vec<u8>, boundary: &str) -> Result<ImportForm, Problem> {
    let broken = |error: multer::Error| Problem::bad(format!("the form is broken: {error}"));
    let mut parts = Multipart::new(Body::from(bytes).into_data_stream(), boundary);
    let (mut form, mut file, mut count) = (ImportForm::default(), Vec::new(), 0);
    while let Some(field) = parts.next_field().await.map_err(broken)? {
        count += 1;
        if count > MOST_FIELDS {
            return Err(Problem::bad(format!("the form has more than {MOST_FIELDS} fields")));
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
    if value.len() > MOST_FIELD_BYTES {
        let reason = format!("a field has more than {MOST_FIELD_BYTES} bytes");
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
    /// What is told of the medium.
    ///
    /// # Errors
    /// Where it is no size or no kind.
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

    /// What is told of the text.
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
