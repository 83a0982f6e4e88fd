"""Runs a launch: batches of workgroups, wave selection, basic blocks, delivery of loads."""
