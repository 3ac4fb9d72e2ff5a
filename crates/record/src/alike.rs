//! How alike two names are, for whoever mistyped one.

/// Letters to insert, delete or replace to turn one word into another (Levenshtein).
pub fn edits(from: &str, to: &str) -> usize {
    edits_to_beginnings(from, to).pop().unwrap_or(0)
}

/// The same to each beginning of the other word: at place `n` to its first `n` letters, its whole length the last.
pub fn edits_to_beginnings(from: &str, to: &str) -> Vec<usize> {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_inserted_deleted_and_replaced() {
        assert_eq!(["kitten", "sitting", "kitten", "", "kitte"].map(|to| edits("kitten", to)), [0, 3, 0, 6, 1]);
        assert_eq!((edits("", "ab"), edits("ü", "u")), (2, 1));
    }

    #[test]
    fn a_beginning_is_as_far_as_if_it_were_all() {
        let name = "class10";
        let far: Vec<usize> = (0..=name.len()).map(|taken| edits("clas", &name[..taken])).collect();
        assert_eq!(edits_to_beginnings("clas", name), far);
    }
}
