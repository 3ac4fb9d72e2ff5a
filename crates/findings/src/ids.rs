//! The ids of findings in the order of their importance, and the page of each.

macro_rules! ids {
    ($($id:literal,)*) => {
        /// All ids of findings, the most important for a decision first: failures and warnings are
        /// shown in this order. Each has a page, `docs/findings/ID.md`.
        pub const IDS: &[&str] = &[$($id),*];
        const PAGES: &[&str] = &[$(include_str!(concat!("../../../docs/findings/", $id, ".md"))),*];
    };
}

ids! {
    "not-put-back",
    "verdict",
    "verdict-root-disk",
    "verdict-camera",
    "verdict-video",
    "verdict-logger",
    "verdict-database",
    "claim",
    "class-claim",
    "capacity",
    "verify",
    "read-back",
    "counterfeit-hints",
    "io-error",
    "health",
    "wear",
    "flush",
    "span-cache",
    "small-span",
    "small-write-bypass",
    "random-write",
    "stalls",
    "slc-cache",
    "throttling",
    "impossible",
    "host",
    "cpu",
    "along-the-medium",
    "misalignment",
    "compression",
    "repeats-recognised",
    "equal-rewrites-skipped",
    "write-amplification",
    "idle-recovery",
    "allocation-unit",
    "page",
    "write-unit",
    "open-units",
    "open-units-random",
    "usb-split",
    "medium-dip",
    "classes",
    "advice-alignment",
    "advice-file-system",
    "advice-logs",
    "advice-reserve",
    "advice-scheduler",
    "advice-trim",
    "matrix",
}

/// The place of an id among [`IDS`].
pub(crate) fn rank(id: &str) -> usize {
    IDS.iter().position(|known| *known == id).unwrap_or(IDS.len())
}

/// Page that explains a kind of finding: a title, paragraphs, and lists of one level. `None` for an
/// unknown id.
pub fn about(id: &str) -> Option<&'static str> {
    PAGES.get(rank(id)).copied()
}
