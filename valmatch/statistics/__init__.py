"""Intervals for the means of replications as pure functions over arrays, without any config.

>>> import numpy as np
>>> from valmatch import statistics
>>> mean = statistics.estimate(np.array([1.0, 2.0, 4.0]), confidence=0.9)
>>> round(mean.mean, 3), round(mean.half_width, 3)
(2.333, 2.575)

Paired differences under common random numbers (`paired`), means adjusted by controls (`adjust`),
replicating until a mean is known well enough (`sequential_estimate`).
"""

from valmatch.kernels.lazy_exports import attach

__getattr__, __dir__ = attach(__name__, __file__)
