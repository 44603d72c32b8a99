"""Reads an Anchor IDL (spec 0.1.0): the data of instructions, and accounts and events as dictionaries.

It has the types that idl/haggle.json uses: integers, bool, pubkey, arrays, structs, and enums without data.
"""

import json
from base64 import b64decode

from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey

INTEGERS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i64": 8}


class Idl:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        self.program = Pubkey.from_string(document["address"])
        self.instructions = {i["name"]: i for i in document["instructions"]}
        self.types = {t["name"]: t["type"] for t in document["types"]}
        records = document["accounts"] + document["events"]
        self.records = {bytes(record["discriminator"]): record["name"] for record in records}

    def instruction(self, name, accounts, args):
        """An instruction with its accounts and arguments by name. None leaves an optional account out."""
        declared = self.instructions[name]
        metas = []
        for account in declared["accounts"]:
            if "address" in account:
                key = Pubkey.from_string(account["address"])
            elif (key := accounts[account["name"]]) is None:  # by Anchor's convention
                metas.append(AccountMeta(self.program, False, False))
                continue
            metas.append(AccountMeta(key, account.get("signer", False), account.get("writable", False)))
        data = bytes(declared["discriminator"])
        data += b"".join(self.encode(arg["type"], args[arg["name"]]) for arg in declared["args"])
        return Instruction(self.program, data, metas)

    def decode_record(self, data):
        """The name and the fields of an account or event."""
        name = self.records[bytes(data[:8])]
        return name, self.decode({"defined": {"name": name}}, data, 8)[0]

    def events(self, logs):
        """The events in the logs of a transaction whose only program with data is this one."""
        lines = [line.removeprefix("Program data: ") for line in logs if line.startswith("Program data: ")]
        return [self.decode_record(b64decode(line)) for line in lines]

    def address(self, *seeds):
        return Pubkey.find_program_address(seeds, self.program)[0]

    def encode(self, kind, value):
        if isinstance(kind, str) and kind in INTEGERS:
            return int(value).to_bytes(INTEGERS[kind], "little", signed=kind[0] == "i")
        if kind == "bool":
            return bytes([value])
        if kind == "pubkey":
            return bytes(value)
        if "array" in kind:
            element, length = kind["array"]
            if len(value) != length:
                raise ValueError(f"array: {len(value)} elements, not {length}")
            return b"".join(self.encode(element, v) for v in value)
        fields = self.types[kind["defined"]["name"]]["fields"]
        return b"".join(self.encode(field["type"], value[field["name"]]) for field in fields)

    def decode(self, kind, data, at):
        """The value at an offset, and the offset behind it."""
        if isinstance(kind, str) and kind in INTEGERS:
            end = at + INTEGERS[kind]
            return int.from_bytes(data[at:end], "little", signed=kind[0] == "i"), end
        if kind == "bool":
            return data[at] == 1, at + 1
        if kind == "pubkey":
            return Pubkey(data[at : at + 32]), at + 32
        if "array" in kind:
            element, length = kind["array"]
            values = []
            for _ in range(length):
                value, at = self.decode(element, data, at)
                values.append(value)
            return (bytes(values) if element == "u8" else values), at
        declared = self.types[kind["defined"]["name"]]
        if declared["kind"] == "enum":
            return declared["variants"][data[at]]["name"], at + 1
        fields = {}
        for field in declared["fields"]:
            fields[field["name"]], at = self.decode(field["type"], data, at)
        return fields, at
