"""What a launch reads and writes: registers of a batch of waves, global and private memory, barriers."""
