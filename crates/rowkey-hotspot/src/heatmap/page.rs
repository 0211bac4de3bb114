//! The page: one HTML file with everything in it, or the same page for a server whose sheets it asks for.
//!
//! `page/page.html` is the frame, `page.css` and `page.js` go into it as they are. Its content policy lets it run that script and that
//! style, known by their hashes, and nothing else; it asks nobody for anything, or its own server for sheets.

use super::sha256::sha256;
use super::sheet::Sheet;
use crate::error::Result;
use crate::picture::{Palette, Theme, svg};

/// The page's script, an ES module.
pub const PAGE_JS: &str = include_str!("page/page.js");
/// The page's style sheet.
pub const PAGE_CSS: &str = include_str!("page/page.css");

const PAGE_HTML: &str = include_str!("page/page.html");

impl Sheet {
    /// The sheet as one HTML file that needs nothing else.
    ///
    /// # Errors
    ///
    /// As [`Sheet::json`].
    pub fn html(&self) -> Result<String> {
        let data = svg::json_in_script(&self.json()?.to_string());
        let data = format!("<script type=\"application/json\" id=\"sheet\">{data}</script>");
        Ok(filled(&self.title, "", &data))
    }
}

/// The page for a server that answers `source` (a path such as `/api/heatmap`) with sheets as JSON: see `docs/formats/heatmap.md`. The
/// page asks again every `refresh_s` seconds, never if that is 0.
pub fn page(title: &str, source: &str, refresh_s: u32) -> String {
    let data = format!(
        "<meta name=\"rowkey-source\" content=\"{}\">\n<meta name=\"rowkey-refresh\" content=\"{refresh_s}\">",
        svg::escape(source)
    );
    filled(title, "; connect-src 'self'", &data)
}

fn filled(title: &str, connect: &str, data: &str) -> String {
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'{connect}",
        hash(PAGE_JS),
        hash(PAGE_CSS)
    );
    let palette = palettes();
    let mut out =
        String::with_capacity(PAGE_HTML.len() + PAGE_JS.len() + PAGE_CSS.len() + data.len() + 8_192);
    let mut rest = PAGE_HTML;
    // In one pass: what is put in is never searched for places.
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        out.push_str(before);
        match name {
            "title" => out.push_str(&svg::escape(title)),
            "policy" => out.push_str(&policy),
            "css" => out.push_str(PAGE_CSS),
            "js" => out.push_str(PAGE_JS),
            "data" => out.push_str(data),
            _ => out.push_str(&palette),
        }
        rest = after;
    }
    out.push_str(rest);
    out
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
