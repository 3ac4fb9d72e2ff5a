//! The wide table: one line for each medium, with random write first, longest stall second.

use askama::Template;
use record::MediumKind;
use record::collection::{CollectionLine, HeadlineFigure, NO_TIME, Origin, Page, Query};
use record::text::printable;
use report::{display, words};

use super::address::{self, Links, SiteInfo};
use super::{SiteFrame, figures, query};

/// Most media that can be compared at once.
pub const MAX_COMPARED: usize = 8;

/// A page of the table: the lines that match a query, with the form for other queries. `page` has
/// the lines in the order to show.
pub fn table(site: &SiteInfo, page: &Page, asked: &Query) -> String {
    TablePage::of(site, page, asked).render().expect("a template that compiled renders into memory")
}

#[derive(Template)]
#[template(path = "site/table.html")]
struct TablePage {
    shell: SiteFrame,
    total: u64,
    heading: String,
    categories: Vec<CategoryLink>,
    heads: Vec<Head>,
    rows: Vec<Row>,
    form: Form,
    pages: Vec<PageLink>,
    summary: String,
    compare: String,
    downloads: Vec<(&'static str, String)>,
    /// Query of this page without its page number, for the script.
    own: String,
    /// Address of all lines for the script.
    source: String,
    simulated: String,
}

struct CategoryLink {
    name: String,
    href: String,
    here: bool,
}

/// A column head. `class` is the class of its cells, by which the column can be hidden.
struct Head {
    class: String,
    name: &'static str,
    unit: &'static str,
    href: String,
    /// "ascending", "descending", or empty if the table is not sorted by it.
    sorted: &'static str,
    /// True if the largest value is at the top when the order is not reversed.
    falls: bool,
    numeric: bool,
    key: &'static str,
}

struct Row {
    slug: String,
    name: String,
    href: String,
    facts: String,
    badges: Vec<(&'static str, &'static str)>,
    cells: Vec<Option<FigureCell>>,
    capacity: String,
    interface: String,
    runs: String,
    latest: String,
    verdict: String,
}

pub(super) struct FigureCell {
    pub value: String,
    pub place: String,
    /// Lowest and highest run, and the number of runs and hosts.
    pub runs: String,
    /// End of a CSS class: "0" to "4", or "u" if too few senders agree.
    pub level: String,
}

struct PageLink {
    text: String,
    href: String,
    here: bool,
    rel: &'static str,
}

/// Values of the form when the page is opened.
struct Form {
    action: String,
    kinds: Vec<(&'static str, String, bool)>,
    origins: Vec<(&'static str, &'static str, bool)>,
    classes: [&'static str; 13],
    thresholds: Vec<Threshold>,
    sort: &'static str,
    /// Number of filled fields in the collapsed part.
    folded: usize,
}

struct Threshold {
    name: &'static str,
    label: String,
    unit: &'static str,
    first: bool,
}

impl TablePage {
    fn of(site: &SiteInfo, page: &Page, asked: &Query) -> TablePage {
        let links = Links { site, depth: 0 };
        let category = category_of(asked);
        let heading = match &category {
            Some(category) if category.query != Query::default() => {
                format!("{}: {}", printable(&site.title), category.name)
            }
            _ => printable(&site.title),
        };
        let data = |name: &str| links.file(&format!("data/collection.{name}"));
        TablePage {
            shell: SiteFrame::new(links, heading.clone(), "table"),
            total: page.total,
            heading,
            categories: category_links(&links, asked),
            heads: heads(&links, asked),
            rows: page.lines.iter().map(|line| row(&links, line)).collect(),
            form: form(&links, asked),
            pages: page_links(&links, page, asked),
            summary: summary(page, asked),
            compare: links.text("compare"),
            downloads: vec![("CSV", data("csv")), ("JSON", data("json"))],
            own: query::to_text(&Query { page: 0, ..asked.clone() }),
            source: links.file("data/table.json"),
            simulated: links.table(&Query { origins: vec![Origin::Simulated], ..Query::default() }),
        }
    }
}

/// Category of a query, whatever its page.
fn category_of(asked: &Query) -> Option<address::Category> {
    let plain = Query { page: 0, ..asked.clone() };
    address::categories().into_iter().find(|category| category.query == plain)
}

fn category_links(links: &Links, asked: &Query) -> Vec<CategoryLink> {
    let here = category_of(asked);
    address::categories()
        .into_iter()
        .filter(|category| links.site.has(&category.query))
        .map(|category| CategoryLink {
            here: here.as_ref() == Some(&category),
            href: links.table(&category.query),
            name: category.name,
        })
        .collect()
}

/// The figure by which lines are in order: the most decisive one.
const FIRST: HeadlineFigure = HeadlineFigure::ALL[0];

fn heads(links: &Links, asked: &Query) -> Vec<Head> {
    let head = |key, class: &str, name, unit, numeric, falls| Head {
        class: class.to_owned(),
        name,
        unit,
        href: links.sorted(asked, key),
        sorted: if key == FIRST.name() { "descending" } else { "" },
        falls,
        numeric,
        key,
    };
    let figure = |(at, it): (usize, HeadlineFigure)| {
        let (name, unit) = (figures::head(it), figures::column_unit(it));
        head(it.name(), &format!("c{at}"), name, unit, true, !it.smaller_is_better())
    };
    let mut heads = vec![head("name", "name", "Medium", "", false, false)];
    heads.extend(HeadlineFigure::ALL.into_iter().enumerate().map(figure));
    heads.push(head("capacity", "capacity", "Capacity", "GB", true, true));
    heads.push(head("runs", "count", "Runs", "", true, true));
    heads.push(head("latest", "latest", "Latest", "", false, true));
    heads
}

impl FigureCell {
    /// Table cell of a figure; `None` if the line has no usable one.
    pub fn of(line: &CollectionLine, figure: HeadlineFigure) -> Option<FigureCell> {
        let spread = line.figures.get(&figure).filter(|spread| figures::sound(spread))?;
        let range = figures::range(figure, spread).map(|range| range + ", ").unwrap_or_default();
        Some(FigureCell {
            value: figures::bare(figure, spread.median),
            place: figures::place(figure, spread.median),
            runs: range + &figures::counts(spread),
            level: figures::grade_class(line, figure, spread),
        })
    }
}

fn row(links: &Links, line: &CollectionLine) -> Row {
    let kind = words::kind(line.model.kind);
    let classes = printable(&line.classes.join(" "));
    Row {
        slug: line.slug.clone(),
        name: printable(&line.name),
        href: links.medium(&line.slug),
        facts: [kind.to_owned(), classes]
            .into_iter()
            .chain(reports(line))
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" · "),
        badges: badges(line),
        cells: HeadlineFigure::ALL.map(|figure| FigureCell::of(line, figure)).into(),
        capacity: Some(line.model.capacity_gb)
            .filter(|gb| *gb > 0)
            .map_or_else(|| "–".to_owned(), |gb| gb.to_string()),
        interface: line.interface.as_deref().map(printable).unwrap_or_default(),
        runs: line.runs.to_string(),
        latest: day(&line.latest),
        verdict: line.verdict.as_deref().map(short_verdict).unwrap_or_default(),
    }
}

/// Labels shown before a line's figures: class and word.
pub(crate) fn badges(line: &CollectionLine) -> Vec<(&'static str, &'static str)> {
    let origin = match line.origin {
        Origin::Measured => None,
        Origin::Imported => Some(("imported", "imported")),
        Origin::Reference => Some(("reference", "reference")),
        Origin::Simulated => Some(("simulated", "simulated")),
    };
    let states = [
        line.is_fake.then_some(("fake", "fake")),
        line.is_damaged.then_some(("fake", "damaged")),
        (!line.is_listed).then_some(("imported", "not ranked")),
    ];
    states.into_iter().chain([origin]).flatten().collect()
}

/// What senders report of fakes and damage: "1 of 4 reports a fake".
pub(crate) fn reports(line: &CollectionLine) -> Vec<String> {
    let all = if line.senders > 0 { line.senders } else { line.runs };
    let report = |(count, what): (u64, &str)| {
        let verb = if count == 1 { "reports" } else { "report" };
        (count > 0).then(|| format!("{count} of {all} {verb} {what}"))
    };
    [(line.fakes, "a fake"), (line.damaged, "damage")].into_iter().filter_map(report).collect()
}

/// The day of an RFC 3339 time.
pub(crate) fn day(time: &str) -> String {
    if time == NO_TIME {
        return String::new();
    }
    printable(time.get(..10).unwrap_or(time))
}

/// The first words of a verdict, for a line of a table.
pub(crate) fn short_verdict(verdict: &str) -> String {
    const MOST: usize = 160;
    let verdict = printable(verdict);
    if display::width(&verdict) <= MOST {
        return verdict;
    }
    let cut = words::clipped(&verdict, MOST);
    let whole = cut.rfind(' ').map_or(cut.as_str(), |end| &cut[..end]);
    format!("{} …", whole.trim_end_matches([',', ':', ';']))
}

fn form(links: &Links, asked: &Query) -> Form {
    let first = |figure: &HeadlineFigure| figures::MAIN[..2].contains(figure);
    let threshold = |figure: HeadlineFigure| Threshold {
        name: figure.name(),
        label: format!(
            "{}, at {}",
            figures::head(figure),
            if figure.smaller_is_better() { "most" } else { "least" }
        ),
        unit: query::unit_name(figure.unit()),
        first: first(&figure),
    };
    let folded = [!asked.kinds.is_empty(), !asked.origins.is_empty()];
    let kind =
        |kind: MediumKind| (kind.name(), super::kind_head(kind), asked.kinds.contains(&kind));
    let origin =
        |origin: Origin| (origin.name(), origin_words(origin), asked.origins.contains(&origin));
    Form {
        action: links.table(&Query::default()),
        kinds: MediumKind::ALL
            .into_iter()
            .filter(|kind| *kind != MediumKind::Simulated)
            .map(kind)
            .collect(),
        origins: Origin::ALL.into_iter().map(origin).collect(),
        classes: CLASSES,
        thresholds: HeadlineFigure::ALL.into_iter().map(threshold).collect(),
        sort: FIRST.name(),
        folded: folded.into_iter().filter(|is_set| *is_set).count(),
    }
}

/// Classes in the form.
const CLASSES: [&str; 13] =
    ["C2", "C4", "C6", "C10", "U1", "U3", "V6", "V10", "V30", "V60", "V90", "A1", "A2"];

/// Origin of figures in words.
pub(crate) fn origin_words(origin: Origin) -> &'static str {
    match origin {
        Origin::Measured => "measured by Flashmark",
        Origin::Imported => "imported from other tools",
        Origin::Reference => "published by others",
        Origin::Simulated => "simulated media",
    }
}

const PER_PAGE: u64 = query::LINES as u64;

/// Links to the first and the last page, those around this one, and the next and previous one.
fn page_links(links: &Links, page: &Page, asked: &Query) -> Vec<PageLink> {
    let (here, pages) = (u64::from(asked.page), page.total.div_ceil(PER_PAGE));
    if pages < 2 {
        return Vec::new();
    }
    let link = |at: u64, text: String, rel: &'static str| PageLink {
        href: links.table(&Query { page: at.min(u64::from(u32::MAX)) as u32, ..asked.clone() }),
        here: at == here && rel.is_empty(),
        text,
        rel,
    };
    let near = (0..pages).filter(|at| *at == 0 || *at == pages - 1 || at.abs_diff(here) <= 2);
    let mut shown: Vec<PageLink> =
        (here > 0).then(|| link(here - 1, "Previous".to_owned(), "prev")).into_iter().collect();
    shown.extend(near.map(|at| link(at, (at + 1).to_string(), "")));
    shown.extend((here + 1 < pages).then(|| link(here + 1, "Next".to_owned(), "next")));
    shown
}

/// "120 media, the 51st to the 100th, best random write of 4 KiB first".
fn summary(page: &Page, asked: &Query) -> String {
    let media = match page.total {
        1 => "1 medium".to_owned(),
        n => format!("{n} media"),
    };
    let first = u64::from(asked.page) * PER_PAGE + 1;
    let part = match page.lines.len() as u64 {
        0 => String::new(),
        shown if shown == page.total => String::new(),
        shown => format!(", number {first} to {}", first + shown - 1),
    };
    let order = figures::head(FIRST).to_lowercase().replace("kib", "KiB");
    format!("{media}{part}, fastest {order} first")
}

/// Sorts lines as the collection does, the fastest first: figures without a rank after those with
/// one, lines without the figure last, ties by name.
pub fn order(lines: &mut [&CollectionLine]) {
    let figure = |line: &CollectionLine| {
        let spread = line.figures.get(&FIRST).filter(|spread| figures::sound(spread))?;
        Some((spread.median, line.tier(FIRST)?))
    };
    lines.sort_by(|a, b| {
        let order = match (figure(a), figure(b)) {
            (Some((a, tier)), Some((b, other))) => tier.cmp(&other).then(b.total_cmp(&a)),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        order
            .then_with(|| a.name.to_lowercase().cmp(&b.name.to_lowercase()))
            .then_with(|| a.slug.cmp(&b.slug))
    });
}

/// True if a line belongs to a category: by kinds and origins of the query only.
pub fn lies_on(line: &CollectionLine, category: &Query) -> bool {
    let kind = category.kinds.is_empty() || category.kinds.contains(&line.model.kind);
    let origin = if category.origins.is_empty() {
        line.origin != Origin::Simulated
    } else {
        category.origins.contains(&line.origin)
    };
    kind && origin
}
