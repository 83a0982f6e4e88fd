"""Programs that compilers of kernels ask for the devices."""

import os
import shutil

from tests.hiprt.compiled import started


def test_the_devices_are_listed_and_no_compiler_is_put_before_another():
    asked = "rocm_agent_enumerator; rocminfo; $ROCM_PATH/bin/rocminfo | tail -n 1"
    done = started("sh", "-c", asked, arch="gfx950,gfx942")
    named = ["Name:", "gfx950", "Name:", "gfx942"]
    assert done.stdout.split() == ["gfx950", "gfx942", *named, *named[2:]]
    found = started("sh", "-c", "command -v clang++; command -v hipcc; true").stdout.split()
    assert found == [path for name in ("clang++", "hipcc") if (path := shutil.which(name, path=os.environ["PATH"]))]
