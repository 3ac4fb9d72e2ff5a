//! Identity, accepted formats and permissions of a client.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};

use axum::extract::FromRequestParts;
use axum::http::header::{ACCEPT_ENCODING, AUTHORIZATION, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use record::text::hex;
use sha2::{Digest as _, Sha256};
use store::collection::{Token, TokenKind};

use crate::problem::Problem;
use crate::state::App;

/// Remote address of the connection, from the accept loop.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

/// Address for rate limits: that of the peer, or as reported by a trusted proxy. It is never
/// stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client(pub IpAddr);

impl Client {
    /// The address of the sender of a request.
    pub fn of(extensions: &Extensions, headers: &HeaderMap, proxies: &[IpAddr]) -> Client {
        // A request without a peer came through no connection: a test.
        let peer = extensions
            .get::<Peer>()
            .map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0.to_canonical());
        if !proxies.contains(&peer) {
            return Client(peer);
        }
        // Each proxy appends the address of its client. Entries before the first untrusted address
        // may be forged.
        let forwarded =
            headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
        let forwarded: Vec<&str> =
            forwarded.flat_map(|value| value.split(',')).map(str::trim).collect();
        let mut client = peer;
        for address in forwarded.into_iter().rev() {
            let Some(address) = address_of(address) else { break };
            client = address;
            if !proxies.contains(&client) {
                break;
            }
        }
        Client(client)
    }
}

/// An address as proxies write it: bare, with a port, or in brackets.
fn address_of(text: &str) -> Option<IpAddr> {
    let bare = text.parse::<IpAddr>().ok();
    let with_port = || text.parse::<std::net::SocketAddr>().ok().map(|address| address.ip());
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    bare.or_else(with_port).or_else(bracketed).map(|address: IpAddr| address.to_canonical())
}

impl FromRequestParts<App> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Client, Infallible> {
        Ok(Client::of(&parts.extensions, &parts.headers, &app.options().proxies))
    }
}

/// Pages that a client has already, and the encodings that it accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CachingHeaders {
    /// True if it accepts gzip.
    pub gzip: bool,
    known: String,
}

impl CachingHeaders {
    /// True if it has the page with this ETag.
    pub fn has(&self, etag: &str) -> bool {
        let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        self.known.split(',').any(|known| known.trim() == "*" || strong(known) == strong(etag))
    }
}

impl<S: Sync> FromRequestParts<S> for CachingHeaders {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<CachingHeaders, Infallible> {
        let text = |name| {
            parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
        };
        let mut ways = text(ACCEPT_ENCODING).split(',').map(|way| way.split(';').map(str::trim));
        let gzip = ways.any(|mut way| {
            let is_gzip =
                way.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
            let is_refused = way.any(|weight| {
                weight.strip_prefix("q=").is_some_and(|weight| weight.parse() == Ok(0.0))
            });
            is_gzip && !is_refused
        });
        Ok(CachingHeaders { gzip, known: text(IF_NONE_MATCH).to_owned() })
    }
}

/// Bearer token of a request, if it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bearer(pub Option<String>);

impl<S: Sync> FromRequestParts<S> for Bearer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Bearer, Problem> {
        let Some(value) = parts.headers.get(AUTHORIZATION) else { return Ok(Bearer(None)) };
        let refused =
            || Problem::unauthorized("the header Authorization must be 'Bearer' and a token");
        let (scheme, secret) =
            value.to_str().ok().and_then(|value| value.split_once(' ')).ok_or_else(refused)?;
        let secret = secret.trim();
        if !scheme.eq_ignore_ascii_case("bearer") || secret.is_empty() || secret.len() > 200 {
            return Err(refused());
        }
        Ok(Bearer(Some(secret.to_owned())))
    }
}

/// Identity by token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// A client without a token: may read and submit.
    Anyone,
    /// A client with the edit token of one run: may replace and withdraw that run.
    Editor {
        /// Id of that run in the collection.
        run: String,
    },
    /// A client that submits under a name.
    Api {
        /// Name in the audit log.
        name: String,
    },
    /// A moderator: reviews quarantined runs.
    Moderator {
        /// Name in the audit log.
        name: String,
    },
}

impl Identity {
    /// Name in the audit log of clients without a token.
    pub const ANYONE: &str = "anonymous";
    /// Name in the audit log of clients with the edit token of a run.
    pub const EDITOR: &str = "anonymous, by edit token";

    fn of(secret: &str, token: Token) -> Identity {
        // Two tokens may have one label: a part of the hash distinguishes them, and does not help
        // to guess a token.
        let mark = &hex(&Sha256::digest(secret.as_bytes()))[..8];
        let name = format!(
            "{} ({mark})",
            if token.label.is_empty() { token.kind.name() } else { &token.label }
        );
        match token.kind {
            TokenKind::Edit => Identity::Editor { run: token.run.unwrap_or_default() },
            TokenKind::Api => Identity::Api { name },
            TokenKind::Moderator => Identity::Moderator { name },
        }
    }

    /// Name in the audit log.
    pub fn name(&self) -> &str {
        match self {
            Identity::Anyone => Identity::ANYONE,
            Identity::Editor { .. } => Identity::EDITOR,
            Identity::Api { name } | Identity::Moderator { name } => name,
        }
    }
}

impl App {
    /// Finds the owner of this token.
    ///
    /// # Errors
    /// If the token is unknown or was revoked.
    pub async fn identity(&self, bearer: Bearer, client: Client) -> Result<Identity, Problem> {
        let Some(secret) = bearer.0 else { return Ok(Identity::Anyone) };
        let asked = secret.clone();
        match self.read(move |collection| collection.token(&asked)).await? {
            Some(token) if token.revoked.is_none() => Ok(Identity::of(&secret, token)),
            found => {
                self.allow_attempt(client.0)?;
                let state = if found.is_some() {
                    "this token was revoked"
                } else {
                    "this token is not known here"
                };
                Err(Problem::unauthorized(state))
            }
        }
    }

    /// Name of the moderator with this token.
    ///
    /// # Errors
    /// If it is not the token of a moderator.
    pub async fn moderator(&self, bearer: Bearer, client: Client) -> Result<String, Problem> {
        match self.identity(bearer, client).await? {
            Identity::Moderator { name } => Ok(name),
            Identity::Anyone => Err(Problem::unauthorized("this needs the token of a moderator")),
            _ => Err(Problem::forbidden(
                "this needs the token of a moderator; yours is another kind",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: &[&str], proxies: &[&str]) -> String {
        let mut extensions = Extensions::new();
        extensions.insert(Peer(peer.parse().unwrap()));
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        let proxies: Vec<IpAddr> = proxies.iter().map(|proxy| proxy.parse().unwrap()).collect();
        Client::of(&extensions, &headers, &proxies).0.to_string()
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        assert_eq!(client("192.0.2.9", &["198.51.100.1"], &[]), "192.0.2.9");
        assert_eq!(client("192.0.2.9", &["198.51.100.1"], &["127.0.0.1"]), "192.0.2.9");
        assert_eq!(client("127.0.0.1", &["198.51.100.1"], &["127.0.0.1"]), "198.51.100.1");
        assert_eq!(
            client("::ffff:127.0.0.1", &["[2001:db8::1]:443"], &["127.0.0.1"]),
            "2001:db8::1"
        );
        assert_eq!(client("127.0.0.1", &[], &["127.0.0.1"]), "127.0.0.1");
    }

    #[test]
    fn what_the_client_claims_of_itself_is_not_believed() {
        let proxies = ["127.0.0.1", "10.0.0.2"];
        assert_eq!(client("127.0.0.1", &["1.1.1.1, 198.51.100.1"], &proxies), "198.51.100.1");
        assert_eq!(
            client("127.0.0.1", &["1.1.1.1", "198.51.100.1, 10.0.0.2"], &proxies),
            "198.51.100.1"
        );
        assert_eq!(client("127.0.0.1", &["1.1.1.1, nonsense"], &proxies), "127.0.0.1");
    }
}
