"""The best static shares, by trying: what a solver is measured against.

`time_of(shares)` runs a program with these shares and answers its seconds per launch, or None if it failed. Shares
sum to one. Nothing is tried twice.
"""


class Search:
    def __init__(self, time_of, devices, budget):
        self.time_of = time_of
        self.devices = devices
        self.budget = budget  # runs at most
        self.tried = {}  # shares, rounded: seconds

    def seconds(self, shares):
        """Infinite where the run failed or no runs are left."""
        total = sum(shares)
        key = tuple(round(share / total, 4) for share in shares)
        if key not in self.tried:
            if self.budget == 0:
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
        """Two devices: every tenth, then halving steps around the best."""
        self.seconds(start)
        for tenth in range(11):
            self.seconds((tenth / 10, 1 - tenth / 10))
        for step in (0.05, 0.025, 0.0125):
            for centre in self.best():
                for share in (centre[0] - step, centre[0] + step):
                    if 0 <= share <= 1:
                        self.seconds((share, 1 - share))

    def climb(self, start):
        """More devices: from `start` one device's share after the other, by smaller and smaller factors. A device that
        costs more than it gives is left out."""
        self.seconds(start)
        self.seconds([1] * self.devices)
        for device in range(self.devices):
            self.seconds([float(other == device) for other in range(self.devices)])
        for factor in (2, 1.4, 1.2, 1.1, 1.05):
            for device in range(self.devices):
                for change in (0, 1 / factor, factor):
                    for centre in self.best():
                        shares = list(centre)
                        shares[device] *= change
                        if sum(shares) > 0:
                            self.seconds(shares)


def search(time_of, start, budget):
    """The Search after its runs, begun at `start` (shares as the devices' speeds alone suggest)."""
    found = Search(time_of, len(start), budget)
    if len(start) == 2:
        found.sweep(start)
    else:
        found.climb(start)
    return found
