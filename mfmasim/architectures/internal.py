"""Hardware registers that S_GETREG reads and S_SETREG writes: fields by generation.

A row is a register's number, name, and fields: bits and what they hold. A number is a fixed value of the simulator; a
word is a quantity (`mfmasim.machine.ops.scalar_mode`); ``?`` is a value that the simulator cannot know, which a
program may not read. Bits that no field has read as 0. Of these registers a program writes only MODE: others are
privileged, or have no effect here (a write to them is ignored).

Sources: ISA manuals, S_GETREG and "Hardware Internal Registers" (CDNA2, CDNA3 and CDNA4 5.8, 3.4, 3.12, CDNA1 as CDNA2;
RDNA3 3.4.8; RDNA4 3.4.9; CDNA5 3.4), with LLVM's names. What a manual names without its fields is ``?``. Fixed values:
there is no trap handler, no debugger, no performance counter; the wave is alive and waits for nothing, as every
instruction is complete before the next. HW_ID: the pipe, queue and virtual memory ids are 0, the micro-engine is 1, the
first for compute.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HardwareRegister:
    """One register."""

    name: str
    fields: tuple[tuple[str, int, int, str], ...]
    """Name, lowest bit, number of bits, and what it holds."""


@dataclass(frozen=True)
class HardwareRegisters:
    """The registers of a generation."""

    by_number: dict[int, HardwareRegister]
    units: tuple[int, int, int, int]
    """XCCs, shader engines of each, shader arrays of these, compute units (on RDNA work-group processors) of these."""
    slots: int
    """Waves of a SIMD that the field WAVE_ID can tell apart."""
    simds: int = 4
    """SIMDs of a compute unit or work-group processor."""


def _registers(rows: str) -> dict[int, HardwareRegister]:
    found: dict[int, HardwareRegister] = {}
    for row in filter(None, (line.strip() for line in rows.splitlines())):
        number, name, *fields = row.split()
        parts = []
        for field in fields:
            label, bits, holds = field.split("/")
            high, _, low = bits.partition(":")
            first = int(low or high)
            parts.append((label, first, int(high) - first + 1, holds))
        known = found.get(int(number))  # a row may continue
        found[int(number)] = HardwareRegister(name, (*(known.fields if known else ()), *parts))
    return found


_GFX9 = """
     1 MODE           MODE/31:0/mode
     2 STATUS         SCC/0/scc SPI_PRIO/2:1/0 WAVE_PRIO/4:3/priority PRIV/5/0 TRAP_EN/6/0 EXECZ/9/execz VCCZ/10/vccz
     2 STATUS         IN_TG/11/in_group IN_BARRIER/12/0 HALT/13/0 TRAP/14/0 VALID/16/1 ECC_ERR/17/0 PERF_EN/19/0
     2 STATUS         COND_DBG_USER/20/0 COND_DBG_SYS/21/0 ALLOW_REPLAY/22/? FATAL_HALT/23/0
     3 TRAPSTS        EXCP/8:0/? SAVECTX/10/0 ILLEGAL_INST/11/0 ADDR_WATCH1-3/14:12/0 EXCP_CYCLE/21:16/? DP_RATE/31:29/?
     7 IB_STS         VM_CNT_LO/3:0/0 EXP_CNT/6:4/0 LGKM_CNT/11:8/0 VALU_CNT/14:12/0 VM_CNT_HI/23:22/0
    15 SH_MEM_BASES   PRIVATE_BASE/15:0/private_base SHARED_BASE/31:16/shared_base
    16 TBA_LO         TBA_LO/31:0/0
    17 TBA_HI         TBA_HI/31:0/0
    18 TMA_LO         TMA_LO/31:0/0
    19 TMA_HI         TMA_HI/31:0/0
     4 HW_ID          WAVE_ID/3:0/slot SIMD_ID/5:4/simd PIPE_ID/7:6/0 CU_ID/11:8/unit SH_ID/12/array
     4 HW_ID          TG_ID/19:16/group VM_ID/23:20/0 QUEUE_ID/26:24/0 STATE_ID/29:27/0 ME_ID/31:30/1
"""
_CDNA2 = """
     4 HW_ID          SE_ID/14:13/engine
     5 GPR_ALLOC      VGPR_BASE/5:0/? VGPR_SIZE/13:8/vgprs SGPR_BASE/21:16/? SGPR_SIZE/27:24/?
     6 LDS_ALLOC      LDS_BASE/7:0/? LDS_SIZE/20:12/lds
"""
_CDNA3 = """
     2 STATUS         SCRATCH_EN/28/scratch IDLE/31/0
     4 HW_ID          SE_ID/15:13/engine
     5 GPR_ALLOC      VGPR_BASE/5:0/? VGPR_SIZE/11:6/vgprs ACCV_OFF/17:12/accum_offset SGPR_BASE/23:18/?
     5 GPR_ALLOC      SGPR_SIZE/27:24/?
    20 XCC_ID         XCC_ID/3:0/xcc
    21 SQ_PERF_SNAPSHOT_DATA    DATA/31:0/0
    22 SQ_PERF_SNAPSHOT_DATA1   DATA/31:0/0
    23 SQ_PERF_SNAPSHOT_PC_LO   PC/31:0/0
    24 SQ_PERF_SNAPSHOT_PC_HI   PC/31:0/0
"""
_LDS3, _LDS4 = "6 LDS_ALLOC LDS_BASE/7:0/? LDS_SIZE/20:12/lds", "6 LDS_ALLOC LDS_BASE/8:0/? LDS_SIZE/21:12/lds"
# As RDNA3; HW_ID1 as Linux, gc_10_3_0_sh_mask.h, which has one bit less of SE_ID.
_RDNA2 = """
     1 MODE           MODE/31:0/mode
     2 STATUS         SCC/0/scc SPI_PRIO/2:1/0 USER_PRIO/4:3/priority PRIV/5/0 TRAP_EN/6/0 EXECZ/9/execz VCCZ/10/vccz
     2 STATUS         IN_WG/11/in_group IN_BARRIER/12/0 HALT/13/0 TRAP/14/0 VALID/16/1 REST/31:17/?
     3 TRAPSTS        ALL/31:0/?
     5 GPR_ALLOC      ALL/31:0/?
     6 LDS_ALLOC      ALL/31:0/?
     7 IB_STS         ALL/31:0/?
    15 SH_MEM_BASES   PRIVATE_BASE/15:0/private_base SHARED_BASE/31:16/shared_base
    16 TBA_LO         TBA_LO/31:0/0
    17 TBA_HI         TBA_HI/31:0/0
    18 TMA_LO         TMA_LO/31:0/0
    19 TMA_HI         TMA_HI/31:0/0
    20 FLAT_SCR_LO    ALL/31:0/?
    21 FLAT_SCR_HI    ALL/31:0/?
    23 HW_ID1         WAVE_ID/4:0/slot SIMD_ID/9:8/simd WGP_ID/13:10/unit SA_ID/16/array SE_ID/19:18/engine
    23 HW_ID1         DP_RATE/31:29/?
    24 HW_ID2         QUEUE_ID/3:0/0 PIPE_ID/5:4/0 ME_ID/9:8/1 STATE_ID/14:12/0 WG_ID/20:16/group VM_ID/27:24/0
    25 POPS_PACKER    ALL/31:0/?
    29 SHADER_CYCLES  CYCLES/19:0/clock
"""
_RDNA3 = """
     1 MODE           MODE/31:0/mode
     2 STATUS         SCC/0/scc SYS_PRIO/2:1/0 USER_PRIO/4:3/priority PRIV/5/0 TRAP_EN/6/0 EXPORT_RDY/8/0 EXECZ/9/execz
     2 STATUS         VCCZ/10/vccz IN_WG/11/in_group IN_BARRIER/12/0 HALT/13/0 TRAP/14/0 VALID/16/1 SKIP_EXPORT/18/0
     2 STATUS         PERF_EN/19/0 CDBG_USER/20/0 CDBG_SYS/21/0 FATAL_HALT/23/0 NO_VGPRS/24/0 LDS_PARAM_RDY/25/0
     2 STATUS         MUST_GS_ALLOC/26/0 MUST_EXPORT/27/0 IDLE/28/0 SCRATCH_EN/29/scratch
     3 TRAPSTS        EXCP/8:0/? SAVECTX/10/0 ILLEGAL_INST/11/0 ADDR_WATCH1-3/14:12/0 BUFFER_OOB/15/? HOST_TRAP/16/0
     3 TRAPSTS        WAVE_START/17/0 WAVE_END/18/0 TRAP_AFTER_INST/20/0 REST/31:21/?
     5 GPR_ALLOC      ALL/31:0/?
     6 LDS_ALLOC      ALL/31:0/?
     7 IB_STS         ALL/31:0/?
    14 FLUSH_IB       ALL/31:0/?
    15 SH_MEM_BASES   PRIVATE_BASE/15:0/private_base SHARED_BASE/31:16/shared_base
    18 PERF_SNAPSHOT_PC_LO   PC/31:0/0
    19 PERF_SNAPSHOT_PC_HI   PC/31:0/0
    20 FLAT_SCRATCH_LO       ADDRESS/31:0/scratch_base
    21 FLAT_SCRATCH_HI       ADDRESS/31:0/scratch_base
    23 HW_ID1         WAVE_ID/4:0/slot SIMD_ID/9:8/simd WGP_ID/13:10/unit SA_ID/16/array SE_ID/20:18/engine
    23 HW_ID1         DP_RATE/31:29/?
    24 HW_ID2         QUEUE_ID/3:0/0 PIPE_ID/5:4/0 ME_ID/9:8/1 STATE_ID/14:12/0 WG_ID/20:16/group VM_ID/27:24/0
    27 PERF_SNAPSHOT_DATA    DATA/31:0/0
    29 SHADER_CYCLES  CYCLES/19:0/clock
"""
_RDNA4 = """
     1 MODE           MODE/31:0/mode
     2 STATUS         PRIV/5/0 TRAP_EN/6/0 EXPORT_RDY/8/0 EXECZ/9/execz VCCZ/10/vccz IN_WG/11/in_group TRAP/14/0
     2 STATUS         TRAP_BARRIER_COMPLETE/15/0 VALID/16/1 SKIP_EXPORT/18/0 FATAL_HALT/23/0 NO_VGPRS/24/0
     2 STATUS         LDS_PARAM_RDY/25/0 MUST_GS_ALLOC/26/0 MUST_EXPORT/27/0 IDLE/28/0 WAVE64/29/wave64 DYN_VGPR_EN/30/0
     4 STATE_PRIV     WG_RR_EN/0/? SLEEP_WAKEUP/1/0 BARRIER_COMPLETE/2/? SCC/9/scc SYS_PRIO/11:10/0
     4 STATE_PRIV     USER_PRIO/13:12/priority HALT/14/0 SCRATCH_EN/18/scratch
     5 GPR_ALLOC      ALL/31:0/?
     6 LDS_ALLOC      ALL/31:0/?
     7 IB_STS         ALL/31:0/?
    10 PERF_SNAPSHOT_DATA    DATA/31:0/0
    11 PERF_SNAPSHOT_PC_LO   PC/31:0/0
    12 PERF_SNAPSHOT_PC_HI   PC/31:0/0
    15 PERF_SNAPSHOT_DATA1   DATA/31:0/0
    16 PERF_SNAPSHOT_DATA2   DATA/31:0/0
    17 EXCP_FLAG_PRIV ADDR_WATCH/3:0/0 MEMVIOL/4/? SAVE_CONTEXT/5/0 ILLEGAL_INST/6/0 HOST_TRAP/7/0 WAVE_START/8/0
    17 EXCP_FLAG_PRIV WAVE_END/9/0 PERF_SNAPSHOT/10/0 TRAP_AFTER_INST/11/0 FIRST_MEMVIOL_SOURCE/31:30/?
    18 EXCP_FLAG_USER ALU/6:0/? BUFFER_OOB/30/? LOD_CLAMPED/31/0
    19 TRAP_CTRL      ALL/31:0/?
    20 SCRATCH_BASE_LO       ADDRESS/31:0/scratch_base
    21 SCRATCH_BASE_HI       ADDRESS/31:0/scratch_base
    23 HW_ID1         WAVE_ID/4:0/slot SIMD_ID/9:8/simd WGP_ID/13:10/unit SA_ID/16/array
    24 HW_ID2         QUEUE_ID/3:0/0 PIPE_ID/5:4/0 ME_ID/9:8/1 STATE_ID/14:12/0 WG_ID/20:16/group VM_ID/27:24/0
    26 SCHED_MODE     ALL/31:0/?
    29 SHADER_CYCLES_LO      CYCLES/31:0/clock
    30 SHADER_CYCLES_HI      CYCLES/31:0/clock_high
    31 DVGPR_ALLOC_LO ALL/31:0/?
    32 DVGPR_ALLOC_HI ALL/31:0/?
"""
_STS2 = "28 IB_STS2 ALL/31:0/?"

_CDNA5 = """
    28 IB_STS2        CLUSTER_ID/9:6/cluster WG_IN_CLUSTER/24:21/workgroup_in_cluster
    33 XNACK_STATE_PRIV ALL/31:0/?
    34 XNACK_MASK     ALL/31:0/?
"""

# Units: those of the largest product (MI100; MI250X, one of its two dies; MI300X; MI355X; RX 6900 XT; RX 7900 XTX).
# HW_ID1 of gfx12 has no shader engine: as many work-group processors as its other fields can tell apart.
NO_REGISTERS = HardwareRegisters({}, (1, 1, 1, 1), 1)
CDNA1 = HardwareRegisters(_registers(_GFX9 + _CDNA2), (1, 4, 2, 15), 16)
CDNA2 = HardwareRegisters(_registers(_GFX9 + _CDNA2), (1, 4, 2, 14), 16)
CDNA3 = HardwareRegisters(_registers(_GFX9 + _CDNA3 + _LDS3), (8, 4, 1, 10), 16)
CDNA4 = HardwareRegisters(_registers(_GFX9 + _CDNA3 + _LDS4), (8, 4, 1, 8), 16)
RDNA2 = HardwareRegisters(_registers(_RDNA2), (1, 4, 2, 5), 32)
RDNA3 = HardwareRegisters(_registers(_RDNA3), (1, 6, 2, 4), 32)
RDNA4 = HardwareRegisters(_registers(_RDNA4 + _STS2), (1, 1, 2, 16), 32)
CDNA5 = HardwareRegisters(_registers(_RDNA4 + _CDNA5), (8, 2, 1, 16), 32)
