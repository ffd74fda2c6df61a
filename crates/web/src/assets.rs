//! The built page, as it was committed.

/// The frame of the page. `%CSP%` is where its policy goes.
pub const INDEX: &str = include_str!("../assets/index.html");
/// Its program.
pub const SCRIPT: &str = include_str!("../assets/app.js");
/// Its looks.
pub const STYLE: &str = include_str!("../assets/app.css");

/// What a page from disk may do.
pub const CSP_FOLDER: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
     font-src 'self'; connect-src 'none'; base-uri 'none'; form-action 'none'; object-src 'none'; \
     require-trusted-types-for 'script'; trusted-types svelte-trusted-html retro-chunk";

/// What a served page may do; the server sends it as a header too.
pub const CSP_SERVED: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
     font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; object-src 'none'; \
     frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html retro-chunk";

/// A policy without what only a header can say.
pub fn in_page(csp: &str) -> String {
    csp.split("; ").filter(|rule| !rule.starts_with("frame-ancestors")).collect::<Vec<_>>().join("; ")
}

/// The frame with its policy. `carrier` says how chunks come: `folder`, `served`, `single`.
pub fn index(csp: &str, carrier: &str) -> String {
    INDEX.replace("%CSP%", csp).replace("%CARRIER%", carrier)
}
