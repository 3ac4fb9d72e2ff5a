//! The server without a network, on SQLite in memory and on a real PostgreSQL.

mod answers;
mod coming_in;
mod importing;
mod judging;
mod judging_many;
mod published;
mod quotas;
mod reading;

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::request::Builder;
use axum::http::{HeaderMap, Request, StatusCode};
use record::{MediumKind, Published, Record, TargetKind};
use serde_json::Value;
use store::collection::{Address, Collection, Token, TokenKind};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

use crate::state::{now, secret};
use crate::{App, ServerOptions};

#[path = "../../store/src/collection/tests/cluster.rs"]
#[allow(dead_code, reason = "shared with the tests of the collection, which ask more of it")]
mod cluster;

/// A server on a database of its own. The collection is dropped last, outside of the runtime.
struct Site {
    runtime: Runtime,
    app: App,
    collection: Collection,
    _cluster: Option<Arc<cluster::Cluster>>,
}

/// An answer of the server.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Site {
    fn open(address: Address, cluster: Option<Arc<cluster::Cluster>>) -> Site {
        let collection = Collection::open(&address).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let app = App::new(collection.clone(), generous());
        Site { runtime, app, collection, _cluster: cluster }
    }

    fn sqlite() -> Site {
        Site::open(Address::Memory, None)
    }

    /// `None` if PostgreSQL is not installed. All tests share a database server, which ends with
    /// the last test that uses it.
    fn postgresql() -> Option<Site> {
        static RUNNING: Mutex<Weak<cluster::Cluster>> = Mutex::new(Weak::new());
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let cluster = match running.upgrade() {
            Some(cluster) => cluster,
            None => Arc::new(cluster::Cluster::start().unwrap()?),
        };
        *running = Arc::downgrade(&cluster);
        drop(running);
        let address = Address::Postgres(cluster.database().unwrap());
        Some(Site::open(address, Some(cluster)))
    }

    /// The same collection, served with other options.
    fn with(&mut self, change: impl FnOnce(&mut ServerOptions)) {
        let mut options = generous();
        change(&mut options);
        self.app = App::new(self.collection.clone(), options);
    }

    fn send(&self, request: Request<Body>) -> Answer {
        let router = crate::router(self.app.clone());
        self.runtime.block_on(async {
            let response = router.oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let body = to_bytes(body, 100 << 20).await.unwrap().to_vec();
            Answer { status: parts.status, headers: parts.headers, body }
        })
    }

    fn get(&self, path: &str) -> Answer {
        self.send(get(path).body(Body::empty()).unwrap())
    }

    /// JSON of a successful GET.
    fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    fn submit(&self, run: &Published) -> Answer {
        self.send(post("/api/v1/runs").body(json_of(run)).unwrap())
    }

    /// The receipt of a run that is accepted without caveats.
    fn taken(&self, run: &Published) -> Value {
        let answer = self.submit(run);
        assert_eq!(answer.status, 201, "{}", answer.text());
        let receipt = answer.json();
        assert_eq!(receipt["status"], "accepted", "{receipt}");
        receipt
    }

    fn token(&self, kind: TokenKind, label: &str) -> String {
        let token = secret().unwrap();
        let known =
            Token { kind, run: None, label: label.to_owned(), created: now(), revoked: None };
        self.collection.grant(&token, &known).unwrap();
        token
    }
}

impl Answer {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Status and code of a problem; checks its form and its reason.
    fn problem(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", self.text());
        let problem = self.json();
        assert_eq!(problem["status"], self.status.as_u16(), "{problem}");
        assert!(problem["reason"].as_str().is_some_and(|reason| reason.len() > 10), "{problem}");
        (self.status.as_u16(), problem["code"].as_str().unwrap().to_owned())
    }
}

/// Options without limits that could fail a test: everything comes from one address here, and the
/// machine may be slow.
fn generous() -> ServerOptions {
    ServerOptions {
        per_minute: 100_000,
        burst: 100_000,
        answer_time: Duration::from_secs(3600),
        turn_time: Duration::from_secs(300),
        ..ServerOptions::default()
    }
}

fn get(path: &str) -> Builder {
    Request::get(path)
}

fn post(path: &str) -> Builder {
    Request::post(path).header(CONTENT_TYPE, "application/json")
}

fn put(path: &str, token: &str) -> Builder {
    Request::put(path)
        .header(CONTENT_TYPE, "application/json")
        .header(AUTHORIZATION, format!("Bearer {token}"))
}

fn delete(path: &str, token: &str) -> Request<Body> {
    Request::delete(path)
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .body(Body::empty())
        .unwrap()
}

fn json_of(run: &Published) -> Body {
    serde_json::to_vec(run).unwrap().into()
}

/// A run that passes for one on a card of this vendor and model. Each seed makes another run.
fn run(vendor: &str, model: &str, seed: u64) -> Published {
    let text = include_str!("../../../fixtures/records/flashmark-0.1.0-sim.json");
    let mut run = Published::from(&Record::from_json(text).unwrap());
    (run.kind, run.profile, run.target) = (MediumKind::Sd, None, TargetKind::Block);
    (run.vendor, run.model) = (Some(vendor.to_owned()), Some(model.to_owned()));
    (run.interface, run.engine) = (Some("sd uhs-i".to_owned()), Some("pread".to_owned()));
    run.seed = seed;
    run
}

/// Runs the same test on both databases.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod on_sqlite {
            $(#[test]
            fn $name() {
                super::$name(&mut super::Site::sqlite());
            })*
        }

        mod on_postgresql {
            $(#[test]
            fn $name() {
                if let Some(mut site) = super::Site::postgresql() {
                    super::$name(&mut site);
                }
            })*
        }
    };
}
use on_both;
