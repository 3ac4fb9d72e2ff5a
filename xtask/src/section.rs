//! Parts of documents that a command writes, between marks, so that the rest is a person's.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Puts `text` into `page` between the marks of `command`; a page without the marks gets them at its end.
pub fn keep(page: &Path, command: &str, text: &str) -> Result<()> {
    let (begin, end) = (format!("<!-- {command}: begin -->"), format!("<!-- {command}: end -->"));
    let old = fs::read_to_string(page).unwrap_or_default();
    let section = format!("{begin}\n{}\n{end}", text.trim_end());
    let new = match (old.find(&begin), old.find(&end)) {
        (Some(from), Some(to)) if from < to => format!("{}{section}{}", &old[..from], &old[to + end.len()..]),
        _ => format!("{}\n\n{section}\n", old.trim_end()),
    };
    fs::write(page, new).with_context(|| format!("writing {}", page.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_and_the_rest_stays() {
        let page = tempfile::NamedTempFile::new().unwrap();
        fs::write(page.path(), "# Mine\n").unwrap();
        keep(page.path(), "x", "one").unwrap();
        keep(page.path(), "y", "other").unwrap();
        keep(page.path(), "x", "two").unwrap();
        let text = fs::read_to_string(page.path()).unwrap();
        assert_eq!(text, "# Mine\n\n<!-- x: begin -->\ntwo\n<!-- x: end -->\n\n<!-- y: begin -->\nother\n<!-- y: end -->\n");
    }
}
