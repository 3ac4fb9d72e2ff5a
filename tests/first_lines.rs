//! What must hold for the first lines of every run: the gate of the tests asks it, and
//! `cargo validation truth --findings --parts first-lines`.

use record::collection::HeadlineFigure;
use record::text::capitalised;
use record::{Answer, Finding, Fitness, Outcome, Published, Record, Severity};

/// A run as it is shown: its record, what a terminal has of it, and its page.
pub struct Shown<'a> {
    pub record: &'a Record,
    pub screen: &'a str,
    pub page: &'a str,
}

/// A property: its name, and what is wrong with it.
type Property = (&'static str, fn(&Shown<'_>) -> Vec<String>);

/// All of them.
pub const PROPERTIES: [Property; 5] = [
    ("told and not tested", told_and_not_tested),
    ("names its own run", names_its_own_run),
    ("levels differ", levels_that_differ),
    ("claim is left open", claims_left_open),
    ("does not validate", does_not_validate),
];

/// What is wrong with a run, in a sentence each.
pub fn wrong(shown: &Shown<'_>) -> Vec<String> {
    let of = |(name, wrong): &Property| -> Vec<String> {
        wrong(shown).into_iter().map(|why| format!("{name}: {why}")).collect()
    };
    PROPERTIES.iter().flat_map(of).collect()
}

/// Words after "Not tested:", and the finding that tells of it.
const SUBJECTS: [(&str, &str); 6] = [
    ("with full caches", "slc-cache"),
    ("when hot", "throttling"),
    ("flush is honest", "flush"),
    ("so fast everywhere", "along-the-medium"),
    ("whether it is genuine", "capacity"),
    ("whether it is genuine", "verify"),
];

fn told_and_not_tested(shown: &Shown<'_>) -> Vec<String> {
    let findings = &shown.record.findings;
    let is_told = |id: &str| findings.iter().any(|it| it.id == id && it.severity > Severity::Info);
    let statement = findings.iter().find(|it| it.id == "verdict").map_or("", |it| &it.statement);
    let open = statement.split_once("Not tested: ").map_or("", |(_, open)| open);
    let subjects = SUBJECTS.iter().filter(|(words, id)| open.contains(words) && is_told(id));
    let summary = shown.record.summary.clone().unwrap_or_default();
    let not_tested = |answer: Answer| answer == Answer::NotTested && summary.genuine != Answer::No;
    let answers = [("genuine", summary.genuine), ("healthy", summary.healthy)].into_iter();
    let beside = answers.filter(|(_, answer)| not_tested(*answer));
    let beside = beside.filter(|_| ["capacity", "verify"].iter().any(|id| is_told(id)));
    let named = |id: &str| format!("{id}: {statement}");
    subjects.map(|(_, id)| named(id)).chain(beside.map(|(what, _)| named(what))).collect()
}

fn names_its_own_run(shown: &Shown<'_>) -> Vec<String> {
    let words = |command: &[String]| {
        let mut words: Vec<String> = command.iter().skip(1).cloned().collect();
        words.retain(|word| word != "--seed" && word != "1");
        words.sort();
        words
    };
    let own = words(&shown.record.run.command);
    let steps = findings::next_steps(shown.record).into_iter().map(|step| step.command);
    steps.filter(|step| words(step) == own).map(|step| step.join(" ")).collect()
}

/// The words with which a screen gives a level.
fn leads(level: Fitness) -> [String; 2] {
    [format!("{} for ", level.word().to_uppercase()), format!("{}: ", capitalised(level.word()))]
}

/// The levels that a text gives a use.
fn told(text: &str, noun: &str) -> Vec<Fitness> {
    let names_it = |lead: &String| {
        let of_level = text.match_indices(lead.as_str());
        let mut sentences = of_level.map(|(at, lead)| &text[at + lead.len()..]);
        sentences.any(|rest| {
            let end = [". ", ": ", "; ", ".\n"].iter().filter_map(|end| rest.find(end)).min();
            rest[..end.unwrap_or(rest.len())].contains(noun)
        })
    };
    Fitness::ALL.into_iter().filter(|level| leads(*level).iter().any(names_it)).collect()
}

fn levels_that_differ(shown: &Shown<'_>) -> Vec<String> {
    let record = shown.record;
    let screen = shown.screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_refused = |finding: &Finding| matches!(finding.outcome, Some(Outcome::Unusable { .. }));
    let is_refused = record.findings.iter().any(is_refused);
    let is_asked = record.run.command.iter().any(|word| word == "--for");
    let (mut wrong, mut judged) = (Vec::new(), Vec::new());
    for of in findings::use_levels(record) {
        let (noun, level) = (findings::noun_of_use(record, of.wanted), of.level);
        let is_badge = |part: &str| {
            part.starts_with(&capitalised(noun))
                && part.contains(&format!("<span>{}", level.word()))
        };
        if !shown.page.split("<b>").any(is_badge) {
            wrong.push(format!("the page does not say {noun}: {}", level.word()));
        }
        let on_screen = told(&screen, &findings::name_of_use(record, of.wanted));
        let has_verdict = record.findings.iter().any(|it| it.id == of.wanted.verdict_id());
        let may_be_silent = is_refused || level < Fitness::NotSuitable || is_asked && !has_verdict;
        if !(on_screen == [level] || on_screen.is_empty() && may_be_silent) {
            wrong.push(format!("{noun} is {level:?}, and on the screen {on_screen:?}: {screen}"));
        }
        if level >= Fitness::NotSuitable && (has_verdict || !is_asked) {
            judged.push(level >= Fitness::Usable);
        }
    }
    let fit = record.summary.as_ref().map_or(Answer::NotTested, |summary| summary.fit);
    let (any, all) = (judged.contains(&true), !judged.contains(&false));
    let is_right = match fit {
        Answer::Yes => any && all,
        Answer::Partly => any && !all,
        Answer::No => !any,
        Answer::NotTested | Answer::NoSign => judged.is_empty(),
        Answer::Inconclusive => !any || is_asked,
    };
    if !is_right {
        wrong.push(format!("fit is {fit:?} where levels are good enough: {judged:?}"));
    }
    wrong
}

/// Claims of a rate or a p99 that are told to be open although the run has the figure beside them.
fn claims_left_open(shown: &Shown<'_>) -> Vec<String> {
    let Some(summary) = &shown.record.summary else { return Vec::new() };
    let claims = shown.record.medium.claims.clone().unwrap_or_default();
    let ends = summary.random_write_4k_iops_low.zip(summary.random_write_4k_iops_high);
    let is_rate = claims.random_write_iops.zip(ends);
    let is_rate = is_rate.is_some_and(|(least, (low, high))| least < low || least > high);
    let writes = findings::Figures::of(shown.record).cell(HeadlineFigure::RandomWrite4k);
    let p99 = writes.and_then(|cell| cell.metrics.latency_ns.as_ref()?.ci95.get("p99"));
    let is_p99 = claims
        .write_p99_ns
        .zip(p99)
        .is_some_and(|(most, [low, high])| most < *low || most >= *high);
    let open = shown.record.findings.iter().filter(|it| {
        it.outcome == Some(Outcome::Claim { holds: None })
            && (is_rate && it.statement.contains("random writes at")
                || is_p99 && it.statement.contains("a p99 of"))
    });
    open.map(|it| it.statement.clone()).collect()
}

fn does_not_validate(shown: &Shown<'_>) -> Vec<String> {
    let run = Published::from(shown.record).json().to_string();
    let read = collection::read(run.as_bytes(), &collection::UploadLimits::default());
    read.err().map(|refused| refused.to_string()).into_iter().collect()
}
