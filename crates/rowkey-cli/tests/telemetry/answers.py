#!/usr/bin/env python3
"""What the telemetry test expects, computed without Rowkey: csv, dict and sorted only.

    answers.py path/to/telemetry.csv > answers.txt

A line of a canonical text is `sensor,time,group,value`. For each text: its name, its lines, the MD5 of its UTF-8
bytes, and its first lines. A later reading of the same sensor and time replaces the earlier one.
"""

import csv
import hashlib
import sys

DAY = "2014-04-11"


def canonical(rows):
    return [",".join(row) for row in rows]


def show(name, lines):
    text = "".join(line + "\n" for line in lines)
    print(f"text {name} {len(lines)} {hashlib.md5(text.encode()).hexdigest()}")
    for line in lines[:3]:
        print(f"    {line}")


def main(path):
    latest = {}
    read = 0
    with open(path, newline="", encoding="utf-8") as file:
        for record in csv.DictReader(file):
            read += 1
            latest[record["sensor"], record["time"]] = (record["group"], record["value"])
    rows = [(sensor, time, group, value) for (sensor, time), (group, value) in latest.items()]
    # ASCII names and times of one width: the order of characters is that of bytes and of time.
    by_sensor = sorted(rows, key=lambda row: (row[0], row[1]))
    by_time = sorted(rows, key=lambda row: (row[1], row[0]))
    newest_first = sorted(by_sensor, key=lambda row: row[1], reverse=True)
    newest_first.sort(key=lambda row: row[0])
    sensors = sorted({row[0] for row in rows})

    print(f"count read {read}")
    print(f"count distinct {len(rows)}")
    print(f"count surplus {read - len(rows)}")
    print(f"count sensors {len(sensors)}")
    show("all-by-sensor", canonical(by_sensor))
    show("all-by-time", canonical(by_time))
    show("all-newest-first", canonical(newest_first))
    show("one-day", canonical(row for row in by_sensor if row[1].startswith(DAY)))
    show("one-day-by-time", canonical(row for row in by_time if row[1].startswith(DAY)))
    last_ten = []
    for sensor in sensors:
        last_ten += [row for row in newest_first if row[0] == sensor][:10]
    show("last-ten", canonical(last_ten))


if __name__ == "__main__":
    main(sys.argv[1])
