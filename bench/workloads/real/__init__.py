"""Real subscriptions and events, if the folder of data sets exists (its README has the licences)."""

from bench.workloads.real.geo import RealGeo
from bench.workloads.real.pcparts import RealParts
from bench.workloads.real.sigma import RealSigma
from bench.workloads.real.source import Real
from bench.workloads.real.text import RealText

REAL: dict[str, Real] = {
    workload.name: workload for workload in (RealSigma(), RealGeo(), RealText(), RealParts())
}

__all__ = ["REAL", "Real", "RealGeo", "RealParts", "RealSigma", "RealText"]
