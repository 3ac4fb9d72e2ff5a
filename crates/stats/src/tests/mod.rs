//! Properties of the estimators on anything drawn at random.

mod drawn;
