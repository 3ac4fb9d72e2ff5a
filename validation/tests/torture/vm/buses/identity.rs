//! Identity of a medium, as the program reports it.

use serde_json::Value;

use super::Outcome;
use super::port::{Port, SERIAL};

/// `list` and the record of a run have the identity that QEMU was given.
pub fn is_what_was_plugged_in(port: &mut Port<'_>) -> Outcome {
    let image = port.scene.used_card("mine");
    let node = port.put(&image, SERIAL);
    let listed =
        port.scene.machine.done(&format!("{} list --json", crate::support::program().display()));
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let media = listed.as_array().unwrap();
    let medium = media.iter().find(|medium| medium["path"] == *node).unwrap();
    assert_eq!(medium["link"]["driver"], port.bus.driver(), "{medium}");
    let suite = port.scene.scratch.suite("seek time=100ms");
    let ran = port.scene.run(&format!("run {node} --suite {suite}"));
    assert_eq!(ran.code, Some(0), "{ran}");
    let record = serde_json::to_value(port.kept().record().medium).unwrap();
    let expected = port.bus.expected(SERIAL);
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(medium["medium"][name], *value, "{name}, list: {medium}");
        assert_eq!(record[name], *value, "{name}, record: {record}");
    }
    let word = |name: &str| expected[name].as_str().unwrap_or("none").to_owned();
    Outcome::Good(format!(
        "{} on {}: vendor {}, model {}, serial {}",
        word("kind"),
        word("interface"),
        word("vendor"),
        word("model"),
        word("serial")
    ))
}
