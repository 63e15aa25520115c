"""The sources of randomness of the model `ladder`.

Every number is an addressed one, see `valmatch.draws.streams`: U a uniform, E an exponential
number. Players are numbered from 0: those at the start first, then newcomers in the order in which
they join. Counters begin at 0.

========  ==========  =====================  ======================================================
source    player      counter                number
========  ==========  =====================  ======================================================
SKILL     himself     0                      skill: mean + skill_std ndtri(U)
ACTIVITY  himself     0                      activity: cv^2 gammaincinv(1 / cv^2, U); 1 if cv is 0
JOINING   0           newcomer               gap before he joins: E 24 / newcomers_per_day hours
SMURF     himself     0                      a newcomer has smurf_skill if U < smurf_share
SESSIONS  himself     session start          gap before it: E / (per_day activity) profile days
OUTCOME   the lowest  his matches before     the older team wins if U < p
CONTINUE  himself     his matches before     he queues again if U < the probability
BREAK     himself     his matches before     break: break_minutes / 60 E hours
PATIENCE  himself     his tickets before     patience: patience_minutes / 60 E hours
CHURN     himself     sessions ended before  he is gone if U < churn
PAIR      the lower   the higher ticket      weight U of two tickets by the policy `random`
FRIENDS   himself     0                      size of a group that he is the first of: the first
                                             whose shares sum to over U
BOND      the first   0                      what friends have in common: skill_std ndtri(U)
========  ==========  =====================  ======================================================
"""

from __future__ import annotations

(
    SKILL,
    ACTIVITY,
    JOINING,
    SMURF,
    SESSIONS,
    OUTCOME,
    CONTINUE,
    BREAK,
    PATIENCE,
    CHURN,
    PAIR,
    FRIENDS,
    BOND,
) = range(13)
