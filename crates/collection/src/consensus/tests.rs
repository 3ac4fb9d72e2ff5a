use super::*;

const FIGURE: HeadlineFigure = HeadlineFigure::RandomWrite4k;

/// Votes of a text: "3 1500; 2 9e5 over:usb-3.0 fake" are three senders with one value, and two with
/// another over another link who report a fake. `as:` names one sender, `on:` a day of May.
fn votes(text: &str, who: &str, day: &str) -> Vec<Vote> {
    let mut votes = Vec::new();
    for (group, text) in text.split(';').map(str::trim).filter(|text| !text.is_empty()).enumerate()
    {
        let words: Vec<&str> = text.split(' ').collect();
        for at in 0..words[0].parse().unwrap() {
            let mut vote = Vote {
                id: format!("{who} {group} {at}"),
                sender: Some(format!("{who} {group} {at}")),
                received: day.to_owned(),
                link: Some("usb 2.0".to_owned()),
                ..Vote::default()
            };
            let line = &mut vote.headline;
            line.figures = [(FIGURE, words[1].parse().unwrap())].into();
            line.verdict = Some(who.to_owned());
            for word in &words[2..] {
                match word.split_once(':').unwrap_or((word, "")) {
                    ("over", link) => vote.link = Some(link.replace('-', " ")),
                    ("on", day) => vote.received = day.to_owned(),
                    ("as", sender) => vote.sender = Some(sender.to_owned()),
                    ("own", _) => vote.sender = None,
                    ("is", levels) => line.levels = levels.split(',').map(str::to_owned).collect(),
                    ("thin", _) => line.thin.extend([FIGURE]),
                    ("fake", _) => line.is_fake = true,
                    ("trick", _) => line.faults = vec!["span-cache".to_owned()],
                    _ => (line.is_damaged, line.faults) = (true, vec!["capacity".to_owned()]),
                }
            }
            votes.push(vote);
        }
    }
    votes
}

/// What a line says of its figure: "1500 disputed 3:4"; of reports of fakes and damage, with a "!"
/// if these hold; and whose verdict it has.
fn said(votes: &[Vote]) -> [String; 2] {
    let Consensus { figures, fake, damaged, verdict, .. } = Consensus::of(votes);
    let figure = figures
        .get(&FIGURE)
        .map(|it| format!("{} {} {}:{}", it.median, it.standing, it.senders, it.against));
    let poll = |name: &str, poll: Poll| match (poll.yes, poll.holds) {
        (0, _) => String::new(),
        (yes, holds) => format!("{name} {yes}:{}{} ", poll.no, if holds { "!" } else { "" }),
    };
    let verdict = verdict.unwrap_or_else(|| "none".to_owned());
    let told = format!("{}{}{verdict}", poll("fake", fake), poll("damage", damaged));
    [figure.unwrap_or_default(), told]
}

#[test]
fn what_is_confirmed_needs_twice_as_many_to_change() {
    crate::cases::check_rows("src/consensus/attacks.txt", |attack| {
        let (honest, lies) = attack.split_once(": ").unwrap().1.split_once('/').unwrap();
        said(&[votes(lies, "lie", "2"), votes(honest, "honest", "1")].concat()).join(", ")
    });
}

#[test]
fn each_link_has_its_own_count_and_figures() {
    let found = Consensus::of(&votes("5 32; 3 90 over:usb-3.0", "honest", "1"));
    let links = found.links.iter();
    let links = links.map(|it| (it.link.as_deref(), it.voices, it.figures[&FIGURE].median));
    assert!(links.eq([(Some("usb 2.0"), 5, 32.0), (Some("usb 3.0"), 3, 90.0)]));
}

/// Regression: a thousand runs of one sender set the lowest and the highest value.
#[test]
fn the_lowest_and_the_highest_are_those_of_senders() {
    let all =
        votes("1 100; 1 110; 1 120; 1 60 as:a on:2; 1 110 as:a on:2; 1 200 as:a on:2", "", "1");
    let found = Consensus::of(&all).figures[&FIGURE];
    assert_eq!((found.low, found.high, found.senders), (100.0, 120.0, 4));
}

proptest::proptest! {
    /// Once honest senders have confirmed a figure, fewer than twice as many cannot move it out of
    /// their range, whatever they send, when, from where and how often.
    #[test]
    fn a_figure_stays_among_honest_ones(
        honest in proptest::collection::vec(80.0f64..120.0, 3..12),
        lies in proptest::collection::vec((0usize..23, 2u32..9, -3.0f64..9.0, 0usize..3), 0..60),
    ) {
        let mut all: Vec<Vote> = honest.iter().flat_map(|it| votes(&format!("1 {it}"), &format!("honest {it}"), "1")).collect();
        for (who, day, log, link) in lies.iter().filter(|it| it.0 < 2 * honest.len() - 1) {
            let link = ["usb-2.0", "usb-3.0", ""][*link];
            all.extend(votes(&format!("1 {} as:{who} over:{link}", 10f64.powf(*log)), "lie", &day.to_string()));
        }
        let found = Consensus::of(&all).figures[&FIGURE];
        proptest::prop_assert!((80.0..=120.0).contains(&found.median) && found.is_confirmed(), "{found:?}");
    }
}

#[test]
fn a_host_that_ran_often_counts_once() {
    let found = spread(
        [("a", 10.0), ("a", 10.0), ("a", 10.0), ("b", 1.0), ("c", 2.0)]
            .map(|(host, value)| (Some(host), value)),
    )
    .unwrap();
    assert_eq!(
        (found.median, found.low, found.high, found.runs, found.hosts),
        (2.0, 1.0, 10.0, 5, 3)
    );
    assert_eq!(spread::<u8>([(None, 1.0), (None, 2.0)]).map(|found| found.hosts), Some(2));
    assert_eq!(spread::<u8>([]), None);
}
