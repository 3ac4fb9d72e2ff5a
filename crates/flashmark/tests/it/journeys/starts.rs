//! Beginnings of journeys: commands that make a run.

/// A command that leaves a run, and the exit code it ends with.
pub struct Start {
    /// Name of the test that runs it.
    pub group: &'static str,
    /// The command as it is typed.
    pub command: &'static str,
    /// The exit code that is documented for it.
    pub exit: i32,
}

/// Honest, fake and cheating media, media with a false flush, and media that fail; a directory; and
/// output of other tools.
pub fn starts() -> impl Iterator<Item = Start> {
    include_str!("starts.txt").lines().filter(|line| !line.starts_with('#')).map(|line| {
        let [group, exit, command] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        Start { group, command, exit: exit.parse().expect("an exit code") }
    })
}

/// Commands that leave no run and take none, and the tests that walk them.
pub const ELSEWHERE: &[(&str, &str)] = &[
    ("list", "devices"),
    ("resume", "crash"),
    ("restore", "restored"),
    ("tests", "terminals"),
    ("init", "repository"),
    ("serve", "serve"),
    ("incoming", "serve"),
    ("accept", "serve"),
    ("reject", "serve"),
    ("sim", "cases"),
    ("watch", "watch"),
    ("explain", "findings"),
    ("attach", "attach"),
    ("detach", "attach"),
];
