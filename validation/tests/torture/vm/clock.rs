//! A clock that is set while a run goes on.

use super::reader::Card;
use super::scene::{SERIAL, Scenario, Scene};
use crate::crash::{MANY_CELLS, acknowledged, check_record};
use crate::support::Flashmark;

pub const SCENARIOS: &[Scenario] = &[("clock set forward and back in a run", set_meanwhile)];

/// Seconds by which it is set, one after the other.
const STEPS: [i64; 2] = [86_400 * 400, -86_400 * 440];

fn set_meanwhile(scene: &mut Scene<'_>) {
    let card = Card::new(&scene.used_card("card"));
    let suite = scene.scratch.suite(MANY_CELLS);
    scene.plug(&card, "/dev/sda");
    for step in STEPS {
        let run = scene.start(&format!("run /dev/sda --erase {SERIAL} --suite {}", suite));
        scene.cells(1);
        scene.machine.done(&format!("date -s @$(( $(date +%s) + {step} ))"));
        let ran = scene.machine.wait(&run);
        assert_eq!(ran.code, Some(0), "{ran}");
        let kept = Flashmark::keeping_at(&scene.kept());
        check_record(&kept.run_dir(), &acknowledged(&kept));
        let longest = kept.record().cells.iter().map(|cell| cell.elapsed_ns).max().unwrap();
        scene.forget();
        assert!(longest < 600_000_000_000, "a cell is said to have taken {longest} ns");
    }
}
