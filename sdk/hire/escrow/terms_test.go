package escrow_test

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

func TestSessionFollowsFromBothAccepts(t *testing.T) {
	ones, twos := hire.Hash(strings.Repeat("01", 32)), hire.Hash(strings.Repeat("02", 32))
	session, err := escrow.Session(ones, twos)
	require.NoError(t, err)
	// SHA-256("haggle/hire/session" and the hashes' bytes) as Python computes it.
	assert.EqualValues(t, 4248140667046874907, session)
	exchanged, err := escrow.Session(twos, ones)
	require.NoError(t, err)
	assert.NotEqual(t, session, exchanged)

	for _, malformed := range []hire.Hash{"", "01", ones + "01", hire.Hash(strings.Repeat("AB", 32)),
		hire.Hash(strings.Repeat("0x", 32))} {
		_, err := escrow.Session(ones, malformed)
		require.Error(t, err, malformed)
		_, err = escrow.Session(malformed, ones)
		require.Error(t, err, malformed)
	}
}

func TestTermsFollowFromTheConversation(t *testing.T) {
	state, terms := termsOf(t)
	session, err := escrow.Session(state.SeekerAccept, state.WorkerAccept)
	require.NoError(t, err)
	assert.Equal(t, escrow.Terms{
		Seeker: solana.PrivateKey(seekerKey).PublicKey(), Worker: solana.PrivateKey(workerKey).PublicKey(),
		Mint: token.USDCDevnet, Decimals: 6, Price: 5_000_000, Arbiter: arbiter, Deadline: start.Add(24 * time.Hour),
		Service: fiveUSDC().Hash(), Session: session,
	}, terms)
	address, err := terms.Address()
	require.NoError(t, err)
	want, _, err := protocol.FindNegotiationAddress(terms.Seeker, terms.Worker, session)
	require.NoError(t, err)
	assert.Equal(t, want, address)

	// The conversation's next deal uses another address, even on the same terms.
	next := agreed(t, start.Add(time.Second), seekerKey, workerKey, fiveUSDC())
	again, err := escrow.Of(next, public(seekerKey), public(workerKey), escrow.Assets("devnet"))
	require.NoError(t, err)
	assert.NotEqual(t, terms.Session, again.Session)
	assert.Equal(t, terms.Service, again.Service)
}

func TestOnlyTermsThatBothSidesHaveAcceptedAreSettled(t *testing.T) {
	c := &conversation{t: t, seeker: seekerKey, worker: workerKey, now: start}
	refused := func() {
		t.Helper()
		_, err := escrow.Of(c.state, public(seekerKey), public(workerKey), escrow.Assets("devnet"))
		require.ErrorIs(t, err, escrow.ErrNotAgreed)
		_, err = escrow.Contract(c.state, escrow.Terms{}, solana.Hash{1})
		require.ErrorIs(t, err, escrow.ErrNotAgreed)
	}
	refused()
	c.propose(fiveUSDC())
	refused()
	c.workerAccepts()
	refused()
	c.seekerAccepts()
	_, err := escrow.Of(c.state, public(seekerKey), public(workerKey), escrow.Assets("devnet"))
	require.NoError(t, err)
	c.propose(fiveUSDC()) // the next deal
	refused()
	c.say(c.worker, c.seeker, &hire.Counter{Reply: c.reply(), Price: "6 USDC", EstimatedDelivery: fiveUSDC().Deadline})
	c.seekerAccepts()
	refused()
}

func TestTermsThatCannotBeSettledAreRefused(t *testing.T) {
	at := func(after time.Duration) hire.Time { return hire.NewTime(start.Add(after)) }
	address := func(key ed25519.PrivateKey) hire.Base58 { return hire.Base58(hire.Address(public(key))) }
	for name, c := range map[string]struct {
		change         func(*hire.Terms)
		seeker, worker ed25519.PrivateKey
		field          string
	}{
		"no arbiter":                   {change: func(t *hire.Terms) { t.Arbiter = "" }, field: "arbiter"},
		"arbiter is the zero address":  {change: func(t *hire.Terms) { t.Arbiter = hire.Base58(solana.PublicKey{}.String()) }, field: "arbiter"},
		"arbiter is no address":        {change: func(t *hire.Terms) { t.Arbiter = "arbiter" }, field: "arbiter"},
		"arbiter is the seeker":        {change: func(t *hire.Terms) { t.Arbiter = address(seekerKey) }, field: "arbiter"},
		"arbiter is the worker":        {change: func(t *hire.Terms) { t.Arbiter = address(workerKey) }, field: "arbiter"},
		"deadline at the acceptance":   {change: func(t *hire.Terms) { t.Deadline = at(0) }, field: "deadline"},
		"deadline in the past":         {change: func(t *hire.Terms) { t.Deadline = at(-time.Hour) }, field: "deadline"},
		"deadline after the last one":  {change: func(t *hire.Terms) { t.Deadline = at(escrow.MaxDelivery + time.Second) }, field: "deadline"},
		"deadline of another form":     {change: func(t *hire.Terms) { t.Deadline = "tomorrow" }, field: "deadline"},
		"both parties have one key":    {worker: seekerKey, field: "worker"},
		"seeker with the key of zeros": {seeker: make(ed25519.PrivateKey, 64), field: "seeker"},
		"worker with the key of zeros": {worker: make(ed25519.PrivateKey, 64), field: "worker"},
		"price below the least one":    {change: func(t *hire.Terms) { t.Price = "0.099999 USDC" }},
		"price of an unknown token":    {change: func(t *hire.Terms) { t.Price = "5 EURC" }},
		"price of too many decimals":   {change: func(t *hire.Terms) { t.Price = "5.0000001 USDC" }},
		"price above the largest one":  {change: func(t *hire.Terms) { t.Price = "18446744073710 USDC" }},
	} {
		t.Run(name, func(t *testing.T) {
			terms := fiveUSDC()
			if c.change != nil {
				c.change(&terms)
			}
			if c.seeker == nil {
				c.seeker = seekerKey
			}
			if c.worker == nil {
				c.worker = workerKey
			}
			_, err := escrow.Settleable(terms, start, public(c.seeker), public(c.worker), escrow.Assets("devnet"))
			if c.field == "" {
				var refusal *hire.Refusal
				require.ErrorAs(t, err, &refusal)
				require.Equal(t, hire.ReasonPrice, refusal.Reason)
				return
			}
			var refused *escrow.TermsError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.field, refused.Field, refused)
		})
	}
	_, err := escrow.Settleable(fiveUSDC(), start, public(seekerKey)[:31], public(workerKey), escrow.Assets("devnet"))
	require.Error(t, err)
	last := fiveUSDC()
	last.Deadline = at(escrow.MaxDelivery)
	_, err = escrow.Settleable(last, start, public(seekerKey), public(workerKey), escrow.Assets("devnet"))
	require.NoError(t, err)
}

func TestContractNamesTheAgreementsNegotiation(t *testing.T) {
	state, terms := termsOf(t)
	genesis := solana.MustHashFromBase58(escrow.DevnetGenesis)
	contract, err := escrow.Contract(state, terms, genesis)
	require.NoError(t, err)
	address, err := terms.Address()
	require.NoError(t, err)
	settlement := hire.Settlement{Cluster: escrow.DevnetGenesis, Program: protocol.ProgramAddress,
		Negotiation: hire.Base58(address.String()), Mint: hire.Base58(token.USDCDevnet.String()), Units: "5000000"}
	assert.Equal(t, settlement, contract.Settlement)
	own, err := terms.Settlement(genesis)
	require.NoError(t, err)
	assert.Equal(t, settlement, own, "a receiver computes the same")

	// The conversation accepts the agreement's contract.
	system := keyOf("system")
	rules := hire.Rules{System: hire.Address(public(system))}
	copyOf, err := hire.Sign(system, hire.Draft{From: rules.System, To: state.Worker, At: start,
		Conversation: state.Conversation, Payload: contract})
	require.NoError(t, err)
	after, err := state.Next(copyOf, start, rules)
	require.NoError(t, err)
	assert.NotEmpty(t, after.WorkerContract)

	for name, change := range map[string]func(*escrow.Terms){
		"session": func(t *escrow.Terms) { t.Session++ },
		"service": func(t *escrow.Terms) { t.Service[0]++ },
	} {
		other := terms
		change(&other)
		_, err := escrow.Contract(state, other, genesis)
		require.Error(t, err, name)
	}
}
