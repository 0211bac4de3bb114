//! The two servers as processes, each on a free port, ended when it is dropped.

use crate::Result;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server that runs.
pub struct Server {
    process: Child,
    address: SocketAddr,
    /// Deleted after the process has ended.
    _folder: TempDir,
}

impl Server {
    /// Ours, over an embedded store in a temporary folder.
    pub fn rowkey() -> Result<Self> {
        let binary = std::env::var_os("ROWKEY")
            .map_or_else(|| PathBuf::from("../target/release/rowkey"), PathBuf::from);
        let folder = TempDir::new()?;
        let store = folder.path().join("data");
        Self::start(folder, |address| {
            let mut command = Command::new(&binary);
            command.arg("--store").arg(&store).args([
                "serve",
                "--http",
                "127.0.0.1:0",
                "--address",
                &address.to_string(),
            ]);
            command
        })
    }

    /// Google's.
    pub fn emulator(binary: &Path) -> Result<Self> {
        Self::start(TempDir::new()?, |address| {
            let mut command = Command::new(binary);
            command.args(["-host", "127.0.0.1", "-port", &address.port().to_string()]);
            command
        })
    }

    fn start(folder: TempDir, command: impl FnOnce(SocketAddr) -> Command) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let process = command(address).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let server = Self { process, address, _folder: folder };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            if begun.elapsed() > Duration::from_secs(20) {
                return Err("the server does not listen after 20 s".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Resident memory.
    pub fn resident_mb(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
    }
}

/// Seconds of the processor that a process has taken, in steps of 10 ms (`/proc/PID/stat`, fields 14 and 15).
pub fn cpu_s(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Where Google's emulator is, if it is here.
pub fn emulator() -> Option<PathBuf> {
    let named = std::env::var_os("CBTEMULATOR").map(PathBuf::from);
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&paths).map(|folder| folder.join("cbtemulator"));
    let packaged = PathBuf::from("/usr/lib/google-cloud-sdk/platform/bigtable-emulator/cbtemulator");
    named.into_iter().chain(on_path).chain([packaged]).find(|path| path.is_file())
}
