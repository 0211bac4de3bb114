//! A picture as a list of things to draw, so that PNG and SVG show the same.

use crate::error::Result;
use crate::heatmap::level::pooled;
use crate::picture::{Canvas, Palette, Rgb, png, svg, text_height, text_width};
use std::fmt::Write as _;

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// It begins there.
    Left,
    /// Its middle is there.
    Middle,
    /// It ends there.
    Right,
}

/// A rectangle, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Area {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// One thing.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// A filled rectangle.
    Fill(Area, Rgb),
    /// The outline of a rectangle, of so many pixels.
    Frame(Area, Rgb, u32),
    /// Text, its upper edge at `y`.
    Text { x: u32, y: u32, anchor: Anchor, text: String, colour: Rgb },
    /// Levels of the scale, row by row.
    Cells { area: Area, columns: usize, rows: usize, levels: Vec<u8>, name: &'static str },
}

/// A picture.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) palette: Palette,
    /// Pixels of a dot of the font.
    pub(super) dot: u32,
    pub(super) items: Vec<Item>,
}

impl Scene {
    /// How wide a text is.
    pub(super) fn text_width(&self, text: &str) -> u32 {
        text_width(text, self.dot)
    }

    /// How high a line of text is.
    pub(super) fn line_height(&self) -> u32 {
        text_height(self.dot) + 2 * self.dot
    }

    /// Cuts a text so that it is at most `width` pixels wide; what is cut off is told by two dots.
    pub(super) fn fitted(&self, text: &str, width: u32) -> String {
        if self.text_width(text) <= width {
            return text.to_owned();
        }
        let characters = (width + self.dot) / (6 * self.dot);
        let kept = usize::try_from(characters).unwrap_or_default().saturating_sub(2);
        let cut: String = text.chars().take(kept).collect();
        cut + ".."
    }

    /// Cuts a text into lines that are at most `width` pixels wide, at spaces where there are any.
    pub(super) fn wrapped(&self, text: &str, width: u32) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if self.text_width(line) + self.text_width(word) + 6 * self.dot <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(self.fitted(word, width)),
            }
        }
        lines
    }

    /// As pixels.
    pub(super) fn canvas(&self) -> Canvas {
        let mut canvas = Canvas::new(self.width, self.height, self.palette.paper);
        for item in &self.items {
            self.draw(item, &mut canvas);
        }
        canvas
    }

    fn draw(&self, item: &Item, canvas: &mut Canvas) {
        match item {
            Item::Fill(area, colour) => {
                canvas.fill(pixel(area.x), pixel(area.y), area.width, area.height, *colour);
            }
            Item::Frame(area, colour, thickness) => {
                for inset in 0..*thickness {
                    let (width, height) =
                        (area.width.saturating_sub(2 * inset), area.height.saturating_sub(2 * inset));
                    canvas.frame(pixel(area.x + inset), pixel(area.y + inset), width, height, *colour);
                }
            }
            Item::Text { x, y, anchor, text, colour } => {
                let width = self.text_width(text);
                let left = match anchor {
                    Anchor::Left => pixel(*x),
                    Anchor::Middle => pixel(*x) - pixel(width / 2),
                    Anchor::Right => pixel(*x) - pixel(width),
                };
                canvas.text(left, pixel(*y), text, *colour, self.dot);
            }
            Item::Cells { area, columns, rows, levels, .. } => {
                let pixels = pooled(levels, *columns, *rows, area.width as usize, area.height as usize);
                let lines = pixels.chunks(area.width.max(1) as usize);
                for (y, line) in (pixel(area.y)..).zip(lines) {
                    for (x, &level) in (pixel(area.x)..).zip(line) {
                        canvas.set(x, y, self.palette.at(level));
                    }
                }
            }
        }
    }

    /// As SVG: cells are embedded pictures of one pixel a cell, everything else are vectors and text.
    ///
    /// # Errors
    ///
    /// As [`png::encode`].
    pub(super) fn svg(&self, title: &str) -> Result<String> {
        let mut out = String::new();
        let size = self.dot * 7;
        let put = "a string takes all that is written";
        write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" \
             font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"{size}\">\n<title>{2}</title>\n\
             <rect width=\"{0}\" height=\"{1}\" fill=\"{3}\"/>\n",
            self.width,
            self.height,
            svg::escape(title),
            self.palette.paper.hex()
        )
        .expect(put);
        for item in &self.items {
            self.push_svg(item, &mut out)?;
        }
        out.push_str("</svg>\n");
        Ok(out)
    }

    fn push_svg(&self, item: &Item, out: &mut String) -> Result<()> {
        let put = "a string takes all that is written";
        match item {
            Item::Fill(Area { x, y, width, height }, colour) => {
                let fill = colour.hex();
                writeln!(
                    out,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>"
                )
                .expect(put);
            }
            Item::Frame(Area { x, y, width, height }, colour, thickness) => {
                writeln!(
                    out,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{thickness}\"/>",
                    colour.hex()
                )
                .expect(put);
            }
            Item::Text { x, y, anchor, text, colour } => {
                let anchor = match anchor {
                    Anchor::Left => "start",
                    Anchor::Middle => "middle",
                    Anchor::Right => "end",
                };
                let base = y + self.dot * 6;
                writeln!(
                    out,
                    "<text x=\"{x}\" y=\"{base}\" text-anchor=\"{anchor}\" fill=\"{}\" xml:space=\"preserve\">{}</text>",
                    colour.hex(),
                    svg::escape(text)
                )
                .expect(put);
            }
            Item::Cells { area, columns, rows, levels, name } => {
                let (Ok(across), Ok(down)) = (u32::try_from(*columns), u32::try_from(*rows)) else {
                    return Ok(());
                };
                if levels.is_empty() {
                    return Ok(());
                }
                let file = png::encode_indexed(across, down, &self.palette.scale, levels)?;
                writeln!(
                    out,
                    "<image class=\"{name}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
                     style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>",
                    area.x,
                    area.y,
                    area.width,
                    area.height,
                    svg::base64(&file)
                )
                .expect(put);
            }
        }
        Ok(())
    }
}

fn pixel(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX / 2)
}
