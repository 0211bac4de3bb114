//! The sample through a proposal: what fits, and how well the new keys spread.

use super::{Fit, Proposal};
use crate::collect::spread_of;
use crate::facts::{Arrived, KeySample};
use crate::finding::Diagnosis;
use std::collections::{BTreeMap, BTreeSet};

/// The keys that a proposal is made for: those written, or those read if none is.
#[derive(Debug)]
pub(super) struct Sample<'a> {
    keys: &'a KeySample,
}

/// A window for N_eff, and the number of ranges (research, section 2.2).
const WINDOW: usize = 1_000;
const RANGES: u32 = 256;

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

/// How good a proposal is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Score {
    /// Whether nearly all keys fit, and kept keys stay as they are.
    fits: bool,
    keep: bool,
    /// Places written at once over those needed, at most 1.
    spread: f64,
}

impl Score {
    pub(super) fn of(proposal: &Proposal, sample: &Sample<'_>, needed: u32) -> Self {
        let fit = &proposal.fit;
        let stays = !proposal.keep
            || sample
                .all()
                .all(|arrived| proposal.apply(&arrived.key).map_or(true, |key| key == *arrived.key));
        let new: Vec<Vec<u8>> =
            sample.stream().filter_map(|arrived| proposal.apply(&arrived.key).ok()).collect();
        let spread = spread_of(new.iter().map(Vec::as_slice), WINDOW, RANGES);
        let enough = f64::from(needed.max(1));
        // Half of the fitting ones would be a guess; the narrower types already gave up on 1 %.
        let fits = fit.fitting > 0 && fit.fitting * 10 >= fit.keys * 9 && stays;
        Self { fits, keep: proposal.keep, spread: (spread.n_eff / enough).min(1.0) }
    }

    /// Whether nearly all keys fit, and kept keys stay as they are.
    pub(super) fn fits(&self) -> bool {
        self.fits
    }

    /// Whether nothing better needs to be looked for.
    pub(super) fn is_good(&self) -> bool {
        self.fits && (self.keep || self.spread >= 0.9)
    }

    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        (self.fits, self.spread) > (other.fits, other.spread)
    }
}
