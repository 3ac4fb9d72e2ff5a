//! Sources without what is no code.

/// The text with blanks for comments and for what stands in quotes, and without the tests at its
/// end; every byte keeps its place.
pub fn code_only(text: &str) -> String {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let bytes = &text.as_bytes()[..tests];
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => next(bytes, at, b'\n'),
            b'"' => end_of_string(bytes, at),
            b'r' if matches!(bytes.get(at + 1), Some(b'"' | b'#'))
                && !bytes[..at].last().is_some_and(u8::is_ascii_alphanumeric) =>
            {
                end_of_raw_string(bytes, at)
            }
            b'\'' if bytes.get(at + 2) == Some(&b'\'') => at + 3,
            b'\'' if bytes.get(at + 1) == Some(&b'\\') => next(bytes, at + 3, b'\'') + 1,
            _ => {
                at += 1;
                continue;
            }
        };
        code[at..end.min(bytes.len())]
            .iter_mut()
            .filter(|byte| **byte != b'\n')
            .for_each(|byte| *byte = b'~');
        at = end;
    }
    // Letters of several bytes stand in comments and text only.
    String::from_utf8_lossy(&code).into_owned()
}

fn next(bytes: &[u8], from: usize, wanted: u8) -> usize {
    bytes[from..].iter().position(|byte| *byte == wanted).map_or(bytes.len(), |far| from + far)
}

fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn end_of_raw_string(bytes: &[u8], from: usize) -> usize {
    let hashes = bytes[from + 1..].iter().take_while(|byte| **byte == b'#').count();
    if bytes.get(from + 1 + hashes) != Some(&b'"') {
        return from + 1;
    }
    let end: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let begin = from + 2 + hashes;
    bytes[begin..]
        .windows(end.len())
        .position(|window| window == end)
        .map_or(bytes.len(), |far| begin + far + end.len())
}
