//! TLS to a server of PostgreSQL, as the address demands it.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use postgres::Config;
use postgres::config::{Host, SslMode};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::DatabaseError;

/// Protection of a connection: the values of `sslmode`, as libpq defines them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Protection {
    Disable,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

const MODES: [(&str, Protection); 5] = [
    ("disable", Protection::Disable),
    ("prefer", Protection::Prefer),
    ("require", Protection::Require),
    ("verify-ca", Protection::VerifyCa),
    ("verify-full", Protection::VerifyFull),
];

/// TLS parameters of an address.
struct TlsParameters {
    protection: Option<Protection>,
    /// File with the certificates that are trusted, or "system".
    roots: Option<String>,
    /// The address without these parameters: the client does not know every value of them.
    rest: String,
}

impl TlsParameters {
    fn of(url: &str) -> Result<TlsParameters, DatabaseError> {
        // A password before the at sign may hold a question mark.
        let place = url.find('@').unwrap_or(0);
        let query_at = url[place..].find('?').map_or(url.len(), |at| place + at);
        let (base, query) = url.split_at(query_at);
        let query = query.strip_prefix('?').unwrap_or_default();
        let mut asked = TlsParameters { protection: None, roots: None, rest: base.to_owned() };
        let mut kept = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "sslmode" => asked.protection = Some(protection(value)?),
                "sslrootcert" => {
                    asked.roots = Some(percent_decode_str(value).decode_utf8_lossy().into_owned());
                }
                _ => kept.push(pair),
            }
        }
        if !kept.is_empty() {
            asked.rest = format!("{base}?{}", kept.join("&"));
        }
        Ok(asked)
    }
}

fn protection(value: &str) -> Result<Protection, DatabaseError> {
    let known = MODES.iter().find(|(name, _)| *name == value);
    known.map(|(_, protection)| *protection).ok_or_else(|| {
        let names = MODES.map(|(name, _)| name).join(", ");
        DatabaseError(format!("sslmode={value} is not known; write one of {names}"))
    })
}

/// Reads an address: returns the configuration of the connection and its TLS.
///
/// TLS is required over a network unless the address says otherwise; a socket never has it.
pub(super) fn configure(url: &str) -> Result<(Config, MakeRustlsConnect), DatabaseError> {
    let asked = TlsParameters::of(url)?;
    let mut config: Config = asked.rest.parse()?;
    let protection = match place(&config) {
        HostDistance::Socket => Protection::Disable,
        HostDistance::ThisMachine => asked.protection.unwrap_or(Protection::Prefer),
        HostDistance::Network => asked.protection.unwrap_or(Protection::Require),
    };
    config.ssl_mode(match protection {
        Protection::Disable => SslMode::Disable,
        Protection::Prefer => SslMode::Prefer,
        Protection::Require | Protection::VerifyCa | Protection::VerifyFull => SslMode::Require,
    });
    let trusted = trusted(protection, asked.roots.as_deref())?;
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier { trusted, provider: provider.clone() };
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| DatabaseError(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok((config, MakeRustlsConnect::new(tls)))
}

enum HostDistance {
    Socket,
    ThisMachine,
    Network,
}

/// Distance of the farthest of the hosts of an address.
fn place(config: &Config) -> HostDistance {
    let mut names = config.get_hosts().iter().filter_map(|host| match host {
        Host::Tcp(name) => Some(name),
        Host::Unix(_) => None,
    });
    let is_here = |name: &String| {
        name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    match names.next() {
        None if config.get_hostaddrs().is_empty() => HostDistance::Socket,
        Some(first) if is_here(first) && names.all(is_here) => HostDistance::ThisMachine,
        _ => HostDistance::Network,
    }
}

/// Certificates that a connection trusts.
#[derive(Debug)]
struct Trusted {
    roots: RootCertStore,
    /// Certificates as they are in the file: a server may present one of them itself.
    certificates: Vec<CertificateDer<'static>>,
    checks_name: bool,
}

/// Loads the trusted certificates; `None` if any server is accepted.
fn trusted(protection: Protection, roots: Option<&str>) -> Result<Option<Trusted>, DatabaseError> {
    let certificates = match (protection, roots) {
        (Protection::Disable, _) | (Protection::Prefer | Protection::Require, None) => {
            return Ok(None);
        }
        (Protection::VerifyFull, None | Some("system")) => of_the_system()?,
        (_, None | Some("system")) => {
            return Err(DatabaseError(
                "any server with a certificate of a public authority would pass; write sslmode=verify-full, or sslrootcert=FILE"
                    .to_owned(),
            ));
        }
        (_, Some(file)) => of_file(file)?,
    };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates.iter().cloned());
    let checks_name = protection == Protection::VerifyFull;
    Ok(Some(Trusted { roots, certificates, checks_name }))
}

fn of_the_system() -> Result<Vec<CertificateDer<'static>>, DatabaseError> {
    let found = rustls_native_certs::load_native_certs().certs;
    if found.is_empty() {
        let why = "this system has no certificates that it trusts; install ca-certificates, or write sslrootcert=FILE";
        return Err(DatabaseError(why.to_owned()));
    }
    Ok(found)
}

fn of_file(file: &str) -> Result<Vec<CertificateDer<'static>>, DatabaseError> {
    let read = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| DatabaseError(format!("sslrootcert={file} cannot be read: {error}")))?;
    if read.is_empty() {
        return Err(DatabaseError(format!("sslrootcert={file} holds no certificate (PEM)")));
    }
    Ok(read)
}

/// Verifies a server's certificate as far as the address demands it.
#[derive(Debug)]
struct Verifier {
    trusted: Option<Trusted>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(trusted) = &self.trusted else {
            return Ok(ServerCertVerified::assertion());
        };
        let certificate = ParsedCertificate::try_from(shown)?;
        let known = self.provider.signature_verification_algorithms.all;
        let chain = verify_server_cert_signed_by_trust_anchor(
            &certificate,
            &trusted.roots,
            between,
            now,
            known,
        );
        match chain {
            // "An authority's certificate used as a server's": `openssl req -x509` makes them so.
            // By then its dates have been checked.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(_)))
                if trusted.certificates.iter().any(|one| **one == **shown) => {}
            other => other?,
        }
        if trusted.checks_name {
            verify_server_name(&certificate, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Reason in plain words why there is no TLS; `None` for other errors.
pub(super) fn refusal(error: &postgres::Error) -> Option<String> {
    let cause = error.source()?;
    let Some(tls) = cause
        .downcast_ref::<std::io::Error>()
        .and_then(|error| error.get_ref())
        .and_then(|inner| inner.downcast_ref::<rustls::Error>())
    else {
        // The client has no kind of error for this.
        return (cause.to_string() == "server does not support TLS").then(|| {
            "the server does not speak TLS; turn it on there (ssl = on), or write sslmode=disable if the network is trusted"
                .to_owned()
        });
    };
    let rustls::Error::InvalidCertificate(why) = tls else {
        return Some(format!("no TLS with the server: {tls}"));
    };
    Some(match why {
        // An issuer of the same name with another key gives a bad signature.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "the server's certificate is not trusted; name the file of who issued it: sslrootcert=FILE".to_owned()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            // Each is written `DnsName("..")`.
            let bare = |name: &String| name.split('"').nth(1).unwrap_or(name).to_owned();
            let names: Vec<String> = presented.iter().map(bare).collect();
            let presented =
                if names.is_empty() { "no name".to_owned() } else { names.join(", ") };
            let expected = expected.to_str();
            format!("the server's certificate is not for {expected}; it is for {presented}")
        }
        CertificateError::ExpiredContext { .. } | CertificateError::Expired => {
            "the server's certificate has expired".to_owned()
        }
        other => format!("the server's certificate is not valid: {other}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> Result<SslMode, String> {
        configure(url).map(|(config, _)| config.get_ssl_mode()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_network_needs_tls_unless_sslmode_is_given() {
        for (url, expected) in [
            ("postgres://me@/cards?host=/run/postgresql", SslMode::Disable),
            ("postgres://me@/cards?host=/run/postgresql&sslmode=require", SslMode::Disable),
            ("postgres://me@localhost/cards", SslMode::Prefer),
            ("postgres://me@[::1]/cards", SslMode::Prefer),
            ("postgres://me@db.example/cards", SslMode::Require),
            ("postgres://me@localhost,db.example/cards", SslMode::Require),
            ("postgres://me@/cards?hostaddr=192.0.2.1", SslMode::Require),
            ("postgres://me@db.example/cards?sslmode=prefer", SslMode::Prefer),
            ("postgres://me@db.example/cards?sslmode=disable", SslMode::Disable),
            ("postgres://me:a?b@db.example/cards?sslmode=prefer", SslMode::Prefer),
        ] {
            assert_eq!(mode(url), Ok(expected), "{url}");
        }
    }

    #[test]
    fn unsupported_tls_settings_are_refused() {
        for (query, expected) in [
            ("sslmode=allow", "sslmode=allow is not known; write one of disable, prefer, require"),
            ("sslmode=verify-ca", "write sslmode=verify-full, or sslrootcert=FILE"),
            ("sslmode=require&sslrootcert=system", "write sslmode=verify-full"),
            (
                "sslmode=require&sslrootcert=/no%20where.crt",
                "sslrootcert=/no where.crt cannot be read",
            ),
            ("sslmode=require&sslrootcert=/dev/null", "holds no certificate (PEM)"),
        ] {
            let outcome = mode(&format!("postgres://me@db.example/cards?{query}"));
            assert!(
                outcome.as_ref().is_err_and(|error| error.contains(expected)),
                "{query}: {outcome:?}"
            );
        }
    }
}
