//! What patterns are accepted, and what they match. The tables agree with RE2 itself (google-re2 1.1.20251105, Latin-1).

use super::*;
use crate::seeded::Seeded;
use std::collections::BTreeSet;

/// The single bytes that a pattern matches, as hex ranges.
fn matched(pattern: &[u8]) -> String {
    let pattern = Pattern::new(pattern).unwrap_or_else(|error| panic!("{error}"));
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    for byte in (0..=u8::MAX).filter(|byte| pattern.matches(&[*byte])) {
        match ranges.last_mut() {
            Some((_, last)) if *last == byte.wrapping_sub(1) => *last = byte,
            _ => ranges.push((byte, byte)),
        }
    }
    let shown = ranges.iter().map(|(first, last)| {
        if first == last { format!("{first:02x}") } else { format!("{first:02x}-{last:02x}") }
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn refused(pattern: &[u8], kind: ErrorKind, words: &str) {
    let error = Pattern::new(pattern).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn classes_are_sets_of_bytes() {
    let check = |pattern: &[u8], expected: &str| {
        assert_eq!(matched(pattern), expected, "{}", pattern.escape_ascii());
    };
    check(b".", "00-09 0b-ff");
    check(b"(?s).", "00-ff");
    check(b"\\C", "00-ff");
    check(b"\xe9", "e9");
    check(b"[\xe9-\xeb]", "e9-eb");
    check(b"[^\xe9]", "00-e8 ea-ff");
    check(b"\\377|\\07|\\0", "00 07 ff");
    check(b"[\\0-\\x0a\\x{ff}]", "00-0a ff");
    check(b"\\d", "30-39");
    check(b"\\s", "09-0a 0c-0d 20");
    check(b"[[:space:]]", "09-0d 20");
    check(b"[[:^space:]a]", "00-08 0e-1f 21-ff");
    check(b"\\W", "00-2f 3a-40 5b-5e 60 7b-ff");
    check(b"[\\D5]", "00-2f 35 3a-ff");
    check(b"[]a]", "5d 61");
    check(b"[^]a]", "00-5c 5e-60 62-ff");
    check(b"[a-]|[-z]", "2d 61 7a");
    check(b"[+--]", "2b-2d");
    check(b"[[]", "5b");
    check(b"[a&&b]", "26 61-62");
    check(b"[!--b]", "21-2d 62");
    check(b"[a~~b]", "61-62 7e");
    check(b"[[:x]", "3a 5b 78");
    check(b"[.]", "2e");
    check(b"\\.|\\_|\\-|\\ ", "20 2d-2e 5f");
    check(b"\\a|\\f|\\n|\\r|\\t|\\v", "07 09-0d");
    check(b"[^\\x00-\\xff]", "");
    check(b"\\pN", "30-39 b2-b3 b9 bc-be");
    check(b"\\pL", "41-5a 61-7a aa b5 ba c0-d6 d8-f6 f8-ff");
    check(b"\\p{Lu}", "41-5a c0-d6 d8-de");
    check(b"[\\P{^Ll}!]", "21 61-7a b5 df-f6 f8-ff");
    check(b"\\p{Common}", "00-40 5b-60 7b-a9 ab-b9 bb-bf d7 f7");
    check(b"\\pM", "");
    check(b"\\pP", "21-23 25-2a 2c-2f 3a-3b 3f-40 5b-5d 5f 7b 7d a1 a7 ab b6-b7 bb bf");
    check(b"\\pS", "24 2b 3c-3e 5e 60 7c 7e a2-a6 a8-a9 ac ae-b1 b4 b8 d7 f7");
    check(b"[^\\pC\\pZ]", "21-7e a1-ac ae-ff");
    // Letters beyond ASCII are not folded in Latin-1 mode.
    check(b"(?i)a|\xe9|[x-z]", "41 58-5a 61 78-7a e9");
    check(b"(?i)[^a]", "00-40 42-60 62-ff");
    check(b"(?i)\\p{Lu}", "41-5a 61-7a c0-d6 d8-de");
    check(b"(?i)\\P{Lu}", "00-40 5b-60 7b-bf d7 df-ff");
    check(b"(?i)[[:^upper:]]", "00-40 5b-60 7b-ff");
    check(b"(?i:a)|b|(?i)(?-i)c|d", "41 61-64");
    check(b"(?:(?i)a|b)|c", "41-42 61-63");
}

#[test]
fn patterns_match_the_whole() {
    let check = |pattern: &[u8], yes: &[&[u8]], no: &[&[u8]]| {
        let compiled = Pattern::new(pattern).unwrap_or_else(|error| panic!("{error}"));
        for (bytes, expected) in yes.iter().map(|bytes| (bytes, true)).chain(no.iter().map(|no| (no, false)))
        {
            assert_eq!(
                compiled.matches(bytes),
                expected,
                "{} {}",
                pattern.escape_ascii(),
                bytes.escape_ascii()
            );
        }
    };
    check(b"", &[b""], &[b"a"]);
    check(b"abc", &[b"abc"], &[b"ab", b"abcd", b"xabc", b""]);
    check(b"|a", &[b"", b"a"], &[b"b", b"ab"]);
    check(b"a|b|cd", &[b"a", b"b", b"cd"], &[b"ad", b"bd", b"ab", b"acd"]);
    check(b"user#.*", &[b"user#", b"user#1"], &[b"user", b"xuser#"]);
    check(b"user#\\C*", &[b"user#", b"user#1"], &[b"user"]);
    check(b"\\Qa.b*\\E*", &[b"a.b", b"a.b**"], &[b"axb"]);
    check(b"\\Qa\\\\E", &[b"a\\"], &[b"a"]);
    check(b"\\Qa(", &[b"a("], &[b"a"]);
    check(b"(?P<n>a)(?<m>b)()", &[b"ab"], &[b"a"]);
    check(b"a{2}", &[b"aa"], &[b"a", b"aaa"]);
    check(b"a{2,}", &[b"aa", b"aaaa"], &[b"a"]);
    check(b"(?:ab){1,2}?", &[b"ab", b"abab"], &[b"", b"ababab"]);
    check(b"a{,2}|b{|c{01}|{", &[b"a{,2}", b"b{", b"c{01}", b"{"], &[b"a", b"aa", b"c"]);
    check(b"a{0}", &[b""], &[b"a"]);
    check(b"a*?b+?c??", &[b"b", b"aabbc"], &[b"a"]);
    check(b"(?:a*)*b", &[b"b", b"aab"], &[b"a"]);
    check(b"a*(?i)*", &[b"", b"aa"], &[b"A"]);
    check(b"^a$", &[b"a"], &[b"b"]);
    check(b"a$b|a^b|a\\zb|\\Aab\\z", &[b"ab"], &[b"a"]);
    check(b"^*a(?:$)+", &[b"a"], &[b""]);
    check(b"\\bab\\b|a\\b-|\\Bx", &[b"ab", b"a-"], &[b"x", b"a"]);
    check(b"(?i)Ab(?-i)C", &[b"aBC", b"abC"], &[b"abc"]);
    check(b"(?m)a$\n^b", &[b"a\nb"], &[b"ab"]);
    check(b"a.b", &[b"a\xffb"], &[b"a\nb", b"ab"]);
    check(b"(?s)a.b|(?-s:.)", &[b"a\nb", b"x"], &[b"\n"]);
    check(b"a\\C*b", &[b"a\n\x00b", b"ab"], &[b"a"]);
    check(b"(?U)a*|(?)b|(?i-s:c)", &[b"aa", b"b", b"C"], &[b"B"]);
    check("\u{e9}".as_bytes(), &["\u{e9}".as_bytes()], &[b"\xe9"]);
}

#[test]
fn what_re2_refuses_is_refused() {
    let invalid = |pattern: &[u8], words: &str| refused(pattern, ErrorKind::Invalid, words);
    for pattern in [&b"a**"[..], b"a*+", b"a++", b"a+??", b"a{2}{3}", b"a{2}*"] {
        invalid(pattern, "repetition of a repetition");
    }
    for pattern in [&b"*"[..], b"a|*", b"(+)", b"{2}", b"(?i)?", b"\\Q\\E*"] {
        invalid(pattern, "nothing stands before it");
    }
    for pattern in [&b"("[..], b"(a", b"((a)", b"(?:a", b"(?i:"] {
        invalid(pattern, "not closed");
    }
    invalid(b"a)", "at byte 1: a `)` without a `(`");
    invalid(b"a\\", "at byte 1: a backslash at the end");
    for pattern in [&b"["[..], b"[a", b"[]", b"[^]", b"[a\\]", b"[[:alpha:]", b"[a-"] {
        invalid(pattern, "");
    }
    for pattern in [
        &b"(?x)a"[..],
        b"(?R)a",
        b"(?u)a",
        b"(?-u)a",
        b"(?",
        b"(?i",
        b"(?-)",
        b"(?i-)",
        b"(?-:a)",
        b"(?i-s-m)",
        b"(?P=n)",
        b"(?#a)",
        b"(?>a)",
    ] {
        invalid(pattern, "(?");
    }
    for pattern in [&b"(?=a)"[..], b"(?!a)", b"(?<=a)", b"(?<!a)"] {
        invalid(pattern, "looking ahead");
    }
    for pattern in [&b"(?P<a)"[..], b"(?P<>a)", b"(?P<a-b>c)", b"(?<\xe9>c)"] {
        invalid(pattern, "a name of a group");
    }
    invalid(b"(?P<n>a)(?P<n>b)", "two groups of the same name");
    for pattern in [
        &b"\\e"[..],
        b"\\Z",
        b"\\G",
        b"\\E",
        b"\\u00e9",
        b"\\cA",
        b"\\8",
        b"\\\xe9",
        b"[\\b]",
        b"[\\C]",
        b"[\\A]",
        b"[\\Qa\\E]",
        b"[a-\\d]",
    ] {
        invalid(pattern, "not an escape of RE2");
    }
    invalid(b"\\1", "reference to a group");
    invalid(b"\\400", "octal above");
    for pattern in [&b"\\x"[..], b"\\x1", b"\\xg0", b"\\x{}", b"\\x{100}", b"\\x{f", b"\\x{-1}"] {
        invalid(pattern, "\\x");
    }
    for pattern in [&b"\\p"[..], b"\\pX", b"\\p{Nope}", b"\\p{L", b"\\p{Cn}", b"[\\pX]"] {
        invalid(pattern, "");
    }
    invalid(b"[[:foo:]]", "not a class of POSIX");
    invalid(b"[[:]a[:alpha:]]", "not a class of POSIX");
    invalid(b"[b-a]", "at byte 1: a range in a class ends before it begins");
    invalid(b"a{3,2}", "the most is below the least");
}

#[test]
fn what_is_too_large_is_a_limit() {
    let limit = |pattern: &[u8], words: &str| refused(pattern, ErrorKind::Limit, words);
    Pattern::new(b"(?:a{100}){10}").unwrap();
    Pattern::new(b"\\C{0,1000}").unwrap();
    limit(b"a{1001}", "more than 1000 times");
    limit(b"a{0,1001}", "more than 1000 times");
    limit(b"(?:a{100}){11}", "more than 1000 times");
    limit(b"((a{10}b){11}|c){10}", "more than 1000 times");
    limit(&b"[a-z]{1000}".repeat(200), "states");
    limit(&b"(".repeat(101), "nested deeper");
    limit(&[b"a".to_vec(), b"*(?i)".repeat(101)].concat(), "nested deeper");
    limit(&vec![b'a'; 20_481], "the limit is 20480");
    assert!(Pattern::new(&vec![b'a'; 20_480]).unwrap().matches(&vec![b'a'; 20_480]));
}

#[test]
fn a_large_pattern_that_is_let_through_compiles() {
    let mut pattern = b"x?".to_vec();
    pattern.extend_from_slice(&b"[a-z]{1000}".repeat(130));
    assert!(translate(&pattern).unwrap().states > 130_000);
    assert!(Pattern::new(&pattern).unwrap().matches(&vec![b'm'; 130_000]));
}

#[test]
fn a_quoted_literal_matches_itself_alone() {
    let all: Vec<u8> = (0..=u8::MAX).collect();
    let pattern = Pattern::new(&quote(&all)).unwrap();
    assert_eq!(pattern.prefix(), (&all[..], true));
    assert!(pattern.matches(&all));
    assert!(!pattern.matches(&all[1..]));
    for byte in all {
        assert_eq!(matched(&quote(&[byte])), format!("{byte:02x}"));
    }
}

/// What a pattern means, for [`ends`].
#[derive(Debug)]
enum Meaning {
    Bytes(BTreeSet<u8>),
    Begin,
    End,
    Sequence(Vec<Meaning>),
    Choice(Vec<Meaning>),
    Repeat(Box<Meaning>, usize, Option<usize>),
}

/// Where a match that begins at `from` can end: slow, and plain.
fn ends(meaning: &Meaning, text: &[u8], from: usize) -> BTreeSet<usize> {
    match meaning {
        Meaning::Bytes(bytes) => {
            text.get(from).filter(|byte| bytes.contains(byte)).map(|_| from + 1).into_iter().collect()
        }
        Meaning::Begin => (from == 0).then_some(from).into_iter().collect(),
        Meaning::End => (from == text.len()).then_some(from).into_iter().collect(),
        Meaning::Sequence(parts) => parts.iter().fold(BTreeSet::from([from]), |starts, part| {
            starts.into_iter().flat_map(|from| ends(part, text, from)).collect()
        }),
        Meaning::Choice(parts) => parts.iter().flat_map(|part| ends(part, text, from)).collect(),
        Meaning::Repeat(part, least, most) => {
            let mut now = BTreeSet::from([from]);
            let mut all = BTreeSet::new();
            // More rounds than bytes and the least bring nothing new.
            for round in 0..=most.unwrap_or(text.len() + least) {
                if round >= *least {
                    all.extend(now.iter().copied());
                }
                now = now.into_iter().flat_map(|from| ends(part, text, from)).collect();
            }
            all
        }
    }
}

const LETTERS: [u8; 7] = [b'a', b'B', b'.', b'\n', 0x00, 0x80, 0xff];

/// A byte, written in one of the ways.
fn spelled(choose: &mut Seeded, byte: u8, in_class: bool) -> Vec<u8> {
    match choose.below(5) {
        0 => format!("\\x{byte:02x}").into_bytes(),
        1 => format!("\\x{{{byte:X}}}").into_bytes(),
        2 => format!("\\{byte:03o}").into_bytes(),
        3 if !in_class => [b"\\Q", &[byte][..], b"\\E"].concat(),
        _ => quote(&[byte]),
    }
}

fn made_up(choose: &mut Seeded, depth: usize) -> (Meaning, Vec<u8>) {
    match choose.below(if depth == 0 { 4 } else { 9 }) {
        0 => (Meaning::Bytes((0..=u8::MAX).collect()), b"\\C".to_vec()),
        1 => (Meaning::Bytes((0..=u8::MAX).filter(|byte| *byte != b'\n').collect()), b".".to_vec()),
        2 => {
            let negated = choose.chance(40);
            let mut bytes = BTreeSet::new();
            let mut text = if negated { b"[^".to_vec() } else { b"[".to_vec() };
            for _ in 0..=choose.below(3) {
                let (a, b) = (*choose.one_of(&LETTERS), *choose.one_of(&LETTERS));
                bytes.extend(a.min(b)..=a.max(b));
                text.extend(spelled(choose, a.min(b), true));
                text.push(b'-');
                text.extend(spelled(choose, a.max(b), true));
            }
            text.push(b']');
            (Meaning::Bytes((0..=u8::MAX).filter(|byte| bytes.contains(byte) != negated).collect()), text)
        }
        3 | 4 => {
            let byte = *choose.one_of(&LETTERS);
            (Meaning::Bytes(BTreeSet::from([byte])), spelled(choose, byte, false))
        }
        5 => {
            if choose.chance(50) {
                (Meaning::Begin, b"^".to_vec())
            } else {
                (Meaning::End, b"$".to_vec())
            }
        }
        6 => {
            let (meanings, texts): (Vec<_>, Vec<_>) =
                (0..choose.below(4)).map(|_| made_up(choose, depth - 1)).unzip();
            (Meaning::Sequence(meanings), [b"(?:", &texts.concat()[..], b")"].concat())
        }
        7 => {
            let (meanings, texts): (Vec<_>, Vec<_>) =
                (0..=choose.below(3)).map(|_| made_up(choose, depth - 1)).unzip();
            (Meaning::Choice(meanings), [b"(", &texts.join(&b'|')[..], b")"].concat())
        }
        _ => {
            let (meaning, text) = made_up(choose, depth - 1);
            let (least, most, operator) = match choose.below(5) {
                0 => (0, None, "*"),
                1 => (1, None, "+"),
                2 => (0, Some(1), "?"),
                3 => (2, None, "{2,}"),
                _ => (1, Some(3), "{1,3}?"),
            };
            (
                Meaning::Repeat(Box::new(meaning), least, most),
                [b"(?:", &text[..], b")", operator.as_bytes()].concat(),
            )
        }
    }
}

#[test]
fn made_up_patterns_match_what_they_mean() {
    let choose = &mut Seeded::new(26);
    let (mut yes, mut no) = (0, 0);
    for _ in 0..3_000 {
        let (meaning, text) = made_up(choose, 4);
        let pattern = Pattern::new(&text).unwrap_or_else(|error| panic!("{error}"));
        for _ in 0..8 {
            let bytes: Vec<u8> = (0..choose.below(5)).map(|_| *choose.one_of(&LETTERS)).collect();
            let expected = ends(&meaning, &bytes, 0).contains(&bytes.len());
            assert_eq!(pattern.matches(&bytes), expected, "{} {}", text.escape_ascii(), bytes.escape_ascii());
            *(if expected { &mut yes } else { &mut no }) += 1;
        }
    }
    assert!(yes > 2_000 && no > 2_000, "{yes} {no}");
}

#[test]
fn any_bytes_are_refused_or_compile() {
    let choose = &mut Seeded::new(7);
    let pieces: [&[u8]; 40] = [
        b"a",
        b"B",
        b"\xe9",
        b"\n",
        b"\\",
        b"(",
        b")",
        b"(?",
        b":",
        b"i",
        b"-",
        b"s",
        b"m",
        b"[",
        b"]",
        b"[:alpha:]",
        b"^",
        b"$",
        b"|",
        b"*",
        b"+",
        b"?",
        b"{",
        b"}",
        b"2",
        b",",
        b"{2,3}",
        b"\\Q",
        b"\\E",
        b"\\C",
        b"\\p",
        b"L",
        b"\\x",
        b"ff",
        b"\\d",
        b"\\b",
        b"P<n>",
        b".",
        b"&&",
        b"\x00",
    ];
    let mut compiled = 0;
    for _ in 0..30_000 {
        let pattern: Vec<u8> =
            (0..choose.below(9)).flat_map(|_| choose.one_of(&pieces).iter().copied()).collect();
        if translate(&pattern).is_ok() {
            compiled += 1;
            Pattern::new(&pattern).unwrap_or_else(|error| panic!("{}: {error}", pattern.escape_ascii()));
        }
    }
    assert!(compiled > 3_000, "{compiled}");
}
