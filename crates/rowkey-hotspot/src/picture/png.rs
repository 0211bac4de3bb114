//! PNG files of canvases: with a palette where 256 colours suffice, else RGB. The same canvas gives the same file.

use super::canvas::{Canvas, Rgb};
use crate::error::{Error, ErrorKind, Result};
use png::{BitDepth, ColorType, Compression, Encoder, Filter};
use std::collections::BTreeMap;

/// The PNG file of a canvas.
///
/// # Errors
///
/// [`ErrorKind::Io`] if the encoder refuses it, which no canvas makes it do.
pub fn encode(canvas: &Canvas) -> Result<Vec<u8>> {
    if let Some((palette, levels)) = indexed(canvas.pixels()) {
        return encode_indexed(canvas.width(), canvas.height(), &palette, &levels);
    }
    let bytes: Vec<u8> = canvas.pixels().iter().flat_map(|&Rgb(r, g, b)| [r, g, b]).collect();
    write(canvas.width(), canvas.height(), None, &bytes)
}

/// The PNG file of levels with a palette of at most 256 colours. `levels` has `width * height` bytes, row by row, each an index into
/// the palette.
///
/// # Errors
///
/// [`ErrorKind::Conflict`] if there are not so many levels, the palette is too long, or a level is not in it.
pub fn encode_indexed(width: u32, height: u32, palette: &[Rgb], levels: &[u8]) -> Result<Vec<u8>> {
    let colours = palette.len();
    let beyond = levels.iter().any(|&level| usize::from(level) >= colours);
    if width as usize * height as usize != levels.len() || levels.is_empty() || colours > 256 || beyond {
        return Err(Error::new(
            ErrorKind::Conflict,
            format!("{} levels of {colours} colours are no picture of {width} by {height}", levels.len()),
        ));
    }
    let table: Vec<u8> = palette.iter().flat_map(|&Rgb(r, g, b)| [r, g, b]).collect();
    write(width, height, Some(table), levels)
}

fn write(width: u32, height: u32, palette: Option<Vec<u8>>, bytes: &[u8]) -> Result<Vec<u8>> {
    let failed = |error: png::EncodingError| {
        Error::new(ErrorKind::Io, format!("the picture cannot be written as PNG: {error}")).with_source(error)
    };
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Balanced);
    if let Some(table) = palette {
        encoder.set_color(ColorType::Indexed);
        encoder.set_palette(table);
        // Differences of palette indices mean nothing.
        encoder.set_filter(Filter::NoFilter);
    } else {
        encoder.set_color(ColorType::Rgb);
    }
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(bytes).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(file)
}

/// Palette, sorted, and each pixel's index; `None` if there are more than 256 colours.
fn indexed(pixels: &[Rgb]) -> Option<(Vec<Rgb>, Vec<u8>)> {
    let mut colours: BTreeMap<Rgb, u8> = BTreeMap::new();
    let mut last = None;
    for &pixel in pixels {
        if last != Some(pixel) {
            colours.insert(pixel, 0);
            last = Some(pixel);
        }
        if colours.len() > 256 {
            return None;
        }
    }
    for (index, slot) in (0..=u8::MAX).zip(colours.values_mut()) {
        *slot = index;
    }
    let mut known = (Rgb::default(), 0);
    let levels = pixels.iter().map(|&pixel| {
        if known.0 != pixel || last.is_some() {
            last = None;
            known = (pixel, colours.get(&pixel).copied().unwrap_or_default());
        }
        known.1
    });
    let levels = levels.collect();
    Some((colours.into_keys().collect(), levels))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes a file again: width, height, pixels.
    fn decode(file: &[u8]) -> (u32, u32, Vec<Rgb>) {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        let pixels = bytes[..info.buffer_size()].chunks_exact(3).map(|p| Rgb(p[0], p[1], p[2])).collect();
        (info.width, info.height, pixels)
    }

    fn check(canvas: &Canvas) {
        let file = encode(canvas).unwrap();
        assert_eq!(decode(&file), (canvas.width(), canvas.height(), canvas.pixels().to_vec()));
        assert_eq!(file, encode(canvas).unwrap());
    }

    #[test]
    fn pictures_come_back_as_they_were_with_a_palette_and_without() {
        check(&Canvas::new(1, 1, Rgb(1, 2, 3)));
        let mut canvas = Canvas::new(60, 20, Rgb(255, 255, 255));
        canvas.text(2, 3, "key x time", Rgb(0, 0, 0), 1);
        canvas.fill(40, 10, 9, 4, Rgb(0, 0, 0));
        check(&canvas);
        let mut colourful = Canvas::new(64, 64, Rgb(0, 0, 0));
        for (at, (x, y)) in (0..64).flat_map(|y| (0..64).map(move |x| (x, y))).enumerate() {
            let [low, high, ..] = at.to_le_bytes();
            colourful.set(x, y, Rgb(low, high, 7));
        }
        check(&colourful);
    }

    #[test]
    fn a_palette_of_256_colours_is_one_and_257_are_not() {
        let colour = |at: u32| {
            let [low, high, ..] = at.to_le_bytes();
            Rgb(9, high, low)
        };
        let pixels = |count: u32| (0..count).map(colour).collect::<Vec<_>>();
        let (palette, levels) = indexed(&pixels(256)).unwrap();
        assert_eq!(palette, pixels(256));
        assert_eq!(levels, (0..=255).collect::<Vec<u8>>());
        assert!(indexed(&pixels(257)).is_none());
    }

    #[test]
    fn levels_that_do_not_fit_are_refused() {
        let palette = [Rgb(0, 0, 0), Rgb(1, 1, 1)];
        assert!(encode_indexed(2, 1, &palette, &[0, 1]).is_ok());
        for (width, height, levels) in [(2, 2, vec![0, 1]), (2, 1, vec![0, 2]), (0, 0, vec![])] {
            assert_eq!(
                encode_indexed(width, height, &palette, &levels).unwrap_err().kind(),
                ErrorKind::Conflict
            );
        }
    }
}
