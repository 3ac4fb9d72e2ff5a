//! Vectors computed by statsmodels 0.15 (`ols`, `anova_lm`) and scipy, on published tables.

use super::*;

fn run(levels: &[usize], value: f64, variance: Option<f64>) -> FactorRun {
    FactorRun { value, variance, degrees: f64::INFINITY, levels: levels.to_vec() }
}

/// Runs of a table: rows are the first factor, columns the second.
fn table(rows: &[&[f64]], variance: Option<f64>) -> Vec<FactorRun> {
    let line = |(a, row): (usize, &&[f64])| {
        let cell = move |(b, value): (usize, &f64)| run(&[a, b], *value, variance);
        row.iter().enumerate().map(cell).collect::<Vec<_>>()
    };
    rows.iter().enumerate().flat_map(line).collect()
}

fn effects_of(fit: &FactorFit, factor: usize) -> &LevelEffects {
    match &fit.factors[factor] {
        FactorEffect::Known(effects) => effects,
        FactorEffect::Confounded(with) => panic!("confounded with {with:?}"),
    }
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found}, not {expected}");
}

/// The penicillin yields of Box, Hunter & Hunter, Statistics for Experimenters (1978), 7.1: five
/// blends, four treatments, sums of squares 264, 70 and 226 on 12.
#[test]
fn a_table_without_repeats_adds_up_as_published() {
    let yields: [&[f64]; 5] = [
        &[89.0, 88.0, 97.0, 94.0],
        &[84.0, 77.0, 92.0, 79.0],
        &[81.0, 87.0, 87.0, 85.0],
        &[87.0, 92.0, 89.0, 84.0],
        &[79.0, 81.0, 80.0, 88.0],
    ];
    let fit = factor_effects(&table(&yields, Some(1.0)), &[5, 4]).unwrap();
    let EffectBasis::Own(scale) = fit.basis else { panic!("{:?}", fit.basis) };
    near(scale * scale, 226.0 / 12.0);
    for (found, expected) in effects_of(&fit, 0).levels.iter().zip([6.0, -3.0, -1.0, 2.0, -4.0]) {
        near(*found, expected);
    }
    for (found, expected) in effects_of(&fit, 1).levels.iter().zip([-2.0, -1.0, 3.0, 0.0]) {
        near(*found, expected);
    }
    assert!((effects_of(&fit, 0).half_width.unwrap() - 8.613_828_8).abs() < 2e-6);
    assert!((effects_of(&fit, 1).half_width.unwrap() - 7.241_203_2).abs() < 2e-6);
    near(fit.largest_departure, 6.0);
    near(fit.range, 20.0);
    assert_eq!(fit.interaction, Interaction::NotTested, "without repeats it is noise as well");
}

/// Survival times of Box & Cox, An Analysis of Transformations (1964), table 1: three poisons, four
/// treatments, four animals each.
#[test]
fn repeats_decide_and_test_the_interaction() {
    let times: [[[f64; 4]; 4]; 3] = [
        [
            [0.31, 0.45, 0.46, 0.43],
            [0.82, 1.10, 0.88, 0.72],
            [0.43, 0.45, 0.63, 0.76],
            [0.45, 0.71, 0.66, 0.62],
        ],
        [
            [0.36, 0.29, 0.40, 0.23],
            [0.92, 0.61, 0.49, 1.24],
            [0.44, 0.35, 0.31, 0.40],
            [0.56, 1.02, 0.71, 0.38],
        ],
        [
            [0.22, 0.21, 0.18, 0.23],
            [0.30, 0.37, 0.38, 0.29],
            [0.23, 0.25, 0.24, 0.22],
            [0.30, 0.36, 0.31, 0.33],
        ],
    ];
    let mut runs = Vec::new();
    for (poison, treatments) in times.iter().enumerate() {
        for (treatment, animals) in treatments.iter().enumerate() {
            runs.extend(animals.iter().map(|time| run(&[poison, treatment], *time, None)));
        }
    }
    let fit = factor_effects(&runs, &[3, 4]).unwrap();
    assert_eq!(fit.basis, EffectBasis::Repeats(36));
    let Interaction::NotShown(p) = fit.interaction else { panic!("{:?}", fit.interaction) };
    assert!((p - 0.112_250_6).abs() < 1e-7, "{p}");
    let poison = effects_of(&fit, 0);
    near(poison.range, 0.138_125 + 0.203_125);
    near(poison.half_width.unwrap(), 0.132_403_401_530_319_24);
    near(effects_of(&fit, 1).half_width.unwrap(), 0.169_990_976_266_366_22);
    let treatment = effects_of(&fit, 1);
    assert_eq!((treatment.highest, treatment.lowest), (1, 0));
    let at_first = treatment.simple.iter().find(|simple| simple.at == [0, 1]).unwrap();
    near(at_first.difference, 0.4675);
    near(at_first.half_width.unwrap(), 0.213_876_725_471_188_72);
}

#[test]
fn a_grid_may_be_incomplete_and_unbalanced() {
    let runs = [
        ([0, 0], 5.01),
        ([0, 0], 4.95),
        ([0, 1], 3.61),
        ([1, 0], 5.52),
        ([1, 0], 5.47),
        ([1, 0], 5.50),
        ([1, 2], 6.80),
        ([2, 1], 2.02),
        ([2, 1], 2.05),
        ([2, 2], 4.4),
    ]
    .map(|(levels, value)| run(&levels, value, None));
    let fit = factor_effects(&runs, &[3, 3]).unwrap();
    let (first, second) = (effects_of(&fit, 0), effects_of(&fit, 1));
    near(first.levels[1] - first.levels[0], 0.575_961_538_461_539_2);
    near(first.levels[2] - first.levels[0], -1.681_730_769_230_769_3);
    near(first.half_width.unwrap(), 0.121_873_526_981_799_46);
    near(second.range, 2.471_730_769_230_771_5);
    near(second.half_width.unwrap(), 0.116_305_553_970_699_57);
    near(fit.largest_departure, 0.071_153_846_153_846_01);
    let Interaction::Shown(p) = fit.interaction else { panic!("{:?}", fit.interaction) };
    assert!((p - 0.007_515).abs() < 1e-6, "{p}");
    let [simple] = &first.simple[..] else { panic!("{:?}", first.simple) };
    assert_eq!(simple.at, [1, 2]);
    near(simple.difference, 2.4);
}

#[test]
fn own_variances_may_differ_and_are_widened_by_what_does_not_add_up() {
    let runs = [
        ([0, 0], 1.0, 0.01),
        ([0, 1], 2.0, 0.02),
        ([0, 2], 4.0, 0.015),
        ([1, 0], 1.5, 0.03),
        ([1, 1], 2.2, 0.01),
        ([1, 2], 5.0, 0.02),
    ]
    .map(|(levels, value, variance)| run(&levels, value, Some(variance)));
    let fit = factor_effects(&runs, &[2, 3]).unwrap();
    let EffectBasis::Own(scale) = fit.basis else { panic!("{:?}", fit.basis) };
    near(scale, 2.160_246_899_469_286);
    near(effects_of(&fit, 0).range, 0.566_666_666_666_666_2);
    assert!((effects_of(&fit, 0).half_width.unwrap() - 0.457_324_929_7).abs() < 1e-7);
    assert!((effects_of(&fit, 1).half_width.unwrap() - 0.708_148_774_7).abs() < 1e-7);
}

#[test]
fn factors_that_change_together_are_confounded() {
    let diagonal: Vec<FactorRun> =
        (0..4).map(|at| run(&[at % 2, at % 2], at as f64, Some(0.1))).collect();
    let fit = factor_effects(&diagonal, &[2, 2]).unwrap();
    assert_eq!(fit.factors, [FactorEffect::Confounded(vec![1]), FactorEffect::Confounded(vec![0])]);
    // A third that is free of them is told all the same.
    let crossed: Vec<FactorRun> =
        (0..4).map(|at| run(&[at % 2, at % 2, at / 2], at as f64, Some(0.1))).collect();
    let fit = factor_effects(&crossed, &[2, 2, 2]).unwrap();
    near(effects_of(&fit, 2).range, 2.0);
    // Two blocks without a bridge: within each both are crossed, between them both change.
    let blocks: Vec<FactorRun> = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 2], [2, 3], [3, 2], [3, 3]]
        .iter()
        .map(|levels| run(levels, levels[0] as f64, Some(0.1)))
        .collect();
    let fit = factor_effects(&blocks, &[4, 4]).unwrap();
    assert_eq!(fit.factors[0], FactorEffect::Confounded(vec![1]));
    // Only together do the first two make the third.
    let sum = [[0, 0, 0], [0, 1, 1], [1, 0, 2]].map(|levels| run(&levels, 1.0, Some(0.1)));
    let fit = factor_effects(&sum, &[2, 2, 3]).unwrap();
    assert!(matches!(&fit.factors[2], FactorEffect::Confounded(with) if with == &[0, 1]));
}

#[test]
fn without_repeats_and_variances_there_is_no_interval() {
    let mut runs = table(&[&[1.0, 2.0], &[3.0, 4.5]], Some(0.01));
    runs[3].variance = None;
    let fit = factor_effects(&runs, &[2, 2]).unwrap();
    assert_eq!((fit.basis, effects_of(&fit, 0).half_width), (EffectBasis::Nothing, None));
    near(effects_of(&fit, 0).range, 2.25);
    assert_eq!(factor_effects(&runs[..1], &[2, 2]), None);
    assert_eq!(factor_effects(&runs, &[2, 1]), None, "a level that is none");
    runs[0].value = f64::NEG_INFINITY;
    assert_eq!(factor_effects(&runs, &[2, 2]), None);
}

/// Repeats that are the same to the last digit are not exact: each run has an interval of its own.
#[test]
fn an_interval_is_at_least_that_of_its_runs() {
    let runs = [
        table(&[&[1.0, 2.0], &[3.0, 4.0]], Some(0.01)),
        table(&[&[1.0, 2.0], &[3.0, 4.0]], Some(0.01)),
    ]
    .concat();
    let fit = factor_effects(&runs, &[2, 2]).unwrap();
    near(
        effects_of(&fit, 0).half_width.unwrap(),
        student_t(0.975, NORMAL) * (0.01_f64 / 2.0).sqrt(),
    );
    assert_eq!(fit.interaction, Interaction::NotShown(1.0));
}

#[test]
fn the_tail_of_f_matches_scipy() {
    for (f, numerator, denominator, expected) in [
        (1.87, 6.0, 36.0, 0.113_052_675_935_112_78),
        (3.0, 2.0, 5.0, 0.139_297_492_244_471_5),
        (10.0, 1.0, 1.0, 0.194_982_229_042_136_66),
        (0.5, 7.0, 3.0, 0.797_306_357_513_349_1),
    ] {
        assert!((f_upper_tail(f, numerator, denominator) - expected).abs() < 1e-10, "{f}");
    }
}

/// Of 400 experiments of two cards in three readers, twice each, the interval holds the true effect
/// in about 95 of 100.
#[test]
fn intervals_cover_the_truth() {
    let mut random = crate::Random::new(7);
    let mut covered = 0;
    for _ in 0..400 {
        let truth = |card: usize, reader: usize| 0.4 * card as f64 + [0.0, 0.9, 1.5][reader];
        let cells = (0..12).map(|at| (at % 2, at / 2 % 3));
        let runs: Vec<FactorRun> = cells
            .map(|(card, reader)| {
                run(&[card, reader], truth(card, reader) + 0.1 * random.normal(), None)
            })
            .collect();
        let fit = factor_effects(&runs, &[2, 3]).unwrap();
        let card = effects_of(&fit, 0);
        covered +=
            usize::from((card.levels[1] - card.levels[0] - 0.4).abs() <= card.half_width.unwrap());
    }
    assert!((364..=396).contains(&covered), "{covered} of 400");
}

/// The interval of a crossed pair is never widened for its own effect.
#[test]
fn the_largest_interaction_of_two_factors_has_an_interval() {
    let crossed = |rows: &[&[f64]]| factor_effects(&table(rows, Some(0.01)), &[2, rows[0].len()]);
    let two = crossed(&[&[0.0, 1.0], &[0.5, 2.5]]).unwrap().crossed.unwrap();
    near(two.difference, 1.0);
    // Four variances of 0.01.
    assert!((two.half_width.unwrap() - 1.959_964 * 0.2).abs() < 1e-5, "{two:?}");
    let three = crossed(&[&[0.0, 1.0, 2.0], &[0.5, 1.5, 3.5]]).unwrap();
    near(three.crossed.unwrap().difference, 1.0);
    // Bonferroni's of three squares.
    assert!((three.crossed.unwrap().half_width.unwrap() - 2.393_980 * 0.2).abs() < 1e-5);
    assert_eq!(three.combinations[5].mean, 3.5);
    let missing = factor_effects(&table(&[&[0.0, 1.0], &[0.5]], None), &[2, 2]).unwrap();
    assert_eq!(missing.crossed, None);
}

/// The variance of three rounds has two degrees of freedom: four such runs have eight at most.
#[test]
fn few_rounds_widen_the_runs_own_interval() {
    let mut runs = table(&[&[0.0, 1.0], &[0.5, 1.5]], Some(0.01));
    runs.iter_mut().for_each(|run| run.degrees = 2.0);
    let fit = factor_effects(&runs, &[2, 2]).unwrap();
    near(effects_of(&fit, 0).half_width.unwrap(), student_t(0.975, 8.0) * 0.1);
}
