//! The words of a line.

use rustix::fs::OFlags;

/// A line: who, when, and what follows.
pub struct Line<'a> {
    pub thread: u32,
    /// Nanoseconds since 1970.
    pub time_ns: u64,
    pub rest: &'a str,
}

impl Line<'_> {
    /// Reads "7 1795922970.000010 close(3</a>) = 0".
    pub fn read(text: &str) -> Option<Line<'_>> {
        let (thread, text) = text.split_once(' ')?;
        let (time, rest) = text.trim_start().split_once(' ')?;
        Some(Line { thread: thread.parse().ok()?, time_ns: nanoseconds(time)?, rest: rest.trim() })
    }
}

/// Seconds as nanoseconds: "1.000002".
fn nanoseconds(seconds: &str) -> Option<u64> {
    let (whole, part) = seconds.split_once('.')?;
    let digits = part.len();
    let part: u64 = part.parse().ok()?;
    let scale = 10_u64.checked_pow(9_u32.checked_sub(digits as u32)?)?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part * scale)
}

/// A call, perhaps one that has not come back.
pub struct Call<'a> {
    pub name: &'a str,
    pub arguments: Vec<&'a str>,
    pub result: Option<&'a str>,
}

impl Call<'_> {
    /// Reads `read(3</a>, ""..., 10) = 5`.
    pub fn read(text: &str) -> Option<Call<'_>> {
        let (name, text) = text.split_once('(')?;
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let (arguments, rest) = arguments(text);
        let result = rest.trim_start().strip_prefix('=').map(str::trim);
        is_name.then_some(Call { name, arguments, result })
    }

    pub fn number(&self, at: usize) -> Option<u64> {
        self.arguments.get(at).and_then(|argument| number(argument))
    }

    pub fn descriptor(&self, at: usize) -> Option<(i64, String)> {
        self.arguments.get(at).and_then(|argument| descriptor(argument))
    }
}

/// The arguments up to the bracket that closes them, and what is behind it.
fn arguments(text: &str) -> (Vec<&str>, &str) {
    let (mut found, mut from, mut depth) = (Vec::new(), 0, 0);
    // The byte that ends the path or string that is being read.
    let mut until = None;
    let (mut escaped, mut before) = (false, b' ');
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if until == Some(b'"') => escaped = true,
            _ if until == Some(byte) => until = None,
            _ if until.is_some() => {}
            b'"' => until = Some(b'"'),
            b'<' if before.is_ascii_digit() || before == b'D' => until = Some(b'>'),
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                found.push(text[from..at].trim());
                return (found, &text[at + 1..]);
            }
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                found.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
        before = byte;
    }
    found.push(text[from..].trim());
    (found, "")
}

/// A number, or the one in "[8]" or "[8 => 16]"; none where it is negative or not one.
pub fn number(word: &str) -> Option<u64> {
    word.trim_start_matches('[').split([' ', ']']).next()?.parse().ok()
}

/// A descriptor and its path: "3</srv/a>", also that of a file that has no name any more.
pub fn descriptor(word: &str) -> Option<(i64, String)> {
    let (fd, _) = word.split_once('<')?;
    Some((fd.parse().ok()?, in_angles(word)?))
}

/// The path of "3</srv/a>" or "AT_FDCWD</srv>".
pub fn in_angles(word: &str) -> Option<String> {
    let (_, rest) = word.split_once('<')?;
    let (path, _) = rest.split_once('>')?;
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    path.starts_with('/').then(|| unescaped(path))
}

/// The text of a quoted word.
pub fn quoted(word: &str) -> Option<String> {
    let text = word.strip_prefix('"')?.trim_end_matches('.').strip_suffix('"')?;
    Some(unescaped(text))
}

/// Text with its escapes as of C undone.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let Some(&next) = rest.first().filter(|_| byte == b'\\') else {
            bytes.push(byte);
            continue;
        };
        let octal = rest.iter().take(3).take_while(|digit| (b'0'..b'8').contains(digit)).count();
        let (byte, length) = match next {
            b'0'..=b'7' => (
                rest[..octal].iter().fold(0_u32, |sum, digit| sum * 8 + u32::from(digit - b'0'))
                    as u8,
                octal,
            ),
            b'n' => (b'\n', 1),
            b't' => (b'\t', 1),
            b'r' => (b'\r', 1),
            b'v' => (0x0b, 1),
            b'f' => (0x0c, 1),
            other => (other, 1),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An absolute path without "." and "..".
pub fn normal(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The flags of `open` that change what happens on a medium.
pub fn flags(words: &str) -> OFlags {
    let flag = |word: &str| match word {
        "O_WRONLY" => OFlags::WRONLY,
        "O_RDWR" => OFlags::RDWR,
        "O_CREAT" => OFlags::CREATE,
        "O_EXCL" => OFlags::EXCL,
        "O_TRUNC" => OFlags::TRUNC,
        "O_APPEND" => OFlags::APPEND,
        "O_DIRECT" => OFlags::DIRECT,
        "O_SYNC" => OFlags::SYNC,
        "O_DSYNC" => OFlags::DSYNC,
        "O_TMPFILE" => OFlags::TMPFILE,
        "O_DIRECTORY" => OFlags::DIRECTORY,
        "O_PATH" => OFlags::PATH,
        _ => OFlags::empty(),
    };
    let words = words.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.map(|word| flag(word.trim_start_matches('_'))).fold(OFlags::empty(), |all, one| all | one)
}
