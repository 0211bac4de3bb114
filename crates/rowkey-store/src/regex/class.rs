//! Sets of bytes, and those that have names.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// A set of bytes, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) const ALL: Self = Self([u64::MAX; 4]);

    pub(super) fn of(ranges: &[(u8, u8)]) -> Self {
        let mut set = Self::default();
        for &(first, last) in ranges {
            set.add(first..=last);
        }
        set
    }

    pub(super) fn add(&mut self, bytes: RangeInclusive<u8>) {
        for byte in bytes {
            self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
        }
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }

    pub(super) fn union(mut self, other: Self) -> Self {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own |= other;
        }
        self
    }

    pub(super) fn negated(self) -> Self {
        Self(self.0.map(|bits| !bits))
    }

    /// Both cases of its letters. RE2 folds only ASCII letters in Latin-1 mode.
    pub(super) fn folded(self) -> Self {
        let mut folded = self;
        for (upper, lower) in (b'A'..=b'Z').zip(b'a'..=b'z') {
            if self.contains(upper) || self.contains(lower) {
                folded.add(upper..=upper);
                folded.add(lower..=lower);
            }
        }
        folded
    }

    /// As ascending ranges.
    fn ranges(self) -> Vec<(u8, u8)> {
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for byte in (0..=u8::MAX).filter(|byte| self.contains(*byte)) {
            match ranges.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(byte) => *last = byte,
                _ => ranges.push((byte, byte)),
            }
        }
        ranges
    }

    /// The class for `regex::bytes`, and how many ranges it has.
    pub(super) fn write(self) -> (String, u32) {
        let ranges = self.ranges();
        if ranges.is_empty() {
            return ("[^\\x00-\\xFF]".to_owned(), 1);
        }
        let mut text = "[".to_owned();
        let mut count = 0;
        for (first, last) in ranges {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{first:02X}-\\x{last:02X}");
            count += 1;
        }
        text.push(']');
        (text, count)
    }
}

/// The set behind `\d`, `\s` or `\w`.
pub(super) fn perl(letter: u8) -> Option<ByteSet> {
    match letter {
        b'd' => Some(ByteSet::of(&[(b'0', b'9')])),
        // Unlike `[[:space:]]` without the vertical tab.
        b's' => Some(ByteSet::of(&[(b'\t', b'\n'), (0x0c, b'\r'), (b' ', b' ')])),
        b'w' => posix(b"word"),
        _ => None,
    }
}

/// The set behind `[[:name:]]`.
pub(super) fn posix(name: &[u8]) -> Option<ByteSet> {
    Some(ByteSet::of(match name {
        b"alnum" => &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')],
        b"alpha" => &[(b'A', b'Z'), (b'a', b'z')],
        b"ascii" => &[(0x00, 0x7f)],
        b"blank" => &[(b'\t', b'\t'), (b' ', b' ')],
        b"cntrl" => &[(0x00, 0x1f), (0x7f, 0x7f)],
        b"digit" => &[(b'0', b'9')],
        b"graph" => &[(b'!', b'~')],
        b"lower" => &[(b'a', b'z')],
        b"print" => &[(b' ', b'~')],
        b"punct" => &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')],
        b"space" => &[(b'\t', b'\r'), (b' ', b' ')],
        b"upper" => &[(b'A', b'Z')],
        b"word" => &[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')],
        b"xdigit" => &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')],
        _ => return None,
    }))
}

/// The characters U+0000 to U+00FF with a Unicode property, as in `\pL` or `\p{Latin}`. General categories are from `UnicodeData.txt`,
/// scripts from `Scripts.txt`, version 16; both are stable for these characters.
pub(super) fn unicode(name: &[u8]) -> Option<ByteSet> {
    let all = |names: &[&[u8]]| {
        names.iter().try_fold(ByteSet::default(), |set, name| Some(set.union(unicode(name)?)))
    };
    Some(ByteSet::of(match name {
        b"Any" => return Some(ByteSet::ALL),
        b"C" => return all(&[b"Cc", b"Cf"]),
        b"L" => return all(&[b"Lu", b"Ll", b"Lo"]),
        b"N" => return all(&[b"Nd", b"No"]),
        b"P" => return all(&[b"Pc", b"Pd", b"Pe", b"Pf", b"Pi", b"Po", b"Ps"]),
        b"S" => return all(&[b"Sc", b"Sk", b"Sm", b"So"]),
        b"Z" | b"Zs" => &[(0x20, 0x20), (0xa0, 0xa0)],
        b"Cc" => &[(0x00, 0x1f), (0x7f, 0x9f)],
        b"Cf" => &[(0xad, 0xad)],
        b"Ll" => &[(b'a', b'z'), (0xb5, 0xb5), (0xdf, 0xf6), (0xf8, 0xff)],
        b"Lo" => &[(0xaa, 0xaa), (0xba, 0xba)],
        b"Lu" => &[(b'A', b'Z'), (0xc0, 0xd6), (0xd8, 0xde)],
        b"Nd" => &[(b'0', b'9')],
        b"No" => &[(0xb2, 0xb3), (0xb9, 0xb9), (0xbc, 0xbe)],
        b"Pc" => &[(b'_', b'_')],
        b"Pd" => &[(b'-', b'-')],
        b"Pe" => &[(b')', b')'), (b']', b']'), (b'}', b'}')],
        b"Pf" => &[(0xbb, 0xbb)],
        b"Pi" => &[(0xab, 0xab)],
        b"Po" => &[
            (b'!', b'#'),
            (b'%', b'\''),
            (b'*', b'*'),
            (b',', b','),
            (b'.', b'/'),
            (b':', b';'),
            (b'?', b'@'),
            (b'\\', b'\\'),
            (0xa1, 0xa1),
            (0xa7, 0xa7),
            (0xb6, 0xb7),
            (0xbf, 0xbf),
        ],
        b"Ps" => &[(b'(', b'('), (b'[', b'['), (b'{', b'{')],
        b"Sc" => &[(b'$', b'$'), (0xa2, 0xa5)],
        b"Sk" => &[(b'^', b'^'), (b'`', b'`'), (0xa8, 0xa8), (0xaf, 0xaf), (0xb4, 0xb4), (0xb8, 0xb8)],
        b"Sm" => &[
            (b'+', b'+'),
            (b'<', b'>'),
            (b'|', b'|'),
            (b'~', b'~'),
            (0xac, 0xac),
            (0xb1, 0xb1),
            (0xd7, 0xd7),
            (0xf7, 0xf7),
        ],
        b"So" => &[(0xa6, 0xa6), (0xa9, 0xa9), (0xae, 0xae), (0xb0, 0xb0)],
        // Categories of which no character is below U+0100.
        b"Co" | b"Cs" | b"Lm" | b"Lt" | b"M" | b"Mc" | b"Me" | b"Mn" | b"Nl" | b"Zl" | b"Zp" => &[],
        b"Latin" => &[
            (b'A', b'Z'),
            (b'a', b'z'),
            (0xaa, 0xaa),
            (0xba, 0xba),
            (0xc0, 0xd6),
            (0xd8, 0xf6),
            (0xf8, 0xff),
        ],
        b"Common" => return Some(unicode(b"Latin")?.negated()),
        _ => return None,
    }))
}
