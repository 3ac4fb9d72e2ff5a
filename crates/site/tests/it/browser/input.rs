//! Hands: the mouse, a finger, the keyboard.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::Browser;

/// The keys that tests press, with the numbers that pages get to see.
const KEYS: [(&str, &str, u32, &str); 9] = [
    ("Tab", "Tab", 9, ""),
    ("Enter", "Enter", 13, "\r"),
    ("Space", " ", 32, " "),
    ("Escape", "Escape", 27, ""),
    ("ArrowLeft", "ArrowLeft", 37, ""),
    ("ArrowUp", "ArrowUp", 38, ""),
    ("ArrowRight", "ArrowRight", 39, ""),
    ("ArrowDown", "ArrowDown", 40, ""),
    ("End", "End", 35, ""),
];

/// What has the focus.
#[derive(Clone, Debug)]
pub struct Focus {
    /// A few words that tell it from others: element, id, name, value, text.
    pub words: String,
    /// Whether a reader sees that it has the focus: an outline, and nothing in front of it, and on
    /// the screen.
    pub seen: bool,
}

/// In words what has the focus, and what keeps it from being seen.
const FOCUSED: &str = r##"(() => {
  const it = document.activeElement;
  if (!it || it === document.body) return null;
  const style = getComputedStyle(it);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  // A link may go over two lines: one of its boxes is enough.
  let inside = false, at = null;
  const front = [...it.getClientRects()].some((box) => {
    const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth), top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
    if (right - left < Math.min(box.width, 12) || bottom - top < Math.min(box.height, 12)) return false;
    inside = true;
    at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return at && (it.contains(at) || at.contains(it) || (it.labels && [...it.labels].some((label) => label.contains(at))));
  });
  const words = [it.tagName.toLowerCase(), it.id && "#" + it.id, it.name && "[" + it.name + "=" + it.value + "]", (it.textContent || "").trim().slice(0, 60)];
  const faults = [!outlined && "no outline", !inside && "off the screen", inside && !front && "behind " + (at ? at.outerHTML.slice(0, 80) : "nothing")];
  return { words: words.filter(Boolean).join(" "), faults: faults.filter(Boolean) };
})()"##;

impl Browser {
    /// The middle of an element on the screen, scrolled to where it is seen.
    fn middle(&mut self, selector: &str) -> (f64, f64) {
        let place = self.value(&format!(
            r#"(() => {{
              const it = document.querySelector({selector:?});
              if (!it) return null;
              it.scrollIntoView({{ block: "center", inline: "center", behavior: "instant" }});
              const box = it.getClientRects()[0];
              return box ? [box.left + box.width / 2, box.top + box.height / 2] : [];
            }})()"#
        ));
        match place.as_array().map(Vec::as_slice) {
            Some([x, y]) => (x.as_f64().unwrap(), y.as_f64().unwrap()),
            Some(_) => panic!("{selector} is not shown at {}", self.address()),
            None => panic!("there is no {selector} at {}", self.address()),
        }
    }

    /// Clicks an element with the mouse, or touches it with a finger where the screen is one for
    /// fingers.
    pub fn click(&mut self, selector: &str) {
        let (x, y) = self.middle(selector);
        if self.screen.touch {
            // The times are said, or a busy machine makes a long press of it.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
            self.call(
                "Input.dispatchTouchEvent",
                json!({"type": "touchStart", "touchPoints": [{"x": x, "y": y}], "timestamp": now - 0.05}),
            );
            self.call(
                "Input.dispatchTouchEvent",
                json!({"type": "touchEnd", "touchPoints": [], "timestamp": now}),
            );
            return;
        }
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            self.call(
                "Input.dispatchMouseEvent",
                json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": 1}),
            );
        }
    }

    /// Clicks what leads to another page, and waits for that.
    pub fn follow(&mut self, selector: &str) {
        self.leads_on(|browser| browser.click(selector));
    }

    /// Presses a key and lets it go.
    pub fn press(&mut self, name: &str) {
        self.press_with(name, 0);
    }

    /// The same with Shift held.
    pub fn press_shift(&mut self, name: &str) {
        self.press_with(name, 8);
    }

    fn press_with(&mut self, name: &str, modifiers: u32) {
        let (code, key, number, text) =
            *KEYS.iter().find(|(code, ..)| *code == name).expect("a key that is known");
        let mut event = json!({"type": "keyDown", "key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers});
        if text.is_empty() {
            event["type"] = json!("rawKeyDown");
        } else {
            event["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", event);
        let up = json!({"type": "keyUp", "key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers});
        self.call("Input.dispatchKeyEvent", up);
    }

    /// Types text, a key at a time, into what has the focus.
    pub fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            self.call(
                "Input.dispatchKeyEvent",
                json!({"type": "keyDown", "text": letter.to_string(), "key": letter.to_string()}),
            );
            self.call(
                "Input.dispatchKeyEvent",
                json!({"type": "keyUp", "key": letter.to_string()}),
            );
        }
    }

    /// Types text into a field, instead of what it held.
    pub fn fill(&mut self, selector: &str, text: &str) {
        self.click(selector);
        self.value(&format!("document.querySelector({selector:?}).select()"));
        self.type_text(text);
    }

    /// What has the focus; `None` where nothing has.
    pub fn focus(&mut self) -> Option<Focus> {
        let found = self.value(FOCUSED);
        let words = found["words"].as_str()?.to_owned();
        let faults: Vec<&str> =
            found["faults"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let seen = faults.is_empty();
        Some(Focus {
            words: if seen { words } else { format!("{words}: {}", faults.join(", ")) },
            seen,
        })
    }

    /// Goes on with Tab until an element has the focus that the selector means. At each stop the
    /// focus must be seen.
    pub fn tab_to(&mut self, selector: &str) {
        self.walk_to(selector, Browser::press);
    }

    /// The same backwards.
    pub fn tab_back_to(&mut self, selector: &str) {
        self.walk_to(selector, Browser::press_shift);
    }

    fn walk_to(&mut self, selector: &str, step: fn(&mut Browser, &str)) {
        let mut stops = Vec::new();
        for _ in 0..300 {
            step(self, "Tab");
            let Some(focus) = self.focus() else { continue };
            assert!(focus.seen, "the focus is not seen at {}: {}", self.address(), focus.words);
            if self.value(&format!("document.activeElement.matches({selector:?})")) == json!(true) {
                return;
            }
            stops.push(focus.words);
        }
        panic!("Tab does not lead to {selector} at {}: {stops:#?}", self.address());
    }
}
