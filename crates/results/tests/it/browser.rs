//! The published pages in a real browser: a headless Chromium, driven by its DevTools protocol
//! (<https://chromedevtools.github.io/devtools-protocol/>): JSON on file descriptors 3 (to it) and
//! 4 (from it), each message ended by a NUL. A shell connects its standard input and output to
//! these.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Flashmark, PATIENCE, Scratch, has_tool};

/// A browser with one page and a profile of its own.
struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    /// Events of the browser, oldest first.
    events: Vec<Value>,
    session: Value,
    last: u64,
}

impl Browser {
    fn start(profile: &Path) -> Browser {
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "chromium"])
            .args(["--remote-debugging-pipe", "--headless", "--no-sandbox", "--disable-gpu"])
            .args(["--disable-dev-shm-usage", "--no-first-run", "--lang=en-US"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(["--no-proxy-server", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .env("HOME", profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, from) = channel();
        let mut messages = BufReader::new(child.stdout.take().unwrap()).split(0);
        std::thread::spawn(move || {
            while let Some(Ok(message)) = messages.next() {
                let _ = sender.send(serde_json::from_slice(&message).unwrap());
            }
        });
        let to = child.stdin.take().unwrap();
        let mut browser =
            Browser { child, to, from, events: Vec::new(), session: Value::Null, last: 0 };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        browser.session = browser.call("Target.attachToTarget", attach)["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log", "Audits"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    fn next(&self, what: &str) -> Value {
        self.from.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{what} did not come"))
    }

    /// Calls a method and waits for its answer; events meanwhile are kept.
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut message = self.next(method);
            if message["id"] != self.last {
                self.events.push(message);
            } else {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
        }
    }

    /// Runs an action that opens another page, and waits until that is loaded.
    fn leads_on(&mut self, act: impl FnOnce(&mut Browser)) {
        let mut seen = self.events.len();
        act(self);
        loop {
            let is_loaded = |event: &Value| event["method"] == "Page.loadEventFired";
            if self.events[seen..].iter().any(is_loaded) {
                return;
            }
            seen = self.events.len();
            let message = self.next("another page");
            self.events.push(message);
        }
    }

    fn open(&mut self, page: &Path) {
        let address = json!({"url": format!("file://{}", page.display())});
        self.leads_on(|browser| {
            let answer = browser.call("Page.navigate", address);
            assert!(answer["errorText"].is_null(), "{answer}");
        });
    }

    /// Value of a JavaScript expression in the page.
    fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// Waits until an expression has this value: the page's script loads its data first.
    fn comes_to(&mut self, expression: &str, wanted: impl Into<Value>) {
        let (wanted, until) = (wanted.into(), Instant::now() + PATIENCE);
        loop {
            let found = self.value(expression);
            if found == wanted {
                return;
            }
            assert!(Instant::now() < until, "{expression} is {found}, not {wanted}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn click(&mut self, selector: &str) {
        self.value(&format!("document.querySelector({selector:?}).click()"));
    }

    /// Types into a field of the filter and presses "Show".
    fn filter(&mut self, name: &str, text: &str) {
        self.value(&format!("document.querySelector('input[name={name}]').value = {text:?}"));
        self.click("#filter button");
    }

    /// Asserts that the page is not wider than the screen, and that axe-core finds no serious
    /// problem in it.
    fn is_readable(&mut self, axe: &str) {
        let wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(self.value(wide), json!(0), "too wide");
        self.value(axe);
        let found = self.value(
            // Its preload reads style sheets, which a page from a file may not.
            "axe.run({preload: false}).then((result) => (result.passes.length < 10 ? [{id: 'few rules were tried', impact: 'critical', nodes: []}] : result.violations)
                .filter((it) => ['serious', 'critical'].includes(it.impact))
                .map((it) => it.id + ': ' + it.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')))",
        );
        assert_eq!(found, json!([]));
    }

    /// Errors in pages so far: of scripts, of the content security policy, missing files.
    fn complaints(&self) -> Vec<&Value> {
        let is_error = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            Some("Audits.issueAdded") => {
                event["params"]["issue"]["code"] == "ContentSecurityPolicyIssue"
            }
            _ => false,
        };
        self.events.iter().filter(is_error).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The script of axe-core, from the Python package that `./test` installs.
fn axe_core() -> Option<String> {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/consumers/lib");
    let script = "site-packages/axe_playwright_python/axe.min.js";
    let pythons = fs::read_dir(lib).ok()?.filter_map(Result::ok);
    pythons.map(|python| python.path().join(script)).find_map(|file| fs::read_to_string(file).ok())
}

/// Media in the table from top to bottom, with the cell of a column.
fn rows(column: &str) -> String {
    format!(
        "[...document.querySelectorAll('#lines tbody tr')].map((row) => row.querySelector('{column}').textContent)"
    )
}

/// A reader searches, filters, sorts and compares, at a desk and on a phone.
#[test]
fn a_published_tree_is_searched_filtered_sorted_and_compared() {
    if !has_tool("chromium") {
        return;
    }
    let Some(axe) = axe_core() else {
        crate::skipped::skipped("needs axe-core; ./test installs it");
        return;
    };
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let site = scratch.at("site");
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference");
    flashmark.done(&["publish", site.to_str().unwrap(), "--collection", reference]);
    let mut browser = Browser::start(&scratch.directory("profile"));
    for (width, mobile) in [(1280, false), (390, true)] {
        let screen =
            json!({"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": mobile});
        browser.call("Emulation.setDeviceMetricsOverride", screen);
        browser.open(&site.join("index.html"));
        browser.is_readable(&axe);

        // The name in a card's register, of which nothing is in the row itself.
        browser.filter("q", "eb1qt");
        browser.comes_to("[...document.querySelectorAll('#lines tbody th a')].every((a) => a.textContent.includes('Samsung EVO Plus'))", true);
        browser.filter("q", "");
        browser.click("input[name=kind][value=sd]");
        browser.filter("random-write-4k", "1");
        let kinds = "[...new Set([...document.querySelectorAll('#lines tbody th small')].map((it) => it.textContent.split(' \\u00b7 ')[0]))]";
        browser.comes_to(kinds, json!(["SD card"]));

        let sort = "#lines th[data-key=capacity] a";
        for falls in [true, false] {
            browser.click(sort);
            let found = browser.value(&rows(".capacity"));
            let found: Vec<u64> = found
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it.as_str().unwrap().parse().unwrap_or(0))
                .collect();
            let mut sorted = found.clone();
            sorted.sort_unstable();
            if falls {
                sorted.reverse();
            }
            assert!(found.len() > 2 && found == sorted, "{found:?}");
        }

        browser.open(&site.join("index.html"));
        browser.value("sessionStorage.clear()");
        browser.open(&site.join("index.html"));
        let slugs = browser.value("[...document.querySelectorAll('#lines input[name=m]')].slice(0, 2).map((it) => { it.click(); return it.value; })");
        browser.leads_on(|browser| browser.click("#compare-button"));
        let heads = "[...document.querySelectorAll('table.side thead a')].map((a) => a.getAttribute('href').replace(/^medium.|.html$/g, ''))";
        browser.comes_to(heads, slugs.clone());
        browser.is_readable(&axe);

        let medium = format!("medium/{}.html", slugs[0].as_str().unwrap());
        browser.open(&site.join(medium));
        browser.is_readable(&axe);
    }
    assert!(browser.complaints().is_empty(), "{:#?}", browser.complaints());
}
