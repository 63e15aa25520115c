"""The hypervolume of points that do not dominate each other; all objectives are minimised."""

import numpy as np

from valmatch.kernels.arrays import Floats


def hypervolume(values: Floats, reference: Floats) -> float:
    """Return the volume of what points dominate, up to a reference point.

    By slices along the last objective ("hypervolume by slicing objectives", While et al. 2006).

    Shapes: `values` (points, objectives); `reference` (objectives,).
    """
    inside = values[(values < reference).all(axis=1)]
    if len(inside) == 0:
        return 0.0
    if inside.shape[1] == 1:
        return float(reference[0] - inside.min())
    ordered = inside[np.argsort(inside[:, -1], kind="stable")]
    ends = np.append(ordered[1:, -1], reference[-1])
    depths = ends - ordered[:, -1]
    return sum(
        float(depth) * hypervolume(ordered[: k + 1, :-1], reference[:-1])
        for k, depth in enumerate(depths.tolist())
        if depth > 0.0
    )
