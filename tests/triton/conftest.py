"""Files that are no tests, and need Triton to be imported."""

from tests.triton.needs import HAVE

collect_ignore = ["own_driver.py", "program.py", *([] if HAVE else ["kernels.py", "cases.py", "tensor_kernels.py"])]
