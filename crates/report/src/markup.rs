//! Our own documents in Markdown as plain text: pages about findings, and the glossary.

/// A paragraph, a heading or an item of a list.
#[derive(Debug, PartialEq, Eq)]
pub struct MarkupBlock {
    /// True for an item of a list.
    pub is_item: bool,
    /// Its text in one line.
    pub text: String,
}

/// Blocks of a page of paragraphs and lists of one level; the first is its title.
pub fn blocks(page: &str) -> Vec<MarkupBlock> {
    let mut blocks: Vec<(bool, String)> = Vec::new();
    let mut is_open = false;
    for line in page.lines() {
        let (is_item, is_heading) = (line.starts_with("- "), line.starts_with('#'));
        let text = if is_item { &line[2..] } else { line.trim_start_matches('#') }.trim();
        match blocks.last_mut().filter(|_| is_open && !is_item && !is_heading) {
            _ if text.is_empty() => {}
            Some((_, block)) => *block += &format!(" {text}"),
            None => blocks.push((is_item, text.to_owned())),
        }
        is_open = !text.is_empty() && !is_heading;
    }
    let block = |(is_item, text): (bool, String)| MarkupBlock { is_item, text: plain(&text) };
    blocks.into_iter().map(block).collect()
}

/// A text without its marks and addresses: of links, code and emphasis the words stay.
pub(crate) fn plain(markdown: &str) -> String {
    let (mut out, mut rest) = (String::new(), markdown);
    while let Some(at) = rest.find(['`', '[', '*']) {
        let (before, mark) = rest.split_at(at);
        out += before;
        rest = &mark[1..];
        let marked = match &mark[..1] {
            "`" => rest.split_once('`').map(|(code, behind)| (code.to_owned(), behind)),
            "[" => link(rest).map(|(words, behind)| (plain(words), behind)),
            // Between two letters or digits it multiplies: 3*2^k.
            _ if out.ends_with(char::is_alphanumeric)
                && rest.starts_with(char::is_alphanumeric) =>
            {
                None
            }
            _ => Some((String::new(), rest)),
        };
        match marked {
            Some((text, behind)) => (out, rest) = (out + &text, behind),
            None => out += &mark[..1],
        }
    }
    out + rest
}

/// Words of a link that begins here, and what is behind it.
fn link(text: &str) -> Option<(&str, &str)> {
    let (words, target) = text.split_once("](")?;
    Some((words, target.split_once(')')?.1)).filter(|_| !words.contains(['[', ']']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a page showed `[text](../field/file.md)`, and 3*2^k as 32^k.
    #[test]
    fn a_page_is_shown_without_markup() {
        let page = "# Title\n\nSee [cheats](../field/cheats.md), `dd`\nand 3*2^k.\n\n- one\n  line\n- *two* [...]\n";
        let shown: Vec<(bool, String)> =
            blocks(page).into_iter().map(|it| (it.is_item, it.text)).collect();
        let expected = [
            (false, "Title"),
            (false, "See cheats, dd and 3*2^k."),
            (true, "one line"),
            (true, "two [...]"),
        ];
        assert_eq!(shown, expected.map(|(is_item, text)| (is_item, text.to_owned())));
    }
}
