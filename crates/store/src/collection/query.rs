//! Lines that fit a query, in its order.

use record::collection::{Line, Origin, Page, Query, SortBy};

use super::connection::Value;
use super::error::While;
use super::{Collection, CollectionError, columns, lines};

/// Lines a page, where nothing is said.
const USUAL: u32 = 50;
/// Lines a page at most.
const MOST: u32 = 500;
/// A line that is looked up by itself takes about as long as so many that are read in a row.
const FEW: u64 = 8;
/// Words that are looked for at most, and how long each may be: a name is shorter than this.
const WORDS: usize = 16;
const LETTERS: usize = 80;

/// A condition that is put together, with the values for its places.
#[derive(Default)]
struct Condition {
    parts: Vec<String>,
    values: Vec<Value>,
}

impl Condition {
    /// Adds a part; `{}` in it is the place of the value.
    fn add(&mut self, part: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        self.parts.push(part.replace("{}", &format!("${}", self.values.len())));
    }

    fn one_of(&mut self, column: &str, names: impl Iterator<Item = &'static str>) {
        let from = self.values.len() + 1;
        self.values.extend(names.map(Value::from));
        self.parts.push(format!("{column} IN ({})", columns::places(from, self.values.len() + 1 - from)));
    }

    /// Each of these words is in the column, whose text is in small letters.
    fn contains(&mut self, column: &str, words: &str) {
        for word in words.split_whitespace().take(WORDS) {
            let word: String = word.to_lowercase().chars().take(LETTERS).collect();
            self.add(&format!("{column} LIKE {{}} ESCAPE '\\'"), format!("%{}%", literally(&word)).as_str());
        }
    }
}

/// A text in which nothing has a meaning to LIKE.
fn literally(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

fn condition(query: &Query) -> Condition {
    let mut condition = Condition::default();
    // A line whose runs all went is kept for its address only.
    // Nearly all have runs: as a sum, so that nobody looks them up one by one in the index over runs.
    condition.parts.push("(runs + 0) > 0".to_owned());
    condition.contains("name_folded", &query.words);
    let shown = [Origin::Measured, Origin::Imported, Origin::Reference];
    let origins = if query.origins.is_empty() { &shown[..] } else { &query.origins };
    condition.one_of("origin", origins.iter().map(|origin| origin.name()));
    if !query.kinds.is_empty() {
        condition.one_of("kind", query.kinds.iter().map(|kind| kind.name()));
    }
    if let Some(gb) = query.capacity_from_gb {
        condition.add("capacity_gb >= {}", gb);
    }
    if let Some(gb) = query.capacity_to_gb {
        condition.add("capacity_gb <= {}", gb);
    }
    for class in query.class.iter().flat_map(|class| class.split_whitespace()).take(WORDS) {
        let class: String = class.to_lowercase().chars().take(LETTERS).collect();
        condition.add("classes LIKE {} ESCAPE '\\'", format!("% {} %", literally(&class)).as_str());
    }
    condition.contains("interface", query.interface.as_deref().unwrap_or_default());
    for (figure, limit) in &query.at_least {
        match (limit.is_nan(), figure.smaller_is_better()) {
            // Nothing is as good as what is no number.
            (true, _) => condition.parts.push("runs < 0".to_owned()),
            (false, true) => condition.add(&format!("{} <= {{}}", columns::figure(*figure)), *limit),
            (false, false) => condition.add(&format!("{} >= {{}}", columns::figure(*figure)), *limit),
        }
    }
    if let Some(fakes) = query.fakes {
        condition.add("is_fake = {}", fakes);
    }
    condition
}

/// What to order by, as the indices have it. Of equals the slug decides, the same way whichever way round.
fn order(query: &Query) -> String {
    let sort = query.sort.unwrap_or(SortBy::Figure(record::collection::Figure::RandomWrite4k));
    let way = |falling: bool| if falling != query.reversed { " DESC" } else { "" };
    match sort {
        SortBy::Figure(figure) => {
            let column = columns::figure(figure);
            format!("({column} IS NULL), {column}{}, slug", way(!figure.smaller_is_better()))
        }
        SortBy::Name => format!("name_folded{}, slug", way(false)),
        SortBy::Capacity => format!("capacity_gb{}, slug", way(false)),
        SortBy::Runs => format!("runs{}, slug", way(true)),
        SortBy::Latest => format!("latest{}, slug", way(true)),
    }
}

impl Collection {
    /// A page of the lines that fit a query. Simulated media are there only where the query asks for them.
    ///
    /// Order: figures best first and lines without the figure last; names and capacities rising; runs and latest falling; each the other
    /// way round where the query is reversed, but lines without the figure still last.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn lines(&self, query: &Query) -> Result<Page, CollectionError> {
        let Condition { parts, mut values } = condition(query);
        let (condition, order) = (parts.join(" AND "), order(query));
        let per_page = query.per_page.unwrap_or(USUAL).clamp(1, MOST);
        let count = format!("SELECT count(*) FROM lines WHERE {condition}");
        self.pool.look(|connection| {
            let total = connection.query(&count, &values).reading()?.into_iter().next().map_or(Ok(0), |mut row| row.number())?;
            let from = u64::from(per_page) * u64::from(query.page);
            if from >= total {
                return Ok(Page { lines: Vec::new(), total });
            }
            // Where enough lines fit, the page is found soon along the index of its order. Where few do, nearly all would be passed on the way,
            // each looked up by itself; then those that fit are collected in one go and sorted.
            let places = if total < FEW * (from + u64::from(per_page)) {
                format!("(WITH fit AS MATERIALIZED (SELECT * FROM lines WHERE {condition}) SELECT number FROM fit")
            } else {
                format!("(SELECT number FROM lines WHERE {condition}")
            };
            let page = format!(
                "SELECT {} FROM {places} ORDER BY {order} LIMIT ${} OFFSET ${}) p \
                 JOIN lines l ON l.number = p.number JOIN line_details d ON d.line = p.number ORDER BY {order}",
                lines::COLUMNS,
                values.len() + 1,
                values.len() + 2
            );
            values.extend([Value::from(per_page), Value::from(from)]);
            let rows = connection.query(&page, &values).reading()?;
            Ok(Page { lines: rows.into_iter().map(lines::line_of).collect::<Result<Vec<Line>, _>>()?, total })
        })
    }
}
