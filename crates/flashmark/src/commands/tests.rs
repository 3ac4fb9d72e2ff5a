//! `flashmark tests`: the tests with their descriptions, settings and sources.

use suite::Test;
use suite::catalogue::{CATALOGUE, find};

use crate::cli::TestsFlags;
use program::exit::{Exit, OrExit, Result};
use program::printing::print;

/// Lists the tests, or prints the settings of one; exit code 2 if there is no test of that name.
pub fn run(flags: &TestsFlags) -> Result {
    match &flags.test {
        Some(name) => print(&settings(find(name).or_usage()?))?,
        None => {
            for test in CATALOGUE {
                let needs = test.needs();
                let raw = if needs.raw { " [raw medium]" } else { "" };
                let writing = if needs.writing { " [writes]" } else { "" };
                print(&format!("{:<18} {}{writing}{raw}\n", test.name(), test.about()))?;
            }
            let [settings, change] = [
                "flashmark tests random-write",
                "flashmark run TARGET --set random-write.block=4KiB",
            ]
            .map(report::display::unbroken);
            print(&format!("\nSettings of one:  {settings}\nChange one:       {change}\n"))?;
        }
    }
    Ok(Exit::Done)
}

fn settings(test: &dyn Test) -> String {
    let mut text = format!("{}: {}\n", test.name(), test.about());
    for setting in test.settings() {
        text += &format!("\n  {} = {}\n      {}\n", setting.name, setting.default, setting.about);
    }
    text += &format!("\nSource: {}\n", test.source());
    text
}
