package jsonrpc_test

import (
	"encoding/base64"
	"strings"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/base58"
	"github.com/stretchr/testify/require"
)

func sending(more ...any) object {
	config := object{"encoding": "base64", "preflightCommitment": "confirmed"}
	for i := 0; i < len(more); i += 2 {
		config[more[i].(string)] = more[i+1]
	}
	return config
}

// badTransactions are sent and simulated, but never executed.
func (s *scenario) badTransactions() []signed {
	one := transferOf(1, payer.PublicKey(), alice.PublicKey())
	paid := []solana.PrivateKey{payer}
	legacy := solana.MessageVersionLegacy
	wrong := s.signWith("with a wrong signature", s.blockhash, legacy, paid,
		transferOf(2, payer.PublicKey(), alice.PublicKey()))
	wrong.wire[1] ^= 1
	s.names[base58.Encode(wrong.wire[1:65])] = "(wrong signature)"
	return []signed{
		s.signWith("with an unknown blockhash", solana.Hash{1}.String(), legacy, paid, one),
		s.signWith("of a missing payer", s.blockhash, legacy, []solana.PrivateKey{fixedKey("nobody")},
			transferOf(1, nobody, alice.PublicKey())),
		s.signWith("of a payer below its rent", s.blockhash, legacy, []solana.PrivateKey{poor}, memoOf("fee")),
		s.signWith("with a fee above the balance", s.blockhash, legacy, []solana.PrivateKey{poor},
			append(priority(1_000_000_000), memoOf("fee"))...),
		s.signWith("of a payer with data", s.blockhash, legacy, []solana.PrivateKey{mint}, memoOf("fee")),
		s.signWith("that fails", s.blockhash, legacy, []solana.PrivateKey{payer, alice}, one,
			transferOf(100*sol, alice.PublicKey(), someone)),
		s.signWith("with wrong data", s.blockhash, legacy, paid,
			solana.NewInstruction(solana.SystemProgramID, nil, []byte{255, 255, 255, 255})),
		s.signWith("of too many tokens", s.blockhash, legacy, paid, tokenTransfer(1_000_000_000)),
		s.signWith("that leaves less than rent", s.blockhash, legacy, paid, transferOf(1, payer.PublicKey(), someone)),
		s.signWith("of a missing program", s.blockhash, legacy, paid, solana.NewInstruction(nobody, nil, nil)),
		s.signWith("with too few compute units", s.blockhash, legacy, paid,
			solana.NewInstruction(solana.ComputeBudget, nil, []byte{2, 1, 0, 0, 0}), memoOf("units")),
		s.signWith("with a wrong memo", s.blockhash, legacy, paid, memoOf("\xff")),
		s.memo,
		wrong,
	}
}

func (s *scenario) sendRequests() {
	s.begin("sending")
	s.refresh()
	bad := s.badTransactions()
	for _, each := range bad {
		s.call("preflight "+each.name, "sendTransaction", each.inBase64(), sending())
	}
	s.call("duplicate without preflight", "sendTransaction", s.memo.inBase64(), sending("skipPreflight", true))
	s.call("unknown blockhash without preflight", "sendTransaction", bad[0].inBase64(), sending("skipPreflight", true))
	s.call("wrong signature without preflight", "sendTransaction", bad[len(bad)-1].inBase64(), sending("skipPreflight", true))
	s.malformed("sendTransaction")
	s.call("context slot not reached", "sendTransaction", s.memo.inBase64(), sending("minContextSlot", farSlot))
	s.call("context slot not reached, without preflight", "sendTransaction", s.memo.inBase64(),
		sending("minContextSlot", farSlot, "skipPreflight", true))
	s.call("wrong commitment", "sendTransaction", s.memo.inBase64(),
		object{"encoding": "base64", "preflightCommitment": "x"})

	inBase58 := s.signWith("in base58", s.blockhash, solana.MessageVersionLegacy, []solana.PrivateKey{payer},
		memoOf("base58"))
	s.call("base58", "sendTransaction", inBase58.inBase58(), object{"preflightCommitment": "confirmed"})
	s.confirm(inBase58.signature.String())
}

// malformed sends texts that are no transaction.
func (s *scenario) malformed(method string) {
	s.call("wrong base58", method, "0OIl")
	s.call("wrong base64", method, "*", encoded("base64"))
	s.call("base64 without padding", method, "AQ", encoded("base64"))
	s.call("empty text", method, "", encoded("base64"))
	s.call("empty transaction", method, "AA==", encoded("base64"))
	s.call("short transaction", method, "AQID", encoded("base64"))
	s.call("bytes after the transaction", method, named{"(transaction memo and a byte)",
		base64.StdEncoding.EncodeToString(append(append([]byte{}, s.memo.wire...), 0))}, encoded("base64"))
	s.call("program index out of range", method, s.withWrongProgram(), encoded("base64"))
	s.call("too long in base64", method, named{"(1,648 letters)", strings.Repeat("A", 1648)}, encoded("base64"))
	s.call("too long in base58", method, named{"(1,684 letters)", strings.Repeat("2", 1684)})
	s.call("too many bytes in base58", method, named{"(1,683 ones)", strings.Repeat("1", 1683)})
	s.call("wrong encoding", method, s.memo.inBase64(), encoded("base32"))
	s.call("jsonParsed", method, s.memo.inBase64(), encoded("jsonParsed"))
	s.call("number", method, 1)
	s.call("no transaction", method)
}

// withWrongProgram returns a transaction whose instruction refers to a missing account.
func (s *scenario) withWrongProgram() named {
	transaction, err := solana.TransactionFromBytes(s.memo.wire)
	require.NoError(s, err)
	transaction.Message.Instructions[0].ProgramIDIndex = 9
	wire, err := transaction.MarshalBinary()
	require.NoError(s, err)
	return named{"(transaction with a wrong program)", base64.StdEncoding.EncodeToString(wire)}
}

func (s *scenario) simulateRequests() {
	s.begin("simulations")
	s.refresh()
	bad := s.badTransactions()
	for _, each := range bad {
		s.call("simulate "+each.name, "simulateTransaction", each.inBase64(), confirmed("encoding", "base64", "sigVerify", true))
	}
	good := s.signWith("simulated", s.blockhash, solana.MessageVersionLegacy, []solana.PrivateKey{payer},
		createTokens(someone), tokenTransfer(250_000), memoOf("simulated"))
	simulate := func(name string, transaction signed, more ...any) {
		s.call(name, "simulateTransaction", transaction.inBase64(), confirmed(append([]any{"encoding", "base64"}, more...)...))
	}
	simulate("success", good)
	simulate("inner instructions", good, "innerInstructions", true)
	simulate("verified", good, "sigVerify", true)
	simulate("replaced blockhash", bad[0], "replaceRecentBlockhash", true)
	simulate("replaced blockhash and verified", bad[0], "replaceRecentBlockhash", true, "sigVerify", true)
	simulate("unverified signature", bad[len(bad)-1])
	accounts := func(encoding string, addresses ...any) []any {
		return []any{"accounts", object{"encoding": encoding, "addresses": addresses}}
	}
	simulate("accounts", good, accounts("base64", aliceTokens, tokenAccount(someone))...)
	simulate("accounts in jsonParsed", good, accounts("jsonParsed", aliceTokens, someone)...)
	simulate("accounts in base58", good, accounts("base58", aliceTokens)...)
	simulate("no accounts", good, accounts("base64")...)
	simulate("account that the transaction lacks", good, accounts("base64", poor.PublicKey())...)
	many := make([]any, 20)
	for i := range many {
		many[i] = payer.PublicKey()
	}
	simulate("more accounts than the transaction has", good, accounts("base64", many...)...)
	simulate("wrong account", good, accounts("base64", "x")...)
	simulate("accounts of a failure", bad[5], accounts("base64", payer.PublicKey())...)
	returning := s.signWith("that returns data", s.blockhash, solana.MessageVersionLegacy, []solana.PrivateKey{payer},
		solana.NewInstruction(solana.TokenProgramID, solana.AccountMetaSlice{solana.Meta(mint.PublicKey())}, []byte{21}))
	simulate("return data", returning)
	versioned := s.signWith("simulated in version 0", s.blockhash, solana.MessageVersionV0, []solana.PrivateKey{payer},
		transferOf(1, payer.PublicKey(), alice.PublicKey()))
	simulate("version 0", versioned)
	simulate("context slot not reached", good, "minContextSlot", farSlot)
	s.call("base58", "simulateTransaction", good.inBase58(), confirmed())
	s.malformed("simulateTransaction")
}
