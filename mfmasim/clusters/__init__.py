"""A Dask cluster or MPI ranks as an executor of ``concurrent.futures``: what is sent, refused and tried again."""

from mfmasim.clusters.opening import FORMS, Cluster, SchedulerLostError, opened
from mfmasim.clusters.remote import LostTaskError

__all__ = ["FORMS", "Cluster", "LostTaskError", "SchedulerLostError", "opened"]
