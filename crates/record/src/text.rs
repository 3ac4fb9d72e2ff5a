//! Text made safe to show: it may come from a medium, a file or a sender. Also capital letters, and
//! bytes as digits.

/// True for characters that change the direction of writing: with them a page can show text that
/// differs from its bytes.
pub fn turns_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// True for control characters and for those that have no shape or change the direction of writing:
/// two texts that differ only in these look the same.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Text for a terminal or a page: control characters and ends of lines become spaces, other hidden
/// characters are dropped.
pub fn printable(text: &str) -> String {
    let is_space = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let shown = text.chars().filter(|c| is_space(*c) || !is_hidden(*c));
    let shown: String = shown.map(|c| if is_space(c) { ' ' } else { c }).collect();
    shown.trim().to_owned()
}

/// A hidden character written out: `\r`, `\u{202e}`.
pub fn escape(c: char) -> String {
    if c.is_control() { c.escape_debug().to_string() } else { c.escape_unicode().to_string() }
}

/// Text with its hidden characters written out (`\u{202e}`); line breaks stay.
pub fn escaped(text: &str) -> String {
    replaced(text, escape)
}

/// Text with each hidden character but line breaks replaced by what `replace` returns.
pub fn replaced(text: &str, replace: impl Fn(char) -> String) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' && is_hidden(c) {
            shown += &replace(c);
        } else {
            shown.push(c);
        }
    }
    shown
}

/// One line of at most `max` characters, without hidden characters and odd spaces.
pub fn one_line(text: &str, max: usize) -> String {
    let spaced: String = text.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect();
    let words: Vec<&str> = spaced.split_whitespace().collect();
    words.join(" ").chars().take(max).collect::<String>().trim_end().to_owned()
}

/// Text with its first letter in upper case.
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Bytes as hexadecimal digits in lower case.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_never_shown() {
        let hostile = "SD\u{1b}[2J\u{202e}card\u{200b}\u{ad}\r\nB";
        assert_eq!(printable(hostile), "SD [2Jcard  B");
        assert_eq!(escaped(hostile), "SD\\u{1b}[2J\\u{202e}card\\u{200b}\\u{ad}\\r\nB");
        assert_eq!(one_line(hostile, 9), "SD [2J ca");
        assert_eq!(
            (escaped("a\u{3164}"), printable("a\u{2028}b")),
            ("a\\u{3164}".into(), "a b".into())
        );
        assert!(hostile.chars().filter(|c| turns_direction(*c)).eq(['\u{202e}']));
    }

    #[test]
    fn bytes_and_first_letters_are_written_out() {
        assert_eq!((hex(&[0, 0xfe]), capitalised("über")), ("00fe".into(), "Über".into()));
    }
}
