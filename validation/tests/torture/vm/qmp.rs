//! Client of QEMU's machine protocol (QMP), which plugs and unplugs devices of a running machine: a
//! line of JSON each way.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::eventually;

/// The connection.
pub struct Qmp {
    lines: BufReader<UnixStream>,
    events: Vec<Value>,
}

impl Qmp {
    /// Connects as soon as the machine listens.
    pub fn connect(socket: &Path) -> Qmp {
        let stream = eventually("QEMU's socket", || UnixStream::connect(socket).ok());
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        let mut qmp = Qmp { lines: BufReader::new(stream), events: Vec::new() };
        qmp.next();
        qmp.execute("qmp_capabilities", &json!({}));
        qmp
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        let got = self.lines.read_line(&mut line).unwrap();
        assert!(got > 0, "QEMU has ended");
        serde_json::from_str(&line).unwrap()
    }

    /// Runs a command that must succeed; returns the answer.
    pub fn execute(&mut self, command: &str, arguments: &Value) -> Value {
        let line = json!({ "execute": command, "arguments": arguments });
        self.lines.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
        loop {
            let mut message = self.next();
            if message.get("return").is_some() {
                return message["return"].take();
            }
            assert!(message.get("error").is_none(), "{command} {arguments}: {message}");
            self.events.push(message);
        }
    }

    /// Waits until a device that is being unplugged is gone.
    pub fn gone(&mut self, device: &str) {
        let is_it =
            |event: &Value| event["event"] == "DEVICE_DELETED" && event["data"]["device"] == device;
        while !self.events.iter().any(is_it) {
            let event = self.next();
            self.events.push(event);
        }
        self.events.clear();
    }
}
