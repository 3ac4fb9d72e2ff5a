//! How many bytes a day are kept of those who send without a token: of each address, and of all of
//! them together. Bytes are those that a run takes in the database.
//!
//! What an address has sent is held in memory only, as its rate limit is. What all have sent is
//! asked of the database, so that a restart does not forget it, and counted on in between.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::problem::Problem;
use crate::rate_limit::RateLimit;

/// Bytes a day of one address, where nobody says otherwise.
pub const BYTES_PER_DAY: u64 = 64 << 20;
/// Bytes a day of all addresses together.
pub const BYTES_PER_DAY_ALL: u64 = 2 << 30;

/// How long the sum of the database is counted on before it is asked for again: other servers may
/// take runs in too.
const SUM_AGE: Duration = Duration::from_secs(60);
/// When it may go better where all together have sent too much: the oldest bytes leave the day one
/// by one.
pub const LATER: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// The two quotas.
pub struct DailyQuota {
    per_address: Option<RateLimit>,
    address_bytes: u64,
    all_bytes: u64,
    sum: Mutex<DaySum>,
}

/// Bytes of all within a day.
#[derive(Clone, Copy, Debug, Default)]
struct DaySum {
    bytes: u64,
    asked: Option<Instant>,
}

/// Which quota is used up, and after which time it may not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverQuota {
    /// That of the address.
    Address(Duration),
    /// That of all addresses together.
    All(Duration),
}

impl OverQuota {
    /// Its name in the metrics.
    pub const fn name(self) -> &'static str {
        match self {
            OverQuota::Address(_) => "address",
            OverQuota::All(_) => "all",
        }
    }
}

impl DailyQuota {
    /// So many bytes a day of an address, and of all; 0 for no limit.
    pub fn new(address_bytes: u64, all_bytes: u64) -> DailyQuota {
        let per_address = (address_bytes > 0).then(|| RateLimit::per_day(address_bytes));
        DailyQuota { per_address, address_bytes, all_bytes, sum: Mutex::default() }
    }

    fn sum(&self) -> std::sync::MutexGuard<'_, DaySum> {
        self.sum.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of all within the last day, as far as is known.
    pub fn stored(&self) -> u64 {
        self.sum().bytes
    }

    /// Whether the sum was asked of the database lately.
    pub fn is_known(&self, now: Instant) -> bool {
        let is_late = |asked: Instant| now.saturating_duration_since(asked) < SUM_AGE;
        self.sum().asked.is_some_and(is_late)
    }

    /// Takes over the sum of the database.
    pub fn learn(&self, bytes: u64, now: Instant) {
        *self.sum() = DaySum { bytes, asked: Some(now) };
    }

    /// Counts bytes that an address sends.
    ///
    /// # Errors
    /// Where they are too many for a day; then none are counted.
    pub fn take(&self, who: IpAddr, bytes: u64, now: Instant) -> Result<(), OverQuota> {
        let mut sum = self.sum();
        if self.all_bytes > 0 && sum.bytes.saturating_add(bytes) > self.all_bytes {
            return Err(OverQuota::All(LATER));
        }
        if let Some(limit) = &self.per_address {
            let taken = limit.take_amount(who, bytes as f64, now);
            // What is more than a day's bytes by itself never fits.
            taken.map_err(|wait| OverQuota::Address(wait.min(DAY)))?;
        }
        sum.bytes = sum.bytes.saturating_add(bytes);
        Ok(())
    }

    /// What who is refused is told.
    pub fn problem(&self, over: OverQuota) -> Problem {
        let (who, bytes, wait) = match over {
            OverQuota::Address(wait) => ("one address", self.address_bytes, wait),
            OverQuota::All(wait) => ("all addresses together", self.all_bytes, wait),
        };
        let minutes = wait.as_secs() / 60 + 1;
        let reason = format!(
            "what is kept of {who} in a day without a token ({bytes} bytes) is used up; try again \
             in {minutes} min, or ask who runs this site for a token"
        );
        Problem::over_quota(reason, wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    #[test]
    fn an_address_has_its_bytes_again_after_a_day() {
        let (quota, start) = (DailyQuota::new(1000, 0), Instant::now());
        let take = |who, bytes, hours: u64| {
            quota.take(address(who), bytes, start + Duration::from_secs(hours * 3600))
        };
        assert_eq!([take(1, 600, 0), take(1, 400, 0)], [Ok(()); 2]);
        let refused = take(1, 500, 0).unwrap_err();
        assert_eq!(refused, OverQuota::Address(Duration::from_secs(12 * 3600)));
        assert_eq!(take(2, 1000, 0), Ok(()), "another address has its own");
        assert_eq!(take(1, 500, 12), Ok(()), "who waits as long as told is served");
        assert_eq!(take(1, 1000, 36), Ok(()));
        assert_eq!(take(3, 1001, 0), Err(OverQuota::Address(Duration::from_secs_f64(86.4))));
        let reason = quota.problem(refused).reason;
        assert!(reason.contains("one address") && reason.contains("1000 bytes"), "{reason}");
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let (quota, now) = (DailyQuota::new(1000, 0), Instant::now());
        let take = |text: &str| quota.take(text.parse().unwrap(), 600, now).is_ok();
        assert!(take("2001:db8:1:2::1") && !take("2001:db8:1:2:ffff::9"));
        assert!(take("2001:db8:1:3::1"));
    }

    #[test]
    fn what_is_refused_to_an_address_does_not_count_for_all() {
        let (quota, now) = (DailyQuota::new(1000, 1500), Instant::now());
        assert_eq!(quota.take(address(1), 900, now), Ok(()));
        assert!(matches!(quota.take(address(1), 200, now), Err(OverQuota::Address(_))));
        assert_eq!(quota.take(address(2), 600, now), Ok(()));
        assert_eq!(quota.take(address(3), 1, now), Err(OverQuota::All(LATER)));
        let unlimited = DailyQuota::new(0, 0);
        assert_eq!(unlimited.take(address(1), u64::MAX, now), Ok(()));
        assert_eq!(unlimited.take(address(1), u64::MAX, now), Ok(()));
    }
}
