//! The page: one HTML file with everything in it, or the same page for a server whose sheets it asks for.
//!
//! `page/page.html` is the frame, `page.css` and `page.js` go into it as they are. Its content policy lets it run that script and that
//! style, known by their hashes, and nothing else; it asks nobody for anything, or its own server for sheets.

use super::sha256::sha256;
use super::sheet::Sheet;
use crate::error::Result;
use crate::picture::{Palette, Theme, svg};

/// The map's script: the head of an ES module. `start(source, seconds)` begins; `hooks` are for what another page adds.
pub const MAP_JS: &str = include_str!("page/page.js");
/// The page's script, an ES module: the map, and its start.
pub const PAGE_JS: &str = concat!(include_str!("page/page.js"), "\nstart();\n");
/// The page's style sheet.
pub const PAGE_CSS: &str = include_str!("page/page.css");

const PAGE_HTML: &str = include_str!("page/page.html");

/// A page that is one text: a frame with places for its parts.
///
/// The frame names them in doubled braces: `title`, `policy`, `css`, `js` (a module), `data` (markup), `palette` (the colour scales that the
/// map's script reads from the element of that id). The frame of another page has the elements that the map's script asks for, see
/// `page/page.html`.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The frame.
    pub frame: &'a str,
    /// The title, as text.
    pub title: &'a str,
    /// The style sheet.
    pub style: &'a str,
    /// The script.
    pub script: &'a str,
    /// Markup before the script.
    pub data: &'a str,
    /// Whether the page asks the host that it came from; else it asks nobody.
    pub asks: bool,
}

impl Page<'_> {
    /// The content policy: this script, this style, and nothing else.
    pub fn policy(&self) -> String {
        format!(
            "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'{}",
            hash(self.script),
            hash(self.style),
            if self.asks { "; connect-src 'self'" } else { "" }
        )
    }

    /// The page.
    pub fn html(&self) -> String {
        let mut out = String::with_capacity(
            self.frame.len() + self.script.len() + self.style.len() + self.data.len() + 8_192,
        );
        let mut rest = self.frame;
        // In one pass: what is put in is never searched for places.
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").unwrap_or((after, ""));
            out.push_str(before);
            match name {
                "title" => out.push_str(&svg::escape(self.title)),
                "policy" => out.push_str(&self.policy()),
                "css" => out.push_str(self.style),
                "js" => out.push_str(self.script),
                "data" => out.push_str(self.data),
                _ => out.push_str(&palettes()),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

impl Sheet {
    /// The sheet as one HTML file that needs nothing else.
    ///
    /// # Errors
    ///
    /// As [`Sheet::json`].
    pub fn html(&self) -> Result<String> {
        let data = svg::json_in_script(&self.json()?.to_string());
        let data = format!("<script type=\"application/json\" id=\"sheet\">{data}</script>");
        Ok(filled(&self.title, false, &data))
    }
}

/// The page for a server that answers `source` (a path such as `/api/heatmap`) with sheets as JSON: see `docs/formats/heatmap.md`. The
/// page asks again every `refresh_s` seconds, never if that is 0.
pub fn page(title: &str, source: &str, refresh_s: u32) -> String {
    let data = format!(
        "<meta name=\"rowkey-source\" content=\"{}\">\n<meta name=\"rowkey-refresh\" content=\"{refresh_s}\">",
        svg::escape(source)
    );
    filled(title, true, &data)
}

fn filled(title: &str, asks: bool, data: &str) -> String {
    Page { frame: PAGE_HTML, title, style: PAGE_CSS, script: PAGE_JS, data, asks }.html()
}

/// How a content policy names a text.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", svg::base64(&sha256(text.as_bytes())))
}

/// The colour scales of both themes, six hex digits a level.
fn palettes() -> String {
    let scale = |theme| {
        let digits: Vec<String> =
            Palette::new(theme).scale.iter().map(|colour| colour.hex()[1..].to_owned()).collect();
        serde_json::json!({ "scale": digits.concat() })
    };
    serde_json::json!({ "light": scale(Theme::Light), "dark": scale(Theme::Dark) }).to_string()
}
