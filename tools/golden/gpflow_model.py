"""GPflow models whose parameters carry no transform, read as f64.

GPflow stores softplus-transformed parameters. Here they are stored as they are,
so the values are exactly those of the case and d/dlog v = v d/dv.
"""

import gpflow
import numpy as np
import tensorflow as tf

KERNELS = {
    "matern12": gpflow.kernels.Matern12,
    "matern32": gpflow.kernels.Matern32,
    "matern52": gpflow.kernels.Matern52,
    "se": gpflow.kernels.SquaredExponential,
}


def build(case, X, y, Z=None, sparse=gpflow.models.SGPR):
    """GPR, or the sparse model when inducing points are given."""
    scales = case["length_scales"]
    kernel = KERNELS[case["kernel"]]()
    kernel.lengthscales = gpflow.Parameter(scales[0] if len(scales) == 1 else scales)
    kernel.variance = gpflow.Parameter(case["signal_var"])
    data = (np.array(X), np.array(y)[:, None])
    mean = gpflow.functions.Constant(case["mean"])
    likelihood = gpflow.likelihoods.Gaussian(1.0)
    likelihood.variance = gpflow.Parameter(case["noise_var"])
    if Z is None:
        return gpflow.models.GPR(data, kernel, mean_function=mean, likelihood=likelihood)
    return sparse(data, kernel, np.array(Z), mean_function=mean, likelihood=likelihood)


def objective_and_gradient(model):
    """The training objective and its derivatives in the log-parameters."""
    parameters = [model.kernel.lengthscales, model.kernel.variance, model.likelihood.variance]
    variables = [p.unconstrained_variable for p in parameters]
    with tf.GradientTape() as tape:
        value = model.maximum_log_likelihood_objective()
    slopes = tape.gradient(value, variables)
    scaled = [(v * g).numpy() for v, g in zip(variables, slopes)]
    return float(value), [float(s) for s in np.concatenate([np.ravel(s) for s in scaled])]


def predict(model, S):
    """Mean and full covariance of the latent f at the rows of S, as lists."""
    mean, cov = model.predict_f(np.array(S), full_cov=True)
    return mean.numpy()[:, 0].tolist(), cov.numpy()[0].tolist()
