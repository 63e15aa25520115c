from valmatch.matching.matches import NAMES as NAMES
from valmatch.matching.matches import Match as Match
from valmatch.matching.matches import Matched as Matched
from valmatch.matching.matches import best_match as best_match
from valmatch.matching.matches import best_pairs as best_pairs
from valmatch.matching.matches import match_players as match_players
from valmatch.matching.matches import ranges as ranges
from valmatch.matching.queue import Rules as Rules

__all__: list[str]
