//! Rate limit: a token bucket for each address. The caller passes the time; the defaults are
//! [`PER_MINUTE`] and [`BURST`].
//!
//! The number of buckets is limited. A bucket that is full again holds no information and is
//! dropped. If there are still too many, the fullest are dropped, which are those of the addresses
//! with the fewest requests. So an attacker with an empty bucket can only have it dropped by
//! sending requests from as many addresses as are stored.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Default submissions per minute from one address; also attempts with a token.
pub const PER_MINUTE: u32 = 10;
/// Default burst: submissions at once.
pub const BURST: u32 = 20;

/// Most stored addresses, about 4 MB.
const MOST: usize = 65_536;
/// Number of buckets dropped when there are too many: large, so that the search is rare.
const FORGOTTEN: usize = MOST / 8;

/// Token bucket for each IPv4 address and each IPv6 /64 network.
pub struct RateLimit {
    per_second: f64,
    burst: f64,
    buckets: Mutex<HashMap<RateLimitKey, Bucket>>,
}

/// Client for the limit: an IPv4 address, or the /64 network of an IPv6 address (a household has at
/// least a /64, and may use any address in it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RateLimitKey {
    V4(u32),
    V6(u64),
}

impl RateLimitKey {
    pub(crate) fn of(address: IpAddr) -> RateLimitKey {
        match address.to_canonical() {
            IpAddr::V4(address) => RateLimitKey::V4(address.to_bits()),
            IpAddr::V6(address) => RateLimitKey::V6((address.to_bits() >> 64) as u64),
        }
    }
}

/// Remaining tokens of an address at a moment.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl RateLimit {
    /// A limit per minute, with a burst; each at least 1.
    pub fn new(per_minute: u32, burst: u32) -> RateLimit {
        RateLimit {
            per_second: f64::from(per_minute.max(1)) / 60.0,
            burst: f64::from(burst.max(1)),
            buckets: Mutex::default(),
        }
    }

    /// A limit per day, with a burst of the same amount.
    pub fn per_day(amount: u64) -> RateLimit {
        let burst = amount.max(1) as f64;
        RateLimit { per_second: burst / 86_400.0, burst, buckets: Mutex::default() }
    }

    /// Takes one token from the bucket of an address.
    ///
    /// # Errors
    /// If it is empty: the time until there is a token.
    pub fn take(&self, who: IpAddr, now: Instant) -> Result<(), Duration> {
        self.take_many(who, 1, now)
    }

    /// Takes several tokens at once, or none. More than a bucket holds never succeed.
    ///
    /// # Errors
    /// As [`take`](RateLimit::take).
    pub fn take_many(&self, who: IpAddr, count: u32, now: Instant) -> Result<(), Duration> {
        self.take_amount(who, f64::from(count), now)
    }

    /// Takes any amount at once, or nothing.
    ///
    /// # Errors
    /// As [`take`](RateLimit::take).
    pub fn take_amount(&self, who: IpAddr, wanted: f64, now: Instant) -> Result<(), Duration> {
        let key = RateLimitKey::of(who);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST && !buckets.contains_key(&key) {
            self.forget(&mut buckets, now);
        }
        let bucket = buckets.entry(key).or_insert(Bucket { tokens: self.burst, at: now });
        // Callers read the clock before they get the lock, so times may come out of order.
        let at = now.max(bucket.at);
        *bucket = Bucket { tokens: self.tokens(bucket, at), at };
        if bucket.tokens >= wanted {
            bucket.tokens -= wanted;
            return Ok(());
        }
        Err(Duration::from_secs_f64((wanted - bucket.tokens) / self.per_second))
    }

    /// Tokens in a bucket at a moment.
    fn tokens(&self, bucket: &Bucket, now: Instant) -> f64 {
        let come = now.saturating_duration_since(bucket.at).as_secs_f64() * self.per_second;
        (bucket.tokens + come).min(self.burst)
    }

    /// Makes room: drops full buckets, and if needed the fullest of the others.
    fn forget(&self, buckets: &mut HashMap<RateLimitKey, Bucket>, now: Instant) {
        buckets.retain(|_, bucket| self.tokens(bucket, now) < self.burst);
        let Some(too_many) = (buckets.len() + FORGOTTEN).checked_sub(MOST) else { return };
        let mut by_tokens: Vec<(f64, RateLimitKey)> =
            buckets.iter().map(|(key, bucket)| (self.tokens(bucket, now), *key)).collect();
        by_tokens.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, key) in by_tokens.into_iter().take(too_many) {
            buckets.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn v4(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    #[test]
    fn so_many_at_once_and_then_as_they_come() {
        let (limit, start, who) = (RateLimit::new(6, 3), Instant::now(), address("192.0.2.1"));
        let at = |seconds: u64| limit.take(who, start + Duration::from_secs(seconds));
        assert_eq!([at(0), at(0), at(0)], [Ok(()); 3]);
        assert_eq!(at(0), Err(Duration::from_secs(10)));
        assert_eq!(at(9), Err(Duration::from_secs(1)));
        assert_eq!([at(10), at(10)], [Ok(()), Err(Duration::from_secs(10))]);
        assert_eq!([at(10_000), at(10_000), at(10_000)], [Ok(()); 3]);
        assert!(at(10_000).is_err(), "no more than a burst is saved up");
    }

    #[test]
    fn a_client_that_waits_for_retry_after_is_served() {
        for (per_minute, burst) in [(1, 1), (7, 2), (600, 1), (u32::MAX, 1)] {
            let (limit, mut now) = (RateLimit::new(per_minute, burst), Instant::now());
            for _ in 0..50 {
                if let Err(wait) = limit.take(v4(1), now) {
                    now += wait + Duration::from_nanos(1);
                    assert_eq!(limit.take(v4(1), now), Ok(()), "{per_minute} a minute");
                }
            }
        }
    }

    #[test]
    fn one_network_is_one_asker_and_another_is_another() {
        let (limit, now) = (RateLimit::new(1, 1), Instant::now());
        let take = |text: &str| limit.take(address(text), now).is_ok();
        assert!(take("2001:db8:1:2::1") && !take("2001:db8:1:2:ffff::9"), "a /64 is one");
        assert!(take("2001:db8:1:3::1"));
        assert!(take("192.0.2.1") && take("192.0.2.2"), "IPv4 addresses are told apart");
        assert!(!take("::ffff:192.0.2.1"), "an IPv4 address is the same in the clothes of IPv6");
    }

    #[test]
    fn a_clock_that_seems_to_go_back_gives_nothing_twice() {
        let (limit, start) = (RateLimit::new(60, 1), Instant::now());
        let later = start + Duration::from_secs(100);
        assert_eq!(limit.take(v4(1), later), Ok(()));
        assert!(limit.take(v4(1), start).is_err());
        assert!(limit.take(v4(1), later).is_err(), "the look back has not moved the clock");
    }

    #[test]
    fn memory_is_bounded_and_who_has_emptied_a_bucket_is_not_forgotten() {
        let (limit, now) = (RateLimit::new(1, 5), Instant::now());
        let greedy = v4(u32::MAX);
        while limit.take(greedy, now).is_ok() {}
        for number in 0..3 * MOST as u32 {
            let _ = limit.take(v4(number), now);
        }
        assert!(limit.buckets.lock().unwrap().len() <= MOST);
        assert!(limit.take(greedy, now).is_err(), "those who asked once were forgotten before");
    }

    #[test]
    fn buckets_that_are_full_again_go_first() {
        let (limit, start) = (RateLimit::new(60, 2), Instant::now());
        for number in 0..MOST as u32 {
            limit.take(v4(number), start).unwrap();
        }
        limit.take(v4(u32::MAX), start + Duration::from_secs(10)).unwrap();
        assert_eq!(limit.buckets.lock().unwrap().len(), 1);
    }
}
