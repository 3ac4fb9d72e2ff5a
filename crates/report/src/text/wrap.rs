//! Wrapping of text: broken at spaces, never within a figure or a text to copy; and cut with a mark
//! if there is no room.

use crate::display;

/// Units that stay on the line of their number.
const UNITS: [&str; 31] = [
    "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "B/s", "kB/s", "MB/s", "GB/s",
    "KiB/s", "MiB/s", "Mbit/s", "IOPS", "ns", "us", "µs", "ms", "s", "min", "h", "d", "%", "x",
    "/s", "°C", "C", "rpm",
];

/// Mark for left-out text.
pub(crate) const CUT: &str = "[...]";

/// The words of a text. A number with its unit, a command to type, and text with non-breaking
/// spaces are one word each.
fn words(text: &str) -> Vec<String> {
    let is_number = |word: &str| {
        let bare = word.trim_start_matches(['(', '-', '+', '\'', '"']);
        bare.starts_with(|c: char| c.is_ascii_digit())
            && bare.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '+' | '-'))
            && !bare.ends_with([',', '.'])
    };
    let is_unit = |word: &str| {
        UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')', '\'', '"', '?']))
    };
    let is_open = |before: &str| before.matches('`').count() % 2 == 1;
    let mut words: Vec<String> = Vec::new();
    let mut last = "";
    let mut is_command = false;
    let is_gap = |letter: char| letter.is_whitespace() && letter != '\u{a0}';
    for word in text.split(is_gap).filter(|word| !word.is_empty()) {
        let belongs = is_number(last) && is_unit(word)
            || matches!(last, "±" | "+-") && is_number(word)
            || matches!(word, "±" | "+-")
            || is_command
            || words.last().is_some_and(|before| is_open(before));
        is_command |= matches!(last, "type:" | "with:") && matches!(word, "flashmark" | "sudo");
        match words.last_mut() {
            Some(before) if belongs => *before += &format!(" {word}"),
            _ => words.push(word.to_owned()),
        }
        last = word;
    }
    words
}

/// True for paths, addresses and commands: broken, they could not be clicked or copied.
fn is_to_copy(word: &str) -> bool {
    let bare = word.trim_start_matches(['(', '\'', '"', '`']);
    let is_path = bare.starts_with(['/', '~', '.']) || bare.is_ascii() && bare.contains('/');
    is_path || bare.contains("://") || word.contains('`') || bare.starts_with("flashmark")
}

/// Lines of at most `width` columns, broken at spaces; longer words are broken if necessary, except
/// text to copy.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    lines(text, [width, width], true)
}

/// Wrapped lines with a separate width for the first one; longer words are broken only with
/// `breaks`.
fn lines(text: &str, [first, rest]: [usize; 2], breaks: bool) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in words(text) {
        let wide = display::width(&word);
        let room = |lines: &[String]| if lines.len() == 1 { first } else { rest };
        let gap = usize::from(used > 0);
        if used + gap + wide <= room(&lines) {
            push(&mut lines, &word, gap);
            used += gap + wide;
            continue;
        }
        if used > 0 {
            lines.push(String::new());
        }
        let mut left = word.as_str();
        let may_break = breaks && !is_to_copy(&word);
        while may_break && display::width(left) > room(&lines).max(2) {
            let (head, tail) = display::split_off(left, room(&lines));
            push(&mut lines, head, 0);
            lines.push(String::new());
            left = tail;
        }
        push(&mut lines, left, 0);
        used = display::width(left);
    }
    lines
}

fn push(lines: &mut [String], text: &str, gap: usize) {
    if let Some(line) = lines.last_mut() {
        line.push_str(&" ".repeat(gap));
        line.push_str(text);
    }
}

/// A text in at most `most` lines of `width` columns, those after the first shorter by `indent`. It
/// is cut at the end of a sentence, or else of a clause, with a mark.
pub(crate) fn cut(text: &str, width: usize, indent: usize, most: usize) -> Vec<String> {
    let laid = |text: &str| lines(text, [width, width.saturating_sub(indent)], true);
    let whole = laid(text);
    if whole.len() <= most {
        return whole;
    }
    let ends = |marks: &[char]| -> Vec<usize> {
        text.char_indices()
            .filter(|(at, c)| marks.contains(c) && text[at + c.len_utf8()..].starts_with(' '))
            .map(|(at, _)| at)
            .collect()
    };
    let fits = |marks: &[char], keeps: usize, least: usize| {
        ends(marks)
            .into_iter()
            .rev()
            .filter(|at| *at >= least)
            .map(|at| laid(&format!("{} {CUT}", &text[..at + keeps])))
            .find(|laid| laid.len() <= most)
    };
    let half = width * most / 2;
    fits(&['.'], 1, half)
        .or_else(|| fits(&[';', ':'], 0, half))
        .or_else(|| fits(&[',', ';', ':'], 0, width * most / 4))
        .unwrap_or_else(|| cut_anywhere(text, width, indent, most))
}

/// A text cut between any two words.
fn cut_anywhere(text: &str, width: usize, indent: usize, most: usize) -> Vec<String> {
    let laid = |text: &str| lines(text, [width, width.saturating_sub(indent)], true);
    let all = words(text);
    let longest = (1..all.len()).rev().map(|n| laid(&format!("{} {CUT}", all[..n].join(" "))));
    longest.into_iter().find(|laid| laid.len() <= most).unwrap_or_else(|| vec![CUT.to_owned()])
}

/// A text after a name, cut like [`cut`]; never the name alone.
pub(crate) fn cut_after(name: &str, text: &str, width: usize, most: usize) -> Vec<String> {
    let whole = format!("{name}: {text}");
    let laid = cut(&whole, width, 2, most);
    let is_bare = laid.join(" ").strip_suffix(CUT).is_some_and(|left| left.trim_end() == name);
    if is_bare { cut_anywhere(&whole, width, 2, most) } else { laid }
}

/// Parts in lines of at most `width` columns, separated by commas; a part is broken only if it is
/// too wide.
pub(crate) fn joined(parts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let part = if at + 1 < parts.len() { format!("{part},") } else { part.clone() };
        match lines.last_mut() {
            Some(line) if display::width(line) + 1 + display::width(&part) <= width => {
                *line += &format!(" {part}");
            }
            _ => lines.extend(wrapped(&part, width)),
        }
    }
    lines
}

/// A text for a terminal of `width` columns: wider lines are broken at spaces and continue below
/// the start of their text. Words that are wider themselves (paths, addresses) are broken only with
/// `breaks`.
pub fn fold(text: &str, width: usize, breaks: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        if display::width(bare) <= width {
            out += line;
            continue;
        }
        let margin = bare.len() - bare.trim_start().len();
        let indent = hanging(bare, width);
        // Columns before the text stay unchanged.
        let (head, text) = match column(bare, width) {
            Some(at) => bare.split_at(at),
            None => bare.split_at(margin),
        };
        let first = width.saturating_sub(display::width(head));
        let laid = lines(text, [first, width.saturating_sub(indent)], breaks);
        for (at, part) in laid.iter().enumerate() {
            let pad = if at == 0 { head.to_owned() } else { " ".repeat(indent) };
            out += &format!("{}\n", format!("{pad}{part}").trim_end());
        }
        if !line.ends_with('\n') {
            out.pop();
        }
    }
    out
}

/// Indentation of the lines after the first.
fn hanging(line: &str, width: usize) -> usize {
    let margin = line.chars().take_while(|c| *c == ' ').count();
    let column = column(line, width).map(|at| display::width(&line[..at]));
    column.unwrap_or(if margin + 2 <= width / 2 { margin + 2 } else { 2 })
}

/// Start in bytes of the last column that leaves at least half of the width to its text. Columns
/// are separated by two blanks.
fn column(line: &str, width: usize) -> Option<usize> {
    let margin = line.len() - line.trim_start().len();
    let gaps = line.match_indices("  ").map(|(at, _)| at);
    let begins = gaps.filter(|at| *at > margin).map(|at| {
        let rest = &line[at..];
        at + rest.len() - rest.trim_start().len()
    });
    begins.filter(|at| display::width(&line[..*at]) <= width / 2).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, width: usize, lines: &[&str]) {
        assert_eq!(wrapped(text, width), lines);
    }

    #[test]
    fn text_is_broken_at_spaces_and_where_it_must_be() {
        check("", 10, &[""]);
        check("one two three", 7, &["one two", "three"]);
        check("abcdefghij k", 4, &["abcd", "efgh", "ij k"]);
        check("a bcdefghij k", 4, &["a", "bcde", "fghi", "j k"]);
    }

    #[test]
    fn a_number_keeps_its_unit() {
        check("certain to 27.9 % only", 15, &["certain to", "27.9 % only"]);
        check(
            "(16.5 MB/s against 9.40 MB/s): yes",
            13,
            &["(16.5 MB/s", "against", "9.40 MB/s):", "yes"],
        );
        check("9.07 MB/s ± 3.00 %, worst 6 ms", 20, &["9.07 MB/s ± 3.00 %,", "worst 6 ms"]);
    }

    #[test]
    fn what_has_no_room_is_cut_at_a_sentence_or_a_clause_and_marked() {
        assert_eq!(
            cut("One thing. Another thing. A third.", 34, 0, 1),
            ["One thing. Another thing. A third."]
        );
        assert_eq!(
            cut("One thing. Another thing. A third.", 32, 0, 1),
            ["One thing. Another thing. [...]"]
        );
        assert_eq!(
            cut("random read: certain to 35.3 % only; give it more time", 44, 0, 1),
            ["random read: certain to 35.3 % only [...]"]
        );
        assert_eq!(cut("no clause is in these words at all", 20, 0, 1), ["no clause is [...]"]);
    }

    #[test]
    fn a_line_that_is_too_wide_goes_on_below_its_text() {
        assert_eq!(
            fold("sd-worst      SD card, 4 GB, the worst there is\nshort\n", 32, true),
            "sd-worst      SD card, 4 GB, the\n              worst there is\nshort\n"
        );
        assert_eq!(fold("  a b c d e f g", 10, true), "  a b c d\n    e f g");
        let path = "/a/very/long/path/to/somewhere";
        assert_eq!(fold(path, 10, false), path);
        assert_eq!(fold(path, 10, true), path);
    }

    #[test]
    fn what_is_to_be_copied_is_never_broken() {
        let command = display::unbroken("flashmark show sim-a1-quick-1 --details");
        let text = format!("Everything that was measured: {command}");
        assert_eq!(fold(&text, 40, true), format!("Everything that was measured:\n  {command}"));
        assert_eq!(
            fold("Page     /home/a/long/name/report.html\n", 20, true),
            "Page     /home/a/long/name/report.html\n"
        );
        assert_eq!(
            fold("put it in and type: flashmark restore sim-a1-quick-1 --forget", 30, true),
            "put it in and type:\n  flashmark restore sim-a1-quick-1 --forget"
        );
        assert_eq!(
            fold("see https://example.org/a/page or `flashmark show latest` now", 16, true),
            "see\n  https://example.org/a/page\n  or\n  `flashmark show latest`\n  now"
        );
    }

    #[test]
    fn letters_of_two_columns_are_counted_as_two() {
        let label = "存储卡测试".repeat(20);
        for width in [10, 11, 60] {
            let text = fold(&format!("label: {label}"), width, true);
            assert!(text.lines().all(|line| display::width(line) <= width), "{text}");
            assert_eq!(text.matches('卡').count(), 20, "{text}");
        }
        check("a 存储卡", 4, &["a", "存储", "卡"]);
    }

    #[test]
    fn parts_stay_whole() {
        let parts = ["2.74 to 3.14".to_owned(), "n 82".to_owned(), "slowest 453 ms".to_owned()];
        assert_eq!(joined(&parts, 20), ["2.74 to 3.14, n 82,", "slowest 453 ms"]);
    }

    #[test]
    fn a_name_is_never_all_that_is_left() {
        let cut = |text: &str| cut_after("Caveat: random write (4 cells)", text, 60, 1);
        let long = "preconditioned 70.7 % of 256 MiB before the time was up";
        assert_eq!(cut(long), ["Caveat: random write (4 cells): preconditioned 70.7 % [...]"]);
        assert_eq!(cut("short"), ["Caveat: random write (4 cells): short"]);
    }
}
