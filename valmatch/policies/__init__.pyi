from valmatch.policies.decisions import Circumstances as Circumstances
from valmatch.policies.decisions import choose_opponent as choose_opponent
from valmatch.policies.decisions import weigh_pair as weigh_pair

__all__: list[str]
