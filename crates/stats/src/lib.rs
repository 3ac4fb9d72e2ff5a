//! Estimators, confidence intervals under autocorrelation, stop rules and robust comparison.
