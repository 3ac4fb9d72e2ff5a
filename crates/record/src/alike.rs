//! Similarity of names, to find the one that a user mistyped.

/// Letters to insert, delete or replace to turn one word into another (Levenshtein).
pub fn edits(from: &str, to: &str) -> usize {
    edits_to_beginnings(from, to).pop().unwrap_or(0)
}

/// Edits from one word to each beginning of another: entry `n` is for its first `n` letters, the
/// last for the whole word.
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

/// Most names that are suggested.
const MOST: usize = 3;

/// Up to three of these that may have been meant by `asked`, the closest first: those that begin
/// with it, those that hold it, those that differ from it by half of its letters at most. Those
/// that are equally close keep their order; capitals do not matter.
pub fn closest<'a>(asked: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let asked = asked.to_lowercase();
    let distance = |name: &str| match name.to_lowercase() {
        name if name.starts_with(&asked) => 0,
        name if name.contains(&asked) => 1,
        name => edits(&asked, &name),
    };
    let most = asked.chars().count().div_ceil(2);
    let mut near: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| (distance(name), name))
        .filter(|(far, _)| *far <= most)
        .collect();
    near.sort_by_key(|(far, _)| *far);
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_meant_is_named_the_closest_first() {
        let names =
            ["sda", "sda1", "sdb", "loop0", "mmcblk0", "mmcblk0p1", "usb-SanDisk_Ultra_4C53-0:0"];
        let near = |asked: &str| closest(asked, names);
        assert_eq!(near("sdc"), ["sda", "sdb", "sda1"]);
        assert_eq!(near("mmcblk0p2"), ["mmcblk0p1", "mmcblk0"]);
        assert_eq!(near("sandisk_ultra"), ["usb-SanDisk_Ultra_4C53-0:0"]);
        assert_eq!(near("mmc"), ["mmcblk0", "mmcblk0p1"]);
        assert_eq!(near("nvme0n1"), [""; 0]);
    }

    #[test]
    fn at_most_three_are_named_that_differ_by_half_of_the_letters() {
        assert_eq!(closest("sd", ["sd1", "sd2", "sd3", "sd4"]), ["sd1", "sd2", "sd3"]);
        assert_eq!(closest("abcd", ["abxy", "axyz"]), ["abxy"]);
        assert_eq!(closest("abcde", ["abxyz", "axyzw"]), ["abxyz"]);
        assert_eq!(closest("b", ["ab", "ba", "c"]), ["ba", "ab", "c"]);
    }

    #[test]
    fn letters_are_inserted_deleted_and_replaced() {
        assert_eq!(
            ["kitten", "sitting", "kitten", "", "kitte"].map(|to| edits("kitten", to)),
            [0, 3, 0, 6, 1]
        );
        assert_eq!((edits("", "ab"), edits("ü", "u")), (2, 1));
    }

    #[test]
    fn a_beginning_is_as_far_as_if_it_were_all() {
        let name = "class10";
        let far: Vec<usize> = (0..=name.len()).map(|taken| edits("clas", &name[..taken])).collect();
        assert_eq!(edits_to_beginnings("clas", name), far);
    }
}
