//! The page on a loopback address, live while agents work.
//!
//! The server sends the chunks of a dashboard folder as JSON, and announces changes. It binds only
//! to 127.0.0.1. It answers only requests with its own `Host` and `Origin`, and only a browser that
//! has once presented the token of this run. The only changes it makes are decisions about
//! memories and patterns.

mod accept;
mod guard;
mod live;
mod memory;
mod patterns;
mod raw;
mod search;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use retro::engine::{Config, World};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::broadcast;

use crate::build::{Options, build};
use crate::chunk::unpacked;
use crate::{Build, Error, assets};
use guard::Guard;
pub use guard::opener;

/// Options of the server.
#[derive(Debug, Clone, Default)]
pub struct ServeOptions {
    /// Options of the build.
    pub build: Options,
    /// The port. 0 lets the system choose.
    pub port: u16,
    /// True if nothing is captured while it runs.
    pub no_sync: bool,
}

/// How often the server checks for a stop request.
const TICK: Duration = Duration::from_millis(200);

/// Maximum pending announcements for a slow page.
const NEWS_MAX: usize = 64;

/// State shared by all requests.
struct Shared {
    folder: PathBuf,
    library: search::Library,
    guard: Guard,
    news: broadcast::Sender<Arc<str>>,
    /// Held while writing to the folder.
    building: Arc<Mutex<()>>,
}

/// Serves until a stop is requested. Calls `ready` with the address to open, which contains the
/// token, once requests are answered.
pub fn serve(
    world: &World,
    config: &Config,
    options: &ServeOptions,
    ready: &dyn Fn(&str),
) -> Result<(), Error> {
    build(&Build { world, config, options: &options.build }, &|_, _| {})?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (news, _) = broadcast::channel(NEWS_MAX);
    let building = Arc::new(Mutex::new(()));
    let tell = || (news.clone(), Arc::clone(&building));
    let keeper = (!options.no_sync).then(|| live::follow(world, config, &options.build, tell()));
    let library =
        search::Library { world: world.clone(), config: config.clone(), options: options.build.clone() };
    let served = runtime.block_on(listen(world, options, (library, tell()), ready));
    // Open pages do not delay the exit.
    runtime.shutdown_background();
    if let Some(keeper) = keeper {
        world.stop.store(true, std::sync::atomic::Ordering::SeqCst);
        let _ = keeper.join();
    }
    served
}

async fn listen(
    world: &World,
    options: &ServeOptions,
    (library, (news, building)): (search::Library, live::Telling),
    ready: &dyn Fn(&str),
) -> Result<(), Error> {
    let cannot = |source| Error::Serve { port: options.port, source };
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", options.port)).await.map_err(cannot)?;
    let port = listener.local_addr()?.port();
    let guard = Guard::new(port)?;
    ready(&guard.first_address());
    let shared = Arc::new(Shared { folder: options.build.out.clone(), library, guard, news, building });
    tokio::select! {
        () = accept::accept(listener, router(shared), accept::HEAD_PATIENCE) => Ok(()),
        () = stopped(world) => Ok(()),
    }
}

async fn stopped(world: &World) {
    while !world.stopping() {
        tokio::time::sleep(TICK).await;
    }
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/app.js", get(async || text("text/javascript; charset=utf-8", assets::SCRIPT)))
        .route("/app.css", get(async || text("text/css; charset=utf-8", assets::STYLE)))
        .route("/data/{*name}", get(chunk))
        .route("/img/{name}", get(picture))
        .route("/events", get(live::events))
        .route("/raw", get(raw::raw))
        .route("/search", get(search::search))
        .route(memory::PATH, post(memory::post).layer(DefaultBodyLimit::max(memory::BYTES_MAX)))
        .route(patterns::PATH, post(patterns::post).layer(DefaultBodyLimit::max(patterns::BYTES_MAX)))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&shared), guard::check))
        .with_state(shared)
}

async fn page() -> Response {
    text("text/html; charset=utf-8", &assets::index(&assets::in_page(assets::CSP_SERVED), "served"))
}

/// Sends a chunk as JSON, or `304` if the page has it already.
async fn chunk(State(shared): State<Arc<Shared>>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    let is_good = |name: &str| {
        let stays = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._/-".contains(&byte);
        !name.is_empty() && name.bytes().all(stays) && !name.split('/').any(|part| part.starts_with('.'))
    };
    let Some(name) = name.strip_suffix(".json").filter(|name| is_good(name)) else {
        return plain(StatusCode::NOT_FOUND, "no such chunk");
    };
    let Ok(script) = std::fs::read(shared.folder.join("data").join(format!("{name}.js"))) else {
        return plain(StatusCode::NOT_FOUND, "no such chunk");
    };
    let tag = format!("\"{}\"", &blake3::hash(&script).to_hex()[..24]);
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return answer(StatusCode::NOT_MODIFIED, &[(header::ETAG, &tag)], Vec::new());
    }
    match unpacked(&script) {
        Some(json) => {
            answer(StatusCode::OK, &[(header::CONTENT_TYPE, "application/json"), (header::ETAG, &tag)], json)
        }
        None => plain(StatusCode::INTERNAL_SERVER_ERROR, "a damaged chunk; run `retro dashboard build`"),
    }
}

/// Sends a picture of a session.
async fn picture(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Response {
    let kind = match name.split_once('.') {
        Some((hash, ending)) if hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => match ending {
            "png" => Some("image/png"),
            "jpg" => Some("image/jpeg"),
            "gif" => Some("image/gif"),
            "webp" => Some("image/webp"),
            _ => None,
        },
        _ => None,
    };
    match kind.and_then(|kind| Some((kind, std::fs::read(shared.folder.join("img").join(&name)).ok()?))) {
        Some((kind, bytes)) => answer(StatusCode::OK, &[(header::CONTENT_TYPE, kind)], bytes),
        None => plain(StatusCode::NOT_FOUND, "no such picture"),
    }
}

fn text(kind: &str, body: &str) -> Response {
    answer(StatusCode::OK, &[(header::CONTENT_TYPE, kind)], body.as_bytes().to_vec())
}

fn plain(status: StatusCode, body: &str) -> Response {
    answer(status, &[(header::CONTENT_TYPE, "text/plain; charset=utf-8")], body.as_bytes().to_vec())
}

fn answer(status: StatusCode, headers: &[(header::HeaderName, &str)], body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    for (name, value) in headers {
        if let Ok(value) = header::HeaderValue::from_str(value) {
            response.headers_mut().insert(name.clone(), value);
        }
    }
    response
}
