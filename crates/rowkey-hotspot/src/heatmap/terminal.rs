//! A sheet in a terminal: two cells in one character by half blocks, or a ramp of ASCII characters where there are no colours.

use super::level::pooled;
use super::metric::Metric;
use super::sheet::Sheet;
use super::time;
use crate::picture::{Palette, Rgb, Theme};
use std::fmt::Write as _;

/// Colours that a terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colours {
    /// None: a ramp of characters.
    #[default]
    None,
    /// The 16 of ANSI.
    Ansi16,
    /// The 256 of xterm.
    Ansi256,
    /// 24 bits.
    True,
}

impl Colours {
    /// What the environment says a terminal has: `COLORTERM` of `truecolor` or `24bit`, else `TERM` with `256color`, else 16.
    pub fn detect(colorterm: Option<&str>, term: Option<&str>) -> Self {
        match (colorterm, term) {
            (Some("truecolor" | "24bit"), _) => Self::True,
            (_, Some(term)) if term.contains("truecolor") || term.contains("direct") => Self::True,
            (_, Some(term)) if term.contains("256color") => Self::Ansi256,
            _ => Self::Ansi16,
        }
    }
}

/// What a terminal is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// What is shown. `None`: the first metric of the view.
    pub metric: Option<Metric>,
    /// Characters of a line, 20 to 1,000.
    pub width: usize,
    /// Lines in all, 8 to 1,000.
    pub height: usize,
    /// Its colours.
    pub colours: Colours,
    /// Whether its paper is light or dark.
    pub theme: Theme,
}

/// From nothing to the most; each character has more ink than the one before.
const RAMP: &[u8; 10] = b" .:-=+*#%@";

/// The 16 colours in order of luminance, for dark paper: black, blue, magenta, red, yellow, bright yellow, bright white.
const SIXTEEN: [u8; 7] = [0, 4, 5, 1, 3, 11, 15];

impl Sheet {
    /// The sheet as lines of text.
    pub fn terminal(&self, options: &TerminalOptions) -> String {
        let metric = self.chosen(options.metric);
        let width = options.width.clamp(20, 1_000);
        let height = options.height.clamp(8, 1_000);
        let margin = if width >= 60 { (width / 5).min(24) } else { 0 };
        let (across, down) = (width - margin, (height - 5).max(2));
        let (levels, scale) = self.levels(metric);
        let dense = if options.colours == Colours::None { 1 } else { 2 };
        let pixels = pooled(&levels, self.view.columns, self.view.rows.len(), across, down * dense);
        let mut out = String::new();
        self.push_heading(&mut out, metric, width);
        for line in 0..down {
            self.push_key(&mut out, margin, line, down);
            let rows: Vec<&[u8]> =
                pixels[line * dense * across..(line + 1) * dense * across].chunks(across).collect();
            push_line(&mut out, &rows, options);
            out.push('\n');
        }
        self.push_times(&mut out, margin, across);
        let put = "a string takes all that is written";
        let (low, high) = (time::short(scale.sum_of(1)), time::short(scale.sum_of(255)));
        out.push_str("scale ");
        out.push_str(&low);
        out.push(' ');
        let ramp: Vec<u8> = (1..=12).map(|step| u8::try_from(step * 255 / 12).unwrap_or(u8::MAX)).collect();
        push_line(&mut out, &vec![&ramp[..]; dense], options);
        writeln!(out, " {high} {}", self.unit(metric)).expect(put);
        out
    }

    fn push_heading(&self, out: &mut String, metric: usize, width: usize) {
        let name = self.view.metrics.get(metric).map_or("nothing", |metric| metric.name());
        let sum = self.view.metrics.get(metric).map_or(0, |_| self.view.sum(metric));
        let line = format!(
            "{name} of {}: {} in {} ranges by {} columns",
            self.title,
            time::grouped(sum),
            self.view.rows.len(),
            self.view.columns
        );
        out.extend(line.chars().take(width));
        out.push('\n');
    }

    /// The first key of a line's rows, on every fourth line, or where a group begins.
    fn push_key(&self, out: &mut String, margin: usize, line: usize, lines: usize) {
        if margin == 0 {
            return;
        }
        let rows = self.view.rows.len();
        let (first, next) = (line * rows / lines, (line + 1) * rows / lines);
        let group = self.labels.first().and_then(|groups| {
            groups.iter().find(|group| (first..next.max(first + 1)).contains(&group.rows.start))
        });
        let text = match group {
            Some(group) => group.text.clone(),
            None if self.labels.is_empty() && line.is_multiple_of(4) => {
                self.keys.get(first).cloned().unwrap_or_default()
            }
            None => String::new(),
        };
        let room = margin - 1;
        let mut shown: String = text.chars().take(room).collect();
        if shown.len() < text.len() {
            shown.truncate(room.saturating_sub(2));
            shown.push_str("..");
        }
        write!(out, "{shown:>room$} ").expect("a string takes all that is written");
    }

    fn push_times(&self, out: &mut String, margin: usize, across: usize) {
        let view = &self.view;
        let length = i64::try_from(view.columns).unwrap_or(i64::MAX).saturating_mul(view.time_step);
        let end = view.time_start.saturating_add(length);
        let mut line = " ".repeat(margin);
        for (at, text) in time::ticks(view.axis, view.time_start, end, across / 16) {
            let part = i128::from(at - view.time_start) * i128::try_from(across).unwrap_or(1)
                / i128::from(length.max(1));
            let place = margin + usize::try_from(part).unwrap_or_default();
            if line.len() <= place && place + text.len() + 1 < margin + across {
                line.push_str(&" ".repeat(place - line.len()));
                line.push('|');
                line.push_str(&text);
                line.push(' ');
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// One line of characters from one row of levels, or from two.
fn push_line(out: &mut String, rows: &[&[u8]], options: &TerminalOptions) {
    let put = "a string takes all that is written";
    let (Some(upper), lower) = (rows.first(), rows.get(1)) else { return };
    let Some(lower) = lower else {
        for &level in *upper {
            let step = if level == 0 { 0 } else { 1 + usize::from(level - 1) * (RAMP.len() - 1) / 255 };
            out.push(char::from(RAMP[step.min(RAMP.len() - 1)]));
        }
        return;
    };
    let palette = Palette::new(options.theme);
    let mut last = None;
    for pair in upper.iter().zip(*lower) {
        if last != Some(pair) {
            match options.colours {
                Colours::True => {
                    let (Rgb(r, g, b), Rgb(low_r, low_g, low_b)) = (palette.at(*pair.0), palette.at(*pair.1));
                    write!(out, "\x1b[38;2;{r};{g};{b};48;2;{low_r};{low_g};{low_b}m").expect(put);
                }
                Colours::Ansi256 => {
                    let (above, below) = (cube(palette.at(*pair.0)), cube(palette.at(*pair.1)));
                    write!(out, "\x1b[38;5;{above};48;5;{below}m").expect(put);
                }
                Colours::Ansi16 | Colours::None => {
                    let (above, below) = (sixteen(*pair.0, options.theme), sixteen(*pair.1, options.theme));
                    let code =
                        |colour: u8, base: u8| if colour < 8 { base + colour } else { base + 52 + colour };
                    write!(out, "\x1b[{};{}m", code(above, 30), code(below, 40)).expect(put);
                }
            }
            last = Some(pair);
        }
        out.push('\u{2580}');
    }
    if last.is_some() {
        out.push_str("\x1b[0m");
    }
}

/// The colour of xterm's 256 that is next to a colour: of the cube of six steps each, or of the greys.
fn cube(Rgb(r, g, b): Rgb) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let nearest =
        |part: u8| (0_u8..6).min_by_key(|&step| STEPS[usize::from(step)].abs_diff(part)).unwrap_or_default();
    let (red, green, blue) = (nearest(r), nearest(g), nearest(b));
    let distance = |other: [u8; 3]| {
        [r, g, b].iter().zip(other).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum::<u32>()
    };
    let from_cube = [red, green, blue].map(|step| STEPS[usize::from(step)]);
    let mean = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let grey = u8::try_from((mean.saturating_sub(3) / 10).min(23)).unwrap_or(23);
    if distance([8 + grey * 10; 3]) < distance(from_cube) {
        232 + grey
    } else {
        16 + 36 * red + 6 * green + blue
    }
}

/// One of the 16 colours for a level; on light paper the order is turned round.
fn sixteen(level: u8, theme: Theme) -> u8 {
    let last = SIXTEEN.len() - 1;
    let step = if level == 0 { 0 } else { 1 + usize::from(level - 1) * last / 255 };
    let step = step.min(last);
    SIXTEEN[if theme == Theme::Light { last - step } else { step }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_tells_the_colours() {
        for (colorterm, term, expected) in [
            (Some("truecolor"), Some("xterm"), Colours::True),
            (None, Some("xterm-256color"), Colours::Ansi256),
            (None, Some("linux"), Colours::Ansi16),
            (Some(""), None, Colours::Ansi16),
        ] {
            assert_eq!(Colours::detect(colorterm, term), expected);
        }
    }

    #[test]
    fn colours_are_replaced_by_the_nearest_that_there_is() {
        assert_eq!((cube(Rgb(0, 0, 0)), cube(Rgb(255, 255, 255)), cube(Rgb(255, 0, 0))), (16, 231, 196));
        assert_eq!(cube(Rgb(118, 118, 118)), 243);
        assert_eq!((sixteen(0, Theme::Dark), sixteen(1, Theme::Dark), sixteen(255, Theme::Dark)), (0, 4, 15));
        assert_eq!((sixteen(0, Theme::Light), sixteen(255, Theme::Light)), (15, 0));
    }

    #[test]
    fn characters_of_the_ramp_follow_the_level() {
        let options = TerminalOptions {
            metric: None,
            width: 80,
            height: 20,
            colours: Colours::None,
            theme: Theme::Dark,
        };
        let mut out = String::new();
        push_line(&mut out, &[&[0, 1, 128, 255]], &options);
        assert_eq!(out, " .+@");
    }
}
