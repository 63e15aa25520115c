from valmatch.ratings.matches import Circumstances as Circumstances
from valmatch.ratings.matches import expected_scores as expected_scores
from valmatch.ratings.matches import newcomers as newcomers
from valmatch.ratings.matches import update_ratings as update_ratings
from valmatch.ratings.registry import NAMES as NAMES
from valmatch.ratings.registry import system_named as system_named

__all__: list[str]
