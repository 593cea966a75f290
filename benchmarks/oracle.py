"""The best static shares, by trying: what a solver is measured against.

`time_of(shares)` runs a program with these shares and answers its seconds per launch, or None if it failed. Shares
sum to one. Nothing is tried twice, nor what each device's time alone makes hopeless.
"""

# Shares that would take so many times the best so far, were the load even, aren't tried: a load that isn't makes less.
HOPELESS = 3


class Search:
    def __init__(self, time_of, alone, budget):
        self.time_of = time_of
        self.alone = alone  # seconds of each device alone; infinite where it can't
        self.devices = len(alone)
        self.budget = budget  # runs at most
        units = ([float(other == device) for other in range(self.devices)] for device in range(self.devices))
        self.tried = {tuple(unit): seconds for unit, seconds in zip(units, alone)}  # shares, rounded: seconds

    def seconds(self, shares):
        """Infinite where the run failed or no runs are left."""
        total = sum(shares)
        key = tuple(round(share / total, 4) for share in shares)
        if key not in self.tried:
            expected = max(share * seconds for share, seconds in zip(key, self.alone) if share > 0)
            if self.budget == 0 or expected > HOPELESS * min(self.tried.values()):
                return float("inf")
            self.budget -= 1
            took = self.time_of(key)
            self.tried[key] = float("inf") if took is None else took
        return self.tried[key]

    def best(self, count=1):
        """The fastest `count` shares, best first; fewer if fewer ran."""
        ran = [shares for shares, seconds in self.tried.items() if seconds < float("inf")]
        return sorted(ran, key=self.tried.get)[:count]

    def sweep(self, start):
        """Two devices: every tenth, the nearest to `start` first, then halving steps around the best."""
        self.seconds(start)
        first = start[0] / sum(start)
        for tenth in sorted(range(11), key=lambda tenth: abs(tenth / 10 - first)):
            self.seconds((tenth / 10, 1 - tenth / 10))
        for step in (0.05, 0.025, 0.0125):
            for centre in self.best():
                for share in (centre[0] - step, centre[0] + step):
                    if 0 <= share <= 1:
                        self.seconds((share, 1 - share))

    def climb(self, start):
        """More devices: from `start` and all devices but one, ever smaller amounts go from one device to
        another as long as that helps. A device that costs more than it gives ends with nothing."""
        self.seconds(start)
        for device in range(self.devices):
            if sum(start) > start[device]:
                self.seconds([share * (other != device) for other, share in enumerate(start)])
        for amount in (0.2, 0.1, 0.05, 0.025, 0.0125, 0.00625):
            helped = True
            while helped and self.budget > 0:
                before = self.best()
                for device in range(self.devices):
                    self.scale(device, amount)
                    self.scale(device, -amount)
                    for other in range(self.devices):
                        self.shift(device, other, amount)
                helped = self.best() != before

    def scale(self, device, amount):
        """`device` gets `amount` more, from all others by their shares."""
        for centre in self.best():
            share = min(max(centre[device] + amount, 0), 1)
            rest = 1 - centre[device]
            if rest > 0:
                self.seconds([share if other == device else each * (1 - share) / rest
                              for other, each in enumerate(centre)])

    def shift(self, giver, taker, amount):
        """Up to `amount` goes from `giver` to `taker`."""
        for centre in self.best():
            if giver != taker and centre[giver] > 0:
                shares = list(centre)
                moved = min(amount, shares[giver])
                shares[giver] -= moved
                shares[taker] += moved
                self.seconds(shares)


def search(time_of, alone, budget):
    """The Search after its runs; `alone`: seconds of each device alone, None where it can't."""
    alone = [seconds or float("inf") for seconds in alone]
    found = Search(time_of, alone, budget)
    start = [1 / seconds for seconds in alone]
    if len(alone) == 2:
        found.sweep(start)
    else:
        found.climb(start)
    return found
