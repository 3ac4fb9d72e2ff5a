//! PostgreSQL over TLS, with a certificate that the test issues itself.

use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::cluster::Cluster;
use crate::collection::connection::Connection as _;
use crate::collection::postgres::Postgres;
use crate::collection::{Address, Collection};

/// A port of this machine without a listener.
#[allow(clippy::disallowed_types, reason = "the server of a test needs a port")]
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A certificate authority of its own.
fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Starts a server at the loopback with these settings and files; returns it with its port.
fn serve(settings: &str, files: &[(&str, &str)]) -> Option<(Cluster, u16)> {
    let port = free_port();
    let settings = format!("-c listen_addresses=127.0.0.1 -c port={port} {settings}");
    Some((Cluster::start_with(&settings, files).unwrap()?, port))
}

/// Address with a host name that resolves to this machine, whatever the name is.
fn address(host: &str, port: u16, tls: &str) -> String {
    format!("postgres://flashmark@{host}:{port}/postgres?hostaddr=127.0.0.1{tls}")
}

/// True if the server says that the connection is encrypted; else the error of opening it.
fn is_encrypted(url: &str) -> Result<bool, String> {
    let mut postgres = Postgres::open(url).map_err(|error| error.to_string())?;
    let sql = "SELECT ssl::int::bigint FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let row = postgres.query(sql, &[]).unwrap().pop();
    Ok(row.unwrap().number().unwrap() == 1)
}

fn written(dir: &Path, name: &str, pem: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, pem).unwrap();
    path.display().to_string()
}

#[test]
fn tls_is_what_the_address_asks_for() {
    let issuer = authority();
    let key = KeyPair::generate().unwrap();
    let names = vec!["db.example".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
    let files = [("server.crt", certificate.pem()), ("server.key", key.serialize_pem())];
    let files = files.each_ref().map(|(name, pem)| (*name, pem.as_str()));
    let Some((_cluster, port)) = serve("-c ssl=on", &files) else { return };
    let dir = tempfile::tempdir().unwrap();
    let trusted = written(dir.path(), "the right.crt", &issuer.pem()).replace(' ', "%20");
    let other = written(dir.path(), "other.crt", &authority().pem());
    let asked = |host: &str, tls: &str| is_encrypted(&address(host, port, tls));

    assert_eq!(asked("db.example", ""), Ok(true));
    assert_eq!(asked("db.example", "&sslmode=require"), Ok(true));
    assert_eq!(asked("db.example", "&sslmode=prefer"), Ok(true));
    assert_eq!(asked("db.example", "&sslmode=disable"), Ok(false));
    let full = |file: &str| format!("&sslmode=verify-full&sslrootcert={file}");
    assert_eq!(asked("db.example", &full(&trusted)), Ok(true));
    // Its name is another one: only verify-full minds.
    let require = format!("&sslmode=require&sslrootcert={trusted}");
    assert_eq!(asked("other.example", &require), Ok(true));
    let refusal = asked("other.example", &full(&trusted)).unwrap_err();
    assert_eq!(refusal, "the server's certificate is not for other.example; it is for db.example");
    let untrusted =
        "the server's certificate is not trusted; name the file of who issued it: sslrootcert=FILE";
    for mode in ["prefer", "require", "verify-ca", "verify-full"] {
        let outcome = asked("db.example", &format!("&sslmode={mode}&sslrootcert={other}"));
        assert_eq!(outcome.as_ref().map_err(String::as_str), Err(untrusted), "{mode}");
    }
    // No authority of this system issued it.
    let refusal = asked("db.example", "&sslmode=verify-full").unwrap_err();
    assert!(refusal == untrusted || refusal.contains("install ca-certificates"), "{refusal}");

    // All traffic of a collection uses it.
    let url = address("db.example", port, &full(&trusted));
    let collection = Collection::open(&Address::parse(&url).unwrap()).unwrap();
    collection.submit(super::made::submission(1, "SD32G", None, 5.0)).unwrap();
    assert_eq!(collection.counts().unwrap().accepted, 1);
}

#[test]
fn a_server_may_be_known_by_its_own_certificate() {
    // As `openssl req -x509` makes it: an authority of itself.
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["db.example".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap().pem();
    let key = key.serialize_pem();
    let files = [("server.crt", certificate.as_str()), ("server.key", key.as_str())];
    let Some((_cluster, port)) = serve("-c ssl=on", &files) else { return };
    let dir = tempfile::tempdir().unwrap();
    let trusted = written(dir.path(), "server.crt", &certificate);
    let full = |host| {
        is_encrypted(&address(host, port, &format!("&sslmode=verify-full&sslrootcert={trusted}")))
    };
    assert_eq!(full("db.example"), Ok(true));
    assert!(full("other.example").is_err_and(|error| error.contains("not for other.example")));
}

#[test]
fn a_server_without_tls_gets_no_password() {
    let Some((_cluster, port)) = serve("-c ssl=off", &[]) else { return };
    let asked = |tls: &str| is_encrypted(&address("db.example", port, tls));
    for tls in ["", "&sslmode=require", "&sslmode=verify-full"] {
        let refusal = asked(tls).unwrap_err();
        assert!(
            refusal.starts_with("the server does not speak TLS; turn it on there"),
            "{refusal}"
        );
    }
    assert_eq!(asked("&sslmode=prefer"), Ok(false));
    assert_eq!(asked("&sslmode=disable"), Ok(false));
    // Nothing of it leaves this machine.
    let local = format!("postgres://flashmark@127.0.0.1:{port}/postgres");
    assert_eq!(is_encrypted(&local), Ok(false));
}
