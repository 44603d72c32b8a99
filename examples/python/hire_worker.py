"""A worker that speaks HIRE/1.0 without Haggle's SDK: see docs/HIRE.md.

It reads a message per line from stdin and writes its answers to stdout, and the codes of refusals to stderr.
"""

import argparse
import base64
import decimal
import hashlib
import json
import sys
from datetime import datetime, timedelta, timezone

from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.signature import Signature

FIELDS = {"protocol", "type", "from", "to", "timestamp", "conversation_id", "payload", "signature"}
MAX_SIZE = 64 * 1024
MAX_SKEW = timedelta(seconds=30)


class Refused(Exception):
    """A reason code."""


def canonical(value):
    # RFC 8785. The messages contain no numbers and only ASCII keys, so sorted keys without spaces are enough.
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def message_hash(message):
    return hashlib.sha256(canonical(message)).hexdigest()


def unique(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise Refused("malformed")
    return dict(pairs)


def read(line):
    """Returns a message with a valid signature by its sender, whose id is a Solana address."""
    if len(line) > MAX_SIZE:
        raise Refused("malformed")
    try:
        message = json.loads(line, object_pairs_hook=unique)
    except ValueError:
        raise Refused("malformed") from None
    if not isinstance(message, dict) or set(message) != FIELDS or not isinstance(message["payload"], dict):
        raise Refused("malformed")
    if message["protocol"] != "HIRE/1.0":
        raise Refused("unsupported_version")
    try:
        sender = Pubkey.from_string(message["from"])
    except (TypeError, ValueError):
        raise Refused("unknown_identity") from None
    try:
        signature = Signature(base64.urlsafe_b64decode(message["signature"] + "=="))
        at = datetime.fromisoformat(message["timestamp"].replace("Z", "+00:00"))
        skew = abs(at - datetime.now(timezone.utc))
    except (AttributeError, TypeError, ValueError):
        raise Refused("malformed") from None
    signed = {name: value for name, value in message.items() if name != "signature"}
    if not signature.verify(sender, canonical(signed)):
        raise Refused("bad_signature")
    if skew > MAX_SKEW:
        raise Refused("clock_skew")
    return message


def tokens(price):
    try:
        number, symbol = price.split(" ")
        return decimal.Decimal(number), symbol
    except (AttributeError, ValueError, decimal.InvalidOperation):
        raise Refused("malformed") from None


class Worker:
    """One conversation, from the side of a worker with a lowest price."""

    def __init__(self, key, price):
        self.key, self.price = key, price
        self.last = self.terms = self.seeker = self.conversation = None

    def answer(self, message):
        payload = dict(message["payload"])
        if message["to"] != str(self.key.pubkey()) or self.seeker not in (None, message["from"]):
            raise Refused("wrong_party")
        if self.conversation not in (None, message["conversation_id"]):
            raise Refused("wrong_conversation")
        if payload.pop("in_reply_to", None) != self.last:
            raise Refused("out_of_order")
        kind = message["type"]
        if kind == "proposal":
            answer = self.quote(payload)
        elif kind == "clarification":
            answer = "clarification", {"answers": ["Yes."]} if payload.get("questions") else None
        elif kind == "accept":
            if self.terms is None or payload.get("accepted_terms") != self.terms:
                raise Refused("other_terms")
            answer = "accept", {"accepted_terms": self.terms}
        elif kind in ("inquiry", "reject"):
            answer = "capability", {"skills": ["logo"]} if kind == "inquiry" else None
        else:
            raise Refused("wrong_role")
        self.seeker, self.conversation = message["from"], message["conversation_id"]
        self.last = message_hash(message)
        return answer

    def quote(self, proposal):
        (offered, symbol), (lowest, mine) = tokens(proposal.get("budget")), tokens(self.price)
        if symbol != mine:
            return "reject", {"reason_code": "symbol"}
        self.terms = {"price": proposal["budget"], "deadline": proposal["deadline"]}
        if "arbiter" in proposal:
            self.terms["arbiter"] = proposal["arbiter"]
        if offered >= lowest:
            return "accept", {"accepted_terms": self.terms}
        self.terms["price"] = self.price
        return "counter", {"price": self.price, "estimated_delivery": self.terms["deadline"]}

    def send(self, kind, payload):
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        message = {
            "protocol": "HIRE/1.0", "type": kind, "from": str(self.key.pubkey()), "to": self.seeker, "timestamp": now,
            "conversation_id": self.conversation, "payload": payload | {"in_reply_to": self.last},
        }
        signature = bytes(self.key.sign_message(canonical(message)))
        message["signature"] = base64.urlsafe_b64encode(signature).decode().rstrip("=")
        self.last = message_hash(message)
        print(canonical(message).decode(), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True, help="a keypair file of the Solana tools")
    parser.add_argument("--price", required=True, help="the lowest price, such as '5 USDC'")
    options = parser.parse_args()
    with open(options.key) as file:
        worker = Worker(Keypair.from_bytes(bytes(json.load(file))), options.price)
    for line in sys.stdin:
        try:
            kind, payload = worker.answer(read(line))
            if payload is not None:
                worker.send(kind, payload)
        except Refused as reason:
            print(reason, file=sys.stderr, flush=True)
