package jsonrpc_test

import (
	"encoding/base64"

	"github.com/gagliardetto/solana-go"
)

func encoded(encoding string) object { return object{"encoding": encoding} }

func part(offset, length int) object { return object{"offset": offset, "length": length} }

func slice(offset, length int) object {
	return object{"encoding": "base64", "dataSlice": part(offset, length)}
}

func filtered(filters ...any) object {
	return object{"encoding": "base64", "filters": filters}
}

func memcmp(offset int, bytes any, encoding string) object {
	compare := object{"offset": offset, "bytes": bytes}
	if encoding != "" {
		compare["encoding"] = encoding
	}
	return object{"memcmp": compare}
}

var ofMint = memcmp(0, mint.PublicKey(), "")

func (s *scenario) accounts() {
	s.begin("accounts")
	key := alice.PublicKey()
	s.call("account", "getAccountInfo", key)
	for _, encoding := range []string{"base58", "base64", "jsonParsed"} {
		s.call("account in "+encoding, "getAccountInfo", key, encoded(encoding))
		s.call("mint in "+encoding, "getAccountInfo", mint.PublicKey(), encoded(encoding))
	}
	s.call("mint in base64+zstd", "getAccountInfo", mint.PublicKey(), encoded("base64+zstd"))
	s.call("mint without an encoding", "getAccountInfo", mint.PublicKey())
	s.call("token account in base58", "getAccountInfo", aliceTokens, encoded("base58"))
	s.call("token account without an encoding", "getAccountInfo", aliceTokens)
	s.call("token account in jsonParsed", "getAccountInfo", aliceTokens, encoded("jsonParsed"))
	s.call("slice", "getAccountInfo", aliceTokens, object{"encoding": "base58", "dataSlice": part(64, 8)})
	s.call("slice beyond the end", "getAccountInfo", aliceTokens, slice(160, 100))
	s.call("slice after the end", "getAccountInfo", aliceTokens, slice(1000, 1))
	s.call("slice without a length", "getAccountInfo", aliceTokens,
		object{"encoding": "base64", "dataSlice": object{"offset": 1}})
	s.call("native program", "getAccountInfo", solana.SystemProgramID, encoded("base64"))
	s.call("sysvar", "getAccountInfo", solana.SysVarRentPubkey, encoded("base64"))
	s.call("native mint", "getAccountInfo", solana.WrappedSol, encoded("base64"))
	s.call("token program", "getAccountInfo", solana.TokenProgramID, slice(0, 4))
	s.call("missing account", "getAccountInfo", nobody)
	s.call("confirmed account", "getAccountInfo", key, confirmed())
	s.call("no address", "getAccountInfo")
	s.call("short address", "getAccountInfo", "x")
	s.call("long address", "getAccountInfo", "1111111111111111111111111111111111111111111111111111")
	s.call("address with a wrong letter", "getAccountInfo", "0OIl111111111111111111111111111111111111111")
	s.call("address as a number", "getAccountInfo", 1)
	s.call("wrong encoding", "getAccountInfo", key, encoded("base32"))
	s.call("wrong commitment", "getAccountInfo", key, object{"commitment": "max"})
	s.call("configuration as a text", "getAccountInfo", key, "base64")
	s.call("null configuration", "getAccountInfo", key, nil)
	s.call("too many parameters", "getAccountInfo", key, encoded("base64"), 1)
	s.call("context slot not reached", "getAccountInfo", key, object{"minContextSlot": 1_000_000_000})
	s.call("context slot reached", "getAccountInfo", key, object{"minContextSlot": 1})
	s.call("negative context slot", "getAccountInfo", key, object{"minContextSlot": -1})

	s.call("balance", "getBalance", key)
	s.call("balance of a missing account", "getBalance", nobody)
	s.call("balance, context slot not reached", "getBalance", key, object{"minContextSlot": 1_000_000_000})
	s.call("balance of a wrong address", "getBalance", "x")

	s.call("several accounts", "getMultipleAccounts", []any{key, nobody, mint.PublicKey()})
	s.call("several accounts with a slice", "getMultipleAccounts", []any{key, aliceTokens},
		slice(64, 8))
	s.call("several accounts in base58", "getMultipleAccounts", []any{aliceTokens}, encoded("base58"))
	s.call("several accounts in jsonParsed", "getMultipleAccounts", []any{key, mint.PublicKey()}, encoded("jsonParsed"))
	s.call("none of several accounts", "getMultipleAccounts", []any{})
	s.call("several accounts, one is wrong", "getMultipleAccounts", []any{key, "x"})
	s.call("several accounts as a text", "getMultipleAccounts", key)
	many := make([]any, 101)
	for i := range many {
		many[i] = "11111111111111111111111111111111"
	}
	s.call("too many accounts", "getMultipleAccounts", named{"(101 addresses)", many})
	s.programAccounts()
	s.tokenAccounts()
}

func (s *scenario) programAccounts() {
	s.begin("program_accounts")
	program := solana.TokenProgramID
	size := object{"dataSize": 165}
	s.call("filters", "getProgramAccounts", program, filtered(size, ofMint))
	withContext := filtered(size, ofMint)
	withContext["withContext"], withContext["dataSlice"] = true, part(64, 8)
	s.call("context and slice", "getProgramAccounts", program, withContext)
	s.call("jsonParsed", "getProgramAccounts", program, object{"encoding": "jsonParsed", "filters": []any{ofMint}})
	s.call("bytes in base64", "getProgramAccounts", program,
		filtered(size, memcmp(0, base64.StdEncoding.EncodeToString(mint.PublicKey().Bytes()), "base64")))
	s.call("bytes in base58", "getProgramAccounts", program, filtered(size, memcmp(0, mint.PublicKey(), "base58")))
	numbers := make([]any, 0, 32)
	for _, number := range mint.PublicKey() {
		numbers = append(numbers, int(number))
	}
	s.call("bytes as numbers", "getProgramAccounts", program, filtered(size, memcmp(0, numbers, "")))
	s.call("token accounts by state", "getProgramAccounts", program, filtered("tokenAccountState", ofMint))
	s.call("without an encoding", "getProgramAccounts", program, object{"filters": []any{size, ofMint}})
	s.call("mint without an encoding", "getProgramAccounts", program,
		object{"filters": []any{object{"dataSize": mintBytes}, memcmp(4, payer.PublicKey(), "")}})
	s.call("nothing matches", "getProgramAccounts", program, filtered(object{"dataSize": 3}))
	s.call("offset after the end", "getProgramAccounts", program, filtered(size, memcmp(1_000_000, "1", "")))
	s.call("program without accounts", "getProgramAccounts", nobody)
	s.call("not sorted", "getProgramAccounts", nobody, object{"sortResults": false})
	s.call("too many filters", "getProgramAccounts", program, filtered(size, size, size, size, size))
	s.call("unknown filter", "getProgramAccounts", program, filtered(object{"x": 1}))
	s.call("two filters in one", "getProgramAccounts", program,
		filtered(object{"dataSize": 1, "memcmp": object{"offset": 0, "bytes": "1"}}))
	s.call("bytes in wrong base58", "getProgramAccounts", program, filtered(memcmp(0, "0OIl", "")))
	s.call("bytes in wrong base64", "getProgramAccounts", program, filtered(memcmp(0, "*", "base64")))
	s.call("too many bytes", "getProgramAccounts", program,
		filtered(memcmp(0, base64.StdEncoding.EncodeToString(make([]byte, 129)), "base64")))
	s.call("memcmp without an offset", "getProgramAccounts", program, filtered(object{"memcmp": object{"bytes": "1"}}))
	s.call("memcmp without bytes", "getProgramAccounts", program, filtered(object{"memcmp": object{"offset": 1}}))
	s.call("memcmp in a wrong encoding", "getProgramAccounts", program, filtered(memcmp(0, "1", "base32")))
	s.call("size as a text", "getProgramAccounts", program, filtered(object{"dataSize": "1"}))
	s.call("filters as an object", "getProgramAccounts", program, object{"filters": size})
	s.call("wrong address", "getProgramAccounts", "x")
	s.call("wrong encoding", "getProgramAccounts", program, encoded("x"))
	s.call("context slot not reached", "getProgramAccounts", program, object{"minContextSlot": 1_000_000_000})
}

func (s *scenario) tokenAccounts() {
	s.begin("token_accounts")
	byMint := object{"mint": mint.PublicKey()}
	s.call("balance", "getTokenAccountBalance", aliceTokens)
	s.call("confirmed balance", "getTokenAccountBalance", aliceTokens, confirmed())
	s.call("balance of a missing account", "getTokenAccountBalance", nobody)
	s.call("balance of a wallet", "getTokenAccountBalance", alice.PublicKey())
	s.call("balance of a mint", "getTokenAccountBalance", mint.PublicKey())
	s.call("balance of a wrong address", "getTokenAccountBalance", "x")
	s.call("supply", "getTokenSupply", mint.PublicKey())
	s.call("supply of wrapped SOL", "getTokenSupply", solana.WrappedSol)
	s.call("supply of a missing account", "getTokenSupply", nobody)
	s.call("supply of a wallet", "getTokenSupply", alice.PublicKey())
	s.call("supply of a token account", "getTokenSupply", aliceTokens)
	s.call("by mint", "getTokenAccountsByOwner", alice.PublicKey(), byMint, encoded("base64"))
	s.call("by mint in jsonParsed", "getTokenAccountsByOwner", alice.PublicKey(), byMint, encoded("jsonParsed"))
	s.call("by mint without an encoding", "getTokenAccountsByOwner", alice.PublicKey(), byMint)
	s.call("by program", "getTokenAccountsByOwner", payer.PublicKey(),
		object{"programId": solana.TokenProgramID}, encoded("base64"))
	s.call("by Token-2022", "getTokenAccountsByOwner", payer.PublicKey(),
		object{"programId": solana.Token2022ProgramID}, encoded("base64"))
	s.call("slice", "getTokenAccountsByOwner", payer.PublicKey(), byMint,
		slice(64, 8))
	s.call("owner without tokens", "getTokenAccountsByOwner", nobody, byMint, encoded("base64"))
	s.call("no filter", "getTokenAccountsByOwner", alice.PublicKey())
	s.call("empty filter", "getTokenAccountsByOwner", alice.PublicKey(), object{})
	s.call("unknown filter", "getTokenAccountsByOwner", alice.PublicKey(), object{"x": "y"})
	s.call("both filters", "getTokenAccountsByOwner", alice.PublicKey(),
		object{"mint": mint.PublicKey(), "programId": solana.TokenProgramID})
	s.call("wrong mint", "getTokenAccountsByOwner", alice.PublicKey(), object{"mint": "x"})
	s.call("missing mint", "getTokenAccountsByOwner", alice.PublicKey(), object{"mint": nobody})
	s.call("mint that is a wallet", "getTokenAccountsByOwner", alice.PublicKey(), object{"mint": payer.PublicKey()})
	s.call("mint that is a token account", "getTokenAccountsByOwner", alice.PublicKey(), object{"mint": payerTokens})
	s.call("another program", "getTokenAccountsByOwner", alice.PublicKey(), object{"programId": solana.SystemProgramID})
	s.call("wrong owner", "getTokenAccountsByOwner", "x", byMint)
}
