//! What `cargo validation torture` and `cargo validation buses` run: events that must never happen,
//! tried at random and often (a finished cell is lost, a byte is written without permission), and
//! media in virtual machines. What the program's own tests need too is shared with them.
#![allow(clippy::unwrap_used, reason = "a test says by panicking what is wrong")]
#![allow(dead_code, reason = "only the program's own tests need the rest of what is shared")]

#[path = "../../../crates/flashmark/tests/it/card.rs"]
mod card;
#[path = "../../../crates/flashmark/tests/it/crash.rs"]
mod crash;
#[path = "../../../tests/failing.rs"]
mod failing;
mod forgetful;
#[path = "../../../crates/flashmark/tests/it/in_use/mod.rs"]
mod in_use;
mod kills;
mod power;
mod results;
#[path = "../../../tests/skipped.rs"]
mod skipped;
#[path = "../../../crates/flashmark/tests/it/span.rs"]
mod span;
mod stops;
#[path = "../../../tests/support.rs"]
mod support;
#[path = "../../../crates/flashmark/tests/it/tally.rs"]
mod tally;
mod vm;
