//! Width of text on a terminal: letters of some scripts take two columns, combining marks none.

use unicode_width::UnicodeWidthStr;

/// Width of a text in columns; colour codes take none.
pub fn width(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let before = parts.next().unwrap_or_default().width();
    let after_code = |part: &str| {
        let code = part.find(|c: char| c.is_ascii_alphabetic());
        code.map_or(0, |at| part[at + 1..].width())
    };
    before + parts.map(after_code).sum::<usize>()
}

/// Splits a text; the first part is as long as fits this many columns.
pub fn split(text: &str, columns: usize) -> (&str, &str) {
    let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8());
    let fits = ends.take_while(|end| text[..*end].width() <= columns);
    text.split_at(fits.last().unwrap_or(0))
}

/// Splits a text like [`split`], but the first part has at least one character.
pub(crate) fn split_off(text: &str, columns: usize) -> (&str, &str) {
    match split(text, columns) {
        ("", _) => text.split_at(text.chars().next().map_or(0, char::len_utf8)),
        parts => parts,
    }
}

/// A text padded with blanks to this many columns.
pub fn padded(text: &str, columns: usize) -> String {
    text.to_owned() + &" ".repeat(columns.saturating_sub(width(text)))
}

/// A path, an address or a command that stays on one line when text is wrapped.
pub fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// The text as [`unbroken`], if it does not fit this many columns.
pub(crate) fn unbroken_where(text: &str, columns: usize) -> String {
    if width(text) <= columns { text.to_owned() } else { unbroken(text) }
}

/// A path as one word of a shell: quoted if needed.
pub fn shell_word(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_and_not_letters() {
        assert_eq!((width("Speicher"), width("存储卡"), width("e\u{301}")), (8, 6, 1));
        assert_eq!(width("\u{1b}[31m存\u{1b}[0m!"), 3);
        assert_eq!(split("存储卡", 5), ("存储", "卡"));
        assert_eq!(split("e\u{301}a", 1), ("e\u{301}", "a"));
        assert_eq!((split("存", 1), split_off("存", 1)), (("", "存"), ("存", "")));
        assert_eq!(padded("存", 4), "存  ");
    }
}
