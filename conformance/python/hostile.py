"""Clients that do what no client should, while another one works: nothing that they do may reach it, nor make the server's memory grow.

PARTS in the environment names the only steps to take.
Arguments: seed, number of dropped scans, number of idle connections, process of the server (0 if not known).
"""

import os
import random
import resource
import socket
import struct
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
import raw

TABLE = "projects/p/instances/hostile-test/tables/t"
ROWS = 20_000
VALUE = bytes(range(250)) * 2
# More than a server has to hold while it refuses or waits, far less than what these clients ask it to.
RESIDENT_MIB_MAX = 800
METHODS = {
    "google.bigtable.v2.Bigtable": "ReadRows SampleRowKeys MutateRow MutateRows CheckAndMutateRow PingAndWarm ReadModifyWriteRow "
    "GenerateInitialChangeStreamPartitions ReadChangeStream PrepareQuery ExecuteQuery GetClientConfiguration OpenTable OpenAuthorizedView "
    "OpenMaterializedView",
    "google.bigtable.admin.v2.BigtableTableAdmin": "CreateTable CreateTableFromSnapshot ListTables GetTable UpdateTable DeleteTable UndeleteTable "
    "CreateAuthorizedView ListAuthorizedViews GetAuthorizedView UpdateAuthorizedView DeleteAuthorizedView ModifyColumnFamilies DropRowRange "
    "GenerateConsistencyToken CheckConsistency SnapshotTable GetSnapshot ListSnapshots DeleteSnapshot CreateBackup GetBackup UpdateBackup "
    "DeleteBackup ListBackups RestoreTable CopyBackup GetIamPolicy SetIamPolicy TestIamPermissions CreateSchemaBundle UpdateSchemaBundle "
    "GetSchemaBundle ListSchemaBundles DeleteSchemaBundle",
    "google.bigtable.admin.v2.BigtableInstanceAdmin": "CreateInstance GetInstance ListInstances UpdateInstance PartialUpdateInstance DeleteInstance "
    "CreateCluster GetCluster ListClusters UpdateCluster PartialUpdateCluster DeleteCluster CreateAppProfile GetAppProfile ListAppProfiles "
    "UpdateAppProfile DeleteAppProfile GetIamPolicy SetIamPolicy TestIamPermissions ListHotTablets CreateLogicalView GetLogicalView "
    "ListLogicalViews UpdateLogicalView DeleteLogicalView CreateMaterializedView GetMaterializedView ListMaterializedViews "
    "UpdateMaterializedView DeleteMaterializedView",
    "google.longrunning.Operations": "GetOperation ListOperations DeleteOperation CancelOperation WaitOperation",
    "no.such.Service": "NoSuchMethod",
}


class Resident(threading.Thread):
    """Watches the resident memory of the server, in MiB."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.peak = process, 0
        self.start()

    def now(self):
        if not self.process:
            return 0
        try:
            with open(f"/proc/{self.process}/status", encoding="ascii") as lines:
                return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS")), 0)
        except OSError:
            return 0  # The server is gone: the steps will say so.

    def run(self):
        while self.process:
            self.peak = max(self.peak, self.now())
            time.sleep(0.02)


class Neighbour(threading.Thread):
    """The client that has to be left in peace: writes a row, reads it back, again and again."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.api = raw.Api(address)
        self.done, self.slowest, self.errors = 0, 0.0, []
        self.stop = threading.Event()

    def run(self):
        while not self.stop.is_set():
            key, value = b"neighbour", str(self.done).encode()
            begin = time.monotonic()
            try:
                request = raw.message("MutateRowRequest")(table_name=TABLE, row_key=key, mutations=[raw.set_cell("f", b"q", value, 1000)])
                self.api.MutateRow(request, timeout=20)
                query = raw.message("ReadRowsRequest")(table_name=TABLE)
                query.rows.row_keys.append(key)
                rows = self.api.read(query, timeout=20)
                if rows != [(key, [("f", b"q", 1000, value, [])])]:
                    self.errors.append(f"wrote {value!r}, read {rows!r}")
            except (grpc.RpcError, raw.Protocol) as error:
                self.errors.append(str(error)[:300])
                time.sleep(0.1)
            self.slowest = max(self.slowest, time.monotonic() - begin)
            self.done += 1
            time.sleep(0.002)


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def request_head(path):
    """An HTTP/2 connection with one gRPC request whose message is still to come."""
    def field(name, value):
        return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value

    fields = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", path), (b":authority", b"x"), (b"content-type", b"application/grpc"), (b"te", b"trailers")]
    return b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4, 1, b"".join(field(*pair) for pair in fields))


class Hostile:
    def __init__(self, address, seed, scans, idle):
        self.address, self.random, self.scans, self.idle = address, random.Random(seed), scans, idle
        host, port = address.rsplit(":", 1)
        self.place = (host, int(port))
        self.api = raw.Api(address)
        self.held = []

    def connect(self):
        one = socket.create_connection(self.place, timeout=10)
        one.settimeout(5)
        return one

    def fill(self):
        raw.create_table(self.api, TABLE, ["f"])
        for begin in range(0, ROWS, 1000):
            request = raw.message("MutateRowsRequest")(table_name=TABLE)
            for at in range(begin, begin + 1000):
                request.entries.add(row_key=f"row{at:08}".encode(), mutations=[raw.set_cell("f", b"q", VALUE, 1000)])
            for response in self.api.MutateRows(request, timeout=60):
                assert all(entry.status.code == 0 for entry in response.entries)

    def garbage_on_the_port(self):
        """Bytes that are no HTTP/2, or only begin as if they were."""
        begins = [b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", request_head(b"/"), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
        for at in range(600):
            one = self.connect()
            try:
                one.sendall(begins[at % len(begins)] + self.random.randbytes(self.random.choice([0, 1, 9, 100, 5000])))
                if at % 3 == 0:
                    one.recv(1000)
            except OSError:
                pass
            one.close()
        return "600 connections"

    def garbage_messages(self):
        """Every method, with nothing, with bytes that are no message, and with bytes that nearly are one."""
        answers, total = {}, 0
        valid = raw.message("ReadRowsRequest")(table_name=TABLE, rows_limit=3).SerializeToString()
        for service, names in METHODS.items():
            for name in names.split():
                call = self.api.channel.stream_stream(f"/{service}/{name}")
                for body in (b"", self.random.randbytes(30), valid[:-1], b"\x0a\xff\xff\xff\xff\x07", b"\x0b" * 2000, self.random.randbytes(3000)):
                    total += 1
                    try:
                        for _ in zip(range(3), call(iter([body]), timeout=10)):
                            pass
                        code = "OK"
                    except grpc.RpcError as error:
                        code = error.code().name
                    answers[code] = answers.get(code, 0) + 1
        bad = {code: number for code, number in answers.items() if code in ("UNAVAILABLE", "UNKNOWN", "DEADLINE_EXCEEDED", "DATA_LOSS")}
        assert not bad, f"answers that tell clients to try again, or that nothing is known: {bad}"
        return f"{total} requests, answered {answers}"

    def oversized(self):
        """One message above 256 MiB, and many that only announce 4 GiB."""
        request = raw.message("MutateRowRequest")(table_name=TABLE, row_key=b"large", mutations=[raw.set_cell("f", b"q", b"x" * (257 << 20), 1000)])
        api = raw.Api(self.address, [("grpc.max_send_message_length", -1)])
        try:
            api.MutateRow(request, timeout=60)
            raise AssertionError("a message of 257 MiB was taken")
        except grpc.RpcError as error:
            code = error.code().name
        api.close()
        assert code in ("RESOURCE_EXHAUSTED", "INVALID_ARGUMENT", "OUT_OF_RANGE"), code
        for _ in range(50):
            one = self.connect()
            one.sendall(request_head(b"/google.bigtable.v2.Bigtable/MutateRow") + frame(0, 0, 1, b"\x00\xff\xff\xff\xff" + b"x" * 16_000))
            self.held.append(one)
        return f"257 MiB: {code}; 50 announcements of 4 GiB"

    def idle_connections(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = self.idle + 500
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
        for at in range(self.idle):
            one = self.connect()
            if at % 2:
                one.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b""))
            self.held.append(one)
        return f"{self.idle} connections, held to the end"

    def slow_readers(self):
        """Scans of the whole table that nobody reads, each on a connection of its own."""
        apis = [raw.Api(self.address) for _ in range(40)]
        calls = [api.ReadRows(raw.message("ReadRowsRequest")(table_name=TABLE), timeout=60) for api in apis]
        for call in calls:
            next(call)
        time.sleep(2)
        for call in calls:
            call.cancel()
        for api in apis:
            api.close()
        return "40 scans that are not read for 2 s"

    def dropped_scans(self):
        def some(count):
            api = raw.Api(self.address)
            for _ in range(count):
                call = api.ReadRows(raw.message("ReadRowsRequest")(table_name=TABLE), timeout=60)
                next(call)
                call.cancel()
            api.close()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(some, [self.scans // 4] * 4))
        return f"{self.scans // 4 * 4} scans left after their first message"


def main():
    seed, scans, idle, process = (int(argument) for argument in sys.argv[1:])
    address = os.environ["BIGTABLE_EMULATOR_HOST"]
    hostile = Hostile(address, seed, scans, idle)
    hostile.api.wait()
    hostile.fill()
    resident = Resident(process)
    before = resident.now()
    neighbour = Neighbour(address)
    neighbour.start()
    passed = failed = 0

    def judge(what, complaint, detail):
        nonlocal passed, failed
        if complaint:
            failed += 1
            print(f"FAILED {what}: {complaint}")
        else:
            passed += 1
            print(f"ok {what}: {detail}", flush=True)

    steps = [hostile.idle_connections, hostile.garbage_on_the_port, hostile.garbage_messages, hostile.oversized, hostile.slow_readers, hostile.dropped_scans]
    only = os.environ.get("PARTS")
    for step in steps:
        if only and step.__name__ not in only.split(","):
            continue
        complaint, detail, begin = None, "", time.monotonic()
        try:
            detail = step()
        except (AssertionError, OSError, grpc.RpcError) as error:
            complaint = f"{type(error).__name__}: {error}"[:600]
        judge(step.__name__.replace("_", " "), complaint, f"{detail}; {time.monotonic() - begin:.1f} s, {resident.now()} MiB")
    neighbour.stop.set()
    neighbour.join(timeout=30)
    errors = neighbour.errors
    judge("the neighbour", f"{len(errors)} errors, first: {errors[0]}" if errors else None, f"{neighbour.done} writes and reads, slowest {neighbour.slowest * 1000:.0f} ms")
    for one in hostile.held:
        one.close()
    time.sleep(1)
    memory = f"{before} MiB before, {resident.peak} MiB at most, {resident.now()} MiB after"
    judge("memory", f"over {RESIDENT_MIB_MAX} MiB: {memory}" if resident.peak > RESIDENT_MIB_MAX else None, memory)
    rows = hostile.api.read(raw.message("ReadRowsRequest")(table_name=TABLE), timeout=120)
    judge("everything is still there", None if len(rows) >= ROWS else f"{len(rows)} rows", f"{len(rows)} rows")
    print(f"seed {seed}")
    print(f"hostile: {passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
