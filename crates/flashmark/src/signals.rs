//! Ctrl-C, SIGTERM and a closed terminal end a run in order; the second time at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::{Exit, OrExit, Result};

/// Sets the returned flag at the first signal; the second ends the process at once.
pub fn listen() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Order matters: the shutdown sees the flag only after the first signal has set it.
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&stop)).or_internal()?;
        flag::register(signal, Arc::clone(&stop)).or_internal()?;
    }
    Ok(stop)
}
