//! The table in small.

use super::*;

#[test]
fn a_row_says_whether_it_holds() {
    use row::Target;
    let row = |target, of: u64, n: u64| Row::share("x", target, (0..n).map(|at| at < of));
    assert!(row(Target::AtLeast(95.0), 19, 20).holds() && !row(Target::AtLeast(95.0), 18, 20).holds());
    assert!(row(Target::Below(1.0), 9, 1000).holds() && !row(Target::Below(1.0), 10, 1000).holds());
    assert!(!row(Target::AtLeast(0.0), 0, 0).holds(), "of nothing nothing is known");
    assert!(Row::longest("x", 2.0, [1_000_000_000, 2_000_000_000]).holds() && !Row::longest("x", 2.0, [2_100_000_000]).holds());
    let text = page(&[row(Target::Below(1.0), 1, 20), row(Target::AtLeast(98.0), 49, 50)], 7, 0.05);
    assert!(text.contains("| x | under 1 % | 5.00 % | 20 | **missed** |") && text.contains("1 of 2 rows hold. Missed: x."), "{text}");
}

#[test]
fn the_same_seed_draws_the_same_media() {
    for trick in trick::Trick::ALL {
        let draw = |seed| trick.draw(&mut dice::Dice::new(seed, trick.name(), 3)).medium.profile();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
