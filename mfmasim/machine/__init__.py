"""Executes a program: registers, memory, LDS, the wave scheduler and the operations."""
