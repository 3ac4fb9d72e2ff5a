//! Hidden command `resume`: goes on with a matrix, for `flashmark resume`.

use program::exit::{OrExit, Result, usage};
use program::programs::FLASHMARK;
use session::flags::ResumeFlags;
use session::kept::{ResumeChoice, to_resume, warn};
use session::run_lock;

use super::matrix;

/// Goes on with a matrix that was interrupted.
pub fn run(flags: &ResumeFlags) -> Result {
    let ResumeChoice { dir, target, .. } = to_resume(flags)?;
    let lock = run_lock::take(&dir).or_refuse()?;
    let replayed = dir.replay().or_usage()?;
    replayed.unread.iter().for_each(|unread| warn(&dir, &unread.to_string()));
    if replayed.command.get(matrix::MARK).is_none() {
        drop(lock);
        return usage(FLASHMARK.become_it());
    }
    matrix::resume(&dir, lock, replayed, target.as_deref(), flags)
}
