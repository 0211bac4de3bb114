//! Names of resources: `projects/P/instances/I/tables/T`, and what an id may be.
//!
//! Ids of projects and instances are taken as they come, since clients of an emulator make them up; what the server itself creates is held to
//! Bigtable's patterns by the functions `check_*`.

use rowkey_store::limits::TABLE_NAME_BYTES_MAX;
use std::fmt;
use tonic::Status;

/// Bytes of one id that is only looked up; ours. Four of them and their collections stay below the limit of a row key.
const ID_BYTES_MAX: usize = 255;
/// Characters of a name that a message shows.
const SHOWN_CHARS_MAX: usize = 120;

/// `projects/P/instances/I`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct InstanceName {
    /// The project.
    pub(crate) project: String,
    /// The instance.
    pub(crate) instance: String,
}

/// `projects/P/instances/I/tables/T`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TableName {
    /// The project.
    pub(crate) project: String,
    /// The instance.
    pub(crate) instance: String,
    /// The table, as clients call it.
    pub(crate) table: String,
}

impl InstanceName {
    /// Reads a name.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`.
    pub(crate) fn parse(name: &str) -> Result<Self, Status> {
        let [project, instance] = ids(name, ["projects", "instances"])?;
        Ok(Self { project: project.to_owned(), instance: instance.to_owned() })
    }

    /// The table of this id in it.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`.
    pub(crate) fn table(&self, table: &str) -> Result<TableName, Status> {
        check_table_id(table)?;
        Ok(TableName {
            project: self.project.clone(),
            instance: self.instance.clone(),
            table: table.to_owned(),
        })
    }
}

impl TableName {
    /// Reads a name.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`.
    pub(crate) fn parse(name: &str) -> Result<Self, Status> {
        let [project, instance, table] = ids(name, ["projects", "instances", "tables"])?;
        check_table_id(table)?;
        Ok(Self { project: project.to_owned(), instance: instance.to_owned(), table: table.to_owned() })
    }

    /// The instance that it is in.
    pub(crate) fn instance_name(&self) -> InstanceName {
        InstanceName { project: self.project.clone(), instance: self.instance.clone() }
    }
}

impl fmt::Display for InstanceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "projects/{}/instances/{}", self.project, self.instance)
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "projects/{}/instances/{}/tables/{}", self.project, self.instance, self.table)
    }
}

/// The ids of a name whose collections are these, in order.
///
/// # Errors
///
/// `INVALID_ARGUMENT`: another form, an empty id, or `-`, which stands for all where a list allows it.
pub(crate) fn ids<'a, const N: usize>(name: &'a str, collections: [&str; N]) -> Result<[&'a str; N], Status> {
    let found = ids_or_all(name, collections)?;
    if found.contains(&"-") {
        return Err(Status::invalid_argument(format!(
            "`{}`: `-` stands for all of them; this request needs one by its id",
            shown(name)
        )));
    }
    Ok(found)
}

/// As [`ids`], but `-` is allowed.
///
/// # Errors
///
/// `INVALID_ARGUMENT`.
pub(crate) fn ids_or_all<'a, const N: usize>(
    name: &'a str,
    collections: [&str; N],
) -> Result<[&'a str; N], Status> {
    let form = || {
        let form: Vec<String> = collections.iter().map(|collection| format!("{collection}/ID")).collect();
        Status::invalid_argument(format!(
            "`{}` is not a name of this kind; it must be of the form {}",
            shown(name),
            form.join("/")
        ))
    };
    let mut segments = name.split('/');
    let mut found = [""; N];
    for (id, collection) in found.iter_mut().zip(collections) {
        if segments.next() != Some(collection) {
            return Err(form());
        }
        *id = segments.next().filter(|id| is_id(id)).ok_or_else(form)?;
    }
    if segments.next().is_some() { Err(form()) } else { Ok(found) }
}

fn is_id(id: &str) -> bool {
    (1..=ID_BYTES_MAX).contains(&id.len()) && !id.chars().any(|c| c.is_control() || c.is_whitespace())
}

/// Refuses what Bigtable refuses as a table's id: `[_a-zA-Z0-9][-_.a-zA-Z0-9]*`, at most 50 characters (`CreateTableRequest.table_id`).
///
/// # Errors
///
/// `INVALID_ARGUMENT`.
pub(crate) fn check_table_id(id: &str) -> Result<(), Status> {
    check_free_id("a table", id, TABLE_NAME_BYTES_MAX)
}

/// As [`check_table_id`], for an app profile (`AppProfile.name`; the length is that of a table's).
///
/// # Errors
///
/// `INVALID_ARGUMENT`.
pub(crate) fn check_app_profile_id(id: &str) -> Result<(), Status> {
    check_free_id("an app profile", id, TABLE_NAME_BYTES_MAX)
}

fn check_free_id(what: &str, id: &str, bytes_max: usize) -> Result<(), Status> {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let fits = id.len() <= bytes_max && id.bytes().all(inner);
    if !fits || id.is_empty() || id.starts_with(['-', '.']) {
        return Err(Status::invalid_argument(format!(
            "`{}` cannot be the id of {what}; it must match [_a-zA-Z0-9][-_.a-zA-Z0-9]* and have at most {bytes_max} characters",
            shown(id)
        )));
    }
    Ok(())
}

/// Refuses what Bigtable refuses as the id of a new instance: `[a-z][a-z0-9\-]+[a-z0-9]` (`Instance.name`), 6 to 33 characters (quota page).
///
/// # Errors
///
/// `INVALID_ARGUMENT`.
pub(crate) fn check_instance_id(id: &str) -> Result<(), Status> {
    check_strict_id("instance", id, 33)
}

/// Refuses what cannot be the id of a new cluster: `[a-z][-a-z0-9]*` (`Cluster.name`), 6 to 63 characters. The quota page says 30, but the
/// Python client's own tests make ids of 35.
///
/// # Errors
///
/// `INVALID_ARGUMENT`.
pub(crate) fn check_cluster_id(id: &str) -> Result<(), Status> {
    check_strict_id("cluster", id, 63)
}

fn check_strict_id(what: &str, id: &str, bytes_max: usize) -> Result<(), Status> {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let begins = id.starts_with(|c: char| c.is_ascii_lowercase());
    if !(6..=bytes_max).contains(&id.len()) || !begins || id.ends_with('-') || !id.bytes().all(inner) {
        return Err(Status::invalid_argument(format!(
            "`{}` cannot be the id of a new {what}; it must match [a-z][a-z0-9-]*[a-z0-9] and have 6 to {bytes_max} characters",
            shown(id)
        )));
    }
    Ok(())
}

/// A name for a message, cut if it is long: whoever sent it may have sent a megabyte.
pub(crate) fn shown(name: &str) -> String {
    match name.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}...", name[..end].escape_debug()),
        None => name.escape_debug().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;

    #[track_caller]
    fn refused<T: fmt::Debug>(result: Result<T, Status>, words: &str) {
        let status = result.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains(words), "{status}");
    }

    #[test]
    fn a_table_name_is_read_and_printed() {
        let text = "projects/example.com:p/instances/i/tables/_t.1-x";
        let name = TableName::parse(text).unwrap();
        assert_eq!((&*name.project, &*name.instance, &*name.table), ("example.com:p", "i", "_t.1-x"));
        assert_eq!(name.to_string(), text);
        assert_eq!(name.instance_name().to_string(), "projects/example.com:p/instances/i");
        assert_eq!(InstanceName::parse("projects/p/instances/i").unwrap().table("t").unwrap().table, "t");
    }

    #[test]
    fn other_forms_are_refused() {
        let table = |name: &str, words| refused(TableName::parse(name), words);
        table("", "must be of the form projects/ID/instances/ID/tables/ID");
        table("t", "must be of the form");
        table("projects/p/instances/i", "must be of the form");
        table("projects/p/instances/i/tables/t/x", "must be of the form");
        table("projects//instances/i/tables/t", "must be of the form");
        table("projects/p/instance/i/tables/t", "must be of the form");
        table("projects/p q/instances/i/tables/t", "must be of the form");
        table("projects/p/instances/i/tables/bad id!", "must be of the form");
        table("projects/p/instances/i/tables/bad!", "cannot be the id of a table");
        table("projects/p/instances/i/tables/.t", "cannot be the id of a table");
        table(&format!("projects/p/instances/i/tables/{}", "t".repeat(51)), "at most 50");
        table(&format!("projects/{}/instances/i/tables/t", "p".repeat(256)), "ppp...`");
        table("projects/p/instances/-/tables/t", "`-` stands for all");
        table("projects/-/instances/i/tables/t", "`-` stands for all");
        TableName::parse(&format!("projects/p/instances/i/tables/{}", "t".repeat(50))).unwrap();
        assert_eq!(ids_or_all("projects/p/instances/-", ["projects", "instances"]).unwrap(), ["p", "-"]);
    }

    #[test]
    fn ids_of_what_is_created_follow_bigtables_patterns() {
        check_instance_id("test-1").unwrap();
        check_instance_id(&"i".repeat(33)).unwrap();
        check_cluster_id(&"c".repeat(63)).unwrap();
        check_app_profile_id("Profile_1").unwrap();
        for id in ["", "short", "Upper-1", "1digit", "ends-in-", "under_score", &"i".repeat(34)] {
            refused(check_instance_id(id), "cannot be the id of a new instance");
        }
        refused(check_cluster_id(&"c".repeat(64)), "6 to 63 characters");
        refused(check_app_profile_id("-"), "cannot be the id of an app profile");
    }

    #[test]
    fn a_long_name_is_cut_in_messages() {
        assert_eq!(shown("a\nb"), "a\\nb");
        assert_eq!(shown(&"ä".repeat(200)), format!("{}...", "ä".repeat(120)));
    }
}
