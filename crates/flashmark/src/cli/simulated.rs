//! Commands for simulated media and their flags.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
    #[cfg(feature = "attach")]
    /// Attach a simulated medium as a block device, in wall-clock time, for any tool. Needs root.
    ///
    /// Prints the path of the device and serves it until Ctrl-C. Written data is kept in memory and
    /// lost afterwards. Each profile is as slow as its original.
    Attach(AttachFlags),
    #[cfg(feature = "attach")]
    /// Detach what `attach` attached, and clean up after one that was killed.
    Detach(DetachFlags),
}

/// Flags of `sim attach`.
#[derive(Debug, Args)]
pub struct AttachFlags {
    /// Name of the profile, or a TOML file of your own.
    pub profile: String,
    /// Size instead of the profile's, for example 1GiB; a fake shrinks in proportion.
    #[arg(long)]
    pub size: Option<String>,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Return at once and serve in the background, until `flashmark sim detach`.
    #[arg(long)]
    pub background: bool,
    /// File with the fixed cost of the path to the medium. If it does not exist, the cost is
    /// measured and written to it. Media that share the file differ in nothing else.
    #[arg(long, hide = true)]
    pub way: Option<PathBuf>,
    /// Serve the device for the process that was started with --background.
    #[arg(long, hide = true, conflicts_with = "background")]
    pub served: bool,
}

/// Flags of `sim detach`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct DetachFlags {
    /// Device, as printed by `attach`.
    pub device: Option<PathBuf>,
    /// Detach everything that this user attached with --background, and what killed servers left.
    #[arg(long)]
    pub all: bool,
}
