package jsonrpc_test

import (
	"github.com/gagliardetto/solana-go"
	computebudget "github.com/gagliardetto/solana-go/programs/compute-budget"
)

func priority(microLamports uint64) []solana.Instruction {
	return []solana.Instruction{
		computebudget.NewSetComputeUnitLimitInstruction(20_000).Build(),
		computebudget.NewSetComputeUnitPriceInstruction(microLamports).Build(),
	}
}

func (s *scenario) transactionRequests() {
	s.begin("transactions")
	for _, transaction := range []signed{s.setup, s.tokens, s.memo, s.failed} {
		s.call(transaction.name, "getTransaction", transaction.id(), object{"maxSupportedTransactionVersion": 0})
	}
	for _, encoding := range []string{"json", "base64", "base58", "jsonParsed"} {
		s.call("version 0 in "+encoding, "getTransaction", s.transfer.id(),
			object{"maxSupportedTransactionVersion": 0, "encoding": encoding})
	}
	s.call("legacy without a version", "getTransaction", s.memo.id())
	s.call("legacy in the old form", "getTransaction", s.memo.id(), "base64")
	s.call("confirmed", "getTransaction", s.memo.id(), confirmed("encoding", "base64"))
	s.call("processed", "getTransaction", s.memo.id(), object{"commitment": "processed"})
	s.call("version 0 without support", "getTransaction", s.transfer.id())
	s.call("unknown", "getTransaction", solana.Signature{1})
	s.call("wrong signature", "getTransaction", "x")
	s.call("signature with a wrong letter", "getTransaction", "0OIl")
	s.call("long signature", "getTransaction", solana.Signature{255}.String()+"1111111111")
	s.call("wrong encoding", "getTransaction", s.memo.id(), encoded("x"))
	s.call("no signature", "getTransaction")

	s.begin("statuses")
	s.call("known and unknown", "getSignatureStatuses", []any{s.memo.id(), solana.Signature{1}, s.failed.id()})
	s.call("with history", "getSignatureStatuses", []any{s.memo.id()}, object{"searchTransactionHistory": true})
	s.call("none", "getSignatureStatuses", []any{})
	s.call("wrong signature", "getSignatureStatuses", []any{"x"})
	s.call("no signatures", "getSignatureStatuses")
	s.call("signatures as a text", "getSignatureStatuses", "x")
	many := make([]any, 257)
	for i := range many {
		many[i] = solana.Signature{1}
	}
	s.call("too many", "getSignatureStatuses", named{"(257 signatures)", many})

	s.begin("history")
	s.call("address", "getSignaturesForAddress", aliceTokens)
	s.call("address with memos", "getSignaturesForAddress", alice.PublicKey(), object{"until": s.tokens.id()})
	s.call("limit", "getSignaturesForAddress", payerTokens, object{"limit": 1})
	s.call("before", "getSignaturesForAddress", payerTokens, object{"before": s.tokens.id()})
	s.call("until", "getSignaturesForAddress", payerTokens, object{"until": s.setup.id()})
	s.call("confirmed", "getSignaturesForAddress", someone, confirmed())
	s.call("unknown before", "getSignaturesForAddress", payerTokens, object{"before": solana.Signature{1}})
	s.call("unknown until", "getSignaturesForAddress", payerTokens, object{"until": solana.Signature{1}, "limit": 1})
	s.call("address without transactions", "getSignaturesForAddress", nobody)
	s.call("processed", "getSignaturesForAddress", nobody, object{"commitment": "processed"})
	s.call("limit of zero", "getSignaturesForAddress", nobody, object{"limit": 0})
	s.call("limit above the largest", "getSignaturesForAddress", nobody, object{"limit": 1001})
	s.call("negative limit", "getSignaturesForAddress", nobody, object{"limit": -1})
	s.call("wrong address", "getSignaturesForAddress", "x")
	s.call("wrong before", "getSignaturesForAddress", nobody, object{"before": "x"})
	s.call("wrong until", "getSignaturesForAddress", nobody, object{"until": "x"})
	s.call("context slot not reached", "getSignaturesForAddress", nobody, object{"minContextSlot": farSlot})
}
