//! Abilities of the place that text goes to: its width, its letters, its colours. Every command
//! asks here.

use std::io::IsTerminal;

/// Columns if neither the terminal nor `COLUMNS` says how many there are.
pub const USUAL: usize = 80;
/// Fewest columns for which text is made.
const LEAST: usize = 40;
/// Most columns: longer lines are hard to read.
const MOST: usize = 120;

/// Stream that text goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output: results.
    Output,
    /// Standard error: progress and messages beside the results.
    Error,
}

impl OutputStream {
    /// True if it is a terminal.
    pub fn is_terminal(self) -> bool {
        match self {
            OutputStream::Output => std::io::stdout().is_terminal(),
            OutputStream::Error => std::io::stderr().is_terminal(),
        }
    }

    /// Columns of the terminal, or those that `COLUMNS` names; `None` if neither is known.
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

    /// Columns that a text may take: those of the terminal, 80 if they are not known, and never
    /// more than can be read well.
    pub fn width(self) -> usize {
        self.columns().map_or(USUAL, |columns| columns.clamp(LEAST, MOST))
    }

    /// Columns of the terminal, all of which a line of progress may take.
    pub fn own_width(self) -> usize {
        self.columns().unwrap_or(USUAL).max(1)
    }

    /// True if lines may be broken within a word: a terminal would break them anyway, but a reader
    /// of a pipe searches for whole words.
    pub fn breaks_words(self) -> bool {
        self.columns().is_some()
    }

    /// True if colours are shown: on a terminal, unless `NO_COLOR` is set.
    pub fn has_colour(self) -> bool {
        let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        self.is_terminal() && !is_refused && !is_dumb
    }

    /// A text as it can be shown here: no line wider than the columns, no letter that the locale
    /// lacks.
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

/// A text in letters that the locale has; no-break spaces become blanks.
pub fn letters(text: &str) -> String {
    let text = text.replace('\u{a0}', " ");
    if has_utf8() || text.is_ascii() { text } else { ascii(&text) }
}

/// A text in ASCII: other letters get their usual spelling in it, or become "?".
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
    fn ascii_text_has_the_same_figures() {
        assert_eq!(
            ascii("9.07 MB/s ± 3.00 %, 370 µs, 45.0 °C"),
            "9.07 MB/s +- 3.00 %, 370 us, 45.0 C"
        );
        assert_eq!(ascii("SanDisk 闪 – a…"), "SanDisk ? - a.");
    }
}
