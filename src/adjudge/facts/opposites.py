"""Words that exclude each other: one in the claim where the evidence has the other is a contradiction."""

from __future__ import annotations

from adjudge.facts.words import stem

_PAIRS = """
open closed|open shut|opened closed|before after|always never|all none|everyone nobody|increase decrease
increased decreased
increased fell|rise fall|rose fell|rising falling|grew shrank|growth decline|rose declined|gain loss|gained lost
won lost
win lose|victory defeat|success failure|succeeded failed|passed failed|accepted rejected|approved rejected
allowed forbidden
allowed banned|permitted prohibited|permitted forbidden|legal illegal|lawful unlawful|mandatory optional
compulsory optional
compulsory voluntary|mandatory voluntary|required optional|free paid|cheap expensive|cheaper dearer|cheapest dearest
more less|more fewer|most least|most fewest|majority minority|highest lowest|higher lower|high low|largest smallest
larger smaller|large small|biggest smallest|bigger smaller|big small|longest shortest|longer shorter|long short
oldest youngest
oldest newest|older younger|older newer|old new|tallest shortest|taller shorter|deepest shallowest|deeper shallower
deep shallow
widest narrowest|wider narrower|wide narrow|fastest slowest|faster slower|fast slow|heaviest lightest|heavier lighter
heavy light|best worst|better worse|good bad|first last|early late|earlier later|earliest latest|north south
northern southern
east west|eastern western|northeast southwest|northwest southeast|left right|upper lower|above below|inside outside
indoor outdoor|indoors outdoors|public private|national local|urban rural|domestic foreign|import export
imported exported
buy sell|bought sold|lend borrow|lent borrowed|start stop|started stopped|started ended|began ended|begin end
beginning end
founded dissolved|built demolished|arrive depart|arrived departed|enter leave|entered left|appointed dismissed
hired fired
joined left|male female|man woman|men women|father mother|son daughter|brother sister|husband wife|boy girl|boys girls
king queen|uncle aunt|nephew niece|day night|summer winter|spring autumn|morning evening|hot cold|warm cold
warm cool|wet dry
full empty|strong weak|rich poor|hard soft|safe dangerous|alive dead|guilty innocent|convicted acquitted
ancient modern
permanent temporary|positive negative|active inactive|successful unsuccessful|popular unpopular|possible impossible
able unable|true false|correct incorrect|same different|similar different|with without|include exclude
included excluded
includes excludes|present absent|visible invisible|common rare|major minor|maximum minimum|at-most at-least
professional amateur
praised criticised|praised criticized|supported opposed|support oppose|for against|agree disagree|agreed disagreed
protect harm
maternal paternal|liberal conservative|hero villain|friend enemy|upstream downstream|uphill downhill
clockwise anticlockwise
salty fresh|even odd|daily weekly|weekly monthly|monthly yearly|daily monthly|annual monthly|annually monthly
weekly annual
junior senior|child adult|children adults|ended began|leaves arrives|left arrived|departs arrives
started finished|end start|kept lost|keep lose|kept sold|abandoned kept|lowered raised|raise lower
raised reduced|raise cut
eastward westward|northward southward|ground top|bottom top|upstairs downstairs|front back|front rear
free pay|free cost
admit deny|admitted denied|confirmed denied|agreed refused|accept refuse|accepted refused|accepted declined
legalised banned
lifted imposed|extended shortened|lengthened shortened|widened narrowed|strengthened weakened|improved worsened
doubled halved|expanded shrank|merged split|united divided|locked unlocked|employed dismissed|recruited dismissed
married divorced|winner loser|profit loss|surplus deficit|lender borrower|buyer seller|landlord tenant
few many|few most
majority few|minority most|sunrise sunset|dawn dusk|solid liquid|raw cooked|wild tame|sweet bitter
rough smooth|thick thin
thicker thinner|thinnest thickest|loud quiet|noisy quiet|crowded empty|dark bright|darker lighter|clean dirty
simple complex
easy difficult|easier harder|flat steep|vertical horizontal|straight curved|digital analogue|manual automatic
wired wireless
civilian military|rise drop|rose dropped|increase drop|increase decline|grew fell|grew declined|grew dropped
climbed fell
up down|inner outer|internal external|interior exterior|remember forget|backed opposed|welcomed criticised
welcomed rejected
survived died|survived destroyed|survived lost|saved destroyed|preserved destroyed|arrested released|promoted demoted
promoted relegated|attack defend|attacked defended|hired dismissed|richest poorest|richer poorer|youngest eldest
rarely often|never often|seldom often|rarely usually|seldom usually|never usually|never sometimes|rarely frequently
"""
OPPOSITES: dict[str, frozenset[str]] = {}
for _pair in _PAIRS.replace("\n", "|").strip("|").split("|"):
    _one, _other = map(stem, _pair.split())
    if _one != _other:
        OPPOSITES[_one] = OPPOSITES.get(_one, frozenset()) | {_other}
        OPPOSITES[_other] = OPPOSITES.get(_other, frozenset()) | {_one}
"""Stem → the stems that exclude it."""

_GROUPS = """
north south east west|northern southern eastern western|junior senior|child adult student pensioner
spring summer autumn winter|morning afternoon evening night|red blue green yellow white black brown
men women boys girls|upper lower middle|primary secondary|domestic foreign|old new|previous next current
begin end open close|born died|arrive leave|deep long wide high|single double
"""
SELECTORS: dict[str, frozenset[str]] = {}
for _group in _GROUPS.replace("\n", "|").strip("|").split("|"):
    _stems = frozenset(map(stem, _group.split()))
    for _one in _stems:
        SELECTORS[_one] = SELECTORS.get(_one, frozenset()) | (_stems - {_one})
"""Stem → the stems that pick out another thing: a sentence about the west wing says nothing of the east wing."""
