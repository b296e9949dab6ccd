//! Four workers that are never idle: evaluations take different times, and each result is told as soon as it is there.
//! The study lives in the main thread; points go out and values come back through channels.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tribo::problems::by_name;
use tribo::space::{Direction, Parameter, Space, Values};
use tribo::strategy::{Strategy, Study};

const WORKERS: usize = 4;
const EVALUATIONS: usize = 60;

fn main() -> tribo::Result<()> {
    let hartmann = by_name("hartmann4", 4)?;
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).with_size(4)])?;
    let mut study = Study::new(space, Direction::Minimize, Strategy::auto(), Some(EVALUATIONS), 1)?;

    let (done, results) = mpsc::channel();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                let (send, points) = mpsc::channel();
                let (done, hartmann) = (done.clone(), &hartmann);
                scope.spawn(move || {
                    for (id, x) in points {
                        let x: Vec<f64> = x;
                        // Some points take five times as long as others.
                        thread::sleep(Duration::from_millis(5 + (20.0 * x[0]) as u64));
                        if done.send((worker, id, hartmann.evaluate(&x))).is_err() {
                            break;
                        }
                    }
                });
                send
            })
            .collect();

        // Everyone gets a point, then whoever comes back. A worker stops when its channel is dropped.
        let mut free: Vec<usize> = (0..WORKERS).collect();
        while study.history().finished().count() < EVALUATIONS {
            let left = EVALUATIONS - study.history().len();
            for suggestion in study.ask(free.len().min(left))? {
                if let (Some(worker), [Values::Float(x)]) = (free.pop(), suggestion.point.columns()) {
                    workers[worker].send((suggestion.id, x.clone())).expect("a worker waits for points");
                }
            }
            let (worker, id, value) = results.recv().expect("a worker is busy");
            study.tell(id, value)?;
            free.push(worker);
        }
        if let Some(best) = study.best()? {
            println!("{:.4} at {:?}, trial {}", best.value, best.point.columns(), best.id);
        }
        Ok(())
    })
}
