use super::*;
use crate::demo;

/// Writes the demonstration pages where a person can look at them: `FLASHMARK_PAGES=DIR cargo test -p flashmark-report -- --ignored`.
#[test]
#[ignore = "makes files to look at"]
#[allow(clippy::disallowed_methods, reason = "only when asked for")]
fn pages_to_look_at() {
    let Ok(folder) = std::env::var("FLASHMARK_PAGES") else { return };
    for (name, record) in [("good", demo::good()), ("horrible", demo::horrible()), ("broken", demo::broken()), ("begun", demo::begun()), ("empty", demo::empty())] {
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.html")), page(&record)).unwrap();
    }
}
