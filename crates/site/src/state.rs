//! State shared by all requests, and access to the collection: its calls block, so each runs on
//! another thread, a few at a time.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use report::collection::{SiteInfo, SiteKind};
use store::collection::{Collection, CollectionError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::base::Base;
use crate::cache::PageCache;
use crate::metrics::ServerMetrics;
use crate::open_connections;
use crate::problem::Problem;
use crate::quota::{self, DailyQuota};
use crate::rate_limit::{self, RateLimit};
use crate::sessions::Sessions;
use ::collection::UploadLimits;

/// Most concurrent reads of the collection, which has no more connections.
const READING: usize = 8;
/// Most changes that wait or run; one runs at a time.
const WRITING: usize = 32;
/// Most submissions decompressed and checked at once: each may take many times the memory of its
/// body.
const UNPACKING: usize = 2;
/// Most concurrent downloads of parts: each has a thread.
const DOWNLOADS: usize = 16;
/// Most concurrent downloads of the whole collection: each holds one of its few connections until
/// its reader has everything.
const WHOLE_DOWNLOADS: usize = 2;
/// Most bytes of request bodies in memory, over all requests.
pub const BODY_BYTES: usize = 64 << 20;

/// Submissions that are quarantined until a manual review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Quarantine {
    /// Submissions that are unusual but possible, or differ from other runs of their model.
    #[default]
    Doubtful,
    /// All submissions but those of moderators.
    All,
}

/// Configuration of the server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Title of the site.
    pub title: String,
    /// Its full address, if known.
    pub base: Option<Base>,
    /// Submissions that wait for a manual review: doubtful ones, or all.
    pub quarantine: Quarantine,
    /// Submissions per minute from one address without a token.
    pub per_minute: u32,
    /// Submissions at once (burst).
    pub burst: u32,
    /// Requests per minute from one address, and as many at once; 0 for no limit.
    pub requests_per_minute: u32,
    /// Bytes stored per day from one address without a token; 0 for no limit.
    pub bytes_per_day: u64,
    /// Bytes stored per day from all addresses without a token; 0 for no limit.
    pub bytes_per_day_all: u64,
    /// Connections per address at once, proxies excepted; 0 for no limit.
    pub connections: usize,
    /// Addresses of proxies whose `X-Forwarded-For` is trusted.
    pub proxies: Vec<IpAddr>,
    /// Size limits of an upload.
    pub limits: UploadLimits,
    /// Longest age of a cached page that other processes may have made outdated.
    pub page_age: Duration,
    /// Longest time to receive a body.
    pub body_time: Duration,
    /// Longest time until an answer begins.
    pub answer_time: Duration,
    /// Longest wait of a request for its turn.
    pub turn_time: Duration,
}

impl Default for ServerOptions {
    fn default() -> ServerOptions {
        ServerOptions {
            title: "Flashmark collection".to_owned(),
            base: None,
            quarantine: Quarantine::Doubtful,
            per_minute: rate_limit::PER_MINUTE,
            burst: rate_limit::BURST,
            requests_per_minute: 0,
            bytes_per_day: quota::BYTES_PER_DAY,
            bytes_per_day_all: quota::BYTES_PER_DAY_ALL,
            connections: open_connections::CONNECTIONS,
            proxies: Vec::new(),
            limits: UploadLimits::default(),
            page_age: Duration::from_secs(10),
            body_time: Duration::from_secs(60),
            answer_time: Duration::from_secs(90),
            turn_time: Duration::from_secs(20),
        }
    }
}

/// State shared by all requests. Clones share one state.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    collection: Collection,
    options: ServerOptions,
    site: SiteInfo,
    cache: PageCache,
    metrics: ServerMetrics,
    sessions: Sessions,
    submissions: RateLimit,
    requests: Option<RateLimit>,
    attempts: RateLimit,
    quota: DailyQuota,
    reading: Arc<Semaphore>,
    writing: Arc<Semaphore>,
    unpacking: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
    downloads: Arc<Semaphore>,
    whole_downloads: Arc<Semaphore>,
    /// Number of changes through this process: older pages are outdated.
    changes: AtomicU64,
    /// Number of those changes that need not show in the line of a medium: replacements and
    /// judgements.
    reworks: AtomicU64,
    is_closing: AtomicBool,
}

impl App {
    /// A server for this collection. The caller keeps a handle of the collection longer than the
    /// runtime: connections to PostgreSQL must not be closed from within it.
    pub fn new(collection: Collection, options: ServerOptions) -> App {
        let prefix = options.base.as_ref().map(|base| base.prefix().to_owned()).unwrap_or_default();
        let site = SiteInfo {
            title: options.title.clone(),
            place: SiteKind::Live(prefix),
            base: options.base.as_ref().map(|base| base.whole().to_owned()),
            made: None,
            categories: None,
            has_published: true,
        };
        let requests = options.requests_per_minute;
        App(Arc::new(Shared {
            collection,
            site,
            cache: PageCache::new(64 << 20),
            metrics: ServerMetrics::new(),
            sessions: Sessions::default(),
            submissions: RateLimit::new(options.per_minute, options.burst),
            requests: (requests > 0).then(|| RateLimit::new(requests, requests)),
            attempts: RateLimit::new(options.per_minute, options.burst),
            quota: DailyQuota::new(options.bytes_per_day, options.bytes_per_day_all),
            reading: Arc::new(Semaphore::new(READING)),
            writing: Arc::new(Semaphore::new(WRITING)),
            unpacking: Arc::new(Semaphore::new(UNPACKING)),
            bodies: Arc::new(Semaphore::new(BODY_BYTES >> 10)),
            downloads: Arc::new(Semaphore::new(DOWNLOADS)),
            whole_downloads: Arc::new(Semaphore::new(WHOLE_DOWNLOADS)),
            changes: AtomicU64::new(1),
            reworks: AtomicU64::new(1),
            is_closing: AtomicBool::new(false),
            options,
        }))
    }

    /// Configuration of the server.
    pub fn options(&self) -> &ServerOptions {
        &self.0.options
    }

    /// Site information for pages.
    pub fn site(&self) -> &SiteInfo {
        &self.0.site
    }

    /// Cache of rendered pages.
    pub fn cache(&self) -> &PageCache {
        &self.0.cache
    }

    /// Counters of requests, submissions, pages and runs.
    pub fn metrics(&self) -> &ServerMetrics {
        &self.0.metrics
    }

    /// Daily quotas of senders without a token.
    pub fn quota(&self) -> &DailyQuota {
        &self.0.quota
    }

    /// Sessions of signed-in moderators.
    pub fn sessions(&self) -> &Sessions {
        &self.0.sessions
    }

    /// Free memory for request bodies, in kibibytes.
    pub fn bodies(&self) -> &Arc<Semaphore> {
        &self.0.bodies
    }

    /// Address of a path on this site, from `/` on.
    pub fn address(&self, path: &str) -> String {
        format!("{}{path}", self.prefix())
    }

    /// Prefix of all paths of the site: empty, or `/storage`.
    pub fn prefix(&self) -> &str {
        self.0.options.base.as_ref().map_or("", Base::prefix)
    }

    /// Number of changes through this process.
    pub fn changes(&self) -> u64 {
        self.0.changes.load(Ordering::Acquire)
    }

    /// Number of replacements and judgements through this process.
    pub fn reworks(&self) -> u64 {
        self.0.reworks.load(Ordering::Acquire)
    }

    /// Marks the server as not ready.
    pub fn close(&self) {
        self.0.is_closing.store(true, Ordering::Release);
    }

    /// True if the server is shutting down.
    pub fn is_closing(&self) -> bool {
        self.0.is_closing.load(Ordering::Acquire)
    }

    /// Counts a submission from an address against its rate limit.
    pub fn allow_submission(&self, who: IpAddr) -> Result<(), Problem> {
        allow(&self.0.submissions, who)
    }

    /// Counts several submissions from an address, or none of them.
    pub fn allow_submissions(&self, who: IpAddr, count: u32) -> Result<(), Problem> {
        let taken = self.0.submissions.take_many(who, count, Instant::now());
        taken.map_err(Problem::too_often)
    }

    /// Counts a request from an address against its rate limit.
    pub fn allow_request(&self, who: IpAddr) -> Result<(), Problem> {
        self.0.requests.as_ref().map_or(Ok(()), |requests| allow(requests, who))
    }

    /// Counts an attempt with an invalid token.
    pub fn allow_attempt(&self, who: IpAddr) -> Result<(), Problem> {
        allow(&self.0.attempts, who)
    }

    /// Reads the collection on a thread that may block, after waiting for a turn.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Collection) -> Result<T, CollectionError> + Send + 'static,
    ) -> Result<T, Problem> {
        self.make(move |collection| Ok(work(collection)?)).await
    }

    /// Reads the collection; `work` may fail with any problem.
    pub async fn make<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Collection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = self.turn(&self.0.reading).await?;
        self.blocking(turn, work).await
    }

    /// Adds to the collection. A started change is completed, even if the client disconnects.
    pub async fn add<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Collection) -> Result<T, CollectionError> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = self.turn(&self.0.writing).await?;
        let shared = self.0.clone();
        self.blocking(turn, move |collection| {
            let done = work(collection);
            shared.changes.fetch_add(1, Ordering::AcqRel);
            Ok(done?)
        })
        .await
    }

    /// Changes stored data of the collection, in the same way.
    pub async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Collection) -> Result<T, CollectionError> + Send + 'static,
    ) -> Result<T, Problem> {
        let shared = self.0.clone();
        let changing = self.add(move |collection| {
            let done = work(collection);
            shared.reworks.fetch_add(1, Ordering::AcqRel);
            done
        });
        changing.await
    }

    /// Runs work that needs much processor time and memory.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Collection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = self.turn(&self.0.unpacking).await?;
        self.blocking(turn, work).await
    }

    async fn turn(&self, semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Problem> {
        let turn = semaphore.clone().acquire_owned();
        match tokio::time::timeout(self.0.options.turn_time, turn).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(Problem::unavailable("the server is busy; try again soon")),
        }
    }

    /// A permit for a large download, or an immediate rejection.
    pub fn download(&self, is_whole: bool) -> Result<OwnedSemaphorePermit, Problem> {
        let turns = if is_whole { &self.0.whole_downloads } else { &self.0.downloads };
        let refused =
            |_| Problem::unavailable("too many downloads are in progress; try again soon");
        turns.clone().try_acquire_owned().map_err(refused)
    }

    /// A handle of the collection for another thread.
    pub fn collection(&self) -> Collection {
        self.0.collection.clone()
    }

    async fn blocking<T: Send + 'static>(
        &self,
        turn: OwnedSemaphorePermit,
        work: impl FnOnce(&Collection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let shared = self.0.clone();
        let done = tokio::task::spawn_blocking(move || {
            let done = work(&shared.collection);
            drop(turn);
            done
        });
        done.await.unwrap_or_else(|failed| Err(Problem::internal(&failed.to_string())))
    }
}

fn allow(limit: &RateLimit, who: IpAddr) -> Result<(), Problem> {
    limit.take(who, Instant::now()).map_err(Problem::too_often)
}

/// Current time in UTC to the second, as the collection orders it.
pub fn now() -> String {
    written(jiff::Timestamp::now())
}

/// The time 24 hours ago, in the same form.
pub fn a_day_ago() -> String {
    written(jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24))
}

fn written(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// 256 random bits from the system, in hexadecimal.
///
/// # Errors
/// If the system's random source fails.
pub fn secret() -> Result<String, Problem> {
    let mut bytes = [0u8; 32];
    let mut filled = 0;
    while filled < bytes.len() {
        let got =
            rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty());
        filled += got.map_err(|error| Problem::internal(&format!("no random bits: {error}")))?;
    }
    Ok(record::text::hex(&bytes))
}
