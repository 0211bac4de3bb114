//! Instances and what is in them, those included that exist because they are used.
//!
//! Clients of an emulator use instances that nobody created. Unless the server is strict, such an instance exists from its first table on,
//! until it is deleted: it is *implied*, has its id as display name, no time of creation, and whatever cluster somebody asks for. A list
//! of its clusters has those that somebody changed, or else one, `local-cluster`.

use super::Catalog;
use super::name::{InstanceName, shown};
use super::table_changes::Told;
use rowkey_bigtable::status;
use rowkey_proto::admin;
use rowkey_proto::admin::{StorageType, cluster, instance};
use rowkey_store::Result;
use tonic::Status;

/// The cluster of an instance that nobody created.
const LOCAL_CLUSTER: &str = "local-cluster";

impl Catalog {
    /// Refuses to use an instance that nobody created, if the server is strict.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`.
    pub(crate) fn instance_may_be_used(&self, name: &InstanceName) -> Result<(), Status> {
        if self.strict_instances && !self.is_created(name) {
            return Err(Status::not_found(format!(
                "instance `{name}` does not exist; create it, or start the server without strict instances"
            )));
        }
        Ok(())
    }

    /// Whether somebody created an instance, rather than using it alone.
    pub(crate) fn is_created(&self, name: &InstanceName) -> bool {
        self.instances.get(&name.to_string()).is_some_and(|instance| instance.create_time.is_some())
    }

    /// Refuses an instance that neither was created nor is implied.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`.
    pub(crate) fn instance_is_known(&self, name: &InstanceName) -> Result<(), Status> {
        self.instance(name).map(drop)
    }

    /// An instance.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`.
    pub(crate) fn instance(&self, name: &InstanceName) -> Result<admin::Instance, Status> {
        let known = self.instances.get(&name.to_string()).filter(|instance| self.is_shown(instance));
        known.ok_or_else(|| {
            Status::not_found(format!(
                "instance `{name}` does not exist: it was not created, and never had a table"
            ))
        })
    }

    /// All instances of a project, by name.
    pub(crate) fn instances_of(&self, project: &str) -> Vec<admin::Instance> {
        let known = self.instances.list(&format!("projects/{project}/instances/"));
        let known = known.into_iter().map(|(_, instance)| instance);
        known.filter(|instance| self.is_shown(instance)).collect()
    }

    /// Whether an instance exists for this server: one that is strict knows only those that were created.
    fn is_shown(&self, instance: &admin::Instance) -> bool {
        !self.strict_instances || instance.create_time.is_some()
    }

    /// The clusters of an instance, by name. There is always one: the tables are somewhere.
    pub(crate) fn clusters_of(&self, name: &InstanceName) -> Vec<admin::Cluster> {
        let known = self.clusters.list(&format!("{name}/clusters/"));
        if known.is_empty() {
            return vec![self.implied_cluster(name, LOCAL_CLUSTER)];
        }
        known.into_iter().map(|(_, cluster)| cluster).collect()
    }

    /// A cluster of an instance that exists.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`.
    pub(crate) fn cluster(&self, instance: &InstanceName, id: &str) -> Result<admin::Cluster, Status> {
        self.instance_is_known(instance)?;
        let name = format!("{instance}/clusters/{id}");
        let implied = || (!self.is_created(instance)).then(|| self.implied_cluster(instance, id));
        self.clusters
            .get(&name)
            .or_else(implied)
            .ok_or_else(|| Status::not_found(format!("cluster `{}` does not exist", shown(&name))))
    }

    /// Notes that an instance is used, so that it exists. Blocks.
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub(super) fn note_use(&self, name: &InstanceName) -> Result<()> {
        let key = name.to_string();
        if self.instances.has(&key) { Ok(()) } else { self.instances.put(&key, implied_instance(name)) }
    }

    /// Deletes an instance, its tables and everything else in it. Blocks.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`; `FAILED_PRECONDITION` if a table is protected, and then nothing is deleted; those of the engine.
    pub(crate) fn delete_instance(&self, name: &InstanceName, told: Told<'_>) -> Result<(), Status> {
        let _changing = self.change();
        self.instance_is_known(name)?;
        let mut own = self.own_tables();
        own.retain(|table, _| table.instance_name() == *name);
        for (table, engine) in &own {
            let is_protected =
                self.engine().table_config(engine).is_ok_and(|config| config.deletion_protection);
            if is_protected {
                return Err(Status::failed_precondition(format!(
                    "instance `{name}` has a protected table, `{}`; switch its deletion protection off first",
                    table.table
                )));
            }
        }
        for table in own.keys() {
            match self.delete(table, false, told) {
                Err(status) if status.code() != tonic::Code::NotFound => return Err(status),
                _ => {}
            }
        }
        // The instance goes last: what a crash leaves can be deleted again.
        self.remove_contents(&name.to_string()).map_err(|error| status(&error))?;
        self.instances.remove(&[name.to_string()]).map_err(|error| status(&error))
    }

    /// Removes clusters and app profiles of instances that do not exist: their creation or deletion was cut short.
    pub(super) fn heal_instances(&self) -> Result<()> {
        for name in self.clusters.names("").into_iter().chain(self.app_profiles.names("")) {
            let instance = name.split('/').take(4).collect::<Vec<_>>().join("/");
            if !self.instances.has(&instance) {
                self.remove_contents(&instance)?;
            }
        }
        Ok(())
    }

    fn remove_contents(&self, instance: &str) -> Result<()> {
        let prefix = format!("{instance}/");
        self.clusters.remove(&self.clusters.names(&prefix))?;
        self.app_profiles.remove(&self.app_profiles.names(&prefix))?;
        self.policies.remove(&self.policies.names(&prefix))?;
        if self.policies.has(instance) { self.policies.remove(&[instance.to_owned()]) } else { Ok(()) }
    }

    fn implied_cluster(&self, name: &InstanceName, id: &str) -> admin::Cluster {
        admin::Cluster {
            name: format!("{name}/clusters/{id}"),
            location: format!("projects/{}/locations/local", name.project),
            state: cluster::State::Ready.into(),
            serve_nodes: i32::try_from(self.nodes).unwrap_or(i32::MAX),
            default_storage_type: StorageType::Ssd.into(),
            ..admin::Cluster::default()
        }
    }
}

fn implied_instance(name: &InstanceName) -> admin::Instance {
    admin::Instance {
        name: name.to_string(),
        display_name: name.instance.clone(),
        state: instance::State::Ready.into(),
        r#type: instance::Type::Production.into(),
        ..admin::Instance::default()
    }
}
