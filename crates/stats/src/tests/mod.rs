//! What the crate does with anything drawn at random, held against what it did before.

mod drawn;
