//! A headless Chromium, driven directly by its DevTools protocol through two pipes: tests see
//! pages, click and type like a reader.
//!
//! Chromium uses JSON on file descriptors 3 (to it) and 4 (from it), each message ended by a NUL. A
//! shell connects its standard input and output to these. The protocol:
//! <https://chromedevtools.github.io/devtools-protocol/>.

mod input;
mod look;
mod network;

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Time limit for any step: a slow phone is simulated on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// A screen.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Width in CSS pixels.
    pub width: u32,
    /// Height in CSS pixels.
    pub height: u32,
    /// True for a touch screen with the layout of phones.
    pub touch: bool,
}

/// Window of a desktop.
pub const DESKTOP: Screen = Screen { width: 1280, height: 900, touch: false };
/// Screen of a phone held upright.
pub const PHONE: Screen = Screen { width: 390, height: 844, touch: true };

/// A browser with one page and a profile of its own; dropping it removes everything.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    /// Events of the browser, oldest first.
    events: Vec<Value>,
    session: Option<String>,
    last: u64,
    screen: Screen,
    /// True if screenshots are kept; they take time.
    pub keeps_pictures: bool,
    profile: TempDir,
}

impl Browser {
    /// Starts a browser. `None` if Chromium is not installed; a message then goes to standard
    /// error, past the capture of test output.
    pub fn start(screen: Screen) -> Option<Browser> {
        let Some(program) = program() else {
            let missing = "\n*** Chromium is not installed: NOT TESTED IN A BROWSER. apt install chromium, or ./test, which does it ***\n";
            io::stderr().write_all(missing.as_bytes()).unwrap();
            return None;
        };
        let profile = tempfile::Builder::new().prefix("flashmark-browser-").tempdir().unwrap();
        fs::create_dir(profile.path().join("downloads")).unwrap();
        let error = fs::File::create(profile.path().join("stderr")).unwrap();
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null"])
            .arg(program)
            .args([
                "--remote-debugging-pipe",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-proxy-server",
            ])
            // A page that still scrolls when the next key comes would move the focused element
            // away.
            .args([
                "--hide-scrollbars",
                "--disable-smooth-scrolling",
                "--force-color-profile=srgb",
                "--lang=en-US",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(error)
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), messages(child.stdout.take().unwrap()));
        let mut browser = Browser {
            child,
            to,
            from,
            events: Vec::new(),
            session: None,
            last: 0,
            screen,
            keeps_pictures: true,
            profile,
        };
        browser.attach();
        Some(browser)
    }

    /// Connects to the page and subscribes to its events.
    fn attach(&mut self) {
        let target =
            self.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let session = self.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}))["sessionId"].clone();
        let downloads = self.downloads();
        self.call(
            "Browser.setDownloadBehavior",
            json!({"behavior": "allow", "downloadPath": downloads, "eventsEnabled": true}),
        );
        self.session = Some(session.as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network", "Audits"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
        let Screen { width, height, touch } = self.screen;
        let scale = if touch { 2 } else { 1 };
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": scale, "mobile": touch}),
        );
        // Disables smooth scrolling.
        let still = json!([{"name": "prefers-reduced-motion", "value": "reduce"}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": still}));
        if touch {
            self.call(
                "Emulation.setTouchEmulationEnabled",
                json!({"enabled": true, "maxTouchPoints": 1}),
            );
        }
    }

    /// Directory of downloads.
    pub fn downloads(&self) -> PathBuf {
        self.profile.path().join("downloads")
    }

    /// Calls a method of the protocol and waits for its answer; events meanwhile are kept.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to
            .write_all(format!("{message}\0").as_bytes())
            .unwrap_or_else(|error| panic!("{method}: {error}{}", self.complaint()));
        let until = Instant::now() + PATIENCE;
        loop {
            let mut message = self.next(until).unwrap_or_else(|| {
                panic!("the browser did not answer {method}{}", self.complaint())
            });
            if message["id"] != self.last {
                self.events.push(message);
            } else if message["error"].is_null() {
                return message["result"].take();
            } else {
                panic!("{method}: {}", message["error"]);
            }
        }
    }

    /// The next message before that time.
    fn next(&self, until: Instant) -> Option<Value> {
        self.from.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
    }

    /// Events of this kind so far.
    pub fn events(&self, method: &str) -> impl Iterator<Item = &Value> {
        self.events
            .iter()
            .filter(move |event| event["method"] == method)
            .map(|event| &event["params"])
    }

    /// Runs an action, and waits until the browser sends this event.
    fn until<T>(
        &mut self,
        what: &str,
        act: impl FnOnce(&mut Browser) -> T,
        mut is_it: impl FnMut(&Value) -> bool,
    ) -> T {
        let mut seen = self.events.len();
        let done = act(self);
        let until = Instant::now() + PATIENCE;
        loop {
            if self.events[seen..].iter().any(&mut is_it) {
                return done;
            }
            seen = self.events.len();
            let message = self.next(until).unwrap_or_else(|| {
                panic!("{what} did not come about at {}", self.address_or_nothing())
            });
            self.events.push(message);
        }
    }

    /// Runs an action that opens another page, and waits until that is loaded.
    pub fn leads_on<T>(&mut self, act: impl FnOnce(&mut Browser) -> T) -> T {
        self.until("another page", act, |event| event["method"] == "Page.loadEventFired")
    }

    /// Opens an address and waits until the page is loaded.
    pub fn open(&mut self, address: &str) {
        self.leads_on(|browser| {
            let answer = browser.call("Page.navigate", json!({"url": address}));
            assert!(answer["errorText"].is_null(), "{address}: {answer}");
        });
    }

    /// Runs an action that starts a download, and waits for its end: name and content.
    pub fn downloaded<T>(&mut self, act: impl FnOnce(&mut Browser) -> T) -> (String, Vec<u8>) {
        let before = self.events.len();
        self.until("a download", act, |event| {
            event["method"] == "Browser.downloadProgress" && event["params"]["state"] == "completed"
        });
        let began = self.events[before..]
            .iter()
            .find(|event| event["method"] == "Browser.downloadWillBegin")
            .expect("it began before it ended");
        let name = began["params"]["suggestedFilename"].as_str().unwrap().to_owned();
        let path = self.downloads().join(&name);
        let content = fs::read(&path).unwrap();
        fs::remove_file(path).unwrap();
        (name, content)
    }

    /// Value of a JavaScript expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let mut answer = self
            .call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": false}));
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}\n{:#}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].take()
    }

    /// Text value of a JavaScript expression.
    pub fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression}: {value}")).to_owned()
    }

    /// Waits until an expression is true, for changes that a page makes later.
    pub fn until_true(&mut self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while self.value(expression) != json!(true) {
            assert!(Instant::now() < until, "{expression} did not come true at {}", self.address());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The address of the page.
    pub fn address(&mut self) -> String {
        self.text("location.href")
    }

    /// Last known address of the page: for messages when the browser may not answer.
    fn address_or_nothing(&self) -> String {
        let last = self.events("Page.frameNavigated").last();
        last.and_then(|event| event["frame"]["url"].as_str()).unwrap_or_default().to_owned()
    }

    /// Enables or disables scripts of pages.
    pub fn set_scripts(&mut self, run: bool) {
        self.call("Emulation.setScriptExecutionDisabled", json!({"value": !run}));
    }

    /// All errors in pages so far, in words: script errors, violations of the content security
    /// policy, missing files.
    pub fn complaints(&self) -> Vec<String> {
        let thrown = self
            .events("Runtime.exceptionThrown")
            .map(|event| event["exceptionDetails"].to_string());
        let console = self
            .events("Runtime.consoleAPICalled")
            .filter(|event| matches!(event["type"].as_str(), Some("error" | "assert" | "warning")));
        let logged = self
            .events("Log.entryAdded")
            .map(|event| &event["entry"])
            .filter(|entry| entry["level"] == "error");
        let refused = self
            .events("Audits.issueAdded")
            .filter(|event| event["issue"]["code"] == "ContentSecurityPolicyIssue");
        thrown
            .chain(console.map(Value::to_string))
            .chain(logged.map(Value::to_string))
            .chain(refused.map(Value::to_string))
            .collect()
    }

    /// Asserts that no page had an error or set a cookie.
    pub fn is_quiet(&mut self) {
        let complaints = self.complaints();
        assert!(complaints.is_empty(), "{complaints:#?}");
        let cookies = self.call("Network.getAllCookies", json!({}))["cookies"].clone();
        assert_eq!(cookies, json!([]), "readers get no cookies");
    }

    /// Error output of Chromium, if it ended or does not answer.
    fn complaint(&self) -> String {
        let stderr = fs::read_to_string(self.profile.path().join("stderr")).unwrap_or_default();
        let tail: Vec<&str> = stderr.lines().rev().take(5).collect();
        tail.iter().rev().fold(String::new(), |all, line| all + "\n" + line)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Its helper processes end later; files that they still write must not keep the directory.
        for _ in 0..20 {
            if fs::remove_dir_all(self.profile.path()).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Path of Chromium; `None` if it is not installed.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.iter().find_map(|name| dirs.iter().map(|dir| dir.join(name)).find(|at| is_program(at)))
}

fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Reads messages of the browser until it ends.
fn messages(pipe: impl io::Read + Send + 'static) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for message in BufReader::new(pipe).split(0) {
            let Ok(message) = message else { return };
            let message = serde_json::from_slice(&message).expect("the browser speaks JSON");
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}
