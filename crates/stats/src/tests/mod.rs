//! Properties of the estimators on anything drawn at random, and their values where others know them.

mod drawn;
mod rows;
