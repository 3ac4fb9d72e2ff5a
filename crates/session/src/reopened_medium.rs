//! Permission to go on with a run, of any kind, on a medium that may not be its own.

use host::Contents;
use store::RunDir;
use suite::fingerprint::Recognition;

use crate::consent::{self, Question};
use crate::flags::ResumeFlags;
use program::exit::{Result, refuse};

/// A medium that is opened again, and may not be that of the run.
pub struct ReopenedMedium<'a> {
    /// The medium as it is named to the user.
    pub path: &'a str,
    /// Its own name, for `--erase`.
    pub id: String,
    /// Its contents; `None` if nothing of value can be on it.
    pub contents: Option<&'a Contents>,
    /// True of each of its names.
    pub answers_to: &'a dyn Fn(&str) -> bool,
}

impl ReopenedMedium<'_> {
    /// Permits or refuses to go on with a run on this medium. `true` says that the medium has
    /// changed since the run left it, and that the user allowed overwriting it all the same.
    ///
    /// # Errors
    /// A refusal that names the reason, the contents of the medium and the next step.
    pub fn permit(
        &self,
        recognised: Recognition,
        dir: &RunDir,
        flags: &ResumeFlags,
    ) -> Result<bool> {
        let why = match recognised {
            Recognition::Ours => return Ok(false),
            Recognition::Strange { why, .. } | Recognition::CannotTell { why } => why,
        };
        let (name, held) = (dir.name(), consent::holds(self.contents));
        let Some(erase) = &flags.erase else {
            return refuse(format_args!(
                "this is not the medium as {name} left it: {why}{held}; nothing was written. Put the right one in, or allow this one to be overwritten: flashmark resume {name} --erase {}",
                self.id
            ));
        };
        if dir.unrestored().is_some() {
            return refuse(format_args!(
                "{name} still has data of another medium to restore: {why}{held}; connect that medium, or give up the backup: flashmark restore {name} --forget"
            ));
        }
        if !(self.answers_to)(erase) {
            return refuse(format_args!(
                "--erase {erase} does not name {}: its own name is {}; nothing was written",
                self.path, self.id
            ));
        }
        if let Some(contents) = self.contents {
            consent::ask(&Question { what: self.path, id: &self.id, contents, yes: flags.yes })?;
        }
        Ok(true)
    }
}
