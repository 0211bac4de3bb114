//! From sums to levels of a colour scale, in integers: the same sums give the same picture on every machine.

/// The binary logarithm in 65,536ths, rounded down; 0 for 0.
fn log2(value: u64) -> u64 {
    let Some(whole) = value.checked_ilog2() else { return 0 };
    // The mantissa in 1..2 with 31 bits behind the point; each squaring tells one more bit of the logarithm.
    let mut mantissa = if whole >= 31 { value >> (whole - 31) } else { value << (31 - whole) };
    let mut fraction = 0;
    for _ in 0..16 {
        mantissa = (mantissa * mantissa) >> 31;
        fraction *= 2;
        if mantissa >> 32 > 0 {
            fraction += 1;
            mantissa >>= 1;
        }
    }
    (u64::from(whole) << 16) + fraction
}

/// Turns sums into levels: 0 for none, 1 to 255 on a logarithmic scale up to the greatest.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    most: u64,
    whole: u64,
    /// Levels of small sums, which are most of them.
    small: Vec<u8>,
}

impl Scale {
    /// The scale on which `most` is 255.
    pub(super) fn new(most: u64) -> Self {
        let mut scale =
            Self { most: most.max(1), whole: log2(most.max(1).saturating_add(1)), small: Vec::new() };
        scale.small = (0..4_096).map(|sum| scale.computed(sum)).collect();
        scale
    }

    /// The level of a sum.
    pub(super) fn level(&self, sum: u64) -> u8 {
        let small = usize::try_from(sum).ok().and_then(|sum| self.small.get(sum));
        small.copied().unwrap_or_else(|| self.computed(sum))
    }

    fn computed(&self, sum: u64) -> u8 {
        if sum == 0 {
            return 0;
        }
        let part = log2(sum.min(self.most).saturating_add(1)) * 254 / self.whole;
        u8::try_from(part + 1).unwrap_or(u8::MAX)
    }

    /// The least sum with this level or a higher one.
    pub(super) fn sum_of(&self, level: u8) -> u64 {
        let (mut low, mut high) = (0, self.most);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.level(middle) >= level { high = middle } else { low = middle + 1 }
        }
        low
    }
}

/// Cells of a grid as pixels of another size: each pixel has the greatest level of the cells it covers, so that a hot row is never
/// lost. `levels` has `columns * rows` entries, the answer `width * height`.
pub(super) fn pooled(levels: &[u8], columns: usize, rows: usize, width: usize, height: usize) -> Vec<u8> {
    let mut out = vec![0; width * height];
    // A view of which nothing was counted has rows and columns, but no cells.
    if columns == 0 || rows == 0 || levels.len() < columns * rows {
        return out;
    }
    // The cells of a pixel: at least one.
    let cells = |pixel: usize, pixels: usize, cells: usize| {
        let first = pixel * cells / pixels;
        first..((pixel + 1) * cells).div_ceil(pixels).max(first + 1).min(cells)
    };
    let mut line = vec![0_u8; columns];
    for y in 0..height {
        line.fill(0);
        for row in covered(cells(y, height, rows), rows >= height, y * rows / height) {
            for (most, &level) in line.iter_mut().zip(&levels[row * columns..(row + 1) * columns]) {
                *most = (*most).max(level);
            }
        }
        for x in 0..width {
            let range = covered(cells(x, width, columns), columns >= width, x * columns / width);
            out[y * width + x] = line[range].iter().copied().max().unwrap_or_default();
        }
    }
    out
}

/// Where cells are larger than pixels, a pixel shows the one cell it lies in.
fn covered(all: std::ops::Range<usize>, many: bool, one: usize) -> std::ops::Range<usize> {
    if many { all } else { one..one + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_right_to_their_last_digit() {
        for value in (1..5_000).chain([1 << 40, u64::MAX, (1 << 33) + 12_345]) {
            #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
            let (exact, got) = ((value as f64).log2() * 65_536.0, log2(value) as f64);
            assert!((exact - got).abs() < 2.0, "{value}: {got}, not {exact}");
        }
    }

    #[test]
    fn nothing_is_0_something_is_more_and_the_most_is_255() {
        for most in [1, 2, 100, 4_095, 4_096, 1_000_000, u64::MAX] {
            let scale = Scale::new(most);
            assert_eq!((scale.level(0), scale.level(most), scale.level(u64::MAX)), (0, 255, 255), "{most}");
            assert!(scale.level(1) > 0);
            let levels: Vec<u8> = (0..64).map(|shift| scale.level(most >> shift)).collect();
            assert!(levels.is_sorted_by(|a, b| a >= b), "{levels:?}");
            let half = scale.sum_of(128);
            assert!(scale.level(half) >= 128 && (half <= 1 || scale.level(half - 1) < 128));
        }
    }

    #[test]
    fn a_single_hot_cell_survives_any_reduction_and_cells_grow_evenly() {
        let mut levels = vec![0; 1_000 * 700];
        levels[333 * 1_000 + 777] = 9;
        for (width, height) in [(100, 50), (1, 1), (999, 699), (1_000, 700)] {
            let small = pooled(&levels, 1_000, 700, width, height);
            assert!(small.contains(&9), "{width} x {height}");
        }
        assert_eq!(pooled(&[1, 2, 3, 4], 2, 2, 4, 4), [1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4]);
        assert_eq!(pooled(&[1, 2, 3], 3, 1, 4, 1), [1, 1, 2, 3]);
        assert_eq!(pooled(&[], 0, 0, 2, 1), [0, 0]);
    }
}
