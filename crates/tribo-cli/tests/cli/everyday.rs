//! What people type, mistype and do on an ordinary day.

use crate::support::{Folder, SQUARE, with_command};
use std::time::{Duration, Instant};

#[test]
fn no_best_trials_are_not_asked_for() {
    Folder::finished().tribo(["best", "--top", "0"]).code(2).says("give a whole number, 1 or more");
}

#[test]
fn a_trial_is_shown_by_its_number() {
    let folder = Folder::finished();
    let shown = folder.tribo(["trials", "--trial", "3"]).code(0);
    assert_eq!(folder.tribo(["trials", "3"]).code(0).stdout, shown.stdout);
    assert_eq!(folder.tribo(["trials", ".", "3"]).code(0).stdout, shown.stdout);
    folder.tribo(["trials", "."]).code(0).prints("measured");
    folder.tribo(["trials", "3", "4"]).code(2).says("name one trial");
    folder.tribo(["trials", "99"]).code(2).says("there is no trial 99");
}

#[test]
fn tables_are_written_as_their_names_say() {
    let folder = Folder::finished();
    for name in ["a.xlsx", "a.tsv", "a.json"] {
        folder.tribo(["export", "-o", name]).code(2).says("name the file .csv, .jsonl or .parquet");
        assert!(!folder.has(name));
    }
    folder.tribo(["export", "-o", "A.CSV"]).code(0);
    folder.tribo(["export", "-o", "a.xlsx", "--format", "csv"]).code(0);
    assert_eq!(folder.read("A.CSV"), folder.read("a.xlsx"));
}

#[test]
fn a_range_that_is_none_makes_no_study_file() {
    let folder = Folder::empty();
    for (range, part) in [
        ("{x:1..0}", "low must be below high"),
        ("{x:0..1:log}", "low"),
        ("{n:1..1:int}", "low must be below high"),
    ] {
        folder.tribo(["init", "--from", &format!("echo {range}")]).code(2).says("--from: ").says(part);
        assert!(!folder.has("study.toml"));
    }
}

#[test]
fn commands_that_are_suggested_can_be_typed() {
    let folder = Folder::empty();
    folder.write("my study/it's.toml", SQUARE);
    let study = "my study/it's.toml";
    let typed = r"'my study/it'\''s.toml'";
    folder.tribo(["status", study]).code(2).says(&format!("`tribo run {typed}`"));
    folder.tribo(["check", study]).code(0).says(&format!("`tribo run {typed}`"));
    folder.tribo(["run", study]).code(0).says(&format!("`tribo trials {typed}`"));
    folder.tribo(["init", "my new"]).code(0).says("`tribo check 'my new'`");
    // Without a name, what is there is named.
    folder.tribo(["status", "my study"]).code(2).says("but there is my study/it's.toml").says(typed);
}

#[test]
fn an_interrupted_check_ends_what_it_started() {
    let command = r#"'echo $$ > "$TRIBO_STUDY_DIR/pid"; sleep 300; echo 1'
result = "stdout""#;
    let folder = Folder::with(&with_command(command));
    let check = folder.start(["check"]);
    let begun = Instant::now();
    while !folder.has("pid") || folder.read("pid").trim().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    let solver = format!("/proc/{}", folder.read("pid").trim());
    assert!(std::path::Path::new(&solver).exists());
    check.signal("INT");
    check.wait_in_time().code(130).says("the evaluation was ended");
    assert!(!std::path::Path::new(&solver).exists(), "the solver still runs");
}

#[test]
fn status_of_a_study_by_hand_speaks_of_no_driver() {
    let folder = Folder::with(SQUARE.split_once("[run]").unwrap().0);
    folder.tribo(["ask", "-n", "3"]).code(0);
    folder.tribo(["tell", "0", "1.5"]).code(0);
    let status =
        folder.tribo(["status"]).code(0).prints("evaluated by hand").prints("1 with a value, 2 to be told");
    for word in ["stopped", "driver", "under way", "tribo run"] {
        assert!(!status.stdout.contains(word), "{word}: {status:?}");
    }
    folder.write("old.csv", "x,value\n0.5,0.25\n0.25,0.0625\n");
    folder.tribo(["import", "old.csv"]).code(0);
    folder.tribo(["status"]).code(0).prints("1 of 6 done: 1 with a value, 2 to be told; 2 imported");
}

#[test]
fn points_that_are_not_allowed_are_no_failures() {
    let folder = Folder::with(&with_command("'exit 65'"));
    folder.tribo(["run"]).code(5);
    let status = folder.tribo(["status"]).code(0).prints("all 6 points were not allowed");
    assert!(!status.stdout.contains("evaluations failed"), "{status:?}");
}

#[test]
fn a_time_limit_is_told_by_its_key() {
    let folder = Folder::with(&with_command("'sleep 60'\ntimeout = \"0.2s\""));
    folder.tribo(["run"]).code(6).says("it took longer than `timeout` in the study file allows");
    let status = folder.tribo(["status"]).code(0);
    assert!(!status.stdout.contains('#'), "{status:?}");
}

#[test]
fn messages_say_what_is_meant() {
    let folder = Folder::empty();
    for (wrong, part) in [
        (
            SQUARE.replace("high = 1.0", "high = nan"),
            "`high` is nan, which is not a finite number; it must be a number",
        ),
        (SQUARE.replace("high = 1.0", "high = inf"), "`high` is inf, which is not a finite number"),
    ] {
        folder.write("study.toml", &wrong);
        folder.tribo(["check"]).code(3).says(part);
    }
    folder.write("study.toml", SQUARE);
    folder.tribo(["tell", "0", "mass="]).code(2).says("`mass=` has no number; write it as in mass=0.25");
    folder.write("old.csv", "x,value\n1000,1\n");
    folder.tribo(["import", "old.csv"]).code(2).says("1000 is outside of [-1, 1]");
    folder.tribo(["run"]).code(0);
    let added =
        "[[parameter]]\nname = \"angle\"\ntype = \"float\"\nlow = 0\nhigh = 1\nunused = true\n[budget]";
    folder.write("study.toml", &SQUARE.replace("[budget]", added));
    let part = "study.toml was changed since the study began: parameter `angle` is new";
    folder.tribo(["run"]).code(3).says(part);
    folder.tribo(["run", "--new-chapter"]).code(3).says(part).says("write `earlier = ...` into its section");
    std::fs::remove_file(folder.path().join("study.toml")).unwrap();
    folder
        .tribo(["status"])
        .code(0)
        .prints("study.toml is missing; the journal has a copy, which `tribo repair");
}

#[test]
fn an_earlier_value_that_comes_too_late_is_said_to() {
    let folder = Folder::finished();
    let with = |earlier: f64| {
        let added = format!(
            "[[parameter]]\nname = \"angle\"\ntype = \"float\"\nlow = 0\nhigh = 1\nunused = true\nearlier = {earlier}\n[budget]"
        );
        SQUARE.replace("[budget]", &added).replace("evaluations = 6", "evaluations = 8")
    };
    folder.write("study.toml", &with(0.25));
    folder.tribo(["run", "--new-chapter"]).code(0);
    folder.write("study.toml", &with(0.5));
    let part = "`earlier = 0.5` of parameter `angle` comes too late: this chapter began with 0.25";
    folder.tribo(["run"]).code(0).says(part);
}

#[test]
fn a_deleted_trial_folder_costs_one_attempt_and_no_minute() {
    let command = r#"'[ "$TRIBO_TRIAL.$TRIBO_ATTEMPT" = 1.1 ] && rm -rf "$TRIBO_DIR"; echo 1'
result = "stdout"
retry_delay = "0.1s""#;
    let folder = Folder::with(&with_command(command));
    let begun = Instant::now();
    folder.tribo(["run"]).code(0).says("was deleted while it ran").says("it is tried again");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let counts = &folder.tribo(["status", "--json"]).code(0).json()["counts"];
    assert_eq!((&counts["measured"], &counts["retries"]), (&6.into(), &1.into()), "{counts}");
}

/// A file system of this many bytes at a folder; None where only root may mount one.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn at(folder: std::path::PathBuf, bytes: usize) -> Option<SmallDisk> {
        std::fs::create_dir_all(&folder).unwrap();
        let options = format!("size={bytes}");
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(&folder)
            .stderr(std::process::Stdio::null())
            .status();
        mount.is_ok_and(|status| status.success()).then_some(SmallDisk(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Nothing is to be done about one that would not go.
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_said_at_once_and_waited_for() {
    let folder = Folder::empty();
    // Where nothing can be mounted there is no disk that could be full.
    let Some(disk) = SmallDisk::at(folder.path().join("disk"), 1 << 20) else { return };
    // The third evaluation fills the disk.
    let command = r#"'[ "$TRIBO_TRIAL.$TRIBO_ATTEMPT" = 2.1 ] && head -c 2000000 /dev/zero > "$TRIBO_STUDY_DIR/ballast"; echo "$TRIBO_X_X"'
result = "stdout"
retry_delay = "0.5s""#;
    folder.write("disk/study.toml", &with_command(command));
    let run = folder.start(["run", "disk"]);
    let begun = Instant::now();
    while !run.stderr().contains("No space left") {
        assert!(begun.elapsed() < Duration::from_secs(30), "{}", run.stderr());
        std::thread::sleep(Duration::from_millis(50));
    }
    std::fs::remove_file(folder.path().join("disk/ballast")).unwrap();
    run.wait_in_time().code(0);
    let counts = &folder.tribo(["status", "disk", "--json"]).code(0).json()["counts"];
    let count = |kind: &str| counts[kind].as_u64().expect("a number");
    // What an evaluation printed while there was no room is gone if there is room again when it is looked at.
    assert_eq!(count("measured") + count("failed") + count("invalid"), 6, "{counts}");
    assert!(count("measured") >= 4, "{counts}");
    drop(disk);
}

/// Results in a part of the space only, of waves that go on beyond it; and all over it.
#[test]
fn status_says_where_a_better_valley_may_be() {
    for (reach, is_told) in [(0.3, true), (1.0, false)] {
        let folder = Folder::with(
            "study_version = 1\ndirection = \"minimize\"\n\
             [[parameter]]\nname = \"x\"\ntype = \"float\"\nlow = 0.0\nhigh = 1.0\n\
             [[parameter]]\nname = \"y\"\ntype = \"float\"\nlow = 0.0\nhigh = 1.0\n\
             [strategy]\nname = \"bo\"\n",
        );
        let mut rows = "x,y,value\n".to_owned();
        for k in 0..121 {
            let (x, y) = (reach * f64::from(k / 11) / 10.0, f64::from(k % 11) / 10.0);
            let bowl = (x - 0.5).powi(2) + (y - 0.5).powi(2);
            let value = 2.0 * bowl - (13.0 * (x - 0.5)).cos() - (11.0 * (y - 0.5)).cos();
            rows += &format!("{x},{y},{value}\n");
        }
        folder.write("old.csv", &rows);
        folder.tribo(["import", "old.csv"]).code(0);
        let page = folder.tribo(["status"]).code(0).stdout;
        assert_eq!(page.contains("search    may be in a side valley: with "), is_told, "{page}");
        let told = folder.tribo(["status", "--json"]).code(0).json()["elsewhere"].clone();
        assert_eq!(told["params"]["x"].as_f64().map(|x| x > 0.3), is_told.then_some(true), "{told}");
    }
}
