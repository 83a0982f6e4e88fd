"""Opcode tables, one package per family of architectures that share an encoding."""
