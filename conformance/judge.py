"""Compares what a suite did with what is written down, and prints the counts.

    judge.py NAME EXPECTED RESULTS

RESULTS has a line a test: `pass|fail|skip <tab> test <tab> detail`. EXPECTED has lines `skip|fail | test | reason`, where `*` in a test stands for
anything, and comments that begin with `#`. Exit code 0 if every test passed or did what is written; a test that passes though a failure is written,
and a line that no test fits, are reported as well, so that the list stays true.
"""

import re
import sys
from collections import Counter


def read_expected(path):
    """The lines of an expectation file as (outcome, pattern, reason, regex)."""
    entries = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            parts = [part.strip() for part in line.split("|", 2)]
            if len(parts) != 3 or parts[0] not in ("skip", "fail") or not parts[2]:
                raise SystemExit(f"{path}:{number}: not of the form `skip|fail | test | reason`: {line}")
            regex = re.compile(".*".join(re.escape(piece) for piece in parts[1].split("*")))
            entries.append((*parts, regex))
    return entries


def entry_for(entries, test):
    """The first entry that fits the test, or None."""
    return next((entry for entry in entries if entry[3].fullmatch(test)), None)


def main():
    name, expected_path, results_path = sys.argv[1:]
    entries = read_expected(expected_path)
    counts, as_written, unexpected, used = Counter(), Counter(), [], set()
    with open(results_path, encoding="utf-8") as lines:
        for line in lines:
            outcome, test, detail = (line.rstrip("\n").split("\t", 2) + ["", ""])[:3]
            entry = entry_for(entries, test)
            written = entry[0] if entry else "pass"
            if entry:
                used.add(entry[1])
            if outcome == written and outcome != "pass":
                as_written[(outcome, entry[1], entry[2])] += 1
                counts["skip"] += 1
            elif outcome == "pass":
                counts["pass"] += 1
                if written == "fail":
                    unexpected.append(f"passes, though a failure is written: {test}")
            else:
                counts[outcome] += 1
                unexpected.append(f"{outcome}: {test}: {detail}")
    for (outcome, pattern, reason), number in sorted(as_written.items()):
        print(f"expected {'failure' if outcome == 'fail' else 'skip'}: {number} x {pattern}: {reason}")
    unexpected += [f"no test fits the written line: {entry[1]}" for entry in entries if entry[1] not in used]
    for line in unexpected:
        print(f"UNEXPECTED {line}")
    if not counts["pass"]:
        unexpected.append("nothing passed")
        print("UNEXPECTED no test passed")
    print(f"{name}: {counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped")
    sys.exit(1 if unexpected else 0)


if __name__ == "__main__":
    main()
