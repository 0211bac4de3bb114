//! The sample through a proposal: what fits, and how well the new keys spread.

use super::{Fit, Proposal, incurable};
use crate::facts::{Arrived, KeySample};
use crate::finding::Diagnosis;
use crate::rule::Severity;
use std::collections::{BTreeMap, BTreeSet};

/// The keys that a proposal is made for: those written, or those read if none is.
#[derive(Debug)]
pub(super) struct Sample<'a> {
    keys: &'a KeySample,
}

impl<'a> Sample<'a> {
    pub(super) fn new(diagnosis: &'a Diagnosis) -> Self {
        let facts = &diagnosis.facts;
        Self { keys: if facts.written.seen > 0 { &facts.written } else { &facts.read } }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    /// Every sampled key, some of them twice.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Arrived> + use<'a> {
        let runs: &[Vec<Arrived>] = if self.keys.is_complete() { &[] } else { &self.keys.runs };
        self.keys.uniform.iter().chain(runs.iter().flatten())
    }

    /// Keys that came one after the other: all of them, or stretches.
    pub(super) fn stream(&self) -> impl Iterator<Item = &'a Arrived> + use<'a> {
        let complete = self.keys.is_complete() || self.keys.runs.is_empty();
        let (uniform, runs): (&[Arrived], &[Vec<Arrived>]) =
            if complete { (&self.keys.uniform, &[]) } else { (&[], &self.keys.runs) };
        uniform.iter().chain(runs.iter().flatten())
    }

    pub(super) fn fit(&self, proposal: &Proposal) -> Fit {
        let mut fit = Fit::default();
        let old: BTreeSet<&[u8]> = self.all().map(|arrived| &*arrived.key).collect();
        let mut new: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for key in old {
            fit.keys += 1;
            if let Ok(stored) = proposal.apply(key) {
                fit.fitting += 1;
                *new.entry(stored).or_default() += 1;
            } else if fit.misfits.len() < 10 {
                fit.misfits.push(key.into());
            }
        }
        fit.merged = new.values().filter(|count| **count > 1).map(|count| count - 1).sum();
        fit
    }
}

/// A design that keeps so much of the nodes busy that its writes need is not improved at the cost of its reads.
const USED_MIN: f64 = 0.8;

/// How good a proposal is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Score {
    /// Whether nearly all keys fit, and kept keys stay as they are.
    fits: bool,
    /// The worst that the doctor says of the sample through it, without what no schema cures.
    worst: Option<Severity>,
    /// Nodes' worth of capacity that is lost all the same.
    lost: f64,
    /// Nodes that the writes keep busy, of those that they need, 0 to 1.
    used: f64,
}

impl Score {
    pub(super) fn of(proposal: &Proposal, before: &Diagnosis, sample: &Sample<'_>, needed: u32) -> Self {
        let fit = &proposal.fit;
        let stays = !proposal.keep
            || sample
                .all()
                .all(|arrived| proposal.apply(&arrived.key).map_or(true, |key| key == *arrived.key));
        // The narrower types already gave up on 1 % of the values; fields of which each lacks other keys add up.
        let fits = fit.fitting > 0 && fit.fitting * 10 >= fit.keys * 9 && stays;
        if proposal.keep {
            return Self { fits, worst: None, lost: 0.0, used: 1.0 };
        }
        let after = proposal.diagnose(before, 0);
        let counted = || after.findings.iter().filter(|finding| !incurable::stays(finding.rule));
        let worst = counted().map(|finding| finding.severity).max();
        let lost = counted().map(|finding| finding.nodes_lost).fold(0.0, f64::max);
        // The busiest place says what is used at best, the effective number of places what is used on the whole; as many places as
        // nodes measure a little below them.
        let places = after.bound.nodes_used.min(after.facts.writes.n_eff / 0.9);
        let used = (places / f64::from(needed.max(1))).clamp(0.0, 1.0);
        Self { fits, worst, lost, used }
    }

    /// Whether nearly all keys fit, and kept keys stay as they are.
    pub(super) fn fits(&self) -> bool {
        self.fits
    }

    /// Whether nothing better needs to be looked for.
    pub(super) fn is_good(&self) -> bool {
        self.fits && self.worst.is_none_or(|worst| worst < Severity::Warning) && self.used >= USED_MIN
    }

    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        let rank = |score: &Self| (score.fits, std::cmp::Reverse(score.worst));
        // What is lost and what is used are measured: a hundredth of it decides nothing.
        let gain = (other.lost - self.lost) + (self.used - other.used);
        rank(self) > rank(other) || rank(self) == rank(other) && gain > 0.01
    }
}
