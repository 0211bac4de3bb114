//! A sheet as a picture: the map with its axes, a legend, the nodes' strip, and the findings.

use super::level::Scale;
use super::metric::Metric;
use super::scene::{Anchor, Area, Item, Scene};
use super::sheet::Sheet;
use super::time;
use crate::error::Result;
use crate::picture::{Canvas, Palette, Rgb, Theme, png, text_height};
use crate::rule::Severity;

/// What a picture looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureOptions {
    /// What is shown. `None`: the first metric of the view.
    pub metric: Option<Metric>,
    /// Light or dark.
    pub theme: Theme,
    /// Width in pixels, 400 to 8,000.
    pub width: u32,
    /// Height of the map itself in pixels, 50 to 8,000; what stands around it comes on top.
    pub map_height: u32,
}

impl Default for FigureOptions {
    fn default() -> Self {
        Self { metric: None, theme: Theme::Light, width: 1_400, map_height: 700 }
    }
}

/// Findings that are written out.
const MARKS_SHOWN: usize = 6;

impl Sheet {
    /// The picture as a PNG file.
    ///
    /// # Errors
    ///
    /// As [`png::encode`].
    pub fn png(&self, options: &FigureOptions) -> Result<Vec<u8>> {
        png::encode(&self.canvas(options))
    }

    /// The picture as pixels.
    pub fn canvas(&self, options: &FigureOptions) -> Canvas {
        Figure::new(self, options).scene.canvas()
    }

    /// The picture as an SVG file.
    ///
    /// # Errors
    ///
    /// As [`png::encode`].
    pub fn svg(&self, options: &FigureOptions) -> Result<String> {
        let figure = Figure::new(self, options);
        figure.scene.svg(&format!("{}: {}", self.title, figure.caption))
    }

    /// Levels of a metric's cells, row by row, and the scale that they are on.
    pub(super) fn levels(&self, metric: usize) -> (Vec<u8>, Scale) {
        let cells = self.view.values.get(metric).map(Vec::as_slice).unwrap_or_default();
        let scale = Scale::new(cells.iter().copied().max().unwrap_or_default());
        (cells.iter().map(|&sum| scale.level(sum)).collect(), scale)
    }

    /// What one cell counts: `writes per range and 10 s`.
    pub(super) fn unit(&self, metric: usize) -> String {
        let unit = self.view.metrics.get(metric).map_or("operations", |metric| metric.unit());
        format!("{unit} per range and {}", time::length(self.view.axis, self.view.time_step))
    }

    /// The position of the metric to show.
    pub(super) fn chosen(&self, metric: Option<Metric>) -> usize {
        metric.and_then(|metric| self.view.metric(metric)).unwrap_or_default()
    }
}

/// The place of a picture's map, for those who test or click it.
#[derive(Debug, Clone)]
struct Figure {
    scene: Scene,
    caption: String,
}

/// What the parts of a picture need to know.
struct Frame<'a> {
    sheet: &'a Sheet,
    metric: usize,
    map: Area,
    ink: Rgb,
    faint: Rgb,
}

impl Figure {
    fn new(sheet: &Sheet, options: &FigureOptions) -> Self {
        let palette = Palette::new(options.theme);
        let width = options.width.clamp(400, 8_000);
        let dot = if width < 900 { 1 } else { 2 };
        let scene = Scene { width, height: 0, palette, dot, items: Vec::new() };
        let metric = sheet.chosen(options.metric);
        let unit = sheet.unit(metric);
        let line = scene.line_height();
        let left = (scene.width / 5).min(30 * 6 * dot);
        let right = 12 * 6 * dot;
        let map = Area {
            x: left,
            y: 2 * line + 8 * dot,
            width: width - left - right,
            height: options.map_height.clamp(50, 8_000),
        };
        let (ink, faint) = (scene.palette.ink, scene.palette.faint);
        let frame = Frame { sheet, metric, map, ink, faint };
        let mut figure = Self { scene, caption: unit };
        figure.heading(&frame);
        let scale = figure.cells(&frame);
        figure.keys(&frame);
        figure.legend(&frame, &scale);
        let mut below = map.y + map.height;
        figure.times(&frame, below);
        below += line + 4 * dot;
        below = figure.nodes(&frame, below);
        below = figure.marks(&frame, below);
        figure.scene.height = below + 4 * dot;
        figure
    }

    fn text(&mut self, x: u32, y: u32, anchor: Anchor, text: impl Into<String>, colour: Rgb) {
        self.scene.items.push(Item::Text { x, y, anchor, text: text.into(), colour });
    }

    fn heading(&mut self, frame: &Frame<'_>) {
        let (view, dot) = (&frame.sheet.view, self.scene.dot);
        let name = view.metrics.get(frame.metric).map_or("nothing", |metric| metric.name());
        let margin = 4 * dot;
        let title = self.scene.fitted(&frame.sheet.title, self.scene.width - 2 * margin);
        self.text(margin, margin, Anchor::Left, title, frame.ink);
        let sum = view.metrics.get(frame.metric).map_or(0, |_| view.sum(frame.metric));
        let unit = view.metrics.get(frame.metric).map_or("", |metric| metric.unit());
        let text = format!(
            "{name}: {} {unit} in {} ranges by {} columns of {}, from {}",
            time::grouped(sum),
            view.rows.len(),
            view.columns,
            time::length(view.axis, view.time_step),
            time::moment(view.axis, view.time_start, view.time_step)
        );
        let text = self.scene.fitted(&text, self.scene.width - 2 * margin);
        self.text(margin, margin + self.scene.line_height(), Anchor::Left, text, frame.faint);
    }

    fn cells(&mut self, frame: &Frame<'_>) -> Scale {
        let (levels, scale) = frame.sheet.levels(frame.metric);
        let view = &frame.sheet.view;
        self.scene.items.push(Item::Fill(frame.map, self.scene.palette.at(0)));
        let (columns, rows) = (view.columns, view.rows.len());
        self.scene.items.push(Item::Cells { area: frame.map, columns, rows, levels, name: "map" });
        let outline = Area {
            x: frame.map.x - 1,
            y: frame.map.y - 1,
            width: frame.map.width + 2,
            height: frame.map.height + 2,
        };
        self.scene.items.push(Item::Frame(outline, frame.faint, 1));
        scale
    }

    /// Names of keys on the left: of groups where there are any, else of rows.
    fn keys(&mut self, frame: &Frame<'_>) {
        let rows = frame.sheet.view.rows.len().max(1);
        let line = self.scene.line_height();
        let room = frame.map.x.saturating_sub(10 * self.scene.dot);
        let groups = frame.sheet.labels.first();
        let named: Vec<(usize, String)> = match groups {
            Some(groups) => groups.iter().map(|group| (group.rows.start, group.text.clone())).collect(),
            None => frame.sheet.keys.iter().cloned().enumerate().collect(),
        };
        let mut free = frame.map.y;
        for (row, text) in named {
            let top = frame.map.y + scaled(row, rows, frame.map.height);
            if top < free || top + text_height(self.scene.dot) > frame.map.y + frame.map.height {
                continue;
            }
            free = top + line;
            let text =
                if text.is_empty() { "(first key)".to_owned() } else { self.scene.fitted(&text, room) };
            let end = frame.map.x - 5 * self.scene.dot;
            self.text(end, top, Anchor::Right, text, frame.ink);
            let tick =
                Area { x: frame.map.x - 4 * self.scene.dot, y: top, width: 3 * self.scene.dot, height: 1 };
            self.scene.items.push(Item::Fill(tick, frame.faint));
        }
    }

    fn legend(&mut self, frame: &Frame<'_>, scale: &Scale) {
        let dot = self.scene.dot;
        let bar = Area {
            x: frame.map.x + frame.map.width + 8 * dot,
            y: frame.map.y + self.scene.line_height(),
            width: 8 * dot,
            height: (frame.map.height / 2).clamp(20, 256),
        };
        let levels: Vec<u8> = (0..=u8::MAX).rev().collect();
        self.scene.items.push(Item::Cells { area: bar, columns: 1, rows: 256, levels, name: "legend" });
        self.scene.items.push(Item::Frame(bar, frame.faint, 1));
        let x = bar.x + bar.width + 3 * dot;
        for (level, part) in [(255, 0), (191, 1), (127, 2), (63, 3), (0, 4)] {
            let y = bar.y + (bar.height * part / 4).saturating_sub(4 * dot);
            self.text(x, y, Anchor::Left, time::short(scale.sum_of(level)), frame.ink);
        }
        // Where sums are small, quarters of the scale may read alike; the unit tells what they are.
        let words = frame.sheet.unit(frame.metric);
        let room = self.scene.width - bar.x - 2 * dot;
        let mut y = bar.y + bar.height + 8 * dot;
        for line in self.scene.wrapped(&words, room) {
            self.text(bar.x, y, Anchor::Left, line, frame.faint);
            y += self.scene.line_height();
        }
    }

    fn times(&mut self, frame: &Frame<'_>, y: u32) {
        let view = &frame.sheet.view;
        let dot = self.scene.dot;
        let length = i64::try_from(view.columns).unwrap_or(i64::MAX).saturating_mul(view.time_step);
        let end = view.time_start.saturating_add(length);
        let ticks_max = frame.map.width / (16 * 6 * dot);
        for (at, text) in time::ticks(view.axis, view.time_start, end, ticks_max as usize) {
            let part =
                i128::from(at - view.time_start) * i128::from(frame.map.width) / i128::from(length.max(1));
            let x = frame.map.x + u32::try_from(part).unwrap_or_default();
            self.scene.items.push(Item::Fill(Area { x, y, width: 1, height: 3 * dot }, frame.faint));
            // A text at the edge is moved in.
            let half = self.scene.text_width(&text) / 2;
            let x = x.max(half).min(self.scene.width.saturating_sub(half + dot));
            self.text(x, y + 4 * dot, Anchor::Middle, text, frame.ink);
        }
    }

    /// The strip of nodes; answers where it ends.
    fn nodes(&mut self, frame: &Frame<'_>, y: u32) -> u32 {
        let Some(nodes) = &frame.sheet.nodes else { return y };
        let dot = self.scene.dot;
        let sums = frame.sheet.node_sums(frame.metric);
        let most = sums.iter().copied().max().unwrap_or_default().max(1);
        // Nodes are compared with each other: a straight scale.
        let level = |sum: u64| u8::try_from(u128::from(sum) * 255 / u128::from(most)).unwrap_or(u8::MAX);
        let rows = nodes.count as usize;
        let height = (nodes.count * (96 / nodes.count.max(1)).max(2)).min(400);
        let area = Area { x: frame.map.x, y: y + 4 * dot, width: frame.map.width, height };
        self.scene.items.push(Item::Fill(area, self.scene.palette.at(0)));
        let levels = sums.iter().map(|&sum| level(sum)).collect();
        let columns = frame.sheet.view.columns;
        self.scene.items.push(Item::Cells { area, columns, rows, levels, name: "nodes" });
        self.scene.items.push(Item::Frame(area, frame.faint, 1));
        let text = if nodes.count == 1 { "1 node".to_owned() } else { format!("{} nodes", nodes.count) };
        let end = frame.map.x - 5 * dot;
        self.text(end, area.y, Anchor::Right, text, frame.ink);
        let right = area.x + area.width + 8 * dot;
        self.text(right, area.y, Anchor::Left, format!("0..{}", time::short(most)), frame.faint);
        area.y + area.height + 4 * dot
    }

    /// Frames around the places of findings, and their words; answers where these end.
    fn marks(&mut self, frame: &Frame<'_>, y: u32) -> u32 {
        let rows = frame.sheet.view.rows.len().max(1);
        let (dot, line) = (self.scene.dot, self.scene.line_height());
        let (margin, mut y) = (4 * dot, y + 4 * dot);
        for (number, mark) in (1..).zip(frame.sheet.marks.iter().take(MARKS_SHOWN)) {
            for range in mark.rows.iter().take(64) {
                let top = scaled(range.start, rows, frame.map.height);
                let bottom = scaled(range.end, rows, frame.map.height).max(top + 4 * dot);
                let area = Area {
                    x: frame.map.x,
                    y: frame.map.y + top,
                    width: frame.map.width,
                    height: bottom - top,
                };
                self.scene.items.push(Item::Frame(area, self.scene.palette.mark, dot));
                let x = area.x + area.width + 2 * dot;
                let mark_colour = self.scene.palette.mark;
                self.text(x, area.y, Anchor::Left, format!("{number}"), mark_colour);
            }
            let words = format!("{number} {} {}: {}", mark.severity, mark.rule, mark.headline);
            for text in self.scene.wrapped(&words, self.scene.width - 2 * margin) {
                let colour = if mark.severity == Severity::Note { frame.faint } else { frame.ink };
                self.text(margin, y, Anchor::Left, text, colour);
                y += line;
            }
        }
        let more = frame.sheet.marks.len().saturating_sub(MARKS_SHOWN);
        if more > 0 {
            self.text(margin, y, Anchor::Left, format!("and {more} more findings"), frame.faint);
            y += line;
        }
        for note in &frame.sheet.notes {
            for text in self.scene.wrapped(note, self.scene.width - 2 * margin) {
                self.text(margin, y, Anchor::Left, text, frame.faint);
                y += line;
            }
        }
        y
    }
}

/// Where a row begins in so many pixels.
fn scaled(row: usize, rows: usize, pixels: u32) -> u32 {
    u32::try_from(row as u64 * u64::from(pixels) / rows.max(1) as u64).unwrap_or_default()
}
