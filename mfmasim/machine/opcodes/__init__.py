"""What an opcode means before a launch: its operation, rules of undefined bits, refusals, allocated registers."""
