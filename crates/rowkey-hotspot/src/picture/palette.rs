//! Colours of a heatmap: two scales that people with any colour vision can read, and that keep their order in grey.
//!
//! Both scales come from one formula in Oklab (Björn Ottosson, 2020): for entry `i`, with `t = i / 255`,
//!
//! ```text
//! lightness = l0 + (l1 - l0) t      hue = h0 + (h1 - h0) t      chroma = 0.2 (0.25 + 0.75 sin(pi t))
//! dark  scale: l 0.190 to 0.97, hue 285 to 460 degrees (violet, red, orange, pale yellow)
//! light scale: l 0.985 to 0.24, hue 105 to -70 degrees (the same colours the other way round)
//! ```
//!
//! with the chroma lowered in steps of 1/512 until sRGB has the colour. Entry 0 is the paper: nothing happened there. The tables are
//! written down, so that a picture does not depend on a machine's mathematics; a test computes them again.

use super::canvas::Rgb;
use std::fmt;
use std::str::FromStr;

/// Light or dark paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// White paper: the more, the darker.
    #[default]
    Light,
    /// Black paper: the more, the brighter.
    Dark,
}

impl Theme {
    /// Its name: `light`, `dark`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

impl fmt::Display for Theme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Theme {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Light, Self::Dark];
        all.into_iter()
            .find(|theme| theme.name() == text)
            .ok_or_else(|| format!("`{text}` is no theme; there are light and dark"))
    }
}

/// Everything that is coloured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    /// The scale: 0 is nothing, 255 the most. Luminance only rises (dark) or only falls (light).
    pub scale: [Rgb; 256],
    /// The page around the map.
    pub paper: Rgb,
    /// Text and axes.
    pub ink: Rgb,
    /// Ticks, frames, text of less weight.
    pub faint: Rgb,
    /// What is not known, as against nothing.
    pub unknown: Rgb,
    /// Findings, lines over the map.
    pub mark: Rgb,
    /// Colours to tell lines apart, in order of use: blue, orange, green, pink, light blue, red-brown (after Okabe and Ito, 2008).
    pub lines: [Rgb; 6],
}

impl Palette {
    /// The palette of a theme.
    pub fn new(theme: Theme) -> Self {
        let lines = [
            Rgb(0, 114, 178),
            Rgb(230, 159, 0),
            Rgb(0, 158, 115),
            Rgb(204, 121, 167),
            Rgb(86, 180, 233),
            Rgb(213, 94, 0),
        ];
        match theme {
            Theme::Light => Self {
                scale: scale(LIGHT, Rgb(255, 255, 255)),
                paper: Rgb(255, 255, 255),
                ink: Rgb(28, 30, 36),
                faint: Rgb(130, 135, 145),
                unknown: Rgb(214, 217, 222),
                mark: Rgb(0, 105, 200),
                lines,
            },
            Theme::Dark => Self {
                scale: scale(DARK, Rgb(10, 10, 16)),
                paper: Rgb(20, 22, 28),
                ink: Rgb(226, 229, 235),
                faint: Rgb(125, 131, 143),
                unknown: Rgb(54, 58, 66),
                mark: Rgb(96, 200, 255),
                lines,
            },
        }
    }

    /// The colour of a level.
    pub fn at(&self, level: u8) -> Rgb {
        self.scale[usize::from(level)]
    }
}

fn scale(table: &str, nothing: Rgb) -> [Rgb; 256] {
    let mut scale = [nothing; 256];
    for (entry, digits) in scale.iter_mut().zip(table.as_bytes().chunks_exact(6)).skip(1) {
        let byte = |at: usize| hex(digits[at]) * 16 + hex(digits[at + 1]);
        *entry = Rgb(byte(0), byte(2), byte(4));
    }
    scale
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => digit.wrapping_sub(b'a').wrapping_add(10),
    }
}

/// 256 colours of six hex digits.
const DARK: &str = "\
    12102913102a14102c15112d16112f1711301811321912331a12341b12361c13371d13391e133a20133b21143d22143e\
    2314402414412614422715432815452a15462b15472c15492e154a2f154b30164c32164e33164f351650361651371652\
    3916533a16543c16553d16573f165840165942165a44165b45165b47165c48165d4a165e4b165f4d16604f1661501662\
    5216625416635516645716655916655a16665c16675e16675f166861166863156964156966156a68156a6a156b6b156b\
    6d156c6f156c71146c72146d74146d76146d78146d79146e7b146e7d146e7f146e81136e82136e84136e86136e88136e\
    89136f8b136e8d136e8f136e90136e92136e94136e96136e97136e99136e9b136d9d146d9e146da0146da2146ca4156c\
    a5156ca7156ba9166baa166bac176aae176aaf1869b11869b31968b41968b61a67b71b67b91c66bb1c66bc1d65be1e64\
    bf1f64c12063c22163c42262c52361c72461c82560ca265fcb275fcd285ece295dcf2b5cd12c5cd22d5bd32e5ad53059\
    d63158d73258d93357da3556db3655dc3854dd3954df3a53e03c52e13d51e23f50e3404fe4424ee5434ee6454de7464c\
    e8484be9494aea4b49eb4d48ec4e48ed5047ee5146ef5345ef5544f05644f15843f25a42f35b41f35d41f45f40f5603f\
    f5623ff6643ef7663df7673df8693cf86b3cf96c3cf96e3bfa703bfa723bfb733afb753afc773afc793afc7a3afd7c3a\
    fd7e3afd803bfe813bfe833bfe853cfe873cfe883dff8a3dff8c3eff8e3fff9040ff9141ff9343ff9544ff9745ff9847\
    ff9a48ff9c49ff9e4bff9f4cffa14effa34fffa450ffa652ffa854ffa955ffab56ffad58ffae59ffb05bffb25dffb35f\
    ffb561feb663feb865feba67febb69febd6bfebe6dfdc06ffdc271fdc374fdc576fdc678fdc87afcc97dfccb7ffccc81\
    fcce84fccf86fcd188fbd28bfbd48dfbd58ffbd792fbd894fbd997fbdb99fadc9cfade9efadfa1fae0a3fae2a6fae3a8\
    fae4abfae6adfae7b0fae8b2fae9b5faebb7fbecbafbedbcfbeebffbf0c1fbf1c4fbf2c6fcf3c9fcf4cbfcf6cefdf7d0";

/// The same for light paper.
const LIGHT: &str = "\
    fffdd6fefcd4fefbd1fefacffdf8ccfdf7cafdf6c7fdf5c5fcf4c2fcf3c0fcf2bdfcf1bbfcefb8fceeb6fcedb3fcecb0\
    fcebaefce9abfce8a9fce7a6fce5a4fce4a1fce39ffce29cfce09afddf97fdde95fddc92fddb90fdd98efed88bfed789\
    fed586fed484fed281ffd17fffcf7dffce7bffcc79ffcb77ffca76ffc874ffc772ffc571ffc46fffc26effc16cffc06b\
    ffbe69ffbd68ffbb66ffba65ffb863ffb762ffb560ffb45fffb25dffb15cffaf5bffae59ffac58ffaa57ffa955ffa754\
    ffa653ffa452ffa250ffa14fff9f4eff9e4dff9c4bff9a4aff9949ff9748ff9547ff9346ff9245ff9044ff8e42ff8c42\
    ff8b40ff8940ff873fff853eff833dff813cff803bff7e3bff7c3aff7a39ff7839ff7638ff7437ff7237fe7037fe6e38\
    fd6d39fd6b39fc693afc683bfb663cfb643dfa633df9613ef95f3ff85e40f75c41f65b42f65943f55844f45645f35546\
    f25347f15248f05049f04f4aef4d4bee4c4ced4a4dec494eeb474eea464fe84550e74351e64252e54153e43f54e33e55\
    e23d56e03c57df3b58de3959dd385adb375bda365bd9355cd8345dd6335ed5325fd33160d23060d12f61cf2e62ce2d63\
    cc2c63cb2c64c92b65c82a66c62966c52967c32868c22768c02769bf2669bd266abc256bba256bb8246cb7246cb5246d\
    b3236db2236eb0236eae226fad226fab226fa92270a82270a62170a42171a32171a121719f21719d21729c21729a2172\
    9821729621729521729321729121728f21728e21728c21728a21728821728721728521728321728121728021727e2171\
    7c21717a217179217177217075217073217072216f70216f6e226e6c226e6b226d69226d67226c66226c64226b62226a\
    60226a5f22695d22685b22685a22675822665722655522655322645222635022624f22614d22604b215f4a215e48215d\
    47215c45215b44215a4221594121583f21573e21563d20553b20543a205238205137205036204f341f4e331f4c321f4b\
    301f4a2f1f482e1e472d1e462b1e452a1e43291d42281d40271d3f251d3e241c3c231c3b221c39211b38201b371f1b35";

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula above, in floating point: equal to the table but for rounding.
    fn formula([l0, l1, h0, h1]: [f64; 4], at: u32) -> [f64; 3] {
        let t = f64::from(at) / 255.0;
        let lightness = l0 + (l1 - l0) * t;
        let (sin, cos) = (h0 + (h1 - h0) * t).to_radians().sin_cos();
        let wanted = 0.2 * (0.25 + 0.75 * (std::f64::consts::PI * t).sin());
        for step in (0..=512).rev() {
            let chroma = wanted * f64::from(step) / 512.0;
            let rgb = linear_rgb(lightness, chroma * cos, chroma * sin);
            if rgb.iter().all(|part| (0.0..=1.0).contains(part)) {
                return rgb.map(|part| 255.0 * gamma(part));
            }
        }
        panic!("grey is in sRGB");
    }

    fn linear_rgb(lightness: f64, a: f64, b: f64) -> [f64; 3] {
        let long = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
        let middle = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
        let short = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
        [
            4.076_741_662_1 * long - 3.307_711_591_3 * middle + 0.230_969_929_2 * short,
            -1.268_438_004_6 * long + 2.609_757_401_1 * middle - 0.341_319_396_5 * short,
            -0.004_196_086_3 * long - 0.703_418_614_7 * middle + 1.707_614_701_0 * short,
        ]
    }

    fn gamma(part: f64) -> f64 {
        if part <= 0.003_130_8 { 12.92 * part } else { 1.055 * part.powf(1.0 / 2.4) - 0.055 }
    }

    fn linear(byte: u8) -> f64 {
        let part = f64::from(byte) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    }

    /// Relative luminance as WCAG 2 defines it.
    fn luminance(Rgb(r, g, b): Rgb) -> f64 {
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    #[test]
    fn the_tables_are_what_the_formula_says() {
        for (theme, formula_of) in
            [(Theme::Dark, [0.19, 0.97, 285.0, 460.0]), (Theme::Light, [0.985, 0.24, 105.0, -70.0])]
        {
            let palette = Palette::new(theme);
            for at in 1..=255_u8 {
                let Rgb(r, g, b) = palette.at(at);
                for (byte, exact) in [r, g, b].into_iter().zip(formula(formula_of, u32::from(at))) {
                    assert!((f64::from(byte) - exact).abs() < 1.0, "{theme} {at}: {byte}, not {exact}");
                }
            }
        }
    }

    #[test]
    fn luminance_rises_on_dark_paper_and_falls_on_light_paper_so_that_grey_keeps_the_order() {
        for (theme, sign) in [(Theme::Dark, 1.0), (Theme::Light, -1.0)] {
            let palette = Palette::new(theme);
            let steps: Vec<f64> = palette.scale.iter().map(|&colour| sign * luminance(colour)).collect();
            for (at, pair) in steps.windows(2).enumerate() {
                assert!(pair[0] < pair[1] + 1e-3, "{theme}: entry {at}: {pair:?}");
            }
            // From nearly black to nearly white, and little is not nothing.
            let whole = steps[255] - steps[0];
            assert!(whole > 0.85, "{theme}: {whole}");
            assert!((steps[64] - steps[0]) > 0.005, "{theme}: the low end is too flat");
        }
    }

    #[test]
    fn text_and_marks_can_be_read_on_their_paper() {
        for theme in [Theme::Light, Theme::Dark] {
            let palette = Palette::new(theme);
            let contrast = |a: Rgb, b: Rgb| {
                let (a, b) = (luminance(a), luminance(b));
                (a.max(b) + 0.05) / (a.min(b) + 0.05)
            };
            // WCAG 2: 7 for text at its best, 3 for graphics.
            assert!(contrast(palette.ink, palette.paper) > 7.0);
            assert!(contrast(palette.faint, palette.paper) > 3.0);
            assert!(contrast(palette.mark, palette.scale[0]) > 3.0);
        }
    }

    #[test]
    fn themes_are_read_from_their_names() {
        assert_eq!("dark".parse(), Ok(Theme::Dark));
        assert_eq!("light".parse(), Ok(Theme::Light));
        assert!("blue".parse::<Theme>().is_err());
    }
}
