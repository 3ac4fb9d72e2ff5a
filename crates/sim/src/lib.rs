//! Simulated media in virtual time.
