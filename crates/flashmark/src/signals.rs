//! Ctrl-C, SIGTERM and a closed terminal end a run in order; the second time at once.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGXFSZ};
use signal_hook::flag;

use crate::exit::{Exit, OrExit, Result};

/// Sets the returned flag at the first signal; the second ends the process at once. There is one
/// flag: whoever asks again gets it as it is.
pub fn listen() -> Result<Arc<AtomicBool>> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let mut is_new = false;
    let stop = STOP.get_or_init(|| {
        is_new = true;
        Arc::new(AtomicBool::new(false))
    });
    let stop = Arc::clone(stop);
    if !is_new {
        return Ok(stop);
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Order matters: the shutdown sees the flag only after the first signal has set it.
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&stop))
            .or_internal()?;
        flag::register(signal, Arc::clone(&stop)).or_internal()?;
    }
    Ok(stop)
}

/// Keeps the kernel from ending the program where a file grows beyond the limit of this session
/// (`ulimit -f`): the write fails with EFBIG instead, which can be said. Programs that this one
/// starts have the signal as it was.
pub fn outlast_file_size_limit() -> Result<()> {
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).or_internal()?;
    Ok(())
}

/// Makes Ctrl-Z do nothing: whoever answers for others must not be stopped.
pub fn ignore_stop_key() -> Result<()> {
    flag::register(SIGTSTP, Arc::new(AtomicBool::new(false))).or_internal()?;
    Ok(())
}
