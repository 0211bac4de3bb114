//! Numbers for people: as many digits as they are worth.

/// A share as a percentage: `12 %`, `0.3 %`, `under 0.1 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if percent.is_nan() => "an unknown share".to_owned(),
        _ if percent <= 0.0 => "0 %".to_owned(),
        _ if percent < 0.1 => "under 0.1 %".to_owned(),
        _ if percent < 9.95 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}

/// A number: two digits below 10, whole with commas above.
pub(super) fn number(number: f64) -> String {
    if !number.is_finite() {
        return "no limit".to_owned();
    }
    if number.abs() < 9.95 && (number - number.round()).abs() > 0.05 {
        return format!("{number:.1}");
    }
    let text = format!("{:.0}", number.abs());
    let mut grouped = String::new();
    if number <= -0.5 {
        grouped.push('-');
    }
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && (text.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 node`, `3 nodes`.
pub(super) fn count(number: u64, noun: &str) -> String {
    let shown = self::number(float(number));
    if number == 1 { format!("{shown} {noun}") } else { format!("{shown} {noun}s") }
}

/// A count as a number. Exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of keys in a sample are far below 2^53")]
pub(super) fn float(count: u64) -> f64 {
    count as f64
}

/// A length as a number.
pub(super) fn length(count: usize) -> f64 {
    float(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_they_are_worth() {
        let shown = [0.0, 1.0, 1.26, 9.99, 12.7, 9_800.0, 1_234_567.0, -3.0].map(number);
        assert_eq!(shown, ["0", "1", "1.3", "10", "13", "9,800", "1,234,567", "-3"]);
        let shown = [0.0, 0.0001, 0.0234, 0.5, 1.0].map(percent);
        assert_eq!(shown, ["0 %", "under 0.1 %", "2.3 %", "50 %", "100 %"]);
        assert_eq!([count(1, "node"), count(4_000, "key")], ["1 node", "4,000 keys"]);
    }
}
