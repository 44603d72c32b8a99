package model

import (
	"crypto/sha256"
	"encoding/binary"
)

// Commitment hashes an agent's price in a negotiation, and so commits to it.
func Commitment(negotiation Address, createdAt int64, agent Address, price uint64, nonce [32]byte) [32]byte {
	message := append([]byte("haggle-zopa"), negotiation[:]...)
	message = binary.LittleEndian.AppendUint64(message, uint64(createdAt))
	message = append(message, agent[:]...)
	message = binary.LittleEndian.AppendUint64(message, price)
	return sha256.Sum256(append(message, nonce[:]...))
}

// ZopaPending reports whether offers must wait for reveals.
func (n *Negotiation) ZopaPending() bool { return n.ZopaPhase < ZopaRevealed }

// MinPrice returns the smallest price that can be revealed.
func (n *Negotiation) MinPrice() uint64 { return max(1, floorBps(n.EscrowAmount, n.MinOfferBps)) }

// hasNoZone reports whether reveals ended the negotiation.
func (n *Negotiation) hasNoZone() bool {
	return n.Status == StatusRejected && n.ZopaPhase == ZopaRevealed && n.Prices[Buyer] < n.Prices[Seller]
}

func (n *Negotiation) sellerOwesReveal() bool {
	return n.ZopaPhase == ZopaBothCommitted && n.Prices[Buyer] != 0
}

// rejectionForfeitsBond reports whether a seller's rejection forfeits the bond: once the buyer has revealed,
// until the first offer replaces the midpoint.
func (n *Negotiation) rejectionForfeitsBond() bool {
	midpointStands := n.ZopaPhase == ZopaRevealed && n.CurrentRound == 0
	return n.BondState == BondHeld && (n.sellerOwesReveal() || midpointStands)
}

// zopaTurn returns the next step's side: the buyer commits, the seller commits, the buyer reveals, the seller
// reveals.
func (n *Negotiation) zopaTurn() int {
	if n.ZopaPhase == ZopaNotStarted || n.ZopaPhase == ZopaBothCommitted && n.Prices[Buyer] == 0 {
		return Buyer
	}
	return Seller
}

type SubmitZopaCommitment struct {
	Agent       Address `account:"signer"`
	Negotiation Address `account:"writable,negotiation"`

	CreatedAt  int64
	Commitment [32]byte
}

func (i *SubmitZopaCommitment) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	side, isParty := n.SideOf(i.Agent)
	if err := firstError(
		failIf(i.Commitment == [32]byte{}, InvalidParams),
		failIf(n.Status != StatusProposed || n.ZopaPhase > ZopaBuyerCommitted, InvalidState),
		e.checkTurnClock(n),
		failIf(!isParty, Unauthorized),
		failIf(i.CreatedAt != n.CreatedAt, StaleState),
		failIf(side != n.zopaTurn(), NotYourTurn),
	); err != nil {
		return err
	}

	n.Commitments[side] = i.Commitment
	n.ZopaPhase++
	if err := e.startTurn(n); err != nil {
		return err
	}
	e.store(i.Negotiation, n)
	e.log("ZopaCommitted", "negotiation_id", i.Negotiation, "agent", i.Agent, "phase", n.ZopaPhase,
		"timestamp", e.now())
	e.note("commitment by the " + sideNames[side])
	return nil
}

type RevealZopaPrice struct {
	Agent              Address `account:"signer"`
	Negotiation        Address `account:"writable,negotiation"`
	EscrowVault        Address `account:"writable,optional"`
	BuyerTokenAccount  Address `account:"writable,optional"`
	SellerTokenAccount Address `account:"writable,optional"`
	TokenMint          Address `account:"optional"`
	TokenProgram       Address `account:"optional"`

	CreatedAt int64
	Price     uint64
	Nonce     [32]byte
}

func (i *RevealZopaPrice) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	wrong := e.checkEscrow(i.Negotiation, n)
	to := e.recipients(n, &wrong)
	side, isParty := n.SideOf(i.Agent)
	turn := n.zopaTurn()
	leavesWindow := within(e.now(), n.GlobalDeadline, uint64(n.ResponseWindow), day)
	commitment := Commitment(i.Negotiation, n.CreatedAt, i.Agent, i.Price, i.Nonce)
	if err := firstError(
		wrong.first(),
		failIf(i.Price < n.MinPrice() || i.Price > n.EscrowAmount, InvalidParams),
		failIf(n.Status != StatusProposed || n.ZopaPhase != ZopaBothCommitted, InvalidState),
		e.checkTurnClock(n),
		failIf(turn == Buyer && !leavesWindow, ResponseWindowExpired),
		failIf(!isParty, Unauthorized),
		failIf(i.CreatedAt != n.CreatedAt, StaleState),
		failIf(side != turn, NotYourTurn),
		failIf(commitment != n.Commitments[side], ZopaCommitmentMismatch),
	); err != nil {
		return err
	}

	n.Prices[side] = i.Price
	if side == Buyer {
		return e.storeBuyersPrice(i, n)
	}
	n.ZopaPhase = ZopaRevealed
	if n.Prices[Buyer] >= n.Prices[Seller] {
		return e.offerMidpoint(i, n)
	}
	if err := e.require("escrow_vault", "buyer_token_account", "seller_token_account", "token_mint",
		"token_program"); err != nil {
		return err
	}
	e.logRevealed(i, n, 0)
	e.note("no zone")
	e.reject(i.Negotiation, n, i.Negotiation, 0, BondNoDeal, to)
	return nil
}

func (e *execution) storeBuyersPrice(i *RevealZopaPrice, n *Negotiation) error {
	if err := e.startTurn(n); err != nil {
		return err
	}
	e.logRevealed(i, n, 0)
	e.store(i.Negotiation, n)
	e.note("reveal by the buyer")
	return nil
}

// offerMidpoint makes the midpoint a standing offer that either side may accept.
func (e *execution) offerMidpoint(i *RevealZopaPrice, n *Negotiation) error {
	if err := e.startTurn(n); err != nil {
		return err
	}
	n.CurrentOfferAmount = midpoint(n.Prices[Buyer], n.Prices[Seller])
	n.CurrentOfferBy = i.Negotiation
	e.logRevealed(i, n, n.CurrentOfferAmount)
	e.store(i.Negotiation, n)
	e.note("zone")
	if n.Prices[Buyer] == n.Prices[Seller] {
		e.note("zone of a single price")
	}
	return nil
}

func (e *execution) logRevealed(i *RevealZopaPrice, n *Negotiation, midpoint uint64) {
	e.log("ZopaRevealed", "negotiation_id", i.Negotiation, "agent", i.Agent, "price", i.Price,
		"phase", n.ZopaPhase, "midpoint", midpoint, "timestamp", e.now())
}
