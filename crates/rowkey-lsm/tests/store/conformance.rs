//! The scripts that every engine must pass.

use crate::folder;
use rowkey_lsm::{LsmEngine, Options};
use rowkey_store::conformance::{Harness, run_all};
use rowkey_store::{Clock, Engine};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Default)]
struct Folders {
    /// The folder and clock of the engine that was opened last.
    last: Option<(tempfile::TempDir, Arc<dyn Clock>)>,
}

impl Folders {
    fn engine(&self) -> Arc<dyn Engine> {
        let (folder, clock) = self.last.as_ref().unwrap();
        let path: PathBuf = folder.path().join("store");
        Arc::new(LsmEngine::open(&path, Options::tiny(Arc::clone(clock))).unwrap())
    }
}

impl Harness for Folders {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Arc<dyn Engine> {
        self.last = Some((folder(), clock));
        self.engine()
    }

    fn reopen(&mut self, engine: Arc<dyn Engine>) -> Arc<dyn Engine> {
        drop(engine);
        self.engine()
    }
}

#[test]
fn the_embedded_engine_passes_the_scripts() {
    if let Err(failures) = run_all(&mut Folders::default()) {
        panic!("{failures}");
    }
}
