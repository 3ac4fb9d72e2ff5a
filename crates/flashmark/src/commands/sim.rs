//! `flashmark sim`: simulated media for trying things out.

use sim::Profile;

use program::exit::{Exit, OrExit, Result};
use program::printing::{print, print_document};
use session::target::profile_text;

/// `flashmark sim list`: each built-in profile with a line about it.
pub fn list() -> Result {
    for profile in Profile::all() {
        print(&format!("{:<18} {}\n", profile.name(), profile.about()))?;
    }
    let command = report::display::unbroken("flashmark run sim:class10 --suite quick");
    print(&format!("\nTry one:  {command}\n"))?;
    Ok(Exit::Done)
}

/// `flashmark sim show PROFILE`: a built-in profile or the user's own, by the name that `run`
/// takes.
pub fn show(name: &str) -> Result {
    let name = name.strip_prefix("sim:").unwrap_or(name);
    let text = profile_text(name)?;
    Profile::parse(name, &text).or_usage()?; // what is shown is a profile
    print_document(&text)?;
    Ok(Exit::Done)
}
