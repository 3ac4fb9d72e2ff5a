//! Full address of the site.

use std::str::FromStr;

/// A full address, as in `https://example.org/cards/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    whole: String,
    prefix_from: usize,
}

impl Base {
    /// The full address, with a slash at its end.
    pub fn whole(&self) -> &str {
        &self.whole
    }

    /// The path without its last slash: empty, or `/cards`.
    pub fn prefix(&self) -> &str {
        &self.whole[self.prefix_from..self.whole.len() - 1]
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> &str {
        &self.whole[..self.prefix_from]
    }

    /// True for an HTTPS address.
    pub fn is_https(&self) -> bool {
        self.whole.starts_with("https://")
    }
}

impl FromStr for Base {
    type Err = String;

    fn from_str(text: &str) -> Result<Base, String> {
        let refused = || {
            format!(
                "'{}' is no address of a site; write it as https://example.org/cards/",
                text.escape_debug()
            )
        };
        let host_from = ["https://", "http://"]
            .iter()
            .find(|scheme| text.starts_with(*scheme))
            .ok_or_else(refused)?
            .len();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:[]/".contains(c);
        let whole = format!("{}/", text.trim_end_matches('/'));
        let host_length = whole
            .get(host_from..)
            .and_then(|rest| rest.find('/'))
            .filter(|length| *length > 0)
            .ok_or_else(refused)?;
        let prefix_from = host_from + host_length;
        if !text.chars().all(plain) || whole[prefix_from..].contains("//") {
            return Err(refused());
        }
        Ok(Base { whole, prefix_from })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_an_origin_and_a_prefix() {
        let parts = |text: &str| {
            Base::from_str(text).map(|base| {
                (base.origin().to_owned(), base.prefix().to_owned(), base.whole().to_owned())
            })
        };
        let expected = |origin: &str, prefix: &str, whole: &str| {
            Ok((origin.to_owned(), prefix.to_owned(), whole.to_owned()))
        };
        assert_eq!(
            parts("https://example.org"),
            expected("https://example.org", "", "https://example.org/")
        );
        assert_eq!(
            parts("http://[::1]:8080/a/b/"),
            expected("http://[::1]:8080", "/a/b", "http://[::1]:8080/a/b/")
        );
        for bad in [
            "",
            "example.org",
            "https://",
            "https:///x",
            "ftp://example.org",
            "https://e.org/?x",
            "https://e.org/<b>",
            "https://e.org/a//b",
        ] {
            assert!(parts(bad).is_err(), "{bad}");
        }
    }
}
