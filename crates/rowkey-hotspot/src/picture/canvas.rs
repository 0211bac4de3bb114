//! A canvas of RGB pixels: rectangles, lines, text. What lies outside of it is cut off, never an error.

use super::font::{GLYPH_HEIGHT, GLYPH_WIDTH, glyph};

/// Pixels of a side at most.
const SIDE_MAX: u32 = 16_384;
/// Pixels in all at most: 192 MB.
const PIXELS_MAX: u32 = 1 << 26;

/// A colour: red, green, blue, as sRGB has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// `#rrggbb`.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// This colour over another: `weight` of 255 parts of this one.
    #[must_use]
    pub fn over(self, below: Self, weight: u8) -> Self {
        let weight = u32::from(weight);
        let mix = |above: u8, below: u8| {
            let sum = u32::from(above) * weight + u32::from(below) * (255 - weight);
            u8::try_from((sum + 127) / 255).unwrap_or(u8::MAX)
        };
        Self(mix(self.0, below.0), mix(self.1, below.1), mix(self.2, below.2))
    }
}

/// Pixels. `x` grows to the right, `y` downwards, both from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<Rgb>,
}

impl Canvas {
    /// A canvas of one colour. Each side is 1 to 16,384 pixels and the whole at most 67,108,864; what is asked beyond is cut off.
    pub fn new(width: u32, height: u32, paper: Rgb) -> Self {
        let width = width.clamp(1, SIDE_MAX);
        let height = height.clamp(1, SIDE_MAX.min(PIXELS_MAX / width));
        Self { width, height, pixels: vec![paper; width as usize * height as usize] }
    }

    /// Pixels of a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All pixels, row by row.
    pub fn pixels(&self) -> &[Rgb] {
        &self.pixels
    }

    /// The colour of a pixel; `None` outside.
    pub fn get(&self, x: i32, y: i32) -> Option<Rgb> {
        self.index(x, y).map(|at| self.pixels[at])
    }

    /// Colours a pixel.
    pub fn set(&mut self, x: i32, y: i32, colour: Rgb) {
        if let Some(at) = self.index(x, y) {
            self.pixels[at] = colour;
        }
    }

    fn index(&self, x: i32, y: i32) -> Option<usize> {
        let (x, y) = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
        (x < self.width && y < self.height).then(|| y as usize * self.width as usize + x as usize)
    }

    /// Fills a rectangle whose upper left pixel is `x`, `y`.
    pub fn fill(&mut self, x: i32, y: i32, width: u32, height: u32, colour: Rgb) {
        self.for_each_in(x, y, width, height, |pixel| *pixel = colour);
    }

    /// Tints a rectangle: `weight` of 255 parts of the colour, the rest of what is there.
    pub fn tint(&mut self, x: i32, y: i32, width: u32, height: u32, colour: Rgb, weight: u8) {
        self.for_each_in(x, y, width, height, |pixel| *pixel = colour.over(*pixel, weight));
    }

    fn for_each_in(&mut self, x: i32, y: i32, width: u32, height: u32, mut change: impl FnMut(&mut Rgb)) {
        let columns = clipped(x, width, self.width);
        for row in clipped(y, height, self.height) {
            let start = row * self.width as usize;
            for pixel in &mut self.pixels[start + columns.start..start + columns.end] {
                change(pixel);
            }
        }
    }

    /// Draws the outline of a rectangle, one pixel wide, inside of it.
    pub fn frame(&mut self, x: i32, y: i32, width: u32, height: u32, colour: Rgb) {
        if width == 0 || height == 0 {
            return;
        }
        self.fill(x, y, width, 1, colour);
        self.fill(x, y.saturating_add_unsigned(height - 1), width, 1, colour);
        self.fill(x, y, 1, height, colour);
        self.fill(x.saturating_add_unsigned(width - 1), y, 1, height, colour);
    }

    /// Draws a line, both ends included (Bresenham, 1965).
    pub fn line(&mut self, from: (i32, i32), to: (i32, i32), colour: Rgb) {
        // Ends far outside would only take time.
        let limit = |value: i32| i64::from(value.clamp(-100_000, 100_000));
        let (mut x, mut y, to_x, to_y) = (limit(from.0), limit(from.1), limit(to.0), limit(to.1));
        let (wide, high) = ((to_x - x).abs(), -(to_y - y).abs());
        let (step_x, step_y) = ((to_x - x).signum(), (to_y - y).signum());
        let mut error = wide + high;
        loop {
            if let (Ok(x), Ok(y)) = (i32::try_from(x), i32::try_from(y)) {
                self.set(x, y, colour);
            }
            if x == to_x && y == to_y {
                return;
            }
            let doubled = 2 * error;
            if doubled >= high {
                error += high;
                x += step_x;
            }
            if doubled <= wide {
                error += wide;
                y += step_y;
            }
        }
    }

    /// Writes text whose upper left pixel is `x`, `y`; each dot of the font is `scale` pixels wide and high. Characters that are not
    /// printable ASCII are frames. [`text_width`] and [`text_height`] tell its size.
    pub fn text(&mut self, x: i32, y: i32, text: &str, colour: Rgb, scale: u32) {
        let mut left = x;
        for character in text.chars() {
            if left >= i32::try_from(self.width).unwrap_or(i32::MAX) {
                return;
            }
            for (row, bits) in (0_u32..).zip(glyph(character)) {
                for column in (0..GLYPH_WIDTH).filter(|column| bits >> (GLYPH_WIDTH - 1 - column) & 1 == 1) {
                    let dot_x = left.saturating_add_unsigned(column.saturating_mul(scale));
                    let dot_y = y.saturating_add_unsigned(row.saturating_mul(scale));
                    self.fill(dot_x, dot_y, scale, scale, colour);
                }
            }
            left = left.saturating_add_unsigned((GLYPH_WIDTH + 1).saturating_mul(scale));
        }
    }

    /// Writes text that ends at `right`, its last pixel excluded.
    pub fn text_right(&mut self, right: i32, y: i32, text: &str, colour: Rgb, scale: u32) {
        self.text(right.saturating_sub_unsigned(text_width(text, scale)), y, text, colour, scale);
    }
}

/// How many pixels wide a text is.
pub fn text_width(text: &str, scale: u32) -> u32 {
    let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    characters.saturating_mul(GLYPH_WIDTH + 1).saturating_sub(1).saturating_mul(scale)
}

/// How many pixels high a line of text is, the row below the line included.
pub fn text_height(scale: u32) -> u32 {
    GLYPH_HEIGHT.saturating_mul(scale)
}

/// The part of `start..start + length` that lies in `0..limit`.
fn clipped(start: i32, length: u32, limit: u32) -> std::ops::Range<usize> {
    let (start, limit) = (i64::from(start), i64::from(limit));
    let end = (start + i64::from(length)).clamp(0, limit);
    let start = start.clamp(0, end);
    usize::try_from(start).unwrap_or_default()..usize::try_from(end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: Rgb = Rgb(255, 255, 255);
    const RED: Rgb = Rgb(200, 0, 0);

    /// A canvas of 8 by 5 after `draw`, as text.
    fn check(draw: impl FnOnce(&mut Canvas), expected: &str) {
        let mut canvas = Canvas::new(8, 5, WHITE);
        draw(&mut canvas);
        let rows = canvas.pixels().chunks(8);
        let shown: Vec<String> = rows
            .map(|row| row.iter().map(|&pixel| if pixel == WHITE { '.' } else { '#' }).collect())
            .collect();
        assert_eq!(shown.join(" "), expected);
    }

    #[test]
    fn rectangles_are_cut_off_at_the_edges() {
        check(|canvas| canvas.fill(-2, -1, 4, 3, RED), "##...... ##...... ........ ........ ........");
        check(
            |canvas| canvas.fill(6, 3, u32::MAX, u32::MAX, RED),
            "........ ........ ........ ......## ......##",
        );
        check(
            |canvas| canvas.fill(i32::MIN, i32::MAX, 9, 9, RED),
            "........ ........ ........ ........ ........",
        );
        check(|canvas| canvas.frame(1, 1, 4, 3, RED), "........ .####... .#..#... .####... ........");
        check(|canvas| canvas.frame(1, 1, 0, 3, RED), "........ ........ ........ ........ ........");
    }

    #[test]
    fn lines_reach_both_their_ends() {
        check(|canvas| canvas.line((0, 0), (4, 4), RED), "#....... .#...... ..#..... ...#.... ....#...");
        check(|canvas| canvas.line((7, 2), (0, 2), RED), "........ ........ ######## ........ ........");
        check(|canvas| canvas.line((3, 3), (3, 3), RED), "........ ........ ........ ...#.... ........");
        check(
            |canvas| canvas.line((i32::MIN, 1), (i32::MAX, 1), RED),
            "........ ######## ........ ........ ........",
        );
    }

    #[test]
    fn text_is_as_wide_as_is_said_and_unknown_characters_are_frames() {
        let mut canvas = Canvas::new(40, 10, WHITE);
        canvas.text(0, 0, "1é", RED, 1);
        assert_eq!(text_width("1é", 1), 11);
        assert_eq!(text_width("", 2), 0);
        // The foot of the 1 and all of the frame's upper edge.
        assert_eq!((1..=3).map(|x| canvas.get(x, 6)).collect::<Vec<_>>(), vec![Some(RED); 3]);
        assert_eq!((6..=10).map(|x| canvas.get(x, 0)).collect::<Vec<_>>(), vec![Some(RED); 5]);
        assert_eq!(canvas.get(11, 0), Some(WHITE));
        let mut right = Canvas::new(40, 10, WHITE);
        right.text_right(11, 0, "1é", RED, 1);
        assert_eq!(right, canvas);
    }

    #[test]
    fn sizes_beyond_the_limits_are_cut_off() {
        let canvas = Canvas::new(0, 0, RED);
        assert_eq!((canvas.width(), canvas.height()), (1, 1));
        let canvas = Canvas::new(u32::MAX, u32::MAX, RED);
        assert_eq!((canvas.width(), canvas.height()), (16_384, 4_096));
        assert_eq!(canvas.get(16_384, 0), None);
        assert_eq!(canvas.get(-1, 0), None);
    }

    #[test]
    fn a_tint_mixes() {
        assert_eq!(Rgb(255, 0, 10).over(Rgb(0, 0, 10), 0), Rgb(0, 0, 10));
        assert_eq!(Rgb(255, 0, 10).over(Rgb(0, 0, 10), 255), Rgb(255, 0, 10));
        assert_eq!(Rgb(255, 0, 10).over(Rgb(0, 0, 10), 51), Rgb(51, 0, 10));
        assert_eq!(Rgb(255, 0, 10).hex(), "#ff000a");
    }
}
