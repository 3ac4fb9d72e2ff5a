//! The text of a file as its tools printed it: decoded, and without what mail, web pages and
//! terminals put around it. Each line keeps the number it has in the file.

use std::borrow::Cow;

/// Cleaned lines, and where in the file each was.
pub(super) struct CleanText {
    /// The lines with `\n` between them.
    pub text: String,
    /// The number in the file of each line, counted from 1.
    pub numbers: Vec<u32>,
    /// Lines that held bytes which no text has: places in `numbers`.
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
    let is_markup = has(bytes, b"<?xml") || has(bytes, b"<Results>") || has(bytes, b"{\"");
    let ends = bytes.last() == Some(&b'\n');
    let mut lines = bytes.split(|byte| *byte == b'\n').peekable();
    let mut number = 0;
    while let Some(line) = lines.next() {
        if lines.peek().is_none() && ends {
            break;
        }
        number += 1;
        cleaned.line(number, line, is_markup);
    }
    cleaned
}

/// The bytes of a file as text that reads the same: decoded, and without NUL, which forms of web
/// pages do not carry.
#[must_use]
pub fn plain_text(bytes: &[u8]) -> String {
    let bytes = unmarked(bytes);
    let mut text = String::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        text.extend(latin_or_utf8(line).chars().filter(|letter| *letter != '\0'));
    }
    text
}

/// Without the mark of its encoding in front, and decoded where that is UTF-16.
fn unmarked(bytes: &[u8]) -> Cow<'_, [u8]> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes).into_bytes()),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes).into_bytes()),
        [0xef, 0xbb, 0xbf, rest @ ..] => Cow::Borrowed(rest),
        _ => Cow::Borrowed(bytes),
    }
}

fn has(bytes: &[u8], words: &[u8]) -> bool {
    bytes
        .get(..4096.min(bytes.len()))
        .is_some_and(|head| head.windows(words.len()).any(|window| window == words))
}

fn utf16(bytes: &[u8], word: fn([u8; 2]) -> u16) -> String {
    let words = bytes.chunks_exact(2).map(|pair| word([pair[0], pair[1]]));
    char::decode_utf16(words).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

impl CleanText {
    fn line(&mut self, number: u32, line: &[u8], is_markup: bool) {
        let text = latin_or_utf8(line.strip_suffix(b"\r").unwrap_or(line));
        let is_plain = text.is_ascii()
            && !text.bytes().any(|byte| byte < b' ' && byte != b'\t' || b"<&".contains(&byte));
        if is_plain {
            return self.piece(number, &text, is_markup);
        }
        if text.chars().any(is_binary) {
            self.damaged.push(self.numbers.len());
        }
        let tidy = tidied(&text);
        let tidy = if is_markup { Cow::Borrowed(tidy.as_str()) } else { without_tags(&tidy) };
        tidy.split('\n').for_each(|piece| self.piece(number, piece, is_markup));
    }

    fn piece(&mut self, number: u32, piece: &str, is_markup: bool) {
        self.text += if is_markup { piece } else { without_quotes(piece) };
        self.text.push('\n');
        self.numbers.push(number);
    }
}

/// Old tools print µ as one byte: a line that is no UTF-8 is Latin-1.
fn latin_or_utf8(line: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(line.iter().map(|byte| *byte as char).collect()),
    }
}

fn is_binary(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\r' | '\u{8}' | '\u{1b}' | '\u{7}' | '\u{c}' | '\u{85}')
}

/// Without control characters, with plain spaces, with what was overprinted by backspaces gone; a
/// carriage return begins a line.
fn tidied(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => tidy.push('\n'),
            '\t' => tidy.push('\t'),
            '\u{a0}' | '\u{2007}'..='\u{200a}' | '\u{202f}' => tidy.push(' '),
            '\u{200b}'..='\u{200f}' | '\u{ad}' | '\u{feff}' => {}
            '\u{2212}' => tidy.push('-'),
            '\u{8}' => drop_letter(&mut tidy),
            '\u{1b}' => skip_escape(&mut letters),
            other if other.is_control() => {}
            other => tidy.push(other),
        }
    }
    tidy
}

fn drop_letter(tidy: &mut String) {
    if !tidy.ends_with('\n') {
        tidy.pop();
    }
}

/// ESC [ .. letter is a colour or a move, ESC ] .. BEL a title, ESC ( B a character set.
fn skip_escape(letters: &mut std::iter::Peekable<std::str::Chars>) {
    match letters.next() {
        Some('[') => while letters.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
        Some(']') => while letters.next().is_some_and(|c| c != '\u{7}') {},
        Some('(' | ')') => drop(letters.next()),
        _ => {}
    }
}

/// Elements of web pages that end a line, and those that do not.
const BREAKS: [&str; 9] = ["br", "p", "/p", "/div", "/pre", "/tr", "/li", "pre", "hr"];
const INLINE: [&str; 30] = [
    "code",
    "/code",
    "tt",
    "/tt",
    "b",
    "/b",
    "i",
    "/i",
    "em",
    "/em",
    "strong",
    "/strong",
    "span",
    "/span",
    "div",
    "li",
    "ul",
    "/ul",
    "blockquote",
    "/blockquote",
    "td",
    "/td",
    "th",
    "/th",
    "tr",
    "table",
    "/table",
    "samp",
    "/samp",
    "/font",
];
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

/// Without the tags and entities of web pages.
fn without_tags(text: &str) -> Cow<'_, str> {
    if !text.contains(['<', '&']) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        plain += &rest[..at];
        rest = &rest[at..];
        let (put, taken) = tag(rest).or_else(|| entity(rest)).unwrap_or((&rest[..1], 1));
        plain += put;
        rest = &rest[taken..];
    }
    plain += rest;
    Cow::Owned(plain)
}

/// What a tag at the beginning stands for, and its length.
fn tag(text: &str) -> Option<(&'static str, usize)> {
    let end = text.find('>').filter(|end| *end < 200)?;
    let name = text.get(1..end)?.split([' ', '\t']).next()?.to_ascii_lowercase();
    let name = if name.len() > 1 { name.trim_end_matches('/') } else { &name };
    if BREAKS.contains(&name) {
        Some(("\n", end + 1))
    } else {
        INLINE.contains(&name).then_some((" ", end + 1))
    }
}

fn entity(text: &str) -> Option<(&'static str, usize)> {
    ENTITIES.iter().find(|(name, _)| text.starts_with(name)).map(|(name, put)| (*put, name.len()))
}

/// Without the `> ` of mail and the bullet of a list in front.
fn without_quotes(line: &str) -> &str {
    let mut rest = line;
    while let Some(inside) = rest.trim_start().strip_prefix('>') {
        rest = inside.strip_prefix(' ').unwrap_or(inside);
    }
    let begun = rest.trim_start();
    ["* ", "- ", "• ", "– ", "· "]
        .iter()
        .find_map(|bullet| begun.strip_prefix(bullet))
        .unwrap_or(rest)
}
