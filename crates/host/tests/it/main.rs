//! The room on fabricated machines, and on real loop devices where the rights are there.

mod claims;
mod identity;
mod machine;
mod refusals;
mod stage;
mod used;
