//! Input: mouse, touch and keyboard.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::Browser;

/// Keys that tests press, with the codes that pages see.
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

/// The focused element.
#[derive(Clone, Debug)]
pub struct Focus {
    /// Words that identify it: element, id, name, value, text.
    pub words: String,
    /// True if a reader can see the focus: it has an outline, is not covered, and is on the screen.
    pub seen: bool,
}

/// Script that describes the focused element, and the reasons why it cannot be seen.
const FOCUSED: &str = r##"(() => {
  const it = document.activeElement;
  if (!it || it === document.body) return null;
  const style = getComputedStyle(it);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  // A link may span two lines: one of its boxes is enough.
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
    /// The middle of an element on the screen, after scrolling to it.
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

    /// Clicks an element with the mouse, or touches it on a touch screen.
    pub fn click(&mut self, selector: &str) {
        let (x, y) = self.middle(selector);
        if self.screen.touch {
            // Times are given: without them a busy machine makes a long press of it.
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

    /// Clicks a link to another page, and waits for that page.
    pub fn follow(&mut self, selector: &str) {
        self.leads_on(|browser| browser.click(selector));
    }

    /// Presses and releases a key.
    pub fn press(&mut self, name: &str) {
        self.press_with(name, 0);
    }

    /// Presses a key together with Shift.
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

    /// Types text key by key into the focused element.
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

    /// Replaces the text of a field.
    pub fn fill(&mut self, selector: &str, text: &str) {
        self.click(selector);
        self.value(&format!("document.querySelector({selector:?}).select()"));
        self.type_text(text);
    }

    /// The focused element; `None` if there is none.
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

    /// Presses Tab until an element that matches the selector has the focus. At each stop the focus
    /// must be visible.
    pub fn tab_to(&mut self, selector: &str) {
        self.walk_to(selector, Browser::press);
    }

    /// Presses Shift+Tab in the same way.
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
