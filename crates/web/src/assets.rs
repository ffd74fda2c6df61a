//! The built page, as it was committed.

/// The page's frame. `%CSP%` marks the place of its policy.
pub const INDEX: &str = include_str!("../assets/index.html");
/// The page's program.
pub const SCRIPT: &str = include_str!("../assets/app.js");
/// The page's style sheet.
pub const STYLE: &str = include_str!("../assets/app.css");

/// The content policy of a page opened from disk.
pub const CSP_FOLDER: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
     font-src 'self'; connect-src 'none'; base-uri 'none'; form-action 'none'; object-src 'none'; \
     require-trusted-types-for 'script'; trusted-types svelte-trusted-html retro-chunk";

/// The content policy of a served page. The server also sends it as a header.
pub const CSP_SERVED: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
     font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; object-src 'none'; \
     frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html retro-chunk";

/// The policy without directives that only work in a header.
pub fn in_page(csp: &str) -> String {
    csp.split("; ").filter(|rule| !rule.starts_with("frame-ancestors")).collect::<Vec<_>>().join("; ")
}

/// The frame with its policy. `carrier` is the source of chunks: `folder`, `served`, `single`.
pub fn index(csp: &str, carrier: &str) -> String {
    INDEX.replace("%CSP%", csp).replace("%CARRIER%", carrier)
}
