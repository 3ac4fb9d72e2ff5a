//! Commands for simulated media.

use clap::Subcommand;

/// Commands for simulated media.
#[derive(Debug, Subcommand)]
pub enum SimCommand {
    /// List the profiles, one per line.
    List,
    /// Print a profile.
    Show {
        /// Name of the profile.
        profile: String,
    },
}
