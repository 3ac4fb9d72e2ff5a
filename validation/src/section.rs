//! Parts of documents that a command writes, between marks; people write the rest.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Part of a document of the checkout.
#[derive(Clone, Copy)]
pub struct Section<'a> {
    /// Path of the document: "docs/truth.md".
    pub page: &'a str,
    /// Heading of the part, if it is not there yet.
    pub heading: &'a str,
    /// Words in its marks.
    pub name: &'a str,
}

impl Section<'_> {
    /// Prints `text` below the heading and, if that is wanted, puts it into the document of the
    /// checkout at `root`.
    ///
    /// # Errors
    /// If the document cannot be written, or has only one of the marks.
    pub fn publish(self, root: &Path, text: &str, write: bool) -> Result<()> {
        println!("\n{}\n\n{}", self.heading, text.trim_end());
        if write { self.keep(&root.join(self.page), text) } else { Ok(()) }
    }

    /// Puts `text` between the marks; if there are none yet, at the end, under the heading. The
    /// rest of the document stays.
    fn keep(self, page: &Path, text: &str) -> Result<()> {
        let Section { heading, name, .. } = self;
        let (begin, end) = (format!("<!-- {name}: begin -->"), format!("<!-- {name}: end -->"));
        let old = match fs::read_to_string(page) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.with_context(|| format!("cannot read {}", page.display()))?,
        };
        let section = format!("{begin}\n{}\n{end}", text.trim_end());
        let new = match (old.find(&begin), old.find(&end)) {
            (Some(from), Some(to)) if from < to => {
                format!("{}{section}{}", &old[..from], &old[to + end.len()..])
            }
            (None, None) => {
                format!("{}\n\n## {heading}\n\n{section}\n", old.trim_end()).trim_start().to_owned()
            }
            _ => bail!(
                "{} has one of the marks {begin} and {end} without the other before or after it",
                page.display()
            ),
        };
        fs::write(page, new).with_context(|| format!("cannot write {}", page.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_and_the_rest_stays() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let page = dir.path().join("page.md");
        fs::write(&page, "# Mine\n")?;
        let keep = |heading, name, text| Section { page: "", heading, name }.keep(&page, text);
        keep("One", "x", "one\n")?;
        keep("Other", "y", "other")?;
        keep("One", "x", "two")?;
        let text = fs::read_to_string(&page)?;
        assert_eq!(
            text,
            "# Mine\n\n## One\n\n<!-- x: begin -->\ntwo\n<!-- x: end -->\n\n## Other\n\n<!-- y: begin -->\nother\n<!-- y: end -->\n"
        );
        fs::write(&page, text.replace("<!-- x: end -->", ""))?;
        assert!(keep("One", "x", "three").is_err());
        Ok(())
    }
}
