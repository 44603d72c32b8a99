package haggle

import (
	"math"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// bonded returns a negotiation with a bond, and a client of a node that serves only these accounts.
func bonded(
	t *testing.T, accounts map[solana.PublicKey]any,
) (*Client, *Snapshot, func(solana.PublicKey) solana.PublicKey) {
	t.Helper()
	n := comparing(t)
	n.ZopaPhase, n.ZopaEnabled = protocol.ZopaPhaseSkipped, false
	client, scripted, _ := newScripted(t, nil)
	scripted.accounts = map[solana.PublicKey]any{keptMint: storedAccount(solana.Token2022ProgramID,
		mintData())}
	for address, stored := range accounts {
		scripted.accounts[address] = stored
	}
	associated := func(wallet solana.PublicKey) solana.PublicKey {
		address, err := token.AssociatedAddress(wallet, keptMint, solana.Token2022ProgramID)
		require.NoError(t, err)
		return address
	}
	return client, n, associated
}

func TestBondComesFromTheSellersAccount(t *testing.T) {
	from := solana.PublicKey{31}
	client, n, associated := bonded(t, map[solana.PublicKey]any{
		from: storedAccount(solana.Token2022ProgramID,
			tokenAccountData(protocol.ProgramID, token.StateInitialized)),
	})
	n.Status, n.BondState = protocol.NegotiationStatusCreated, protocol.BondStateNone
	n.Data = n.Encode()
	bond := Deposit{TokenAccount: from}
	action, err := client.At(n).AcceptInvitation(n.Seller, [32]byte{}, testDecimals, bond).Build(t.Context())
	require.NoError(t, err)
	vault, err := n.vault()
	require.NoError(t, err)
	assert.Equal(t, protocol.AcceptInvitation{
		Seller: n.Seller, Negotiation: n.Address, EscrowVault: vault, SellerTokenAccount: from,
		TokenMint:    keptMint,
		TokenProgram: solana.Token2022ProgramID, TermsHash: n.TermsHash(), Decimals: testDecimals,
	}, lastInstruction[protocol.AcceptInvitation](t, action))
	require.Len(t, action.Instructions, 2, "the associated account, to be paid at, is created all the same")

	n.BondRequired = 201
	_, err = client.At(n).AcceptInvitation(n.Seller, [32]byte{}, testDecimals, bond).Build(t.Context())
	var short *token.InsufficientFunds
	require.ErrorAs(t, err, &short)
	assert.Equal(t, token.InsufficientFunds{Account: from, Mint: keptMint, Have: 200, Need: 201}, *short)

	bond.TokenAccount = solana.PublicKey{}
	_, err = client.At(n).AcceptInvitation(n.Seller, [32]byte{}, testDecimals, bond).Build(t.Context())
	var missing *protocol.AccountError
	require.ErrorAs(t, err, &missing)
	require.ErrorIs(t, err, protocol.ErrAccountNotFound)
	assert.Equal(t, associated(n.Seller), missing.Address)

	// The program refuses a second acceptance, and an acceptance by another wallet.
	n.Status = protocol.NegotiationStatusProposed
	action, err = client.At(n).AcceptInvitation(n.Seller, [32]byte{}, testDecimals, bond).Build(t.Context())
	require.NoError(t, err)
	assert.Equal(t, associated(n.Seller),
		lastInstruction[protocol.AcceptInvitation](t, action).SellerTokenAccount)
	n.Status = protocol.NegotiationStatusCreated
	_, err = client.At(n).AcceptInvitation(protocol.ProgramID, [32]byte{}, testDecimals,
		Deposit{}).Build(t.Context())
	require.NoError(t, err)

	n.BondRequired = 0
	action, err = client.At(n).AcceptInvitation(n.Seller, [32]byte{}, testDecimals, bond).Build(t.Context())
	require.NoError(t, err)
	assert.Equal(t, protocol.AcceptInvitation{Seller: n.Seller, Negotiation: n.Address,
		TokenMint: keptMint, TermsHash: n.TermsHash(), Decimals: testDecimals},
		lastInstruction[protocol.AcceptInvitation](t, action))
}

func TestBondGoesBackToTheSellersAccount(t *testing.T) {
	client, n, associated := bonded(t, nil)
	for _, c := range []struct {
		by     solana.PublicKey
		bond   uint64
		seller solana.PublicKey
		// creations is the number of created accounts of the acting party.
		creations int
	}{
		{n.Buyer, 0, solana.PublicKey{}, 1},
		{n.Buyer, 100, associated(n.Seller), 1},
		{n.Seller, 0, solana.PublicKey{}, 0},
		{n.Seller, 100, associated(n.Seller), 1},
		{protocol.ProgramID, 100, associated(n.Seller), 0},
	} {
		n.BondRequired = c.bond
		expiry, err := client.At(n).Expire(c.by).Build(t.Context())
		require.NoError(t, err)
		assert.Equal(t, protocol.ExpireNegotiation{
			Negotiation: n.Address, EscrowVault: vaultOf(t, n), BuyerTokenAccount: associated(n.Buyer),
			SellerTokenAccount: c.seller,
			TokenMint:          keptMint, TokenProgram: solana.Token2022ProgramID,
		}, lastInstruction[protocol.ExpireNegotiation](t, expiry))
		assert.Len(t, expiry.Instructions, c.creations+1)

		rejection, err := client.At(n).Reject(c.by).Build(t.Context())
		require.NoError(t, err)
		assert.Equal(t, protocol.RejectNegotiation{
			Rejector: c.by, Negotiation: n.Address, CreatedAt: n.CreatedAt, EscrowVault: vaultOf(t, n),
			BuyerTokenAccount:  associated(n.Buyer),
			SellerTokenAccount: c.seller, TokenMint: keptMint, TokenProgram: solana.Token2022ProgramID,
		}, lastInstruction[protocol.RejectNegotiation](t, rejection))
		assert.Len(t, rejection.Instructions, c.creations+1)
	}

	// A seller that rejects after the buyer's reveal agrees to lose the bond: it names no account, and pays
	// for none.
	n.BondRequired, n.ZopaEnabled, n.BuyerPrice = 100, true, 1
	for _, phase := range []protocol.ZopaPhase{protocol.ZopaPhaseBothCommitted, protocol.ZopaPhaseRevealed} {
		n.ZopaPhase = phase
		rejection, err := client.At(n).Reject(n.Seller).Build(t.Context())
		require.NoError(t, err)
		assert.Len(t, rejection.Instructions, 1)
		assert.True(t, lastInstruction[protocol.RejectNegotiation](t, rejection).SellerTokenAccount.IsZero())
		rejection, err = client.At(n).Reject(n.Buyer).Build(t.Context())
		require.NoError(t, err)
		assert.Equal(t, associated(n.Seller),
			lastInstruction[protocol.RejectNegotiation](t, rejection).SellerTokenAccount)
	}
	n.CurrentRound = 1
	rejection, err := client.At(n).Reject(n.Seller).Build(t.Context())
	require.NoError(t, err)
	assert.Equal(t, associated(n.Seller),
		lastInstruction[protocol.RejectNegotiation](t, rejection).SellerTokenAccount,
		"the buyer's first offer replaces the comparison")
}

func vaultOf(t *testing.T, n *Snapshot) solana.PublicKey {
	t.Helper()
	vault, err := n.vault()
	require.NoError(t, err)
	return vault
}

func TestExtensionIsProposedInWholeSeconds(t *testing.T) {
	client, n, _ := bonded(t, nil)
	for requested, want := range map[time.Duration]uint32{
		0: 0, time.Nanosecond: 1, time.Second: 1, 90*time.Minute + 1: 5_401,
		math.MaxUint32 * time.Second: math.MaxUint32,
	} {
		action, err := client.At(n).SubmitOffer(n.Buyer,
			Offer{Amount: 5, DeadlineExtension: requested}).Build(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, lastInstruction[protocol.SubmitOffer](t, action).DeadlineExtension)
	}
	for _, requested := range []time.Duration{-time.Second, math.MaxUint32*time.Second + 1} {
		_, err := client.At(n).SubmitOffer(n.Buyer,
			Offer{Amount: 5, DeadlineExtension: requested}).Build(t.Context())
		require.ErrorIs(t, err, protocol.ErrInvalidParams)
	}
}

func TestMilestoneActions(t *testing.T) {
	client, n, associated := bonded(t, nil)
	n.Status = protocol.NegotiationStatusAccepted
	arbiter := newKeypair(t).PublicKey()
	vault := vaultOf(t, n)

	action, err := client.At(n).ClaimMilestone(n.Seller, 3,
		protocol.EvidenceHash([]byte("done"))).Build(t.Context())
	require.NoError(t, err)
	assert.Equal(t, protocol.ClaimMilestone{
		Seller: n.Seller, Negotiation: n.Address, CreatedAt: n.CreatedAt, Index: 3,
		Evidence: protocol.EvidenceHash([]byte("done")),
	}, lastInstruction[protocol.ClaimMilestone](t, action))

	action, err = client.At(n).DisputeMilestone(n.Buyer, 2, [32]byte{7}).Build(t.Context())
	require.NoError(t, err)
	assert.Equal(t, protocol.DisputeMilestone{
		Buyer: n.Buyer, Negotiation: n.Address, CreatedAt: n.CreatedAt, Index: 2, Evidence: [32]byte{7},
	}, lastInstruction[protocol.DisputeMilestone](t, action))

	for releaser, creations := range map[solana.PublicKey]int{n.Buyer: 1, n.Seller: 1, arbiter: 0} {
		action, err = client.At(n).ReleaseMilestone(releaser, 1).Build(t.Context())
		require.NoError(t, err)
		assert.Equal(t, protocol.ReleaseMilestone{
			Releaser: releaser, Negotiation: n.Address, EscrowVault: vault,
			BuyerTokenAccount:  associated(n.Buyer),
			SellerTokenAccount: associated(n.Seller), TokenMint: keptMint,
			TokenProgram: solana.Token2022ProgramID,
			CreatedAt:    n.CreatedAt, Index: 1,
		}, lastInstruction[protocol.ReleaseMilestone](t, action))
		assert.Len(t, action.Instructions, creations+1)
	}
	n.BondState = protocol.BondStateNone
	action, err = client.At(n).ReleaseMilestone(n.Buyer, 1).Build(t.Context())
	require.NoError(t, err)
	assert.True(t, lastInstruction[protocol.ReleaseMilestone](t, action).BuyerTokenAccount.IsZero(),
		"without a bond the buyer gets nothing")
	n.BondState = protocol.BondStateHeld

	named := solana.PublicKey{41}
	action, err = client.At(n).ResolveDispute(arbiter, 2,
		2_500).PayTo(TokenAccounts{Buyer: named}).Build(t.Context())
	require.NoError(t, err)
	assert.Equal(t, protocol.ResolveDispute{
		Arbiter: arbiter, Negotiation: n.Address, EscrowVault: vault, BuyerTokenAccount: named,
		SellerTokenAccount: associated(n.Seller),
		TokenMint:          keptMint, TokenProgram: solana.Token2022ProgramID, CreatedAt: n.CreatedAt, Index: 2,
		SellerBps: 2_500,
	}, lastInstruction[protocol.ResolveDispute](t, action))
	assert.Len(t, action.Instructions, 1)

	action, err = client.At(n).SettleDeadline(n.Buyer).Build(t.Context())
	require.NoError(t, err)
	assert.Equal(t, protocol.SettleDeadline{
		Negotiation: n.Address, EscrowVault: vault, BuyerTokenAccount: associated(n.Buyer),
		SellerTokenAccount: associated(n.Seller),
		TokenMint:          keptMint, TokenProgram: solana.Token2022ProgramID,
	}, lastInstruction[protocol.SettleDeadline](t, action))
	assert.Equal(t, n.Buyer, action.Payer)
	assert.Len(t, action.Instructions, 2)
	_, err = client.At(n).SettleDeadline(solana.PublicKey{}).Build(t.Context())
	require.ErrorContains(t, err, "signer not set")
}

func TestTooManyMilestonesAreRefused(t *testing.T) {
	client, _, _ := bonded(t, nil)
	early := &Milestones{Shares: []uint16{10_000}, Delivery: defaultDeadline - 1}
	_, err := client.CreateNegotiation(CreateRequest{Key: "order 1", Mint: keptMint, Decimals: testDecimals, Milestones: early}).Build(t.Context())
	require.ErrorIs(t, err, protocol.ErrInvalidParams)
	require.ErrorContains(t, err,
		"delivery after 59m59.999999999s, before the negotiation's deadline after 1h0m0s")
	_, err = client.CreateNegotiation(CreateRequest{
		Key: "order 1", Mint: keptMint, Decimals: testDecimals, Milestones: &Milestones{Shares: make([]uint16, 9)},
	}).Build(t.Context())
	require.ErrorIs(t, err, protocol.ErrInvalidParams)
}

// A deposit from an account whose CPI guard is on fails in the token program, so the client builds no such
// deposit.
func TestDepositFromACPIGuardedAccountIsRefused(t *testing.T) {
	from := solana.PublicKey{31}
	account := func(owner solana.PublicKey, lock byte) any {
		data := tokenAccountData(owner, token.StateInitialized)
		return storedAccount(solana.Token2022ProgramID,
			extended(data, accountTypeTokenAccount, extension(extensionCPIGuard, lock)))
	}
	_, n, _ := bonded(t, nil)
	n.Status, n.BondState = protocol.NegotiationStatusCreated, protocol.BondStateNone
	n.Data = n.Encode()
	bond := Deposit{TokenAccount: from}
	for name, c := range map[string]struct {
		stored any
		want   error
	}{
		"on":                       {account(n.Seller, 1), token.ErrCPIGuard},
		"off":                      {account(n.Seller, 0), nil},
		"on, the seller delegated": {account(n.Buyer, 1), nil},
	} {
		t.Run(name, func(t *testing.T) {
			guarded, _, _ := bonded(t, map[solana.PublicKey]any{from: c.stored})
			_, err := guarded.At(n).AcceptInvitation(n.Seller, [32]byte{}, testDecimals,
				bond).Build(t.Context())
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				var wrong *protocol.AccountError
				require.ErrorAs(t, err, &wrong)
				assert.Equal(t, from, wrong.Address)
				assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
			}
		})
	}
}

// A custodian's program may use the same address for all users, so the client warns a party about to deposit.
func TestOffCurvePartyIsAWarning(t *testing.T) {
	program, _, err := solana.FindProgramAddress([][]byte{[]byte("custody")}, solana.SystemProgramID)
	require.NoError(t, err)
	person := newKeypair(t).PublicKey()
	client, n, _ := bonded(t, nil)
	n.Status, n.BondState, n.BondRequired = protocol.NegotiationStatusCreated, protocol.BondStateNone, 0
	for _, c := range []struct {
		buyer, seller solana.PublicKey
		warnings      int
	}{{person, person, 0}, {program, person, 1}, {person, program, 1}, {program, program, 2}} {
		n.Buyer, n.Seller = c.buyer, c.seller
		n.Data = n.Encode()
		action, err := client.At(n).AcceptInvitation(c.seller, [32]byte{}, testDecimals,
			Deposit{}).Build(t.Context())
		require.NoError(t, err)
		require.Len(t, action.Warnings, c.warnings)
		for _, warning := range action.Warnings {
			require.ErrorIs(t, warning, ErrOffCurve)
			assert.ErrorContains(t, warning, program.String())
		}
	}

	buyer := newBuyer(t)
	created, err := buyer.create(t, func(r *CreateRequest) { r.Seller = program })
	require.NoError(t, err)
	require.Len(t, created.Warnings, 1)
	require.ErrorIs(t, created.Warnings[0], ErrOffCurve)
}
