"""Adds publishers and negotiations to a gateway before its random requests, so that every list has an item.

Standard input has what `haggle serve --demo --json` has printed. The publishers that are added make the
bundles larger. Each client gets a license of each publisher of the demo, and negotiations with the first
one wait for approval, because sequences along links approve the newest of them. Prints the host names of
all publishers.
"""

import json
import sys

import requests

PENDING = 10
PUBLISHERS = 64  # the largest bundle
STRATEGY = {
    "published_floor_micro": 500,
    "min_price_per_fetch_micro": 1000,
    "preferred_price_per_fetch_micro": 2000,
    "max_price_per_fetch_micro": 5000,
}

started = json.load(sys.stdin)
publishers = [p["name"] for p in started["demo"] if p["role"] == "publisher"]


def post(key, path, document=None):
    response = requests.post(
        started["negotiation_url"] + "/api/" + path,
        headers={"Authorization": "Bearer " + key},
        json=document,
        timeout=30,
    )
    response.raise_for_status()
    return response.json()


def propose(client, publisher, fetches):
    terms = {
        "price_per_fetch_micro": 8000,
        "token_ttl_seconds": 600,
        "burst_rps": 10,
        "purposes": ["inference"],
        "prepaid_fetches": fetches,
    }
    proposal = {"publisher_hostname": publisher, "proposed_terms": terms}
    return post(client["api_key"], "negotiations", proposal)["negotiation"]


for client in (p for p in started["demo"] if p["role"] == "client"):
    for publisher in publishers:
        sold = propose(client, publisher, 1000)["id"]
        post(client["api_key"], f"negotiations/{sold}/generate-license")
    for _ in range(PENDING):
        assert propose(client, publishers[0], 1_000_000)["status"] == "awaiting_approval"

for number in range(len(publishers) + 1, PUBLISHERS + 1):
    publisher = {"hostname": f"site-{number}.local", "name": f"Publisher {number}"}
    added = post(started["administrator_key"], "publishers", publisher)
    post(started["administrator_key"], "strategies", STRATEGY | {"publisher_id": added["id"]})
    publishers.append(added["hostname"])
json.dump(publishers, sys.stdout)
