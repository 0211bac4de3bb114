# Shared by the scripts of conformance/: a server to test, a cache of what is downloaded, and an end that leaves nothing behind.
#
# A script begins with `set -euo pipefail` and `. "$(dirname "$0")/lib.sh"`, then calls `server_start`. Environment:
#   BIGTABLE_EMULATOR_HOST      a server that runs already; nothing is started or stopped then
#   ROWKEY                      a binary to use instead of building one
#   ROWKEY_CONFORMANCE_SERVER   `rowkey` (default) or `emulator`: what server_start starts
#   ROWKEY_CONFORMANCE_CACHE    where downloads are kept; default: a folder under the temporary folder
# Exit codes: 0 nothing unexpected, 1 something unexpected, 77 cannot run here (the last line says why).

# shellcheck shell=bash
conformance=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$conformance")
cache=${ROWKEY_CONFORMANCE_CACHE:-${TMPDIR:-/tmp}/rowkey-conformance}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
work=$(mktemp -d)
server_kind=${ROWKEY_CONFORMANCE_SERVER:-rowkey}
server_pid=""
server_store="$work/data"
given=${BIGTABLE_EMULATOR_HOST:-}

skip() { echo "$*"; exit 77; }

have() { command -v "$1" >/dev/null 2>&1; }

# Runs a command silently; its last lines are shown if it fails.
quiet() {
    local log
    log=$(mktemp "$work/quiet.XXXXXX")
    "$@" >"$log" 2>&1 </dev/null || { tail -n 15 "$log"; return 1; }
}

conformance_end() {
    local code=$?
    trap - EXIT
    server_stop || { [ "$code" = 0 ] && code=1; }
    rm -rf "$work"
    exit "$code"
}
trap conformance_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Two free ports, one a line; free for as long as nobody else takes them.
free_ports() {
    python3 -c '
import socket
held = [socket.socket() for _ in range(2)]
for s in held:
    s.bind(("127.0.0.1", 0))
for s in held:
    print(s.getsockname()[1])'
}

emulator_binary() {
    local at
    for at in "$(command -v cbtemulator || true)" /usr/lib/google-cloud-sdk/platform/bigtable-emulator/cbtemulator; do
        if [ -n "$at" ] && [ -x "$at" ]; then echo "$at"; return; fi
    done
    return 1
}

rowkey_binary() {
    if [ -n "${ROWKEY:-}" ]; then
        echo "$ROWKEY"
    else
        (cd "$root" && cargo build --release --locked -q -p rowkey-cli) && echo "$root/target/release/rowkey"
    fi
}

# Waits until somebody listens on the port, at most 30 s, and the server's process lives.
wait_for_port() {
    local at
    for at in $(seq 300); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
        kill -0 "$server_pid" 2>/dev/null || break
        sleep 0.1
    done
    echo "the server does not listen after $at tries; it said:"
    tail -n 20 "$work/server.log"
    return 1
}

# Starts the server on free ports over $server_store, and exports BIGTABLE_EMULATOR_HOST and ROWKEY_HTTP.
server_start() {
    if [ -n "$given" ]; then return; fi
    have python3 || skip "python3 is not installed"
    local ports grpc http
    ports=$(free_ports)
    grpc=$(echo "$ports" | sed -n 1p)
    http=$(echo "$ports" | sed -n 2p)
    case $server_kind in
    emulator)
        local emulator
        emulator=$(emulator_binary) || skip "the emulator is not installed"
        "$emulator" -host 127.0.0.1 -port "$grpc" >>"$work/server.log" 2>&1 &
        ;;
    rowkey)
        [ -n "${rowkey:-}" ] || rowkey=$(rowkey_binary)
        "$rowkey" --store "$server_store" serve --address "127.0.0.1:$grpc" --http "127.0.0.1:$http" "$@" >>"$work/server.log" 2>&1 &
        ;;
    *)
        echo "ROWKEY_CONFORMANCE_SERVER is rowkey or emulator, not $server_kind"
        exit 1
        ;;
    esac
    server_pid=$!
    wait_for_port "$grpc"
    export BIGTABLE_EMULATOR_HOST="127.0.0.1:$grpc" ROWKEY_HTTP="127.0.0.1:$http"
}

# Ends the server with SIGTERM, on which it has to exit with 0 within 30 s.
server_stop() {
    [ -n "$server_pid" ] || return 0
    local pid=$server_pid code=0 at
    server_pid=""
    kill -TERM "$pid" 2>/dev/null || true
    for at in $(seq 300); do
        kill -0 "$pid" 2>/dev/null || break
        [ "$at" -lt 300 ] || { echo "the server does not end on SIGTERM"; kill -KILL "$pid"; }
        sleep 0.1
    done
    wait "$pid" || code=$?
    if [ "$server_kind" = rowkey ] && [ "$code" != 0 ]; then
        echo "the server ended with $code, not 0; its last lines:"
        tail -n 20 "$work/server.log"
        return 1
    fi
}

# A Python with the stock client and pytest, as $python; made once and kept in the cache.
python_venv() {
    have python3 || skip "python3 is not installed"
    local venv="$cache/python-2.50.2-reruns"
    python="$venv/bin/python"
    export PYTHONDONTWRITEBYTECODE=1
    [ -e "$venv/complete" ] && return
    rm -rf "$venv"
    quiet python3 -m venv "$venv" || skip "python3 cannot make a virtual environment"
    quiet "$python" -m pip install --disable-pip-version-check google-cloud-bigtable==2.50.2 'pytest<9' pytest-asyncio==0.21.2 mock \
        google-cloud-testutils pyyaml black libcst 'pytest-rerunfailures<16' || skip "the Python packages of the stock client cannot be had"
    touch "$venv/complete"
}
