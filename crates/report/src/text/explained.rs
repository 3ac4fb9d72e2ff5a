//! The page of a finding for a terminal.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::{AnsiStyle, MIN_WIDTH, Page};

/// Meaning and derivation of a kind of finding, in lines of at most `width` columns, without the
/// addresses of links. `None` for an unknown id.
pub fn explained(id: &str, width: usize) -> Option<String> {
    let mut out =
        Page { text: String::new(), width: width.max(MIN_WIDTH), style: AnsiStyle(false) };
    let (mut block, mut is_item) = (String::new(), false);
    for event in Parser::new(findings::about(id)?) {
        match event {
            Event::Text(text) | Event::Code(text) => block.push_str(&text),
            Event::SoftBreak | Event::HardBreak => block.push(' '),
            Event::Start(Tag::Item) => is_item = true,
            Event::End(TagEnd::Item) => {
                if !block.is_empty() {
                    out.prose(&format!("- {block}"), 2, |_, text| text.to_owned());
                }
                (block, is_item) = (String::new(), false);
            }
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_)) if !is_item => {
                out.prose(&block, 0, |_, text| text.to_owned());
                out.line("");
                block.clear();
            }
            Event::End(TagEnd::List(_)) => out.line(""),
            _ => {}
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
