"""Studies of `optimize`: runs of solvers, sweeps and Pareto fronts."""
