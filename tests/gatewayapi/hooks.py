"""Hooks of schemathesis for make test-gateway-api.

A random proposal seldom names a publisher that exists or a price that it accepts, and random strategies,
keys and clients seldom follow the rules that OpenAPI cannot express. Three of four valid documents get such
values here, so that the requests reach deals, bundles, licenses, approvals and rejections, and the links
from created objects. Outside of sequences along links, which have their own identifiers, three of four
requests about a negotiation name one of the caller. ROLE in the environment is the caller's role, and
PUBLISHERS the file that seed.py has written.

A generated Idempotency-Key can be that of an earlier request with another document, which the gateway
refuses with 422, as the IETF's draft about this header says. schemathesis counts that as the refusal of a
valid document. So such a request gets a key of its own here. Equal requests keep their equal keys, and keys
that are not valid stay as they are. The creations of strategies get keys of their own, too: a strategy can be
deleted, and a repeated key then returns the first answer about an object that is gone. The Go tests of
internal/gateway/rest reuse keys.
"""

import collections
import hashlib
import itertools
import json
import os
import re

import schemathesis
from schemathesis import GenerationMode
from schemathesis.generation.meta import TestPhase

HEADER = "Idempotency-Key"
KEY_FORM = re.compile("[ -~]{1,255}")
ROLE = os.environ["ROLE"]
with open(os.environ["PUBLISHERS"]) as publishers:
    HOSTNAMES = json.load(publishers)
ORDERED = [
    [
        "published_floor_micro",
        "min_price_per_fetch_micro",
        "preferred_price_per_fetch_micro",
        "max_price_per_fetch_micro",
    ],
    ["min_token_ttl_seconds", "preferred_token_ttl_seconds", "max_token_ttl_seconds"],
    ["min_burst_rps", "preferred_burst_rps", "max_burst_rps"],
]
# Terms for the strategies of haggle serve --demo and seed.py. All publishers accept the highest price, and
# need an approval for many fetches. Most reject prices below 500.
DEAL = {"price_per_fetch_micro": 8000, "prepaid_fetches": 1000}
OFFER = {"price_per_fetch_micro": 1200, "prepaid_fetches": 1000}
LOW = {"price_per_fetch_micro": 400, "prepaid_fetches": 1000}
LARGE = {"price_per_fetch_micro": 8000, "prepaid_fetches": 1_000_000}
PROPOSALS = [DEAL, DEAL, DEAL, DEAL, OFFER, OFFER, LOW, LARGE]
# An agreement that needs an approval cannot be accepted together with others.
BUNDLES = [DEAL, DEAL, DEAL, OFFER, OFFER, LOW]
MAX_OFFERS = 32
# Sequences along links begin with them: a further proposal or an acceptance needs an offer of the publisher.
OPENINGS = [OFFER, OFFER, OFFER, OFFER, OFFER, OFFER, DEAL, LARGE]
# Fields of strategies that depend on others, on the publisher, or on the version.
DEPENDENT = [
    "currency",
    "version",
    "preferred_purposes",
    "deal_breakers",
    "volume_tiers",
    "hours",
    "time_zone",
    "valid_from",
    "valid_until",
]

# Two runs with one seed, on one gateway, generate equal keys.
PROCESS = f"{os.getpid()}:"
numbers = itertools.count()
sent = {}  # the digest of the first request with each key
standing = collections.OrderedDict()  # the rounds of the negotiations with an offer of the publisher
accepted = collections.deque(maxlen=100)  # the ids of accepted negotiations


def digest(case):
    request = [case.operation.label, case.path_parameters, case.body]
    return hashlib.sha256(json.dumps(request, default=repr).encode()).hexdigest()


def operation_of(case):
    return case.operation.definition.raw["operationId"]


def fill_terms(terms, proposals, choice):
    terms.update(proposals[choice % len(proposals)])
    terms.update(token_ttl_seconds=600, burst_rps=10, purposes=["inference"])


def fill_bundle(bundle, choice):
    """Proposes the same kind of terms to each publisher."""
    bundle.pop("required", None)
    bundle["proposals"] = [{"publisher_hostname": name, "proposed_terms": {}} for name in HOSTNAMES]
    for proposal in bundle["proposals"]:
        fill_terms(proposal["proposed_terms"], BUNDLES, choice)


def take_offers(count):
    """Takes the oldest offers of publishers. after_call remembers those of the response again."""
    return [standing.popitem(last=False) for _ in range(min(count, len(standing)))]


def remove(body, *names):
    for name in names:
        body.pop(name, None)


def name_owner(body):
    """Names the first publisher, or leaves out the owner of a caller that has its own objects."""
    remove(body, "publisher_id", "client_id")
    if ROLE == "administrator":
        body["publisher_id"] = 1


def fill_strategy(strategy):
    remove(strategy, *DEPENDENT)
    for names in ORDERED:
        known = [name for name in names if name in strategy]
        if len(known) < len(names):
            remove(strategy, *(name for name in known if not name.endswith("price_per_fetch_micro")))
        known = [name for name in names if name in strategy]
        for name, value in zip(known, sorted(strategy[name] for name in known)):
            strategy[name] = value


def fill_body(operation, body, proposals, choice):
    if operation == "propose":
        body["publisher_hostname"] = HOSTNAMES[choice % len(HOSTNAMES)]
        fill_terms(body["proposed_terms"], proposals, choice // len(HOSTNAMES))
    elif operation == "propose-bundle":
        fill_bundle(body, choice)
    elif operation == "counter":
        fill_terms(body["proposed_terms"], proposals, choice)
    elif operation == "create-strategy":
        name_owner(body)
        fill_strategy(body)
    elif operation == "update-strategy":
        remove(body, "publisher_id", "strategy_name")
        fill_strategy(body)
    elif operation == "create-key":
        name_owner(body)
        remove(body, "scopes", "expires_at")
    elif operation == "register-client":
        remove(body, "signature_agent")


def name_negotiation(operation, case, choice):
    """Names a negotiation of the caller: the oldest one with an offer, or an accepted one."""
    if operation in ("accept", "counter") and standing:
        [(case.path_parameters["id"], current)] = take_offers(1)
        if operation == "accept":
            case.body = {"current_round": current}
    elif operation == "accept-all" and standing:
        offers = take_offers(1 + choice % MAX_OFFERS)
        case.body = {"offers": [{"negotiation_id": id, "current_round": at} for id, at in offers]}
    elif operation in ("generate-license", "get-negotiation", "get-audit") and accepted:
        case.path_parameters["id"] = accepted[choice % len(accepted)]


@schemathesis.hook
def before_call(context, case, kwargs):
    choice = int(digest(case), 16)
    positive = case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE
    # One of four documents stays as it is.
    if positive and choice % 4:
        operation = operation_of(case)
        sequence = case.meta.phase.name == TestPhase.STATEFUL
        if isinstance(case.body, dict):
            fill_body(operation, case.body, OPENINGS if sequence else PROPOSALS, choice // 4)
        if sequence and operation.startswith("list-"):
            case.query = {}  # a link takes the first item; random filters leave none
        if not sequence:
            name_negotiation(operation, case, choice // 4)

    key = (case.headers or {}).get(HEADER)
    if not isinstance(key, str) or not KEY_FORM.fullmatch(key):
        return
    # Servers ignore spaces around the value of a header.
    request = digest(case)
    if operation_of(case) == "create-strategy":
        case.headers[HEADER] = f"{request}-{next(numbers)}"
    elif sent.setdefault(key.strip(), request) != request:
        case.headers[HEADER] = request
    elif len(PROCESS + key) <= 255:
        case.headers[HEADER] = PROCESS + key


@schemathesis.hook
def after_call(context, case, response):
    """Remembers the negotiations of callers with credentials; those of others name another client."""
    if response.status_code not in (200, 201) or "Authorization" not in response.request.headers:
        return
    if operation_of(case) not in ("propose", "propose-bundle", "counter", "accept", "accept-all", "leave"):
        return
    answer = response.json()
    for part in answer.get("answers", [answer]):
        negotiation = part["negotiation"]
        standing.pop(negotiation["id"], None)
        if negotiation["status"] == "negotiating":
            standing[negotiation["id"]] = negotiation["current_round"]
        elif negotiation["status"] == "accepted":
            accepted.append(negotiation["id"])
