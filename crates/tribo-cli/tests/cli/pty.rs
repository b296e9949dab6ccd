//! The program on a terminal of its own.

use crate::support::Folder;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The largest wait for something that should take seconds; machines under load are slow.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A program on a terminal; killed if a test fails.
pub(crate) struct Pty {
    child: Child,
    control: OwnedFd,
    written: Receiver<Vec<u8>>,
}

impl Pty {
    /// Starts it on a terminal of this width.
    pub(crate) fn start(folder: &Folder, args: &[&str], width: u16) -> Pty {
        let control = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&control).unwrap();
        unlockpt(&control).unwrap();
        let name = ptsname(&control, vec![]).unwrap();
        let side = || {
            let path = OsStr::from_bytes(name.as_bytes());
            Stdio::from(File::options().read(true).write(true).open(path).unwrap())
        };
        set_width(&control, width);
        let mut command = folder.command(args);
        command.env("TERM", "xterm").env("NO_COLOR", "1");
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let (sender, written) = channel();
        let mut read = File::from(control.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            // Ends with an error when the other side is closed.
            while let Ok(n @ 1..) = read.read(&mut buffer) {
                if sender.send(buffer[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        Pty { child, control, written }
    }

    pub(crate) fn resize(&self, width: u16) {
        set_width(&self.control, width);
    }

    /// What it has written, if it does so in time.
    pub(crate) fn next(&self, within: Duration) -> Option<Vec<u8>> {
        self.written.recv_timeout(within).ok()
    }

    /// Presses keys.
    pub(crate) fn press(&self, keys: &str) {
        File::from(self.control.try_clone().unwrap()).write_all(keys.as_bytes()).unwrap();
    }

    /// Sends a signal to it.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end and returns its exit code.
    pub(crate) fn wait(&mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

fn set_width(control: &OwnedFd, width: u16) {
    tcsetwinsize(control, Winsize { ws_row: 30, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

impl Drop for Pty {
    fn drop(&mut self) {
        // It has ended, unless a test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
