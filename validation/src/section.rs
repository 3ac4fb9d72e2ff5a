//! Parts of documents that a command writes, between marks; people write the rest.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Puts `text` into `page` between the marks of `command`; if there are none yet, at the end, under
/// `heading`. The rest of the page stays.
pub fn keep(page: &Path, heading: &str, command: &str, text: &str) -> Result<()> {
    let (begin, end) = (format!("<!-- {command}: begin -->"), format!("<!-- {command}: end -->"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_and_the_rest_stays() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let page = dir.path().join("page.md");
        fs::write(&page, "# Mine\n")?;
        keep(&page, "One", "x", "one\n")?;
        keep(&page, "Other", "y", "other")?;
        keep(&page, "One", "x", "two")?;
        let text = fs::read_to_string(&page)?;
        assert_eq!(
            text,
            "# Mine\n\n## One\n\n<!-- x: begin -->\ntwo\n<!-- x: end -->\n\n## Other\n\n<!-- y: begin -->\nother\n<!-- y: end -->\n"
        );
        fs::write(&page, text.replace("<!-- x: end -->", ""))?;
        assert!(keep(&page, "One", "x", "three").is_err());
        Ok(())
    }
}
