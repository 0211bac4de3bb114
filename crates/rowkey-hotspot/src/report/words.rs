//! What fields are, in words.

use crate::layout::{
    FieldFacts, HashEncoding, IdMeaning, Meaning, Oddity, SaltMeaning, TimeForm, TimeMeaning,
};
use rowkey::schema::TimeUnit;

/// The name of a meaning in JSON. Names are stable.
pub fn kind(meaning: &Meaning) -> &'static str {
    match meaning {
        Meaning::Time(_) => "time",
        Meaning::Period(_) => "period",
        Meaning::Number { .. } => "number",
        Meaning::Decimal { .. } => "decimal",
        Meaning::BinaryNumber { .. } => "binary-number",
        Meaning::Id(_) => "id",
        Meaning::Hash { .. } => "hash",
        Meaning::Salt(_) => "salt",
        Meaning::Domain { .. } => "domain",
        Meaning::Path => "path",
        Meaning::Address => "address",
        Meaning::Email => "email",
        Meaning::Enumeration => "enumeration",
        Meaning::Text => "text",
        Meaning::Binary => "binary",
    }
}

/// What a field is, a clause: `time in milliseconds since 1970, newest first`. It holds no value.
pub fn meaning(field: &FieldFacts) -> String {
    match &field.meaning {
        Meaning::Time(time) => time_meaning("time", time),
        Meaning::Period(time) => time_meaning("period", time),
        Meaning::Number { padded, grows, negative } => {
            let width = if *padded { width(field) } else { "width varies".to_owned() };
            let sign = if *negative { ", some negative" } else { "" };
            format!("number, {width}{sign}{}", if *grows { ", only grows" } else { "" })
        }
        Meaning::Decimal { negative } => {
            format!("number with a decimal point{}", if *negative { ", some negative" } else { "" })
        }
        Meaning::BinaryNumber { bytes, grows } => {
            format!("number, {bytes} bytes, big endian{}", if *grows { ", only grows" } else { "" })
        }
        Meaning::Id(id) => id_meaning(*id).to_owned(),
        Meaning::Hash { bits, encoding } => {
            let encoding = match encoding {
                HashEncoding::Hex => "as hex",
                HashEncoding::Base64 => "as base64",
                HashEncoding::Raw => "as bytes",
                HashEncoding::Decimal => "as decimal digits",
            };
            match &field.computed {
                Some(origin) => format!("digest, {bits} bits {encoding}, {}", origin.formula),
                None => format!("digest or random, {bits} bits {encoding}"),
            }
        }
        Meaning::Salt(salt) => salt_meaning(salt),
        Meaning::Domain { reversed: true } => "host name, labels reversed".to_owned(),
        Meaning::Domain { reversed: false } => "host name".to_owned(),
        Meaning::Path => "URL or path".to_owned(),
        Meaning::Address => "IP address".to_owned(),
        Meaning::Email => "e-mail address".to_owned(),
        Meaning::Enumeration => "one of few words".to_owned(),
        Meaning::Text => format!("text, {}", width(field)),
        Meaning::Binary => format!("bytes, {}", width(field)),
    }
}

/// What is odd about a field's values, a clause without values.
pub fn oddity(oddity: &Oddity) -> String {
    match oddity {
        Oddity::Discordant { share } => {
            format!("{} of pairs sort against their numbers", percent(*share))
        }
        Oddity::Negative { share } => format!("{} negative", percent(*share)),
        Oddity::HexCase { upper, lower } => {
            format!("{} in capitals, {} in small letters", percent(*upper), percent(*lower))
        }
        Oddity::TimeUnits { units } => {
            let units: Vec<String> = units
                .iter()
                .map(|(form, share)| format!("{} {}", percent(*share), time_form(*form)))
                .collect();
            units.join(", ")
        }
        Oddity::Granular { step, share } => format!("{} are multiples of {step}", percent(*share)),
        Oddity::Delimiter { share, .. } => format!("{} hold the delimiter behind the field", percent(*share)),
        Oddity::BelowDelimiter { share, .. } => {
            format!("{} hold a byte that sorts below the delimiter behind the field", percent(*share))
        }
    }
}

/// How a time is written.
pub fn time_form(form: TimeForm) -> String {
    match form {
        TimeForm::Epoch(unit) => format!("in {} since 1970", time_unit(unit)),
        TimeForm::Ticks => "in 100 ns ticks since the year 1".to_owned(),
        TimeForm::IsoExtended => "as ISO text".to_owned(),
        TimeForm::IsoBasic => "as ISO text without separators".to_owned(),
        TimeForm::Calendar => "as calendar digits".to_owned(),
        TimeForm::Binary(unit) => format!("in {} since 1970, big-endian bytes", time_unit(unit)),
    }
}

/// A share for people: `37 %`, `0.4 %`, `99.98 %`. Never 0 or 100 % of what is neither.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let distance = percent.min(100.0 - percent);
    let shown = |digits: usize| format!("{percent:.digits$}");
    // As few digits as keep the distance from 0 and from 100 right within 5 %.
    let is_close = |digits: &usize| {
        shown(*digits).parse::<f64>().is_ok_and(|rounded| (rounded - percent).abs() <= 0.05 * distance + 1e-9)
    };
    match (0..=3).find(is_close) {
        Some(digits) => format!("{} %", shown(digits)),
        None if percent < 50.0 => "below 0.001 %".to_owned(),
        None => "over 99.999 %".to_owned(),
    }
}

fn width(field: &FieldFacts) -> String {
    if field.width_min == field.width_max {
        return format!("{} byte{}", field.width_min, if field.width_min == 1 { "" } else { "s" });
    }
    format!("{} to {} bytes", field.width_min, field.width_max)
}

fn time_meaning(what: &str, time: &TimeMeaning) -> String {
    format!("{what} {}{}", time_form(time.form), if time.reversed { ", newest first" } else { "" })
}

fn time_unit(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Seconds => "seconds",
        TimeUnit::Millis => "milliseconds",
        TimeUnit::Micros => "microseconds",
        TimeUnit::Nanos => "nanoseconds",
    }
}

fn id_meaning(id: IdMeaning) -> &'static str {
    match id {
        IdMeaning::Uuid(1) => "UUID version 1, its clock's low bits in front",
        IdMeaning::Uuid(4) => "UUID version 4, random",
        IdMeaning::Uuid(6) => "UUID version 6, a clock in front",
        IdMeaning::Uuid(7) => "UUID version 7, a clock in front",
        IdMeaning::Uuid(_) => "UUID",
        IdMeaning::Ulid => "ULID, a clock in front",
        IdMeaning::Ksuid => "KSUID, a clock in front",
        IdMeaning::ObjectId => "ObjectId, a clock in front",
        IdMeaning::Snowflake => "snowflake id, a clock in front",
        IdMeaning::Growing => "id, only grows",
    }
}

fn salt_meaning(salt: &SaltMeaning) -> String {
    let used = if salt.used == salt.buckets {
        format!("bucket of {}", salt.buckets)
    } else {
        format!("bucket, {} of {} used", salt.used, salt.buckets)
    };
    match &salt.from {
        Some(origin) => format!("{used}, {}", origin.formula),
        None => format!("{used}, no common hash explains it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_rounded_to_all_or_nothing() {
        let check = |share: f64, expected: &str| assert_eq!(percent(share), expected);
        check(0.0, "0 %");
        check(1.0, "100 %");
        check(0.37, "37 %");
        check(0.004, "0.4 %");
        check(0.012, "1.2 %");
        check(0.02, "2 %");
        check(0.9998, "99.98 %");
        check(0.999_999_9, "over 99.999 %");
        check(0.000_000_1, "below 0.001 %");
        check(0.372_6, "37 %");
        check(0.000_04, "0.004 %");
    }
}
