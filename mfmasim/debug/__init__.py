"""The time-travel debugger: a recorded launch, and replay to any instruction of it."""
