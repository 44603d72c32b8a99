package haggle

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// comparing returns a negotiation in which reservation prices are compared.
func comparing(t *testing.T) *Snapshot {
	t.Helper()
	address := newKeypair(t).PublicKey()
	_, bump, err := protocol.FindVaultAddress(address)
	require.NoError(t, err)
	return &Snapshot{Address: address, Negotiation: protocol.Negotiation{
		Buyer: newKeypair(t).PublicKey(), Seller: newKeypair(t).PublicKey(), TokenMint: keptMint,
		EscrowAmount:    5_000_000,
		EffectiveEscrow: 5_000_000, MaxRounds: 10, Status: protocol.NegotiationStatusProposed,
		ZopaEnabled: true, BondRequired: 100,
		BondState: protocol.BondStateHeld, VaultBump: bump, Version: protocol.NegotiationVersion,
		ResponseWindow: 300, CreatedAt: testNow - 10, TurnDeadline: testNow + 300,
		GlobalDeadline: testNow + 3_600,
	}}
}

// testNow is the time of the chain's clock.
const testNow = 1_700_000_000

const secretPrice = 3_141_593

// clockAt returns the chain's clock as an account.
func clockAt(now int64) any {
	data := make([]byte, clockSize)
	binary.LittleEndian.PutUint64(data[clockOffsetUnixTime:], uint64(now))
	return answerOf(sysvarOwner, 1, data)
}

func seal(t *testing.T, n *Snapshot, agent solana.PublicKey, price uint64) *protocol.SealedPrice {
	t.Helper()
	sealedPrice, err := protocol.SealPrice(n.Address, &n.Negotiation, agent, price)
	require.NoError(t, err)
	return sealedPrice
}

func TestZopaSteps(t *testing.T) {
	n := comparing(t)
	for _, c := range []struct {
		phase      protocol.ZopaPhase
		buyerPrice uint64
		want       protocol.ZopaStep
		side       protocol.OfferSide
		text       string
	}{
		{protocol.ZopaPhaseNotStarted, 0, protocol.ZopaStepBuyerCommits, protocol.OfferSideBuyer,
			"buyer commits"},
		{protocol.ZopaPhaseBuyerCommitted, 0, protocol.ZopaStepSellerCommits, protocol.OfferSideSeller,
			"seller commits"},
		{protocol.ZopaPhaseBothCommitted, 0, protocol.ZopaStepBuyerReveals, protocol.OfferSideBuyer,
			"buyer reveals"},
		{protocol.ZopaPhaseBothCommitted, 1, protocol.ZopaStepSellerReveals, protocol.OfferSideSeller,
			"seller reveals"},
		{protocol.ZopaPhaseRevealed, 1, protocol.ZopaStepNone, protocol.OfferSideBuyer, "none"},
		{protocol.ZopaPhaseSkipped, 0, protocol.ZopaStepNone, protocol.OfferSideBuyer, "none"},
	} {
		n.ZopaPhase, n.BuyerPrice = c.phase, c.buyerPrice
		step := n.ZopaStep()
		assert.Equal(t, c.want, step)
		assert.Equal(t, c.text, step.String())
		assert.Equal(t, c.side, n.Turn(), step)
		side, ok := step.Side()
		assert.Equal(t, step != protocol.ZopaStepNone, ok)
		assert.Equal(t, ok, step.IsCommit() != step.IsReveal())
		if ok {
			assert.Equal(t, c.side, side)
		}
	}
	n.ZopaPhase = protocol.ZopaPhaseNotStarted
	for status := protocol.NegotiationStatusCreated; status.Valid(); status++ {
		n.Status = status
		assert.Equal(t, status == protocol.NegotiationStatusProposed, n.ZopaStep() != protocol.ZopaStepNone,
			status)
	}
}

// atStep returns a negotiation with a due step, with both prices sealed and the earlier steps done.
func atStep(
	t *testing.T, step protocol.ZopaStep, buyers, sellers uint64,
) (*Snapshot, map[protocol.OfferSide]*protocol.SealedPrice) {
	t.Helper()
	n := comparing(t)
	prices := map[protocol.OfferSide]*protocol.SealedPrice{protocol.OfferSideBuyer: seal(t, n, n.Buyer,
		buyers), protocol.OfferSideSeller: seal(t, n, n.Seller, sellers)}
	if step > protocol.ZopaStepBuyerCommits {
		n.ZopaPhase, n.BuyerCommitment = protocol.ZopaPhaseBuyerCommitted, prices[protocol.OfferSideBuyer].Commitment()
	}
	if step > protocol.ZopaStepSellerCommits {
		n.ZopaPhase, n.SellerCommitment = protocol.ZopaPhaseBothCommitted, prices[protocol.OfferSideSeller].Commitment()
	}
	if step > protocol.ZopaStepBuyerReveals {
		n.BuyerPrice = buyers
	}
	require.Equal(t, step, n.ZopaStep())
	return n, prices
}

func offlineClient(t *testing.T) *Client {
	t.Helper()
	client, node, _ := newScripted(t, nil)
	node.accounts = map[solana.PublicKey]any{solana.SysVarClockPubkey: clockAt(testNow)}
	client.mints.Put(keptMint,
		token.Mint{Address: keptMint, TokenProgram: solana.Token2022ProgramID, Decimals: 6})
	return client
}

// lastInstruction returns the action's own instruction, decoded.
func lastInstruction[T any, P interface {
	*T
	protocol.AnyInstruction
}](t *testing.T, action *Action) T {
	t.Helper()
	last := action.Instructions[len(action.Instructions)-1]
	data, err := last.Data()
	require.NoError(t, err)
	var decoded T
	require.NoError(t, P(&decoded).Decode(last.Accounts(), data))
	assert.Equal(t, P(&decoded).InstructionName(), action.Name)
	return decoded
}

func TestZopaStepOfTheOtherSideIsRefused(t *testing.T) {
	client := offlineClient(t)
	for step := protocol.ZopaStepBuyerCommits; step <= protocol.ZopaStepBuyerReveals; step++ {
		n, prices := atStep(t, step, 10, 10)
		due, _ := step.Side()
		for side, price := range prices {
			_, commitErr := client.At(n).CommitZopa(price).Build(t.Context())
			_, revealErr := client.At(n).RevealZopa(price).Build(t.Context())
			right, wrong := commitErr, revealErr
			if step.IsReveal() {
				right, wrong = revealErr, commitErr
			}
			require.ErrorIs(t, wrong, protocol.ErrInvalidState, "%s", step)
			if side == due {
				require.NoError(t, right, "%s", step)
			} else {
				require.ErrorIs(t, right, protocol.ErrNotYourTurn, "%s", step)
			}
		}
	}
}

func TestCommitZopaSendsTheCommitment(t *testing.T) {
	n, prices := atStep(t, protocol.ZopaStepSellerCommits, 10, secretPrice)
	action, err := offlineClient(t).At(n).CommitZopa(prices[protocol.OfferSideSeller]).Build(t.Context())
	require.NoError(t, err)
	assert.Equal(t, protocol.SubmitZopaCommitment{
		Agent: n.Seller, Negotiation: n.Address, CreatedAt: n.CreatedAt,
		Commitment: prices[protocol.OfferSideSeller].Commitment(),
	}, lastInstruction[protocol.SubmitZopaCommitment](t, action))
	assert.Equal(t, n.Seller, action.Payer)
}

func TestRefundAccountsAreNamedOnlyWithoutAZone(t *testing.T) {
	for sellers, refunds := range map[uint64]bool{secretPrice - 1: false, secretPrice: false,
		secretPrice + 1: true} {
		n, prices := atStep(t, protocol.ZopaStepSellerReveals, secretPrice, sellers)
		client, scripted, _ := newScripted(t, nil)
		scripted.accounts = map[solana.PublicKey]any{
			keptMint:                 storedAccount(solana.Token2022ProgramID, mintData()),
			solana.SysVarClockPubkey: clockAt(testNow),
		}
		action, err := client.At(n).RevealZopaOnly(prices[protocol.OfferSideSeller]).Build(t.Context())
		require.NoError(t, err)
		want := protocol.RevealZopaPrice{
			Agent: n.Seller, Negotiation: n.Address, CreatedAt: n.CreatedAt, Price: sellers,
			Nonce: prices[protocol.OfferSideSeller].Nonce(),
		}
		creations := 0
		if refunds {
			mint := &token.Mint{Address: keptMint, TokenProgram: solana.Token2022ProgramID}
			want.TokenMint, want.TokenProgram = keptMint, solana.Token2022ProgramID
			want.EscrowVault, _, err = protocol.FindVaultAddress(n.Address)
			require.NoError(t, err)
			want.BuyerTokenAccount, err = mint.AssociatedAddress(n.Buyer)
			require.NoError(t, err)
			want.SellerTokenAccount, err = mint.AssociatedAddress(n.Seller)
			require.NoError(t, err)
			creations = 1 // the seller's own, which is missing
		}
		assert.Equal(t, want, lastInstruction[protocol.RevealZopaPrice](t, action))
		assert.Len(t, action.Instructions, creations+1)
		if !refunds {
			assert.Equal(t, 1, scripted.called("getMultipleAccounts"), "nothing but the clock")
		}
	}
}

// Without the acceptance the buyer could replace the midpoint by an offer of the seller's revealed price.
func TestSellersRevealAcceptsTheMidpoint(t *testing.T) {
	n, prices := atStep(t, protocol.ZopaStepSellerReveals, 12, 9)
	n.Metadata = [64]byte{3}
	sellers := prices[protocol.OfferSideSeller]
	client := offlineClient(t)
	action, err := client.At(n).RevealZopa(sellers).Build(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "reveal_zopa_price", action.Name)
	require.Len(t, action.Instructions, 3, "the seller's token account is missing and created first")
	assert.Equal(t, protocol.RevealZopaPrice{
		Agent: n.Seller, Negotiation: n.Address, CreatedAt: n.CreatedAt, Price: 9, Nonce: sellers.Nonce(),
	}, decodedAs[protocol.RevealZopaPrice](t, action.Instructions[1]))
	mint := &token.Mint{Address: keptMint, TokenProgram: solana.Token2022ProgramID}
	associated := func(party solana.PublicKey) solana.PublicKey {
		address, err := mint.AssociatedAddress(party)
		require.NoError(t, err)
		return address
	}
	want := protocol.AcceptOffer{
		Acceptor: n.Seller, Negotiation: n.Address, EscrowVault: vaultOf(t, n),
		BuyerTokenAccount: associated(n.Buyer), SellerTokenAccount: associated(n.Seller),
		TokenMint: keptMint, TokenProgram: solana.Token2022ProgramID,
		CreatedAt: n.CreatedAt, ExpectedAmount: 10, ExpectedMetadata: n.Metadata,
	}
	assert.Equal(t, want, decodedAs[protocol.AcceptOffer](t, action.Instructions[2]))

	named := TokenAccounts{Buyer: solana.PublicKey{41}, Seller: solana.PublicKey{42}}
	action, err = client.At(n).RevealZopa(sellers).PayTo(named).Build(t.Context())
	require.NoError(t, err)
	want.BuyerTokenAccount, want.SellerTokenAccount = named.Buyer, named.Seller
	assert.Equal(t, want, decodedAs[protocol.AcceptOffer](t, action.Instructions[1]))

	only, err := client.At(n).RevealZopaOnly(sellers).Build(t.Context())
	require.NoError(t, err)
	require.Len(t, only.Instructions, 1)
	assert.Equal(t, only.idempotencyKey(), action.idempotencyKey(), "a price is revealed once")

	n, prices = atStep(t, protocol.ZopaStepSellerReveals, 8, 9)
	action, err = client.At(n).RevealZopa(prices[protocol.OfferSideSeller]).Build(t.Context())
	require.NoError(t, err)
	assert.Len(t, action.Instructions, 2, "without a zone there is nothing to accept")
	n, prices = atStep(t, protocol.ZopaStepBuyerReveals, 12, 9)
	action, err = client.At(n).RevealZopa(prices[protocol.OfferSideBuyer]).Build(t.Context())
	require.NoError(t, err)
	assert.Len(t, action.Instructions, 1, "the buyer reveals first")
}

func decodedAs[T any, P interface {
	*T
	protocol.AnyInstruction
}](t *testing.T, instruction solana.Instruction) (decoded T) {
	t.Helper()
	data, err := instruction.Data()
	require.NoError(t, err)
	require.NoError(t, P(&decoded).Decode(instruction.Accounts(), data))
	return decoded
}

func TestRevealWithAnAcceptanceUnwrapsSOL(t *testing.T) {
	n, prices := atStep(t, protocol.ZopaStepSellerReveals, 12, 9)
	n.TokenMint = solana.WrappedSol
	client := offlineClient(t)
	client.mints.Put(solana.WrappedSol, token.Mint{Address: solana.WrappedSol, TokenProgram: solana.TokenProgramID,
		Decimals: 9})
	sellers := prices[protocol.OfferSideSeller]
	action, err := client.At(n).RevealZopa(sellers).UnwrapSOL(n.Seller).Build(t.Context())
	require.NoError(t, err)
	assert.Len(t, action.Instructions, 4)
	_, err = client.At(n).RevealZopaOnly(sellers).UnwrapSOL(n.Seller).Build(t.Context())
	require.ErrorIs(t, err, token.ErrNotWrappedSOL)
}

// A reveal whose midpoint is not accepted is not the same effect: the buyer can still replace the midpoint.
func TestRevealIsDoneOnceTheMidpointIsAgreed(t *testing.T) {
	before, prices := atStep(t, protocol.ZopaStepSellerReveals, 12, 9)
	sellers := prices[protocol.OfferSideSeller]
	both, only := revealZopa{price: sellers, accepts: true}, revealZopa{price: sellers}
	revealed := *before
	revealed.ZopaPhase, revealed.SellerPrice = protocol.ZopaPhaseRevealed, 9
	revealed.CurrentOfferBy, revealed.CurrentOfferAmount = before.Address, 10
	settled := revealed
	settled.Status, settled.SettledAmount = protocol.NegotiationStatusSettled, 10
	accepted := settled
	accepted.Status, accepted.MilestoneBps = protocol.NegotiationStatusAccepted, [8]uint16{5_000, 5_000}
	replaced := settled
	replaced.CurrentRound, replaced.SettledAmount = 1, 9
	for name, c := range map[string]struct {
		now        *Snapshot
		both, only bool
	}{
		"before":                       {before, false, false},
		"revealed":                     {&revealed, false, true},
		"settled at the midpoint":      {&settled, true, true},
		"accepted, with milestones":    {&accepted, true, true},
		"settled at the buyer's offer": {&replaced, false, true},
	} {
		assert.Equal(t, c.both, both.postcondition(before, c.now), name)
		assert.Equal(t, c.only, only.postcondition(before, c.now), name)
	}
	before.BuyerPrice = 8
	ended := revealed
	ended.Status, ended.BuyerPrice = protocol.NegotiationStatusRejected, 8
	assert.True(t, both.postcondition(before, &ended), "without a zone")
}

// After an unknown outcome the state shows whether the transaction took effect. Nothing is signed again.
func TestRepeatedRevealIsComparedWithTheState(t *testing.T) {
	a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
	n, prices := atStep(t, protocol.ZopaStepSellerReveals, 12, 9)
	a.node.accounts = map[solana.PublicKey]any{
		solana.SysVarClockPubkey: clockAt(testNow),
		keptMint:                 storedAccount(solana.Token2022ProgramID, mintData()),
	}
	action, err := a.At(n).RevealZopa(prices[protocol.OfferSideSeller]).Build(t.Context())
	require.NoError(t, err)
	now := *n
	now.ZopaPhase, now.SellerPrice = protocol.ZopaPhaseRevealed, 9
	now.CurrentOfferBy, now.CurrentOfferAmount = n.Address, 10
	a.node.accounts[n.Address] = negotiationAnswer(&now)
	_, err = action.Transaction(t.Context())
	var changed *StateChangedError
	require.ErrorAs(t, err, &changed, "the price is revealed, and the midpoint is open")
	require.True(t, changed.Now.HasMidpoint())
	now.Status, now.SettledAmount = protocol.NegotiationStatusSettled, 10
	a.node.accounts[n.Address] = negotiationAnswer(&now)
	_, err = action.Transaction(t.Context())
	require.ErrorIs(t, err, ErrAlreadyDone)
}

func TestMidpointIsRoundedDown(t *testing.T) {
	n := comparing(t)
	_, zone := n.Midpoint(1)
	assert.False(t, zone, "the buyer has not revealed its price")
	for _, c := range []struct {
		buyer, seller, want uint64
		zone                bool
	}{
		{12, 9, 10, true}, {9, 9, 9, true}, {10, 9, 9, true}, {8, 9, 0, false},
		{math.MaxUint64, math.MaxUint64 - 1, math.MaxUint64 - 1, true},
	} {
		n.BuyerPrice = c.buyer
		midpoint, zone := n.Midpoint(c.seller)
		assert.Equal(t, c.want, midpoint, "%+v", c)
		assert.Equal(t, c.zone, zone, "%+v", c)
	}
}

func TestRefusedRevealSendsNoPrice(t *testing.T) {
	client := offlineClient(t)
	n, prices := atStep(t, protocol.ZopaStepBuyerReveals, 10, 10)
	reveal := func(price *protocol.SealedPrice) error {
		_, err := client.At(n).RevealZopa(price).Build(t.Context())
		return err
	}
	require.NoError(t, reveal(prices[protocol.OfferSideBuyer]))
	require.ErrorIs(t, reveal(seal(t, n, n.Buyer, 10)), protocol.ErrZopaCommitmentMismatch)
	require.ErrorIs(t, reveal(protocol.NewSealedPrice(n.Address, 0, protocol.ProgramID, 10, [32]byte{})),
		protocol.ErrUnauthorized)
	require.ErrorIs(t, reveal(protocol.NewSealedPrice(n.Address, 0, n.Buyer, 5_000_001, [32]byte{})),
		protocol.ErrInvalidParams)
	another := *n
	another.CreatedAt++
	require.ErrorIs(t, reveal(seal(t, &another, n.Buyer, 10)), protocol.ErrStaleState,
		"it was sealed for another deal at the address")
	require.ErrorIs(t, reveal(protocol.NewSealedPrice(protocol.ProgramID, 0, n.Buyer, 10, [32]byte{})),
		ErrNotAsExpected)
	require.ErrorContains(t, reveal(nil), "sealed price not set")
	require.ErrorContains(t, reveal(new(protocol.SealedPrice)), "sealed price not set")
	_, err := client.At(n).CommitZopa(nil).Build(t.Context())
	require.ErrorContains(t, err, "sealed price not set")
	// If several things are wrong, the error comes from the program's first failed check.
	n.ZopaPhase = protocol.ZopaPhaseSkipped
	require.ErrorIs(t, reveal(protocol.NewSealedPrice(n.Address, 0, protocol.ProgramID, 0, [32]byte{})),
		protocol.ErrInvalidParams)
	require.ErrorIs(t, reveal(protocol.NewSealedPrice(n.Address, 0, protocol.ProgramID, 10, [32]byte{})),
		protocol.ErrInvalidState)
}

// A price that is revealed too late is disclosed without effect.
func TestPriceIsNotRevealedTooLate(t *testing.T) {
	for name, c := range map[string]struct {
		step protocol.ZopaStep
		// turn and global count the seconds until the deadlines.
		turn, global int64
		want         error
	}{
		"seller, in time": {protocol.ZopaStepSellerReveals, revealSlack + 1, revealSlack + 1, nil},
		"seller, when a transaction could be too late": {protocol.ZopaStepSellerReveals, revealSlack, 3_600,
			protocol.ErrResponseWindowExpired},
		"seller, too late": {protocol.ZopaStepSellerReveals, -5, 3_600,
			protocol.ErrResponseWindowExpired},
		"seller, at the very end": {protocol.ZopaStepSellerReveals, revealSlack, revealSlack,
			protocol.ErrExpired},
		"seller, after the very end": {protocol.ZopaStepSellerReveals, -1, -1, protocol.ErrExpired},
		"buyer, in time":             {protocol.ZopaStepBuyerReveals, 300, 300 + revealSlack, nil},
		"buyer, too late to be answered": {protocol.ZopaStepBuyerReveals, 300, 300 + revealSlack - 1,
			protocol.ErrResponseWindowExpired},
		"buyer, too late": {protocol.ZopaStepBuyerReveals, revealSlack, 3_600,
			protocol.ErrResponseWindowExpired},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
			n, prices := atStep(t, c.step, 10, 10)
			n.TurnDeadline, n.GlobalDeadline = testNow+c.turn, testNow+c.global
			side, _ := c.step.Side()
			reveal := func() (*Action, error) { return a.At(n).RevealZopa(prices[side]).Build(t.Context()) }
			a.node.accounts = map[solana.PublicKey]any{
				solana.SysVarClockPubkey: clockAt(testNow),
				keptMint:                 storedAccount(solana.Token2022ProgramID, mintData()),
			}
			_, err := reveal()
			require.ErrorIs(t, err, c.want)

			// The action was built in time and is used later.
			a.node.accounts[solana.SysVarClockPubkey] = clockAt(testNow - 1_000)
			n.TurnDeadline, n.GlobalDeadline = testNow, testNow+3_600
			action, err := reveal()
			require.NoError(t, err)
			n.TurnDeadline, n.GlobalDeadline = testNow+c.turn, testNow+c.global
			a.node.accounts[solana.SysVarClockPubkey] = clockAt(testNow)
			a.node.accounts[n.Address] = negotiationAnswer(n)
			_, err = action.Transaction(t.Context())
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				assert.Zero(t, a.node.called("simulateTransaction"),
					"a node that simulates it knows the price")
				_, err = action.Simulate(t.Context())
				require.ErrorIs(t, err, c.want)
				assert.Zero(t, a.node.called("simulateTransaction"))
			}
		})
	}
}

func TestMidpointIsAcceptedByEitherSide(t *testing.T) {
	n := comparing(t)
	n.ZopaPhase, n.BuyerPrice, n.SellerPrice = protocol.ZopaPhaseRevealed, 11, 8
	assert.False(t, n.HasMidpoint())
	assert.False(t, n.CanAccept(protocol.OfferSideBuyer))
	n.CurrentOfferBy, n.CurrentOfferAmount = n.Address, 9
	assert.True(t, n.HasMidpoint())
	assert.Equal(t, protocol.OfferSideBuyer, n.Turn())
	client, scripted, _ := newScripted(t, nil)
	scripted.accounts = map[solana.PublicKey]any{keptMint: storedAccount(solana.Token2022ProgramID,
		mintData())}
	for side := protocol.OfferSideBuyer; side.Valid(); side++ {
		assert.True(t, n.CanAccept(side))
		action, err := client.At(n).AcceptOffer(n.Party(side), 0).Build(t.Context())
		require.NoError(t, err)
		built := lastInstruction[protocol.AcceptOffer](t, action)
		assert.Zero(t, built.ExpectedRound)
		assert.EqualValues(t, 9, built.ExpectedAmount)
		assert.Equal(t, solana.Token2022ProgramID, built.TokenProgram)
	}

	n.CurrentOfferBy, n.CurrentRound = n.Buyer, 1
	assert.False(t, n.HasMidpoint())
	assert.True(t, n.CanAccept(protocol.OfferSideSeller))
	assert.False(t, n.CanAccept(protocol.OfferSideBuyer))
	n.Status = protocol.NegotiationStatusSettled
	assert.False(t, n.CanAccept(protocol.OfferSideSeller))
}

func TestEndWithoutAZone(t *testing.T) {
	n := comparing(t)
	n.Status, n.ZopaPhase, n.BuyerPrice, n.SellerPrice = protocol.NegotiationStatusRejected, protocol.ZopaPhaseRevealed, 7, 8
	assert.True(t, n.EndedWithoutZone())
	n.SellerPrice = 7
	assert.False(t, n.EndedWithoutZone())
	n.SellerPrice, n.Status = 8, protocol.NegotiationStatusExpired
	assert.False(t, n.EndedWithoutZone())
}
