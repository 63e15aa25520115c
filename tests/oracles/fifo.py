"""First in, first out, straight from its words."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Line:
    """Those who wait, in order of arrival."""

    team_num: int
    waiting: list[int] = field(default_factory=list)

    def join(self, player: int, time: float, rating: float) -> None:
        self.waiting.append(player)

    def leave(self, player: int) -> list[int]:
        self.waiting.remove(player)
        return []

    def review(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Return the matches that those who wait play, longest waiting first; dealt in turn."""
        size, matches = 2 * self.team_num, []
        while len(self.waiting) >= size:
            playing, self.waiting = self.waiting[:size], self.waiting[size:]
            matches.append((tuple(playing[::2]), tuple(playing[1::2])))
        return matches
