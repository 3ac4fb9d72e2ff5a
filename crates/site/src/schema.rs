//! Start of the OpenAPI description, and names in it for types of other crates. Their definitions
//! are added when the description is complete.

use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder};

use std::borrow::Cow;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Object, Schema};
use utoipa::{PartialSchema, ToSchema};

macro_rules! foreign {
    ($($name:ident)*) => {$(
        /// The type of that name in `record`.
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                RefOr::T(Schema::Object(Object::new()))
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    )*};
}

foreign!(Entry Line Media Published Figure Spread Status Headline);

/// The description without routes: title, licence, tokens.
pub fn base() -> OpenApi {
    let about = "Runs of storage media, measured with Flashmark: read, search, submit. Reading needs no token. Figures are IOPS, bytes per second and \
                 nanoseconds. Problems are told as application/problem+json, with a code for programs and a reason for people.";
    let info = InfoBuilder::new()
        .title("Flashmark collection")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(about))
        .license(Some(
            LicenseBuilder::new()
                .name("MIT OR Apache-2.0")
                .identifier(Some("MIT OR Apache-2.0"))
                .build(),
        ))
        .build();
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("The edit token of a run, an API token, or the token of a moderator"))
        .build();
    let components =
        ComponentsBuilder::new().security_scheme("token", SecurityScheme::Http(bearer)).build();
    OpenApiBuilder::new().info(info).components(Some(components)).build()
}
