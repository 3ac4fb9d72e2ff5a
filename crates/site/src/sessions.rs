//! Sessions of signed-in moderators.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Sessions by the id in their cookie; in memory only.
#[derive(Default)]
pub struct Sessions(Mutex<HashMap<String, Session>>);

impl Sessions {
    pub(crate) fn all(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        // A panic in another thread leaves the sessions valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(&self, id: String, token: String, form: String) {
        let mut all = self.all();
        all.retain(|_, session| session.since.elapsed() < SESSION);
        while all.len() >= MAX_SESSIONS {
            let Some(oldest) =
                all.iter().min_by_key(|(_, session)| session.since).map(|(id, _)| id.clone())
            else {
                break;
            };
            all.remove(&oldest);
        }
        all.insert(id, Session { token, form, since: Instant::now() });
    }

    pub(crate) fn get(&self, id: &str) -> Option<Session> {
        self.all().get(id).filter(|session| session.since.elapsed() < SESSION).cloned()
    }

    pub(crate) fn end(&self, id: &str) {
        self.all().remove(id);
    }
}

/// Duration of a session.
pub(crate) const SESSION: Duration = Duration::from_secs(12 * 3600);

/// Most sessions; the oldest is dropped.
pub(crate) const MAX_SESSIONS: usize = 1000;

/// A signed-in moderator.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) token: String,
    pub(crate) form: String,
    pub(crate) since: Instant,
}
