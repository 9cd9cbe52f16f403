"""Training on several machines, by Dask: ``from muse.distributed import train`` (extra ``[dask]``)."""

from muse.distributed.report import Report
from muse.distributed.training import Trained, train

__all__ = ["Report", "Trained", "train"]
