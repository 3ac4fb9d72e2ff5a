//! A backup that fails at chosen calls, for tests.

use device::Extent;

use super::{Backup, MemoryBackup};

/// A call of a backup.
pub enum BackupCall {
    /// To make room.
    Room,
    /// To keep the piece of this number.
    Keep(usize),
    /// To make all so far durable.
    Seal,
    /// To read the piece of this number.
    Read(usize),
}

/// The reason why a call fails, if it does.
type FailureRule = Box<dyn FnMut(BackupCall) -> Option<&'static str>>;

/// A backup that survives the process, and fails by a rule.
pub struct FailingBackup {
    kept: MemoryBackup,
    rule: FailureRule,
}

impl FailingBackup {
    /// An empty one.
    pub fn new(rule: impl FnMut(BackupCall) -> Option<&'static str> + 'static) -> FailingBackup {
        FailingBackup { kept: MemoryBackup::default(), rule: Box::new(rule) }
    }

    fn ask(&mut self, call: BackupCall) -> Result<(), String> {
        (self.rule)(call).map_or(Ok(()), |reason| Err(reason.to_owned()))
    }
}

impl Backup for FailingBackup {
    fn make_room(&mut self, _: u64) -> Result<(), String> {
        self.ask(BackupCall::Room)
    }
    fn keep(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), String> {
        self.ask(BackupCall::Keep(self.kept.pieces.len()))?;
        self.kept.keep(offset_bytes, data)
    }
    fn seal(&mut self) -> Result<(), String> {
        self.ask(BackupCall::Seal)
    }
    fn places(&self) -> Vec<Option<Extent>> {
        self.kept.places()
    }
    fn piece(&mut self, number: usize, data: &mut Vec<u8>) -> Result<(), String> {
        self.ask(BackupCall::Read(number))?;
        self.kept.piece(number, data)
    }
    fn clear(&mut self) -> Result<(), String> {
        self.kept.clear()
    }
}
