//! The identity: what changes it, what does not, and what a change is called.

use super::{COMPLETE, SMALLEST, good, with};

fn difference(old: &str, new: &str) -> Option<String> {
    good(old).identity_difference(&good(new))
}

#[test]
fn formatting_order_name_and_run_do_not_matter() {
    let reordered = "# A comment.\nname = \"other\"\nseed = 0\ndirection = 'maximize'\nstudy_version = 1\n\
                     [run]\ncommand = \"./f\"\n[strategy]\nname = \"auto\"\n[budget]\nwall_time = \"1h\"\nevaluations = 1_0\n\
                     [[parameter]]\nhigh = 1e0\nlow = 0.0\nlog = false\ntype = \"float\"\nname = \"x\"\n";
    assert_eq!(good(reordered).identity, good(SMALLEST).identity);
    assert_eq!(difference(reordered, SMALLEST), None);
    // The defaults of a strategy, written out.
    let long = "[strategy]\nname = \"paper\"\nmodel_dim = 1\nhalf_width = 1\nkernel = \"matern32\"\ninducing = 400\n";
    assert_eq!(difference(&with("[strategy]\nname = \"paper\"\n"), &with(long)), None);
}

#[test]
fn only_auto_with_many_inputs_looks_at_the_number_of_evaluations() {
    let more = |text: &str| text.replace("evaluations = 10\n", "evaluations = 20\n");
    let wide = SMALLEST.replace("name = \"x\"", "name = \"x\"\nsize = 1000");
    let said = difference(&wide, &more(&wide)).unwrap();
    assert!(said.starts_with("budget.evaluations 10 -> 20"), "{said}");
    assert_eq!(difference(SMALLEST, &more(SMALLEST)), None);
    let without = wide.replace("evaluations = 10\n", "wall_time = \"1h\"\n");
    assert!(difference(&wide, &without).unwrap().starts_with("budget.evaluations 10 -> none"));
    let bo = with("[strategy]\nname = \"bo\"\n");
    assert_eq!(difference(&bo, &more(&bo)), None);
}

#[test]
fn differences_are_named() {
    for (from, to, said) in [
        ("direction = \"minimize\"", "direction = \"maximize\"", "direction minimize -> maximize"),
        ("seed = 7 ", "seed = 8 ", "seed 7 -> 8"),
        ("high = 15.0", "high = 16", "parameter `angle`: high 15 -> 16"),
        ("high = 1e7", "high = 2e7", "parameter `reynolds`: high 10000000 -> 20000000"),
        (
            "low = 1e4\nhigh = 1e7\nlog = true",
            "low = 1e4\nhigh = 1e7\nlog = false",
            "parameter `reynolds`: log true -> false",
        ),
        ("size = 20 ", "size = 21 ", "parameter `thickness`: size 20 -> 21"),
        ("\"carbon\"]", "\"carbon\", \"oak\"]", "parameter `material`: choices"),
        ("name = \"ribs\"", "name = \"spars\"", "parameter `ribs` is gone"),
        ("delta = 0.1", "delta = 0.2", "strategy: delta 0.1 -> 0.2"),
        ("acquisition = \"ucb\"\ndelta = 0.1", "acquisition = \"ei\"", "strategy: acquisition ucb -> ei"),
        ("name = \"bo\" ", "name = \"paper\" ", "strategy bo -> paper"),
    ] {
        assert_eq!(COMPLETE.matches(from).count(), 1, "{from}");
        let found = difference(COMPLETE, &COMPLETE.replace(from, to)).unwrap_or_default();
        assert!(found.starts_with(said), "{found} instead of {said}");
    }
}

#[test]
fn a_vector_of_one_is_not_a_single_value() {
    let vector = SMALLEST.replace("high = 1\n", "high = 1\nsize = 1\n");
    assert_eq!(difference(SMALLEST, &vector).unwrap(), "parameter `x`: size not given -> 1");
}

#[test]
fn parameters_are_ordered() {
    let two = |a: &str, b: &str| {
        let parameter =
            |name: &str| format!("[[parameter]]\nname = \"{name}\"\ntype = \"int\"\nlow = 1\nhigh = 2\n");
        with(&format!("{}{}", parameter(a), parameter(b)))
    };
    let said = difference(&two("a", "b"), &two("b", "a")).unwrap();
    assert_eq!(said, "order of the parameters: `b` stands where `a` was");
    assert_eq!(difference(SMALLEST, &two("a", "b")).unwrap(), "parameter `a` is new; parameter `b` is new");
}

#[test]
fn constraints_are_part_of_it() {
    let file = |lines: &str| format!("{lines}{SMALLEST}");
    assert!(!good(SMALLEST).identity.contains("constraints"));
    let one = file("constraints = [\"x<=0.5\"]\n");
    assert_eq!(difference(SMALLEST, &one).unwrap(), "constraint `x <= 0.5` is new");
    assert_eq!(difference(&one, SMALLEST).unwrap(), "constraint `x <= 0.5` is gone");
    assert_eq!(difference(&one, &file("constraints = [\"x  <= 0.5\"]\n")), None);
    let both = |a: &str, b: &str| file(&format!("constraints = [\"{a}\", \"{b}\"]\n"));
    let (a, b) = ("x <= 0.5", "x^2 >= 0.01");
    assert_eq!(difference(&both(a, b), &both(b, a)).unwrap(), "the order of the constraints");
    assert_eq!(good(&both(a, b)).space.constraints().len(), 2);
}

#[test]
fn limits_are_part_of_it() {
    let head = SMALLEST.replace("direction = \"maximize\"\n", "");
    let file = |outputs: &str| {
        let all = format!("[[output]]\nname = \"mass\"\ngoal = \"minimize\"\n{outputs}[[parameter]]");
        head.replace("[[parameter]]", &all)
    };
    let stress = |lines: &str| file(&format!("[[output]]\nname = \"stress\"\n{lines}\n"));
    let recorded = stress("goal = \"record\"");
    // Nothing of them where there are none.
    assert!(!good(&recorded).identity.contains("limits"));
    let limit = stress("at_most = 200");
    assert_eq!(difference(&recorded, &limit).unwrap(), "limit on `stress`: not given -> stress <= 200");
    assert_eq!(difference(&limit, &recorded).unwrap(), "limit on `stress`: stress <= 200 -> not given");
    assert_eq!(
        difference(&limit, &stress("at_most = 180")).unwrap(),
        "limit on `stress`: stress <= 200 -> stress <= 180"
    );
    assert_eq!(
        difference(&limit, &stress("at_most = 200\ntolerance = 1")).unwrap(),
        "limit on `stress`: stress <= 200 -> stress <= 200 within 1.0"
    );
    assert_eq!(difference(&limit, &stress("goal = \"record\"\nat_most = 200.0")), None);
    assert_eq!(difference(&stress("at_least = 1\nat_most = 2"), &stress("between = [1, 2]")), None);
    let (a, b) = ("[[output]]\nname = \"a\"\nequals = 1\n", "[[output]]\nname = \"b\"\nequals = 1\n");
    let (one, other) = (file(&format!("{a}{b}")), file(&format!("{b}{a}")));
    assert_eq!(difference(&one, &other).unwrap(), "the order of the limits");
    let names: Vec<String> = good(&other).limits.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["b == 1", "a == 1"]);
}
