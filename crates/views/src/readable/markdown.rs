//! Markdown as a small tree of arrays.
//!
//! A node is a text, or an array whose first element names it: `["p", child, …]`,
//! `["h", level, child, …]`, `["pre", language, text]`, `["a", address, child, …]`. HTML is
//! text, an image is its description, and a link that is not `http` or `https` is its words.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use serde_json::{Value, json};

use super::plain;

/// Nodes that may be inside each other; deeper ones are drawn at this depth.
const DEPTH_MAX: usize = 40;

/// Text that is read as markdown. A longer one is shown as it is.
const BYTES_MAX: usize = 400_000;

/// The tree of a text.
pub fn markdown(text: &str) -> Vec<Value> {
    if text.len() > BYTES_MAX {
        return vec![json!(["pre", "", plain(text)])];
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut tree = Tree { open: vec![Vec::new()], closes: Vec::new() };
    for event in Parser::new_ext(text, options) {
        tree.event(event);
    }
    while tree.open.len() > 1 {
        tree.close();
    }
    tree.open.pop().unwrap_or_default()
}

/// Nodes that are not closed yet, outermost first.
struct Tree {
    open: Vec<Vec<Value>>,
    /// For each open tag, whether it has a node of its own.
    closes: Vec<bool>,
}

impl Tree {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(TagEnd::HtmlBlock | TagEnd::MetadataBlock(_)) => {}
            Event::End(_) => {
                if self.closes.pop() == Some(true) {
                    self.close();
                }
            }
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => self.text(&text),
            Event::Code(text) => self.add(json!(["code", plain(&text)])),
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak => self.add(json!(["br"])),
            Event::Rule => self.add(json!(["hr"])),
            Event::TaskListMarker(done) => self.text(if done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(name) => self.text(&format!("[{name}]")),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let node = match tag {
            Tag::HtmlBlock | Tag::MetadataBlock(_) => return,
            Tag::Paragraph => vec![json!("p")],
            Tag::Heading { level, .. } => vec![json!("h"), json!(level as u8)],
            Tag::BlockQuote(_) => vec![json!("quote")],
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(name) => {
                        plain(name.split([' ', ',', '{']).next().unwrap_or_default())
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                vec![json!("pre"), json!(language)]
            }
            Tag::List(Some(first)) => vec![json!("ol"), json!(first)],
            Tag::List(None) => vec![json!("ul")],
            Tag::Item => vec![json!("li")],
            Tag::Table(_) => vec![json!("table")],
            Tag::TableHead => vec![json!("th")],
            Tag::TableRow => vec![json!("tr")],
            Tag::TableCell => vec![json!("td")],
            Tag::Emphasis => vec![json!("em")],
            Tag::Strong => vec![json!("b")],
            Tag::Strikethrough => vec![json!("s")],
            Tag::Link { dest_url, .. } if is_web(&dest_url) => vec![json!("a"), json!(plain(&dest_url))],
            _ => vec![json!("span")],
        };
        let has_room = self.open.len() < DEPTH_MAX;
        self.closes.push(has_room);
        if has_room {
            self.open.push(node);
        }
    }

    fn close(&mut self) {
        if let Some(node) = self.open.pop() {
            self.add(Value::Array(node));
        }
    }

    fn add(&mut self, node: Value) {
        if let Some(parent) = self.open.last_mut() {
            parent.push(node);
        }
    }

    fn text(&mut self, text: &str) {
        let Some(parent) = self.open.last_mut() else { return };
        // The first element names the node, and a code block's second is its language.
        let names = match parent.first().and_then(Value::as_str) {
            Some("pre" | "h" | "ol" | "a") => 2,
            _ => 1,
        };
        let has_children = parent.len() > names;
        match parent.last_mut() {
            Some(Value::String(before)) if has_children => before.push_str(&plain(text)),
            _ => parent.push(json!(plain(text))),
        }
    }
}

fn is_web(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    lower.starts_with("https://") || lower.starts_with("http://")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> String {
        serde_json::to_string(&markdown(text)).unwrap()
    }

    #[test]
    fn words_become_nodes() {
        assert_eq!(
            tree("# Hi\n\nA **bold** `x` [link](https://a.b/c)."),
            r#"[["h",1,"Hi"],["p","A ",["b","bold"]," ",["code","x"]," ",["a","https://a.b/c","link"],"."]]"#
        );
        assert_eq!(tree("- a\n- b"), r#"[["ul",["li","a"],["li","b"]]]"#);
        assert_eq!(tree("```rust\nlet a;\n```"), r#"[["pre","rust","let a;\n"]]"#);
    }

    #[test]
    fn nothing_of_a_text_becomes_a_command() {
        assert_eq!(tree("[x](javascript:alert(1))"), r#"[["p",["span","x"]]]"#);
        assert_eq!(tree("![pic](https://evil.example/x.png)"), r#"[["p",["span","pic"]]]"#);
        assert_eq!(tree("<img src=x onerror=alert(1)>"), r#"["<img src=x onerror=alert(1)>"]"#);
        assert!(tree("a\u{202e}b").contains("u{202e}"));
    }

    #[test]
    fn deep_nesting_ends() {
        let text = "> ".repeat(5000) + "deep";
        assert!(tree(&text).contains("deep"));
    }
}
