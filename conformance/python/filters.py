"""Random filters of those that Google's emulator and this server both have and that have one right answer, and the words they are about."""

import raw

KEYS = [b"a", b"a\x00", b"ab", b"abc", b"b", b"b#1", b"b#2", b"k\n1", b"k1", b"k2", b"k3", "schl\u00fcssel".encode(), b"\x00", b"\xff", b"\xff\xff"]
QUALIFIERS = [b"", b"q", b"q1", b"q2", b"r\x00", b"\xffz"]
VALUES = [b"", b"v", b"value", b"val\nue", b"\x00\x01", b"\x80\xff", b"\x00" * 7 + b"\x05", b"\xff" * 8]
TIMES = [0, 1000, 2000, 3000, 1_600_000_000_000_000]
INVALID = "INVALID_ARGUMENT"


class Filters:
    """Random filters, of those that both sides have and that have one right answer."""

    def __init__(self, episode):
        self.episode, self.random = episode, episode.random

    def make(self, depth=3, may_limit=True):
        chance = self.random
        one = raw.message("RowFilter")()
        kinds = ["family", "qualifier", "value", "key", "column", "times", "values", "strip", "label", "pass", "block", "sample"]
        if may_limit:
            kinds += ["column_limit", "column_limit", "row_limit", "row_offset"]
        if depth > 0:
            kinds += ["chain"] * 4 + ["interleave"] * 3 + ["condition"] * 3
        kind = chance.choice(kinds)
        spoil = chance.random() < 0.02
        getattr(self, kind)(one, spoil, depth, may_limit)
        return one

    def pattern(self, words, spoil):
        chance = self.random
        if spoil:
            self.episode.bad("regex", INVALID)
            # An empty pattern is one for qualifiers and values, which may be empty, and none for keys.
            return chance.choice([b"(", b"[b-a]", b"*", b"a{2,1}", b"\\8"] + ([b""] if words is KEYS else []))
        word = chance.choice(words)
        literal = b"".join(bytes([byte]) if chr(byte).isalnum() and byte < 128 else b"\\x%02x" % byte for byte in word)
        return chance.choice([
            literal or b"(?:)", literal + b".*", b".*", b".+", b"\\C*", b"[a-c]+.*", literal + b"|q", b"(?i)Q.?", b"(?:v|val)\\C*", b"^" + literal + b"$",
            b".", b"[^a]*", b"a?b?c?", b"\\w+", b"\\d*", b"(?s).*", b"[\\x00-\\x7f]*", b"(a|ab)(c|)", b"x{2}|\\xff+", b"k.1", b"\\Qb#1\\E",
        ])

    def family(self, one, spoil, *_):
        one.family_name_regex_filter = self.random.choice(["a", "b", "a|b", "[ab]", "sum|c", ".*", "s.*", "c"])

    def qualifier(self, one, spoil, *_):
        one.column_qualifier_regex_filter = self.pattern(QUALIFIERS, spoil)

    def value(self, one, spoil, *_):
        one.value_regex_filter = self.pattern(VALUES, spoil)

    def key(self, one, spoil, *_):
        one.row_key_regex_filter = self.pattern(KEYS, spoil)

    def bounds(self, part, start, end, low, high):
        """Sets two random bounds; `start` and `end` are the words of the field names."""
        if self.random.random() < 0.8:
            setattr(part, f"{start}_{self.random.choice(['open', 'closed'])}", low)
        if self.random.random() < 0.8:
            setattr(part, f"{end}_{self.random.choice(['open', 'closed'])}", high)

    def column(self, one, spoil, *_):
        low, high = sorted(self.random.sample(QUALIFIERS[1:], 2))
        one.column_range_filter.family_name = self.random.choice(["a", "b", "c"])
        if spoil and self.random.random() < 0.5:
            self.episode.bad("column range without a family", INVALID)
            one.column_range_filter.family_name = ""
        elif spoil:
            self.episode.bad("inverted qualifier range", INVALID)
            one.column_range_filter.start_qualifier_closed, one.column_range_filter.end_qualifier_open = high, low
            return
        self.bounds(one.column_range_filter, "start_qualifier", "end_qualifier", low, high)

    def times(self, one, spoil, *_):
        low, high = sorted(self.random.sample(TIMES[1:], 2))
        if spoil:
            self.episode.bad("inverted timestamp range", INVALID)
            low, high = high, low
        one.timestamp_range_filter.start_timestamp_micros = low if spoil or self.random.random() < 0.7 else 0
        one.timestamp_range_filter.end_timestamp_micros = high if spoil or self.random.random() < 0.7 else 0

    def values(self, one, spoil, *_):
        low, high = sorted(self.random.sample(VALUES[1:], 2))
        one.value_range_filter.SetInParent()
        if spoil:
            self.episode.bad("inverted value range", INVALID)
            one.value_range_filter.start_value_closed, one.value_range_filter.end_value_open = high, low
            return
        self.bounds(one.value_range_filter, "start_value", "end_value", low, high)

    def strip(self, one, spoil, *_):
        one.strip_value_transformer = not spoil
        if spoil:
            self.episode.bad("false where only true is allowed", INVALID)

    def label(self, one, spoil, *_):
        one.apply_label_transformer = self.random.choice(["l", "some-label", "x9"])
        if spoil:
            self.episode.bad("label", INVALID)
            one.apply_label_transformer = self.random.choice(["UP", "a_b", "x" * 16, " l", ""])

    def sample(self, one, spoil, *_):
        if not spoil:
            one.pass_all_filter = True
            return
        self.episode.bad("sample out of bounds", INVALID)
        one.row_sample_filter = self.random.choice([0.0, 1.0, -0.5, 2.0, float("nan")])

    def block(self, one, spoil, *_):
        one.block_all_filter = not spoil
        if spoil:
            self.episode.bad("false where only true is allowed", INVALID)

    def column_limit(self, one, spoil, *_):
        one.cells_per_column_limit_filter = self.random.randint(1, 3)
        if spoil:
            self.episode.bad("limit", INVALID)
            one.cells_per_column_limit_filter = self.random.choice([0, -1])

    # The emulator has no fixed order of families: limits that count over a row only where one family is left.
    def row_limit(self, one, spoil, *_):
        first, second = one.chain.filters.add(), one.chain.filters.add()
        first.family_name_regex_filter = self.random.choice(["a", "b", "sum"])
        second.cells_per_row_limit_filter = self.random.randint(1, 4)
        if spoil:
            self.episode.bad("limit", INVALID)
            second.cells_per_row_limit_filter = self.random.choice([0, -1])

    def row_offset(self, one, spoil, *_):
        first, second = one.chain.filters.add(), one.chain.filters.add()
        first.family_name_regex_filter = self.random.choice(["a", "b", "sum"])
        second.cells_per_row_offset_filter = self.random.randint(0, 3)

    def chain(self, one, spoil, depth, may_limit):
        one.chain.SetInParent()
        labelled = False
        for _ in range(1 if spoil else self.random.randint(2, 3)):
            spoilt = len(self.episode.spoilt)
            made = self.make(depth - 1, may_limit)
            text = str(made)
            if "apply_label" in text:
                if labelled:
                    # What is wrong with a filter that is not sent is nobody's to refuse.
                    del self.episode.spoilt[spoilt:]
                    continue
                labelled = True
            # Copies of a cell have no order among them, so nothing may count them.
            may_limit = may_limit and "interleave" not in text
            one.chain.filters.append(made)
        if len(one.chain.filters) < 2:
            self.episode.bad("chain or interleave of fewer than two", INVALID)

    def interleave(self, one, spoil, depth, may_limit):
        one.interleave.SetInParent()
        for _ in range(1 if spoil else self.random.randint(2, 3)):
            one.interleave.filters.append(self.make(depth - 1, may_limit))
        if len(one.interleave.filters) < 2:
            self.episode.bad("chain or interleave of fewer than two", INVALID)

    def condition(self, one, spoil, depth, may_limit):
        one.condition.predicate_filter.CopyFrom(self.make(depth - 1, may_limit))
        if self.random.random() < 0.8:
            one.condition.true_filter.CopyFrom(self.make(depth - 1, may_limit))
        if self.random.random() < 0.7:
            one.condition.false_filter.CopyFrom(self.make(depth - 1, may_limit))


setattr(Filters, "pass", lambda self, one, spoil, *_: setattr(one, "pass_all_filter", True))
