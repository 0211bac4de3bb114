"""Runs the commands of a transcript with cbt and compares what they print.

In the transcript a line `$ words` is a call of cbt, the lines up to the next one are what it has to print on both outputs, and `exit N` its exit code if
that is not 0. Times of today are NOW. `(sorted)` behind the `$` sorts the printed lines first. With a second argument the transcript that came out is written there.
"""

import os
import re
import shlex
import subprocess
import sys


def read(path):
    """The transcript as (command line, printed lines)."""
    calls = []
    with open(path, encoding="utf-8") as lines:
        for line in lines.read().split("\n"):
            if line.startswith("$ "):
                calls.append((line, []))
            elif calls and not line.startswith("#"):
                calls[-1][1].append(line)
    return [(command, "\n".join(lines).strip("\n").split("\n")) for command, lines in calls]


def run(command):
    words = shlex.split(command[2:])
    in_order = words[0] != "(sorted)"
    words = words if in_order else words[1:]
    folder = os.path.dirname(os.path.abspath(sys.argv[1]))
    call = ["cbt", "-project", "cbt-project", "-instance", "cbt-instance", *words]
    try:
        done = subprocess.run(
            call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=30, check=False, cwd=folder
        )
    except subprocess.TimeoutExpired:
        return ["no end after 30 s"]
    lines = done.stdout.decode("utf-8", "backslashreplace").rstrip("\n").split("\n")
    lines = [re.sub(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d ", "", line).rstrip() for line in lines]
    lines = [re.sub(r"\b20\d\d/\d\d/\d\d-[\d:.]+", "NOW", re.sub(r"latency: \d+ms", "latency: Nms", line)) for line in lines]
    lines = [re.sub(r'([,:]) (?=["{])', r"\1", line) for line in lines]  # The blanks in its JSON differ from build to build.
    lines = [line for line in lines if "-creds flag unset" not in line]
    if not in_order:
        lines.sort()
    if done.returncode:
        lines.append(f"exit {done.returncode}")
    return "\n".join(lines).strip("\n").split("\n")


def main():
    passed = failed = 0
    with open(sys.argv[2] if len(sys.argv) > 2 else os.devnull, "w", encoding="utf-8") as out:
        for command, want in read(sys.argv[1]):
            got = run(command)
            out.write("\n".join([command, *got]).rstrip("\n") + "\n\n")
            if got == want:
                passed += 1
                continue
            failed += 1
            print(command)
            print("\n".join([f"  want | {line}" for line in want] + [f"  got  | {line}" for line in got]), flush=True)
    print(f"cbt: {passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
