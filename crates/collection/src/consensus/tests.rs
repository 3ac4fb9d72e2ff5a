use super::*;

const FIGURE: HeadlineFigure = HeadlineFigure::RandomWrite4k;

fn vote(sender: &str, value: f64) -> Vote {
    Vote {
        sender: Some(sender.to_owned()),
        verdict: Some(format!("verdict of {value}")),
        figures: [(FIGURE, value)].into(),
        ..Vote::default()
    }
}

fn votes(honest: &[f64], lies: &[f64]) -> Vec<Vote> {
    let honest = honest.iter().enumerate().map(|(at, value)| vote(&format!("honest {at}"), *value));
    let lies = lies.iter().enumerate().map(|(at, value)| vote(&format!("liar {at}"), *value));
    honest.chain(lies).collect()
}

fn median(votes: &[Vote]) -> f64 {
    Consensus::of(votes).figures[&FIGURE].median
}

#[test]
fn a_sender_that_sends_often_and_from_many_boards_has_one_voice() {
    let mut all = votes(&[1508.0, 1520.0, 1490.0, 1500.0], &[]);
    for copy in 0..60 {
        all.push(Vote { host: Some(format!("board {copy}")), ..vote("liar", 2.84) });
    }
    let found = Consensus::of(&all);
    assert_eq!((found.figures[&FIGURE].median, found.figures[&FIGURE].senders), (1504.0, 4));
    assert_eq!(found.verdict.as_deref(), Some("verdict of 1508"));
    assert_eq!(found.apart, None, "one voice is no group");
}

#[test]
fn a_verdict_is_that_of_the_run_in_the_middle_and_not_of_the_last() {
    let found = Consensus::of(&votes(&[100.0, 101.0, 99.0], &[1e6]));
    assert_eq!(found.verdict.as_deref(), Some("verdict of 100"));
}

/// Regression: a run with only one figure, equal to the median of the others, decided the verdict.
#[test]
fn a_run_with_one_figure_has_no_verdict_over_those_with_more() {
    let full = |sender: &str, value: f64| {
        let mut full = vote(sender, value);
        full.figures.insert(HeadlineFigure::SequentialRead, value * 1e4);
        full
    };
    let mut all = vec![full("a", 100.0), full("b", 110.0), full("c", 130.0)];
    all.push(Vote { verdict: Some("buy this".to_owned()), ..vote("liar", 110.0) });
    assert_eq!(Consensus::of(&all).verdict.as_deref(), Some("verdict of 110"));
}

#[test]
fn three_senders_confirm_a_figure() {
    let confirmed =
        |values: &[f64]| Consensus::of(&votes(values, &[])).figures[&FIGURE].is_confirmed();
    assert!(!confirmed(&[100.0]) && !confirmed(&[100.0, 100.0]));
    assert!(confirmed(&[100.0, 110.0, 90.0]));
    assert!(!confirmed(&[100.0, 110.0, 1000.0]), "the third does not agree");
    let own = Vote { sender: None, ..vote("", 100.0) };
    assert!(Consensus::of(&[own]).figures[&FIGURE].is_confirmed(), "nobody asks one's own runs");
}

/// Sequential reads of `mbps` MB/s over an interface.
fn reading(sender: &str, interface: Option<&str>, mbps: f64) -> Vote {
    let interface = interface.map(str::to_owned);
    let figures = [(HeadlineFigure::SequentialRead, mbps * 1e6)].into();
    Vote { interface, figures, ..vote(sender, 0.0) }
}

/// Five senders over USB 2.0 at `slow` MB/s, and three over another interface at `fast`.
fn two_crowds(slow: f64, interface: Option<&str>, fast: f64) -> Consensus {
    let held_back =
        (0..5).map(|at| reading(&format!("slow {at}"), Some("usb 2.0"), slow + f64::from(at)));
    let faster = (0..3).map(|at| reading(&format!("fast {at}"), interface, fast + f64::from(at)));
    Consensus::of(&held_back.chain(faster).collect::<Vec<_>>())
}

#[test]
fn a_slow_interface_is_reported_apart_as_the_limit() {
    let found = two_crowds(32.0, Some("usb 3.0"), 90.0);
    let figure = found.figures[&HeadlineFigure::SequentialRead];
    assert_eq!((figure.median, figure.senders), (91e6, 3));
    let apart = found.apart.unwrap();
    assert_eq!((apart.senders, apart.figures[&HeadlineFigure::SequentialRead].median), (5, 34e6));
    assert_eq!(apart.reason(), "other hosts: usb 2.0");
}

/// Regression: three forgers won over five honest senders because they were faster, and over seven
/// because they claimed a faster interface.
#[test]
fn fewer_voices_count_before_more_only_where_an_interface_holds_these_back() {
    let read = |slow: f64, interface: Option<&str>, fast: f64| {
        two_crowds(slow, interface, fast).figures[&HeadlineFigure::SequentialRead].median / 1e6
    };
    for interface in [None, Some("usb 2.0"), Some("carrier pigeon")] {
        assert_eq!(read(32.0, interface, 90.0), 34.0, "{interface:?}");
    }
    assert_eq!(read(8.0, Some("usb 3.0"), 90.0), 10.0, "USB 2.0 carries more than that");
    assert_eq!(read(32.0, Some("usb 3.0"), 900.0), 34.0, "USB 3.0 does not explain that");
    let one_fast = (0..5).map(|at| {
        let interface = if at == 4 { "usb 3.0" } else { "usb 2.0" };
        reading(&format!("honest {at}"), Some(interface), 32.0 + f64::from(at))
    });
    let faster = (0..3).map(|at| reading(&format!("fast {at}"), Some("usb 3.0"), 90.0));
    let found = Consensus::of(&one_fast.chain(faster).collect::<Vec<_>>());
    assert_eq!(
        found.figures[&HeadlineFigure::SequentialRead].median,
        90e6,
        "a slow reader on a fast bus"
    );
    assert_eq!(median(&votes(&[20.0; 3], &[90.0; 3])), 20.0, "as many");
    let small = |sender: String, interface: &str, value: f64| Vote {
        interface: Some(interface.to_owned()),
        ..vote(&sender, value)
    };
    let honest = (0..7).map(|at| small(format!("honest {at}"), "usb 2.0", 212.0));
    let forgers = (0..3).map(|at| small(format!("forger {at}"), "usb 3.0", 8484.0));
    let found = Consensus::of(&honest.chain(forgers).collect::<Vec<_>>());
    assert_eq!(found.figures[&FIGURE].median, 212.0, "no interface holds small writes back");
}

/// Regression: a damaged `capacity` cell beside published medians set "Do not use it" for everyone.
#[test]
fn a_fault_that_one_sender_names_sets_no_verdict() {
    let faulty = |sender: &str, value: f64| Vote {
        verdict: Some("do not use it".to_owned()),
        claims: ["capacity".to_owned()].into(),
        ..vote(sender, value)
    };
    let verdict = |votes: &[Vote]| Consensus::of(votes).verdict;
    let mut all = votes(&[100.0, 110.0, 120.0, 130.0, 140.0], &[]);
    for sender in ["a", "a", "a", "b", "c"] {
        all.push(faulty(sender, 120.0));
        assert_eq!(verdict(&all).as_deref(), Some("verdict of 120"));
    }
    all.extend(["d", "e", "f"].map(|sender| faulty(sender, 120.0)));
    assert_eq!(verdict(&all).as_deref(), Some("do not use it"), "six of eleven");
    assert_eq!(verdict(&[faulty("a", 100.0)]).as_deref(), Some("do not use it"), "nobody else");
    assert_eq!(
        verdict(&[faulty("a", 100.0), faulty("b", 100.0), vote("c", 100.0)]).as_deref(),
        Some("verdict of 100"),
        "two are not three"
    );
}

/// Regression: one sender with published medians and a single slow commit wrote "Not suitable for a
/// database".
#[test]
fn a_level_that_one_sender_names_sets_no_verdict() {
    let judged = |sender: &str, value: f64, levels: &[&str]| Vote {
        claims: levels.iter().map(|level| (*level).to_owned()).collect(),
        verdict: Some(levels.join(", ")),
        ..vote(sender, value)
    };
    let honest = ["root-disk=usable", "database=good"];
    let mut all: Vec<Vote> = [("a", 90.0), ("b", 100.0), ("c", 130.0)]
        .map(|(name, value)| judged(name, value, &honest))
        .into();
    let verdict = |votes: &[Vote]| Consensus::of(votes).verdict;
    all.push(judged("liar", 100.0, &["root-disk=usable", "database=not-suitable"]));
    assert_eq!(verdict(&all).as_deref(), Some("root-disk=usable, database=good"));
    all.push(judged("liar", 100.0, &["root-disk=usable", "logger=poor"]));
    assert_eq!(verdict(&all).as_deref(), Some("root-disk=usable, database=good"), "nobody else");
    all.extend(["d", "e"].map(|name| judged(name, 100.0, &["root-disk=usable"])));
    assert_eq!(
        verdict(&all).as_deref(),
        Some("root-disk=usable, database=good"),
        "more was judged"
    );
    let reading = judged("r", 100.0, &[]);
    let two = [judged("a", 90.0, &honest), judged("b", 100.0, &honest), reading];
    assert_eq!(
        verdict(&two).as_deref(),
        Some("root-disk=usable, database=good"),
        "it judged nothing"
    );
    let mut alone: Vec<Vote> = ["a", "b", "c"].map(|name| judged(name, 100.0, &[])).into();
    alone.push(judged("liar", 100.0, &["database=not-suitable"]));
    assert_eq!(verdict(&alone).as_deref(), Some(""), "who judges alone is not believed");
    let split = [("a", "x=good"), ("b", "x=good"), ("c", "x=poor"), ("d", "x=poor")];
    assert_eq!(verdict(&split.map(|(name, level)| judged(name, 100.0, &[level]))), None);
}

/// Regression: a thousand runs of one sender set the lowest and the highest value.
#[test]
fn the_lowest_and_the_highest_are_those_of_senders() {
    let mut all = votes(&[100.0, 110.0, 120.0], &[]);
    all.extend([60.0, 110.0, 200.0].map(|value| vote("many", value)));
    let found = Consensus::of(&all).figures[&FIGURE];
    assert_eq!((found.low, found.high, found.senders), (100.0, 120.0, 4));
}

#[test]
fn a_second_crowd_on_the_same_hosts_is_another_revision_or_a_fake() {
    let found = Consensus::of(&votes(&[100.0; 8], &[20.0, 21.0, 22.0]));
    let apart = found.apart.unwrap();
    assert_eq!((found.figures[&FIGURE].median, apart.senders), (100.0, 3));
    assert_eq!(apart.reason(), "another revision of the medium, or a fake under its name");
}

#[test]
fn values_that_are_not_numbers_have_no_vote() {
    let lies = [f64::NAN, f64::INFINITY, 0.0, -1.0];
    assert_eq!(median(&votes(&[100.0, 100.0, 100.0], &lies)), 100.0);
    assert!(Consensus::of(&[]).figures.is_empty());
    assert_eq!(Consensus::of(&votes(&[], &[f64::NAN])).figures.len(), 0);
}

proptest::proptest! {
    /// With less than 30 % forged votes, a figure stays within the range of the honest senders.
    #[test]
    fn a_figure_stays_among_honest_ones(
        honest in proptest::collection::vec(80.0f64..120.0, 8..40),
        lies in proptest::collection::vec(0.001f64..1e9, 0..11),
    ) {
        let lies = &lies[..lies.len().min((honest.len() - 1) * 3 / 7)];
        let found = median(&votes(&honest, lies));
        proptest::prop_assert!((80.0..=120.0).contains(&found), "{found}");
    }

    #[test]
    fn the_order_of_runs_changes_nothing(mut values in proptest::collection::vec(1.0f64..1e4, 1..12)) {
        let forward = votes(&values, &[]);
        let first = Consensus::of(&forward).figures;
        values.reverse();
        let second = Consensus::of(&votes(&values, &[])).figures;
        proptest::prop_assert_eq!(first, second);
    }

    #[test]
    fn a_spread_is_that_of_a_naive_count(values in proptest::collection::vec((proptest::option::of(0u8..5), 0.0f64..1e9), 1..60)) {
        let mut hosts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (at, (host, value)) in values.iter().enumerate() {
            let host = host.map_or_else(|| format!("unknown {at}"), |host| host.to_string());
            hosts.entry(host).or_default().push(*value);
        }
        let naive = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
        };
        let medians: Vec<f64> = hosts.values().cloned().map(naive).collect();
        let (hosts, all) = (medians.len() as u64, values.iter().map(|(_, value)| *value));
        let expected = HostSpread {
            low: all.clone().fold(f64::INFINITY, f64::min),
            high: all.fold(f64::NEG_INFINITY, f64::max),
            runs: values.len() as u64,
            hosts,
            senders: 0,
            median: naive(medians),
        };
        let found = spread(values).unwrap();
        proptest::prop_assert!((found.median - expected.median).abs() <= expected.median * 1e-12);
        proptest::prop_assert_eq!(HostSpread { median: 0.0, ..found }, HostSpread { median: 0.0, ..expected });
    }
}

#[test]
fn a_host_that_ran_often_counts_once() {
    let values = [
        (Some("a"), 10.0),
        (Some("a"), 10.0),
        (Some("a"), 10.0),
        (Some("b"), 1.0),
        (Some("c"), 2.0),
    ];
    let found = spread(values).unwrap();
    assert_eq!((found.median, found.low, found.high), (2.0, 1.0, 10.0));
    assert_eq!((found.runs, found.hosts), (5, 3));
    assert_eq!(spread::<u8>([(None, 1.0), (None, 2.0)]).map(|found| found.hosts), Some(2));
    assert_eq!(spread::<u8>([]), None);
}
