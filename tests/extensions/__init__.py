"""PyTorch on the simulated HIP runtime."""
