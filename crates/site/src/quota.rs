//! Daily quotas in bytes for senders without a token: for each address, and for all together. Bytes
//! are those that a run takes in the database.
//!
//! The sum of an address is in memory only, like its rate limit. The sum of all is read from the
//! database, so that it survives a restart, and is counted up in between.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::problem::Problem;
use crate::rate_limit::RateLimit;

/// Default quota of one address, in bytes per day.
pub const BYTES_PER_DAY: u64 = 64 << 20;
/// Default quota of all addresses together, in bytes per day.
pub const BYTES_PER_DAY_ALL: u64 = 2 << 30;

/// Age after which the sum is read from the database again: other servers may store runs too.
const SUM_AGE: Duration = Duration::from_secs(60);
/// Suggested wait if the common quota is used up: old bytes leave the 24 hours one by one.
pub const LATER: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// The two quotas.
pub struct DailyQuota {
    per_address: Option<RateLimit>,
    address_bytes: u64,
    all_bytes: u64,
    sum: Mutex<DaySum>,
}

/// Bytes of all senders within a day.
#[derive(Clone, Copy, Debug, Default)]
struct DaySum {
    bytes: u64,
    asked: Option<Instant>,
}

/// The exceeded quota, with the time after which a retry may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverQuota {
    /// Quota of the address.
    Address(Duration),
    /// Quota of all addresses together.
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
    /// Quotas in bytes per day for one address and for all; 0 for no limit.
    pub fn new(address_bytes: u64, all_bytes: u64) -> DailyQuota {
        let per_address = (address_bytes > 0).then(|| RateLimit::per_day(address_bytes));
        DailyQuota { per_address, address_bytes, all_bytes, sum: Mutex::default() }
    }

    fn sum(&self) -> std::sync::MutexGuard<'_, DaySum> {
        self.sum.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Known bytes of all senders within the last day.
    pub fn stored(&self) -> u64 {
        self.sum().bytes
    }

    /// True if the sum was read from the database recently.
    pub fn is_known(&self, now: Instant) -> bool {
        let is_late = |asked: Instant| now.saturating_duration_since(asked) < SUM_AGE;
        self.sum().asked.is_some_and(is_late)
    }

    /// Sets the sum read from the database.
    pub fn learn(&self, bytes: u64, now: Instant) {
        *self.sum() = DaySum { bytes, asked: Some(now) };
    }

    /// Counts bytes that an address sends.
    ///
    /// # Errors
    /// If they exceed a quota; then none are counted.
    pub fn take(&self, who: IpAddr, bytes: u64, now: Instant) -> Result<(), OverQuota> {
        let mut sum = self.sum();
        if self.all_bytes > 0 && sum.bytes.saturating_add(bytes) > self.all_bytes {
            return Err(OverQuota::All(LATER));
        }
        if let Some(limit) = &self.per_address {
            let taken = limit.take_amount(who, bytes as f64, now);
            // More bytes than a day's quota never fit.
            taken.map_err(|wait| OverQuota::Address(wait.min(DAY)))?;
        }
        sum.bytes = sum.bytes.saturating_add(bytes);
        Ok(())
    }

    /// Error for a sender over its quota.
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
