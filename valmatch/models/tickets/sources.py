"""The sources of randomness of the model `tickets`.

Every number is an addressed one, see `valmatch.draws.addressed`: U a uniform, E an exponential, N a
normal number (ndtri of U). Tickets are numbered from 0 in the order in which they come; j is the
place of a player in the party, from 0.

==========  ======  ====================  =======================================================
source      player  counter               number
==========  ======  ====================  =======================================================
GAP         0       ticket                gap before it comes: E, in expected tickets
SIZE        ticket  0                     size of the party: the first whose shares sum to over U
HOME        ticket  0                     home region, likewise
SKILL       ticket  0                     skill of the party: mean + std N
OWN_SKILL   ticket  j                     of several players, what each adds to it: party_std N
ERROR       ticket  j                     what the matchmaker sees beside the skill: error N
LATENCY     ticket  64 j + data centre    latency: that of the table times exp(spread N)
PATIENCE    ticket  0                     patience: median times exp(spread N)
ACCEPTS     ticket  16 proposal + j       the player accepts if U < accept_prob
ANSWER      ticket  16 proposal + j       after answer_seconds E
LEAVES      ticket  j                     the player leaves the match early if U < leave_prob
STAYS       ticket  j                     after the part U of what was left when joining it
BELIEF      ticket  8 j + k               U: 0 number of the user, 1 whether the player is new,
                                          2 games; N: 3 deviation; U: 4 whether there is a range;
                                          with users, but for 0, of the user in place of the ticket
ATTRIBUTE   ticket  256 j + item          of the k-th attribute ATTRIBUTE + k; a number N, for
                                          each item of a list U; a text has j = 0: U by its shares
==========  ======  ====================  =======================================================
"""

from __future__ import annotations

GAP, SIZE, HOME, SKILL, OWN_SKILL, ERROR, LATENCY, PATIENCE, ACCEPTS, ANSWER, LEAVES, STAYS = range(
    2, 14
)
"""The source 1 is that of random batches, see `valmatch.matching.tickets.searching`."""

BELIEF = 15

ATTRIBUTE = 16

MOST_REGIONS, MOST_ITEMS = 64, 256
"""Data centres; items of a list."""

MOST_PLAYERS = 10  # players of a party, as the service has it
ROOM = 16  # counters of a proposal: at least `MOST_PLAYERS`
