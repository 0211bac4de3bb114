//! A simulation's operations, counted in a matrix.

use super::matrix::Matrix;
use super::metric::Metric;
use crate::operation::OpKind;
use crate::sim::{Observer, Tick};
use std::ops::ControlFlow;

/// Watches a simulation and counts its operations: each drawn one stands for many, and what is not a whole number is carried on to the
/// next one of its kind, so that sums stay right to one.
#[derive(Debug)]
pub struct Recorder<'m> {
    matrix: &'m mut Matrix,
    /// Fractions of writes and of reads that wait.
    carried: [f64; 2],
}

impl<'m> Recorder<'m> {
    /// Counts into this matrix.
    pub fn new(matrix: &'m mut Matrix) -> Self {
        Self { matrix, carried: [0.0; 2] }
    }
}

impl Observer for Recorder<'_> {
    fn operation(&mut self, time_ms: i64, kind: OpKind, key: &[u8], weight: f64) {
        let (metric, carried) = match kind {
            OpKind::Write | OpKind::Delete => (Metric::Writes, &mut self.carried[0]),
            OpKind::Read | OpKind::Scan => (Metric::Reads, &mut self.carried[1]),
        };
        *carried += weight.max(0.0);
        let whole = carried.floor();
        *carried -= whole;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number that is not negative; beyond 64 bits it is held at their end"
        )]
        let amount = whole as u64;
        if amount > 0 {
            self.matrix.add(time_ms, key, metric, amount);
        }
    }

    fn tick(&mut self, _tick: &Tick, _seconds: u32) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heatmap::Config;

    #[test]
    fn fractions_are_carried_on() {
        let mut matrix = Matrix::new(Config::default());
        let mut recorder = Recorder::new(&mut matrix);
        for at in 0..1_000 {
            recorder.operation(at, OpKind::Write, b"w", 0.3);
            recorder.operation(at, OpKind::Scan, b"r", 2.5);
        }
        recorder.operation(0, OpKind::Read, b"r", f64::NAN);
        let totals = matrix.totals();
        assert!((299..=300).contains(&totals[0]), "{totals:?}");
        assert_eq!(totals[1], 2_500);
    }
}
