//! A file system that the test serves itself (FUSE): one file, "medium", that fails in a chosen
//! way.
//!
//! Only the messages that the tests cause are answered;
//! <https://www.kernel.org/doc/html/latest/filesystems/fuse.html> and `linux/fuse.h` (protocol
//! 7.31) describe them.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::support::{has_root, skipped};

/// Answer of the medium to a request.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// Correct answers.
    Well,
    /// An error for every read and write.
    Error(Errno),
    /// An error for writes only.
    WriteError(Errno),
    /// Reads return no bytes, as from a medium that is gone.
    Nothing,
    /// An error for every request that touches a byte between these two.
    Unreadable(u64, u64),
    /// One answer late by this time, then correct answers.
    Late(Duration),
    /// Correct answers, at no more than so many bytes per second.
    Slow(u64),
}

/// Content of the served file.
pub trait Content: Send {
    fn size(&self) -> u64;
    fn read(&mut self, offset: u64, bytes: u64) -> Result<Vec<u8>, Errno>;
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Errno>;
    fn flush(&mut self) -> Result<(), Errno>;
}

/// Mount point, unmounted when dropped.
pub struct Mounted(PathBuf);

impl Mounted {
    /// Mounts a file system of that kind ("fuse.own") at a directory; `None` if it cannot be
    /// mounted, and the reason is printed.
    pub fn serving(at: &Path, kind: &str, content: impl Content + 'static) -> Option<Mounted> {
        if !has_root() {
            return None;
        }
        let Ok(channel) = OpenOptions::new().read(true).write(true).open("/dev/fuse") else {
            skipped("needs /dev/fuse");
            return None;
        };
        let options =
            format!("fd={},rootmode=40000,user_id=0,group_id=0,allow_other", channel.as_raw_fd());
        let options = std::ffi::CString::new(options).unwrap();
        mount("flashmark-it", at, kind, MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())
            .unwrap();
        let server = Server { channel, content: Box::new(content) };
        std::thread::spawn(move || server.serve());
        Some(Mounted(at.to_owned()))
    }

    pub fn file(&self) -> PathBuf {
        self.0.join("medium")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

/// A medium in memory that fails in a chosen way. Unmounted when dropped.
pub struct FailingMedium {
    mounted: Mounted,
    answer: Arc<Mutex<Answer>>,
    late: Arc<AtomicBool>,
    content: Arc<Mutex<Vec<u8>>>,
}

const ROOT: u64 = 1;
const FILE: u64 = 2;
const MAX_WRITE: usize = 1 << 20;

impl FailingMedium {
    /// Mounts a medium of `bytes` at a directory, as a file system of that kind ("fuse.own");
    /// `None` if it cannot be mounted, and the reason is printed.
    pub fn mounted(at: &Path, kind: &str, bytes: usize) -> Option<FailingMedium> {
        FailingMedium::holding(at, kind, (0..bytes).map(at_first).collect())
    }

    /// Mounts a medium with this content.
    pub fn holding(at: &Path, kind: &str, content: Vec<u8>) -> Option<FailingMedium> {
        let (answer, content) = (Arc::new(Mutex::new(Answer::Well)), Arc::new(Mutex::new(content)));
        let late = Arc::new(AtomicBool::new(false));
        let failing = Failing {
            answer: Arc::clone(&answer),
            late: Arc::clone(&late),
            content: Arc::clone(&content),
        };
        Some(FailingMedium { mounted: Mounted::serving(at, kind, failing)?, answer, late, content })
    }

    /// The file.
    pub fn file(&self) -> PathBuf {
        self.mounted.file()
    }

    /// Every byte of the present content.
    pub fn content(&self) -> Vec<u8> {
        self.content.lock().unwrap().clone()
    }

    /// True if an answer has begun to be late.
    pub fn is_late(&self) -> bool {
        self.late.load(Ordering::SeqCst)
    }

    /// Sets the answer to all later requests.
    pub fn answers(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }
}

impl Drop for FailingMedium {
    fn drop(&mut self) {
        // Whoever still waits for it gets an answer and may go.
        self.answers(Answer::Well);
    }
}

/// Chosen answer and content of a [`FailingMedium`].
struct Failing {
    answer: Arc<Mutex<Answer>>,
    late: Arc<AtomicBool>,
    content: Arc<Mutex<Vec<u8>>>,
}

impl Failing {
    /// Answer to a request of so many bytes, after the delay that was chosen.
    fn answer_to(&self, bytes: u64) -> Answer {
        let answer = {
            // Under one lock: an answer that is chosen meanwhile must not be lost.
            let mut chosen = self.answer.lock().unwrap();
            let answer = *chosen;
            if matches!(answer, Answer::Late(_)) {
                *chosen = Answer::Well;
            }
            answer
        };
        if let Answer::Late(time) = answer {
            self.late.store(true, Ordering::SeqCst);
            std::thread::sleep(time);
        }
        if let Answer::Slow(bps) = answer {
            std::thread::sleep(Duration::from_secs_f64(bytes as f64 / bps as f64));
        }
        answer
    }
}

impl Content for Failing {
    fn size(&self) -> u64 {
        self.content.lock().unwrap().len() as u64
    }

    fn read(&mut self, offset: u64, bytes: u64) -> Result<Vec<u8>, Errno> {
        match self.answer_to(bytes) {
            Answer::Error(errno) => Err(errno),
            Answer::Unreadable(from, to) if from < offset + bytes && offset < to => Err(Errno::IO),
            Answer::Nothing => Ok(Vec::new()),
            _ => {
                let content = self.content.lock().unwrap();
                let from = content.len().min(offset as usize);
                let to = content.len().min((offset + bytes) as usize);
                Ok(content[from..to].to_vec())
            }
        }
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Errno> {
        match self.answer_to(data.len() as u64) {
            Answer::Error(errno) | Answer::WriteError(errno) => Err(errno),
            _ => {
                let place = offset as usize..offset as usize + data.len();
                self.content
                    .lock()
                    .unwrap()
                    .get_mut(place)
                    .ok_or(Errno::NOSPC)?
                    .copy_from_slice(data);
                Ok(())
            }
        }
    }

    fn flush(&mut self) -> Result<(), Errno> {
        Ok(())
    }
}

struct Server {
    channel: File,
    content: Box<dyn Content>,
}

/// Byte at this offset of a new medium.
fn at_first(byte: usize) -> u8 {
    (byte / 512) as u8 ^ 0xa5
}

/// A message from the kernel.
struct Message<'a> {
    opcode: u32,
    unique: u64,
    node: u64,
    body: &'a [u8],
}

fn number<const BYTES: usize>(bytes: &[u8], at: usize) -> u64 {
    let mut wide = [0; 8];
    wide[..BYTES].copy_from_slice(&bytes[at..at + BYTES]);
    u64::from_ne_bytes(wide)
}

/// Numbers of four or eight bytes, one after the other, in the kernel's layout.
fn laid_out(numbers: &[(u64, usize)]) -> Vec<u8> {
    numbers.iter().flat_map(|(number, bytes)| number.to_ne_bytes()[..*bytes].to_vec()).collect()
}

impl Server {
    /// Answers until the file system is unmounted.
    fn serve(mut self) {
        let mut buffer = vec![0; MAX_WRITE + 4096];
        loop {
            let got = match self.channel.read(&mut buffer) {
                Ok(got) => got,
                // A message that was taken back.
                Err(error) if error.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => continue,
                Err(_) => return,
            };
            let head = &buffer[..got];
            let message = Message {
                opcode: number::<4>(head, 4) as u32,
                unique: number::<8>(head, 8),
                node: number::<8>(head, 16),
                body: &head[40..],
            };
            let Some(answer) = self.answer(&message) else { continue };
            let (error, body) = match answer {
                Ok(body) => (0, body),
                Err(errno) => (-errno.raw_os_error(), Vec::new()),
            };
            let length = 16 + body.len() as u64;
            let reply =
                [laid_out(&[(length, 4), (u64::from(error as u32), 4), (message.unique, 8)]), body]
                    .concat();
            // Whoever asked may be gone; that is no matter of ours.
            let _ = self.channel.write_all(&reply);
        }
    }

    /// Reply to a message; `None` if it wants no reply.
    fn answer(&mut self, message: &Message<'_>) -> Option<Result<Vec<u8>, Errno>> {
        let nothing = Ok(Vec::new());
        Some(match message.opcode {
            2 | 36 | 38 | 42 => return None, // forget, interrupt, destroy, batch-forget
            1 if message.body == b"medium\0" => Ok([
                laid_out(&[(FILE, 8), (0, 8), (1, 8), (1, 8), (0, 4), (0, 4)]),
                self.attributes(FILE),
            ]
            .concat()),
            1 => Err(Errno::NOENT), // lookup
            3 => Ok([laid_out(&[(1, 8), (0, 4), (0, 4)]), self.attributes(message.node)].concat()), // getattr
            14 | 27 => Ok(laid_out(&[(message.node, 8), (1, 4), (0, 4)])), // open, opendir: direct I/O
            15 => self.content.read(number::<8>(message.body, 8), number::<4>(message.body, 16)),
            16 => self.write(number::<8>(message.body, 8), &message.body[40..]),
            20 => self.content.flush().map(|()| Vec::new()), // fsync
            17 => Ok(laid_out(&[
                (9000, 8),
                (9000, 8),
                (9000, 8),
                (9, 8),
                (9, 8),
                (4096, 4),
                (255, 4),
                (4096, 4),
                (0, 4),
                (0, 8),
                (0, 8),
                (0, 8),
            ])),
            18 | 25 | 28 | 29 | 30 | 34 => nothing, // release, flush, readdir, releasedir, fsyncdir, access
            26 => Ok(self.hello(message.body)),
            _ => Err(Errno::NOSYS),
        })
    }

    /// Protocol 7.31, requests of up to 1 MiB, direct I/O side by side.
    fn hello(&self, asked: &[u8]) -> Vec<u8> {
        const ASYNC_READ: u64 = 1;
        const BIG_WRITES: u64 = 1 << 5;
        const ASYNC_DIO: u64 = 1 << 15;
        const MAX_PAGES: u64 = 1 << 22;
        let flags = number::<4>(asked, 12) & (ASYNC_READ | BIG_WRITES | ASYNC_DIO | MAX_PAGES);
        let head = laid_out(&[
            (7, 4),
            (31, 4),
            (0, 4),
            (flags, 4),
            (16, 2),
            (12, 2),
            (MAX_WRITE as u64, 4),
            (1, 4),
            (256, 2),
            (0, 2),
        ]);
        [head, vec![0; 32]].concat()
    }

    fn attributes(&self, node: u64) -> Vec<u8> {
        let (mode, size) =
            if node == ROOT { (0o040_755, 0) } else { (0o100_644, self.content.size()) };
        let times = [(0, 8), (0, 8), (0, 8), (0, 4), (0, 4), (0, 4)];
        let rest = [(mode, 4), (1, 4), (0, 4), (0, 4), (0, 4), (4096, 4), (0, 4)];
        laid_out(&[&[(node, 8), (size, 8), (size / 512, 8)][..], &times, &rest].concat())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> Result<Vec<u8>, Errno> {
        self.content.write(offset, data)?;
        Ok(laid_out(&[(data.len() as u64, 4), (0, 4)]))
    }
}
