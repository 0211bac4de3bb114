//! Pieces of SVG and HTML files: escaped text, and data in Base64.

use std::fmt::Write as _;

/// Text as it may stand in an element or in an attribute in double quotes. Characters that XML does not have become U+FFFD.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(character),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}

/// JSON as it may stand in a `script` element of HTML: `<`, `>` and `&` are written as `\u00xx`, which JSON reads as the same.
pub fn json_in_script(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                write!(out, "\\u{:04x}", u32::from(character)).expect("a string takes all that is written");
            }
            _ => out.push(character),
        }
    }
    out
}

/// Base64 with padding (RFC 4648, section 4).
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (place, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = DIGITS[(bits >> shift & 63) as usize];
            out.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_for_elements_and_attributes() {
        assert_eq!(escape("a<b>&\"c'\x01é\n"), "a&lt;b&gt;&amp;&quot;c&#39;\u{fffd}é\n");
    }

    #[test]
    fn json_cannot_end_its_script() {
        let json = json_in_script(r#"{"a":"</script><!-- &"}"#);
        assert_eq!(json, r#"{"a":"\u003c/script\u003e\u003c!-- \u0026"}"#);
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["a"], "</script><!-- &");
    }

    #[test]
    fn base64_is_that_of_the_rfc() {
        // RFC 4648, section 10.
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
