//! Launchers of Google's emulator run `BINARY -host [127.0.0.1] -port 8086`: no command, one dash, brackets. Such a command line is
//! rewritten to one of ours, so that the binary can take the emulator's place.

use std::ffi::OsString;

/// The emulator's options, and ours.
const OPTIONS: [(&str, &str); 3] = [("host", "--host"), ("port", "--port"), ("address", "--address")];

/// The command line to parse. Without a command, an emulator is meant: it starts empty, and leaves nothing behind.
pub(crate) fn rewritten(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let launched = args.get(1).and_then(option).is_some();
    if launched {
        args.splice(1..1, ["serve", "--emulate"].map(OsString::from));
    }
    if args.iter().any(|arg| arg == "serve") {
        for arg in args.iter_mut().skip(1) {
            if let Some(ours) = option(arg) {
                *arg = ours;
            }
        }
    }
    args
}

/// Whether a command line says itself where the store is.
pub(crate) fn names_a_store(args: impl IntoIterator<Item = OsString>) -> bool {
    args.into_iter()
        .filter_map(|arg| arg.into_string().ok())
        .any(|arg| arg == "--store" || arg.starts_with("--store="))
}

/// An option with a single dash, as ours: `-port`, `-port=8086`.
fn option(arg: &OsString) -> Option<OsString> {
    let text = arg.to_str()?.strip_prefix('-').filter(|text| !text.starts_with('-'))?;
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let (_, ours) = OPTIONS.iter().find(|(theirs, _)| *theirs == name)?;
    Some(value.map_or_else(|| (*ours).to_owned(), |value| format!("{ours}={value}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(args: &str, expected: &str) {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(rewritten(words(args)), words(expected));
    }

    #[test]
    fn the_emulators_command_line_becomes_ours() {
        check("rowkey -host [127.0.0.1] -port 9", "rowkey serve --emulate --host [127.0.0.1] --port 9");
        check("rowkey -port=9", "rowkey serve --emulate --port=9");
        check("rowkey serve -port 9 --nodes 3", "rowkey serve --port 9 --nodes 3");
        check("rowkey serve -address 127.0.0.1:9", "rowkey serve --address 127.0.0.1:9");
    }

    #[test]
    fn other_command_lines_stay_as_they_are() {
        for args in
            ["rowkey", "rowkey scan t -port", "rowkey serve --port 9", "rowkey -q serve", "rowkey --port 9"]
        {
            check(args, args);
        }
    }
}
