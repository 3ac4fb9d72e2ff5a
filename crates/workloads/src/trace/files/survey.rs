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
        model.add("", Inode { before: Some(String::new()), is_file: false, ..Inode::named() });
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

/// What has a name, or is open.
#[derive(Default)]
struct Inode {
    bytes: u64,
    /// What it was called before the recording, if it was there.
    before: Option<String>,
    names: u32,
    opens: u32,
    /// False for a directory or a link.
    is_file: bool,
}

impl Inode {
    /// A file with one name.
    fn named() -> Inode {
        Inode { names: 1, is_file: true, ..Inode::default() }
    }
}

/// The tree as the operations make it.
#[derive(Default)]
struct Model {
    names: BTreeMap<String, u64>,
    inodes: HashMap<u64, Inode>,
    open: HashMap<u64, u64>,
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
                self.names.insert(to.clone(), inode);
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
                self.add(path, Inode { is_file: false, ..Inode::named() });
            }
        }
        Ok(())
    }

    fn open(&mut self, path: &str, file: u64, flags: OFlags) -> Result<(), String> {
        let has = |flag| flags.contains(flag);
        let is_there = self.names.contains_key(path);
        let inode = if has(OFlags::TMPFILE) {
            self.directory(path)?;
            self.make(Inode { is_file: true, ..Inode::default() })
        } else if has(OFlags::DIRECTORY) || path == "." {
            self.directory(path)?
        } else if has(OFlags::CREATE) && (!is_there || has(OFlags::EXCL)) {
            self.parent(path)?;
            self.forget(path);
            // It may have been there; then something is read from it that nothing wrote.
            let is_new = has(OFlags::EXCL) || has(OFlags::TRUNC);
            let before = if is_new { None } else { self.before(path).ok() };
            self.add(path, Inode { before, ..Inode::named() })
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

    /// The number of what has a path. A file that nothing made was there before.
    fn file(&mut self, path: &str) -> Result<u64, String> {
        if let Some(number) = self.names.get(if path == "." { "" } else { path }) {
            return Ok(*number);
        }
        let before = self.before(path)?;
        self.survey.before.insert(before.clone(), Some(0));
        Ok(self.add(path, Inode { before: Some(before), ..Inode::named() }))
    }

    /// Notes that a file is at least so long; what nothing wrote was there before.
    fn was_there(&mut self, number: u64, bytes: u64) {
        let Some(inode) = self.inodes.get(&number) else { return };
        if inode.is_file
            && bytes > inode.bytes
            && let Some(before) = inode.before.as_ref()
        {
            self.survey.before.insert(before.clone(), Some(bytes));
            self.change(number, |inode| inode.bytes = bytes);
        }
    }

    /// The number of a directory; one that nothing made was there before.
    fn directory(&mut self, path: &str) -> Result<u64, String> {
        let known = self.names.get(if path == "." { "" } else { path }).copied();
        let inode = known.and_then(|number| self.inodes.get(&number));
        let before = match (known, inode) {
            (Some(number), Some(inode)) if !inode.is_file => return Ok(number),
            // It was taken for a file.
            (_, Some(Inode { before: Some(before), .. })) => before.clone(),
            _ => self.before(path)?,
        };
        self.forget(path);
        self.survey.before.insert(before.clone(), None);
        Ok(self.add(path, Inode { before: Some(before), is_file: false, ..Inode::named() }))
    }

    fn parent(&mut self, path: &str) -> Result<(), String> {
        path.rsplit_once('/').map_or(Ok(()), |(parent, _)| self.directory(parent).map(drop))
    }

    /// What a path that nothing made was called before.
    fn before(&mut self, path: &str) -> Result<String, String> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.parent(path)?;
        match self.inodes[&self.names[parent]].before.as_deref() {
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

    /// Makes what has this path; its number.
    fn add(&mut self, path: &str, inode: Inode) -> u64 {
        let number = self.make(inode);
        self.names.insert(path.to_owned(), number);
        number
    }

    fn forget(&mut self, path: &str) {
        if let Some(number) = self.names.remove(path) {
            self.change(number, |inode| inode.names -= 1);
        }
    }

    fn opened(&self, file: u64) -> Result<u64, String> {
        self.open.get(&file).copied().ok_or_else(|| not_open(file))
    }

    /// Changes a file; it is gone when it has no name and nobody has it open.
    fn change(&mut self, number: u64, change: impl FnOnce(&mut Inode)) {
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
