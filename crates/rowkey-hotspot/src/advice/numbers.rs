//! Conversions between floating-point numbers and counts that cannot surprise.

/// A count as a number. Exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of nodes, buckets and rows are far below 2^53")]
pub(super) fn float(count: u64) -> f64 {
    count as f64
}

/// The whole part of a number as a count: 0 for negative numbers and NaN, the greatest count for too great ones.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, as wanted here")]
pub(super) fn whole(number: f64) -> u32 {
    number as u32
}

/// The number itself if it is finite and not negative, else 0: rates that nobody can have are none.
pub(super) fn rate(number: f64) -> f64 {
    if number.is_finite() && number > 0.0 { number } else { 0.0 }
}

/// A number for people: whole ones with commas from 1,000 up, others with up to two decimals.
pub(crate) fn shown(number: f64) -> String {
    if !number.is_finite() {
        return "no limit".to_owned();
    }
    let decimals = match number.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{number:.decimals$}");
    let (whole, rest) = match text.split_once('.') {
        Some((whole, rest)) => (whole, rest.trim_end_matches('0')),
        None => (text.as_str(), ""),
    };
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{grouped}{point}{rest}")
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn numbers_are_shown_with_commas_and_few_decimals() {
        let cases = [
            (0.0, "0"),
            (9_800.0, "9,800"),
            (1_234_567.8, "1,234,568"),
            (100.0, "100"),
            (12.94, "12.9"),
            (12.0, "12"),
            (1.5, "1.5"),
            (0.05, "0.05"),
            (-1_000.0, "-1,000"),
            (f64::INFINITY, "no limit"),
        ];
        for (number, expected) in cases {
            assert_eq!(shown(number), expected);
        }
    }
}
