package jsonrpc_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/base58"
	"github.com/stretchr/testify/require"
)

// fixedKey returns the same key in every run, so that recorded addresses do not change.
func fixedKey(name string) solana.PrivateKey {
	seed := sha256.Sum256([]byte("haggle recorded responses: " + name))
	return solana.PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
}

// signed is a signed transaction of the scenario.
type signed struct {
	name      string
	wire      []byte
	message   []byte
	signature solana.Signature
	blockhash string
}

func signatureName(transaction string) string { return "(signature of " + transaction + ")" }
func wireName(transaction string) string      { return "(transaction " + transaction + ")" }

// inBase64, inBase58 and id are request parameters.
func (t signed) inBase64() named {
	return named{wireName(t.name), base64.StdEncoding.EncodeToString(t.wire)}
}

func (t signed) inBase58() named { return named{wireName(t.name), base58.Encode(t.wire)} }

func (t signed) id() named { return named{signatureName(t.name), t.signature.String()} }

func (t signed) messageInBase64() named {
	return named{"(message of " + t.name + ")", base64.StdEncoding.EncodeToString(t.message)}
}

// sign signs a transaction with the newest blockhash. The first signer pays.
func (s *session) sign(name string, signers []solana.PrivateKey, instructions ...solana.Instruction) signed {
	s.Helper()
	latest := s.query("getLatestBlockhash", object{"commitment": "confirmed"})
	blockhash := latest.(object)["value"].(object)["blockhash"].(string)
	return s.signWith(name, blockhash, solana.MessageVersionLegacy, signers, instructions...)
}

func (s *session) signWith(name, blockhash string, version solana.MessageVersion, signers []solana.PrivateKey,
	instructions ...solana.Instruction) signed {
	s.Helper()
	transaction, err := solana.NewTransaction(instructions, solana.MustHashFromBase58(blockhash),
		solana.TransactionPayer(signers[0].PublicKey()), solana.TransactionMessageVersion(version))
	require.NoError(s, err)
	_, err = transaction.Sign(func(key solana.PublicKey) *solana.PrivateKey {
		for i := range signers {
			if signers[i].PublicKey() == key {
				return &signers[i]
			}
		}
		return nil
	})
	require.NoError(s, err)
	wire, err := transaction.MarshalBinary()
	require.NoError(s, err)
	message, err := transaction.Message.MarshalBinary()
	require.NoError(s, err)
	built := signed{name, wire, message, transaction.Signatures[0], blockhash}
	s.transactions = append(s.transactions, name)
	for _, each := range []named{built.inBase64(), built.inBase58(), built.id()} {
		s.names[each.value.(string)] = each.name
	}
	for _, second := range transaction.Signatures[1:] {
		s.names[second.String()] = "(second signature of " + name + ")"
	}
	s.names[blockhash] = "(blockhash)"
	return built
}

// confirm waits until a transaction is confirmed and returns the slot.
func (s *session) confirm(signature string) json.Number { return s.await(signature, "confirmed") }

// finalize waits until a transaction is finalized and returns the slot.
func (s *session) finalize(signature string) json.Number { return s.await(signature, "finalized") }

func (s *session) await(signature, commitment string) json.Number {
	s.Helper()
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		statuses := s.query("getSignatureStatuses", []any{signature}).(object)["value"].([]any)
		if status, known := statuses[0].(object); known {
			reached := status["confirmationStatus"]
			if reached == commitment || reached == "finalized" {
				return status["slot"].(json.Number)
			}
		}
		require.Less(s, time.Since(start), replyLimit, "%s is not %s", signature, commitment)
	}
}

// refresh replaces the blockhash with a new one: this chain's blockhashes expire after 7.5 s.
func (s *scenario) refresh() {
	s.Helper()
	latest := s.query("getLatestBlockhash", confirmed()).(object)["value"].(object)
	s.blockhash = latest["blockhash"].(string)
}
