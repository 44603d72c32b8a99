"""A seeker that hires a worker over A2A 1.0, with its Python SDK and without Haggle's: see docs/HIRE.md.

It proposes a task, raises its price in a few steps, and accepts a counter up to --most. It ends with the agreement.
"""

import argparse
import asyncio
import base64
import decimal
import hashlib
import json
import secrets
import sys
from datetime import datetime, timedelta, timezone

import httpx
from a2a.client import ClientConfig, create_client
from a2a.helpers.proto_helpers import get_data_parts, new_data_message
from a2a.types.a2a_pb2 import GetTaskRequest, Role, SendMessageRequest, TaskState
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.signature import Signature

STEPS = 4


def canonical(value):
    # RFC 8785. The messages contain no numbers and only ASCII keys, so sorted keys without spaces are enough.
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def check(message, key):
    """Ends the program unless the key has signed the message, or the card."""
    unsigned = {name: value for name, value in message.items() if name != "signature"}
    if not Signature(base64.urlsafe_b64decode(message["signature"] + "==")).verify(key, canonical(unsigned)):
        sys.exit("a signature is not the worker's")


class Seeker:
    def __init__(self, options, key, card):
        self.options, self.key, self.card = options, key, card
        self.worker_key = Pubkey.from_string(card["key"])
        self.conversation, self.task, self.last, self.terms = secrets.token_hex(16), None, None, None
        self.first, self.symbol = options.opening.split(" ")
        self.first, self.most = decimal.Decimal(self.first), decimal.Decimal(options.most.split(" ")[0])
        self.step = 0

    def proposal(self):
        price = self.first + (self.most - self.first) * self.step / STEPS
        self.step += 1
        price = format(price.quantize(decimal.Decimal("0.01"), decimal.ROUND_DOWN).normalize(), "f")
        deadline = (datetime.now(timezone.utc) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        return "proposal", {
            "task": self.options.task, "requirements": [], "budget": f"{price} {self.symbol}", "deadline": deadline,
            "arbiter": self.options.arbiter,
        }

    def answer(self, message):
        """Returns the answer to a message of the worker: its type and its payload."""
        check(message, self.worker_key)
        if (message["from"], message["conversation_id"]) != (self.card["id"], self.conversation):
            sys.exit("a message of another conversation")
        self.last = hashlib.sha256(canonical(message)).hexdigest()
        payload = message["payload"]
        if message["type"] == "clarification":
            return "clarification", {"answers": ["Decide yourself."]}
        if message["type"] == "accept":
            return "accept", {"accepted_terms": payload["accepted_terms"]}
        price, symbol = payload["price"].split(" ")
        if symbol == self.symbol and decimal.Decimal(price) <= self.most:
            terms = {"price": payload["price"], "deadline": payload["estimated_delivery"]}
            terms["arbiter"] = payload.get("arbiter", self.options.arbiter)
            return "accept", {"accepted_terms": terms}
        return self.proposal() if self.step <= STEPS else ("reject", {"reason_code": "price"})

    def signed(self, kind, payload):
        if self.last:
            payload = payload | {"in_reply_to": self.last}
        message = {
            "protocol": "HIRE/1.0", "type": kind, "from": str(self.key.pubkey()), "to": self.card["id"],
            "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "conversation_id": self.conversation, "payload": payload,
        }
        signature = bytes(self.key.sign_message(canonical(message)))
        message["signature"] = base64.urlsafe_b64encode(signature).decode().rstrip("=")
        self.last = hashlib.sha256(canonical(message)).hexdigest()
        return message

    async def hire(self, client):
        kind, payload = self.proposal()
        while True:
            print("seeker:", kind, payload.get("budget") or payload.get("accepted_terms", {}).get("price", ""))
            data = new_data_message(self.signed(kind, payload), "application/json", self.conversation, self.task,
                                    Role.ROLE_USER)
            async for response in client.send_message(SendMessageRequest(message=data)):
                task = response.task
            self.task = task.id
            while task.status.state == TaskState.TASK_STATE_WORKING and kind != "accept":
                await asyncio.sleep(1)
                task = await client.get_task(GetTaskRequest(id=task.id))
            messages = [get_data_parts(message.parts)[0] for message in task.history]
            accepts = [message for message in messages if message["type"] == "accept"]
            if len(accepts) == 2:
                check(next(message for message in accepts if message["from"] == self.card["id"]), self.worker_key)
                return print("agreed:", canonical(accepts[0]["payload"]["accepted_terms"]).decode())
            if task.status.state != TaskState.TASK_STATE_INPUT_REQUIRED:
                sys.exit(f"no agreement: {TaskState.Name(task.status.state)}")
            worker = messages[-1]
            print("worker:", worker["type"], worker["payload"].get("price", ""))
            kind, payload = self.answer(worker)


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", help="the worker's origin")
    parser.add_argument("--key", required=True, help="a keypair file of the Solana tools")
    parser.add_argument("--task", required=True)
    parser.add_argument("--opening", required=True, help="the first price, such as '2 USDC'")
    parser.add_argument("--most", required=True, help="the highest price, such as '4 USDC'")
    parser.add_argument("--arbiter", required=True, help="the Solana address of the arbiter")
    options = parser.parse_args()
    with open(options.key) as file:
        key = Keypair.from_bytes(bytes(json.load(file)))
    async with httpx.AsyncClient(timeout=200) as http:
        card = (await http.get(options.home + "/.well-known/hire.json")).raise_for_status().json()
        check({name: value for name, value in card.items() if name != "previous_signature"}, Pubkey.from_string(card["key"]))
        client = await create_client(options.home, ClientConfig(streaming=False, httpx_client=http))
        await Seeker(options, key, card).hire(client)


asyncio.run(main())
