//! What the place that text goes to can show: how wide it is, which letters it has, whether it has
//! colours. Every command asks here.

use std::io::IsTerminal;

/// Columns where nobody says how many there are.
pub const USUAL: usize = 80;
/// Narrower than this, nothing is made.
const LEAST: usize = 40;
/// Nobody reads longer lines.
const MOST: usize = 120;

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output: results.
    Output,
    /// Standard error: progress and what is said beside the results.
    Error,
}

impl OutputStream {
    /// True if somebody sits in front of it.
    pub fn is_terminal(self) -> bool {
        match self {
            OutputStream::Output => std::io::stdout().is_terminal(),
            OutputStream::Error => std::io::stderr().is_terminal(),
        }
    }

    /// How many columns it has, where it or `COLUMNS` says so.
    fn columns(self) -> Option<usize> {
        let answer = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
        let size = |fd| rustix::termios::tcgetwinsize(fd).ok().map(|size| size.ws_col.into());
        let own = match self {
            _ if !self.is_terminal() => None,
            OutputStream::Output => size(rustix::stdio::stdout()),
            OutputStream::Error => size(rustix::stdio::stderr()),
        };
        own.or(answer).filter(|columns| *columns > 0)
    }

    /// How many columns a text may take: those of the terminal, 80 where it is none, and never more
    /// than can be read.
    pub fn width(self) -> usize {
        self.columns().map_or(USUAL, |columns| columns.clamp(LEAST, MOST))
    }

    /// The terminal's own columns, of which a line of progress may take all.
    pub fn own_width(self) -> usize {
        self.columns().unwrap_or(USUAL).max(1)
    }

    /// True if lines may be broken within a word: on a terminal it would break it anyway, but who
    /// reads a pipe looks for whole words.
    pub fn breaks_words(self) -> bool {
        self.columns().is_some()
    }

    /// True if colours are shown: on a terminal, where `NO_COLOR` is not set.
    pub fn has_colour(self) -> bool {
        let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        self.is_terminal() && !is_refused && !is_dumb
    }

    /// A text as it can be shown here: no line wider than there are columns, no letter that the
    /// locale has not.
    pub fn fitted(self, text: &str) -> String {
        let folded = report::text::fold(text, self.width(), self.breaks_words());
        letters(&folded)
    }
}

/// True if the locale has the letters of Unicode.
pub fn has_utf8() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// A text in letters that the locale has, with blanks as they are typed.
pub fn letters(text: &str) -> String {
    let text = text.replace('\u{a0}', " ");
    if has_utf8() || text.is_ascii() { text } else { ascii(&text) }
}

/// A text without letters beyond ASCII; what has a usual way to be written without them is written
/// so.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            _ if letter.is_ascii() => out.push(letter),
            'µ' | 'μ' => out.push('u'),
            '·' | '–' | '—' | '−' | '‑' | '━' | '╌' => out.push('-'),
            '±' => out.push_str("+-"),
            '×' => out.push('x'),
            '…' => out.push('.'),
            '≤' => out.push_str("<="),
            '≥' => out.push_str(">="),
            '→' => out.push_str("->"),
            '“' | '”' => out.push('"'),
            '‘' | '’' => out.push('\''),
            '\u{a0}' => out.push(' '),
            '°' => {}
            _ => out.push('?'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_says_the_same() {
        assert_eq!(
            ascii("9.07 MB/s ± 3.00 %, 370 µs, 45.0 °C"),
            "9.07 MB/s +- 3.00 %, 370 us, 45.0 C"
        );
        assert_eq!(ascii("SanDisk 闪 – a…"), "SanDisk ? - a.");
    }
}
