//! `rowkey serve` as a process: where it listens, what it refuses, how it stops.

#![expect(clippy::unwrap_used, reason = "a test that cannot run its commands has failed")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn rowkey(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowkey"));
    command.args(arguments).current_dir(folder).env_remove("ROWKEY_STORE").stdin(Stdio::null());
    command
}

fn refused(folder: &Path, arguments: &[&str], code: i32, words: &str) {
    let Output { status, stderr, .. } = rowkey(folder, arguments).output().unwrap();
    let stderr = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(words), "{stderr}");
}

/// A server, and the lines with which it says where it listens. Killed when it is dropped.
struct Serving {
    process: Child,
    lines: Vec<String>,
}

impl Serving {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::of(rowkey(folder, arguments))
    }

    fn of(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        let lines = stdout.lines().map(Result::unwrap).take(3).collect();
        Self { process, lines }
    }

    /// Asks the page's address for a path.
    fn get(&self, path: &str) -> String {
        let address = self.lines[1].split("http://").nth(1).unwrap().trim_end_matches('/');
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends SIGTERM and waits: the exit code, and what it wrote to stderr.
    fn stop(mut self) -> (Option<i32>, String) {
        let sent = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let mut stderr = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.process.wait().unwrap().code(), stderr)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_server_says_where_it_listens_refuses_a_second_one_and_stops_with_0() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::start(folder.path(), &["serve", "--port", "0", "--http", "127.0.0.1:0"]);
    assert!(server.lines[0].ends_with("over the embedded store at ./data"), "{:?}", server.lines);
    let address = server.lines[2].split("BIGTABLE_EMULATOR_HOST=").nth(1).unwrap().to_owned();
    assert!(server.get("/healthz").starts_with("HTTP/1.1 200 OK"));
    refused(folder.path(), &["serve", "--port", "0"], 4, "the store at ./data is in use");
    refused(folder.path(), &["serve", "--ephemeral", "--address", &address], 4, "cannot listen on");
    let (code, stderr) = server.stop();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stderr.contains("warning"), "{stderr}");
    let again = Serving::start(folder.path(), &["serve", "--port", "0", "--http", "127.0.0.1:0"]);
    assert_eq!(again.stop().0, Some(0));
}

#[test]
fn it_takes_the_emulators_place() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::start(folder.path(), &["-host", "[127.0.0.1]", "-port", "0"]);
    assert!(server.lines[0].starts_with("Bigtable API    127.0.0.1:"), "{:?}", server.lines);
    assert_eq!(server.stop().0, Some(0));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn an_emulator_is_empty_whatever_store_the_environment_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = rowkey(folder.path(), &["-port", "0"]);
    command.env("ROWKEY_STORE", folder.path().join("mine"));
    let server = Serving::of(command);
    assert_eq!(server.stop().0, Some(0));
    assert!(!folder.path().join("mine").exists());
    let given = Serving::start(folder.path(), &["-port", "0", "--store", "given"]);
    assert!(given.lines[0].ends_with("over the embedded store at given"), "{:?}", given.lines);
    assert_eq!(given.stop().0, Some(0));
    refused(folder.path(), &["--store", "x", "serve", "--ephemeral"], 2, "leave --store out");
}

#[test]
fn whoever_listens_for_others_is_warned() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::start(folder.path(), &["serve", "--ephemeral", "--address", "0.0.0.0:0"]);
    let (code, stderr) = server.stop();
    assert_eq!(code, Some(0));
    assert!(stderr.contains("no authentication"), "{stderr}");
}

#[test]
fn wrong_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    refused(folder.path(), &["serve", "--address", "example.org:1"], 2, "is no address");
    refused(folder.path(), &["serve", "--http", "x"], 2, "--http x");
    refused(folder.path(), &["serve", "--nodes", "0"], 2, "--nodes");
    refused(folder.path(), &["serve", "--message-bytes-max", "9"], 2, "1024");
    refused(folder.path(), &["serve", "--schema", "none.toml"], 3, "none.toml");
    assert!(!folder.path().join("data").exists(), "nothing was made");
}
