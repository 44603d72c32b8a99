package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// interpretHaggle determines a program instruction's effect on the wallet. An instruction where the wallet
// does not act costs it only fees.
func (r *reading) interpretHaggle(instruction protocol.AnyInstruction) error {
	effects := instruction.Effects()
	if effects.Acts(r.policy.wallet) {
		if err := instruction.Visit(own{r}); err != nil {
			return err
		}
	}
	return r.checkDestinations(effects)
}

func (r *reading) create(v *protocol.CreateNegotiation) error {
	address, _, err := protocol.FindNegotiationAddress(v.Buyer, v.Seller, v.SessionID)
	if err == nil && address != v.Negotiation {
		err = fmt.Errorf("address differs from the one of the session id, %s", address)
	}
	if err != nil {
		return r.deny(RuleNegotiation, v.Negotiation, err)
	}
	engagement := Engagement{
		Negotiation: v.Negotiation, Mint: v.TokenMint, Buyer: v.Buyer, Seller: v.Seller, Escrow: v.Params.EscrowAmount,
		DecayRateBps: &v.Params.DecayRateBps,
		Until:        lifeOf(r.now(), v.Params.MilestoneDeadline, !r.nonce.IsZero()),
	}
	if err := r.engage(engagement, v.Seller); err != nil {
		return err
	}
	if arbiters := r.policy.config.Arbiters; protocol.MilestoneCount(v.Params.MilestoneBps) > 0 && arbiters != nil && !slices.Contains(arbiters, v.Params.Arbiter) {
		return r.deny(RuleArbiter, v.Params.Arbiter, nil)
	}
	if err := r.limitTerms(v.Negotiation, terms{
		decayRateBps: v.Params.DecayRateBps, maxRounds: v.Params.MaxRounds,
		responseWindow: v.Params.ResponseWindow, feeBps: v.Params.MaxFeeBps,
	}); err != nil {
		return err
	}
	if err := r.spend(Spend{Amount: creationRent, Purpose: PurposeRent, Negotiation: v.Negotiation}); err != nil {
		return err
	}
	return r.spend(Spend{Mint: v.TokenMint, Amount: v.Params.EscrowAmount, Purpose: PurposeEscrow, Negotiation: v.Negotiation, Counterparty: v.Seller})
}

// join reads an invitation's terms. The transaction contains the terms hash, so nodes cannot forge them.
func (r *reading) join(v *protocol.AcceptInvitation) error {
	data, err := r.accountData(v.Negotiation)
	if err != nil {
		return err
	}
	if protocol.TermsHash(v.Negotiation, data) != v.TermsHash {
		return r.deny(RuleNegotiation, v.Negotiation, errors.New("terms have changed: their hash differs from the transaction's"))
	}
	invited, err := r.decodeNegotiation(v.Negotiation, data)
	if err != nil {
		return err
	}
	if invited.Seller != v.Seller {
		return r.deny(RuleNegotiation, v.Negotiation, errors.New("the wallet is not the invited seller"))
	}
	engagement := Engagement{
		Negotiation: v.Negotiation, Mint: invited.TokenMint, Buyer: invited.Buyer, Seller: invited.Seller,
		CreatedAt: invited.CreatedAt, Until: lifeOf(r.now(), invited.MilestoneDeadline, false),
	}
	if err := r.engage(engagement, invited.Buyer); err != nil {
		return err
	}
	if err := r.limitTerms(v.Negotiation, terms{
		decayRateBps: invited.DecayRateBps, maxRounds: invited.MaxRounds,
		responseWindow: invited.ResponseWindow, feeBps: invited.ProtocolFeeBps,
	}); err != nil {
		return err
	}
	if invited.BondRequired == 0 {
		return nil
	}
	return r.spend(Spend{Mint: invited.TokenMint, Amount: invited.BondRequired, Purpose: PurposeBond, Negotiation: v.Negotiation, Counterparty: invited.Buyer})
}

// limitTerms denies a negotiation with terms beyond Config.Terms.
func (r *reading) limitTerms(negotiation solana.PublicKey, t terms) error {
	if err := r.policy.config.Terms.check(t); err != nil {
		return r.deny(RuleTerms, negotiation, err)
	}
	return nil
}

// engage puts a negotiation on record. The record determines the price mint, so the mint must not change.
func (r *reading) engage(engagement Engagement, counterparty solana.PublicKey) error {
	if err := r.allowMint(engagement.Mint); err != nil {
		return err
	}
	for _, other := range r.engagements {
		if other.Negotiation == engagement.Negotiation && other.Mint != engagement.Mint {
			return r.deny(RuleNegotiation, engagement.Negotiation, fmt.Errorf("the same transaction uses another mint for it, %s", other.Mint))
		}
	}
	if err := r.screen(counterparty); err != nil {
		return err
	}
	r.engagements = append(r.engagements, engagement)
	return nil
}

func (r *reading) accept(v *protocol.AcceptOffer) error {
	if err := r.allowMint(v.TokenMint); err != nil {
		return err
	}
	before := len(r.prices)
	expected := func(n *protocol.Negotiation) error {
		if r.offerBefore(v, n) != v.ExpectedAmount || n.Metadata != v.ExpectedMetadata {
			return errors.New("the current offer differs from the transaction's")
		}
		return errors.Join(sameDeal(n, v.CreatedAt), sameRound(n, v.ExpectedRound))
	}
	if err := r.agree(v.Negotiation, v.CreatedAt, v.ExpectedAmount, int(v.ExpectedRound), expected); err != nil {
		return err
	}
	if r.prices[before].Mint != v.TokenMint {
		return r.deny(RuleNegotiation, v.Negotiation, fmt.Errorf("its mint is %s", r.prices[before].Mint))
	}
	if r.isMidpoint(v, r.prices[before].Side) {
		r.midpoints++
	}
	return nil
}

func sameDeal(n *protocol.Negotiation, expected int64) error {
	if n.CreatedAt != expected {
		return fmt.Errorf("created_at is %d, the transaction expects %d", n.CreatedAt, expected)
	}
	return nil
}

func sameRound(n *protocol.Negotiation, expected uint8) error {
	if n.CurrentRound != expected {
		return fmt.Errorf("round is %d, the transaction expects %d", n.CurrentRound, expected)
	}
	return nil
}

// agree checks a deal's price for a given offer count. Reservation prices are compared before any offer.
// Negotiations that the wallet did not enter through this policy are not on record: agree then reads the
// account and requires the transaction's expected state.
func (r *reading) agree(
	negotiation solana.PublicKey, createdAt int64, amount uint64, offers int,
	expected func(*protocol.Negotiation) error,
) error {
	engagement, err := r.known(negotiation, expected)
	if err != nil {
		return err
	}
	price := Price{Mint: engagement.Mint, Amount: amount, Negotiation: negotiation, Instruction: r.at}
	switch r.policy.wallet {
	case engagement.Buyer:
		price.Side, price.Counterparty = protocol.OfferSideBuyer, engagement.Seller
		r.deals = append(r.deals, Deal{Negotiation: negotiation, CreatedAt: createdAt})
	case engagement.Seller:
		price.Side, price.Counterparty = protocol.OfferSideSeller, engagement.Buyer
	default:
		return r.deny(RuleNegotiation, negotiation, errors.New("the wallet is neither buyer nor seller"))
	}
	if err := r.allowMint(price.Mint); err != nil {
		return err
	}
	if err := r.allowCounterparty(price.Counterparty); err != nil {
		return err
	}
	if price.Side == protocol.OfferSideBuyer {
		if price.Decay, err = r.decay(engagement, offers); err != nil {
			return err
		}
	}
	r.prices = append(r.prices, price)
	return r.checkPrice(price)
}

// decay returns a negotiation escrow's loss for a given offer count. If the wallet created several deals at
// the address, the highest loss is returned. Terms that are not on record are read.
func (r *reading) decay(engagement Engagement, offers int) (highest uint64, err error) {
	if offers == 0 {
		return 0, nil
	}
	deals := r.recorded(engagement.Negotiation)
	if len(deals) == 0 {
		deals = []Engagement{engagement}
	}
	for _, deal := range deals {
		n := &protocol.Negotiation{EscrowAmount: deal.Escrow}
		if deal.DecayRateBps != nil {
			n.DecayRateBps = *deal.DecayRateBps
		} else if n, err = r.negotiation(deal.Negotiation); err != nil {
			return 0, err
		}
		highest = max(highest, n.DecayAfter(offers))
	}
	return highest, nil
}

// commit checks the price behind a commitment, which the caller of SignMessage gives with haggle.Signing.Context.
// The reveal of a price that is allowed here is not checked again: a withheld reveal costs the bond.
func (r *reading) commit(v *protocol.SubmitZopaCommitment) error {
	sealed := haggle.SigningFrom(r.ctx).SealedPrice
	switch {
	case sealed == nil:
		return r.deny(RuleCommitment, v.Negotiation, errors.New("price not given (haggle.Signing.Context)"))
	case !sealed.Matches(v.Commitment) || sealed.Negotiation() != v.Negotiation || sealed.CreatedAt() != v.CreatedAt || sealed.Agent() != v.Agent:
		return r.deny(RuleCommitment, v.Negotiation, errors.New("given price differs from the committed one"))
	}
	err := r.agree(v.Negotiation, v.CreatedAt, sealed.Price(), 0,
		func(n *protocol.Negotiation) error { return sameDeal(n, v.CreatedAt) })
	if err != nil {
		return err
	}
	r.commitments = append(r.commitments, Commitment{
		Negotiation: v.Negotiation, Hash: v.Commitment, Until: lifeOf(r.now(), 0, !r.nonce.IsZero()),
	})
	return nil
}

// isOwed reports whether the instruction reveals an allowed commitment's price.
func (r *reading) isOwed(decoded step) bool {
	reveal, ok := decoded.(*protocol.RevealZopaPrice)
	if !ok || reveal.Agent != r.policy.wallet {
		return false
	}
	r.policy.lock.Lock()
	defer r.policy.lock.Unlock()
	return r.policy.usage.Commitments[commitmentOf(reveal)] != nil
}

// now is the policy's time, in Unix seconds.
func (r *reading) now() int64 { return r.policy.config.Now().Unix() }

func (r *reading) checkPrice(price Price) error {
	limits := r.policy.config.Tokens[price.Mint]
	denial := r.deny("", price.Negotiation, nil)
	denial.Mint, denial.Requested = price.Mint, price.Amount
	switch {
	case price.Side == protocol.OfferSideSeller && price.Amount < limits.MinPrice:
		denial.Rule, denial.Limit = RuleMinPrice, limits.MinPrice
	case price.Side == protocol.OfferSideBuyer && price.Total() > limits.MaxTotal:
		denial.Rule, denial.Limit, denial.Used = RuleMaxTotal, limits.MaxTotal, price.Decay
	case price.Side == protocol.OfferSideBuyer && price.Total() > limits.PerNegotiation:
		denial.Rule, denial.Limit, denial.Requested = RulePerNegotiation, limits.PerNegotiation, price.Total()
	default:
		return r.checkBand(price)
	}
	return denial
}

func (r *reading) known(address solana.PublicKey, expected func(*protocol.Negotiation) error) (Engagement, error) {
	if engagement, known := r.onRecord(address); known {
		return engagement, nil
	}
	n, err := r.negotiation(address)
	if err != nil {
		return Engagement{}, err
	}
	if expected != nil {
		if err := expected(n); err != nil {
			return Engagement{}, r.deny(RuleNegotiation, address, err)
		}
	}
	return Engagement{
		Negotiation: address, Mint: n.TokenMint, Buyer: n.Buyer, Seller: n.Seller, Escrow: n.EscrowAmount,
		DecayRateBps: &n.DecayRateBps,
	}, nil
}

// release reads the tranche that the buyer releases. The escrow is counted, so only approval remains; without
// Config.Approve the amount does not matter.
func (r *reading) release(v *protocol.ReleaseMilestone) error {
	if r.policy.config.Approve == nil {
		return nil
	}
	n, err := r.negotiation(v.Negotiation)
	if err != nil {
		return err
	}
	if n.Buyer != r.policy.wallet {
		return nil
	}
	tranche, err := n.Tranche(v.Index)
	if err = errors.Join(err, sameDeal(n, v.CreatedAt)); err != nil {
		return r.deny(RuleNegotiation, v.Negotiation, err)
	}
	if err := r.allowMint(n.TokenMint); err != nil {
		return err
	}
	r.prices = append(r.prices, Price{
		Mint: n.TokenMint, Amount: tranche, Side: protocol.OfferSideBuyer,
		Negotiation: v.Negotiation, Counterparty: n.Seller, Instruction: r.at,
	})
	return nil
}

// settle checks an agreement with the counterparty against the limits. The escrow of the price is counted, so
// only the amount that the buyer leaves to the seller needs approval.
func (r *reading) settle(v *protocol.SettleByAgreement) error {
	limits := r.policy.config.Agreement
	if limits == nil {
		return r.deny(RuleAgreement, v.Negotiation, nil)
	}
	share, limit := uint64(v.SellerBps), uint64(limits.MaxToSellerBps)
	isSeller := v.Seller == r.policy.wallet
	if isSeller {
		share, limit = protocol.BpsDenominator-min(share, protocol.BpsDenominator), uint64(limits.MaxToBuyerBps)
	}
	if share > limit {
		return r.deny(RuleAgreement, v.Negotiation, fmt.Errorf("%d basis points of the price to the other party, at most %d", share, limit))
	}
	if isSeller && v.BondToBuyerBps > limits.MaxBondToBuyerBps {
		return r.deny(RuleAgreement, v.Negotiation,
			fmt.Errorf("%d basis points of the bond to the buyer, at most %d", v.BondToBuyerBps, limits.MaxBondToBuyerBps))
	}
	if err := r.allowMint(v.TokenMint); err != nil {
		return err
	}
	if isSeller || r.policy.config.Approve == nil {
		return nil
	}
	n, err := r.negotiation(v.Negotiation)
	if err != nil {
		return err
	}
	err = sameDeal(n, v.CreatedAt)
	if n.TokenMint != v.TokenMint {
		err = fmt.Errorf("its mint is %s", n.TokenMint)
	}
	if err != nil {
		return r.deny(RuleNegotiation, v.Negotiation, err)
	}
	amounts := n.AgreementAmounts(v.SellerBps, v.BondToBuyerBps)
	r.prices = append(r.prices, Price{
		Mint: n.TokenMint, Amount: amounts.ToSeller + amounts.Fee, Side: protocol.OfferSideBuyer,
		Negotiation: v.Negotiation, Counterparty: v.Seller, Instruction: r.at,
	})
	return nil
}

func (r *reading) negotiation(address solana.PublicKey) (*protocol.Negotiation, error) {
	data, err := r.accountData(address)
	if err != nil {
		return nil, err
	}
	return r.decodeNegotiation(address, data)
}

func (r *reading) accountData(address solana.PublicKey) ([]byte, error) {
	if r.policy.config.Negotiations == nil {
		return nil, r.deny(RuleNegotiation, address, errors.New("not on record, and cannot be read: Config.Negotiations not set"))
	}
	data, err := r.policy.config.Negotiations.NegotiationData(r.ctx, address)
	if err != nil {
		return nil, r.deny(RuleNegotiation, address, err)
	}
	return data, nil
}

// decodeNegotiation decodes an account only if the parties and session derive the account address, so no
// other account can replace it.
func (r *reading) decodeNegotiation(address solana.PublicKey, data []byte) (*protocol.Negotiation, error) {
	var n protocol.Negotiation
	if err := n.Decode(data); err != nil {
		return nil, r.deny(RuleNegotiation, address, err)
	}
	derived, _, err := protocol.FindNegotiationAddress(n.Buyer, n.Seller, n.SessionID)
	if err == nil && derived != address {
		err = fmt.Errorf("the reader returned another negotiation, %s", derived)
	}
	if err != nil {
		return nil, r.deny(RuleNegotiation, address, err)
	}
	return &n, nil
}

// Negotiations reads the accounts of negotiations from the chain.
type Negotiations interface {
	// NegotiationData returns the 512 bytes of the negotiation's account.
	NegotiationData(ctx context.Context, address solana.PublicKey) ([]byte, error)
}

// Tables reads address lookup tables. If Config.Tables is nil, the policy denies every transaction that uses
// a table.
type Tables interface {
	// Table returns the table's addresses, in order. Tables are append-only, so a signed message's accounts
	// do not change. If the returned addresses differ from the chain's, the policy checks the wrong accounts.
	Table(ctx context.Context, table solana.PublicKey) ([]solana.PublicKey, error)
}
