//! A folder with a study, and the program in it.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The largest wait for something that should take seconds; machines under load are slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// x² in six evaluations.
pub(crate) const SQUARE: &str = r#"study_version = 1
direction = "minimize"
seed = 3

[[parameter]]
name = "x"
type = "float"
low = -1.0
high = 1.0

[budget]
evaluations = 6

[run]
workers = 2
command = 'awk -v x="$TRIBO_X_X" "BEGIN { printf \"%.17g\n\", x * x }"'
result = "stdout"
"#;

/// The same with another command, whose answer is in a JSON file.
pub(crate) fn with_command(command: &str) -> String {
    let (head, _) = SQUARE.split_once("command = ").unwrap();
    format!("{head}command = {command}\n")
}

pub(crate) struct Folder(tempfile::TempDir);

/// What a command left.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The same, if the exit code is this.
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Done {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// The same, if standard error has this text.
    #[track_caller]
    pub(crate) fn says(self, part: &str) -> Done {
        assert!(self.stderr.contains(part), "no {part:?} in {self:?}");
        self
    }

    /// The same, if standard output has this text.
    #[track_caller]
    pub(crate) fn prints(self, part: &str) -> Done {
        assert!(self.stdout.contains(part), "no {part:?} in {self:?}");
        self
    }
}

impl Folder {
    pub(crate) fn empty() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// A folder with this study file.
    pub(crate) fn with(study: &str) -> Folder {
        let folder = Folder::empty();
        folder.write("study.toml", study);
        folder
    }

    /// A folder with a study that has been run to its end.
    pub(crate) fn finished() -> Folder {
        let folder = Folder::with(SQUARE);
        folder.tribo(["run"]).code(0);
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes a program.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tribo"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn tribo<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Done {
        done(self.command(args).output().unwrap())
    }

    /// Starts a command and leaves it running.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Running {
        self.start_with(args, &[])
    }

    /// The same, with additions to its environment.
    pub(crate) fn start_with<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        env: &[(&str, &str)],
    ) -> Running {
        let stderr = self.path().join("stderr.txt");
        let mut command = self.command(args);
        command.envs(env.iter().copied());
        command.stdout(Stdio::piped()).stderr(fs::File::create(&stderr).unwrap());
        Running { child: command.spawn().unwrap(), stderr }
    }

    /// Waits until `tribo status` shows this.
    pub(crate) fn await_status(&self, wanted: impl Fn(&serde_json::Value) -> bool) {
        let begin = Instant::now();
        loop {
            let status = self.tribo(["status", "--json"]);
            if status.code == 0 && wanted(&status.json()) {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "{status:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// A command that is running; killed if a test fails.
pub(crate) struct Running {
    child: Child,
    stderr: PathBuf,
}

impl Running {
    /// Sends a signal to it, by its own number.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Interrupts it twice. Signals that come at once count as one, so the second waits for what the first one made it say.
    pub(crate) fn interrupt_twice(&self) {
        self.signal("INT");
        let begin = Instant::now();
        while !fs::read_to_string(&self.stderr).unwrap().contains("Ctrl-C again") {
            assert!(begin.elapsed() < PATIENCE, "{:?}", fs::read_to_string(&self.stderr));
            std::thread::sleep(Duration::from_millis(10));
        }
        self.signal("INT");
    }

    /// The next line of its standard output.
    pub(crate) fn line(&mut self) -> String {
        let (mut line, mut byte) = (Vec::new(), [0]);
        let stdout = self.child.stdout.as_mut().unwrap();
        while !line.ends_with(b"\n") && stdout.read(&mut byte).unwrap() == 1 {
            line.push(byte[0]);
        }
        String::from_utf8(line).unwrap()
    }

    /// What it has said so far.
    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap()
    }

    /// Waits for its end, which must come in time.
    pub(crate) fn wait_in_time(mut self) -> Done {
        let begin = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < PATIENCE, "{:?}", fs::read_to_string(&self.stderr));
            std::thread::sleep(Duration::from_millis(20));
        }
        self.wait()
    }

    pub(crate) fn wait(mut self) -> Done {
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        Done { code, stdout, stderr: fs::read_to_string(&self.stderr).unwrap() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, unless a test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn done(output: std::process::Output) -> Done {
    Done {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
