package jsonrpc_test

import (
	"encoding/json"

	"github.com/gagliardetto/solana-go"
	associatedtoken "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/programs/token"
	"github.com/stretchr/testify/require"
)

// The accounts of the scenario.
var (
	payer   = fixedKey("payer")
	alice   = fixedKey("alice")
	mint    = fixedKey("mint")
	poor    = fixedKey("poor")
	nobody  = fixedKey("nobody").PublicKey()
	someone = fixedKey("someone").PublicKey()

	payerTokens = tokenAccount(payer.PublicKey())
	aliceTokens = tokenAccount(alice.PublicKey())
)

const (
	mintLamports = 1_461_600
	mintBytes    = 82
	// poorLamports are what an account without data must hold.
	poorLamports = 890_880
)

func tokenAccount(owner solana.PublicKey) solana.PublicKey {
	address, _, err := solana.FindAssociatedTokenAddress(owner, mint.PublicKey())
	if err != nil {
		panic(err) // no address seed leads off the curve
	}
	return address
}

// scenario is what both chains execute before most requests.
type scenario struct {
	*session
	// transfer has version 0, the others are legacy transactions.
	setup, tokens, memo, transfer, failed signed
	// transferSlot and failedSlot are slots of finalized blocks.
	transferSlot, memoSlot named
	// blockhash is recent at the end of the scenario.
	blockhash string
}

func confirmed(more ...any) object {
	config := object{"commitment": "confirmed"}
	for i := 0; i < len(more); i += 2 {
		config[more[i].(string)] = more[i+1]
	}
	return config
}

func memoOf(text string) solana.Instruction {
	return solana.NewInstruction(solana.MemoProgramID, nil, []byte(text))
}

func transferOf(lamports uint64, from, to solana.PublicKey) solana.Instruction {
	return system.NewTransferInstruction(lamports, from, to).Build()
}

func tokenTransfer(amount uint64) solana.Instruction {
	return token.NewTransferCheckedInstruction(amount, 6, payerTokens, mint.PublicKey(), aliceTokens, payer.PublicKey(),
		nil).Build()
}

func createTokens(owner solana.PublicKey) solana.Instruction {
	return associatedtoken.NewCreateInstruction(payer.PublicKey(), owner, mint.PublicKey()).Build()
}

// play executes the transactions, with the subscriptions that announce them.
func play(s *session) *scenario {
	s.Helper()
	played := &scenario{session: s}
	s.begin("airdrops")
	airdrops(s)
	s.begin("subscriptions")
	played.subscriptions()
	s.finalize(played.failed.signature.String())
	return played
}

func airdrops(s *session) {
	signature := s.call("airdrop", "requestAirdrop", payer.PublicKey(), 10*sol)
	s.confirm(signature.(string))
	signature = s.call("airdrop with a commitment", "requestAirdrop", alice.PublicKey(), sol, confirmed())
	s.confirm(signature.(string))
	s.call("no amount", "requestAirdrop", payer.PublicKey())
	s.call("negative amount", "requestAirdrop", payer.PublicKey(), -1)
	s.call("amount in a string", "requestAirdrop", payer.PublicKey(), "1")
	s.call("wrong address", "requestAirdrop", "x", 1)
}

// send records sending a transaction, waits for confirmation, and returns the slot.
func (s *session) send(transaction signed, config object) json.Number {
	s.Helper()
	config["encoding"], config["preflightCommitment"] = "base64", "confirmed"
	require.Equal(s, transaction.signature.String(),
		s.call("send "+transaction.name, "sendTransaction", transaction.inBase64(), config))
	return s.confirm(transaction.signature.String())
}

// subscriptions executes the transactions. They are confirmed sequentially, so that every notification is
// about a single transaction.
func (s *scenario) subscriptions() {
	account := s.subscribe("account", "accountSubscribe", alice.PublicKey(), confirmed("encoding", "base64"))
	program := s.subscribe("program", "programSubscribe", solana.TokenProgramID, confirmed("encoding", "base64", "filters",
		[]any{object{"dataSize": 165}, object{"memcmp": object{"offset": 0, "bytes": mint.PublicKey()}}}))
	mintProgram := s.subscribe("program with a slice", "programSubscribe", solana.TokenProgramID, confirmed("encoding", "base64",
		"filters", []any{object{"dataSize": mintBytes}}, "dataSlice", part(36, 9)))
	logs := s.subscribe("logs that mention an address", "logsSubscribe",
		object{"mentions": []any{payerTokens}}, confirmed())
	failures := s.subscribe("logs of another address", "logsSubscribe",
		object{"mentions": []any{someone}}, confirmed())

	s.setup = s.sign("setup", []solana.PrivateKey{payer, mint},
		system.NewCreateAccountInstruction(mintLamports, mintBytes, solana.TokenProgramID, payer.PublicKey(),
			mint.PublicKey()).Build(),
		token.NewInitializeMint2Instruction(6, payer.PublicKey(), payer.PublicKey(), mint.PublicKey()).Build(),
		createTokens(payer.PublicKey()),
		token.NewMintToInstruction(5_000_000, mint.PublicKey(), payerTokens, payer.PublicKey(), nil).Build(),
		transferOf(poorLamports, payer.PublicKey(), poor.PublicKey()))
	s.send(s.setup, object{})
	s.notification("program: new token account", program)
	s.notification("program with a slice: new mint", mintProgram)
	s.notification("logs: setup", logs)

	s.tokens = s.sign("tokens", []solana.PrivateKey{payer}, createTokens(alice.PublicKey()), tokenTransfer(1_250_000))
	bySignature := s.subscribe("signature", "signatureSubscribe", s.tokens.id(), confirmed())
	s.send(s.tokens, object{"maxRetries": 2})
	s.notification("signature: tokens", bySignature)
	s.notification("logs: tokens", logs)

	s.memo = s.sign("memo", []solana.PrivateKey{payer}, memoOf("hello"), memoOf("world"),
		transferOf(1, payer.PublicKey(), alice.PublicKey()))
	s.memoSlot = named{"(slot of memo)", s.send(s.memo, object{})}
	s.notification("account: one lamport more", account)

	latest := s.query("getLatestBlockhash", confirmed())
	hash := latest.(object)["value"].(object)["blockhash"].(string)
	s.transfer = s.signWith("transfer", hash, solana.MessageVersionV0, []solana.PrivateKey{payer},
		transferOf(sol, payer.PublicKey(), alice.PublicKey()))
	s.transferSlot = named{"(slot of transfer)", s.send(s.transfer, object{})}
	s.notification("account: one SOL more", account)

	s.failed = s.sign("failed", []solana.PrivateKey{payer, alice}, transferOf(100*sol, alice.PublicKey(), someone))
	failedSignature := s.subscribe("signature of a failure", "signatureSubscribe", s.failed.id(), confirmed())
	s.send(s.failed, object{"skipPreflight": true})
	s.notification("signature: failed", failedSignature)
	s.notification("logs: failed", failures)

	known := s.subscribe("signature that is confirmed", "signatureSubscribe", s.tokens.id(), confirmed())
	s.notification("signature that is confirmed: tokens", known)
	s.callSocket("unsubscribe from logs", "logsUnsubscribe", named{"(subscription)", json.Number(logs)})
	s.callSocket("unsubscribe from a program", "programUnsubscribe", named{"(subscription)", json.Number(program)})
	s.subscriptionErrors(account, bySignature)
	s.slots()
}

// slots records one notification per kind, as a validator sends them all the time.
func (s *scenario) slots() {
	slot := s.subscribe("slot", "slotSubscribe")
	s.notification("slot: next", slot)
	root := s.subscribe("root", "rootSubscribe")
	s.notification("root: next", root)
	s.callSocket("unsubscribe from slots", "slotUnsubscribe", named{"(subscription)", json.Number(slot)})
	s.callSocket("unsubscribe from roots", "rootUnsubscribe", named{"(subscription)", json.Number(root)})
}

func (s *scenario) subscriptionErrors(account, ended string) {
	s.callSocket("unsubscribe", "accountUnsubscribe", named{"(subscription)", json.Number(account)})
	s.callSocket("unsubscribe again", "accountUnsubscribe", named{"(subscription)", json.Number(account)})
	s.callSocket("unsubscribe after the end", "signatureUnsubscribe", named{"(subscription)", json.Number(ended)})
	s.callSocket("unsubscribe without an identifier", "accountUnsubscribe")
	s.callSocket("unsubscribe with a text", "accountUnsubscribe", "x")
	s.callSocket("account: wrong address", "accountSubscribe", "x")
	s.callSocket("account: no address", "accountSubscribe")
	s.callSocket("account: wrong encoding", "accountSubscribe", payer.PublicKey(), object{"encoding": "x"})
	s.callSocket("account: wrong commitment", "accountSubscribe", payer.PublicKey(), object{"commitment": "x"})
	s.callSocket("logs: wrong filter", "logsSubscribe", "x")
	s.callSocket("logs: no filter", "logsSubscribe")
	s.callSocket("logs: two addresses", "logsSubscribe", object{"mentions": []any{payer.PublicKey(), someone}})
	s.callSocket("logs: wrong address", "logsSubscribe", object{"mentions": []any{"x"}})
	s.callSocket("program: wrong address", "programSubscribe", "x")
	s.callSocket("program: wrong filter", "programSubscribe", payer.PublicKey(), object{"filters": []any{object{"x": 1}}})
	s.callSocket("signature: wrong signature", "signatureSubscribe", "x")
	s.callSocket("unknown method", "nothingSubscribe")
	s.callSocket("method of HTTP", "getBalance", poor.PublicKey(), confirmed())
}
