//! A picture of one or two simulations: throughput, latency, utilisation and tablets over time. The same drawing as SVG and as PNG.

use super::outcome::{Outcome, Tick};
use crate::Result;
use crate::picture::{Canvas, Palette, Rgb, Theme, png, svg, text_width};
use std::fmt::Write as _;

/// A picture. Runs have their colours in the order in which they are given; six can be told apart.
#[derive(Debug, Clone)]
pub struct Chart<'a> {
    /// What it shows, in one line.
    pub title: String,
    /// Names and simulations.
    pub runs: Vec<(String, &'a Outcome)>,
}

const WIDTH: i32 = 960;
const LEFT: i32 = 96;
const RIGHT: i32 = WIDTH - 24;
const TOP: i32 = 64;
const PANEL: i32 = 132;
const GAP: i32 = 52;
/// No more points than this are drawn of a line: each is the mean of some seconds, or their largest.
const POINTS_MAX: usize = 400;

/// A value of a second.
type Series = fn(&Tick) -> f64;

/// What a panel shows.
struct Panel {
    title: &'static str,
    /// The line of each run.
    line: Series,
    /// A second, faint line.
    faint: Option<(&'static str, Series)>,
    /// How values are written.
    unit: fn(f64) -> String,
    /// The end of the axis, if it is known.
    top: Option<f64>,
    /// From 1 on a logarithmic scale.
    is_log: bool,
}

const PANELS: [Panel; 4] = [
    Panel {
        title: "operations served per second",
        line: |tick| tick.served,
        faint: Some(("wanted", |tick| tick.demand)),
        unit: short,
        top: None,
        is_log: false,
    },
    Panel {
        title: "latency, 99th percentile (logarithmic)",
        line: |tick| tick.p99_ms,
        faint: None,
        unit: milliseconds,
        top: None,
        is_log: true,
    },
    Panel {
        title: "utilisation of the busiest node",
        line: |tick| tick.utilisation_max * 100.0,
        faint: Some(("mean of all", |tick| tick.utilisation_mean * 100.0)),
        unit: |value| format!("{value:.0} %"),
        top: Some(100.0),
        is_log: false,
    },
    Panel {
        title: "tablets",
        line: |tick| f64::from(tick.tablets),
        faint: None,
        unit: short,
        top: None,
        is_log: false,
    },
];

/// What draws: pixels or vectors.
trait Pen {
    fn line(&mut self, points: &[(i32, i32)], colour: Rgb, width: u32);
    fn text(&mut self, x: i32, y: i32, text: &str, colour: Rgb, anchor: Anchor);
    fn rect(&mut self, x: i32, y: i32, width: u32, height: u32, colour: Rgb);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Start,
    End,
}

impl Chart<'_> {
    fn height() -> i32 {
        TOP + (PANEL + GAP) * 4
    }

    /// The picture as SVG.
    pub fn svg(&self, theme: Theme) -> String {
        let palette = Palette::new(theme);
        let height = Self::height();
        let mut pen = Vector(String::new());
        let _ = writeln!(
            pen.0,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
             font-family=\"sans-serif\" font-size=\"13\"><title>{}</title>",
            svg::escape(&self.title)
        );
        pen.rect(0, 0, WIDTH.unsigned_abs(), height.unsigned_abs(), palette.paper);
        self.draw(&mut pen, &palette);
        pen.0.push_str("</svg>\n");
        pen.0
    }

    /// The picture as pixels.
    pub fn canvas(&self, theme: Theme) -> Canvas {
        let palette = Palette::new(theme);
        let [width, height] = [WIDTH, Self::height()].map(|side| (side * ZOOM).unsigned_abs());
        let mut pixels = Pixels(Canvas::new(width, height, palette.paper));
        self.draw(&mut pixels, &palette);
        pixels.0
    }

    /// The picture as PNG.
    ///
    /// # Errors
    ///
    /// If it cannot be packed, which does not happen with a picture of this size.
    pub fn png(&self, theme: Theme) -> Result<Vec<u8>> {
        png::encode(&self.canvas(theme))
    }

    fn draw(&self, pen: &mut dyn Pen, palette: &Palette) {
        pen.text(LEFT, 14, &self.title, palette.ink, Anchor::Start);
        let mut x = LEFT;
        for (at, (name, _)) in self.runs.iter().enumerate() {
            let colour = palette.lines[at % palette.lines.len()];
            pen.rect(x, 40, 18, 4, colour);
            pen.text(x + 26, 36, name, palette.ink, Anchor::Start);
            x += 26 + i32::try_from(name.chars().count()).unwrap_or(i32::MAX / 16).min(80) * 9 + 24;
        }
        let seconds = self.runs.iter().map(|(_, run)| run.ticks.len()).max().unwrap_or(0);
        for (at, panel) in (0..).zip(&PANELS) {
            self.panel(pen, palette, panel, TOP + 22 + at * (PANEL + GAP), seconds);
        }
    }

    fn panel(&self, pen: &mut dyn Pen, palette: &Palette, panel: &Panel, y: i32, seconds: usize) {
        let values =
            |of: fn(&Tick) -> f64| self.runs.iter().flat_map(move |(_, run)| run.ticks.iter().map(of));
        let mut most = values(panel.line).fold(0.0, f64::max);
        if let Some((_, faint)) = panel.faint {
            most = values(faint).fold(most, f64::max);
        }
        let scale = Scale::new(panel, most);
        let title = match panel.faint {
            Some((name, _)) => format!("{} (thin: {name})", panel.title),
            None => panel.title.to_owned(),
        };
        pen.text(LEFT, y - 18, &title, palette.ink, Anchor::Start);
        let grid = palette.faint.over(palette.paper, 70);
        for value in scale.steps() {
            let level = y + scale.level(value);
            pen.line(&[(LEFT, level), (RIGHT, level)], grid, 1);
            pen.text(LEFT - 8, level - 6, &(panel.unit)(value), palette.ink, Anchor::End);
        }
        for quarter in 0..=4 {
            let x = LEFT + (RIGHT - LEFT) * quarter / 4;
            pen.line(&[(x, y + PANEL), (x, y + PANEL + 4)], palette.faint, 1);
            let time = clock(seconds as f64 * f64::from(quarter) / 4.0);
            let anchor = if quarter == 0 { Anchor::Start } else { Anchor::End };
            pen.text(x, y + PANEL + 8, &time, palette.faint, anchor);
        }
        for (at, (_, run)) in self.runs.iter().enumerate() {
            let colour = palette.lines[at % palette.lines.len()];
            if let Some((_, faint)) = panel.faint {
                pen.line(&points(run, faint, &scale, y, seconds), colour.over(palette.paper, 140), 1);
            }
            pen.line(&points(run, panel.line, &scale, y, seconds), colour, 2);
        }
    }
}

/// The axis of a panel.
#[derive(Debug, Clone, Copy)]
struct Scale {
    top: f64,
    /// Powers of ten from 1 to the top, if it is logarithmic.
    decades: Option<i32>,
}

impl Scale {
    fn new(panel: &Panel, most: f64) -> Self {
        if panel.is_log {
            let decades = if most > 1.0 { most.log10().ceil().clamp(1.0, 9.0) as i32 } else { 1 };
            return Self { top: 10f64.powi(decades), decades: Some(decades) };
        }
        Self { top: panel.top.unwrap_or_else(|| nice(most)), decades: None }
    }

    /// Values at which lines are drawn.
    fn steps(self) -> Vec<f64> {
        match self.decades {
            Some(decades) => (0..=decades).map(|power| 10f64.powi(power)).collect(),
            None => vec![0.0, self.top / 2.0, self.top],
        }
    }

    /// How far below the top of the panel a value stands.
    fn level(self, value: f64) -> i32 {
        let part = match self.decades {
            Some(decades) => value.max(1.0).log10() / f64::from(decades),
            None => value / self.top,
        };
        PANEL - (f64::from(PANEL) * part.clamp(0.0, 1.02)).round() as i32
    }
}

/// The line of a series in a panel: the mean of each point's seconds.
fn points(run: &Outcome, of: Series, scale: &Scale, y: i32, seconds: usize) -> Vec<(i32, i32)> {
    let count = run.ticks.len();
    let groups = count.min(POINTS_MAX);
    let mut points = Vec::with_capacity(groups + 1);
    for group in 0..groups {
        let (from, to) = (group * count / groups, (group + 1) * count / groups);
        let sum: f64 = run.ticks[from..to].iter().map(of).sum();
        let value = sum / (to - from).max(1) as f64;
        let x =
            |at: usize| LEFT + (f64::from(RIGHT - LEFT) * at as f64 / seconds.max(1) as f64).round() as i32;
        let level = y + scale.level(value);
        if group == 0 {
            points.push((x(from), level));
        }
        points.push((x(to), level));
    }
    points
}

/// The least of 1, 1.2, 1.5, 2, 3, ..., 10, 12, ... above a value.
fn nice(most: f64) -> f64 {
    if !(most.is_finite() && most > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(most.log10().floor());
    [1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0]
        .into_iter()
        .map(|step| step * power)
        .find(|&top| top >= most * 1.000_001)
        .unwrap_or(most * 1.1)
}

fn short(value: f64) -> String {
    let trimmed = |value: f64, unit: &str| {
        let text = format!("{value:.1}");
        text.strip_suffix(".0").unwrap_or(&text).to_owned() + unit
    };
    match value {
        value if value >= 1e6 => trimmed(value / 1e6, " M"),
        value if value >= 1e3 => trimmed(value / 1e3, " k"),
        value => trimmed(value, ""),
    }
}

fn milliseconds(value: f64) -> String {
    if value >= 1e3 { short(value / 1e3) + " s" } else { short(value) + " ms" }
}

fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

struct Vector(String);

impl Pen for Vector {
    fn line(&mut self, points: &[(i32, i32)], colour: Rgb, width: u32) {
        let joined: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        let colour = colour.hex();
        let _ = writeln!(
            self.0,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"/>",
            joined.join(" ")
        );
    }

    fn text(&mut self, x: i32, y: i32, text: &str, colour: Rgb, anchor: Anchor) {
        let anchor = if anchor == Anchor::End { "end" } else { "start" };
        let _ = writeln!(
            self.0,
            "<text x=\"{x}\" y=\"{}\" fill=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            y + 11,
            colour.hex(),
            svg::escape(text)
        );
    }

    fn rect(&mut self, x: i32, y: i32, width: u32, height: u32, colour: Rgb) {
        let colour = colour.hex();
        let _ = writeln!(
            self.0,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\"/>"
        );
    }
}

/// A canvas on which everything is drawn twice as large, so that lines are fine and text is legible.
struct Pixels(Canvas);

const ZOOM: i32 = 2;
/// Pixels of a dot of the font.
const DOT: u32 = 3;

impl Pen for Pixels {
    fn line(&mut self, points: &[(i32, i32)], colour: Rgb, width: u32) {
        let dots = i32::try_from(width).unwrap_or(1) * ZOOM;
        for pair in points.windows(2) {
            if let [from, to] = *pair {
                let [from, to] = [from, to].map(|(x, y)| (x * ZOOM, y * ZOOM));
                for dot in 0..dots {
                    self.0.line((from.0, from.1 + dot), (to.0, to.1 + dot), colour);
                    self.0.line((from.0 + dot, from.1), (to.0 + dot, to.1), colour);
                }
            }
        }
    }

    fn text(&mut self, x: i32, y: i32, text: &str, colour: Rgb, anchor: Anchor) {
        let left = if anchor == Anchor::End {
            (x * ZOOM).saturating_sub_unsigned(text_width(text, DOT))
        } else {
            x * ZOOM
        };
        self.0.text(left, y * ZOOM, text, colour, DOT);
    }

    fn rect(&mut self, x: i32, y: i32, width: u32, height: u32, colour: Rgb) {
        let zoom = ZOOM.unsigned_abs();
        self.0.fill(x * ZOOM, y * ZOOM, width * zoom, height * zoom, colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(served: f64) -> Outcome {
        let tick = |at: u32| Tick {
            time_s: f64::from(at),
            demand: 2.0 * served,
            served,
            utilisation_max: 0.5,
            tablets: 4,
            ..Tick::default()
        };
        Outcome { ticks: (0..1_000).map(tick).collect(), ..Outcome::default() }
    }

    #[test]
    fn each_run_has_its_line_and_its_name() {
        let (a, b) = (outcome(10.0), outcome(40.0));
        let chart =
            Chart { title: "a < b".to_owned(), runs: vec![("bad".to_owned(), &a), ("good".to_owned(), &b)] };
        for theme in [Theme::Light, Theme::Dark] {
            let palette = Palette::new(theme);
            let text = chart.svg(theme);
            for part in [
                "a &lt; b",
                ">bad<",
                ">good<",
                ">16 min 40 s<",
                &palette.lines[0].hex(),
                &palette.lines[1].hex(),
            ] {
                assert!(text.contains(part), "{part}");
            }
            assert_eq!(
                text.matches("<polyline").count(),
                text.matches("/>").count() - text.matches("<rect").count()
            );
            // 40 of 100 operations per second: the line of the second run stands at two fifths of the first panel.
            let canvas = chart.canvas(theme);
            let y = TOP + 22 + PANEL - PANEL * 40 / 100;
            assert_eq!(canvas.get(500 * ZOOM, y * ZOOM), Some(palette.lines[1]));
            assert!(chart.png(theme).unwrap().starts_with(b"\x89PNG"));
        }
    }

    #[test]
    fn a_simulation_without_seconds_is_an_empty_picture() {
        let empty = Outcome::default();
        let chart = Chart { title: String::new(), runs: vec![(String::new(), &empty)] };
        assert!(chart.svg(Theme::Light).ends_with("</svg>\n"));
        assert!(!chart.png(Theme::Dark).unwrap().is_empty());
    }

    #[test]
    fn numbers_are_short() {
        for (most, top) in [(0.0, 1.0), (1.0, 1.2), (3.0, 4.0), (98_000.0, 100_000.0f64)] {
            assert!((nice(most) - top).abs() < 1e-9, "{most}");
        }
        assert_eq!(
            [short(98_000.0), short(1_500_000.0), milliseconds(22.25), milliseconds(10_000.0)],
            ["98 k", "1.5 M", "22.2 ms", "10 s"]
        );
        assert_eq!([clock(60.0), clock(3_600.0), clock(5_400.0)], ["1 min", "1 h", "1 h 30 min"]);
    }
}
