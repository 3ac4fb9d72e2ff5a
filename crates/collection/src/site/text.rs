//! Pages of text: methodology, meaning of the findings, downloads. Their source is docs/, so that
//! site and project never differ.

use askama::Template;
use pages::chart::escape;
use pulldown_cmark::{Alignment, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use record::collection::HeadlineFigure;
use record::text::printable;

use super::address::{Links, SiteInfo};
use super::{SiteFrame, data};

/// A page of text beside [`methodology`] and [`about`].
pub struct Text {
    /// Name of the page in addresses: "field-classes".
    pub name: &'static str,
    /// File below docs/, without its ending.
    file: &'static str,
    markdown: &'static str,
}

impl Text {
    /// The first line of its Markdown, without the `#`.
    fn title(&self) -> &'static str {
        self.markdown.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// True if it is in the list of pages at the foot of each page; pages about sources are linked
    /// from [`SOURCES`].
    fn is_listed(&self) -> bool {
        self.name == SOURCES || !self.file.starts_with("field/")
    }
}

const SOURCES: &str = "sources";

macro_rules! texts {
    ($($name:literal: $file:literal,)*) => {
        /// The pages of text beside [`methodology`] and [`about`].
        pub const TEXTS: &[Text] =
            &[$(Text { name: $name, file: $file, markdown: include_str!(concat!("../../docs/", $file, ".md")) }),*];
    };
}

texts! {
    "glossary": "glossary",
    "sources": "field/README",
    "truth": "truth",
    "agreement": "agreement",
    "matrix": "matrix",
    "simulated-media": "simulated-media",
    "field-allocation-units": "field/allocation-units",
    "field-cautions": "field/cautions",
    "field-cheats": "field/cheats",
    "field-classes": "field/classes",
    "field-classic-tools": "field/classic-tools",
    "field-counterfeits": "field/counterfeits",
    "field-ext2": "field/ext2",
    "field-ftl": "field/ftl",
    "field-identity": "field/identity",
    "field-iozone": "field/iozone",
    "field-linux-io": "field/linux-io",
    "field-peers": "field/peers",
    "field-published-figures": "field/published-figures",
    "field-rrdtool": "field/rrdtool",
    "field-statistics": "field/statistics",
}

const METHODOLOGY_FILE: &str = "methodology";
/// All of docs/findings/ on one page.
const FINDINGS_FILE: &str = "findings/";
const METHODOLOGY: &str = include_str!("../../docs/methodology.md");
const COLLECTION: &str = include_str!("../../templates/site/methodology.md");

#[derive(Template)]
#[template(path = "site/text.html")]
struct TextPage {
    shell: SiteFrame,
    /// HTML made from our own text: safe.
    body: String,
    more: Vec<(&'static str, String)>,
}

/// Page about the figures of a collection, and the measurement of each.
pub fn methodology(site: &SiteInfo) -> String {
    let links = Links { site, depth: 0 };
    let own = METHODOLOGY.split_once('\n').map_or("", |(_, rest)| rest);
    page(&links, METHODOLOGY_FILE, "Methodology", &format!("{COLLECTION}\n{own}"))
}

/// A page of text by its name in [`TEXTS`], or "findings"; `None` if there is none.
pub fn text_page(site: &SiteInfo, name: &str) -> Option<String> {
    let links = Links { site, depth: 0 };
    if name == "findings" {
        return Some(page(&links, FINDINGS_FILE, "Findings", &findings_text()));
    }
    let text = TEXTS.iter().find(|text| text.name == name)?;
    Some(page(&links, text.file, text.title(), text.markdown))
}

/// A page whose Markdown is that of a file in docs/; its links are relative to this file.
fn page(links: &Links, file: &str, title: &str, markdown: &str) -> String {
    let name = name_of(file);
    let pages = [("methodology", "Methodology"), ("findings", "Findings")].into_iter();
    let pages = pages
        .chain(TEXTS.iter().filter(|text| text.is_listed()).map(|text| (text.name, text.title())));
    let page = TextPage {
        shell: SiteFrame::new(*links, format!("{title} - {}", links.site.title), "methodology"),
        body: to_html(markdown, file, links),
        more: pages
            .filter(|(other, _)| Some(*other) != name)
            .map(|(other, title)| (title, links.text(other)))
            .collect(),
    };
    page.render().expect("a template that compiled renders into memory")
}

/// All pages about findings in one, each with its id as an anchor.
fn findings_text() -> String {
    let mut text = "# Findings\n\nWhat a run's conclusions mean, what they rest on, and where the thresholds come from.\n".to_owned();
    for id in findings::IDS {
        let Some(page) = findings::about(id) else { continue };
        let (title, rest) = page.split_once('\n').unwrap_or((page, ""));
        text += &format!("\n## {} {{#{id}}}\n{rest}\n", title.trim_start_matches("# "));
    }
    text
}

/// Markdown of our own, from that file of docs/, as HTML. Headings get anchors, tables a scrollable
/// box, and links lead to pages of this site; a link without such a page becomes text. Markup in
/// the text stays text.
fn to_html(markdown: &str, file: &str, links: &Links) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut events: Vec<Event> = Vec::new();
    let mut heading: Option<(HeadingLevel, Option<CowStr>, usize)> = None;
    let (mut dropped_links, mut about) = (Vec::new(), String::new());
    let (mut heads, mut column): (Vec<String>, usize) = (Vec::new(), 0);
    let begin = |level, id| {
        Event::Start(Tag::Heading { level, id, classes: Vec::new(), attrs: Vec::new() })
    };
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::Heading { level, id, .. }) => {
                heading = Some((level, id, events.len()));
                events.push(begin(level, None));
            }
            Event::End(TagEnd::Heading(level)) => {
                if let Some((level, id, at)) = heading.take() {
                    about = words_of(&events[at..]);
                    let id = id.or_else(|| Some(anchor(&about).into()));
                    events[at] = begin(level, id);
                }
                events.push(Event::End(TagEnd::Heading(level)));
            }
            Event::End(TagEnd::TableHead) => {
                heads = cells_of(&events);
                events.push(Event::End(TagEnd::TableHead));
            }
            Event::Start(Tag::TableRow) => {
                column = 0;
                events.push(Event::Start(Tag::TableRow));
            }
            Event::Start(Tag::TableCell) if !heads.is_empty() => {
                events.push(Event::Html(match heads.get(column).map(String::as_str) {
                    _ if column == 0 => "<th scope=\"row\">".into(),
                    None | Some("") => "<td>".into(),
                    Some(head) => format!("<td data-h=\"{}\">", escape(head)).into(),
                }));
            }
            Event::End(TagEnd::TableCell) if !heads.is_empty() => {
                let end = if column == 0 { "</th>" } else { "</td>" };
                events.push(Event::Html(end.into()));
                column += 1;
            }
            Event::Start(Tag::Table(columns)) => {
                let label = format!("aria-label=\"Table: {}\"", escape(&about));
                let scroll =
                    format!("<div class=\"scroll\" tabindex=\"0\" role=\"group\" {label}>");
                events.push(Event::Html(scroll.into()));
                // An alignment would be an inline style, which the policy forbids.
                events.push(Event::Start(Tag::Table(vec![Alignment::None; columns.len()])));
            }
            Event::End(TagEnd::Table) => {
                heads.clear();
                events.extend([Event::End(TagEnd::Table), Event::Html("</div>".into())])
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let to = target(&dest_url, file, links);
                dropped_links.push(to.is_none());
                events.extend(to.map(|to| {
                    Event::Start(Tag::Link { link_type, dest_url: to.into(), title, id })
                }));
            }
            Event::End(TagEnd::Link) => {
                if dropped_links.pop() == Some(false) {
                    events.push(Event::End(TagEnd::Link));
                }
            }
            Event::Html(text) | Event::InlineHtml(text) => events.push(Event::Text(text)),
            // A picture would have to be a file of the site; its alternative text stays.
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => {}
            other => events.push(other),
        }
    }
    let mut out = String::new();
    html::push_html(&mut out, events.into_iter());
    // An empty head is not a head, and a scrollable region must be focusable.
    out.replace("<th></th>", "<td></td>")
        .replace("<th>", "<th scope=\"col\">")
        .replace("<table>", "<table class=\"folds\">")
        .replace("<pre>", "<pre tabindex=\"0\" role=\"group\" aria-label=\"Code\">")
}

/// Texts of the cells of a table head that ends here.
fn cells_of(events: &[Event]) -> Vec<String> {
    let begin = events.iter().rposition(|event| *event == Event::Start(Tag::TableHead));
    let mut cells: Vec<String> = events[begin.unwrap_or(0)..]
        .split(|event| *event == Event::End(TagEnd::TableCell))
        .map(words_of)
        .collect();
    // The last cell is followed by an empty text.
    cells.pop();
    cells
}

/// The text of some events.
fn words_of(events: &[Event]) -> String {
    let text = |event: &Event| match event {
        Event::Text(text) | Event::Code(text) => text.to_string(),
        _ => String::new(),
    };
    events.iter().map(text).collect()
}

/// Anchor of a heading in the usual form: "How certain a rate is" becomes `how-certain-a-rate-is`.
pub fn anchor(heading: &str) -> String {
    let kept = |c: char| match c {
        ' ' | '-' => Some('-'),
        c if c.is_alphanumeric() || c == '_' => Some(c),
        _ => None,
    };
    heading.to_lowercase().chars().filter_map(kept).collect()
}

/// Address on the site for a link in that file of docs/; `None` if the site does not have it.
fn target(to: &str, file: &str, links: &Links) -> Option<String> {
    if to.starts_with('#') || to.starts_with("https://") || to.starts_with("http://") {
        return Some(to.to_owned());
    }
    let (to, anchor) =
        to.split_once('#').map_or((to, String::new()), |(to, anchor)| (to, format!("#{anchor}")));
    let path = linked_path(file, to.strip_suffix(".md")?)?;
    if let Some(id) = path.strip_prefix("findings/") {
        return Some(format!("{}#{id}", links.text("findings")));
    }
    Some(links.text(name_of(&path)?) + &anchor)
}

/// Path that a link `to` in that file refers to: `../field/ftl.md` in `findings/page.md` is
/// `field/ftl.md`; `None` if it leads above the root of these paths.
pub fn linked_path(file: &str, to: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            ".." => drop(parts.pop()?),
            "." | "" => {}
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Name in addresses for a file of docs/.
fn name_of(file: &str) -> Option<&'static str> {
    let own = [(METHODOLOGY_FILE, "methodology"), (FINDINGS_FILE, "findings")].into_iter();
    own.chain(TEXTS.iter().map(|text| (text.file, text.name)))
        .find(|(known, _)| *known == file)
        .map(|(_, name)| name)
}

#[derive(Template)]
#[template(path = "site/about.html")]
struct AboutPage {
    shell: SiteFrame,
    site: String,
    files: Vec<(&'static str, String, &'static str)>,
    columns: Vec<(String, &'static str)>,
    media: u64,
    runs: u64,
}

/// Page about the collection and all its downloads. `media` and `runs` are counts.
pub fn about(site: &SiteInfo, media: u64, runs: u64) -> String {
    let links = Links { site, depth: 0 };
    let head = data::csv_head();
    let columns =
        head.trim_end().split(',').map(|name| (name.to_owned(), column_meaning(name))).collect();
    let named = |name, what| (name, links.file(name), what);
    let files = vec![
        named("data/collection.csv", "every medium a line, for spreadsheets and R"),
        named("data/collection.json", "the same as JSON, with verdicts"),
        (
            "data/medium/NAME.json",
            String::new(),
            "a medium with all of its runs: hosts and headline figures",
        ),
        (
            "data/run/ID.json.gz",
            String::new(),
            "a run with every figure, interval, histogram and curve, as a record that flashmark show, report and compare read",
        ),
        named("data/table.json", "the short form that the page's own script reads"),
    ];
    let page = AboutPage {
        shell: SiteFrame::new(links, format!("Data - {}", site.title), "about"),
        site: printable(&site.title),
        files,
        columns,
        media,
        runs,
    };
    page.render().expect("a template that compiled renders into memory")
}

fn column_meaning(name: &str) -> &'static str {
    let of_figure =
        HeadlineFigure::ALL.iter().any(|figure| name.starts_with(&figure.name().replace('-', "_")));
    match name {
        "medium" => "its name in addresses",
        "name" => "what it is called",
        "kind" => {
            "sd, emmc, usb, compact-flash, ssd, nvme, disk, virtual, loop, simulated, unknown"
        }
        "vendor" | "model" => "as the medium says, without case and odd spaces",
        "capacity_gb" => "whole GB (10^9 bytes) as a maker would print it",
        "origin" => "measured, imported, reference, simulated",
        "interface" => "as most senders have it",
        "classes" => "what it claims: speed, UHS, video and application classes",
        "runs" => "runs behind the line",
        "senders" => "senders of these runs; 0 where senders are not told apart",
        "fakes" => "senders (runs, where senders are not told apart) that report a fake of it",
        "damaged" => "the same, that report damage",
        "is_fake" => "whether three senders or more report a fake, and twice as many as do not",
        "is_damaged" => "the same for damage",
        "is_listed" => "whether its name is in the register of names; without it has no rank",
        "latest" => "when the latest run came in",
        "verdict" => "of the first run that claims only what senders agree on",
        _ if !of_figure => "",
        _ if name.ends_with("_runs") => "runs behind the figure",
        _ if name.ends_with("_hosts") => "different hosts among them",
        _ if name.ends_with("_senders") => "senders that agree on it",
        _ if name.ends_with("_against") => "senders that have another value over the same link",
        _ if name.ends_with("_standing") => "confirmed, disputed, unconfirmed, thin",
        _ if name.contains("_low_") => "the lowest sender, or run where senders are not told apart",
        _ if name.contains("_high_") => {
            "the highest sender, or run where senders are not told apart"
        }
        _ => {
            "the value on which senders agree; the median over hosts where senders are not told apart"
        }
    }
}
