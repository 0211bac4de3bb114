"""The same random requests to Google's emulator and to this server: the answers have to be equal, except for the emulator's known defects.

Requests come in episodes, each with a table of its own and a seed of its own. A request is either good, then both answers must be equal, or it has
parts that are bad on purpose, then this server has to refuse it with the code that the API documents, whatever the emulator does (KNOWN says what it
does). After a refused write the rows it named are deleted on both sides, because the emulator may have written half of it.

Arguments: requests, seed, folder, `same` or `known`, the command of the emulator, `--`, and the address of the server. `same` compares the emulator
with itself. EPISODE=n in the environment runs only that episode, and prints each request.
"""

import os
import random
import sys
from collections import Counter

import grpc
import raw
from filters import KEYS, QUALIFIERS, TIMES, VALUES, Filters
from google.protobuf import text_format
from kill import Server

PARENT = "projects/p/instances/differential"
FAMILIES = ["a", "b", "c", "sum"]  # "sum" is an aggregate family
SCRATCH = ["s1", "s2"]  # created and dropped, never written
EPISODE_REQUESTS = 120
FUTURE = 4_102_444_800_000_000  # a cell that no write of today replaces, in microseconds: 2100-01-01
# What the emulator does instead of refusing; the names are those that `Episode.bad` is called with.
KNOWN = {
    "codes": "answers UNKNOWN or INTERNAL for mistakes of the client",
    "unknown family": "UNKNOWN or INTERNAL; DeleteFromFamily passes silently",
    "negative timestamp": "UNKNOWN or INTERNAL",
    "timestamp not in milliseconds": "UNKNOWN or INTERNAL",
    "no mutations": "passes in CheckAndMutateRow and in entries of MutateRows",
    "empty row key": "passes in ReadModifyWriteRow and others",
    "empty time range": "passes or UNKNOWN in DeleteFromColumn",
    "set in an aggregate": "passes, and the process dies at the next AddToCell",
    "add to what is no aggregate": "UNKNOWN or INTERNAL",
    "read-modify-write of an aggregate": "passes",
    "no rules": "passes",
    "negative rows_limit": "an empty answer",
    "range with start behind end": "an empty answer",
    "chain or interleave of fewer than two": "UNKNOWN",
    "false where only true is allowed": "strips all the same",
    "label": "the pattern is not anchored; the last of two labels wins",
    "inverted qualifier range": "passes",
    "column range without a family": "passes",
    "inverted value range": "passes",
    "regex": "an empty pattern passes; UNKNOWN for one that is none",
    "limit": "a limit of 0 or less passes",
    "sample out of bounds": "UNKNOWN",
    "inverted timestamp range": "passes",
    "empty prefix": "drops every row",
    "strip value": "takes the labels away as well",
    "row of an empty key": "is accepted at times, and then sent without a key, which is no row",
    "no target": "UNKNOWN",
    "table name": "passes",
    "family name": "passes",
}
INVALID, NOT_FOUND, PRECONDITION = "INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION"
MISTAKES = {INVALID, NOT_FOUND, PRECONDITION, "ALREADY_EXISTS", "OUT_OF_RANGE"}


class EmulatorDied(Exception):
    """The emulator ended; the episode with it."""


def code_of(number):
    return next((code.name for code in grpc.StatusCode if code.value[0] == number), str(number))


def shown(key):
    return key.decode("latin-1").encode("unicode_escape").decode()


class Episode:
    """One table on both sides, and what is done to it."""

    def __init__(self, run, number):
        self.run, self.number = run, number
        self.random = random.Random(f"{run.seed}-{number}")
        self.table = f"{PARENT}/tables/t{number}"
        self.spoilt = []  # (name, codes, optional) of the request that is being made
        self.filters = Filters(self)
        self.scratch = set()
        self.keys = self.random.sample(KEYS, 9)

    def bad(self, name, *codes, optional=False):
        assert name in KNOWN, name
        self.spoilt.append((name, codes, optional))

    # --- one request to both sides ---

    def both(self, what, request, answer, rows=(), call=None):
        """Sends `request`, compares the answers, and returns the emulator's. `answer` makes something comparable of a response."""
        spoilt, self.spoilt = self.spoilt, []
        call = call or what
        theirs = self.ask(self.run.emulator, call, request, answer)
        ours = self.ask(self.run.ours, call, request, answer)
        self.run.count(what)
        if self.run.verbose:
            print(f"{what} {text_format.MessageToString(request, as_one_line=True)}\n    spoilt {spoilt}\n    theirs {theirs}\n    ours   {ours}")
        if theirs == ("error", "UNAVAILABLE"):
            raise EmulatorDied(what)
        complaint = self.judge(spoilt, theirs, ours) if not self.of_known_rows(what, request, theirs, ours) else None
        if complaint:
            self.run.differs(self, what, request, complaint, theirs, ours)
        if complaint:
            self.forget(KEYS)  # One difference is not to be reported again by every read of the row.
        elif any(name == "empty row key" for name, _, _ in spoilt) and theirs[0] == "ok" and rows:
            # The emulator has a row now that nothing but this takes away.
            request = raw.message("DropRowRangeRequest", raw.ADMIN)(name=self.table, delete_all_data_from_table=True)
            for api in (self.run.emulator, self.run.ours):
                self.ask(api, "DropRowRange", request, lambda _: None)
        elif rows and (spoilt or ours[0] == "error"):
            self.forget(rows)
        return theirs

    def of_known_rows(self, what, request, theirs, ours):
        """Whether the rows differ only as the emulator is known to get them wrong."""
        if self.run.same or what != "ReadRows" or ours[0] != "ok":
            return False
        if theirs == ("protocol", raw.KEYLESS):
            # Nothing but dropping all rows takes such a row away.
            self.run.known["row of an empty key"] += 1
            drop = raw.message("DropRowRangeRequest", raw.ADMIN)(name=self.table, delete_all_data_from_table=True)
            for api in (self.run.emulator, self.run.ours):
                self.ask(api, "DropRowRange", drop, lambda _: None)
            return True
        text = str(request)
        if theirs[0] != "ok" or theirs == ours or "strip_value_transformer" not in text or "apply_label_transformer" not in text:
            return False
        bare = [[(key, [cell[:-1] for cell in cells]) for key, cells in rows] for rows in (theirs[1], ours[1])]
        if bare[0] != bare[1]:
            return False
        self.run.known["strip value"] += 1
        return True

    def ask(self, api, call, request, answer):
        try:
            response = getattr(api, call)(request, timeout=60)
            return ("ok", answer(response))
        except raw.Protocol as error:
            return ("protocol", str(error))
        except grpc.RpcError as error:
            return ("error", error.code().name)

    def judge(self, spoilt, theirs, ours):
        """What is wrong with our answer, or None."""
        if self.run.same or not spoilt:
            if theirs == ours:
                return None
            if not self.run.same and theirs[0] == "error" and theirs[1] in ("UNKNOWN", "INTERNAL") and ours[0] == "error" and ours[1] in MISTAKES:
                self.run.known["codes"] += 1
                return None
            return "the answers differ"
        names = ", ".join(name for name, _, _ in spoilt)
        if ours[0] == "error":
            if ours[1] not in {code for _, codes, _ in spoilt for code in codes}:
                return f"refused with another code than documented for: {names}"
            if theirs != ours:
                self.run.known[spoilt[0][0]] += 1
            return None
        if all(optional for _, _, optional in spoilt):
            return None if theirs == ours else f"the answers differ, though both take: {names}"
        return f"not refused: {names}"

    def forget(self, rows):
        """Deletes rows on both sides."""
        for api in (self.run.emulator, self.run.ours):
            for key in rows:
                if not key:
                    continue
                request = raw.message("MutateRowRequest")(table_name=self.table, row_key=key)
                request.mutations.add().delete_from_row.SetInParent()
                try:
                    api.MutateRow(request)
                except grpc.RpcError as error:
                    if error.code() == grpc.StatusCode.UNAVAILABLE and api is self.run.emulator:
                        raise EmulatorDied("forget") from error
                    if error.code() != grpc.StatusCode.NOT_FOUND:
                        raise

    def undo(self, call, request):
        """Takes back what only the emulator does."""
        for api in [self.run.emulator] + ([self.run.ours] if self.run.same else []):
            self.ask(api, call, request, lambda _: None)

    # --- the life of a table ---

    def play(self):
        request = raw.message("CreateTableRequest", raw.ADMIN)(parent=PARENT, table_id=f"t{self.number}")
        for family in FAMILIES:
            request.table.column_families[family].SetInParent()
        aggregate = request.table.column_families["sum"].value_type.aggregate_type
        aggregate.input_type.int64_type.encoding.big_endian_bytes.SetInParent()
        aggregate.sum.SetInParent()
        self.both("CreateTable", request, self.name_only)
        for _ in range(12):
            self.mutate_row()
        kinds = [
            (self.mutate_row, 18), (self.mutate_rows, 8), (self.check_and_mutate, 14), (self.read_modify_write, 10), (self.read_rows, 44),
            (self.modify_families, 4), (self.drop_rows, 1), (self.table_admin, 3), (self.missing_table, 1),
        ]
        for kind in self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds], k=EPISODE_REQUESTS):
            kind()
        self.both("DeleteTable", raw.message("DeleteTableRequest", raw.ADMIN)(name=self.table), lambda _: None)
        self.both("GetTable", raw.message("GetTableRequest", raw.ADMIN)(name=self.table), lambda _: None)

    @staticmethod
    def name_only(response):
        return response.name

    def existing_or_not(self):
        return self.random.choice(self.keys)

    # --- writes ---

    def mutation(self, mutations, branch=False):
        """Adds one mutation. In a branch that may not be taken, a bad one may pass."""
        chance = self.random
        spoil = chance.random() < 0.03
        one = mutations.add()
        kind = chance.choice(["set"] * 8 + ["add"] * 3 + ["column"] * 3 + ["family", "row"])
        family = chance.choice(["a", "a", "b", "c"])
        bad = lambda name, *codes: self.bad(name, *codes, optional=branch)
        if kind == "set":
            one.set_cell.family_name, one.set_cell.column_qualifier = family, chance.choice(QUALIFIERS)
            one.set_cell.timestamp_micros, one.set_cell.value = chance.choice(TIMES), chance.choice(VALUES)
            if spoil:
                what = chance.randrange(4)
                if what == 0:
                    one.set_cell.family_name = "missing"
                    bad("unknown family", NOT_FOUND)
                elif what == 1:
                    one.set_cell.timestamp_micros = chance.choice([-2, -1000])
                    bad("negative timestamp", INVALID)
                elif what == 2:
                    one.set_cell.timestamp_micros = chance.choice([1, 1001, 999_999])
                    bad("timestamp not in milliseconds", INVALID)
                else:
                    one.set_cell.family_name = "sum"
                    bad("set in an aggregate", INVALID)
        elif kind == "add":
            one.add_to_cell.family_name = "sum"
            one.add_to_cell.column_qualifier.raw_value = chance.choice(QUALIFIERS[1:3])
            one.add_to_cell.timestamp.raw_timestamp_micros = chance.choice(TIMES[:3])
            one.add_to_cell.input.int_value = chance.randint(-1000, 1000)
            if spoil:
                one.add_to_cell.family_name = chance.choice(["a", "missing"])
                if one.add_to_cell.family_name == "a":
                    bad("add to what is no aggregate", INVALID, PRECONDITION)
                else:
                    bad("unknown family", NOT_FOUND)
        elif kind == "column":
            one.delete_from_column.family_name, one.delete_from_column.column_qualifier = chance.choice([family, "sum"]), chance.choice(QUALIFIERS)
            if chance.random() < 0.6:
                low, high = sorted(chance.sample(TIMES[1:], 2))
                if spoil:
                    low, high = chance.choice([(high, low), (low, low)])
                    bad("empty time range", INVALID)
                one.delete_from_column.time_range.start_timestamp_micros = low
                one.delete_from_column.time_range.end_timestamp_micros = high if spoil or chance.random() < 0.6 else 0
            elif spoil:
                one.delete_from_column.family_name = "missing"
                bad("unknown family", NOT_FOUND)
        elif kind == "family":
            one.delete_from_family.family_name = family
            if spoil:
                one.delete_from_family.family_name = "missing"
                bad("unknown family", NOT_FOUND)
        else:
            one.delete_from_row.SetInParent()

    def look(self, key):
        """Compares one row as it is now."""
        request = raw.message("ReadRowsRequest")(table_name=self.table)
        request.rows.row_keys.append(key)
        self.both("ReadRows", request, self.rows_of(False))

    def mutate_row(self):
        key = self.existing_or_not()
        request = raw.message("MutateRowRequest")(table_name=self.table, row_key=key)
        for _ in range(self.random.randint(1, 4)):
            self.mutation(request.mutations)
        self.spoil_row(request)
        self.both("MutateRow", request, lambda _: None, [key])
        self.look(key)

    def spoil_row(self, request):
        what = self.random.random()
        if what < 0.01:
            request.row_key = b""
            self.bad("empty row key", INVALID)
        elif what < 0.02:
            del request.mutations[:]
            self.spoilt = []
            self.bad("no mutations", INVALID)

    def mutate_rows(self):
        """Each entry is judged by itself."""
        keys = self.random.sample(self.keys, self.random.randint(1, 4))
        request = raw.message("MutateRowsRequest")(table_name=self.table)
        spoilt = {}
        for index, key in enumerate(keys):
            entry = request.entries.add(row_key=key)
            for _ in range(self.random.randint(1, 3)):
                self.mutation(entry.mutations)
            self.spoil_row(entry)
            spoilt[index], self.spoilt = self.spoilt, []

        def answer(responses):
            return {entry.index: code_of(entry.status.code) for response in responses for entry in response.entries}

        theirs = self.ask(self.run.emulator, "MutateRows", request, answer)
        ours = self.ask(self.run.ours, "MutateRows", request, answer)
        self.run.count("MutateRows")
        if self.run.verbose:
            print(f"MutateRows {text_format.MessageToString(request, as_one_line=True)}\n    {spoilt}\n    theirs {theirs}\n    ours   {ours}")
        if theirs == ("error", "UNAVAILABLE"):
            raise EmulatorDied("MutateRows")
        empty = [index for index, names in spoilt.items() if names and names[0][0] == "no mutations"]
        if empty and (theirs[0] == "error" or ours[0] == "error"):
            # The emulator refuses the whole request for an entry without mutations; the real service is not known to.
            if ours != ("error", INVALID) and (ours[0] == "error" or any(ours[1].get(index) != INVALID for index in empty)):
                self.run.differs(self, "MutateRows", request, "an entry without mutations is not refused", theirs, ours)
            self.forget(keys)
            return
        if theirs[0] != "ok" or ours[0] != "ok" or set(ours[1]) != set(range(len(keys))):
            self.run.differs(self, "MutateRows", request, "every entry has to be answered", theirs, ours)
            self.forget(keys)
            return
        for index, key in enumerate(keys):
            two = [("ok", None) if side[1][index] == "OK" else ("error", side[1][index]) for side in (theirs, ours)]
            complaint = self.judge(spoilt[index], *two)
            if complaint:
                self.run.differs(self, "MutateRows", request, f"entry {index}: {complaint}", *two)
            if complaint or spoilt[index] or two[1][0] == "error":
                self.forget([key])
            self.look(key)

    def check_and_mutate(self):
        key = self.existing_or_not()
        request = raw.message("CheckAndMutateRowRequest")(table_name=self.table, row_key=key)
        if self.random.random() < 0.85:
            request.predicate_filter.CopyFrom(self.filters.make())
        for branch in (request.true_mutations, request.false_mutations):
            for _ in range(self.random.randint(0, 2)):
                self.mutation(branch, branch=True)
        if not request.true_mutations and not request.false_mutations:
            self.bad("no mutations", INVALID)
        elif self.random.random() < 0.01:
            request.row_key = b""
            self.bad("empty row key", INVALID)
        self.both("CheckAndMutateRow", request, lambda response: response.predicate_matched, [key])
        self.look(key)

    def read_modify_write(self):
        """Columns that a rule of this request names get a cell of the far future before, or are deleted after: what is written at the time of the
        server cannot be compared."""
        key, chance = self.existing_or_not(), self.random
        request = raw.message("ReadModifyWriteRowRequest")(table_name=self.table, row_key=key)
        before = raw.message("MutateRowRequest")(table_name=self.table, row_key=key)
        after = raw.message("MutateRowRequest")(table_name=self.table, row_key=key)
        for qualifier in chance.sample([b"n1", b"n2", b"n3"], chance.randint(1, 3)):
            family = chance.choice(["a", "b"])
            for _ in range(chance.randint(1, 2)):
                rule = request.rules.add(family_name=family, column_qualifier=qualifier)
                if chance.random() < 0.6:
                    rule.increment_amount = chance.choice([1, -1, 0, 7, 2**63 - 1, -(2**63)])
                else:
                    rule.append_value = chance.choice(VALUES)
            if chance.random() < 0.7:
                value = chance.choice([b"\x00" * 8, b"\x00" * 7 + b"\x09", b"\xff" * 8, b"short"])
                before.mutations.append(raw.set_cell(family, qualifier, value, FUTURE))
            else:
                delete = after.mutations.add().delete_from_column
                delete.family_name, delete.column_qualifier = family, qualifier
        if before.mutations:
            self.both("MutateRow", before, lambda _: None)
        what = chance.random()
        if what < 0.02:
            request.rules[-1].family_name = "missing"
            self.bad("unknown family", NOT_FOUND)
            self.bad("codes", PRECONDITION)
        elif what < 0.03:
            del request.rules[:]
            self.bad("no rules", INVALID)
        elif what < 0.04:
            request.row_key = b""
            self.bad("empty row key", INVALID)
        elif what < 0.05:
            request.rules.add(family_name="sum", column_qualifier=b"q", increment_amount=1)
            self.bad("read-modify-write of an aggregate", INVALID, PRECONDITION)
        self.both("ReadModifyWriteRow", request, self.modified, [key])
        if after.mutations:
            self.both("MutateRow", after, lambda _: None)
        self.look(key)

    @staticmethod
    def modified(response):
        return sorted(
            (family.name, column.qualifier, "now" if cell.timestamp_micros != FUTURE else FUTURE, cell.value)
            for family in response.row.families
            for column in family.columns
            for cell in column.cells
        )

    # --- reads ---

    def read_rows(self):
        chance = self.random
        request = raw.message("ReadRowsRequest")(table_name=self.table)
        if chance.random() < 0.75:
            request.filter.CopyFrom(self.filters.make())
        for _ in range(chance.choice([0, 0, 0, 1, 2])):
            request.rows.row_keys.append(chance.choice(KEYS))
        for _ in range(chance.choice([0, 0, 1, 1, 2])):
            low, high = sorted(chance.sample(KEYS, 2))
            part = request.rows.row_ranges.add()
            if chance.random() < 0.02:
                self.bad("range with start behind end", INVALID)
                part.start_key_closed, part.end_key_open = high, low
                continue
            if chance.random() < 0.8:
                setattr(part, chance.choice(["start_key_open", "start_key_closed"]), low)
            if chance.random() < 0.8:
                setattr(part, chance.choice(["end_key_open", "end_key_closed"]), high)
        if chance.random() < 0.3:
            request.rows_limit = chance.randint(1, 5)
        request.reversed = chance.random() < 0.3
        if chance.random() < 0.01:
            request.rows_limit = -1
            self.bad("negative rows_limit", INVALID)
        if chance.random() < 0.01:
            request.rows.row_keys.append(b"")
            self.bad("empty row key", INVALID)
        self.both("ReadRows", request, self.rows_of(request.reversed))

    def rows_of(self, reverse):
        def answer(responses):
            rows = raw.merge(responses, reverse)
            self.run.full += bool(rows)
            for key, cells in rows:
                places = [cell[:3] for cell in cells]
                ordered = sorted(places, key=lambda place: (place[1], -place[2]))
                for family in FAMILIES:
                    if [place for place in places if place[0] == family] != [place for place in ordered if place[0] == family]:
                        raise raw.Protocol(f"cells of {key!r} are not in order: {places}")
            # The emulator has no fixed order of families, and copies of a cell have none among them.
            return [(key, sorted((*cell[:2], -cell[2], cell[3], tuple(cell[4])) for cell in cells)) for key, cells in rows]

        return answer

    # --- tables ---

    def modify_families(self):
        """One change a call: the emulator keeps the first part of a call that fails."""
        chance = self.random
        request = raw.message("ModifyColumnFamiliesRequest", raw.ADMIN)(name=self.table)
        name = chance.choice(SCRATCH)
        change = request.modifications.add(id=name)
        what = chance.randrange(3)
        if what == 0:
            change.create.SetInParent()
            self.rule(change.create)
        elif what == 1:
            change.update.SetInParent()
            self.rule(change.update)
        else:
            change.drop = True
        if chance.random() < 0.1:
            change.id = chance.choice(["bad id!/x", "", "f" * 65])
            self.bad("family name", INVALID, NOT_FOUND)
        answer = self.both("ModifyColumnFamilies", request, self.families_of)
        if answer[0] == "ok" and change.id not in SCRATCH:
            request = raw.message("ModifyColumnFamiliesRequest", raw.ADMIN)(name=self.table)
            request.modifications.add(id=change.id, drop=True)
            self.undo("ModifyColumnFamilies", request)

    def rule(self, family, depth=2):
        """A garbage-collection rule, or none."""
        def fill(rule, depth):
            kind = self.random.choice(["versions", "age"] + (["union", "intersection"] if depth else []))
            if kind == "versions":
                rule.max_num_versions = self.random.randint(1, 9)
            elif kind == "age":
                rule.max_age.seconds = self.random.randint(1, 10**6)
            else:
                for _ in range(2):
                    fill(getattr(rule, kind).rules.add(), depth - 1)

        if self.random.random() < 0.8:
            fill(family.gc_rule, depth)

    @staticmethod
    def families_of(response):
        return sorted((name, family.gc_rule.SerializeToString(deterministic=True)) for name, family in response.column_families.items())

    def drop_rows(self):
        request = raw.message("DropRowRangeRequest", raw.ADMIN)(name=self.table)
        what = self.random.randrange(10)
        if what < 6:
            request.row_key_prefix = self.random.choice([b"a", b"b#", b"k", b"\xff", b"nothing"])
        elif what < 8:
            request.delete_all_data_from_table = True
        elif what < 9:
            request.row_key_prefix = b""
            self.bad("empty prefix", INVALID)
        else:
            self.bad("no target", INVALID)
        self.both("DropRowRange", request, lambda _: None, KEYS)
        self.both("ReadRows", raw.message("ReadRowsRequest")(table_name=self.table), self.rows_of(False))

    def table_admin(self):
        chance = self.random
        what = chance.randrange(5)
        if what == 0:
            request = raw.message("GetTableRequest", raw.ADMIN)(name=self.table, view=chance.choice([0, 2, 4]))
            self.both("GetTable", request, lambda table: (table.name, self.families_of(table)))
        elif what == 1:
            request = raw.message("ListTablesRequest", raw.ADMIN)(parent=PARENT)
            self.both("ListTables", request, lambda response: sorted(table.name for table in response.tables))
        elif what == 2:
            request = raw.message("CreateTableRequest", raw.ADMIN)(parent=PARENT, table_id=f"t{self.number}")
            request.table.column_families["other"].SetInParent()
            self.both("CreateTable", request, self.name_only)
        elif what == 3:
            request = raw.message("CreateTableRequest", raw.ADMIN)(parent=PARENT, table_id=chance.choice(["", "a b", "x" * 51, "-t"]))
            request.table.SetInParent()
            self.bad("table name", INVALID)
            answer = self.both("CreateTable", request, self.name_only)
            if answer[0] == "ok":
                self.undo("DeleteTable", raw.message("DeleteTableRequest", raw.ADMIN)(name=f"{PARENT}/tables/{request.table_id}"))
        else:
            token = self.both("GenerateConsistencyToken", raw.message("GenerateConsistencyTokenRequest", raw.ADMIN)(name=self.table), lambda _: None)
            assert token is not None

    def missing_table(self):
        name = f"{PARENT}/tables/missing"
        kind = self.random.randrange(6)
        if kind == 0:
            self.both("ReadRows", raw.message("ReadRowsRequest")(table_name=name), self.rows_of(False))
        elif kind == 1:
            request = raw.message("MutateRowRequest")(table_name=name, row_key=b"k", mutations=[raw.set_cell("a", b"q", b"v", 0)])
            self.both("MutateRow", request, lambda _: None)
        elif kind == 2:
            request = raw.message("MutateRowsRequest")(table_name=name)
            request.entries.add(row_key=b"k", mutations=[raw.set_cell("a", b"q", b"v", 0)])
            self.both("MutateRows", request, lambda responses: [len(response.entries) for response in responses])
        elif kind == 3:
            self.both("SampleRowKeys", raw.message("SampleRowKeysRequest")(table_name=name), lambda responses: len(list(responses)))
        elif kind == 4:
            self.both("GetTable", raw.message("GetTableRequest", raw.ADMIN)(name=name), self.name_only)
        else:
            self.both("DeleteTable", raw.message("DeleteTableRequest", raw.ADMIN)(name=name), lambda _: None)


class Run:
    def __init__(self, seed, same, server, ours):
        self.seed, self.same, self.server = seed, same, server
        self.only = os.environ.get("EPISODE")
        self.verbose = self.only is not None
        self.counts, self.known = Counter(), Counter()
        self.differences = self.deaths = self.full = 0
        self.second = Server(server.command, server.folder) if same else None
        self.ours = raw.Api(ours)
        self.ours.wait()
        self.emulator = None
        self.connect()

    def connect(self):
        if self.emulator is not None:
            self.emulator.close()
        self.emulator = self.started(self.server)
        if self.second is not None:
            self.ours = self.started(self.second)

    @staticmethod
    def started(server):
        server.stop()
        server.start()
        api = raw.Api(server.address)
        api.wait()
        return api

    def stop(self):
        for server in (self.server, self.second):
            if server is not None:
                server.stop()

    def count(self, what):
        self.counts[what] += 1

    def differs(self, episode, what, request, complaint, theirs, ours):
        self.differences += 1
        if self.differences <= int(os.environ.get("SHOW", "10")):
            print(f"DIFFERENCE in {what}, SEED={self.seed} EPISODE={episode.number}: {complaint}")
            print(f"  request  {text_format.MessageToString(request, as_one_line=True)[:1500]}")
            print(f"  emulator {str(theirs)[:1000]}\n  ours     {str(ours)[:1000]}", flush=True)

    def play(self, requests):
        number = 0
        while sum(self.counts.values()) < requests:
            number += 1
            if self.only is not None:
                number = int(self.only)
            try:
                Episode(self, number).play()
            except EmulatorDied as died:
                self.deaths += 1
                self.ours.DeleteTable(raw.message("DeleteTableRequest", raw.ADMIN)(name=f"{PARENT}/tables/t{number}"))
                print(f"the emulator died in episode {number} at {died}; it is started again")
                self.connect()
            if self.only is not None or self.deaths > 20 or self.differences > 500:
                break


def main():
    requests, seed, folder, mode = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    split = sys.argv.index("--")
    server = Server(sys.argv[5:split], folder)
    run = Run(seed, mode == "same", server, sys.argv[split + 1])
    try:
        run.play(requests)
    finally:
        run.stop()
    done = sum(run.counts.values())
    print("requests:", ", ".join(f"{number} {what}" for what, number in run.counts.most_common()))
    print(f"{run.full} answers to reads have rows, of both sides together")
    for name, number in sorted(run.known.items()):
        print(f"known defect of the emulator, {number} times: {name}: {KNOWN[name]}")
    print(f"seed {seed}; the emulator died {run.deaths} times")
    print(f"differential: {done - run.differences} passed, {run.differences} failed, 0 skipped")
    sys.exit(1 if run.differences or (run.only is None and done < requests) else 0)


if __name__ == "__main__":
    main()
