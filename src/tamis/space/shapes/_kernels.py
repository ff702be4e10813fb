"""Compiled verdicts on points and shapes; they are in doubt if rounding could matter."""

import math

from tamis.kernel import kernel

BOX, CIRCLE, POLYGON, OTHER = 0, 1, 2, 3
NO, YES, DOUBT = 0, 1, 2
_DIAMETER = 2.0 * 6_371_008.8


@kernel
def judge_circle(lon, lat, metres, x, y):
    """Return whether (x, y) lies within ``metres`` of (lon, lat); in doubt if another libm may differ."""
    lat_a, lat_b = math.radians(lat), math.radians(y)
    half_lat = math.sin((lat_b - lat_a) / 2.0)
    half_lon = math.sin(math.radians(x - lon) / 2.0)
    chord = half_lat * half_lat + math.cos(lat_a) * math.cos(lat_b) * half_lon * half_lon
    far = _DIAMETER * math.asin(min(1.0, math.sqrt(chord)))
    # Near the antipode an error in the last place of the chord grows to centimetres.
    if abs(far - metres) <= 1e-6 * max(1.0, far):
        return DOUBT
    return YES if far < metres else NO


@kernel
def judge_edges(edges, first, last, x, y):
    """Return whether (x, y) lies inside the edges, by the parity of crossings; in doubt near an edge."""
    inside = False
    for e in range(first, last):
        x1, y1, x2, y2 = edges[e, 0], edges[e, 1], edges[e, 2], edges[e, 3]
        if (y1 > y) == (y2 > y):
            # Not crossed; but the point may lie on an edge that ends or runs at its height.
            if (y1 == y or y2 == y) and min(x1, x2) <= x <= max(x1, x2):
                return DOUBT
            continue
        if x1 < x and x2 < x:
            continue
        left, right = (x1 - x) * (y2 - y), (y1 - y) * (x2 - x)
        side = left - right
        if abs(side) <= 1e-14 * (abs(left) + abs(right)) + 1e-290:
            return DOUBT
        if (side > 0.0) == (y2 > y1):
            inside = not inside
    return YES if inside else NO


@kernel
def judge_points(which, shape, lon, lat, kind, numbers, edge_start, edges, verdict):
    """Write for each pair of a point and a shape whether it is covered: NO, YES, or DOUBT."""
    for i in range(len(which)):
        s, x, y = shape[i], lon[which[i]], lat[which[i]]
        a, b, c, d = numbers[s, 0], numbers[s, 1], numbers[s, 2], numbers[s, 3]
        if kind[s] == BOX:
            wide = (a <= x <= c) if a <= c else (x >= a or x <= c)
            verdict[i] = YES if wide and b <= y <= d else NO
        elif kind[s] == CIRCLE:
            verdict[i] = judge_circle(a, b, c, x, y)
        elif kind[s] == POLYGON:
            verdict[i] = judge_edges(edges, edge_start[s], edge_start[s + 1], x, y)
        else:
            verdict[i] = DOUBT
