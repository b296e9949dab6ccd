"""What a study says about its inputs."""

import pickle

import tribo

WIDE = {"x": tribo.Float(-1, 1, size=200)}
SLOPES = {17: 2.0, 101: 1.0, 163: 3.0}


def bowl(x):
    """A function of 3 of 200 inputs."""
    return float(sum(slope * (x[input] - 0.3) ** 2 for input, slope in SLOPES.items()))


def after(study, evaluations, function):
    for _ in range(evaluations):
        for trial in study.ask():
            study.tell(trial, function(trial.params["x"]))
    return study.insight()


def test_the_inputs_that_matter_are_named():
    # 14 at the start, 8 groups, about 5 for each of three, one that moves all others: 45 are enough.
    insight = after(tribo.Study(WIDE, seed=1, evaluations=80), 45, bowl)
    assert isinstance(insight, tribo.Insight)
    assert (insight.verdict, insight.n_inputs, insight.n_idle) == ("sparse", 200, 197)
    assert sorted(one.input for one in insight.active) == sorted(SLOPES)
    assert all(one.name == f"x[{one.input}]" for one in insight.active)
    effects = [abs(one.effect) for one in insight.active]
    assert effects == sorted(effects, reverse=True)
    assert all(abs(one.effect) > one.threshold >= 0 and 0 < one.step < 1 for one in insight.active)
    assert insight.noise_sd < 1e-6
    assert "3 of 200 inputs matter" in str(insight) and "197 inputs are idle" in str(insight)
    assert pickle.loads(pickle.dumps(insight)) == insight


def test_findings_are_sentences_and_data():
    insight = after(tribo.Study(WIDE, seed=1, evaluations=80), 45, bowl)
    kinds = [finding.fact["what"] for finding in insight.findings]
    assert kinds[0] == "noise" and kinds.count("named") == 3 and "screened" in kinds and "rest" in kinds
    results = [finding.results for finding in insight.findings]
    assert results == sorted(results)
    named = next(finding for finding in insight.findings if finding.fact["what"] == "named")
    assert str(named).startswith(f"after {named.results} results: {named.fact['name']} matters: ")


def test_effects_have_the_sign_of_the_users_values():
    low = after(tribo.Study(WIDE, seed=1, evaluations=80), 45, bowl)
    high = after(tribo.Study(WIDE, seed=1, evaluations=80, direction="maximize"), 45, lambda x: -bowl(x))
    assert [(one.name, one.effect) for one in low.active] == [(one.name, -one.effect) for one in high.active]


def test_a_study_on_disk_says_the_same_when_it_is_opened(tmp_path):
    with tribo.Study.create(tmp_path, WIDE, seed=1, evaluations=80) as study:
        insight = after(study, 45, bowl)
    assert tribo.Study.open(tmp_path).insight() == insight


def test_inputs_that_the_user_named_have_no_evidence():
    strategy = {"name": "auto", "active": ["x[17]"]}
    [one] = tribo.Study(WIDE, strategy=strategy, evaluations=80).insight().active
    assert one == tribo.ActiveInput("x[17]", 17, None, None, None)


def test_few_inputs_are_not_looked_for():
    study = tribo.Study([(0, 1), (0, 1)])
    insight = study.insight()
    assert (insight.verdict, insight.active, insight.findings) == ("open", [], [])
    assert (insight.doing, insight.noise_sd) == (study.explanation, None)


def test_under_limits_the_inputs_of_each_output_are_named():
    study = tribo.Study(WIDE, objective="mass", constraints=["stress >= 0.5"], seed=1, evaluations=80)
    for _ in range(45):
        for trial in study.ask():
            x = trial.params["x"]
            study.tell(trial, {"mass": float(3 + x[17] + x[101]), "stress": float((1 + x[17]) * (1 + x[163]))})
    insight = study.insight()
    names = {output: sorted(one.name for one in inputs) for output, inputs in insight.outputs.items()}
    assert names == {"mass": ["x[101]", "x[17]"], "stress": ["x[163]", "x[17]"]}
    assert "mass is driven by x[" in str(insight)
    assert pickle.loads(pickle.dumps(insight)) == insight
