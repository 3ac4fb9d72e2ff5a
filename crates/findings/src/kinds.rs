//! The kinds of findings in the order of their importance: where each is told, and its page.

use record::{Finding, Severity};

/// Where a finding is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Importance {
    /// An answer, a caution or a figure of the first screen says it.
    Decides,
    /// It stands below the figures of a suite's screen, the first of its kind.
    Qualifies,
    /// It stands on the page and in `show --findings`.
    Detail,
}

/// What else is true of a kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trait {
    /// It stays for a medium that fails a check: it is the result of the check, or the reported
    /// health. Users who must copy data off it or throw it away need no class and no file system.
    BesideFault,
    /// It is a trick of a controller, detected by the ratio of two rates.
    Trick,
}

struct Kind {
    importance: Importance,
    traits: &'static [Trait],
    page: &'static str,
}

macro_rules! kinds {
    ($($id:literal: $importance:ident [$($of:ident),*];)*) => {
        /// All ids of findings, the most important for a decision first: failures and warnings are
        /// shown in this order. Each has a page, `docs/findings/ID.md`.
        pub const IDS: &[&str] = &[$($id),*];
        const KINDS: &[Kind] = &[$(Kind {
            importance: Importance::$importance,
            traits: &[$(Trait::$of),*],
            page: include_str!(concat!("../docs/", $id, ".md")),
        }),*];
    };
}

kinds! {
    "not-put-back": Decides [BesideFault];
    "verdict": Decides [];
    "verdict-root-disk": Decides [];
    "verdict-camera": Decides [];
    "verdict-video": Decides [];
    "verdict-logger": Decides [];
    "verdict-database": Decides [];
    "claim": Decides [BesideFault];
    "class-claim": Detail [BesideFault];
    "capacity": Decides [BesideFault];
    "verify": Decides [BesideFault];
    "read-back": Decides [BesideFault];
    "counterfeit-hints": Decides [BesideFault];
    "io-error": Decides [BesideFault];
    "health": Decides [BesideFault];
    "wear": Detail [BesideFault];
    "flush": Decides [];
    "span-cache": Decides [Trick];
    "small-span": Qualifies [Trick];
    "write-burst": Detail [Trick];
    "small-write-bypass": Detail [];
    "random-write": Decides [];
    "stalls": Decides [BesideFault];
    "slc-cache": Detail [Trick];
    "throttling": Detail [Trick];
    "impossible": Decides [BesideFault];
    "host": Decides [BesideFault];
    "cpu": Detail [];
    "along-the-medium": Detail [];
    "misalignment": Detail [];
    "compression": Decides [Trick];
    "repeats-recognised": Detail [Trick];
    "equal-rewrites-skipped": Detail [Trick];
    "write-amplification": Decides [];
    "idle-recovery": Detail [];
    "allocation-unit": Qualifies [];
    "page": Qualifies [];
    "write-unit": Qualifies [];
    "open-units": Detail [];
    "open-units-random": Detail [];
    "usb-split": Qualifies [];
    "medium-dip": Qualifies [];
    "classes": Detail [];
    "advice-alignment": Detail [];
    "advice-file-system": Detail [];
    "advice-logs": Detail [];
    "advice-reserve": Detail [];
    "advice-scheduler": Detail [];
    "advice-trim": Detail [];
    "matrix": Detail [];
}

/// The place of an id among [`IDS`].
pub(crate) fn rank(id: &str) -> usize {
    IDS.iter().position(|known| *known == id).unwrap_or(IDS.len())
}

/// True if a kind is this.
pub(crate) fn is(id: &str, of: Trait) -> bool {
    KINDS.get(rank(id)).is_some_and(|kind| kind.traits.contains(&of))
}

/// Where a finding is told: a warning is never a mere detail.
pub fn importance(finding: &Finding) -> Importance {
    let own = KINDS.get(rank(&finding.id)).map_or(Importance::Detail, |kind| kind.importance);
    match finding.severity {
        Severity::Warning if own == Importance::Detail => Importance::Qualifies,
        _ => own,
    }
}

/// Page that explains a kind of finding: a title, paragraphs, and lists of one level. `None` for an
/// unknown id.
pub fn about(id: &str) -> Option<&'static str> {
    KINDS.get(rank(id)).map(|kind| kind.page)
}
