//! `tribo fit` and `tribo predict`.

use crate::support::Folder;
use std::time::{Duration, Instant};

/// A smooth function of two inputs; a third does nothing.
fn table(n: usize) -> String {
    let row = |i: usize| {
        let [a, b, c] = [7, 11, 13].map(|k| ((i * k * 31) % 997) as f64 / 996.0);
        format!("{a},{b},{c},{}\n", (5.0 * a).sin() + b * b)
    };
    format!("a,b,c,y\n{}", (0..n).map(row).collect::<String>())
}

#[test]
fn a_model_is_fitted_tried_kept_and_predicts() {
    let folder = Folder::empty();
    folder.write("data.csv", &table(900));
    let fit = ["fit", "data.csv", "--output", "y", "-o", "m.tribo", "-m", "60"];
    let page =
        folder.tribo(fit).code(0).prints("900").prints("held out").prints("length scale").prints("m.tribo");
    let of = |name: &str| page.stdout.lines().position(|line| line.starts_with(name)).unwrap();
    assert!(
        of("a ") < of("b ") && of("b ") < of("c "),
        "the input that matters most comes first: {}",
        page.stdout
    );
    let json = folder.tribo(fit.into_iter().chain(["--json"])).code(0).json();
    assert_eq!((json["rows"].as_u64(), json["held_out"].as_u64()), (Some(900), Some(90)));
    assert!(json["rmse"].as_f64().unwrap() < 0.01 && json["explained"].as_f64().unwrap() > 0.999, "{json}");
    folder.write("new.csv", "c,b,a\n0.1,0.5,0.2\n,0.5,0.2\n0.9,0.5,0.2\n");
    folder
        .tribo(["predict", "m.tribo", "new.csv"])
        .code(2)
        .says("new.csv:3: column \"c\" is empty")
        .says("--skip-bad");
    folder.tribo(["predict", "m.tribo", "new.csv", "-o", "p.csv", "--skip-bad"]).code(0);
    let out = folder.read("p.csv");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[2]), (4, "mean,sd,sd_measured", ",,"));
    for line in [lines[1], lines[3]] {
        let mean: f64 = line.split(',').next().unwrap().parse().unwrap();
        assert!((mean - (1.0_f64.sin() + 0.25)).abs() < 0.02, "{out}");
    }
}

#[test]
fn terms_of_a_sum_are_listed_and_an_unknown_kernel_is_refused_with_those_there_are() {
    let folder = Folder::empty();
    folder.write("data.csv", &table(300));
    let fit = |kernel: &'static str, more: &[&'static str]| {
        let options = ["fit", "data.csv", "--output", "y", "-o", "m.tribo", "-m", "40", "--kernel", kernel];
        folder.tribo(options.into_iter().chain(more.iter().copied()))
    };
    let page = fit("matern52+additive+pairs+linear", &["--report", "m.html"])
        .code(0)
        .prints("% in all inputs together")
        .prints("% in single inputs")
        .prints("% in pairs of them");
    let head = page.stdout.lines().find(|line| line.starts_with("input")).unwrap();
    for column in ["length scale", "of its range", "alone", "% of the variance", "slope"] {
        assert!(head.contains(column), "{head}");
        assert!(folder.read("m.html").contains(column), "{column}");
    }
    let json = fit("matern52+additive+pairs+linear", &["--json"]).code(0).json();
    assert_eq!(json["kernel"], "matern52+additive+pairs+linear");
    let inputs = json["inputs"].as_array().unwrap();
    let shares: f64 = inputs.iter().map(|input| input["alone_share"].as_f64().unwrap()).sum();
    assert!(shares > 0.0 && shares < 1.0, "{json}");
    assert!(inputs.iter().all(|input| input["slope_sd"].as_f64().unwrap() > 0.0), "{json}");
    assert!(inputs.iter().all(|input| input["alone_length_scale"].as_f64().unwrap() > 0.0), "{json}");
    // The model is read back and predicts.
    folder.write("new.csv", "a,b,c\n0.2,0.5,0.1\n");
    folder.tribo(["predict", "m.tribo", "new.csv", "-o", "p.csv"]).code(0);
    let mean: f64 = folder.read("p.csv").lines().nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    assert!((mean - (1.0_f64.sin() + 0.25)).abs() < 0.05, "{mean}");
    fit("matern32+periodic", &[])
        .code(2)
        .says("there is no kernel \"matern32+periodic\"")
        .says("matern12, matern32, matern52 or se")
        .says("+linear");
}

#[test]
fn a_page_shows_the_model_on_rows_it_has_not_seen() {
    let folder = Folder::empty();
    folder.write("data.csv", &table(900));
    folder.tribo(["fit", "data.csv", "--output", "y", "-m", "60", "--report", "model.html"]).code(0);
    let page = folder.read("model.html");
    for part in ["Predicted and measured", "Which inputs matter", "Slices", "length scale", "y from data.csv"]
    {
        assert!(page.contains(part), "{part}");
    }
    // One picture of the rows, one of the parts, a slice for each input.
    assert_eq!(page.matches("<figure").count(), 5);
    // y = sin 5a + b², a and b uniform: Var sin 5a = 0.5067, Var b² = 4/45, and c does nothing.
    let total = 0.5067 + 4.0 / 45.0;
    for (name, part) in [("a", 0.5067 / total), ("b", 4.0 / 45.0 / total), ("c", 0.0)] {
        let said = page.split(&format!("{name}: ")).nth(1).and_then(|rest| rest.split(" %").next());
        let said: f64 = said.and_then(|said| said.parse().ok()).unwrap_or_else(|| panic!("{name}: {page}"));
        // 90 rows held out tell a part to a few hundredths.
        assert!((said / 100.0 - part).abs() < 0.08, "{name}: {said} {part}");
    }
    folder
        .tribo(["fit", "data.csv", "--output", "y", "-m", "60", "--report", "no/model.html"])
        .code(4)
        .says("no/model.html");
    assert!(folder.has("model.tribo"));
}

#[test]
fn impossible_entries_are_clipped_and_said_so() {
    let folder = Folder::empty();
    // c does nothing, so that a wrong entry there is made good by the other two.
    let wrong = |(i, line): (usize, &str)| match line.rsplit_once(',') {
        // The sixth row, which is not held out.
        Some((inputs, y)) if i == 6 => format!("{},500,{y}\n", inputs.rsplit_once(',').unwrap().0),
        _ => format!("{line}\n"),
    };
    folder.write("data.csv", &table(900).lines().enumerate().map(wrong).collect::<String>());
    let fit = ["fit", "data.csv", "--inputs", "a,b,c", "--output", "y", "-m", "60"];
    folder.tribo(fit).code(0).prints("clipped").prints("c to 0.");
    let json = folder.tribo(fit.into_iter().chain(["--json"])).code(0).json();
    assert_eq!((json["clipped"].as_array().unwrap().len(), &json["clipped"][0]["input"]), (1, &"c".into()));
    folder.write("new.csv", "a,b,c\n0.2,0.5,1\n0.2,0.5,7000\n");
    let out = folder.tribo(["predict", "model.tribo", "new.csv"]).code(0).stdout;
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[1], lines[2], "what lies beyond is read as the edge");
    let raw = folder.tribo(fit.into_iter().chain(["--clip-inputs", "0", "--json"])).code(0).json();
    assert_eq!(raw["clipped"].as_array().unwrap().len(), 0);
    for wrong in ["0.5", "1", "some"] {
        folder.tribo(fit.into_iter().chain(["--clip-inputs", wrong])).code(2).says("--clip-inputs");
    }
}

#[test]
fn what_cannot_be_fitted_is_refused_and_leaves_nothing() {
    let folder = Folder::empty();
    folder.write("data.csv", &format!("{}nan,0.5,0.5,1\n", table(50)));
    let bad = folder.tribo(["fit", "data.csv", "--output", "y"]).code(2).says("--skip-bad");
    assert!(bad.stderr.contains("data.csv:52: column \"a\"") && bad.stderr.contains("is NaN"), "{bad:?}");
    folder.tribo(["fit", "data.csv", "--output", "z"]).code(2).says("there is no column \"z\"");
    folder.tribo(["fit", "data.csv", "--output", "y", "--inputs", "a,q"]).code(2).says("\"q\"");
    folder
        .tribo(["fit", "data.csv", "--output", "y", "--inputs", "a,y"])
        .code(2)
        .says("an input and the output");
    folder.tribo(["fit", "nothing.csv", "--output", "y"]).says("nothing.csv");
    assert!(!folder.has("model.tribo"));
    folder.tribo(["fit", "data.csv", "--output", "y", "--skip-bad"]).code(0).prints("left out");
    folder.write("new.csv", "a,b\n1,2\n");
    folder
        .tribo(["predict", "model.tribo", "new.csv", "-o", "p.csv"])
        .code(2)
        .says("there is no column \"c\"");
    folder.tribo(["predict", "data.csv", "new.csv", "-o", "p.csv"]).code(2).says("not a model");
    assert!(!folder.has("p.csv"));
}

#[test]
fn ctrl_c_ends_a_fit_at_once_and_leaves_nothing() {
    let folder = Folder::empty();
    folder.write("data.csv", &table(60_000));
    let fit = folder.start(["fit", "data.csv", "--output", "y", "-m", "800"]);
    std::thread::sleep(Duration::from_millis(1_500));
    // A shell without job control starts what runs beside it deaf to Ctrl-C, and so is the fit then.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    let is_deaf = u64::from_str_radix(ignored, 16).unwrap() & 2 != 0;
    fit.signal(if is_deaf { "TERM" } else { "INT" });
    // What sends the signal is a program, which takes its time to start on a machine that is busy.
    let begin = Instant::now();
    fit.wait();
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    assert!(!folder.has("model.tribo"));
}
