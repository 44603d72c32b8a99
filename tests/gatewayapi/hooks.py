"""Hooks of schemathesis for make test-gateway-api.

A random proposal seldom names a publisher that exists, and a random strategy seldom has its prices,
lifetimes and rates in order. Three of four valid documents get them here, so that the requests reach the
rules behind these checks.

A generated Idempotency-Key can be that of an earlier request with another document, which the gateway refuses
with 422, as the IETF's draft about this header says. schemathesis counts that as the refusal of a valid
document. So such a request gets a key of its own here. Equal requests keep their equal keys, and keys that
are not valid stay as they are. The Go tests of internal/gateway/rest reuse keys.
"""

import hashlib
import json
import re

import schemathesis
from schemathesis import GenerationMode

HEADER = "Idempotency-Key"
KEY_FORM = re.compile("[ -~]{1,255}")
HOSTNAMES = ["site-a.local", "site-b.local"]  # of haggle serve --demo
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
sent = {}  # the digest of the first request with each key


def digest(case):
    request = [case.operation.label, case.path_parameters, case.body]
    return hashlib.sha256(json.dumps(request, default=repr).encode()).hexdigest()


def name_publishers(proposals, first):
    for at, proposal in enumerate(proposals[: len(HOSTNAMES)]):
        proposal["publisher_hostname"] = HOSTNAMES[(first + at) % len(HOSTNAMES)]


def order(strategy):
    for names in ORDERED:
        known = [name for name in names if name in strategy]
        for name, value in zip(known, sorted(strategy[name] for name in known)):
            strategy[name] = value


@schemathesis.hook
def before_call(context, case, kwargs):
    choice = int(digest(case), 16)
    positive = case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE
    # One of four documents stays as it is.
    if positive and isinstance(case.body, dict) and choice % 4:
        operation = case.operation.definition.raw["operationId"]
        if operation == "propose":
            name_publishers([case.body], choice // 4)
        elif operation == "propose-bundle":
            name_publishers(case.body["proposals"], choice // 4)
        elif operation in ("create-strategy", "update-strategy"):
            order(case.body)

    key = (case.headers or {}).get(HEADER)
    if not isinstance(key, str) or not KEY_FORM.fullmatch(key):
        return
    # Servers ignore spaces around the value of a header.
    request = digest(case)
    if sent.setdefault(key.strip(), request) != request:
        case.headers[HEADER] = request
