"""How a good client was served before, during and after an attack."""

import collections
import dataclasses

MAX_RATIO = 3
MAX_RECOVERY = 2.0


@dataclasses.dataclass
class Service:
    rate: int  # Calls a second.
    rest_p99_ms: float | None = None
    during_p99_ms: float | None = None
    failed_during: int = 0
    failures: dict = dataclasses.field(default_factory=dict)  # By what came instead of an answer.
    calls_during: int = 0
    recovered_s: float | None = None  # None: not within the time watched.

    def answered(self, least=0.9):
        """Whether that share of the calls were, which does not depend on how fast the machine is."""
        return self.calls_during > 0 and self.calls_during - self.failed_during >= least * self.calls_during

    def faults(self, timed=True, least=0.9):
        found = []
        if self.calls_during and not self.answered(least):
            answered = self.rate * (1 - self.failed_during / self.calls_during)
            reasons = ", ".join(f"{count} {why}" for why, count in self.failures.items())
            found.append(f"{answered:.1f} of {self.rate} good calls a second: {reasons}")
        if timed and self.during_p99_ms and self.rest_p99_ms and self.during_p99_ms > MAX_RATIO * self.rest_p99_ms:
            found.append(f"p99 {self.during_p99_ms / self.rest_p99_ms:.1f} times its rest")
        if timed and (self.recovered_s is None or self.recovered_s > MAX_RECOVERY):
            found.append("not recovered within 2 s")
        return found


def p99(values):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] if ordered else None


def _recovery(records, begin, slowest):
    """Seconds from `begin` to the first of ten calls in a row that are as fast as at rest."""
    after = [record for record in records if record[0] >= begin]
    row = 0
    for index, (_, took, _) in enumerate(after):
        row = row + 1 if took is not None and took <= slowest else 0
        if row == 10:
            return after[index - 9][0] - begin
    return None


def measure(records, rate, deadline, rest_begin, attack_begin, attack_end):
    """What the records of a good client come to; times are those of time.monotonic()."""
    resting = p99([took for begun, took, _ in records if rest_begin <= begun < attack_begin and took is not None])
    during = [(took, why) for begun, took, why in records if attack_begin <= begun < attack_end]
    in_time = p99([took if took is not None else deadline for took, _ in during])
    failures = collections.Counter(why for took, why in during if took is None)
    return Service(
        rate=rate,
        rest_p99_ms=resting and resting * 1000,
        during_p99_ms=in_time and in_time * 1000,
        failed_during=failures.total(),
        failures=dict(failures),
        calls_during=len(during),
        recovered_s=_recovery(records, attack_end, MAX_RATIO * (resting or 0)),
    )
