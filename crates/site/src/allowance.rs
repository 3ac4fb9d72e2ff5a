//! How often somebody may do what costs something: a bucket of tokens for each address. The time is handed in.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Addresses that are remembered; the rest share what is left.
const MOST: usize = 65_536;

/// Buckets by address.
pub struct Allowance {
    per_second: f64,
    burst: f64,
    buckets: Mutex<HashMap<IpAddr, (f64, Instant)>>,
}

impl Allowance {
    /// So many a minute, and so many at once.
    pub fn new(per_minute: u32, burst: u32) -> Allowance {
        Allowance { per_second: f64::from(per_minute.max(1)) / 60.0, burst: f64::from(burst.max(1)), buckets: Mutex::default() }
    }

    /// Takes one from the bucket of an address.
    ///
    /// # Errors
    /// Where it is empty: how long to wait.
    pub fn take(&self, who: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST {
            buckets.clear();
        }
        let (left, last) = buckets.entry(who).or_insert((self.burst, now));
        *left = (*left + now.saturating_duration_since(*last).as_secs_f64() * self.per_second).min(self.burst);
        *last = now;
        if *left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - *left) / self.per_second));
        }
        *left -= 1.0;
        Ok(())
    }
}
