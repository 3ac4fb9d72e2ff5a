//! A USB reader and the cards that are inserted into it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::machine::Machine;

/// A card: a file of this machine, so that the tests can read its bytes from outside.
#[derive(Clone)]
pub struct Card {
    image: PathBuf,
    most_bps: Option<u64>,
    read_only: bool,
}

impl Card {
    /// A card as fast as its file.
    pub fn new(image: &Path) -> Card {
        Card { image: image.to_owned(), most_bps: None, read_only: false }
    }

    /// A card with at most so many bytes per second, so that there is time to act in the middle.
    pub fn slow(image: &Path, most_bps: u64) -> Card {
        Card { most_bps: Some(most_bps), ..Card::new(image) }
    }

    /// A card with its switch at "lock". It must be in the reader when that is plugged in.
    pub fn read_only(image: &Path) -> Card {
        Card { read_only: true, ..Card::new(image) }
    }
}

impl Machine {
    /// Plugs in a reader of this serial number with a card in it, or none. It gets the first free
    /// node: /dev/sda.
    pub fn plug(&mut self, reader: &str, serial: &str, card: Option<&Card>) {
        let mut device = json!({
            "driver": "usb-storage", "id": reader, "bus": "usb.0", "serial": serial, "removable": true,
        });
        if let Some(card) = card {
            device["drive"] = self.node(reader, card);
        }
        self.qmp.execute("device_add", &device);
        self.plugged.insert(reader.to_owned());
    }

    /// Pulls the reader out, with its card.
    pub fn unplug(&mut self, reader: &str) {
        self.qmp.execute("device_del", &json!({ "id": reader }));
        self.qmp.gone(reader);
        self.forget_node(reader);
        self.plugged.remove(reader);
    }

    /// Puts another card into the reader; the one in it is taken out first.
    pub fn swap(&mut self, reader: &str, card: &Card) {
        self.eject(reader);
        let slot = self.slot(reader);
        let node = self.node(reader, card);
        self.qmp.execute("blockdev-insert-medium", &json!({ "id": slot, "node-name": node }));
        self.qmp.execute("blockdev-close-tray", &json!({ "id": slot }));
    }

    /// Takes the card out of the reader, which stays.
    pub fn eject(&mut self, reader: &str) {
        let slot = self.slot(reader);
        self.qmp.execute("blockdev-open-tray", &json!({ "id": slot, "force": true }));
        self.qmp.execute("blockdev-remove-medium", &json!({ "id": slot }));
        self.forget_node(reader);
    }

    /// The reader's slot, as QEMU names it.
    fn slot(&mut self, reader: &str) -> Value {
        let blocks = self.qmp.execute("query-block", &json!({}));
        let inside = format!("/machine/peripheral/{reader}/");
        let slots = blocks.as_array().unwrap().iter().map(|block| &block["qdev"]);
        slots
            .into_iter()
            .find(|qdev| qdev.as_str().is_some_and(|path| path.starts_with(&inside)))
            .unwrap()
            .clone()
    }

    /// Opens a card's file for that reader.
    fn node(&mut self, reader: &str, card: &Card) -> Value {
        let file = json!({ "driver": "file", "filename": card.image, "read-only": card.read_only });
        let raw = json!({ "driver": "raw", "file": file, "read-only": card.read_only });
        let name = format!("card-in-{reader}");
        let node = match card.most_bps {
            None => {
                json!({ "driver": "raw", "node-name": name, "file": raw["file"], "read-only": card.read_only })
            }
            Some(most_bps) => {
                let limits = json!({ "bps-total": most_bps });
                self.qmp.execute("object-add", &json!({ "qom-type": "throttle-group", "id": format!("limit-{reader}"), "limits": limits }));
                json!({ "driver": "throttle", "throttle-group": format!("limit-{reader}"), "node-name": name, "file": raw })
            }
        };
        self.qmp.execute("blockdev-add", &node);
        self.limited.insert(reader.to_owned(), card.most_bps.is_some());
        json!(name)
    }

    fn forget_node(&mut self, reader: &str) {
        if let Some(limited) = self.limited.remove(reader) {
            self.qmp.execute("blockdev-del", &json!({ "node-name": format!("card-in-{reader}") }));
            if limited {
                self.qmp.execute("object-del", &json!({ "id": format!("limit-{reader}") }));
            }
        }
    }
}
