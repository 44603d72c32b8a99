package escrow_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"path/filepath"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// chain is a local chain with a seeker and a worker.
type chain struct {
	*localnet.Net
	t              *testing.T
	ctx            context.Context
	seeker, worker *wallet.Keypair
	assets         []hire.Asset
}

func newChain(t *testing.T) *chain {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	net, err := localnet.Start(ctx, localnet.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	c := &chain{Net: net, t: t, ctx: ctx, assets: []hire.Asset{
		{Symbol: "TEST", Mint: hire.Base58(net.Mint.String()), Decimals: localnet.Decimals},
	}}
	c.seeker, c.worker = c.newWallet(), c.newWallet()
	return c
}

// newWallet returns a wallet with lamports and tokens.
func (c *chain) newWallet() *wallet.Keypair {
	c.t.Helper()
	key, err := wallet.GenerateKeypair()
	require.NoError(c.t, err)
	require.NoError(c.t, c.Endow(c.ctx, key.PublicKey()))
	return key
}

// now is the chain's time.
func (c *chain) now() time.Time {
	c.t.Helper()
	now, err := c.Client.Now(c.ctx)
	require.NoError(c.t, err)
	return time.Unix(now, 0)
}

// agree returns an agreement between seeker and worker on 5 TEST, due after the given duration.
func (c *chain) agree(due time.Duration) escrow.Terms {
	c.t.Helper()
	seeker, worker := ed25519.PrivateKey(c.seeker.PrivateKey()), ed25519.PrivateKey(c.worker.PrivateKey())
	state := agreed(c.t, c.now(), seeker, worker, hire.Terms{Price: "5 TEST",
		Deadline: hire.NewTime(c.now().Add(due)), Arbiter: hire.Base58(arbiter.String())})
	terms, err := escrow.Of(state, public(seeker), public(worker), c.assets)
	require.NoError(c.t, err)
	return terms
}

// journaled returns a client with a journal.
func (c *chain) journaled() *haggle.Client {
	c.t.Helper()
	store, err := sqlite.Open(c.ctx, filepath.Join(c.t.TempDir(), "state.db"))
	require.NoError(c.t, err)
	c.t.Cleanup(func() { require.NoError(c.t, store.Close()) })
	client, err := haggle.NewClient(haggle.Config{Endpoint: c.Chain.RPCURL(), WSEndpoint: c.Chain.WSURL(), Journal: store})
	require.NoError(c.t, err)
	c.t.Cleanup(func() { require.NoError(c.t, client.Close()) })
	return client
}

// passes requires that the negotiation passes Check in a status.
func (c *chain) passes(terms escrow.Terms, status protocol.NegotiationStatus) *haggle.Snapshot {
	c.t.Helper()
	n := c.snapshot(terms)
	require.NoError(c.t, terms.Check(n))
	require.Equal(c.t, status, n.Status)
	return n
}

func (c *chain) snapshot(terms escrow.Terms) *haggle.Snapshot {
	c.t.Helper()
	address, err := terms.Address()
	require.NoError(c.t, err)
	n, err := c.Client.Negotiation(address).Snapshot(c.ctx)
	require.NoError(c.t, err)
	return n
}

func (c *chain) do(by *wallet.Keypair, action *haggle.Action) {
	c.t.Helper()
	_, err := action.Do(c.ctx, by)
	require.NoError(c.t, err)
}

func (c *chain) tokens(owner *wallet.Keypair) uint64 {
	c.t.Helper()
	account, err := token.AssociatedAddress(owner.PublicKey(), c.Mint, solana.TokenProgramID)
	require.NoError(c.t, err)
	held, err := c.Chain.Tokens(c.ctx, account)
	require.NoError(c.t, err)
	return held
}

func TestAgreementIsSettledOnChain(t *testing.T) {
	c := newChain(t)
	terms, seekers := c.agree(2*time.Hour), c.journaled()
	c.do(c.seeker, seekers.CreateNegotiation(terms.Request(c.now())))
	n := c.passes(terms, protocol.NegotiationStatusCreated)
	require.EqualValues(t, localnet.StartTokens-5_000_000, c.tokens(c.seeker))

	c.do(c.worker, c.Client.At(n).AcceptInvitation(c.worker.PublicKey(), [32]byte{}, terms.Decimals, haggle.Deposit{}))
	n = c.passes(terms, protocol.NegotiationStatusProposed)
	c.do(c.seeker, seekers.At(n).SubmitOffer(c.seeker.PublicKey(), haggle.Offer{Amount: terms.Price}))
	n = c.passes(terms, protocol.NegotiationStatusProposed)
	c.do(c.worker, c.Client.At(n).AcceptOffer(c.worker.PublicKey(), terms.Price))
	n = c.passes(terms, protocol.NegotiationStatusAccepted)

	evidence := sha256.Sum256([]byte("the logo"))
	c.do(c.worker, c.Client.At(n).ClaimMilestone(c.worker.PublicKey(), 0, evidence))
	n = c.passes(terms, protocol.NegotiationStatusAccepted)
	c.do(c.seeker, seekers.At(n).ReleaseMilestone(c.seeker.PublicKey(), 0))
	n = c.passes(terms, protocol.NegotiationStatusSettled)
	require.EqualValues(t, localnet.StartTokens+4_975_000, c.tokens(c.worker), "the price less the fee")

	c.repeatedCreation(seekers, terms)
	c.do(c.seeker, seekers.At(n).Close(c.seeker.PublicKey()))
	c.repeatedCreation(seekers, terms)
	require.EqualValues(t, localnet.StartTokens-5_000_000, c.tokens(c.seeker), "one escrow")
}

// repeatedCreation requires the documented errors when a creation is repeated, and that nothing is sent.
func (c *chain) repeatedCreation(seekers *haggle.Client, terms escrow.Terms) {
	c.t.Helper()
	address, err := terms.Address()
	require.NoError(c.t, err)
	held := c.tokens(c.seeker)

	_, err = seekers.CreateNegotiation(terms.Request(c.now().Add(time.Minute))).Do(c.ctx, c.seeker)
	var done *haggle.AlreadyDone
	require.ErrorAs(c.t, err, &done, "the journal has the creation, also with the request of another time")
	assert.Equal(c.t, address, done.Negotiation)

	for name, client := range map[string]*haggle.Client{"no journal": c.Client, "another journal": c.journaled()} {
		_, err = client.CreateNegotiation(terms.Request(c.now())).Do(c.ctx, c.seeker)
		var used *haggle.SessionUsedError
		require.ErrorAs(c.t, err, &used, name)
		assert.Equal(c.t, address, used.Negotiation)
		assert.Equal(c.t, terms.Session, used.SessionID)
	}
	assert.Equal(c.t, held, c.tokens(c.seeker))
}

func TestExpiredEscrowSettlesNothing(t *testing.T) {
	c := newChain(t)
	terms, seekers := c.agree(2*time.Hour), c.journaled()
	c.do(c.seeker, seekers.CreateNegotiation(terms.Request(c.now())))
	n := c.passes(terms, protocol.NegotiationStatusCreated)
	require.NoError(t, c.Chain.AdvanceTo(c.ctx, n.GlobalDeadline))

	require.Equal(t, "turn_deadline", mismatch(t, terms, c.snapshot(terms)))
	c.do(c.seeker, seekers.At(n).Expire(c.seeker.PublicKey()))
	require.EqualValues(t, localnet.StartTokens, c.tokens(c.seeker), "the escrow is refunded")
	n = c.snapshot(terms)
	require.Equal(t, "status", mismatch(t, terms, n))
	c.repeatedCreation(seekers, terms)
	c.do(c.seeker, seekers.At(n).Close(c.seeker.PublicKey()))
	c.repeatedCreation(seekers, terms)
}

// A stranger's lamports do not stop the program, but no client creates a negotiation at a used address.
func TestAddressOfAForeignTransactionGetsNoEscrow(t *testing.T) {
	c := newChain(t)
	terms := c.agree(2 * time.Hour)
	address, err := terms.Address()
	require.NoError(t, err)
	require.NoError(t, c.Chain.Fund(c.ctx, address, solana.LAMPORTS_PER_SOL))
	_, err = c.journaled().CreateNegotiation(terms.Request(c.now())).Do(c.ctx, c.seeker)
	require.ErrorAs(t, err, new(*haggle.SessionUsedError))
	_, err = c.Client.Negotiation(address).Snapshot(c.ctx)
	require.ErrorIs(t, err, protocol.ErrWrongOwner)
	require.EqualValues(t, localnet.StartTokens, c.tokens(c.seeker))
}

// The program accepts each of these creations. The worker must not.
func TestEscrowOfAThiefIsRefused(t *testing.T) {
	c := newChain(t)
	accomplice := solana.PrivateKey(keyOf("accomplice")).PublicKey()
	for i, theft := range []struct {
		name, field string
		change      func(*haggle.CreateRequest)
	}{
		{"arbiter", "arbiter", func(r *haggle.CreateRequest) { r.Milestones.Arbiter = accomplice }},
		{"less escrow", "escrow_amount", func(r *haggle.CreateRequest) { r.EscrowAmount-- }},
		{"decay", "decay_rate_bps", func(r *haggle.CreateRequest) { *r.DecayRateBps = 1_000 }},
		{"rounds", "max_rounds", func(r *haggle.CreateRequest) { r.MaxRounds = 20 }},
		{"bond", "bond_required", func(r *haggle.CreateRequest) { r.Bond = 1_000_000 }},
		{"no milestones", "arbiter", func(r *haggle.CreateRequest) { r.Milestones = nil }},
		{"tranches", "milestone_bps", func(r *haggle.CreateRequest) { r.Milestones.Shares = []uint16{1, 9_999} }},
		{"short window", "response_window", func(r *haggle.CreateRequest) { r.ResponseWindow = time.Minute }},
		{"short deadline", "global_deadline", func(r *haggle.CreateRequest) { r.Deadline = time.Minute }},
		{"long review", "review_hours", func(r *haggle.CreateRequest) { r.Milestones.ReviewHours = 168 }},
		{"no time to deliver", "milestone_deadline", func(r *haggle.CreateRequest) { r.Milestones.Delivery = 30 * time.Minute }},
		{"a year of arbitration", "milestone_deadline", func(r *haggle.CreateRequest) { r.Milestones.Delivery = 363 * 24 * time.Hour }},
		{"other service", "service_hash", func(r *haggle.CreateRequest) { r.ServiceHash = [32]byte{1} }},
	} {
		t.Run(theft.name, func(t *testing.T) {
			terms := c.agree(2*time.Hour + time.Duration(i)*time.Second) // equal agreements yield the same address
			request := terms.Request(c.now())
			theft.change(&request)
			c.do(c.seeker, c.Client.CreateNegotiation(request))
			require.Equal(t, theft.field, mismatch(t, terms, c.snapshot(terms)))
		})
	}
}

// The worker's agreement determines the mint, so escrows in another mint are elsewhere or do not pass.
func TestEscrowInAnotherMintIsRefused(t *testing.T) {
	c := newChain(t)
	terms := c.agree(2 * time.Hour)
	worthless, err := c.Chain.CreateMint(c.ctx, localnet.Decimals)
	require.NoError(t, err)
	require.NoError(t, c.Chain.Endow(c.ctx, worthless, localnet.Holding{Owner: c.seeker.PublicKey(), Tokens: 5_000_000}))
	request := terms.Request(c.now())
	request.Mint = worthless
	c.do(c.seeker, c.Client.CreateNegotiation(request))
	require.Equal(t, "token_mint", mismatch(t, terms, c.snapshot(terms)))
}
