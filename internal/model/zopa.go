package model

import (
	"crypto/sha256"
	"encoding/binary"
)

// Commitment is what an agent commits itself to a price with, so that nobody else can use it.
func Commitment(negotiation, agent Address, price uint64, nonce [32]byte) [32]byte {
	message := append([]byte("haggle-zopa"), negotiation[:]...)
	message = append(message, agent[:]...)
	message = binary.LittleEndian.AppendUint64(message, price)
	return sha256.Sum256(append(message, nonce[:]...))
}

// zopaTurn is whose step it is: the buyer's to commit, the seller's, the buyer's to reveal, the seller's.
func (n *Negotiation) zopaTurn() int {
	if n.ZopaPhase == ZopaNotStarted || (n.ZopaPhase == ZopaBothCommitted && n.Prices[Buyer] == 0) {
		return Buyer
	}
	return Seller
}

func (c *call) submitZopaCommitment() error {
	address, n := c.negotiation()
	var commitment [32]byte
	c.arguments.read(&commitment)

	side, isParty := n.SideOf(c.signer())
	if err := first(
		refuse(commitment == [32]byte{}, InvalidParams),
		refuse(n.Status != Proposed || n.ZopaPhase > ZopaBuyerCommitted, InvalidState),
		c.inTime(n),
		refuse(!isParty, Unauthorized),
		refuse(side != n.zopaTurn(), NotYourTurn),
	); err != nil {
		return err
	}

	n.Commitments[side] = commitment
	n.ZopaPhase++
	if err := c.startTurn(n); err != nil {
		return err
	}
	c.store(address, n)
	c.log("ZopaCommitted", "negotiation_id", address, "agent", c.signer(), "phase", n.ZopaPhase, "timestamp", c.world.Now)
	c.happened("commitment of the " + partyNames[side])
	return nil
}

func (c *call) revealZopaPrice() error {
	address, n := c.negotiation()
	var price uint64
	var nonce [32]byte
	c.arguments.read(&price)
	c.arguments.read(&nonce)

	wrong := c.checkEscrow(address, n)
	payees := c.payees(n, &wrong)
	side, isParty := n.SideOf(c.signer())
	turn := n.zopaTurn()
	if err := first(
		wrong.worst(),
		refuse(price == 0 || price > n.Escrow, InvalidParams),
		refuse(n.Status != Proposed || n.ZopaPhase != ZopaBothCommitted, InvalidState),
		c.inTime(n),
		refuse(turn == Buyer && !between(c.world.Now, n.Deadline, uint64(n.Window), day), ResponseWindowExpired),
		refuse(!isParty, Unauthorized),
		refuse(side != turn, NotYourTurn),
		refuse(Commitment(address, c.signer(), price, nonce) != n.Commitments[side], ZopaCommitmentMismatch),
	); err != nil {
		return err
	}

	n.Prices[side] = price
	hasZone := n.Prices[Buyer] >= n.Prices[Seller]
	if side == Buyer || hasZone {
		// A reveal that ends the negotiation begins no turn.
		if err := c.startTurn(n); err != nil {
			return err
		}
	}
	if side == Buyer {
		c.logRevealed(address, n, price, 0)
		c.store(address, n)
		c.happened("reveal of the buyer")
		return nil
	}
	n.ZopaPhase = ZopaRevealed
	if hasZone {
		c.foundZone(address, n)
		return nil
	}
	if err := c.needed("escrow_vault", "buyer_token_account", "seller_token_account", "token_mint", "token_program"); err != nil {
		return err
	}
	c.logRevealed(address, n, price, 0)
	c.happened("no zone")
	c.end(address, n, Rejected, address, Seller, payees)
	return nil
}

func (c *call) logRevealed(address Address, n *Negotiation, price, midpoint uint64) {
	c.log("ZopaRevealed", "negotiation_id", address, "agent", c.signer(), "price", price, "phase", n.ZopaPhase,
		"midpoint", midpoint, "timestamp", c.world.Now)
}

// foundZone makes the midpoint a standing offer that either side may accept.
func (c *call) foundZone(address Address, n *Negotiation) {
	n.Offer = midpoint(n.Prices[Buyer], n.Prices[Seller])
	n.OfferBy = address
	c.logRevealed(address, n, n.Prices[Seller], n.Offer)
	c.store(address, n)
	c.happened("zone")
	if n.Prices[Buyer] == n.Prices[Seller] {
		c.happened("zone of a single price")
	}
}
