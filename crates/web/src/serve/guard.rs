//! Admits only this machine's user, from a page of this server.
//!
//! A page of another site can make a browser send requests to a loopback port, under any host name.
//! The checks are therefore: `Host` must match, `Origin` must be absent or match, and a cookie must
//! be present that only the address printed by this run can set, once.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::{Arc, Mutex};

use super::{Shared, answer, memory, patterns, plain};
use crate::assets::CSP_SERVED;

/// The secrets that one run of the server trusts.
pub struct Guard {
    port: u16,
    /// Valid for one visit.
    token: Mutex<Option<String>>,
    cookie: String,
}

impl Guard {
    /// New secrets for a server on this port.
    pub fn new(port: u16) -> Result<Guard, std::io::Error> {
        Ok(Guard { port, token: Mutex::new(Some(random()?)), cookie: random()? })
    }

    /// The address for the first visit.
    pub fn first_address(&self) -> String {
        let token = self.token.lock().ok().and_then(|token| token.clone()).unwrap_or_default();
        format!("http://127.0.0.1:{}/?token={token}", self.port)
    }

    fn is_own_host(&self, host: &str) -> bool {
        ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| host == format!("{name}:{}", self.port))
    }

    fn is_own(&self, headers: &HeaderMap) -> bool {
        let one = |name: header::HeaderName| {
            let mut all = headers.get_all(name).iter();
            let first = all.next().map(|value| value.to_str().unwrap_or("?"));
            // A header that occurs twice is not valid.
            if all.next().is_some() { Some("?") } else { first }
        };
        let origin = one(header::ORIGIN);
        let is_origin =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|host| self.is_own_host(host));
        one(header::HOST).is_some_and(|host| self.is_own_host(host)) && origin.is_none_or(is_origin)
    }

    fn knows(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let name = format!("retro-{}", self.port);
        let mut pairs =
            cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(key, value)| key == name && is_same(value, &self.cookie))
    }

    /// Accepts the token of an address if it matches, and invalidates it.
    fn spend(&self, query: Option<&str>) -> bool {
        let given = query.and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("token=")));
        let Ok(mut token) = self.token.lock() else { return false };
        let fits = matches!((given, token.as_deref()), (Some(given), Some(token)) if is_same(given, token));
        if fits {
            *token = None;
        }
        fits
    }

    /// Sets the cookie and redirects to the page. A browser that comes from a file would not send
    /// the cookie after a redirect, so it gets a page that leads on.
    fn welcome(&self, is_from_file: bool) -> Response {
        const ON: &str =
            "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=/\"><title>retro</title>";
        let cookie = format!("retro-{}={}; HttpOnly; SameSite=Strict; Path=/", self.port, self.cookie);
        if is_from_file {
            let headers =
                [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::SET_COOKIE, &*cookie)];
            return answer(StatusCode::OK, &headers, ON.as_bytes().to_vec());
        }
        answer(StatusCode::SEE_OTHER, &[(header::LOCATION, "/"), (header::SET_COOKIE, &cookie)], Vec::new())
    }
}

/// Compares in constant time.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

fn random() -> Result<String, std::io::Error> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The suffix of an address that is stored in a file. See [`opener`].
const FROM_FILE: &str = "&from=file";

fn is_from_file(query: &str) -> bool {
    query.ends_with(FROM_FILE)
}

/// A page that leads to this address. A file passes the address with its token to the browser. A
/// command-line argument would expose it to every user of the machine.
pub fn opener(address: &str) -> String {
    format!(
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={address}{FROM_FILE}\"><title>retro</title>\n"
    )
}

/// True if a request opens the page. A `HEAD` request shows no page to a user.
fn is_visit(request: &Request) -> bool {
    *request.method() == Method::GET && request.uri().path() == "/"
}

/// True if a request decides about a memory or a pattern, the only possible changes.
fn is_decision(request: &Request) -> bool {
    *request.method() == Method::POST && [memory::PATH, patterns::PATH].contains(&request.uri().path())
}

/// True if the page's own script sent it. `Origin` was compared already, but must be present, and
/// no form can send the other header.
fn is_by_script(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN) && headers.get("x-retro").is_some_and(|value| value == "1")
}

/// Checks every request before any other handler.
pub async fn check(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let guard = &shared.guard;
    let mut response = if !guard.is_own(request.headers()) {
        plain(StatusCode::FORBIDDEN, "this server answers only pages of its own")
    } else if !matches!(*request.method(), Method::GET | Method::HEAD) && !is_decision(&request) {
        plain(StatusCode::METHOD_NOT_ALLOWED, "nothing can be changed here")
    } else if is_visit(&request) && guard.spend(request.uri().query()) {
        guard.welcome(request.uri().query().is_some_and(is_from_file))
    } else if !guard.knows(request.headers()) {
        plain(
            StatusCode::FORBIDDEN,
            "open the address that `retro dashboard serve` printed; it is good for one visit",
        )
    } else if is_decision(&request) && !is_by_script(request.headers()) {
        plain(StatusCode::FORBIDDEN, "decisions are taken only from a page of this server")
    } else {
        next.run(request).await
    };
    let fixed = [
        ("content-security-policy", CSP_SERVED),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in fixed {
        response.headers_mut().insert(name, header::HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, header::HeaderValue::from_static(value));
        }
        map
    }

    #[test]
    fn only_our_own_host_and_origin_pass() {
        let guard = Guard::new(8123).unwrap();
        let cases: [(&[(&str, &str)], bool); 12] = [
            (&[("host", "127.0.0.1:8123")], true),
            (&[("host", "localhost:8123")], true),
            (&[("host", "127.0.0.1:8123"), ("origin", "http://127.0.0.1:8123")], true),
            (&[("host", "localhost:8123"), ("origin", "http://localhost:8123")], true),
            (&[], false),
            (&[("host", "127.0.0.1")], false),
            (&[("host", "127.0.0.1:80")], false),
            (&[("host", "evil.example:8123")], false),
            (&[("host", "127.0.0.1:8123.evil.example")], false),
            (&[("host", "127.0.0.1:8123"), ("origin", "http://evil.example")], false),
            (&[("host", "127.0.0.1:8123"), ("origin", "null")], false),
            (&[("host", "127.0.0.1:8123"), ("host", "evil.example")], false),
        ];
        for (pairs, expected) in cases {
            let pairs: Vec<(&'static str, &'static str)> = pairs.to_vec();
            assert_eq!(guard.is_own(&headers(&pairs)), expected, "{pairs:?}");
        }
    }

    #[test]
    fn a_token_is_good_once() {
        let guard = Guard::new(8123).unwrap();
        let address = guard.first_address();
        let query = address.split_once('?').unwrap().1.to_owned();
        assert!(!guard.spend(Some("token=wrong")) && !guard.spend(None) && !guard.spend(Some("token=")));
        assert!(guard.spend(Some(&query)));
        assert!(!guard.spend(Some(&query)));
    }

    #[test]
    fn a_visit_from_a_file_is_led_on_by_a_page() {
        let guard = Guard::new(8123).unwrap();
        let address = guard.first_address();
        let page = opener(&address);
        let query = page.split_once("/?").unwrap().1.split_once('"').unwrap().0;
        assert!(is_from_file(query) && guard.spend(Some(query)));
        let (on, straight) = (guard.welcome(true), guard.welcome(false));
        assert_eq!((on.status(), straight.status()), (StatusCode::OK, StatusCode::SEE_OTHER));
        assert!(on.headers().contains_key(header::SET_COOKIE));
    }

    #[test]
    fn only_a_script_of_ours_decides() {
        let ours = ("origin", "http://127.0.0.1:8123");
        for (pairs, expected) in [
            (&[ours, ("x-retro", "1")][..], true),
            (&[ours], false),
            (&[("x-retro", "1")], false),
            (&[ours, ("x-retro", "0")], false),
        ] {
            assert_eq!(is_by_script(&headers(pairs)), expected, "{pairs:?}");
        }
        let request = |method: Method, path: &str| {
            Request::builder().method(method).uri(path).body(axum::body::Body::empty()).unwrap()
        };
        assert!(is_decision(&request(Method::POST, "/memory")));
        assert!(is_decision(&request(Method::POST, "/patterns")));
        assert!(is_visit(&request(Method::GET, "/?token=x")));
        assert!(!is_visit(&request(Method::HEAD, "/?token=x")));
        assert!(!is_visit(&request(Method::GET, "/data/x?token=x")));
        for (method, path) in
            [(Method::POST, "/search"), (Method::GET, "/memory"), (Method::DELETE, "/memory")]
        {
            assert!(!is_decision(&request(method.clone(), path)), "{method} {path}");
        }
    }
}
