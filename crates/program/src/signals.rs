//! Ctrl-C, SIGTERM and a closed terminal end a run in order; a second signal ends it at once.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::exit::{Exit, OrExit, Result};

/// Flag that the first signal sets; the second signal ends the process at once. There is one flag:
/// every call returns the same.
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

/// Keeps the kernel from ending the program when a file grows beyond the limit of this session
/// (`ulimit -f`): the write fails with EFBIG instead, which can be reported. For programs that this
/// one starts, the signal keeps its usual effect.
pub fn outlast_file_size_limit() -> Result<()> {
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).or_internal()?;
    Ok(())
}
