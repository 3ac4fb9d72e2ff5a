//! A first pass through a trace of operations: what must be there before them, what they come to,
//! and whether they fit together.

use std::collections::{BTreeMap, HashMap};

use rustix::fs::OFlags;

use super::{FileAction, FileOperation, FileOperations, FileTrace, FileTraceEnd};
use crate::trace::TraceError;

/// What a trace comes to. Memory goes with the files that are there at a time, not with the
/// operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileTraceSurvey {
    /// What was there before, by path: the length of a file in bytes, as far as it was read, none for
    /// a directory.
    pub before: BTreeMap<String, Option<u64>>,
    /// How many operations there are of each name.
    pub counts: BTreeMap<&'static str, u64>,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Bytes that were written.
    pub written_bytes: u64,
    /// Length of all files together where it is largest, in bytes.
    pub most_bytes: u64,
    /// Names of files and directories where they are most.
    pub most_names: u64,
    /// The longest transfer, in bytes.
    pub longest_bytes: u64,
    /// The end of the last operation, in nanoseconds since the recording began.
    pub recorded_ns: u64,
    /// What is to be said about it.
    pub end: FileTraceEnd,
}

impl FileTraceSurvey {
    /// Reads a trace to its end.
    ///
    /// # Errors
    /// What is wrong with it, and in which line.
    pub fn of(trace: &FileTrace) -> Result<FileTraceSurvey, TraceError> {
        let mut operations = trace.operations()?;
        let mut model = Model::default();
        model.names.insert(String::new(), Name { inode: None, before: Some(String::new()) });
        while let Some(operation) = operations.next_operation()? {
            model.take(&operation, &operations)?;
        }
        model.survey.end = operations.end();
        Ok(model.survey)
    }

    /// Operations of all kinds together.
    pub fn operations(&self) -> u64 {
        self.counts.values().sum()
    }
}

/// A name in the tree.
struct Name {
    /// Number of its file; none for a directory or a link.
    inode: Option<u64>,
    /// What it was called before the recording, if it was there.
    before: Option<String>,
}

/// A file that has a name or is open.
#[derive(Default)]
struct Inode {
    bytes: u64,
    /// What it was called before the recording, if it was there.
    before: Option<String>,
    names: u32,
    opens: u32,
}

/// The tree as the operations make it.
#[derive(Default)]
struct Model {
    names: BTreeMap<String, Name>,
    inodes: HashMap<u64, Inode>,
    open: HashMap<u64, Option<u64>>,
    next_inode: u64,
    bytes: u64,
    survey: FileTraceSurvey,
}

impl Model {
    fn take(&mut self, operation: &FileOperation, at: &FileOperations) -> Result<(), TraceError> {
        let action = &operation.action;
        self.act(action).map_err(|what| at.damaged(operation.line, &what))?;
        let survey = &mut self.survey;
        *survey.counts.entry(action.name()).or_default() += 1;
        survey.longest_bytes = survey.longest_bytes.max(action.moved_bytes());
        survey.recorded_ns =
            survey.recorded_ns.max(operation.at_ns.saturating_add(operation.took_ns));
        survey.most_bytes = survey.most_bytes.max(self.bytes);
        survey.most_names = survey.most_names.max(self.names.len() as u64);
        Ok(())
    }

    fn act(&mut self, action: &FileAction) -> Result<(), String> {
        match action {
            FileAction::Open { path, file, flags } => self.open(path, *file, *flags)?,
            FileAction::Close { file } => {
                let inode = self.open.remove(file).ok_or_else(|| not_open(*file))?;
                self.change(inode, |inode| inode.opens -= 1);
            }
            FileAction::Read { file, offset, bytes } => {
                let inode = self.opened(*file)?;
                self.was_there(inode, offset + bytes);
                self.survey.read_bytes += bytes;
            }
            FileAction::Write { file, offset, bytes } => {
                let inode = self.opened(*file)?;
                self.change(inode, |inode| match offset {
                    Some(offset) => inode.bytes = inode.bytes.max(offset + bytes),
                    None => inode.bytes = inode.bytes.saturating_add(*bytes),
                });
                self.survey.written_bytes += bytes;
            }
            FileAction::Truncate { file, bytes } => {
                let inode = self.opened(*file)?;
                self.change(inode, |inode| inode.bytes = *bytes);
            }
            FileAction::Fsync { file } | FileAction::Fdatasync { file } => {
                self.opened(*file)?;
            }
            FileAction::Rename { from, to } => {
                self.file(from)?;
                self.rename(from, to)?;
            }
            FileAction::Link { from, to } => {
                let inode = self.file(from)?;
                self.parent(to)?;
                self.change(inode, |inode| inode.names += 1);
                self.names.insert(to.clone(), Name { inode, before: None });
            }
            FileAction::Unlink { path } => {
                self.file(path)?;
                self.forget(path);
            }
            FileAction::Rmdir { path } => {
                self.directory(path)?;
                self.forget(path);
            }
            FileAction::Mkdir { path } | FileAction::Symlink { path, .. } => {
                self.parent(path)?;
                self.names.insert(path.clone(), Name { inode: None, before: None });
            }
        }
        Ok(())
    }

    fn open(&mut self, path: &str, file: u64, flags: OFlags) -> Result<(), String> {
        let has = |flag| flags.contains(flag);
        let is_there = self.names.contains_key(path);
        let inode = if has(OFlags::TMPFILE) {
            self.directory(path)?;
            Some(self.make(Inode::default()))
        } else if has(OFlags::DIRECTORY) || path == "." {
            self.directory(path)?;
            None
        } else if has(OFlags::CREATE) && (!is_there || has(OFlags::EXCL)) {
            self.parent(path)?;
            self.forget(path);
            // It may have been there; then something is read from it that nothing wrote.
            let is_new = has(OFlags::EXCL) || has(OFlags::TRUNC);
            let before = if is_new { None } else { self.before(path).ok() };
            let inode = self.make(Inode { names: 1, before, ..Inode::default() });
            self.names.insert(path.to_owned(), Name { inode: Some(inode), before: None });
            Some(inode)
        } else {
            self.file(path)?
        };
        self.change(inode, |inode| {
            inode.opens += 1;
            inode.bytes = if has(OFlags::TRUNC) { 0 } else { inode.bytes };
        });
        if self.open.insert(file, inode).is_some() {
            return Err(format!("the open file {file} is opened once more"));
        }
        Ok(())
    }

    /// The number of a file by its path. One that nothing made was there before.
    fn file(&mut self, path: &str) -> Result<Option<u64>, String> {
        if path != "." && !self.names.contains_key(path) {
            let before = self.before(path)?;
            self.survey.before.insert(before.clone(), Some(0));
            let there = Some(before.clone());
            let inode = self.make(Inode { names: 1, before: there, ..Inode::default() });
            self.names.insert(path.to_owned(), Name { inode: Some(inode), before: Some(before) });
        }
        Ok(self.names.get(path).and_then(|name| name.inode))
    }

    /// Notes that a file is at least so long; what nothing wrote was there before.
    fn was_there(&mut self, number: Option<u64>, bytes: u64) {
        let Some(inode) = number.and_then(|number| self.inodes.get(&number)) else { return };
        if bytes > inode.bytes
            && let Some(before) = inode.before.as_ref()
        {
            self.survey.before.insert(before.clone(), Some(bytes));
            self.change(number, |inode| inode.bytes = bytes);
        }
    }

    /// Makes sure that a directory is there; one that nothing made was there before.
    fn directory(&mut self, path: &str) -> Result<(), String> {
        // It may have been taken for a file.
        let is_there = self.names.get(path).is_some_and(|name| name.inode.is_none());
        if path != "." && !is_there {
            let known = self.names.get(path).and_then(|name| name.before.clone());
            let before = known.map_or_else(|| self.before(path), Ok)?;
            self.forget(path);
            self.survey.before.insert(before.clone(), None);
            self.names.insert(path.to_owned(), Name { inode: None, before: Some(before) });
        }
        Ok(())
    }

    fn parent(&mut self, path: &str) -> Result<(), String> {
        path.rsplit_once('/').map_or(Ok(()), |(parent, _)| self.directory(parent))
    }

    /// What a path that nothing made was called before.
    fn before(&mut self, path: &str) -> Result<String, String> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.parent(path)?;
        match self.names[parent].before.as_deref() {
            Some("") => Ok(name.to_owned()),
            Some(parent) => Ok(format!("{parent}/{name}")),
            None => Err(format!(
                "'{path}' is used, and nothing made it in '{parent}', which is new: an operation is missing"
            )),
        }
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), String> {
        self.parent(to)?;
        self.forget(to);
        let (below, beyond) = (format!("{from}/"), format!("{from}0"));
        let inside: Vec<String> =
            self.names.range(below..beyond).map(|(path, _)| path.clone()).collect();
        for path in inside.into_iter().chain([from.to_owned()]) {
            if let Some(name) = self.names.remove(&path) {
                self.names.insert(format!("{to}{}", &path[from.len()..]), name);
            }
        }
        Ok(())
    }

    fn make(&mut self, inode: Inode) -> u64 {
        self.next_inode += 1;
        self.inodes.insert(self.next_inode, inode);
        self.next_inode
    }

    fn forget(&mut self, path: &str) {
        let name = self.names.remove(path);
        self.change(name.and_then(|name| name.inode), |inode| inode.names -= 1);
    }

    fn opened(&self, file: u64) -> Result<Option<u64>, String> {
        self.open.get(&file).copied().ok_or_else(|| not_open(file))
    }

    /// Changes a file; it is gone when it has no name and nobody has it open.
    fn change(&mut self, number: Option<u64>, change: impl FnOnce(&mut Inode)) {
        let Some(number) = number else { return };
        let Some(inode) = self.inodes.get_mut(&number) else { return };
        let bytes = inode.bytes;
        change(inode);
        let gone = inode.names == 0 && inode.opens == 0;
        let now = if gone { 0 } else { inode.bytes };
        self.bytes = self.bytes.saturating_sub(bytes).saturating_add(now);
        if gone {
            self.inodes.remove(&number);
        }
    }
}

fn not_open(file: u64) -> String {
    format!("the file {file} is not open")
}
