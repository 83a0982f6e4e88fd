"""A launch before its first instruction: sizes, arguments, memory layout, printf and hostcall buffers, quotas."""
