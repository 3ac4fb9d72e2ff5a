//! `cargo xtask picture`: the terminal of the README, drawn from the program's output.

use std::fs;
use std::path::Path;
use std::process::Command;

use anstyle_svg::Term;
use anyhow::{Context, Result, ensure};

/// Path of the picture.
const PICTURE: &str = "docs/images/terminal.svg";
/// Columns of the terminal that is drawn.
const COLUMNS: u16 = 80;
/// Number of lines of the output that it shows.
const LINES: usize = 24;
/// Directory of the runs as the picture shows it.
const KEPT: &str = "~/.local/share/flashmark";
/// Command line: simulated, and so the same whenever it is drawn.
const WORDS: &str = "run sim:class10-bypass --suite quick --seed 5";

/// Runs the program in a terminal of its own and draws its output.
pub fn run(root: &Path) -> Result<()> {
    let home = tempfile::tempdir().context("making a place for the results")?;
    let program = root.join("target/release/flashmark");
    ensure!(program.exists(), "build it first: cargo build --release");
    let line =
        format!("stty cols {COLUMNS} rows 60; exec {} {WORDS} 2>/dev/null", program.display());
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env("FLASHMARK_HOME", home.path())
        .env("TERM", "xterm-256color")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("NO_COLOR")
        .output()
        .context("script (util-linux) is needed")?;
    let said = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    ensure!(output.status.success(), "{WORDS}: {said}");
    let said = said.replace(&home.path().display().to_string(), KEPT);
    fs::write(root.join(PICTURE), drawn(&said)).with_context(|| PICTURE.to_owned())?;
    println!("drew {PICTURE}");
    Ok(())
}

fn drawn(text: &str) -> String {
    let prompt = format!("\x1b[2m$\x1b[0m flashmark {}\n", WORDS);
    let first: Vec<&str> = text.lines().take(LINES).collect();
    Term::new().min_width_px(720).render_svg(&(prompt + &first.join("\n") + "\n"))
}

#[cfg(test)]
mod tests {
    use findings::phrases::DO_NOT_USE;

    use super::*;

    #[test]
    fn the_picture_shows_what_was_printed_and_in_colour() {
        let picture = drawn(&format!("\x1b[31m{DO_NOT_USE}\x1b[0m\n"));
        assert!(picture.starts_with("<svg") && picture.contains(DO_NOT_USE), "{picture}");
        assert!(picture.contains("fg-red") && picture.contains("flashmark run sim:"), "{picture}");
    }
}
