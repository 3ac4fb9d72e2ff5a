//! The table in small.

use super::*;

#[test]
fn a_row_marks_whether_it_holds() {
    use row::Target;
    let row = |target, of: u64, n: u64| Row::share("x", target, (0..n).map(|at| at < of));
    assert!(
        row(Target::AtLeast(95.0), 19, 20).holds() && !row(Target::AtLeast(95.0), 18, 20).holds()
    );
    assert!(row(Target::Below(1.0), 9, 1000).holds() && !row(Target::Below(1.0), 10, 1000).holds());
    assert!(!row(Target::AtLeast(0.0), 0, 0).holds(), "of nothing nothing is known");
    assert!(
        Row::longest("x", 2.0, [1_000_000_000, 2_000_000_000]).holds()
            && !Row::longest("x", 2.0, [2_100_000_000]).holds()
    );
    let flags = Flags {
        findings: true,
        seed: Some(7),
        share: 0.05,
        parts: vec!["cheats".into()],
        wrong: false,
    };
    let text =
        page(&[row(Target::Below(1.0), 1, 20), row(Target::AtLeast(98.0), 49, 50)], 7, &flags);
    assert!(
        text.starts_with(
            "`cargo validation truth --findings --seed 7 --share 0.05 --parts cheats`"
        ),
        "{text}"
    );
    assert!(
        text.contains("| x | under 1 % | 5.00 % | 20 | **missed** |")
            && text.contains("1 of 2 rows hold. Missed: x."),
        "{text}"
    );
}

/// Six media for each row of caches, pauses and a stalling host.
#[test]
#[ignore = "a study, run by hand: cargo test --manifest-path validation/Cargo.toml -- --ignored"]
fn fakes_are_found_and_clean_media_cleared_under_faults_and_load() {
    let part = troubled::hold(7, 0.02);
    let wanted = |row: &&row::Row| {
        row.what.starts_with("fakes")
            || row.what.starts_with("genuine")
            || row.what.contains("flush")
    };
    for row in part.rows.iter().filter(wanted) {
        assert!(
            row.n > 0 && row.holds(),
            "{row:?}\n{}",
            part.wrong.iter().map(Wrong::shown).collect::<String>()
        );
    }
    let falsely: f64 = part
        .rows
        .iter()
        .filter(|row| row.what.ends_with("claimed of clean media"))
        .map(|row| row.of)
        .sum();
    assert!(falsely <= 1.0, "{falsely} false claims of 6 clean media");
}

#[test]
fn the_same_seed_draws_the_same_media() {
    for trick in trick::TRICKS {
        let draw = |seed| trick.draw(&mut dice::Dice::new(seed, trick.name, 3)).medium.profile();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}

/// A fiftieth of the media: too few for a share, enough to prove that drawn media are run and
/// counted.
#[test]
#[ignore = "a study, run by hand: cargo test --manifest-path validation/Cargo.toml -- --ignored"]
fn most_tricks_are_found_and_few_claimed_falsely() {
    let part = cheats::hold(11, 0.02);
    for row in
        part.rows.iter().filter(|row| row.what.contains(": found") || row.what.contains("exact"))
    {
        assert!(row.n > 0 && row.of >= 0.5 * row.n as f64, "{row:?}");
    }
    let falsely: f64 = part
        .rows
        .iter()
        .filter(|row| row.what.ends_with("claimed of clean media"))
        .map(|row| row.of)
        .sum();
    assert!(falsely <= 4.0, "{falsely} false claims of 20 clean media");
}
