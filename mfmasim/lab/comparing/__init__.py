"""The same case twice: on two architectures, by two compilers, of two code objects, with two sets of flags."""
