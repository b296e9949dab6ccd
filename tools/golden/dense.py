"""Gaussian-process regression in mpmath, dense and straight from the definitions.

f training, u inducing, s query; noise variance s2.
    Q      = Kfu Kuu^-1 Kuf
    Lambda = s2 I                       sor, dtc, elbo
           = diag(Kff - Q) + s2 I       fic
           = blockdiag(Kff - Q) + s2 I  pitc
    C      = Q + Lambda                 (exact: Kff + s2 I)
    objective = log N(y | mean, C), and for elbo - tr(Kff - Q) / (2 s2) more
    Sigma  = (Kuu + Kuf Lambda^-1 Kfu)^-1
    mean_s = mean + Ksu Sigma Kuf Lambda^-1 (y - mean)
    cov_s  = Ksu Sigma Kus              sor
           = Kss - Qss + Ksu Sigma Kus  the others
The formulas are in [@quinonero2005] (all but the bound) and
[@titsias2009] (the bound). Nothing is factored cleverly and no jitter is
added; the working precision alone carries the conditioning.
"""

from mpmath import det, eigsy, exp, eye, inverse, log, lu_solve, mp, mpf, pi

from kernels import covariance

SPARSE = ["sor", "dtc", "fic", "pitc", "elbo"]

# Central differences err by about STEP^2; at 50 digits or more the cancellation
# (10^-50 / STEP) is smaller still, so gradients are good to more than f64.
STEP = mpf(10) ** -14


class Model:
    """Data, kernel, constant mean and hyperparameters of one regression."""

    def __init__(self, case, X, y, method="exact", Z=None, groups=None):
        self.kernel = case["kernel"]
        self.X, self.y, self.Z = X, mp.matrix(y), Z
        self.mean = mpf(case["mean"])
        self.method = method
        self.groups = groups
        self.length_scales = [mpf(v) for v in case["length_scales"]]
        self.signal_var = mpf(case["signal_var"])
        self.noise_var = mpf(case["noise_var"])

    def log_parameters(self):
        return [log(v) for v in (*self.length_scales, self.signal_var, self.noise_var)]

    def set_log_parameters(self, theta):
        *self.length_scales, self.signal_var, self.noise_var = (exp(t) for t in theta)

    def k(self, A, B):
        return covariance(self.kernel, A, B, self.length_scales, self.signal_var)

    def terms(self):
        """(C, Lambda, tr(Kff - Q)); Lambda and the trace are None for exact."""
        n = len(self.X)
        Kff = self.k(self.X, self.X)
        noise = self.noise_var * eye(n)
        if self.method == "exact":
            return Kff + noise, None, None
        Kuf = self.k(self.Z, self.X)
        Q = Kuf.T * inverse(self.k(self.Z, self.Z)) * Kuf
        rest = Kff - Q
        Lambda = noise.copy()
        for i in range(n):
            for j in range(n):
                kept = {"fic": i == j, "pitc": self.same_group(i, j)}
                if kept.get(self.method, False):
                    Lambda[i, j] += rest[i, j]
        return Q + Lambda, Lambda, sum(rest[i, i] for i in range(n))

    def same_group(self, i, j):
        return any(i in g and j in g for g in self.groups or [])

    def objective(self, gls=False):
        """The log marginal likelihood, or the bound for elbo.

        With gls the generalised-least-squares mean takes the place of the fixed one.
        """
        C, _, trace = self.terms()
        e = self.y - (self.gls_mean(C) if gls else self.mean) * mp.ones(len(self.X), 1)
        quad = (e.T * lu_solve(C, e))[0]
        value = -(len(self.X) * log(2 * pi) + log(det(C)) + quad) / 2
        if self.method == "elbo":
            value -= trace / (2 * self.noise_var)
        return value

    def gls_mean(self, C=None):
        """1' C^-1 y / 1' C^-1 1."""
        C = self.terms()[0] if C is None else C
        w = lu_solve(C, mp.ones(len(self.X), 1))
        return (w.T * self.y)[0] / sum(w)

    def gradient(self, gls=False):
        """Derivatives of the objective in the log-parameters, by differences.

        With gls the mean moves with the parameters; it maximises the
        likelihood, so the derivative is also that at the mean held fixed.
        """
        theta = self.log_parameters()
        slopes = []
        for i in range(len(theta)):
            sides = []
            for step in (STEP, -STEP):
                moved = list(theta)
                moved[i] += step
                self.set_log_parameters(moved)
                sides.append(self.objective(gls))
            slopes.append((sides[0] - sides[1]) / (2 * STEP))
        self.set_log_parameters(theta)
        return slopes

    def predict(self, S):
        """Mean [s] and covariance [s, s] of the latent f at the rows of S."""
        n, n_query = len(self.X), len(S)
        e = self.y - self.mean * mp.ones(n, 1)
        Kss = self.k(S, S)
        C, Lambda, _ = self.terms()
        if self.method == "exact":
            Ksf = self.k(S, self.X)
            C_inv = inverse(C)
            mean, cov = Ksf * C_inv * e, Kss - Ksf * C_inv * Ksf.T
        else:
            Kuu, Kuf, Ksu = self.k(self.Z, self.Z), self.k(self.Z, self.X), self.k(S, self.Z)
            Lambda_inv = inverse(Lambda)
            Sigma = inverse(Kuu + Kuf * Lambda_inv * Kuf.T)
            mean = Ksu * Sigma * Kuf * Lambda_inv * e
            cov = Ksu * Sigma * Ksu.T
            if self.method != "sor":
                cov += Kss - Ksu * inverse(Kuu) * Ksu.T
        return mean + self.mean * mp.ones(n_query, 1), cov


def diagonal(M):
    """The diagonal of a square mpmath matrix as a list."""
    return [M[i, i] for i in range(M.rows)]


def condition(K):
    """The 2-norm condition number of a symmetric mpmath matrix."""
    eigenvalues = [abs(v) for v in eigsy(K, eigvals_only=True)]
    return max(eigenvalues) / min(eigenvalues)


def split_gradient(slopes):
    """Name the parts of a gradient ordered as log_parameters."""
    slopes = list(slopes)
    return {
        "log_length_scales": slopes[:-2],
        "log_signal_var": slopes[-2],
        "log_noise_var": slopes[-1],
    }
