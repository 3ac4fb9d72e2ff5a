//! Backup of what a test overwrites, kept in the run's directory until it is restored.

use device::Extent;
use store::{BackupLog, RunDir};
use suite::Backup;

/// Keeps what is overwritten in the directory of a run, so that another process can restore it.
pub struct BackupOnDisk {
    dir: RunDir,
    /// The medium in words, for whoever finds the log.
    medium: String,
    log: Option<BackupLog>,
}

impl BackupOnDisk {
    /// Empty backup; the log is made when room for it is asked for.
    pub fn none(dir: &RunDir, medium: String) -> BackupOnDisk {
        BackupOnDisk { dir: dir.clone(), medium, log: None }
    }

    /// Backup that an earlier process left.
    pub fn left(dir: &RunDir, log: BackupLog) -> BackupOnDisk {
        BackupOnDisk { dir: dir.clone(), medium: String::new(), log: Some(log) }
    }

    fn log(&mut self) -> Result<&mut BackupLog, String> {
        self.log.as_mut().ok_or_else(|| "the backup file was not created".to_owned())
    }
}

impl Backup for BackupOnDisk {
    fn make_room(&mut self, bytes: u64) -> Result<(), String> {
        self.log =
            Some(self.dir.create_backup(&self.medium, bytes).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn keep(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), String> {
        self.log()?.keep(offset_bytes, data).map_err(|error| error.to_string())
    }

    fn seal(&mut self) -> Result<(), String> {
        self.log()?.seal().map_err(|error| error.to_string())
    }

    fn places(&self) -> Vec<Option<Extent>> {
        let place = |(offset_bytes, bytes)| Extent::new(offset_bytes, bytes);
        self.log.iter().flat_map(BackupLog::places).map(|at| at.map(place)).collect()
    }

    fn piece(&mut self, number: usize, data: &mut Vec<u8>) -> Result<(), String> {
        self.log()?.read(number, data).map_err(|error| error.to_string())
    }

    fn clear(&mut self) -> Result<(), String> {
        self.log.take().map_or(Ok(()), |log| log.clear().map_err(|error| error.to_string()))
    }
}
