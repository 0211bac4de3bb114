//! Keys of many shapes, generated from seeds, with the template that a person would give each.

use std::fmt::Write;

use rowkey_store::seeded::Seeded;

use super::{outline, sample};
use crate::infer::{Hints, infer};

/// One shape: its name, what it must be taken for, and its keys by index and chance.
type Shape = (&'static str, &'static str, fn(u64, &mut Seeded) -> Vec<u8>);

/// All that are not taken for what they are.
#[track_caller]
fn check(count: u64, shapes: &[Shape]) {
    let mut wrong = String::new();
    for (name, expected, key) in shapes {
        let mut seeded = Seeded::new(7);
        let keys = sample((0..count).map(|index| key(index, &mut seeded)));
        let layout = infer(&keys, &Hints::default());
        let found = outline(&layout);
        if found != *expected {
            writeln!(wrong, "{name}: expected {expected}\n     found {found}\n{layout}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// When the key of this index was written, 37 ms apart with up to 50 ms of delay.
fn ms(index: u64, seeded: &mut Seeded) -> u64 {
    1_714_644_000_000 + index * 37 + seeded.any() % 50
}

/// A number that some have often: the square of chance.
fn skewed(seeded: &mut Seeded, below: u64) -> u64 {
    let (one, other) = (seeded.any() % below, seeded.any() % below);
    one * other / below.max(1)
}

fn hex(seeded: &mut Seeded, digits: usize) -> String {
    (0..digits).map(|_| char::from_digit(u32::try_from(seeded.any() % 16).unwrap(), 16).unwrap()).collect()
}

fn letters(seeded: &mut Seeded, alphabet: &[u8], len: usize) -> String {
    (0..len).map(|_| char::from(*seeded.one_of(alphabet))).collect()
}

fn uuid(seeded: &mut Seeded, version: u64) -> String {
    let (high, low) = (seeded.any(), seeded.any());
    let (high, low) = (high & !0xf000 | version << 12, low & !(0b11 << 62) | 0b10 << 62);
    let text = format!("{high:016x}{low:016x}");
    format!("{}-{}-{}-{}-{}", &text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..])
}

fn uuid7(seeded: &mut Seeded, index: u64) -> String {
    let ms = ms(index, seeded);
    let random = uuid(seeded, 7);
    let text = format!("{ms:012x}");
    format!("{}-{}{}", &text[..8], &text[8..], &random[13..])
}

/// `2024-05-02T10:30:00.123Z`, for times of 2024-05-02.
fn iso(ms: u64) -> String {
    let of_day = ms % 86_400_000;
    let (seconds, rest) = (of_day / 1_000, of_day % 1_000);
    format!("2024-05-02T{:02}:{:02}:{:02}.{rest:03}Z", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

const CROCKFORD: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const WORDS: [&str; 12] = [
    "login", "logout", "view", "click", "buy", "search", "share", "follow", "like", "post", "edit", "delete",
];
const HOSTS: [&str; 8] = [
    "example.com",
    "rust-lang.org",
    "bbc.co.uk",
    "wikipedia.org",
    "heise.de",
    "lemonde.fr",
    "asahi.jp",
    "uol.com.br",
];
const FIRST_NAMES: [&str; 16] = [
    "anna", "bert", "carla", "dieter", "emma", "fritz", "greta", "hans", "ida", "jan", "klara", "lars",
    "mia", "nils", "olga", "paul",
];

fn name(seeded: &mut Seeded) -> String {
    format!("{}{}", seeded.one_of(&FIRST_NAMES), letters(seeded, b"abcdefghijklmnopqrstuvwxyz", 4))
}

fn day(index: u64) -> String {
    format!("2024-05-{:02}", 2 + index / 500)
}

#[test]
fn times_in_all_forms() {
    check(
        3_000,
        &[
            ("s first", "{time s}#{words}", |i, r| {
                format!("{}#{}", ms(i, r) / 1_000, r.one_of(&WORDS)).into()
            }),
            ("ms first", "{time ms}:{uuid(4)}", |i, r| format!("{}:{}", ms(i, r), uuid(r, 4)).into()),
            ("us", "u{padded number}|{time us}", |i, r| {
                format!("u{:05}|{}", r.any() % 40_000, ms(i, r) * 1_000 + r.any() % 1_000).into()
            }),
            ("ns", "{words}.{time ns}", |i, r| {
                format!("{}.{}", r.one_of(&WORDS), ms(i, r) * 1_000_000 + r.any() % 1_000_000).into()
            }),
        ],
    );
}

#[test]
fn reversed_times_and_ticks() {
    check(
        3_000,
        &[
            ("reversed ms of 13 digits", "{words}#{time ms reversed}", |i, r| {
                format!("{}#{}", r.one_of(&WORDS), 9_999_999_999_999 - ms(i, r)).into()
            }),
            ("reversed s of 10 digits", "{time s reversed}#{hex 32}", |i, r| {
                format!("{}#{}", 9_999_999_999 - ms(i, r) / 1_000, hex(r, 8)).into()
            }),
            ("reversed i64", "{hex 48}!{time ms reversed}", |i, r| {
                format!("{}!{}", hex(r, 12), i64::MAX as u64 - ms(i, r)).into()
            }),
            ("reversed u64", "{words}!{time ms reversed}", |i, r| {
                format!("{}!{}", r.one_of(&WORDS), u64::MAX - ms(i, r)).into()
            }),
            ("reversed i32 seconds", "{words}#{time s reversed}", |i, r| {
                format!("{}#{}", r.one_of(&WORDS), 2_147_483_647 - ms(i * 50, r) / 1_000).into()
            }),
            ("2^53 - ms", "{words}#{time ms reversed}", |i, r| {
                format!("{}#{}", r.one_of(&WORDS), 9_007_199_254_740_991 - ms(i, r)).into()
            }),
            ("ticks", "{time ticks}_{padded number}", |i, r| {
                format!(
                    "{}_{:04}",
                    621_355_968_000_000_000 + ms(i, r) * 10_000 + r.any() % 10_000,
                    r.any() % 5_000
                )
                .into()
            }),
        ],
    );
}

#[test]
fn times_as_text() {
    check(
        3_000,
        &[
            ("iso first", "{time iso}#{words}", |i, r| {
                format!("{}#{}", iso(ms(i, r)), r.one_of(&WORDS)).into()
            }),
            ("iso behind a dash", "acct-{padded number}-{time iso}", |i, r| {
                format!("acct-{:04}-{}", r.any() % 900, iso(ms(i, r))).into()
            }),
            ("iso with an offset", "{words}|{time iso}", |i, r| {
                format!("{}|{}+02:00", r.one_of(&WORDS), &iso(ms(i, r))[..23]).into()
            }),
            ("iso with a space", "{time iso};{padded number}", |i, r| {
                format!("{};{:03}", iso(ms(i, r))[..19].replace('T', " "), r.any() % 900).into()
            }),
            ("iso with underscores", "{words}_{time iso}_{hex 32}", |i, r| {
                format!(
                    "{}_{}_{}",
                    r.one_of(&WORDS),
                    iso(ms(i, r))[..19].replace('T', "_").replace(':', "-"),
                    hex(r, 8)
                )
                .into()
            }),
            ("date and hash", "{period calendar}#{hex 64}", |i, r| {
                format!("{}#{}", day(i), hex(r, 16)).into()
            }),
            ("date with slashes", "logs/{period calendar}/{uuid(4)}", |i, r| {
                format!("logs/{}/{}", day(i).replace('-', "/"), uuid(r, 4)).into()
            }),
        ],
    );
}

#[test]
fn periods_and_times_of_several_units() {
    check(
        3_000,
        &[
            ("month", "{period calendar}/{uuid(4)}", |i, r| {
                format!("2024-{:02}/{}", 1 + i / 500, uuid(r, 4)).into()
            }),
            ("week", "{period calendar}|{hex 64}", |i, r| {
                format!("2024-W{:02}|{}", 18 + i / 500, hex(r, 16)).into()
            }),
            ("hour", "{period calendar}:{hex 64}", |i, r| {
                format!("20240502{:02}:{}", 8 + i / 300, hex(r, 16)).into()
            }),
            ("fourteen digits", "{time basic}#{hex 32}", |i, r| {
                let text: String = iso(ms(i * 20, r))[..19].chars().filter(char::is_ascii_digit).collect();
                format!("{text}#{}", hex(r, 8)).into()
            }),
            ("seventeen digits", "{words}#{time basic}", |i, r| {
                let text: String = iso(ms(i, r)).chars().filter(char::is_ascii_digit).collect();
                format!("{}#{text}", r.one_of(&WORDS)).into()
            }),
            ("minutes", "{words}#{period calendar}#{hex 32}", |i, r| {
                format!("{}#202405021{}#{}", r.one_of(&WORDS), i / 300, hex(r, 8)).into()
            }),
            ("hourly base", "{words}#{period s}#{padded number}", |i, r| {
                format!("{}#{}#{:04}", r.one_of(&WORDS), 1_714_644_000 + i / 500 * 3_600, r.any() % 3_600)
                    .into()
            }),
            ("a time without delimiter behind a word", "ev{time ms}", |i, r| {
                format!("ev{}", ms(i, r)).into()
            }),
            ("date glued to digits", "{period calendar}{padded number}", |i, r| {
                format!("{}{:05}", day(i).replace('-', ""), r.any() % 40_000).into()
            }),
            ("seconds with a fraction", "{words}#{time s}", |i, r| {
                let ms = ms(i, r);
                format!("{}#{}.{:03}", r.one_of(&WORDS), ms / 1_000, ms % 1_000).into()
            }),
            ("date glued to a word", "{words}{period calendar}:{hex 32}", |i, r| {
                format!("{}{}:{}", r.one_of(&["DE", "USA", "FR"]), day(i).replace('-', ""), hex(r, 8)).into()
            }),
            ("hour folders", "{words}/{period calendar}/{hex 64}", |i, r| {
                format!("{}/2024/05/02/{:02}/{}", r.one_of(&WORDS), 8 + i / 400, hex(r, 16)).into()
            }),
            ("hex seconds", "{growing}-{hex 32}", |i, r| {
                format!("{:08x}-{}", ms(i * 9, r) / 1_000, hex(r, 8)).into()
            }),
            ("late data", "{hex 32}#{time ms}", |i, r| {
                let late = if r.chance(20) { r.any() % 3_000_000 } else { 0 };
                format!("{}#{}", hex(r, 8), ms(i, r) - late).into()
            }),
            ("mixed units", "dev-{padded number}#{time s}", |i, r| {
                let ms = ms(i * 30, r);
                format!("dev-{:05}#{}", r.any() % 2_000, if r.chance(60) { ms / 1_000 } else { ms }).into()
            }),
            ("mixed reversed units", "{hex 32}/{time ms reversed}", |i, r| {
                let ms = ms(i, r);
                format!("{}/{}", hex(r, 8), i64::MAX as u64 - if r.chance(30) { ms / 1_000 } else { ms })
                    .into()
            }),
        ],
    );
}

#[test]
fn ids_of_known_construction() {
    check(
        3_000,
        &[
            ("uuid 4 in capitals", "{uuid(4)}", |_, r| uuid(r, 4).to_uppercase().into()),
            ("uuid without hyphens", "{words}:{uuid(4)}", |_, r| {
                format!("{}:{}", r.one_of(&WORDS), uuid(r, 4).replace('-', "")).into()
            }),
            ("uuid 7", "{uuid(7)}", |i, r| uuid7(r, i).into()),
            ("uuid 1", "{uuid(1)}", |i, r| {
                let ticks = 0x01EF_0000_0000_0000u64 + ms(i, r) * 10_000 % (1 << 40);
                format!(
                    "{:08x}-{:04x}-1{:03x}-9abc-0123456789ab",
                    ticks & 0xffff_ffff,
                    ticks >> 32 & 0xffff,
                    ticks >> 48 & 0xfff
                )
                .into()
            }),
            ("two uuids", "{uuid(4)}-{uuid(4)}", |_, r| format!("{}-{}", uuid(r, 4), uuid(r, 4)).into()),
            ("ulid", "{ulid}", |i, r| {
                let ms = ms(i, r);
                let head: String =
                    (0..10).rev().map(|at| char::from(CROCKFORD[(ms >> (5 * at) & 31) as usize])).collect();
                (head + &letters(r, CROCKFORD, 16)).into()
            }),
            ("ulid behind a prefix", "{words}_{ulid}", |i, r| {
                let ms = ms(i, r);
                let head: String =
                    (0..10).rev().map(|at| char::from(CROCKFORD[(ms >> (5 * at) & 31) as usize])).collect();
                format!("{}_{head}{}", r.one_of(&WORDS), letters(r, CROCKFORD, 16)).into()
            }),
            ("objectid", "{objectid}", |i, r| format!("{:08x}{}", ms(i, r) / 1_000, hex(r, 16)).into()),
        ],
    );
}

#[test]
fn numbers_and_letters_that_grow() {
    check(
        3_000,
        &[
            ("snowflake", "{snowflake}", |i, r| {
                (((ms(i, r) - 1_288_834_974_657) << 22) + ((r.any() % 8) << 12) + r.any() % 3)
                    .to_string()
                    .into()
            }),
            ("snowflake behind a channel", "{padded number}:{snowflake}", |i, r| {
                format!(
                    "{:04}:{}",
                    r.any() % 3_000,
                    ((ms(i, r) - 1_420_070_400_000) << 22) + ((r.any() % 4) << 12) + r.any() % 3
                )
                .into()
            }),
            ("ids with a shard", "{snowflake}", |i, r| {
                (((ms(i, r) - 1_314_220_021_721) << 23) + ((r.any() % 16) << 10) + i % 1_024)
                    .to_string()
                    .into()
            }),
            ("base-36 times", "{growing}", |i, r| {
                let mut ms = ms(i, r);
                let mut text = Vec::new();
                while ms > 0 {
                    text.push(b"0123456789abcdefghijklmnopqrstuvwxyz"[(ms % 36) as usize]);
                    ms /= 36;
                }
                text.reverse();
                let tail = letters(r, b"0123456789abcdefghijklmnopqrstuvwxyz", 6).into_bytes();
                [text, tail].concat()
            }),
            ("hex counter", "{growing}", |i, _| format!("{:08x}", 0x1_0000 + i * 3).into()),
            ("counter", "{padded growing number}", |i, _| format!("{:010}", 4_000 + i).into()),
            ("counter with a year", "inv-{period calendar}-{padded growing number}", |i, _| {
                format!("inv-2024-{:06}", 1 + i).into()
            }),
            ("unpadded counter", "{growing number}", |i, _| (90 + i).to_string().into()),
            ("counters of several writers", "{growing number}", |i, r| {
                (9_000 + i * 4 + r.any() % 40).to_string().into()
            }),
            ("counter per user", "{padded number}/{growing number}", |i, r| {
                format!("{:03}/{}", r.any() % 40, 1 + i / 40).into()
            }),
        ],
    );
}

#[test]
fn digests() {
    check(
        3_000,
        &[
            ("md5", "{hex 128}", |_, r| hex(r, 32).into()),
            ("sha256", "sha256:{hex 256}", |_, r| format!("sha256:{}", hex(r, 64)).into()),
            ("git style folders", "objects/{hex 8}/{hex 152}", |_, r| {
                format!("objects/{}/{}", hex(r, 2), hex(r, 38)).into()
            }),
            ("base64url", "{base64 132}", |_, r| {
                letters(r, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 22).into()
            }),
            ("base62", "{words}:{base64 71}", |_, r| {
                format!("{}:{}", r.one_of(&WORDS), letters(r, BASE62, 12)).into()
            }),
            ("hashes that begin with digits", "{hex 64}#{time ms}", |i, r| {
                format!("{}#{}", hex(r, 16), ms(i, r)).into()
            }),
            ("hash in front of the id", "{hex 16}#{padded number}#{time s}", |i, r| {
                let id = r.any() % 20_000;
                format!(
                    "{:04x}#{id:06}#{}",
                    rowkey::salt::hash::murmur3(format!("{id:06}").as_bytes()) & 0xffff,
                    ms(i, r) / 1_000
                )
                .into()
            }),
        ],
    );
}

#[test]
fn names_and_words() {
    check(
        3_000,
        &[
            ("host", "{host}", |_, r| format!("{}.{}", name(r), r.one_of(&HOSTS)).into()),
            ("host and path", "{host}/{path}", |_, r| {
                let path: Vec<&str> = (0..=r.below(4)).map(|_| *r.one_of(&WORDS)).collect();
                format!("{}.{}/{}", name(r), r.one_of(&HOSTS), path.join("/")).into()
            }),
            ("reversed host and time", "{reversed host}#{time s}", |i, r| {
                let mut labels: Vec<&str> = r.one_of(&HOSTS).split('.').rev().collect();
                let name = name(r);
                labels.push(&name);
                format!("{}#{}", labels.join("."), ms(i, r) / 1_000).into()
            }),
            ("host with port", "{host}|{time ms}", |i, r| {
                format!("{}.{}:{}|{}", name(r), r.one_of(&HOSTS), 8_000 + r.any() % 90, ms(i, r)).into()
            }),
            ("internal hosts", "{host}/{words}", |_, r| {
                format!("web{:02}.prod.internal/{}", r.any() % 90, r.one_of(&WORDS)).into()
            }),
        ],
    );
}

#[test]
fn paths_and_addresses() {
    check(
        3_000,
        &[
            ("url", "https://{host}/{text}", |_, r| {
                format!("https://{}/{}?id={}", r.one_of(&HOSTS), name(r), r.any() % 999).into()
            }),
            ("url and time", "https://{host}/{text}#{time s}", |i, r| {
                format!("https://{}/{}#{}", r.one_of(&HOSTS), name(r), ms(i, r) / 1_000).into()
            }),
            ("address", "{address}#{time s}", |i, r| {
                format!("10.{}.{}.{}#{}", r.any() % 4, r.any() % 256, r.any() % 256, ms(i, r) / 1_000).into()
            }),
            ("address behind dots", "{words}.{address}", |_, r| {
                format!("{}.192.168.{}.{}", r.one_of(&WORDS), r.any() % 256, r.any() % 256).into()
            }),
            ("hosts, some of them addresses", "{host}/{text}", |_, r| {
                let host = match r.below(12) {
                    0 => format!("10.1.{}.{}", r.any() % 256, r.any() % 256),
                    _ => format!("{}.{}", name(r), r.one_of(&HOSTS)),
                };
                format!("{host}/{}", name(r)).into()
            }),
            ("hardware addresses", "{address}:{time s}", |i, r| {
                let pairs: Vec<String> = (0..6).map(|_| hex(r, 2)).collect();
                format!("{}:{}", pairs.join(":"), ms(i, r) / 1_000).into()
            }),
            ("named parts", "tenant={words}/date={period calendar}/id={uuid(4)}", |i, r| {
                format!("tenant={}/date={}/id={}", r.one_of(&["acme", "globex"]), day(i), uuid(r, 4)).into()
            }),
            ("a word nearly always", "{words}#{uuid(4)}", |_, r| {
                format!("{}#{}", if r.chance(98) { "DE" } else { r.one_of(&WORDS) }, uuid(r, 4)).into()
            }),
            ("mail", "{email}/{words}", |_, r| {
                format!("{}@{}/{}", name(r), r.one_of(&HOSTS), r.one_of(&WORDS)).into()
            }),
            ("paths", "{path}", |_, r| {
                let path: Vec<String> = (0..2 + r.below(4)).map(|_| name(r)).collect();
                format!("/{}", path.join("/")).into()
            }),
            ("user and path", "{padded number}:{path}", |_, r| {
                let path: Vec<String> = (0..=r.below(4)).map(|_| name(r)).collect();
                format!("{:06}:{}", r.any() % 50_000, path.join("/")).into()
            }),
            ("names", "{text}", |_, r| name(r).into()),
            ("tenant and name", "{words}:{text}", |_, r| {
                format!("{}:{}", r.one_of(&["acme", "globex", "initech"]), name(r)).into()
            }),
        ],
    );
}

#[test]
fn words() {
    check(
        3_000,
        &[
            ("metrics", "{words}#web{padded number}#{time s}", |i, r| {
                let metric =
                    r.one_of(&["sys.cpu.user", "sys.cpu.idle", "sys.mem.free", "net.if.in", "app.http.rate"]);
                format!("{metric}#web{:02}#{}", r.any() % 30, ms(i, r) / 1_000).into()
            }),
            ("class names", "{words}#{uuid(4)}", |_, r| {
                format!(
                    "{}#{}",
                    r.one_of(&["OrderService.create", "OrderService.get", "UserService.get"]),
                    uuid(r, 4)
                )
                .into()
            }),
            ("regions", "{words}#{uuid(4)}", |_, r| {
                format!(
                    "{}#{}",
                    r.one_of(&["us-east-1", "us-west-2", "eu-central-1", "ap-south-1"]),
                    uuid(r, 4)
                )
                .into()
            }),
            ("file names", "{text}.py", |_, r| format!("{}.py", name(r)).into()),
            ("instances", "i-{hex 68}/{time s}", |i, r| {
                format!("i-{}/{}", hex(r, 17), ms(i, r) / 1_000).into()
            }),
            ("words in unicode", "{words}#{time ms}", |i, r| {
                format!("{}#{}", r.one_of(&["Zürich", "Genève", "東京", "København"]), ms(i, r)).into()
            }),
        ],
    );
}

#[test]
fn buckets() {
    use rowkey::salt::hash;
    check(
        4_000,
        &[
            ("hex bucket of the series", "{salt 16}#{text}#{time s}", |i, r| {
                let name = name(r);
                format!("{:x}#{name}#{}", hash::crc32(name.as_bytes()) % 16, ms(i, r) / 1_000).into()
            }),
            ("two digits", "{salt 20}|{padded number}|{time ms}", |i, r| {
                let user = format!("{:06}", r.any() % 9_000);
                format!("{:02}|{user}|{}", hash::xxh3(user.as_bytes()) % 20, ms(i, r)).into()
            }),
            ("round robin", "{salt 8}_{time ms}", |i, r| format!("{}_{}", i % 8, ms(i, r)).into()),
            ("random", "{salt 32}-{time iso}", |i, r| {
                format!("{:02}-{}", r.any() % 32, iso(ms(i, r))).into()
            }),
            ("unpadded", "{salt 24}:{hex 64}", |_, r| format!("{}:{}", r.any() % 24, hex(r, 16)).into()),
            ("modulo of a counter", "{salt 10}#{padded growing number}", |i, _| {
                format!("{}#{:08}", i % 10, i).into()
            }),
            ("a word in front", "shard-{salt 12}#{time ms}", |i, r| {
                format!("shard-{:02}#{}", r.any() % 12, ms(i, r)).into()
            }),
            ("of few regions", "{salt 16}#{words}#{time ms}", |i, r| {
                let region = r.one_of(&["north", "south", "east", "west", "centre", "abroad", "online"]);
                format!("{:02}#{region}#{}", hash::murmur3(region.as_bytes()) % 16, ms(i, r)).into()
            }),
            ("of the whole rest", "{salt 16}|{time ms}|{words}", |i, r| {
                let rest = format!("{}|{}", ms(i, r), r.one_of(&WORDS));
                format!("{:02}|{rest}", hash::fnv1a(rest.as_bytes()) % 16).into()
            }),
            ("a tenant is no bucket", "{padded number}#{time ms}", |i, r| {
                format!("{:04}#{}", 1 + skewed(r, 300), ms(i, r)).into()
            }),
            ("a device is no bucket", "dev-{padded number}#{time ms}", |i, r| {
                format!("dev-{:03}#{}", r.any() % 200, ms(i, r)).into()
            }),
            ("an hour is no bucket", "{padded growing number}:{time ms}", |i, r| {
                format!("{:02}:{}", i / 170, 1_714_608_000_000 + i * 21_176 + r.any() % 50).into()
            }),
        ],
    );
}

#[test]
fn numbers_that_look_like_something_else() {
    check(
        3_000,
        &[
            ("phone numbers", "{padded number}#{words}", |_, r| {
                format!("{}#{}", 2_000_000_000 + r.any() % 8_000_000_000, r.one_of(&WORDS)).into()
            }),
            ("phone numbers of one city", "{padded number}#{words}", |_, r| {
                format!("{}#{}", 2_071_000_000 + r.any() % 90_000_000, r.one_of(&WORDS)).into()
            }),
            ("article numbers", "{padded number}|{words}", |_, r| {
                format!("{}|{}", 1_000_000_000_000 + r.any() % 390_000_000_000, r.one_of(&WORDS)).into()
            }),
            ("order numbers that count", "{padded growing number}/{padded number}", |i, r| {
                format!("{}/{:02}", 1_000_000_001 + i, r.any() % 9).into()
            }),
            ("card numbers", "{digits 53}", |_, r| {
                format!("{:016}", r.any() % 10_000_000_000_000_000).into()
            }),
            ("ibans", "DE{padded number}#{time ms}", |i, r| {
                format!("DE{:02}{:018}#{}", r.any() % 90, r.any() % 999_999_999_999_999_999, ms(i, r)).into()
            }),
            ("eight digits", "{padded number}#{uuid(4)}", |_, r| {
                format!("{}#{}", 19_000_000 + r.any() % 1_500_000, uuid(r, 4)).into()
            }),
            ("versions", "{text}@{hex 32}", |_, r| {
                format!("{}.{}.{}@{}", r.any() % 9, r.any() % 30, r.any() % 90, hex(r, 8)).into()
            }),
            ("places", "{negative decimal},{negative decimal}", |_, r| {
                let place = |r: &mut Seeded, most: u64| {
                    format!(
                        "{}{}.{:03}",
                        if r.chance(40) { "-" } else { "" },
                        r.any() % most,
                        r.any() % 1_000
                    )
                };
                format!("{},{}", place(r, 90), place(r, 180)).into()
            }),
            ("temperatures", "{padded number}#{negative number}", |_, r| {
                format!("{:04}#{}", r.any() % 900, i64::try_from(r.any() % 70).unwrap() - 30).into()
            }),
            ("prices", "{words}#{decimal}", |_, r| {
                format!("{}#{}.{:02}", r.one_of(&WORDS), r.any() % 900, r.any() % 100).into()
            }),
            ("a year behind", "user_{padded number}_{period calendar}", |i, r| {
                format!("user_{:03}_{}", r.any() % 900, 2_020 + (i + r.any()) % 5).into()
            }),
            ("post codes", "{padded number}#{hex 32}", |_, r| {
                format!("{:05}#{}", r.any() % 99_999, hex(r, 8)).into()
            }),
            ("birthdays", "{period calendar}#{hex 32}", |_, r| {
                format!(
                    "19{:02}{:02}{:02}#{}",
                    30 + r.any() % 70,
                    1 + r.any() % 12,
                    1 + r.any() % 28,
                    hex(r, 8)
                )
                .into()
            }),
            ("dates inside words", "{text}", |i, r| format!("rep{}x20240502y{}", name(r), i).into()),
        ],
    );
}

#[test]
fn several_formats() {
    check(
        4_000,
        &[
            ("two tables", "{words}#{time ms}\n{uuid(4)}", |i, r| {
                if r.chance(60) {
                    format!("{}#{}", r.one_of(&WORDS), ms(i, r)).into()
                } else {
                    uuid(r, 4).into()
                }
            }),
            ("a word tells", "user#{padded number}#{time ms}\nitem#{uuid(4)}", |i, r| {
                if r.chance(70) {
                    format!("user#{:05}#{}", r.any() % 9_000, ms(i, r)).into()
                } else {
                    format!("item#{}", uuid(r, 4)).into()
                }
            }),
            ("a word tells with equal counts", "user:{padded number}\nmail:{email}", |_, r| {
                if r.chance(70) {
                    format!("user:{:05}", r.any() % 9_000).into()
                } else {
                    format!("mail:{}@{}", name(r), r.one_of(&HOSTS)).into()
                }
            }),
            (
                "time before and behind",
                "dev-{padded number}#{time iso}\n{time iso}#dev-{padded number}",
                |i, r| {
                    let (dev, time) = (format!("dev-{:04}", r.any() % 3_000), iso(ms(i, r)));
                    if r.chance(80) { format!("{dev}#{time}") } else { format!("{time}#{dev}") }.into()
                },
            ),
            ("salted and not", "{salt 16}#{padded number}#{time ms}\n{padded number}#{time ms}", |i, r| {
                let rest = format!("{:05}#{}", r.any() % 9_000, ms(i, r));
                if r.chance(70) { format!("{:02}#{rest}", r.any() % 16) } else { rest }.into()
            }),
            ("four per cent", "{uuid(4)}\n{objectid}", |i, r| {
                if r.chance(96) { uuid(r, 4) } else { format!("{:08x}{}", ms(i, r) / 1_000, hex(r, 16)) }
                    .into()
            }),
            ("old and new ids", "{snowflake}\n{padded growing number}", |i, r| {
                if i > 1_500 {
                    ((ms(i, r) - 1_288_834_974_657) << 22).to_string()
                } else {
                    format!("{}", 500_000 + i)
                }
                .into()
            }),
            ("a handful of malformed keys", "{words}#{time ms}", |i, r| {
                if i % 700 == 3 {
                    b"???".to_vec()
                } else {
                    format!("{}#{}", r.one_of(&WORDS), ms(i, r)).into()
                }
            }),
            ("an optional part", "{padded number}#{words}\n{padded number}#{words}#{time ms}", |i, r| {
                let rest = format!("{:05}#{}", r.any() % 9_000, r.one_of(&WORDS));
                if r.chance(60) { rest } else { format!("{rest}#{}", ms(i, r)) }.into()
            }),
            ("uuid 4, then uuid 7", "{uuid(4)}\n{uuid(7)}", |i, r| {
                if i < 2_200 { uuid(r, 4) } else { uuid7(r, i) }.into()
            }),
            ("hex in both cases", "{hex 64}:{words}", |_, r| {
                let text = hex(r, 16);
                format!("{}:{}", if r.chance(30) { text.to_uppercase() } else { text }, r.one_of(&WORDS))
                    .into()
            }),
        ],
    );
}

#[test]
fn text_that_holds_delimiters() {
    check(
        3_000,
        &[
            ("places with slashes", "{words}/{period calendar}/{padded number}", |i, r| {
                let place = r.one_of(&[
                    "A/B",
                    "NEW YORK",
                    "LOS ANGELES/INTL",
                    "BONN",
                    "ST. GALLEN",
                    "ROME/FCO",
                    "OSLO",
                ]);
                format!("{place}/{}/{:05}", day(i), r.any() % 90_000).into()
            }),
            ("titles with hashes", "{words}#{time ms}", |i, r| {
                let title = r.one_of(&["C# in depth", "rust", "F# for fun", "go", "java"]);
                format!("{title}#{}", ms(i, r)).into()
            }),
            ("free text behind", "{padded number}#{text}", |_, r| {
                let words: Vec<String> = (0..2 + r.below(5)).map(|_| name(r)).collect();
                format!("{:05}#{}", r.any() % 9_000, words.join(*r.one_of(&[" ", "-", "#"]))).into()
            }),
            ("titles", "{text}#{padded number}", |_, r| {
                let words: Vec<String> = (0..=r.below(5)).map(|_| name(r)).collect();
                format!("{}#{:04}", words.join(" "), r.any() % 9_000).into()
            }),
        ],
    );
}

#[test]
fn bytes_that_are_no_text() {
    check(
        3_000,
        &[
            ("time in eight bytes", "{time binary ms}{raw 64}", |i, r| {
                [ms(i, r).to_be_bytes(), r.any().to_be_bytes()].concat()
            }),
            ("reversed time in eight bytes", "{raw 64}{time binary ms reversed}", |i, r| {
                [r.any().to_be_bytes(), (i64::MAX as u64 - ms(i, r)).to_be_bytes()].concat()
            }),
            ("seconds in four bytes", "{raw 64}{time binary s}", |i, r| {
                [&r.any().to_be_bytes()[..], &u32::try_from(ms(i * 50, r) / 1_000).unwrap().to_be_bytes()]
                    .concat()
            }),
            ("salt byte and time", "{salt 16}{time binary ms}{u32}", |i, r| {
                let salt = u8::try_from(r.any() % 16).unwrap();
                [
                    &[salt][..],
                    &ms(i, r).to_be_bytes(),
                    &u32::try_from(r.any() % 90_000).unwrap().to_be_bytes(),
                ]
                .concat()
            }),
            ("digest", "{raw 128}", |_, r| [r.any().to_be_bytes(), r.any().to_be_bytes()].concat()),
            ("counter in eight bytes", "{growing u64}", |i, _| (70_000 + i).to_be_bytes().to_vec()),
            ("text and a binary time", "{padded number}#{time binary ms}", |i, r| {
                [format!("{:05}#", r.any() % 9_000).as_bytes(), &ms(i, r).to_be_bytes()].concat()
            }),
            ("salt byte and text", "{salt 8}user{padded number}#{time ms}", |i, r| {
                [
                    &[u8::try_from(r.any() % 8).unwrap()][..],
                    format!("user{:05}#{}", r.any() % 9_000, ms(i, r)).as_bytes(),
                ]
                .concat()
            }),
            ("text ended by zero", "{text}\\x00{time ms}", |i, r| {
                format!("{}\0{}", name(r), ms(i, r)).into()
            }),
            ("raw uuid", "{uuid(4)}", |_, r| {
                let (high, low) = (r.any(), r.any());
                [(high & !0xf000 | 0x4000).to_be_bytes(), (low & !(0b11 << 62) | 0b10 << 62).to_be_bytes()]
                    .concat()
            }),
        ],
    );
}
