//! Process that measures one of several media: its call, its events and its interruption.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use serde_json::Value;

use super::one_end::OneEnd;
use super::screen::SeveralScreen;
use program::exit::Exit;
use program::messages;

/// Flags of the whole call that each process gets with a value of its own.
const OWN_FLAGS: [&str; 2] = ["--erase", "--progress"];

/// Interrupts this process when its parent dies.
pub fn end_with_the_parent() {
    let _ = set_parent_process_death_signal(Some(Signal::INT));
}

/// Processes that are measuring.
#[derive(Default)]
pub struct Running(Mutex<Vec<Pid>>);

impl Running {
    /// Sends each of them SIGINT.
    pub fn interrupt(&self) {
        for pid in self.lock().iter() {
            let _ = kill_process(*pid, Signal::INT);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Pid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A process at work.
pub struct Child {
    target: String,
    nth: usize,
    process: std::process::Child,
}

impl Child {
    /// Starts this program with these words, in a process group of its own: Ctrl-C reaches it once,
    /// through [`Running`].
    pub fn start(
        target: &str,
        nth: usize,
        words: &[String],
        running: &Running,
    ) -> anyhow::Result<Child> {
        let program = std::env::current_exe().context("this program is not found")?;
        let mut command = Command::new(program);
        command.args(words).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // known before it can be interrupted
        let mut pids = running.lock();
        let process = command.spawn().context("a process for it cannot be started")?;
        pids.push(Pid::from_child(&process));
        Ok(Child { target: target.to_owned(), nth, process })
    }

    /// Shows what it does until it has ended.
    pub fn wait(mut self, screen: &SeveralScreen, running: &Running) -> anyhow::Result<OneEnd> {
        let mut ended =
            OneEnd { last_message: String::new(), ..OneEnd::never_begun(&self.target, self.nth) };
        let (stdout, stderr) = (self.process.stdout.take(), self.process.stderr.take());
        let output = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stdout.map(|mut from| from.read_to_string(&mut text));
            text
        });
        for line in stderr.map(BufReader::new).into_iter().flat_map(BufRead::lines) {
            // a line that is no event comes from below: a panic, the dynamic linker
            match line.as_deref().map(serde_json::from_str::<Value>) {
                Ok(Ok(event)) if event.is_object() => {
                    ended.take(&event);
                    screen.show(self.nth, &event);
                    forward(&self.target, event);
                }
                Ok(_) => line?.clone_into(&mut ended.last_message),
                Err(_) => break,
            }
        }
        let pid = Pid::from_child(&self.process);
        let status = self.process.wait().context("waiting for its process")?;
        running.lock().retain(|other| *other != pid);
        ended.exit = status.code().map_or(Exit::Internal, Exit::from_code);
        ended.output = output.join().unwrap_or_default();
        screen.end(&ended);
        Ok(ended)
    }
}

/// Forwards an event of one medium to a program that reads the events.
fn forward(target: &str, mut event: Value) {
    let Some(members) = event.as_object_mut() else { return };
    let Some(Value::String(name)) = members.remove("event") else { return };
    members.insert("target".to_owned(), target.into());
    messages::event(&name, event);
}

/// Command line for one medium, made from that of several.
pub fn words(typed: &[String], nth: usize, erase: &[String]) -> Vec<String> {
    let mut words: Vec<String> = typed.iter().take(1).cloned().collect();
    words.extend(["--nth".to_owned(), nth.to_string(), "--progress".to_owned(), "json".to_owned()]);
    words.extend(erase.iter().flat_map(|id| ["--erase".to_owned(), id.clone()]));
    let mut rest = typed.iter().skip(1);
    while let Some(word) = rest.next() {
        if word == "--" {
            words.push(word.clone());
            words.extend(rest.cloned());
            break;
        }
        let is_of_another = word == "--yes" && erase.is_empty();
        if OWN_FLAGS.contains(&word.as_str()) {
            rest.next();
        } else if !is_of_another && !OWN_FLAGS.iter().any(|flag| is_with_value(word, flag)) {
            words.push(word.clone());
        }
    }
    words
}

fn is_with_value(word: &str, flag: &str) -> bool {
    word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_gets_its_own_erase_and_no_other() {
        let typed = "check A --erase B1 --yes --label x B --erase=C1 --progress=none -- --erase"
            .split(' ')
            .map(str::to_owned)
            .collect::<Vec<_>>();
        let of_b = words(&typed, 1, &["B1".to_owned()]);
        assert_eq!(
            of_b.join(" "),
            "check --nth 1 --progress json --erase B1 A --yes --label x B -- --erase"
        );
        let of_a = words(&typed, 0, &[]);
        assert!(
            ["B1", "C1", "--yes"].iter().all(|word| !of_a.join(" ").contains(word)),
            "{of_a:?}"
        );
    }
}
