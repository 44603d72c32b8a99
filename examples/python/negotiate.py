"""Runs one negotiation in Python, from the deposit to the refund of the rent, with both parties in one
program.

It uses idl/haggle.json and the package solders, nothing else of this repository:

    pip install -r requirements.txt
    python3 negotiate.py --rpc URL --mint ADDRESS --buyer buyer.json --seller seller.json

The buyer needs 5,000,000 base units of the mint, and both need SOL. "haggle localnet --dir chain" starts a
chain with such wallets. AnchorPy 0.21 cannot read IDLs of this format, so anchor_idl.py reads it.
"""

import argparse
import json
import secrets
import time
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from urllib.request import Request, urlopen

from solders.hash import Hash
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.transaction import Transaction

from anchor_idl import Idl

TOKEN_PROGRAM = Pubkey.from_string("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
ASSOCIATED_TOKEN_PROGRAM = Pubkey.from_string("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
SERVICE_HASH = sha256(b"Summarise a paper").digest()
NO_METADATA = bytes(64)
ESCROW = 5_000_000  # base units, the highest possible price
DECIMALS = 6  # with which ESCROW and the offers are 5, 2, 4 and 3 tokens


class Chain:
    """A node's JSON-RPC interface."""

    def __init__(self, url):
        self.url = url

    def call(self, method, *params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = Request(self.url, body, {"Content-Type": "application/json"})
        with urlopen(request, timeout=30) as response:
            answer = json.load(response)
        if "error" in answer:
            raise RuntimeError(f"{method}: {json.dumps(answer['error'])}")
        return answer["result"]

    def account(self, address):
        options = {"commitment": "confirmed", "encoding": "base64"}
        value = self.call("getAccountInfo", str(address), options)["value"]
        if value is None:
            raise RuntimeError(f"account {address}: does not exist")
        return b64decode(value["data"][0])

    def send(self, instruction, signer):
        """Sends a transaction, and returns its logs when it is confirmed.

        After a timeout its outcome is unknown: read the negotiation before you send the action again.
        """
        latest = self.call("getLatestBlockhash", {"commitment": "confirmed"})["value"]["blockhash"]
        transaction = Transaction.new_signed_with_payer(
            [instruction], signer.pubkey(), [signer], Hash.from_string(latest)
        )
        encoded = b64encode(bytes(transaction)).decode()
        options = {"encoding": "base64", "preflightCommitment": "confirmed"}
        signature = self.call("sendTransaction", encoded, options)
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            status = self.call("getSignatureStatuses", [signature])["value"][0]
            if status and status["err"]:
                raise RuntimeError(f"transaction {signature} failed: {status['err']}")
            if status and status["confirmationStatus"] in ("confirmed", "finalized"):
                options = {"commitment": "confirmed", "maxSupportedTransactionVersion": 0}
                if found := self.call("getTransaction", signature, options):
                    return found["meta"]["logMessages"]
            time.sleep(0.1)
        raise TimeoutError(f"transaction {signature}: outcome unknown")


def token_account(owner, mint):
    seeds = [bytes(owner), bytes(TOKEN_PROGRAM), bytes(mint)]
    return Pubkey.find_program_address(seeds, ASSOCIATED_TOKEN_PROGRAM)[0]


def negotiate(chain, idl, mint, buyer, seller):
    config_address = idl.address(b"config")
    _, config = idl.decode_record(chain.account(config_address))

    # The buyer deposits the escrow and invites the seller. The session id distinguishes this pair's deals.
    session_id = secrets.randbits(64)
    seeds = [b"negotiation", bytes(buyer.pubkey()), bytes(seller.pubkey()), session_id.to_bytes(8, "little")]
    negotiation = idl.address(*seeds)
    payment = {
        "negotiation": negotiation,
        "escrow_vault": idl.address(b"vault", bytes(negotiation)),
        "buyer_token_account": token_account(buyer.pubkey(), mint),
        "seller_token_account": token_account(seller.pubkey(), mint),
        "token_mint": mint,
        "token_program": TOKEN_PROGRAM,
    }
    terms = {
        "escrow_amount": ESCROW, "service_hash": SERVICE_HASH, "max_rounds": config["default_max_rounds"],
        "decay_rate_bps": config["default_decay_rate_bps"],
        "response_window": config["default_response_window"], "global_deadline": int(time.time()) + 1800,
        "min_offer_bps": 1000, "zopa_enabled": False, "bond_required": 0, "arbiter": Pubkey.default(),
        "milestone_bps": [0] * 8, "milestone_deadline": 0, "review_hours": 0, "metadata": NO_METADATA,
        "max_fee_bps": config["default_protocol_fee_bps"], "decimals": DECIMALS,
    }
    parties = {"buyer": buyer.pubkey(), "seller": seller.pubkey(), "config": config_address}
    deal = {"session_id": session_id, "params": terms}
    chain.send(idl.instruction("create_negotiation", payment | parties, deal), buyer)
    print(f"created {negotiation}")

    # The seller checks the terms that it reads, and accepts exactly these: it signs their hash.
    account = chain.account(negotiation)
    _, read = idl.decode_record(account)
    if (read["service_hash"], read["token_mint"]) != (SERVICE_HASH, mint):
        raise RuntimeError(f"negotiation {negotiation} is not about this service and mint")
    only_with_bond = ("escrow_vault", "seller_token_account", "token_program")
    accounts = {"seller": seller.pubkey(), "negotiation": negotiation, "token_mint": mint}
    accounts |= dict.fromkeys(only_with_bond)
    terms_hash = sha256(bytes(negotiation) + account).digest()
    agreed = {"terms_hash": terms_hash, "decimals": DECIMALS}
    chain.send(idl.instruction("accept_invitation", accounts, agreed), seller)

    # Every action names the deal and the round that its signer has read, so it cannot act on another state.
    for party, amount in ((buyer, 2_000_000), (seller, 4_000_000), (buyer, 3_000_000)):
        _, read = idl.decode_record(chain.account(negotiation))
        offer = {
            "created_at": read["created_at"], "expected_round": read["current_round"], "amount": amount,
            "deadline_extension": 0, "metadata": NO_METADATA,
        }
        accounts = {"offerer": party.pubkey(), "negotiation": negotiation}
        for _, event in idl.events(chain.send(idl.instruction("submit_offer", accounts, offer), party)):
            print(f"offered {event['amount']}; the escrow is worth {event['effective_escrow']}")

    # The seller accepts the offer that it has read. The program pays at once.
    _, read = idl.decode_record(chain.account(negotiation))
    acceptance = {
        "created_at": read["created_at"], "expected_round": read["current_round"],
        "expected_amount": read["current_offer_amount"], "expected_metadata": read["metadata"],
    }
    accounts = payment | {"acceptor": seller.pubkey()}
    for name, event in idl.events(chain.send(idl.instruction("accept_offer", accounts, acceptance), seller)):
        if name == "NegotiationSettled":
            decay = event["escrow_decay_total"]
            print(f"settled at {event['settled_amount']}: fee {event['protocol_fee']}, decay {decay}")

    # Closing sends fee and decay to the treasury, and the rent back to the buyer. It is possible from the
    # second after the creation on.
    time.sleep(1)
    accounts = payment | {
        "closer": buyer.pubkey(), "buyer": buyer.pubkey(), "config": config_address,
        "treasury_token_account": token_account(config["treasury"], mint),
        "buyer_token_account": None, "seller_token_account": None,
    }
    chain.send(idl.instruction("close_negotiation", accounts, {}), buyer)
    account = str(payment["seller_token_account"])
    balance = chain.call("getTokenAccountBalance", account, {"commitment": "confirmed"})
    print(f"closed; the seller has {balance['value']['amount']}")


def main():
    parser = argparse.ArgumentParser(description="Runs one negotiation on a chain.")
    parser.add_argument("--rpc", default="http://127.0.0.1:8899", metavar="URL")
    parser.add_argument("--mint", required=True, type=Pubkey.from_string, metavar="ADDRESS")
    parser.add_argument("--buyer", default="buyer.json", metavar="FILE")
    parser.add_argument("--seller", default="seller.json", metavar="FILE")
    repository = Path(__file__).resolve().parents[2]
    parser.add_argument("--idl", default=repository / "idl" / "haggle.json", metavar="FILE")
    flags = parser.parse_args()
    buyer, seller = (Keypair.from_json(Path(file).read_text()) for file in (flags.buyer, flags.seller))
    negotiate(Chain(flags.rpc), Idl(flags.idl), flags.mint, buyer, seller)


if __name__ == "__main__":
    main()
