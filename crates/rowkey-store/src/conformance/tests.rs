//! The golden scripts, run on the memory engine.

use super::*;
use crate::memory::MemoryEngine;

struct Memory;

impl Harness for Memory {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Arc<dyn Engine> {
        Arc::new(MemoryEngine::new(clock))
    }
}

/// `ROWKEY_REWRITE_SCRIPTS=1 cargo test -p rowkey-store` writes what the memory engine prints into the scripts.
#[test]
fn the_memory_engine_passes_all_scripts() {
    if std::env::var_os("ROWKEY_REWRITE_SCRIPTS").is_some() {
        for (name, _) in SCRIPTS {
            let path = format!("{}/testscripts/{name}.txt", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, rewrite(&text, &mut Memory)).unwrap();
        }
        return;
    }
    if let Err(failures) = run_all(&mut Memory) {
        panic!("{failures}");
    }
}

#[test]
fn every_script_in_the_folder_is_run_and_names_what_it_is_about() {
    let folder = format!("{}/testscripts", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut known: Vec<String> = SCRIPTS.iter().map(|(name, _)| format!("{name}.txt")).collect();
    known.sort();
    assert_eq!(files, known);
    for (name, text) in SCRIPTS {
        assert!(text.starts_with("# "), "{name}");
        assert_eq!(rewrite(text, &mut Memory), *text, "`{name}` is not in its canonical form");
        assert!(!text.contains("script:"), "`{name}` has a mistake");
    }
}

#[test]
fn a_difference_is_shown_with_its_line() {
    let failure = run("x", "# x\ncreate t\n---\nnot ok\n", &mut Memory).unwrap_err();
    assert!(failure.contains("script `x`, line 2"), "{failure}");
    assert!(failure.contains("not ok\nbut it was:\nok\n"), "{failure}");
}
