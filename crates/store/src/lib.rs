//! One directory a run: journal, resume, record.
