"""``--executor``: the cases of a command on a Dask cluster or on MPI ranks, with the results of one process."""
