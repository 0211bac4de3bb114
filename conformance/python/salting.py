"""Writes events under salted keys and reads them back, bucket by bucket, in every way that programs use the stock client for it.

The only argument is a folder: what was read is left there in answers.json, for a comparison with another reader of the same rows.
"""

import hashlib
import json
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor

from google.cloud.bigtable import Client
from google.cloud.bigtable.data import BigtableDataClient, ReadRowsQuery, RowRange
from google.cloud.bigtable.row_set import RowSet

BUCKETS = 10
USERS = 60
EVENTS = 50
START_MS = 1_700_000_000_000


def salted_key(user, time_ms):
    """`07#user#1700000000000`: the bucket is taken of the user's MD5, so that one user's events stay together."""
    bucket = int(hashlib.md5(user.encode()).hexdigest()[:8], 16) % BUCKETS
    return f"{bucket:02}#{user}#{time_ms:013}".encode()


def unsalted(key):
    return key.split(b"#", 1)[1]


def event(row):
    """What a row of the legacy client says, in the form of answers.json."""
    cells = {f"{family}:{qualifier.decode()}": found[0].value.decode() for family, columns in row.cells.items() for qualifier, found in columns.items()}
    return [row.row_key.decode(), cells]


def event_of_new_client(row):
    return [row.row_key.decode(), {f"{cell.family}:{cell.qualifier.decode()}": cell.value.decode() for cell in row}]


def by_time_of_user(events):
    return sorted(events, key=lambda one: unsalted(one[0].encode()))


def write(table):
    """Events in the order in which they happen, which is not that of the keys; some are written twice."""
    chance = random.Random(7)
    expected = {}
    rows = []
    for at in range(EVENTS):
        for number in range(USERS):
            time_ms = START_MS + at * 60_000 + number
            key = salted_key(f"user{number * 7919 % 1000:03}", time_ms)
            row = table.direct_row(key)
            expected[key.decode()] = {"cf:kind": chance.choice(["view", "click", "buy"]), "cf:page": f"/p/{chance.randrange(100)}"}
            for name, value in expected[key.decode()].items():
                row.set_cell("cf", name.split(":")[1], value)
            rows.append(row)
    for begin in range(0, len(rows), 500):
        for status in table.mutate_rows(rows[begin : begin + 500]):
            assert status.code == 0, status
    return [[key, cells] for key, cells in sorted(expected.items())]


def read_bucket(table, bucket, condition=None):
    """One read_rows for one bucket, or for the part of a bucket below `condition`."""
    prefix = f"{bucket:02}#" + (condition or "")
    rows = table.read_rows(start_key=prefix.encode(), end_key=(prefix[:-1] + chr(ord(prefix[-1]) + 1)).encode())
    return [event(row) for row in rows]


def main():
    legacy = Client(project="salt-project", admin=True)
    table = legacy.instance("salt-instance").table("events")
    if not table.exists():
        table.create(column_families={"cf": None})
    expected = write(table)
    wanted = by_time_of_user(expected)
    user = "user919"
    passed = 0

    def check(what, got, want):
        nonlocal passed
        assert got == want, f"{what}: {len(got)} rows are not the {len(want)} written; first: {got[:1]} against {want[:1]}"
        passed += 1
        print(f"ok {what}: {len(got)} rows")

    one_by_one = [one for bucket in range(BUCKETS) for one in read_bucket(table, bucket)]
    check("one read a bucket, in the order of stored keys", one_by_one, expected)
    check("one read a bucket, merged by the key without its salt", by_time_of_user(one_by_one), wanted)

    with ThreadPoolExecutor(BUCKETS) as pool:
        parallel = [one for part in pool.map(lambda bucket: read_bucket(table, bucket), range(BUCKETS)) for one in part]
    check("one thread a bucket", by_time_of_user(parallel), wanted)

    ranges = RowSet()
    for bucket in range(BUCKETS):
        ranges.add_row_range_with_prefix(f"{bucket:02}#")
    check("one request with a range a bucket", [event(row) for row in table.read_rows(row_set=ranges)], expected)

    bucket = int(salted_key(user, 0)[:2])
    of_user = [one for one in wanted if one[0].split("#")[1] == user]
    check("one user, whose bucket is known", read_bucket(table, bucket, f"{user}#"), of_user)

    slice_of_all = [
        one
        for bucket in range(BUCKETS)
        for one in read_bucket(table, bucket, "user1")
    ]
    check("users with a prefix, from every bucket", by_time_of_user(slice_of_all), [one for one in wanted if one[0].split("#")[1].startswith("user1")])

    with BigtableDataClient(project="salt-project") as client, client.get_table("salt-instance", "events") as new_table:
        queries = [ReadRowsQuery(row_ranges=[RowRange(start_key=f"{bucket:02}#", end_key=f"{bucket:02}$")]) for bucket in range(BUCKETS)]
        sharded = [event_of_new_client(row) for row in new_table.read_rows_sharded(queries)]
        check("the new client's sharded read", sharded, expected)
        points = [new_table.read_row(key) for key, _ in expected[::97]]
        check("the new client's point reads", [event_of_new_client(row) for row in points], expected[::97])

    with open(os.path.join(sys.argv[1], "answers.json"), "w", encoding="utf-8") as out:
        json.dump({"all": wanted, "user": of_user, "user_name": user}, out)


if __name__ == "__main__":
    main()
