"""Learners of scikit-learn with mixed inputs, on data that it ships: the cross-validated loss.

Deterministic: the instance is the seed of the split and of the learner. Choices, whole numbers and numbers on a
logarithmic scale, as people tune them.
"""

from .problems import Failure, Problem
from .space import Choice, Real, Whole

NAMES = ["boosting", "svm", "forest", "mlp"]
INPUTS = None
FIXED = dict.fromkeys(NAMES)
EVALUATIONS = 60

# Few, as a race has thousands of evaluations.
N_FOLDS = 3


def make(name, inputs, instance):
    space, learner, data, classes, scoring = {"boosting": boosting, "svm": svm, "forest": forest, "mlp": mlp}[name]()
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

    x, y = data(return_X_y=True)
    folds = (StratifiedKFold if classes else KFold)(N_FOLDS, shuffle=True, random_state=instance)

    def loss(point):
        model = learner(dict(zip([one.name for one in space], point)), instance)
        try:
            found = -float(cross_val_score(model, x, y, cv=folds, scoring=scoring, error_score="raise").mean())
        except ValueError as error:
            # A perceptron whose weights have run away.
            if "non-finite" not in str(error) and "NaN" not in str(error):
                raise
            raise Failure("failed") from None
        return found

    return Problem(space, loss)


def boosting():
    """Gradient boosting on diabetes: the root of the mean squared error."""
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import GradientBoostingRegressor

    space = [
        Real("learning_rate", 0.01, 0.5, log=True),
        Whole("n_estimators", 20, 200, log=True),
        Whole("max_depth", 1, 6),
        Real("subsample", 0.3, 1.0),
        Choice("loss", ("squared_error", "absolute_error", "huber")),
    ]
    return (
        space,
        lambda given, seed: GradientBoostingRegressor(**given, random_state=seed),
        load_diabetes,
        False,
        "neg_root_mean_squared_error",
    )


def svm():
    """A support vector machine on breast cancer: the share of wrong answers, in steps of 1/569."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    space = [
        Real("C", 1e-3, 1e3, log=True),
        Real("gamma", 1e-5, 10.0, log=True),
        Choice("kernel", ("rbf", "poly", "sigmoid")),
        Whole("degree", 2, 5),
        Real("coef0", 0.0, 1.0),
    ]
    # Accuracy less one is minus the share of wrong answers.
    return (
        space,
        lambda given, seed: make_pipeline(StandardScaler(), SVC(**given, random_state=seed)),
        load_breast_cancer,
        True,
        lambda model, x, y: model.score(x, y) - 1.0,
    )


def forest():
    """A random forest on wine: the logarithmic loss."""
    from sklearn.datasets import load_wine
    from sklearn.ensemble import RandomForestClassifier

    space = [
        Whole("n_estimators", 10, 100, log=True),
        Whole("max_depth", 1, 16),
        Whole("min_samples_leaf", 1, 20),
        Real("max_features", 0.05, 1.0),
        Choice("criterion", ("gini", "entropy")),
        Choice("bootstrap", ("yes", "no")),
    ]

    def learner(given, seed):
        given["bootstrap"] = given["bootstrap"] == "yes"
        return RandomForestClassifier(**given, random_state=seed)

    return space, learner, load_wine, True, "neg_log_loss"


def mlp():
    """A perceptron with one hidden layer on digits, 20 epochs: the logarithmic loss."""
    import warnings

    from sklearn.datasets import load_digits
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Twenty epochs are the problem's, so that they do not suffice is no news.
    warnings.simplefilter("ignore", ConvergenceWarning)
    space = [
        Whole("width", 8, 128, log=True),
        Real("alpha", 1e-6, 10.0, log=True),
        Real("learning_rate_init", 1e-4, 0.1, log=True),
        Whole("batch_size", 16, 256, log=True),
        Choice("activation", ("relu", "tanh", "logistic")),
        Choice("solver", ("adam", "sgd")),
    ]

    def learner(given, seed):
        layers = (given.pop("width"),)
        return make_pipeline(StandardScaler(), MLPClassifier(layers, max_iter=20, **given, random_state=seed))

    return space, learner, load_digits, True, "neg_log_loss"
