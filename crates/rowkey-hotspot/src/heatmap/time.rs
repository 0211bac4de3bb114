//! Times and numbers as people read them on axes.

use super::timeline::Axis;

const DAY_MS: i64 = 86_400_000;

/// Widths between ticks of a time axis, in milliseconds.
const STEPS: [i64; 27] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000,
    300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, DAY_MS,
];

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
fn civil(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let month_from_january = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month_from_january <= 2);
    (year, month_from_january, of_year - (153 * month + 2) / 5 + 1)
}

/// `2026-09-15`.
pub(super) fn date(time_ms: i64) -> String {
    let (year, month, day) = civil(time_ms.div_euclid(DAY_MS));
    format!("{year:04}-{month:02}-{day:02}")
}

/// `08:05`, with seconds and milliseconds where `step` needs them.
fn clock(time_ms: i64, step: i64) -> String {
    let of_day = time_ms.rem_euclid(DAY_MS);
    let (hours, minutes, seconds) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1_000 % 60);
    if step < 1_000 {
        format!("{hours:02}:{minutes:02}:{seconds:02}.{:03}", of_day % 1_000)
    } else if step < 60_000 {
        format!("{hours:02}:{minutes:02}:{seconds:02}")
    } else {
        format!("{hours:02}:{minutes:02}")
    }
}

/// `2026-09-15 08:05:00`, in UTC, or the number of an operation.
pub(super) fn moment(axis: Axis, at: i64, step: i64) -> String {
    match axis {
        Axis::Time => format!("{} {}", date(at), clock(at, step.min(1_000))),
        Axis::Arrival => grouped(at.unsigned_abs()),
    }
}

/// How long a column is: `10 s`, `2 h`, `500 operations`.
pub(super) fn length(axis: Axis, step: i64) -> String {
    if axis == Axis::Arrival {
        return if step == 1 {
            "operation".to_owned()
        } else {
            format!("{} operations", grouped(step.unsigned_abs()))
        };
    }
    let units = [(DAY_MS, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms")];
    let (width, unit) = units.into_iter().find(|unit| step % unit.0 == 0).unwrap_or((1, "ms"));
    format!("{} {unit}", grouped((step / width).unsigned_abs()))
}

/// `1,234,567`.
pub(super) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `950`, `1.2k`, `34M`: at most five characters.
pub(super) fn short(value: u64) -> String {
    let units = [
        (1_000_000_000_000_000_000, "E"),
        (1_000_000_000_000_000, "P"),
        (1_000_000_000_000, "T"),
        (1_000_000_000, "G"),
        (1_000_000, "M"),
        (1_000, "k"),
    ];
    let Some((unit, name)) = units.into_iter().find(|unit| value >= unit.0) else { return value.to_string() };
    let (whole, tenth) = (value / unit, value % unit * 10 / unit);
    if whole < 10 && tenth > 0 { format!("{whole}.{tenth}{name}") } else { format!("{whole}{name}") }
}

/// Where an axis from `start` to `end` has ticks, at most `ticks_max`, and what stands there. The first tick of a day names the day.
pub(super) fn ticks(axis: Axis, start: i64, end: i64, ticks_max: usize) -> Vec<(i64, String)> {
    let length = end.saturating_sub(start);
    let wanted = i64::try_from(ticks_max.max(1)).unwrap_or(1);
    let fits = |step: i64| length / step <= wanted;
    let step = match axis {
        Axis::Time => STEPS.into_iter().find(|&step| fits(step)),
        Axis::Arrival => None,
    };
    // Days, and numbers of operations: 1, 2, 5, 10, ...
    let unit = if axis == Axis::Time { DAY_MS } else { 1 };
    let step = step.unwrap_or_else(|| {
        let tens = (0..19).map(|power| 10_i64.saturating_pow(power));
        let steps =
            tens.flat_map(|ten| [1, 2, 5].map(|digit| ten.saturating_mul(digit).saturating_mul(unit)));
        steps.into_iter().find(|&step| fits(step)).unwrap_or(i64::MAX)
    });
    let mut ticks = Vec::new();
    let mut at = start.saturating_add(step - 1).div_euclid(step).saturating_mul(step);
    let mut last_date = String::new();
    while at < end && ticks.len() <= ticks_max {
        let text = match axis {
            Axis::Arrival => grouped(at.unsigned_abs()),
            Axis::Time => {
                let date = date(at);
                let text = if step >= DAY_MS {
                    date.clone()
                } else if date == last_date {
                    clock(at, step)
                } else {
                    format!("{} {}", date.get(5..).unwrap_or(&date), clock(at, step))
                };
                last_date = date;
                text
            }
        };
        ticks.push((at, text));
        at = at.saturating_add(step);
        if at == i64::MAX {
            break;
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (ms, expected) in [
            (0, "1970-01-01 00:00:00"),
            (-1, "1969-12-31 23:59:59"),
            (951_782_400_000, "2000-02-29 00:00:00"),
            (1_714_644_005_000, "2024-05-02 10:00:05"),
            (4_102_444_800_000, "2100-01-01 00:00:00"),
        ] {
            assert_eq!(moment(Axis::Time, ms, 1_000), expected);
        }
        assert_eq!(moment(Axis::Time, 7, 1), "1970-01-01 00:00:00.007");
        assert_eq!(moment(Axis::Arrival, 12_345, 1), "12,345");
    }

    #[test]
    fn numbers_are_short_where_they_must_be_and_exact_where_they_can() {
        for (value, exact, brief) in
            [(0, "0", "0"), (999, "999", "999"), (1_250, "1,250", "1.2k"), (34_000_000, "34,000,000", "34M")]
        {
            assert_eq!((grouped(value).as_str(), short(value).as_str()), (exact, brief));
        }
        assert_eq!(short(u64::MAX), "18E");
        for (step, expected) in
            [(1, "1 ms"), (10_000, "10 s"), (90_000, "90 s"), (7_200_000, "2 h"), (DAY_MS, "1 d")]
        {
            assert_eq!(length(Axis::Time, step), expected);
        }
        assert_eq!(length(Axis::Arrival, 2_000), "2,000 operations");
    }

    #[test]
    fn ticks_stand_at_round_times_and_name_each_new_day() {
        let start = 1_714_644_000_000;
        let texts = |axis, start, end, max| {
            ticks(axis, start, end, max).into_iter().map(|tick| tick.1).collect::<Vec<_>>()
        };
        assert_eq!(texts(Axis::Time, start, start + 3 * 3_600_000, 4), ["05-02 10:00", "11:00", "12:00"]);
        assert_eq!(
            texts(Axis::Time, start, start + 30 * 3_600_000, 4),
            ["05-02 12:00", "05-03 00:00", "12:00"]
        );
        assert_eq!(texts(Axis::Time, start, start + 14 * DAY_MS, 3), ["2024-05-07", "2024-05-12"]);
        assert_eq!(texts(Axis::Arrival, 0, 60_000, 4), ["0", "20,000", "40,000"]);
        assert!(ticks(Axis::Time, i64::MIN / 2, i64::MAX / 2, 5).len() <= 6);
        assert!(ticks(Axis::Arrival, 5, 5, 5).is_empty());
    }
}
