"""Writes from several threads, kills the server with SIGKILL, starts it again on the same store, and looks what is there.

Every acknowledged write has to be there, none may be half there, and nothing may be there that nobody asked for. Arguments: rounds, seed, folder, and
the command of the server, in which {store}, {grpc} and {http} are filled in. With the emulator (which keeps nothing) it is not killed.
"""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import grpc
import raw

TABLE = "projects/p/instances/kill-test/tables/t"
THREADS = 4
# Longest time that a round writes before the server is killed.
WRITE_S_MAX = 0.6


class Server:
    def __init__(self, command, folder):
        self.command, self.folder, self.process, self.address = command, folder, None, None

    def start(self):
        held = [socket.socket() for _ in range(2)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        grpc_port, http_port = (one.getsockname()[1] for one in held)
        for one in held:
            one.close()
        places = {"store": os.path.join(self.folder, "data"), "grpc": str(grpc_port), "http": str(http_port)}
        with open(os.path.join(self.folder, "server.log"), "ab") as log:
            self.process = subprocess.Popen([part.format(**places) for part in self.command], stdout=log, stderr=log)
        self.address = f"127.0.0.1:{grpc_port}"
        for _ in range(600):
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended with {self.process.returncode} instead of starting; see {self.folder}/server.log")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", grpc_port)) == 0:
                    return
            time.sleep(0.05)
        raise SystemExit("the server does not listen after 30 s")

    def stop(self):
        """Ends the process if it runs, with SIGTERM, and returns its exit code."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(timeout=30)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Writer(threading.Thread):
    """One thread's writes: every state that the store may be in afterwards is known to it."""

    def __init__(self, api, round_number, number, seed):
        super().__init__(daemon=True)
        self.api, self.prefix, self.random = api, f"{round_number:05}-{number}", random.Random(f"{seed}-{round_number}-{number}")
        self.allowed = {}  # key -> set of values that its row may have; None is "no row"
        self.acknowledged = 0
        self.refused = None
        self.stop = threading.Event()

    def run(self):
        at = 0
        counter = 0
        try:
            while not self.stop.is_set():
                at += 1
                what = self.random.randrange(10)
                if what < 5:
                    self.write(f"{self.prefix}-row-{at:06}", at)
                elif what < 7:
                    self.write(f"{self.prefix}-same", at)
                elif what < 8:
                    self.write_many([f"{self.prefix}-many-{at:06}-{i:02}" for i in range(20)], at)
                elif what < 9:
                    counter += 1
                    self.increment(f"{self.prefix}-counter", counter)
                else:
                    written = [key for key, values in self.allowed.items() if "-row-" in key and None not in values]
                    if written:
                        self.delete(self.random.choice(written))
        except grpc.RpcError as error:
            if error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
                self.refused = f"{error.code().name}: {error.details()}"

    def mutations(self, value):
        size = 2000 if value % 50 == 0 else 20
        text = f"{value:08}".encode() + b"." * size
        clear = raw.message("Mutation")()
        clear.delete_from_row.SetInParent()
        return [clear] + [raw.set_cell(family, qualifier, text, 1000) for family in ("a", "b") for qualifier in (b"x", b"y")]

    def before(self, key, value):
        self.allowed.setdefault(key, {None}).add(value)

    def after(self, key, value):
        self.allowed[key] = {value}
        self.acknowledged += 1

    def write(self, key, value):
        self.before(key, value)
        self.api.MutateRow(raw.message("MutateRowRequest")(table_name=TABLE, row_key=key.encode(), mutations=self.mutations(value)))
        self.after(key, value)

    def write_many(self, keys, value):
        request = raw.message("MutateRowsRequest")(table_name=TABLE)
        for key in keys:
            self.before(key, value)
            request.entries.add(row_key=key.encode(), mutations=self.mutations(value))
        for response in self.api.MutateRows(request):
            for entry in response.entries:
                if entry.status.code:
                    self.refused = f"entry: {entry.status.code} {entry.status.message}"
                else:
                    self.after(keys[entry.index], value)

    def increment(self, key, value):
        self.before(key, value)
        request = raw.message("ReadModifyWriteRowRequest")(table_name=TABLE, row_key=key.encode())
        for family in ("a", "b"):
            request.rules.add(family_name=family, column_qualifier=b"n", increment_amount=1)
        response = self.api.ReadModifyWriteRow(request)
        answer = {int.from_bytes(cell.value, "big") for f in response.row.families for c in f.columns for cell in c.cells}
        if answer != {value}:
            self.refused = f"increment of {key} to {value} answered {answer}"
        self.after(key, value)

    def delete(self, key):
        self.before(key, None)
        clear = raw.message("Mutation")()
        clear.delete_from_row.SetInParent()
        self.api.MutateRow(raw.message("MutateRowRequest")(table_name=TABLE, row_key=key.encode(), mutations=[clear]))
        self.after(key, None)


def value_of(key, cells):
    """The value that a row stands for, or a complaint if it is half there."""
    newest = {}
    for family, qualifier, _, value, _ in cells:
        newest.setdefault((family, qualifier), value)
    qualifiers = (b"n",) if "-counter" in key else (b"x", b"y")
    if set(newest) != {(family, qualifier) for family in ("a", "b") for qualifier in qualifiers}:
        return f"half there: {sorted(newest)}"
    if len(set(newest.values())) != 1:
        return f"half there: {newest}"
    value = newest["a", qualifiers[0]]
    return int.from_bytes(value, "big") if "-counter" in key else int(value[:8])


def verify(api, allowed, prefix):
    """What is wrong with the rows under `prefix`."""
    request = raw.message("ReadRowsRequest")(table_name=TABLE)
    if prefix:
        request.rows.row_ranges.add(start_key_closed=prefix.encode(), end_key_open=(prefix + "~").encode())
    found = {key.decode(): value_of(key.decode(), cells) for key, cells in api.read(request, timeout=300)}
    complaints = []
    for key, values in allowed.items():
        if key.startswith(prefix) and found.get(key) not in values:
            complaints.append(f"{key} is {found.get(key)!r}, but only {sorted(values, key=str)} are possible")
    complaints += [f"{key} was never written" for key in found if key not in allowed]
    # What was in flight is decided now, and must not change any more.
    for key, values in allowed.items():
        if key.startswith(prefix) and len(values) > 1:
            allowed[key] = {found.get(key)}
    return complaints


def play(server, rounds, seed, kills):
    """The rounds; returns how many failed, and the number of acknowledged writes."""
    chance = random.Random(seed)
    allowed, acknowledged, failed = {}, 0, 0
    server.start()
    api = raw.Api(server.address)
    api.wait()
    raw.create_table(api, TABLE, ["a", "b"])
    for number in range(rounds):
        writers = [Writer(api, number, thread, seed) for thread in range(THREADS)]
        for writer in writers:
            writer.start()
        time.sleep(chance.uniform(0.02, WRITE_S_MAX))
        if kills:
            server.kill()
        for writer in writers:
            writer.stop.set()
        for writer in writers:
            writer.join()
            allowed |= writer.allowed
            acknowledged += writer.acknowledged
        complaints = [writer.refused for writer in writers if writer.refused]
        if kills:
            api.close()
            server.start()
            api = raw.Api(server.address)
            api.wait()
        everything = number % 20 == 19 or number == rounds - 1
        try:
            complaints += verify(api, allowed, "" if everything else f"{number:05}-")
        except (grpc.RpcError, raw.Protocol) as error:
            complaints.append(f"the rows cannot be read: {error}")
        if complaints:
            failed += 1
            print(f"round {number} of seed {seed}: {len(complaints)} complaints")
            for complaint in complaints[:5]:
                print(f"  {complaint}")
    api.close()
    return failed, acknowledged


def main():
    rounds, seed, folder, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    kills = "{store}" in " ".join(command)
    server = Server(command, folder)
    try:
        failed, acknowledged = play(server, rounds, seed, kills)
    finally:
        code = server.stop()
    if kills and code != 0:
        print(f"the server ended with {code} on SIGTERM")
        failed += 1
    print(f"{acknowledged} writes acknowledged over {rounds} rounds, seed {seed}")
    print(f"kill: {rounds - min(failed, rounds)} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
