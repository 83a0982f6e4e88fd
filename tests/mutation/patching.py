"""A mutant put into a package that is imported already: code objects of functions are exchanged."""

import functools
import gc
from types import CodeType, FunctionType

from tests.mutation import ROOT


def inner(code):
    """Code objects among the constants."""
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def key(code):
    """What a code object is recognised by."""
    return code.co_filename, code.co_qualname, code.co_firstlineno


def own(code):
    """What a code object does apart from the code objects in it."""
    constants = tuple((type(value), repr(value)) for value in code.co_consts if not isinstance(value, CodeType))
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars


def pairs(old, new):
    """Code objects of both sources that belong together, outermost first; None if their nesting differs."""
    if [code.co_name for code in inner(old)] != [code.co_name for code in inner(new)]:
        return None
    found = [(old, new)]
    for one, other in zip(inner(old), inner(new), strict=True):
        below = pairs(one, other)
        if below is None:
            return None
        found += below
    return found


class Live:
    """The functions and caches of the imported package, looked up once for all mutants."""

    def __init__(self):
        home = str(ROOT / "mfmasim")
        self.functions, self.caches = {}, []
        for one in gc.get_objects():  # by type: isinstance would ask proxies of other libraries
            if type(one) is FunctionType and one.__code__.co_filename.startswith(home):
                self.functions.setdefault(key(one.__code__), []).append(one)
            elif type(one) is functools._lru_cache_wrapper:
                self.caches.append(one)

    def forget(self):
        """Empty the caches, so that no result of the unchanged code is used again."""
        for one in self.caches:
            if str(getattr(one, "__module__", "")).startswith("mfmasim"):
                one.cache_clear()

    def patch(self, path, source):
        """Whether a change could be put into the live functions; a change of what an import runs cannot."""
        old, new = (compile(text, str(path), "exec") for text in (path.read_text(), source))
        together = pairs(old, new)
        if together is None or any(own(one) != own(other) for one, other in together if not one.co_flags & 1):
            return False
        self.forget()
        for one, other in together:
            for function in self.functions.get(key(one), ()):
                if len(function.__code__.co_freevars) != len(other.co_freevars):
                    return False
                function.__code__ = other
        return True
