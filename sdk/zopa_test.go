package haggle

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStepsOfTheComparison(t *testing.T) {
	n := comparing(t)
	for _, c := range []struct {
		phase      ZopaPhase
		buyerPrice uint64
		want       ZopaStep
		side       OfferSide
		text       string
	}{
		{ZopaPhaseNotStarted, 0, ZopaStepBuyerCommits, OfferSideBuyer, "buyer commits"},
		{ZopaPhaseBuyerCommitted, 0, ZopaStepSellerCommits, OfferSideSeller, "seller commits"},
		{ZopaPhaseBothCommitted, 0, ZopaStepBuyerReveals, OfferSideBuyer, "buyer reveals"},
		{ZopaPhaseBothCommitted, 1, ZopaStepSellerReveals, OfferSideSeller, "seller reveals"},
		{ZopaPhaseRevealed, 1, ZopaStepNone, OfferSideBuyer, "none"},
		{ZopaPhaseSkipped, 0, ZopaStepNone, OfferSideBuyer, "none"},
	} {
		n.ZopaPhase, n.BuyerPrice = c.phase, c.buyerPrice
		step := n.ZopaStep()
		assert.Equal(t, c.want, step)
		assert.Equal(t, c.text, step.String())
		assert.Equal(t, c.side, n.Turn(), step)
		side, ok := step.Side()
		assert.Equal(t, step != ZopaStepNone, ok)
		assert.Equal(t, ok, step.IsCommit() != step.IsReveal())
		if ok {
			assert.Equal(t, c.side, side)
		}
	}
	n.ZopaPhase = ZopaPhaseNotStarted
	for status := NegotiationStatusCreated; status.Valid(); status++ {
		n.Status = status
		assert.Equal(t, status == NegotiationStatusProposed, n.ZopaStep() != ZopaStepNone, status)
	}
}

// atStep is a negotiation of which a step is due, with both prices sealed and what has been done so far.
func atStep(t *testing.T, step ZopaStep, buyers, sellers uint64) (*NegotiationAccount, map[OfferSide]*SealedPrice) {
	t.Helper()
	n := comparing(t)
	prices := map[OfferSide]*SealedPrice{OfferSideBuyer: seal(t, n, n.Buyer, buyers), OfferSideSeller: seal(t, n, n.Seller, sellers)}
	if step > ZopaStepBuyerCommits {
		n.ZopaPhase, n.BuyerCommitment = ZopaPhaseBuyerCommitted, prices[OfferSideBuyer].Commitment()
	}
	if step > ZopaStepSellerCommits {
		n.ZopaPhase, n.SellerCommitment = ZopaPhaseBothCommitted, prices[OfferSideSeller].Commitment()
	}
	if step > ZopaStepBuyerReveals {
		n.BuyerPrice = buyers
	}
	require.Equal(t, step, n.ZopaStep())
	return n, prices
}

func offlineClient(t *testing.T) *Client {
	t.Helper()
	client, node, _ := newScripted(t, nil)
	node.accounts = map[solana.PublicKey]any{solana.SysVarClockPubkey: clockAt(testNow)}
	client.mints.put(keptMint, Mint{Address: keptMint, TokenProgram: solana.Token2022ProgramID, Decimals: 6})
	return client
}

// lastInstruction is the action's own, decoded.
func lastInstruction[T any, P interface {
	*T
	AnyInstruction
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

func TestEachStepIsTakenByItsSideAlone(t *testing.T) {
	client := offlineClient(t)
	for step := ZopaStepBuyerCommits; step <= ZopaStepBuyerReveals; step++ {
		n, prices := atStep(t, step, 10, 10)
		due, _ := step.Side()
		for side, price := range prices {
			_, commitErr := client.CommitZopa(t.Context(), CommitZopaRequest{Sealed: price, Seen: n})
			_, revealErr := client.RevealZopa(t.Context(), RevealZopaRequest{Sealed: price, Seen: n})
			right, wrong := commitErr, revealErr
			if step.IsReveal() {
				right, wrong = revealErr, commitErr
			}
			require.ErrorIs(t, wrong, ErrInvalidState, "%s", step)
			if side == due {
				require.NoError(t, right, "%s", step)
			} else {
				require.ErrorIs(t, right, ErrNotYourTurn, "%s", step)
			}
		}
	}
}

func TestCommitmentIsWhatGoesOnChain(t *testing.T) {
	n, prices := atStep(t, ZopaStepSellerCommits, 10, secretPrice)
	action, err := offlineClient(t).CommitZopa(t.Context(), CommitZopaRequest{Sealed: prices[OfferSideSeller], Seen: n})
	require.NoError(t, err)
	assert.Equal(t, SubmitZopaCommitment{
		Agent: n.Seller, Negotiation: n.Address, CreatedAt: n.CreatedAt, Commitment: prices[OfferSideSeller].Commitment(),
	}, lastInstruction[SubmitZopaCommitment](t, action))
	assert.Equal(t, n.Seller, action.Payer)
}

func TestRefundAccountsGoAlongOnlyWithoutAZone(t *testing.T) {
	for sellers, refunds := range map[uint64]bool{secretPrice - 1: false, secretPrice: false, secretPrice + 1: true} {
		n, prices := atStep(t, ZopaStepSellerReveals, secretPrice, sellers)
		client, scripted, _ := newScripted(t, nil)
		scripted.accounts = map[solana.PublicKey]any{
			keptMint: storedAccount(solana.Token2022ProgramID, mintData()), solana.SysVarClockPubkey: clockAt(testNow),
		}
		action, err := client.RevealZopa(t.Context(), RevealZopaRequest{Sealed: prices[OfferSideSeller], Seen: n})
		require.NoError(t, err)
		want := RevealZopaPrice{
			Agent: n.Seller, Negotiation: n.Address, CreatedAt: n.CreatedAt, Price: sellers, Nonce: prices[OfferSideSeller].open().nonce,
		}
		creations := 0
		if refunds {
			mint := &Mint{Address: keptMint, TokenProgram: solana.Token2022ProgramID}
			want.TokenMint, want.TokenProgram = keptMint, solana.Token2022ProgramID
			want.EscrowVault, _, err = FindVaultAddress(n.Address)
			require.NoError(t, err)
			want.BuyerTokenAccount, err = mint.AssociatedTokenAddress(n.Buyer)
			require.NoError(t, err)
			want.SellerTokenAccount, err = mint.AssociatedTokenAddress(n.Seller)
			require.NoError(t, err)
			creations = 1 // the seller's own, which is missing
		}
		assert.Equal(t, want, lastInstruction[RevealZopaPrice](t, action))
		assert.Len(t, action.Instructions, creations+1)
		if !refunds {
			assert.Equal(t, 1, scripted.called("getMultipleAccounts"), "nothing but the clock")
		}
	}
}

func TestRevealIsRefusedBeforeAnyoneSeesThePrice(t *testing.T) {
	client := offlineClient(t)
	n, prices := atStep(t, ZopaStepBuyerReveals, 10, 10)
	reveal := func(price *SealedPrice) error {
		_, err := client.RevealZopa(t.Context(), RevealZopaRequest{Sealed: price, Seen: n})
		return err
	}
	require.NoError(t, reveal(prices[OfferSideBuyer]))
	require.ErrorIs(t, reveal(seal(t, n, n.Buyer, 10)), ErrZopaCommitmentMismatch)
	require.ErrorIs(t, reveal(sealed(sealedPrice{negotiation: n.Address, agent: ProgramID, price: 10})), ErrUnauthorized)
	require.ErrorIs(t, reveal(sealed(sealedPrice{negotiation: n.Address, agent: n.Buyer, price: 5_000_001})), ErrInvalidParams)
	another := *n
	another.CreatedAt++
	require.ErrorIs(t, reveal(seal(t, &another, n.Buyer, 10)), ErrStaleState, "it was sealed for another deal at the address")
	require.ErrorIs(t, reveal(sealed(sealedPrice{negotiation: ProgramID, agent: n.Buyer, price: 10})), ErrNotAsExpected)
	require.ErrorContains(t, reveal(nil), "Sealed")
	require.ErrorContains(t, reveal(new(SealedPrice)), "Sealed")
	_, err := client.CommitZopa(t.Context(), CommitZopaRequest{Seen: n})
	require.ErrorContains(t, err, "Sealed")
	// Of several things that are wrong, the program names the first.
	n.ZopaPhase = ZopaPhaseSkipped
	require.ErrorIs(t, reveal(sealed(sealedPrice{negotiation: n.Address, agent: ProgramID, price: 0})), ErrInvalidParams)
	require.ErrorIs(t, reveal(sealed(sealedPrice{negotiation: n.Address, agent: ProgramID, price: 10})), ErrInvalidState)
}

// A price that is shown too late to count has been given away for nothing.
func TestPriceIsNotShownTooLate(t *testing.T) {
	for name, c := range map[string]struct {
		step ZopaStep
		// turn and global are how long there is until the deadlines.
		turn, global int64
		want         error
	}{
		"seller, in time": {ZopaStepSellerReveals, RevealSlack + 1, RevealSlack + 1, nil},
		"seller, when a transaction could be too late": {ZopaStepSellerReveals, RevealSlack, 3_600, ErrResponseWindowExpired},
		"seller, too late":               {ZopaStepSellerReveals, -5, 3_600, ErrResponseWindowExpired},
		"seller, at the very end":        {ZopaStepSellerReveals, RevealSlack, RevealSlack, ErrExpired},
		"seller, after the very end":     {ZopaStepSellerReveals, -1, -1, ErrExpired},
		"buyer, in time":                 {ZopaStepBuyerReveals, 300, 300 + RevealSlack, nil},
		"buyer, too late to be answered": {ZopaStepBuyerReveals, 300, 300 + RevealSlack - 1, ErrResponseWindowExpired},
		"buyer, too late":                {ZopaStepBuyerReveals, RevealSlack, 3_600, ErrResponseWindowExpired},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
			n, prices := atStep(t, c.step, 10, 10)
			n.TurnDeadline, n.GlobalDeadline = testNow+c.turn, testNow+c.global
			side, _ := c.step.Side()
			request := RevealZopaRequest{Sealed: prices[side], Seen: n}
			a.node.accounts = map[solana.PublicKey]any{solana.SysVarClockPubkey: clockAt(testNow)}
			_, err := a.RevealZopa(t.Context(), request)
			require.ErrorIs(t, err, c.want)

			// An action that was built in time and is used later.
			a.node.accounts[solana.SysVarClockPubkey] = clockAt(testNow - 1_000)
			n.TurnDeadline, n.GlobalDeadline = testNow, testNow+3_600
			action, err := a.RevealZopa(t.Context(), request)
			require.NoError(t, err)
			n.TurnDeadline, n.GlobalDeadline = testNow+c.turn, testNow+c.global
			a.node.accounts[solana.SysVarClockPubkey] = clockAt(testNow)
			a.node.accounts[n.Address] = negotiationAnswer(n)
			_, err = action.Transaction(t.Context())
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				assert.Zero(t, a.node.called("simulateTransaction"), "a node that simulates it knows the price")
				_, err = action.Simulate(t.Context())
				require.ErrorIs(t, err, c.want)
				assert.Zero(t, a.node.called("simulateTransaction"))
			}
		})
	}
}

func TestMidpointIsAcceptedByEitherSide(t *testing.T) {
	n := comparing(t)
	n.ZopaPhase, n.BuyerPrice, n.SellerPrice = ZopaPhaseRevealed, 11, 8
	assert.False(t, n.HasMidpoint())
	assert.False(t, n.CanAccept(OfferSideBuyer))
	n.CurrentOfferBy, n.CurrentOfferAmount = n.Address, 9
	assert.True(t, n.HasMidpoint())
	assert.Equal(t, OfferSideBuyer, n.Turn())
	client, scripted, _ := newScripted(t, nil)
	scripted.accounts = map[solana.PublicKey]any{keptMint: storedAccount(solana.Token2022ProgramID, mintData())}
	for side := OfferSideBuyer; side.Valid(); side++ {
		assert.True(t, n.CanAccept(side))
		action, err := client.Accept(t.Context(), AcceptRequest{Acceptor: n.Party(side), Seen: n})
		require.NoError(t, err)
		built := lastInstruction[AcceptOffer](t, action)
		assert.Zero(t, built.ExpectedRound)
		assert.EqualValues(t, 9, built.ExpectedAmount)
		assert.Equal(t, solana.Token2022ProgramID, built.TokenProgram)
	}

	n.CurrentOfferBy, n.CurrentRound = n.Buyer, 1
	assert.False(t, n.HasMidpoint())
	assert.True(t, n.CanAccept(OfferSideSeller))
	assert.False(t, n.CanAccept(OfferSideBuyer))
	n.Status = NegotiationStatusSettled
	assert.False(t, n.CanAccept(OfferSideSeller))
}

func TestEndWithoutAZone(t *testing.T) {
	n := comparing(t)
	n.Status, n.ZopaPhase, n.BuyerPrice, n.SellerPrice = NegotiationStatusRejected, ZopaPhaseRevealed, 7, 8
	assert.True(t, n.EndedWithoutZone())
	n.SellerPrice = 7
	assert.False(t, n.EndedWithoutZone())
	n.SellerPrice, n.Status = 8, NegotiationStatusExpired
	assert.False(t, n.EndedWithoutZone())
}
