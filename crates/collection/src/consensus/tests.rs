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

/// Attack: honest voices of the first day / false ones of the second = what the line says.
const ATTACKS: &str = "
    one sinks a line of one: 1 1500 / 1 2.84 = 1500 unconfirmed 1:1
    three sink a line of three: 3 1500 / 3 2.84 = 1500 disputed 3:3
    five raise a line of three: 3 1500 / 5 9e5 = 1500 disputed 3:5
    six are twice as many: 3 1500 / 6 9e5 = 900000 confirmed 6:3
    two change nothing: 4 1500 / 2 9e5 = 1500 confirmed 4:2
    three on a faster link: 7 1500 / 3 9e5 over:usb-3.0 = 1500 confirmed 7:0
    13 on a faster link: 7 1500 / 13 9e5 over:usb-3.0 = 1500 confirmed 7:0
    14 on a faster link: 7 1500 / 14 9e5 over:usb-3.0 = 900000 confirmed 14:0
    honest ones on it too: 1 1500 as:a; 1 1500 as:b; 1 1500 as:c; 1 1500 as:a over:usb-3.0; 1 1500 as:b over:usb-3.0 / 4 9e5 over:usb-3.0 = 1500 confirmed 3:0
    honest ones on two links: 3 1500; 3 90 over:sata / 11 9e5 over:usb-3.0 = 90 confirmed 3:0
    a link of one's own: 3 1500 / 1 9e5 over:sd; 1 9e5 over:ata; 1 9e5 over:sas = 1500 confirmed 3:0
    one from many hosts: 4 1500 / 60 2.84 as:liar = 1500 confirmed 4:1
    a chain: 3 1500 / 1 2200 on:2; 1 3200 on:3; 1 4600 on:4; 1 6700 on:5; 1 9700 on:6 = 1500 disputed 4:4
    a little more: 3 1500 / 5 2200 = 1500 confirmed 8:0
    first honest: 3 1500; 1 1500 as:liar / 9 2.84 as:liar = 1500 confirmed 3:1
    three I/Os a cell: 3 1500 / 9 9e5 thin = 1500 confirmed 3:0
    nobody measured enough: / 3 9e5 thin = 900000 thin 0:0
    at one time, as many: 3 1500 / 3 9e5 on:1 = 1500 unconfirmed 3:3
    at one time, fewer than half: 5 1500 / 2 9e5 on:1 = 1500 confirmed 5:2
    no numbers: 3 1500 / 1 NaN; 1 inf; 1 0; 1 -1 = 1500 confirmed 3:0
    a first liar: 1 1000 on:0; 1 100; 1 110 on:2; 1 90 on:3 / = 110 confirmed 3:1
    two are not three: 2 100 / = 100 unconfirmed 2:0
    own runs: 1 100 own / = 100 confirmed 0:0
    own runs over two links: 5 32 own; 3 90 own over:usb-3.0 / = 90 confirmed 0:0
    one reports a fake: 3 1500 is:root=good / 1 9e5 fake = fake 1:3 honest
    one on a line of one: 1 1500 is:root=good / 1 9e5 fake = fake 1:1 honest
    five report a fake: 3 1500 is:root=good / 5 9e5 fake = fake 5:3 honest
    their figures: 3 1500 / 5 9e5 fake = 1500 confirmed 3:0
    six report a fake: 3 1500 is:root=good / 6 9e5 fake = fake 6:3! lie
    two alone report a fake: / 2 1 fake = fake 2:0 none
    three alone report a fake: / 3 1 fake = fake 3:0! lie
    four against three: 3 1500 is:root=good / 4 1500 damaged = damage 4:3 honest
    damage first: 1 1500 is:root=good / 1 1500 damaged on:0 = damage 1:1 honest
    six report damage: 3 1500 is:root=good / 6 1500 damaged = damage 6:3! lie
    three alone report damage: / 3 1500 damaged = damage 3:0! lie
    another level: 3 1500 is:root=good / 5 1500 is:root=poor = honest
    twice another level: 3 1500 is:root=good / 6 1500 is:root=poor = lie
    a level nobody judged: 3 1500 is:root=good / 5 1500 is:root=good,database=poor = honest
    the same claims before, with another figure: 3 1500 is:root=good / 1 9e5 is:root=good on:0 = honest
    judged nothing: 3 1500 is:root=good / 5 1500 = honest
    a trick that one found: 3 1500 is:root=good / 2 1500 is:root=good trick = honest
";

#[test]
fn what_is_confirmed_needs_twice_as_many_to_change() {
    for attack in ATTACKS.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (_, rest) = attack.split_once(": ").unwrap();
        let (sent, says) = rest.split_once(" = ").unwrap();
        let (honest, lies) = sent.split_once('/').unwrap();
        let all = [votes(lies, "lie", "2"), votes(honest, "honest", "1")].concat();
        let said = said(&all);
        assert!(said.iter().any(|it| it == says), "{attack}: {said:?}");
    }
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
