//! Appearance: screenshots of the page, and checks of its layout.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use serde_json::{Value, json};

use super::Browser;

/// Directory of the screenshots, kept for people.
pub fn shots() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shots");
    fs::create_dir_all(&dir).unwrap();
    dir
}

impl Browser {
    /// Takes a screenshot of the visible part.
    pub fn shot(&mut self, name: &str) {
        self.save_screenshot(name, json!({"format": "png"}));
    }

    /// Takes a screenshot of the whole page, up to twelve screens.
    pub fn shot_whole(&mut self, name: &str) {
        let size = self.call("Page.getLayoutMetrics", json!({}))["cssContentSize"].clone();
        let height = size["height"].as_f64().unwrap().min(f64::from(self.screen.height * 12));
        let clip =
            json!({"x": 0, "y": 0, "width": self.screen.width, "height": height, "scale": 1});
        self.save_screenshot(
            name,
            json!({"format": "png", "captureBeyondViewport": true, "clip": clip}),
        );
    }

    fn save_screenshot(&mut self, name: &str, how: Value) {
        if !self.keeps_pictures {
            return;
        }
        let answer = self.call("Page.captureScreenshot", how);
        let png = base64::engine::general_purpose::STANDARD
            .decode(answer["data"].as_str().unwrap())
            .unwrap();
        assert!(png.starts_with(b"\x89PNG"), "{name} is no picture");
        fs::write(shots().join(format!("{name}.png")), png).unwrap();
    }

    /// Asserts that the page is not wider than the screen: wide parts scroll in a region of their
    /// own.
    pub fn fits_the_screen(&mut self) {
        let wider = self.value(
            r#"(() => {
              const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
              if (wide <= 0) return [];
              const scrolls = (it) => it && (["auto", "scroll", "hidden"].includes(getComputedStyle(it).overflowX) || scrolls(it.parentElement));
              const out = [...document.querySelectorAll("main *, header *, footer *")].filter((it) => it.getBoundingClientRect().right > innerWidth + 1 && !scrolls(it.parentElement));
              return [wide + " px too wide"].concat(out.slice(0, 5).map((it) => it.outerHTML.slice(0, 120)));
            })()"#,
        );
        assert_eq!(wider, json!([]), "{} is wider than the screen", self.address());
    }

    /// Asserts that axe-core finds no serious problem in the page. Without axe-core it only prints
    /// that.
    pub fn has_no_barriers(&mut self) {
        let Some(axe) = axe_core() else {
            let missing = b"\n*** axe-core is not installed: BARRIERS NOT LOOKED FOR. ./test installs it ***\n";
            return std::io::Write::write_all(&mut std::io::stderr(), missing).unwrap();
        };
        self.value(&axe);
        let found = self.value(
            r#"axe.run().then((result) => (result.passes.length < 10 ? [{id: "few rules were tried", help: "", impact: "critical", nodes: []}] : result.violations)
                .filter((it) => ["serious", "critical"].includes(it.impact))
                .map((it) => it.id + ": " + it.help + ": " + it.nodes.slice(0, 3).map((node) => node.html.slice(0, 160) + " " + (node.any[0]?.message ?? "")).join(" | ")))"#,
        );
        assert_eq!(found, json!([]), "{}", self.address());
    }
}

/// The script of axe-core, from the Python package that `./test` installs.
fn axe_core() -> Option<String> {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/consumers/lib");
    let script = "site-packages/axe_playwright_python/axe.min.js";
    let pythons = fs::read_dir(lib).ok()?.filter_map(Result::ok);
    pythons.map(|python| python.path().join(script)).find_map(|file| fs::read_to_string(file).ok())
}
