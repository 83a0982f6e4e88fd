// cooperative_groups: blocks, tiles, coalesced lanes; the grid without its barrier, which needs a cooperative launch.
#pragma once

#include <hip/hip_runtime.h>
#include <mfmasim/groups_wave.h>
