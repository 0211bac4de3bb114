//! V12: a small simulation of every single request, against the fluid one.

use super::*;
use crate::workload::{Generator, unit};
use rowkey_store::seeded::Seeded;
use rowkey_store::tablet::TabletMap;

/// Requests of a Poisson stream, each served by its node in the order of arrival for an exponential time. Throughput per second and
/// the latencies in milliseconds, sorted.
fn twin(codec: &Codec, rate: f64, nodes: u32, points: &[Vec<u8>], seconds: f64) -> (f64, Vec<f64>) {
    let mut generator = Generator::new(codec, &writes(rate)).unwrap();
    let tablets = TabletMap::new(points.iter().cloned().map(Into::into).collect());
    let node_of = rowkey_store::tablet::assign(&vec![0; tablets.count()], nodes as usize);
    let mut rng = Seeded::new(99);
    let exponential = |rng: &mut Seeded, per_s: f64| -(1.0 - unit(rng)).ln() / per_s;
    let mut free_at = vec![0.0f64; nodes as usize];
    let mut latencies = Vec::new();
    let (mut now, mut served) = (0.0f64, 0.0);
    let mut key = Vec::new();
    loop {
        now += exponential(&mut rng, rate);
        if now >= seconds {
            break;
        }
        let time_ms = writes(rate).start_ms + (now * 1e3) as i64;
        generator.next_write(time_ms, &mut key).unwrap();
        let node = node_of[tablets.find(&key)];
        let done = free_at[node].max(now) + exponential(&mut rng, C);
        free_at[node] = done;
        latencies.push((done - now) * 1e3);
        served += f64::from(u8::from(done <= seconds));
    }
    latencies.sort_by(f64::total_cmp);
    (served / seconds, latencies)
}

#[test]
fn v12_the_fluid_agrees_with_single_requests() {
    // Throughput within 2 %, median within 10 %, 99th percentile within 20 %, up to a utilisation of 0.9.
    let check = |codec: &Codec, nodes: u32, rate: f64| {
        let points = pre_split(codec, &writes(1.0), nodes).unwrap().points;
        let settings = Settings { latency: Latency::Mm1, ..still(nodes, Clients::Open) };
        let fluid = run(codec, &writes(rate), &settings, points.clone(), 60);
        let (served, latencies) = twin(codec, rate, nodes, &points, 20.0);
        let quantile = |q: f64| latencies[(latencies.len() as f64 * q) as usize];
        close(fluid.totals.served_per_s, served, 0.02);
        close(fluid.totals.p50_ms, quantile(0.5), 0.10);
        close(fluid.totals.p99_ms, quantile(0.99), 0.20);
    };
    let time_first = codec("{time}#{hash}", "", "");
    check(&time_first, 4, 0.5 * C);
    check(&time_first, 10, 0.9 * C);
    check(&salted(10), 10, 20_000.0);
    check(&salted(3), 2, 0.6 * 2.0 * C);
}
