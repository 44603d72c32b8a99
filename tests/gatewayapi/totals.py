"""Counts what the random requests have reached, for make test-gateway-api.

    totals.py add TOTALS STARTED REPORT...   adds a role: what `haggle serve --json` has printed, and
                                             the NDJSON reports of schemathesis
    totals.py print TOTALS                   prints the totals
    totals.py check TOTALS                   also ends with 1 for too few acceptances or an unused link

The negotiations are those of the gateway's API, and the links those of its descriptions. A link is used if
a request had the values that the link takes from an earlier response.
"""

import json
import pathlib
import sys

import requests

LEAST_ACCEPTANCES = 500
COUNTED = ["proposals", "bundles", "acceptances", "licenses", "approvals refused", "rejections by rules"]


def negotiations(started):
    query = {"limit": 200}
    while True:
        response = requests.get(
            started["negotiation_url"] + "/api/negotiations",
            headers={"Authorization": "Bearer " + started["administrator_key"]},
            params=query,
            timeout=60,
        )
        response.raise_for_status()
        page = response.json()
        yield from page["items"]
        query["cursor"] = page.get("next_cursor")
        if not query["cursor"]:
            return


def reached(started):
    counts, bundles = dict.fromkeys(COUNTED, 0), set()
    for n in negotiations(started):
        counts["proposals"] += 1
        counts["acceptances"] += n["status"] == "accepted"
        counts["licenses"] += "policy_id" in n
        rejected = n["status"] == "rejected" and " left the negotiation: " not in n["reason"]
        refused = rejected and n["reason"].startswith("The publisher refused")
        counts["approvals refused"] += refused
        counts["rejections by rules"] += rejected and not refused
        if "bundle_id" in n:
            bundles.add(n["bundle_id"])
    counts["bundles"] = len(bundles)
    return counts


def described(started):
    """The links of both descriptions, as schemathesis names them."""
    for interface in ("negotiation", "licensing"):
        description = requests.get(started[interface + "_url"] + "/openapi.json", timeout=60).json()
        label = {}
        for path, operations in description["paths"].items():
            for method, operation in operations.items():
                label[operation["operationId"]] = f"{method.upper()} {path}"
        for path, operations in description["paths"].items():
            for method, operation in operations.items():
                for status, response in operation["responses"].items():
                    for name, link in response.get("links", {}).items():
                        yield f"{method.upper()} {path} -> [{status}] {name} -> {label[link['operationId']]}"


def used(report):
    """The links with whose values a report has requests."""
    with open(report) as events:
        for event in map(json.loads, events):
            cases = event.get("ScenarioFinished", {}).get("recorder", {}).get("cases", {})
            for case in cases.values():
                if case.get("is_transition_applied") and "transition" in case:
                    yield case["transition"]["id"]


def add(totals, started, *reports):
    file, started = pathlib.Path(totals), json.loads(pathlib.Path(started).read_text())
    before = json.loads(file.read_text()) if file.exists() else {"counts": {}, "links": [], "used": []}
    counts = {name: before["counts"].get(name, 0) + count for name, count in reached(started).items()}
    links = sorted({*before["links"], *described(started)})
    followed = {link for report in reports for link in used(report)}
    file.write_text(json.dumps({
        "counts": counts, "links": links, "used": sorted(followed.intersection(links).union(before["used"])),
    }))


def show(totals):
    found = json.loads(pathlib.Path(totals).read_text())
    for name, count in found["counts"].items():
        print(f"{name + ':':22}{count:6}")
    print(f"{'links used:':22}{len(found['used']):6} of {len(found['links'])}")
    unused = [link for link in found["links"] if link not in found["used"]]
    for link in unused:
        print(f"  not used: {link}")
    return found["counts"]["acceptances"], unused


if sys.argv[1] == "add":
    add(*sys.argv[2:])
else:
    acceptances, unused = show(sys.argv[2])
    if sys.argv[1] == "check" and (acceptances < LEAST_ACCEPTANCES or unused):
        sys.exit(f"at least {LEAST_ACCEPTANCES} acceptances and requests along every link are expected")
