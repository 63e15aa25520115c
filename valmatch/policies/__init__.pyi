from valmatch.policies.lookahead_search import best_opponent_plain as best_opponent_plain
from valmatch.policies.lookahead_search import expected_best_quality as expected_best_quality
from valmatch.policies.lookahead_search import knowledge_gradient as knowledge_gradient
from valmatch.policies.lookahead_search import (
    knowledge_gradient_finite as knowledge_gradient_finite,
)
from valmatch.policies.myopic import draw_chance as draw_chance
from valmatch.policies.myopic import nearness as nearness
from valmatch.policies.myopic import oracle as oracle
from valmatch.policies.myopic import pair_draw_chance as pair_draw_chance
from valmatch.policies.myopic import pair_oracle as pair_oracle
from valmatch.policies.myopic import point_estimate as point_estimate
from valmatch.policies.myopic import random_opponent as random_opponent
from valmatch.policies.pair_lookahead import expected_variance as expected_variance
from valmatch.policies.pair_lookahead import (
    pair_knowledge_gradient_variance as pair_knowledge_gradient_variance,
)
from valmatch.policies.upper_confidence import pair_upper_confidence as pair_upper_confidence
from valmatch.policies.upper_confidence import upper_confidence_plain as upper_confidence_plain

__all__: list[str]
