//! The page of a finding for a terminal.

use super::{AnsiStyle, MIN_WIDTH, Page};
use crate::markup;

/// Meaning and derivation of a kind of finding, in lines of at most `width` columns, without the
/// addresses of links. `None` for an unknown id.
pub fn explained(id: &str, width: usize) -> Option<String> {
    let mut out =
        Page { text: String::new(), width: width.max(MIN_WIDTH), style: AnsiStyle(false) };
    let blocks = markup::blocks(findings::about(id)?);
    for (at, block) in blocks.iter().enumerate() {
        let (mark, indent) = if block.is_item { ("- ", 2) } else { ("", 0) };
        out.prose(&format!("{mark}{}", block.text), indent, |_, text| text.to_owned());
        if !(block.is_item && blocks.get(at + 1).is_some_and(|next| next.is_item)) {
            out.line("");
        }
    }
    Some(format!("{}\n", out.text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_all_its_words_in_lines_that_fit() {
        for id in findings::IDS {
            let shown = explained(id, 60).expect("each has a page");
            assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
            let shown_words =
                shown.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            let page = findings::about(id).expect("each has a page");
            let plain: String = plain(page);
            let words = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            assert_eq!(shown_words.collect::<Vec<_>>(), words.collect::<Vec<_>>(), "{id}");
        }
        assert_eq!(explained("no-such", 60), None);
    }

    /// The page without the addresses of its links.
    fn plain(page: &str) -> String {
        let (mut text, mut rest) = (String::new(), page);
        while let Some((before, behind)) = rest.split_once("](") {
            text.push_str(before);
            rest = behind.split_once(')').map_or("", |(_, rest)| rest);
        }
        text + rest
    }
}
