"""The Bigtable API with nothing between: messages of the stock client's package, calls on a plain channel, and a merger of chunks of our own.

The merger is strict: what a server sends has to be what every client understands.
"""

import base64

import grpc
from google.cloud import bigtable_admin_v2, bigtable_v2
from google.longrunning import operations_pb2
from google.protobuf import empty_pb2

DATA = bigtable_v2.types
ADMIN = bigtable_admin_v2.types
MESSAGE_BYTES_MAX = 256 << 20  # the most that the API sends as one row

_UNARY = {
    "google.bigtable.v2.Bigtable": (DATA, "MutateRow CheckAndMutateRow ReadModifyWriteRow PingAndWarm"),
    "google.bigtable.admin.v2.BigtableTableAdmin": (
        ADMIN,
        "CreateTable ListTables GetTable UpdateTable DeleteTable ModifyColumnFamilies DropRowRange GenerateConsistencyToken CheckConsistency",
    ),
    "google.bigtable.admin.v2.BigtableInstanceAdmin": (ADMIN, "CreateInstance GetInstance ListInstances DeleteInstance ListHotTablets"),
}
_RESPONSES = {
    "CreateTable": "Table", "GetTable": "Table", "ModifyColumnFamilies": "Table", "GetInstance": "Instance",
    "CreateInstance": operations_pb2.Operation, "UpdateTable": operations_pb2.Operation,
    "DeleteTable": empty_pb2.Empty, "DropRowRange": empty_pb2.Empty, "DeleteInstance": empty_pb2.Empty,
}
_STREAMS = "ReadRows SampleRowKeys MutateRows"


KEYLESS = "a row has to begin with key, family and qualifier"


class Protocol(Exception):
    """The server broke the rules of the row stream."""


def message(name, package=DATA):
    """The plain protobuf class of a message of the package."""
    return getattr(package, name).pb()


class Api:
    """Every call of `address` as a method that takes and returns plain protobuf messages."""

    def __init__(self, address, options=()):
        limits = [("grpc.max_receive_message_length", MESSAGE_BYTES_MAX), ("grpc.max_send_message_length", MESSAGE_BYTES_MAX)]
        # A channel of its own: channels with equal options share one connection.
        alone = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]
        self.channel = grpc.insecure_channel(address, options=[*limits, *alone, *options])
        for service, (package, names) in _UNARY.items():
            for name in names.split():
                response = _RESPONSES.get(name, f"{name}Response")
                response = message(response, package) if isinstance(response, str) else response
                setattr(self, name, self._call(self.channel.unary_unary, service, name, message(f"{name}Request", package), response))
        for name in _STREAMS.split():
            call = self._call(
                self.channel.unary_stream, "google.bigtable.v2.Bigtable", name, message(f"{name}Request"), message(f"{name}Response")
            )
            setattr(self, name, call)

    @staticmethod
    def _call(kind, service, name, request, response):
        call = kind(f"/{service}/{name}", request_serializer=request.SerializeToString, response_deserializer=response.FromString)
        # Servers may refuse a reversed scan to a client that does not say that it knows them.
        features = message("FeatureFlags")(reverse_scans=True, mutate_rows_rate_limit=True, last_scanned_row_responses=True)
        metadata = [("bigtable-features", base64.urlsafe_b64encode(features.SerializeToString()).decode())]
        return lambda asked, timeout=None: call(asked, timeout=timeout, metadata=metadata)

    def wait(self, seconds=30):
        """Waits until the server answers."""
        grpc.channel_ready_future(self.channel).result(timeout=seconds)

    def close(self):
        self.channel.close()

    def read(self, request, timeout=60):
        """The rows of a ReadRows request: a list of (key, [(family, qualifier, timestamp, value, labels)])."""
        return merge(self.ReadRows(request, timeout=timeout), request.reversed)


def merge(responses, reverse=False, whole_rows=True):
    """Merges chunks into rows. With `whole_rows`, a message may end within a row only if the row has more than 3 MiB."""
    rows, key, last_key = [], None, None
    cells, family, qualifier, value, timestamp, labels, want, size = [], None, None, b"", 0, [], 0, 0
    in_cell = False
    for response in responses:
        for chunk in response.chunks:
            size += len(chunk.value)
            if chunk.reset_row:
                if key is None:
                    raise Protocol("reset_row between rows")
                key, cells, family, qualifier, in_cell, size = None, [], None, None, False, 0
                continue
            if key is None:
                if not chunk.row_key or not chunk.HasField("family_name") or not chunk.HasField("qualifier"):
                    raise Protocol(KEYLESS)
                if last_key is not None and (chunk.row_key >= last_key if reverse else chunk.row_key <= last_key):
                    raise Protocol(f"row {chunk.row_key!r} comes after {last_key!r}")
                key, cells = chunk.row_key, []
            elif chunk.row_key not in (b"", key):
                raise Protocol(f"row {chunk.row_key!r} begins before {key!r} was committed")
            if in_cell:
                if chunk.HasField("family_name") or chunk.HasField("qualifier") or chunk.timestamp_micros or chunk.labels:
                    raise Protocol("a chunk within a cell has more than a value")
                value += chunk.value
            else:
                if chunk.HasField("family_name"):
                    if not chunk.HasField("qualifier"):
                        raise Protocol("a family without a qualifier")
                    family = chunk.family_name.value
                if chunk.HasField("qualifier"):
                    qualifier = chunk.qualifier.value
                value, timestamp, labels, want = chunk.value, chunk.timestamp_micros, list(chunk.labels), chunk.value_size
            if chunk.value_size > 0:
                if chunk.commit_row:
                    raise Protocol("commit_row within a cell")
                in_cell = True
                continue
            if in_cell and want and len(value) != want:
                raise Protocol(f"a cell of {len(value)} bytes was announced with {want}")
            in_cell = False
            cells.append((family, qualifier, timestamp, value, labels))
            if chunk.commit_row:
                rows.append((key, cells))
                last_key, key, cells, family, qualifier, size = key, None, [], None, None, 0
        if whole_rows and key is not None and size < 3 << 20:
            raise Protocol(f"a message ends within row {key!r} of {size} bytes")
    if key is not None:
        raise Protocol(f"the stream ends within row {key!r}")
    return rows


def set_cell(family, qualifier, value, timestamp):
    """A mutation that sets one cell."""
    mutation = message("Mutation")()
    mutation.set_cell.family_name = family
    mutation.set_cell.column_qualifier = qualifier
    mutation.set_cell.timestamp_micros = timestamp
    mutation.set_cell.value = value
    return mutation


def create_table(api, name, families, rule=None, splits=()):
    """Creates a table `projects/P/instances/I/tables/T` with families that all have the garbage-collection rule `rule`."""
    parent, table = name.split("/tables/")
    request = message("CreateTableRequest", ADMIN)(parent=parent, table_id=table)
    for family in families:
        made = request.table.column_families[family]
        if rule is not None:
            made.gc_rule.CopyFrom(rule)
    for key in splits:
        request.initial_splits.add(key=key)
    return api.CreateTable(request)
