"""Prints the credentials of a role for schemathesis, from what `haggle serve --demo --json` has printed.

Requests can revoke the API key that they are sent with. So a publisher or a client gets a new one from the
administrator when the gateway answers 401. Their peer must not see their objects.
"""

import json
import sys

started, role = json.load(sys.stdin), sys.argv[1]
administrator = {"name": "Authorization", "value": "Bearer " + started["administrator_key"]}


def party(name, owner):
    return {
        "name": name,
        "loginEndpointAuth": {
            "verb": "POST",
            "externalEndpointURL": started["negotiation_url"] + "/api/keys",
            "headers": [administrator],
            "contentType": "application/json",
            "payloadRaw": json.dumps({role + "_id": owner["id"], "name": "schemathesis"}),
            "token": {
                "extractFrom": "body",
                "extractSelector": "/api_key",
                "sendIn": "header",
                "sendName": "Authorization",
                "sendTemplate": "Bearer {token}",
            },
        },
    }


if role == "administrator":
    entries = [{"name": "caller", "fixedHeaders": [administrator]}]
else:
    owners = [p for p in started["demo"] if p["role"] == role]
    entries = [party("caller", owners[0]), party("peer", owners[1])]
json.dump({"auth": entries}, sys.stdout)
