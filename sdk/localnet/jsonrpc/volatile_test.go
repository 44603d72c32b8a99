package jsonrpc_test

import (
	"encoding/json"
	"strings"
)

// volatile lists the fields with values that differ from chain to chain by nature. Their types alone are
// recorded and compared. A path matches a field path's end; a method restricts it to that method's responses.
var volatile = []struct{ method, path, reason string }{
	{"", "slot", "slots depend on the speed and the age of the chain"},
	{"", "contextSlot", "a slot"},
	{"", "parentSlot", "a slot"},
	{"", "absoluteSlot", "a slot"},
	{"", "slotIndex", "a slot"},
	{"", "blockHeight", "a slot"},
	{"", "lastValidBlockHeight", "a slot"},
	{"slotNotification", "parent", "a slot"},
	{"slotNotification", "root", "a slot"},
	{"rootNotification", "result", "a slot"},
	{"getSlot", "result", "a slot"},
	{"getBlockHeight", "result", "a slot"},
	{"getBlocks", "result[]", "a slot"},
	{"getBlocksWithLimit", "result[]", "a slot"},
	{"getFirstAvailableBlock", "result", "a validator's ledger begins with slot 0, this one with slot 1"},
	{"minimumLedgerSlot", "result", "a validator's ledger begins with slot 0, this one with slot 1"},
	{"", "blockTime", "the time of the recording"},
	{"getBlockTime", "result", "the time of the recording"},
	{"", "blockhash", "hashes depend on the genesis"},
	{"", "previousBlockhash", "hashes depend on the genesis"},
	{"getGenesisHash", "result", "the genesis is random"},
	{"getIdentity", "identity", "the identity is a random key"},
	{"getTransactionCount", "result", "a validator counts vote transactions"},
	{"", "transactionCount", "a validator counts vote transactions"},
	{"", "transactionIndex", "vote transactions are in the same block"},
	{"requestAirdrop", "result", "the faucet is a random key"},
	{"", "subscription", "the server chooses the identifier"},
	{"accountSubscribe", "result", "the server chooses the identifier"},
	{"logsSubscribe", "result", "the server chooses the identifier"},
	{"programSubscribe", "result", "the server chooses the identifier"},
	{"rootSubscribe", "result", "the server chooses the identifier"},
	{"signatureSubscribe", "result", "the server chooses the identifier"},
	{"slotSubscribe", "result", "the server chooses the identifier"},
}

// samples are lists whose length depends on the age of the chain: their first items are compared.
var samples = map[string]string{
	"getRecentPrioritizationFees": "result",
}

// normalize replaces everything that differs from chain to chain: named values by their names, volatile
// fields by their types. A block keeps the transactions that have names: all others are validator votes.
func (s *session) normalize(method, path string, value any) any {
	switch typed := value.(type) {
	case object:
		for key, field := range typed {
			typed[key] = s.normalize(method, path+"."+key, field)
		}
	case []any:
		if samples[method] == path && len(typed) > 1 {
			typed = typed[:1]
		}
		items := []any{}
		for _, item := range typed {
			item = s.normalize(method, path+"[]", item)
			if method != "getBlock" || path != "result.transactions" && path != "result.signatures" || s.isNamed(item) {
				items = append(items, item)
			}
		}
		return items
	}
	for _, field := range volatile {
		if field.method != "" && field.method != method {
			continue
		}
		if path == field.path || strings.HasSuffix(path, "."+field.path) {
			return typeOf(value)
		}
	}
	if original, is := value.(string); is && s.names[original] != "" {
		return s.names[original]
	}
	return value
}

// isNamed reports whether the normalized transaction or signature is one of the scenario's.
func (s *session) isNamed(value any) bool {
	encoded := text(value)
	for _, name := range s.transactions {
		if strings.Contains(encoded, quoted(signatureName(name))) || strings.Contains(encoded, quoted(wireName(name))) {
			return true
		}
	}
	return false
}

func quoted(text string) string {
	encoded, _ := json.Marshal(text)
	return string(encoded)
}

// typeOf names a JSON value's type. Null is a separate type: it is never volatile.
func typeOf(value any) any {
	switch value.(type) {
	case json.Number:
		return "(number)"
	case string:
		return "(string)"
	}
	return value
}
