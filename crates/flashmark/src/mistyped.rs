//! Messages for a command line that was mistyped: what to type instead.

use clap::error::{ContextKind, ContextValue};
use record::text::printable;

/// Commands that a build may be without: name, the feature that brings it, whether it is here.
const OPTIONAL: [(&str, &str, bool); 12] = [
    ("articles", "export", cfg!(feature = "export")),
    ("publish", "export", cfg!(feature = "export")),
    ("validate", "export", cfg!(feature = "export")),
    ("collection", "export", cfg!(feature = "export")),
    ("export", "export", cfg!(feature = "export")),
    ("import", "export", cfg!(feature = "export")),
    ("submit", "export", cfg!(feature = "export")),
    ("matrix", "workloads", cfg!(feature = "workloads")),
    ("replay", "workloads", cfg!(feature = "workloads")),
    ("watch", "workloads", cfg!(feature = "workloads")),
    ("attach", "attach", cfg!(feature = "attach")),
    ("detach", "attach", cfg!(feature = "attach")),
];

/// Message for a command that this build does not have.
pub fn left_out(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let (name, feature, _) =
        OPTIONAL.iter().find(|(name, _, is_here)| name == typed && !is_here)?;
    Some(format!("this build is without `{name}`; `cargo build --features {feature}` brings it"))
}

/// Says what to type where a word is not UTF-8: the record and its journal hold text.
pub fn not_text(error: &clap::Error) -> Option<String> {
    if error.kind() != clap::error::ErrorKind::InvalidUtf8 {
        return None;
    }
    let word = std::env::args_os().find(|word| word.to_str().is_none())?;
    let word = printable(&word.to_string_lossy());
    Some(format!(
        "the name '{word}' is not UTF-8; rename it, or cd into it and type '.' where it is a directory"
    ))
}

/// Message for a target that was typed without a command.
pub fn without_command(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let is_target = typed.starts_with(['/', '.', '~'])
        || typed.starts_with("sim:")
        || std::path::Path::new(typed).exists();
    let typed = printable(typed);
    is_target.then(|| {
        format!(
            "what to do with {typed}? `flashmark run {typed}` measures it; `flashmark check {typed}` tells whether it is genuine, fit and healthy"
        )
    })
}

/// Hint for a command that was typed without its target.
pub fn without_target(error: &clap::Error) -> Option<String> {
    if error.kind() != clap::error::ErrorKind::MissingRequiredArgument {
        return None;
    }
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let command = std::env::args().nth(1)?;
    match missing.last()?.as_str() {
        "<TARGET>" => Some(format!(
            "TARGET is a directory on the medium (flashmark {command} /media/stick), a device \
             (/dev/sdX; `flashmark list` shows them) or a simulated medium (sim:a1)."
        )),
        "<DEV>..." | "<DEV>" => Some(
            "DEV is a device, by its name (sda, /dev/sda); `flashmark list` shows them.".to_owned(),
        ),
        _ => None,
    }
}
