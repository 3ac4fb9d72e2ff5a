//! Limit of open connections per address, so that one client cannot take all places.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::rate_limit::RateLimitKey;

/// Default limit of connections per address.
pub const CONNECTIONS: usize = 100;

/// Open connections by IPv4 address and IPv6 /64 network. Clones share one state.
#[derive(Clone)]
pub struct OpenConnections {
    most: usize,
    open: Arc<Mutex<HashMap<RateLimitKey, usize>>>,
}

/// A connection that is counted until this is dropped.
pub struct CountedConnection {
    key: RateLimitKey,
    all: OpenConnections,
}

impl OpenConnections {
    /// A limit of `most` connections per address; 0 for no limit.
    pub fn new(most: usize) -> OpenConnections {
        OpenConnections { most: if most == 0 { usize::MAX } else { most }, open: Arc::default() }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<RateLimitKey, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more connection of an address; `None` if it has too many.
    pub fn take(&self, who: IpAddr) -> Option<CountedConnection> {
        let key = RateLimitKey::of(who);
        let mut open = self.open();
        let count = open.entry(key).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(CountedConnection { key, all: self.clone() })
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        if let Entry::Occupied(mut count) = self.all.open().entry(self.key) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_and_then_none() {
        let all = OpenConnections::new(2);
        let take = |text: &str| all.take(text.parse().unwrap());
        let (one, two) = (take("192.0.2.1"), take("::ffff:192.0.2.1"));
        assert!(one.is_some() && two.is_some() && take("192.0.2.1").is_none());
        let other = take("192.0.2.2");
        assert!(other.is_some());
        drop(one);
        let again = take("192.0.2.1");
        assert!(again.is_some() && take("192.0.2.1").is_none());
        drop((two, other, again));
        assert!(all.open().is_empty(), "nothing is remembered of who has left");
        let unlimited = OpenConnections::new(0);
        let many: Vec<_> =
            (0..1000).map(|_| unlimited.take("192.0.2.1".parse().unwrap())).collect();
        assert!(many.iter().all(Option::is_some));
    }
}
