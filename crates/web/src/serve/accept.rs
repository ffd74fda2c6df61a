//! Taking connections, with bounds: a connection that sends no request is closed, and only so
//! many are open at a time. Without them any program of this machine could use up the files
//! that a process may have open.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// How long a connection may take to send the head of a request, the next one too.
pub(super) const HEAD_PATIENCE: Duration = Duration::from_secs(10);

/// Connections that are open at a time. A page uses up to seven.
const CONNECTIONS_MAX: usize = 256;

/// How long to wait when the system has no connection to give.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers on every connection that sends a request within `patience`; ends only with the
/// program.
pub(super) async fn accept(listener: TcpListener, router: Router, patience: Duration) {
    accept_up_to(CONNECTIONS_MAX, listener, router, patience).await;
}

/// The same with `connections_max` at a time: others wait until one is closed.
async fn accept_up_to(connections_max: usize, listener: TcpListener, router: Router, patience: Duration) {
    let service = TowerToHyperService::new(router);
    let room = Arc::new(Semaphore::new(connections_max));
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let mut server = http1::Builder::new();
        server.timer(TokioTimer::new()).header_read_timeout(patience);
        let connection = server.serve_connection(TokioIo::new(stream), service.clone());
        tokio::spawn(async move {
            // A connection that broke has nothing to be said of.
            let _ = connection.await;
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read, Write};
    use std::net::TcpStream;

    #[test]
    fn a_connection_that_sends_no_request_is_closed() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
            let address = listener.local_addr().unwrap();
            let router = Router::new().route("/", axum::routing::get(async || "hello"));
            let asked = tokio::task::spawn_blocking(move || {
                let mut half = TcpStream::connect(address).unwrap();
                half.write_all(b"GET / HTTP/1.1\r\nhost: x").unwrap();
                let mut whole = TcpStream::connect(address).unwrap();
                whole.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
                let mut said = String::new();
                whole.read_to_string(&mut said).unwrap();
                half.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
                let is_open = half
                    .read_to_end(&mut Vec::new())
                    .is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
                (said, is_open)
            });
            let (said, is_open) = tokio::select! {
                () = accept(listener, router, Duration::from_millis(300)) => panic!("it ended"),
                asked = asked => asked.unwrap(),
            };
            assert!(said.ends_with("hello"), "{said}");
            assert!(!is_open, "half a request holds its connection");
        });
    }

    #[test]
    fn only_so_many_connections_are_open_at_a_time() {
        const PATIENCE: Duration = Duration::from_millis(400);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
            let address = listener.local_addr().unwrap();
            let router = Router::new().route("/", axum::routing::get(async || "hello"));
            let asked = tokio::task::spawn_blocking(move || {
                let half = || {
                    let mut half = TcpStream::connect(address).unwrap();
                    half.write_all(b"GET / HTTP/1.1\r\nhost: x").unwrap();
                    half
                };
                let halves = [half(), half()];
                let mut third = TcpStream::connect(address).unwrap();
                third.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
                third.set_read_timeout(Some(PATIENCE / 4)).unwrap();
                let early = third.read(&mut [0; 8]).is_ok();
                third.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
                let mut said = String::new();
                third.read_to_string(&mut said).unwrap();
                drop(halves);
                (early, said)
            });
            let (early, said) = tokio::select! {
                () = accept_up_to(2, listener, router, PATIENCE) => panic!("it ended"),
                asked = asked => asked.unwrap(),
            };
            assert!(!early, "a third connection was answered while two were open");
            assert!(said.ends_with("hello"), "{said}");
        });
    }
}
