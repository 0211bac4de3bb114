//! Schema proposals: keys of any kind never make one panic; what is proposed parses, encodes, decodes, and keeps different keys apart.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rowkey_hotspot::collect::{CollectConfig, Collector};
use rowkey_hotspot::facts::KeySample;
use rowkey_hotspot::finding::{Bound, Finding};
use rowkey_hotspot::infer::{Hints, infer};
use rowkey_hotspot::propose::propose;
use rowkey_hotspot::{Context, Diagnosis, Operation, Rule, Severity};
use std::collections::{BTreeMap, BTreeSet};

fuzz_target!(|data: &[u8]| {
    let [rule, nodes, rest @ ..] = data else { return };
    let keys: Vec<&[u8]> = rest.split(|byte| *byte == b'\n').collect();
    let mut collector = Collector::new(CollectConfig::default());
    for key in &keys {
        collector.observe(&Operation::write(key));
    }
    let facts = collector.finish();
    let layout = infer(&facts.written, &Hints::default());
    let context = Context { nodes: u32::from(*nodes), ..Context::default() };
    // One rule more than there are stands for none.
    let findings = Rule::ALL.get(usize::from(*rule) % (Rule::ALL.len() + 1)).map(|rule| finding(*rule));
    let diagnosis = Diagnosis {
        findings: findings.into_iter().collect(),
        passed: Vec::new(),
        facts,
        layout,
        context,
        bound: Bound { needed_per_s: 100_000.0, ..Bound::default() },
    };
    check(&diagnosis, &diagnosis.facts.written);
});

fn check(diagnosis: &Diagnosis, sample: &KeySample) {
    let Ok(proposal) = propose(diagnosis, None, "t") else { return };
    let parsed = rowkey::KeySchema::parse(proposal.to_toml()).expect("a proposal parses");
    assert_eq!(parsed, proposal.schema);
    let old: BTreeSet<&[u8]> = sample.uniform.iter().map(|arrived| &*arrived.key).collect();
    let mut new: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    for key in old {
        let Ok(stored) = proposal.apply(key) else { continue };
        proposal.codec().decode(&stored, &mut Vec::new()).expect("what was encoded decodes");
        *new.entry(stored).or_default() += 1;
    }
    let merged: u64 = new.values().map(|count| count - 1).sum();
    assert_eq!(merged, proposal.fit.merged, "keys became one without being counted");
}

fn finding(rule: Rule) -> Finding {
    Finding {
        rule,
        severity: Severity::Error,
        headline: String::new(),
        field: None,
        evidence: Vec::new(),
        nodes_lost: 1.0,
        examples: Vec::new(),
        places: Vec::new(),
        advice: Vec::new(),
    }
}
