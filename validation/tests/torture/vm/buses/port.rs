//! Port into which media are plugged one after the other, and the program that is tested on them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde_json::{Value, json};

use super::bus::Bus;
use super::middle::Middle;
use crate::support::{Flashmark, MIB, Ran, eventually};
use crate::vm::machine::{Machine, Task};
use crate::vm::scene::Scene;

/// Serial number of the medium that runs begin on.
pub const SERIAL: &str = "MINE0001";
/// Rate in bytes per second that is slow enough for something to happen in the middle.
const SLOW_BPS: u64 = MIB;

/// Name of the medium's file in QEMU.
const NODE: &str = "content";

/// A port of a machine on one bus.
pub struct Port<'a> {
    pub bus: Bus,
    pub scene: Scene<'a>,
    is_taken: bool,
}

impl<'a> Port<'a> {
    pub fn of(machine: &'a mut Machine, bus: Bus) -> Port<'a> {
        Port { bus, scene: Scene::keeping_at(machine, "/tmp/home"), is_taken: false }
    }

    /// Plugs in a medium and waits for its node; returns the node.
    pub fn put(&mut self, image: &Path, serial: &str) -> String {
        self.put_failing(image, serial, None)
    }

    /// The same with errors for some I/Os, as QEMU's blkdebug describes them.
    pub fn put_failing(&mut self, image: &Path, serial: &str, errors: Option<Value>) -> String {
        let file = json!({ "driver": "file", "filename": image });
        let file = match errors {
            None => file,
            Some(errors) => json!({ "driver": "blkdebug", "image": file, "inject-error": errors }),
        };
        let qmp = &mut self.scene.machine.qmp;
        qmp.execute("blockdev-add", &json!({ "driver": "raw", "node-name": NODE, "file": file }));
        for device in self.bus.devices(serial, NODE) {
            qmp.execute("device_add", &device);
        }
        match self.bus {
            Bus::Uas => self.attach(true),
            bus if bus.is_slot() => {
                let medium = json!({ "id": "medium", "node-name": NODE });
                self.scene.machine.qmp.execute("blockdev-insert-medium", &medium);
            }
            _ => {}
        }
        self.is_taken = true;
        let node = format!(
            "for node in {}; do [ \"$(blockdev --getsize64 $node 2>/dev/null || echo 0)\" -gt 0 ] && echo $node; done",
            self.bus.nodes()
        );
        self.scene.machine.until(&format!("[ -n \"$({node})\" ]"));
        self.scene.machine.done(&node)
    }

    /// Pulls the medium out.
    pub fn pull(&mut self) {
        if self.bus == Bus::Uas {
            // QEMU 7.2 dies where a UAS device goes with I/O under way: its plug first.
            self.attach(false);
            self.go();
            let nodes = self.bus.nodes();
            self.scene.machine.until(&format!("! ls {nodes} 2>/dev/null"));
        }
        let qmp = &mut self.scene.machine.qmp;
        if self.bus.is_slot() {
            qmp.execute("blockdev-remove-medium", &json!({ "id": "medium" }));
        } else {
            qmp.execute("device_del", &json!({ "id": "medium" }));
            qmp.gone("medium");
        }
        qmp.execute("blockdev-del", &json!({ "node-name": NODE }));
        self.is_taken = false;
    }

    /// Lets one I/O more pass, then none for minutes.
    pub fn stop(&mut self) {
        self.limit(&json!({ "iops": 1, "iops_size": 1 }));
    }

    /// Removes the limit; waiting I/Os go on at once.
    pub fn go(&mut self) {
        self.limit(&json!({}));
    }

    /// Connects or disconnects a device whose units had to be added first.
    fn attach(&mut self, is_in: bool) {
        let plug =
            json!({ "path": "/machine/peripheral/medium", "property": "attached", "value": is_in });
        self.scene.machine.qmp.execute("qom-set", &plug);
    }

    fn limit(&mut self, limits: &Value) {
        let qmp = &mut self.scene.machine.qmp;
        let blocks = qmp.execute("query-block", &json!({}));
        let holds_it = |block: &&Value| block["inserted"]["node-name"] == NODE;
        let block = blocks.as_array().unwrap().iter().find(holds_it).unwrap();
        let mut arguments = json!({
            "id": block["qdev"], "bps": 0, "bps_rd": 0, "bps_wr": 0, "iops": 0, "iops_rd": 0, "iops_wr": 0,
        });
        for (name, value) in limits.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        qmp.execute("block_set_io_throttle", &arguments);
    }

    /// The word that allows the medium to be overwritten.
    pub fn erase(&self) -> String {
        let expected = self.bus.expected(SERIAL);
        expected["cid"].as_str().or(expected["serial"].as_str()).unwrap().to_owned()
    }

    /// Starts a run with this I/O in its middle, and returns when one cell is done. The run shows
    /// its progress.
    pub fn begun(&mut self, image: &Path, middle: Middle) -> Task {
        let node = self.put(image, SERIAL);
        if !self.bus.is_slot() {
            self.limit(&json!({ "bps": SLOW_BPS }));
        }
        let suite = self.scene.scratch.suite(&middle.suite(self.bus));
        let words = format!("run {node} --erase {} --suite {}", self.erase(), suite.display());
        let task = self.scene.start_aloud(&words);
        self.scene.cells(1);
        task
    }

    /// Waits until the program has printed these words.
    pub fn until_printed(&mut self, task: &Task, words: &str) {
        eventually(words, || self.scene.machine.output(task, "err").contains(words).then_some(()));
    }

    /// Store of the program, on the host.
    pub fn kept(&mut self) -> Flashmark {
        Flashmark::keeping_at(&self.scene.kept())
    }

    /// Output of `show` for the latest run, which must succeed.
    pub fn shown(&mut self, after: &Ran) -> String {
        let show = self.scene.start_aloud("show latest --details");
        let shown = self.scene.machine.wait(&show);
        assert_eq!(shown.code, Some(0), "after {after}show: {shown}");
        shown.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Unplugs everything, whatever became of the trial.
    pub fn clear(&mut self) {
        let nodes = self.bus.nodes();
        let _ = catch_unwind(AssertUnwindSafe(|| {
            if self.is_taken {
                self.go();
                self.scene.machine.run("kill -KILL $(pidof flashmark)");
                self.pull();
            }
            self.scene.machine.run("rm -rf /tmp/home");
            self.scene.machine.until(&format!("! ls {nodes} 2>/dev/null"));
        }));
    }
}
