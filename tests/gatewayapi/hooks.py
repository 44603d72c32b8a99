"""Hooks of schemathesis for make test-gateway-api.

A generated Idempotency-Key can be that of an earlier request with another document, which the gateway refuses
with 422, as the IETF's draft of the header says. schemathesis counts that as the refusal of a valid document.
So such a request gets a key of its own here. Equal requests keep their equal keys, and keys that are not valid
stay as they are. The Go tests of internal/gateway/rest reuse keys.
"""

import hashlib
import json
import re

import schemathesis

HEADER = "Idempotency-Key"
VALID = re.compile("[ -~]{1,255}")
sent = {}  # the digest of the first request with each key


@schemathesis.hook
def before_call(context, case, kwargs):
    key = (case.headers or {}).get(HEADER)
    if not isinstance(key, str) or not VALID.fullmatch(key):
        return
    # Servers ignore spaces around the value of a header.
    request = [case.operation.label, case.path_parameters, case.body]
    digest = hashlib.sha256(json.dumps(request, default=repr).encode()).hexdigest()
    if sent.setdefault(key.strip(), digest) != digest:
        case.headers[HEADER] = digest
        sent[digest] = digest
