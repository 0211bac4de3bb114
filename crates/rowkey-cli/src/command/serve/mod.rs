//! `rowkey serve`: the Bigtable API over a store, and the Key Visualizer page.

pub(crate) mod launcher;
mod log;

use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::json;
use crate::output::Format;
use crate::schema_file;
use crate::session::Session;
use crate::store::{self, Access};
use anyhow::Result;
use rowkey_server::{Options, Server};
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Where gRPC and HTTP listen unless told otherwise: 8086 is what emulators of Bigtable use.
const GRPC_PORT: u16 = 8086;
const HTTP_PORT: u16 = 8087;
/// How often it is looked whether to stop.
const POLL: Duration = Duration::from_millis(50);

/// Arguments of `rowkey serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey serve
  rowkey --store ./prod-like serve --nodes 50 --schema telemetry.toml
  rowkey serve --ephemeral --port 0

Then, in another terminal: export BIGTABLE_EMULATOR_HOST=127.0.0.1:8086. Any project and instance can be used at once. Tables made by \
`rowkey table create` are served, too. Ctrl-C or SIGTERM lets requests in flight end and puts everything on disk.

Launchers of Google's emulator may start this binary in its place, as in `rowkey -host [127.0.0.1] -port 8086`: that is `serve --ephemeral`, \
with the page on any free port.")]
pub(crate) struct ServeArgs {
    /// Where gRPC listens; port 0 is any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8086", value_parser = parse_address)]
    address: SocketAddr,
    /// Only the host of --address
    #[arg(long, value_name = "HOST", value_parser = parse_host)]
    host: Option<IpAddr>,
    /// Only the port of --address
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Where the page, its JSON and the metrics listen, or `off`
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,
    /// Virtual nodes, on which the page shows the load as a cluster would see it
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    nodes: u32,
    /// A key schema, for the page to show fields instead of bytes; can be given several times
    #[arg(long = "schema", value_name = "FILE")]
    schemas: Vec<PathBuf>,
    /// Keep the store in a temporary folder that is deleted at the end
    #[arg(long)]
    ephemeral: bool,
    /// Refuse instances that nobody created
    #[arg(long)]
    strict_instances: bool,
    /// About how large a message of a read may be; clients take 4 MiB unless they are told otherwise
    #[arg(long, value_name = "BYTES", default_value_t = 3_500_000, value_parser = parse_message_bytes)]
    message_bytes_max: usize,
    /// The log on stderr: text or json
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    log_format: log::LogFormat,
    /// What is logged: error, warn, info, or debug (every request that failed)
    #[arg(long, value_name = "LEVEL", default_value = "warn", hide_possible_values = true)]
    log_level: log::LogLevel,
    /// Take the emulator's place: set by its command line
    #[arg(long, hide = true)]
    emulate: bool,
}

/// Runs it.
pub(crate) fn run(args: &ServeArgs, session: &mut Session) -> Result<Exit> {
    let options = options(args, session)?;
    let given = launcher::names_a_store(std::env::args_os());
    if args.ephemeral && given {
        return Err(Failure::usage(
            "--ephemeral keeps the store in a temporary folder; leave --store out, or it",
        ));
    }
    // Whoever starts an emulator wants it empty, whatever store the environment names for other commands.
    let temporary = args.ephemeral || args.emulate && !given;
    let folder = temporary.then(temporary_folder).transpose()?;
    let engine = match &folder {
        Some(folder) => store::open_folder(&folder.path().join("store"), session, Access::Create)?,
        None => store::open(session, Access::Create)?,
    };
    log::start(args.log_format, args.log_level, session.colours_stderr());
    let interrupt = Interrupt::watch()?;
    let server = Server::start(Arc::clone(&engine) as _, options)?;
    for address in [Some(server.grpc_address()), server.http_address()].into_iter().flatten() {
        if !address.ip().is_loopback() {
            session.warn(&format!(
                "listening on {address}, which other machines can reach: there is no encryption and no authentication; whoever \
                 reaches it can read, change and drop every table"
            ));
        }
    }
    announce(&server, &rowkey_store::Engine::description(&*engine), session)?;
    while !interrupt.is_set() {
        thread::sleep(POLL);
    }
    session.note("stopping: requests in flight end, then everything is put on disk");
    server.stop()?;
    engine.close();
    Ok(Exit::Done)
}

fn options(args: &ServeArgs, session: &Session) -> Result<Options> {
    let mut grpc_address = args.address;
    if let Some(host) = args.host {
        grpc_address.set_ip(host);
    }
    if let Some(port) = args.port {
        grpc_address.set_port(port);
    }
    let http_address = match args.http.as_deref() {
        Some("off") => None,
        Some(text) => {
            Some(parse_address(text).map_err(|why| Failure::usage(format!("--http {text}: {why}")))?)
        }
        // Several emulators run side by side, so does what takes their place.
        None if args.emulate || grpc_address.port() == 0 => Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
        None => Some(SocketAddr::from((Ipv4Addr::LOCALHOST, HTTP_PORT))),
    };
    let schemas = args.schemas.iter().map(|path| schema_file::load(path)).collect::<Result<_>>()?;
    Ok(Options {
        grpc_address,
        http_address,
        nodes: args.nodes,
        schemas,
        strict_instances: args.strict_instances,
        message_bytes_max: args.message_bytes_max,
        clock: Arc::clone(&session.clock),
        ..Options::default()
    })
}

/// Says where it listens, at once: whoever started it waits for these lines.
fn announce(server: &Server, store: &str, session: &mut Session) -> Result<()> {
    let (grpc, http) = (server.grpc_address(), server.http_address());
    if session.format == Format::Json {
        let mut line = json::Object::line("serving").text("grpc", &grpc.to_string()).text("store", store);
        if let Some(http) = http {
            line = line.text("page", &format!("http://{http}/"));
        }
        writeln!(session.out, "{}", line.end())?;
    } else {
        writeln!(session.out, "Bigtable API    {grpc}, over {store}")?;
        if let Some(http) = http {
            writeln!(session.out, "Key Visualizer  http://{http}/")?;
        }
        writeln!(session.out, "For clients     export BIGTABLE_EMULATOR_HOST={grpc}")?;
    }
    session.out.flush_all()
}

fn temporary_folder() -> Result<TempDir> {
    tempfile::Builder::new()
        .prefix("rowkey-")
        .tempdir()
        .map_err(|error| Failure::unavailable(format!("a temporary folder cannot be made: {error}")))
}

/// `127.0.0.1:8086`, `[::1]:8086`, `localhost:8086`, or only a host.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    if let Ok(host) = parse_host(text) {
        return Ok(SocketAddr::new(host, GRPC_PORT));
    }
    let wrong = || format!("`{text}` is no address; write HOST:PORT, as in 127.0.0.1:8086 or [::1]:8086");
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let (host, port) = (parse_host(host).map_err(|_| wrong())?, port.parse().map_err(|_| wrong())?);
    Ok(SocketAddr::new(host, port))
}

/// An IP address, in brackets or not, or `localhost`.
fn parse_host(text: &str) -> Result<IpAddr, String> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    if bare == "localhost" {
        return Ok(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    bare.parse()
        .map_err(|_| format!("`{text}` is no IP address; write one, as in 127.0.0.1 or ::1, or localhost"))
}

/// Messages of a read: large enough for a cell's head, and within what gRPC sends.
fn parse_message_bytes(text: &str) -> Result<usize, String> {
    let bytes = text.parse().map_err(|_| format!("`{text}` is no number of bytes"))?;
    if (1024..=256 << 20).contains(&bytes) {
        return Ok(bytes);
    }
    Err(format!("{bytes} bytes; it can be 1024 to 268435456 (256 MiB)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let check =
            |text: &str, expected: &str| assert_eq!(parse_address(text).unwrap(), expected.parse().unwrap());
        check("127.0.0.1:9", "127.0.0.1:9");
        check("localhost:9", "127.0.0.1:9");
        check("[127.0.0.1]:9", "127.0.0.1:9");
        check("[::1]:9", "[::1]:9");
        check("[::1]", "[::1]:8086");
        check("0.0.0.0", "0.0.0.0:8086");
        for wrong in ["", "x", ":9", "127.0.0.1:", "127.0.0.1:70000", "example.org:9"] {
            assert!(parse_address(wrong).unwrap_err().contains("no address"), "{wrong}");
        }
    }
}
