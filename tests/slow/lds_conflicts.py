"""A second count of bank conflicts: Python sets, lane by lane, nothing shared with mfmasim.lds but the phase lists."""


def dwords(address, size):
    return {byte // 4 for byte in range(address, address + size)}


def degree_by_maximum(lanes, banks, addresses, size, active):
    held = {}
    for lane in lanes:
        if active[lane]:
            for dword in dwords(addresses[lane], size):
                held.setdefault(dword % banks, set()).add(dword)
    return max((len(found) for found in held.values()), default=0)


def degree_by_greedy(lanes, banks, addresses, size, active):
    waiting = [lane for lane in lanes if active[lane]]
    passes = 0
    while waiting:
        passes += 1
        taken = {}
        left = []
        for lane in waiting:
            wanted = dwords(addresses[lane], size)
            if all(taken.get(dword % banks, dword) == dword for dword in wanted):
                taken.update({dword % banks: dword for dword in wanted})
            else:
                left.append(lane)
        waiting = left
    return passes


def degrees(sets, banks, addresses, size, active=None, rule="maximum"):
    active = [True] * len(addresses) if active is None else active
    count = {"maximum": degree_by_maximum, "greedy": degree_by_greedy}[rule]
    return [count(lanes, banks, addresses, size, active) for lanes in sets]
