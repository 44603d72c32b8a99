package jsonrpc_test

import (
	"net/http"

	"github.com/gagliardetto/solana-go"
)

const farSlot = 1_000_000_000

func (s *scenario) protocol() {
	s.begin("protocol")
	post := func(name, body string) { s.raw(name, http.MethodPost, "/", body) }
	post("request", `{"jsonrpc":"2.0","id":1,"method":"getHealth"}`)
	post("text as identifier", `{"jsonrpc":"2.0","id":"a","method":"getHealth"}`)
	post("null as identifier", `{"jsonrpc":"2.0","id":null,"method":"getHealth"}`)
	post("no identifier", `{"jsonrpc":"2.0","method":"getHealth"}`)
	post("fraction as identifier", `{"jsonrpc":"2.0","id":1.5,"method":"getHealth"}`)
	post("object as identifier", `{"jsonrpc":"2.0","id":{},"method":"getHealth"}`)
	post("null parameters", `{"jsonrpc":"2.0","id":1,"method":"getHealth","params":null}`)
	post("parameters that the method lacks", `{"jsonrpc":"2.0","id":1,"method":"getHealth","params":[1]}`)
	post("parameters as an object", `{"jsonrpc":"2.0","id":1,"method":"getBalance","params":{"pubkey":"x"}}`)
	post("parameters as a text", `{"jsonrpc":"2.0","id":1,"method":"getBalance","params":"x"}`)
	post("unknown method", `{"jsonrpc":"2.0","id":1,"method":"getNothing"}`)
	post("unknown method with parameters", `{"jsonrpc":"2.0","id":1,"method":"getNothing","params":[1]}`)
	post("method as a number", `{"jsonrpc":"2.0","id":1,"method":1}`)
	post("no method", `{"jsonrpc":"2.0","id":1}`)
	post("no version", `{"id":1,"method":"getHealth"}`)
	post("another version", `{"jsonrpc":"1.0","id":1,"method":"getHealth"}`)
	post("unknown field", `{"jsonrpc":"2.0","id":1,"method":"getHealth","x":1}`)
	post("batch", `[{"jsonrpc":"2.0","id":1,"method":"getHealth"},{"jsonrpc":"2.0","id":2,"method":"getNothing"}]`)
	post("batch with an invalid request", `[{"jsonrpc":"2.0","id":1,"method":"getHealth"},1]`)
	post("batch without an identifier", `[{"jsonrpc":"2.0","method":"getHealth"}]`)
	post("empty batch", `[]`)
	post("empty object", `{}`)
	post("number", `1`)
	post("no JSON", `{`)
	post("subscription by HTTP", `{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}`)
	s.raw("health", http.MethodGet, "/health", "")
	s.raw("GET", http.MethodGet, "/", "")
	s.raw("PUT", http.MethodPut, "/", "{}")
}

func (s *scenario) chain() {
	s.begin("chain")
	s.refresh()
	s.call("health", "getHealth")
	s.call("version", "getVersion")
	s.call("identity", "getIdentity")
	s.call("genesis", "getGenesisHash")
	s.call("first block", "getFirstAvailableBlock")
	s.call("first slot", "minimumLedgerSlot")
	for _, method := range []string{"getSlot", "getBlockHeight", "getTransactionCount", "getEpochInfo", "getLatestBlockhash"} {
		s.call(method, method)
		for _, commitment := range []string{"processed", "confirmed", "finalized", "max"} {
			s.call(method+" "+commitment, method, object{"commitment": commitment})
		}
		s.call(method+", context slot not reached", method, object{"minContextSlot": farSlot})
	}
	s.call("slot, too many parameters", "getSlot", object{}, 1)
	s.call("slot, configuration as a number", "getSlot", 1)

	s.call("valid blockhash", "isBlockhashValid", named{"(blockhash)", s.blockhash}, confirmed())
	s.call("unknown blockhash", "isBlockhashValid", solana.Hash{1})
	s.call("wrong blockhash", "isBlockhashValid", "x")
	s.call("no blockhash", "isBlockhashValid")
	s.call("blockhash, context slot not reached", "isBlockhashValid", solana.Hash{1}, object{"minContextSlot": farSlot})

	for _, size := range []any{0, 82, 165, 10_000_000, 4_294_967_296, -1, "1", nil} {
		s.call("rent of "+text(size), "getMinimumBalanceForRentExemption", size)
	}
	s.call("rent without a size", "getMinimumBalanceForRentExemption")
	s.call("rent with a commitment", "getMinimumBalanceForRentExemption", 1, confirmed())

	s.call("prioritization fees", "getRecentPrioritizationFees")
	s.call("prioritization fees of accounts", "getRecentPrioritizationFees", []any{payer.PublicKey()})
	s.call("prioritization fees of a wrong address", "getRecentPrioritizationFees", []any{"x"})
	many := make([]any, 129)
	for i := range many {
		many[i] = solana.SystemProgramID
	}
	s.call("prioritization fees of too many accounts", "getRecentPrioritizationFees", named{"(129 addresses)", many})
}

func (s *scenario) fees() {
	s.begin("fees")
	s.refresh()
	one := transferOf(1, payer.PublicKey(), alice.PublicKey())
	paid := []solana.PrivateKey{payer}
	two := s.signWith("two signatures", s.blockhash, solana.MessageVersionLegacy, []solana.PrivateKey{payer, alice},
		transferOf(1, alice.PublicKey(), payer.PublicKey()))
	s.call("two signatures", "getFeeForMessage", two.messageInBase64(), confirmed())
	versioned := s.signWith("version 0", s.blockhash, solana.MessageVersionV0, paid, one)
	s.call("version 0", "getFeeForMessage", versioned.messageInBase64(), confirmed())
	priced := s.signWith("priority fee", s.blockhash, solana.MessageVersionLegacy, paid, append(priority(1_000_000), one)...)
	s.call("priority fee", "getFeeForMessage", priced.messageInBase64(), confirmed())
	expired := s.signWith("expired message", solana.Hash{1}.String(), solana.MessageVersionLegacy, paid, one)
	s.call("unknown blockhash", "getFeeForMessage", expired.messageInBase64(), confirmed())
	s.call("wrong base64", "getFeeForMessage", "*")
	s.call("empty message", "getFeeForMessage", "")
	s.call("garbage", "getFeeForMessage", "AAAA")
	s.call("garbage of version 0", "getFeeForMessage", "gA==")
	s.call("number", "getFeeForMessage", 1)
	s.call("no message", "getFeeForMessage")
	s.call("context slot not reached", "getFeeForMessage", two.messageInBase64(), object{"minContextSlot": farSlot})
}

func (s *scenario) blocks() {
	s.begin("blocks")
	slot := s.memoSlot
	config := func(more ...any) object {
		all := confirmed(more...)
		all["rewards"] = false
		return all
	}
	for _, encoding := range []string{"json", "base64", "base58", "jsonParsed"} {
		s.call("block in "+encoding, "getBlock", slot, config("encoding", encoding, "maxSupportedTransactionVersion", 0))
	}
	for _, details := range []string{"full", "signatures", "none", "accounts", "x"} {
		s.call("block with "+details, "getBlock", slot, config("transactionDetails", details))
	}
	s.call("block of version 0", "getBlock", s.transferSlot, config("maxSupportedTransactionVersion", 0))
	s.call("block of version 0 without support", "getBlock", s.transferSlot, config())
	s.call("finalized block", "getBlock", slot, object{"transactionDetails": "none", "rewards": false})
	s.call("block in the old form", "getBlock", slot, "base64")
	s.call("block in a wrong encoding", "getBlock", slot, config("encoding", "x"))
	s.call("block, processed", "getBlock", slot, object{"commitment": "processed"})
	s.call("future block", "getBlock", farSlot)
	s.call("no slot", "getBlock")
	s.call("negative slot", "getBlock", -1)
	s.call("block time", "getBlockTime", slot)
	s.call("future block time", "getBlockTime", farSlot)
	s.call("no block time", "getBlockTime")
	s.call("blocks", "getBlocks", slot, slot)
	s.call("blocks, confirmed", "getBlocks", slot, slot, confirmed())
	s.call("blocks, processed", "getBlocks", slot, slot, object{"commitment": "processed"})
	s.call("blocks that end before they begin", "getBlocks", 2, 1)
	s.call("future blocks", "getBlocks", farSlot, farSlot+1)
	s.call("future blocks without an end", "getBlocks", farSlot)
	s.call("no blocks", "getBlocks")
	s.call("blocks from a text", "getBlocks", "x")
	s.call("one block", "getBlocksWithLimit", slot, 1)
	s.call("one block, confirmed", "getBlocksWithLimit", slot, 1, confirmed())
	s.call("limit of no block", "getBlocksWithLimit", slot, 0)
	s.call("limit above the largest", "getBlocksWithLimit", slot, 500_001)
	s.call("future blocks with a limit", "getBlocksWithLimit", farSlot, 1)
	s.call("blocks without a limit", "getBlocksWithLimit", slot)
	s.call("blocks with a limit, processed", "getBlocksWithLimit", slot, 1, object{"commitment": "processed"})
}
