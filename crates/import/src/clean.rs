//! The text of a file as its tools printed it: decoded, and without what mail, web pages and
//! terminals put around it. Each line keeps the number it has in the file.

use std::borrow::Cow;

use record::text::is_hidden;

use super::text::re;

/// Cleaned lines with their numbers in the file.
pub(super) struct CleanText {
    /// The lines with `\n` between them.
    pub text: String,
    /// Number of each line in the file, from 1.
    pub numbers: Vec<u32>,
    /// Lines with bytes that a text cannot have, as indices into `numbers`.
    pub damaged: Vec<usize>,
}

/// Cleans the bytes of a file.
pub(super) fn clean(bytes: &[u8]) -> CleanText {
    let unmarked = unmarked(bytes);
    let bytes = &*unmarked;
    let mut cleaned = CleanText {
        text: String::with_capacity(bytes.len() + 1),
        numbers: Vec::new(),
        damaged: Vec::new(),
    };
    let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n');
    (1..).zip(lines).for_each(|(number, line)| cleaned.line(number, line));
    cleaned
}

/// Removes the byte order mark, and decodes UTF-16.
fn unmarked(bytes: &[u8]) -> Cow<'_, [u8]> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes).into_bytes()),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes).into_bytes()),
        [0xef, 0xbb, 0xbf, rest @ ..] => Cow::Borrowed(rest),
        _ => Cow::Borrowed(bytes),
    }
}

fn utf16(bytes: &[u8], word: fn([u8; 2]) -> u16) -> String {
    let words: Vec<u16> = bytes.chunks_exact(2).map(|pair| word([pair[0], pair[1]])).collect();
    String::from_utf16_lossy(&words)
}

impl CleanText {
    fn line(&mut self, number: u32, line: &[u8]) {
        let text = latin_or_utf8(line.strip_suffix(b"\r").unwrap_or(line));
        let is_plain = text.is_ascii()
            && !text.bytes().any(|byte| byte < b' ' && byte != b'\t' || b"<&".contains(&byte));
        if is_plain {
            return self.piece(number, &text);
        }
        if text.chars().any(is_binary) {
            self.damaged.push(self.numbers.len());
        }
        let tidy = without_tags(tidied(&text));
        tidy.split('\n').for_each(|piece| self.piece(number, piece));
    }

    fn piece(&mut self, number: u32, piece: &str) {
        self.text += without_quotes(piece);
        self.text.push('\n');
        self.numbers.push(number);
    }
}

/// Decodes a line that is not UTF-8 as Latin-1: old tools print µ as one byte.
fn latin_or_utf8(line: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(line.iter().map(|byte| *byte as char).collect()),
    }
}

fn is_binary(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\r' | '\u{8}' | '\u{1b}' | '\u{7}' | '\u{c}' | '\u{85}')
}

/// Escape sequences of terminals: ESC [ .. letter is a colour or a move, ESC ] .. BEL a title, ESC
/// ( B a character set.
const ESCAPES: &str = "\u{1b}(?:\\[[^@-~]*[@-~]?|\\][^\u{7}]*\u{7}?|[()].?|.?)";
/// Tags of web pages that end a line.
const BREAKS: &str = "(?i)<(?:br|/?p|/div|/?pre|/tr|/li|hr)/?(?:[ \t][^>]{0,200})?>";
const INLINE: &str = "(?i)<(?:/?(?:code|tt|b|i|em|strong|span|ul|blockquote|td|th|table|samp)|div|li|tr|/font)/?(?:[ \t][^>]{0,200})?>";
/// The one for "&" is the last, as it may be part of another's text.
const ENTITIES: [(&str, &str); 10] = [
    ("&nbsp;", " "),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&micro;", "µ"),
    ("&mu;", "µ"),
    ("&#181;", "µ"),
    ("&thinsp;", " "),
    ("&amp;", "&"),
];

/// Removes control characters and what backspaces overprinted, makes spaces plain; a carriage
/// return begins a line.
fn tidied(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    for letter in re!(ESCAPES).replace_all(text, "").chars() {
        match letter {
            '\r' | '\u{2028}' | '\u{2029}' => tidy.push('\n'),
            '\t' => tidy.push('\t'),
            '\u{a0}' | '\u{2007}'..='\u{200a}' | '\u{202f}' => tidy.push(' '),
            '\u{2212}' => tidy.push('-'),
            '\u{8}' if tidy.ends_with('\n') => {}
            '\u{8}' => drop(tidy.pop()),
            other if other != '\n' && is_hidden(other) => {}
            other => tidy.push(other),
        }
    }
    tidy
}

/// Removes the tags and entities of web pages.
fn without_tags(text: String) -> String {
    if !text.contains(['<', '&']) {
        return text;
    }
    let broken = re!(BREAKS).replace_all(&text, "\n");
    let plain = re!(INLINE).replace_all(&broken, " ").into_owned();
    ENTITIES.iter().fold(plain, |text, (name, put)| text.replace(name, put))
}

/// Removes the `> ` of mail and the bullet of a list at the beginning.
fn without_quotes(line: &str) -> &str {
    let unquoted = re!("^(?:\\s*> ?)+").find(line).map_or(line, |quote| &line[quote.end()..]);
    re!("^\\s*[*•–·-] ").find(unquoted).map_or(unquoted, |bullet| &unquoted[bullet.end()..])
}
