"""Work on evidence: probes for GPUs, calibration, agreement of simulator, device and reference, wrong variants."""
