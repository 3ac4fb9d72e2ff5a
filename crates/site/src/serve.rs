//! The accept loop: limits of the number and duration of connections, and their end.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep, sleep_until};
use tower::ServiceExt as _;

use crate::client::Peer;
use crate::open_connections::OpenConnections;
use crate::state::App;
use crate::web;

/// Most connections at once. Further ones wait in the kernel's queue.
const CONNECTIONS: usize = 2000;
/// Longest time for the head of a request, and longest idle time of a connection.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// Longest time in which a client may accept no data.
const STALL: Duration = Duration::from_secs(60);
/// Most bytes in the head of a request.
const HEAD_BYTES: usize = 64 << 10;

/// Answers until `stop`, then lets open requests finish for at most `grace`.
///
/// # Errors
/// None for a single connection: its errors only end that connection.
pub async fn serve(
    listener: TcpListener,
    app: App,
    grace: Duration,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let router = web::router(app.clone());
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let by_address = OpenConnections::new(app.options().connections);
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = next(&listener, &places) => accepted,
        };
        let (stream, peer, place) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Mostly out of file descriptors: some will be free soon.
                eprintln!("flashmark-site: a connection could not be accepted: {error}");
                sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // All connections of a proxy come from its address.
        let is_proxy = app.options().proxies.contains(&peer.ip().to_canonical());
        let counted = if is_proxy { None } else { by_address.take(peer.ip()) };
        if counted.is_none() && !is_proxy {
            app.metrics().connections_refused.inc();
            continue;
        }
        let connection = connection(stream, peer, router.clone());
        let connection = graceful.watch(connection);
        let open = app.clone();
        tokio::spawn(async move {
            open.metrics().connections.inc();
            // Errors of a single connection do not matter to the server.
            let _ = connection.await;
            open.metrics().connections.dec();
            drop((place, counted));
        });
    }
    drop(listener);
    app.close();
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
        eprintln!(
            "flashmark-site: some answers took longer than {} s to end; they are broken off",
            grace.as_secs()
        );
    }
    Ok(())
}

/// The next connection, once there is a place for it.
async fn next(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    // Answers are written whole: waiting to fill a packet would only delay them.
    stream.set_nodelay(true)?;
    Ok((stream, peer, place))
}

fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
) -> http1::Connection<
    TokioIo<WriteTimeout<TcpStream>>,
    impl hyper::service::HttpService<
        Incoming,
        ResBody = Body,
        Error = std::convert::Infallible,
        Future: Send,
    > + Send,
> {
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer.ip()));
        router.clone().oneshot(request.map(Body::new))
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(WriteTimeout::new(stream)), service)
}

/// A connection that ends if the client accepts no data for too long.
pub struct WriteTimeout<T> {
    inner: T,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<T> WriteTimeout<T> {
    fn new(inner: T) -> WriteTimeout<T> {
        WriteTimeout { inner, stalled: None }
    }

    /// Result of a write; a pending one fails when the time limit ends.
    fn waited<V>(
        &mut self,
        done: Poll<io::Result<V>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<V>> {
        if done.is_ready() {
            self.stalled = None;
            return done;
        }
        let stalled =
            self.stalled.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + STALL)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the reader does not read",
            ))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for WriteTimeout<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.waited(done, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write_vectored(context, bytes);
        self.waited(done, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.inner).poll_flush(context);
        self.waited(done, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.inner).poll_shutdown(context);
        self.waited(done, context)
    }
}
