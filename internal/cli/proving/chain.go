package proving

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/internal/indexer/instructions"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Errors returned when comparing with the chain.
var (
	// ErrChain: terms, offers or last move on chain are others than in the proof.
	ErrChain = errors.New("the proof differs from the chain")
	// ErrUnpublished: the agent has made no offer that could carry the commitment.
	ErrUnpublished = errors.New("the commitment is not on chain")
	// ErrNoRecord: the index does not have all moves of the negotiation.
	ErrNoRecord = errors.New("the index does not have all moves of the negotiation")
	// ErrNoHistory: the node does not have the events of the negotiation.
	ErrNoHistory = errors.New("the node does not have the events of the negotiation")
)

// course is a negotiation reconstructed from events.
type course struct {
	terms  proof.Terms
	offers []proof.Offer
	// signatures holds the transactions that made the offers.
	signatures []solana.Signature
	last       *proof.Last
	// created is the transaction of the creation.
	created solana.Signature
}

func termsOf(n *haggle.Snapshot) proof.Terms {
	return proof.Terms{
		Negotiation: proof.Address(n.Address), CreatedAt: n.CreatedAt, Buyer: proof.Address(n.Buyer),
		Seller: proof.Address(n.Seller), Escrow: n.EscrowAmount, MaxRounds: n.MaxRounds,
		DecayRateBps: n.DecayRateBps, MinOfferBps: n.MinOfferBps, FeeBps: n.ProtocolFeeBps, Bond: n.BondRequired,
	}
}

// newCourse returns a negotiation created by the given transaction.
func newCourse(created *protocol.NegotiationCreated, signature solana.Signature) *course {
	return &course{created: signature, offers: []proof.Offer{}, terms: proof.Terms{
		Negotiation: proof.Address(created.NegotiationID), CreatedAt: created.Timestamp,
		Buyer: proof.Address(created.Buyer), Seller: proof.Address(created.Seller),
		Escrow: created.EscrowAmount, MaxRounds: created.MaxRounds, DecayRateBps: created.DecayRateBps,
		MinOfferBps: created.MinOfferBps, FeeBps: created.ProtocolFeeBps, Bond: created.BondRequired,
	}}
}

// read returns the negotiations at the given address, oldest first: a closed negotiation can be followed by
// another.
func read(
	ctx context.Context, client *haggle.Client, negotiation solana.PublicKey,
) (courses []*course, err error) {
	for envelope, err := range client.History(ctx, negotiation) {
		if err != nil {
			return nil, err
		}
		if envelope.Truncated {
			if err := addUnlogged(ctx, client, courses, negotiation, envelope.Signature); err != nil {
				return nil, err
			}
			continue
		}
		if created, is := envelope.Event.(*protocol.NegotiationCreated); is {
			courses = append(courses, newCourse(created, envelope.Signature))
			continue
		}
		if len(courses) == 0 {
			return nil, fmt.Errorf("%w %s from its beginning", ErrNoHistory, negotiation)
		}
		if !courses[len(courses)-1].add(envelope.Event, envelope.Signature) {
			return nil, fmt.Errorf("%w %s: an offer before transaction %s is missing", ErrNoHistory, negotiation,
				envelope.Signature)
		}
	}
	return courses, nil
}

// add adds an event's move. For an offer, add returns false if the preceding offer is missing.
func (c *course) add(event protocol.Event, signature solana.Signature) bool {
	switch event := event.(type) {
	case *protocol.OfferSubmitted:
		return c.offer(int(event.Round)-1, event.Amount, signature)
	case *protocol.NegotiationSettled:
		c.accepted()
	case *protocol.NegotiationRejected:
		c.rejected(event.RejectedBy)
	case *protocol.NegotiationExpired:
		c.last = &proof.Last{Move: "expire"}
	}
	return true
}

// offer adds an offer, unless it is known. It returns false if the preceding offer is missing. Rounds start
// at 0.
func (c *course) offer(round int, amount uint64, signature solana.Signature) bool {
	if round == len(c.offers) {
		c.offers = append(c.offers, proof.Offer{Amount: amount})
		c.signatures = append(c.signatures, signature)
	}
	return round < len(c.offers)
}

func (c *course) accepted() {
	// The buyer opens and turns alternate, so the last offer's maker follows from the number of offers.
	c.last = &proof.Last{By: proof.Buyer, Move: "accept"}
	if len(c.offers)%2 == 1 {
		c.last.By = proof.Seller
	}
}

func (c *course) rejected(by solana.PublicKey) {
	c.last = &proof.Last{By: proof.Buyer, Move: "reject"}
	if proof.Address(by) == c.terms.Seller {
		c.last.By = proof.Seller
	}
}

// Compare compares a valid proof with the chain, metadata included. It returns ErrChain, or ErrUnpublished
// for a side that made no offer: in this case the chain cannot show that the commitment is older than the
// side's move. It compares an unfinished proof as far as possible, and does not return ErrUnpublished for it.
func Compare(ctx context.Context, client *haggle.Client, p *proof.Proof) error {
	negotiation := solana.PublicKey(p.Terms.Negotiation)
	courses, err := read(ctx, client, negotiation)
	if err != nil {
		return err
	}
	if len(courses) == 0 {
		return fmt.Errorf("%w %s", ErrNoHistory, negotiation)
	}
	at := slices.IndexFunc(courses, func(c *course) bool { return c.terms.CreatedAt == p.Terms.CreatedAt })
	if at < 0 {
		return fmt.Errorf("%w: %s was created at %s in the file, and at %s on chain", ErrChain, negotiation,
			utc(p.Terms.CreatedAt), utc(courses[len(courses)-1].terms.CreatedAt))
	}
	c := courses[at]
	if err := c.readMetadata(ctx, client); err != nil {
		return err
	}
	return c.compare(p)
}

// firstOf returns the index at which a side's offers start: the buyer opens.
func firstOf(side proof.Side) int {
	if side == proof.Seller {
		return 1
	}
	return 0
}

// compare compares a valid proof with course and metadata. It fails as [Compare] does.
func (c *course) compare(p *proof.Proof) error {
	if difference := c.difference(p); difference != "" {
		return fmt.Errorf("%w: %s", ErrChain, difference)
	}
	first := firstOf(p.Side)
	switch {
	case first < len(p.Offers):
		return nil
	case p.Last != nil:
		return fmt.Errorf("%w: the %s made no offer", ErrUnpublished, p.Side)
	case first < len(c.offers):
		metadata := onchain.Metadata(c.offers[first].Metadata)
		published, _ := metadata.Commitment()
		// A document contains the commitment only in the document text.
		if _, inDocument := metadata.Document(); !inDocument && p.Commitment != published {
			return fmt.Errorf("%w: offer %d on chain does not carry the commitment", ErrChain, first+1)
		}
	}
	return nil
}

// readMetadata adds the offers' metadata, which only their transactions have.
func (c *course) readMetadata(ctx context.Context, client *haggle.Client) error {
	for round := range c.offers {
		metadata, err := metadataOf(ctx, client, c.signatures[round], solana.PublicKey(c.terms.Negotiation),
			uint8(round))
		if err != nil {
			return err
		}
		c.offers[round].Metadata = metadata
	}
	return nil
}

// metadataOf returns an offer's metadata, read from the transaction.
func metadataOf(
	ctx context.Context, client *haggle.Client, signature solana.Signature, negotiation solana.PublicKey,
	round uint8,
) (metadata proof.Metadata, err error) {
	called, _, err := calls(ctx, client, signature)
	if err != nil {
		return metadata, err
	}
	for _, item := range called {
		offer, is := item.(*protocol.SubmitOffer)
		if is && offer.Negotiation == negotiation && offer.ExpectedRound == round {
			return offer.Metadata, nil
		}
	}
	return metadata, fmt.Errorf("%w: transaction %s has no offer on %s", ErrNoHistory, signature, negotiation)
}

// calls returns the program's instructions in a transaction in order, including those sent by other programs.
// The result is false if there may be further instructions, unknown to this version or missing at the node.
func calls(
	ctx context.Context, client *haggle.Client, signature solana.Signature,
) (called []protocol.AnyInstruction, complete bool, err error) {
	newest := uint64(0)
	found, err := client.RPC().GetTransaction(ctx, signature, &rpc.GetTransactionOpts{
		Encoding: solana.EncodingBase64, Commitment: rpc.CommitmentConfirmed,
		MaxSupportedTransactionVersion: &newest,
	})
	if err != nil {
		return nil, false, err
	}
	if found.Meta == nil || found.Transaction == nil {
		return nil, false, fmt.Errorf("%w: transaction %s has no details", ErrNoHistory, signature)
	}
	transaction, err := found.Transaction.GetTransaction()
	if err != nil {
		return nil, false, err
	}
	executed, complete := instructions.Executed(transaction, found.Meta)
	complete = complete && found.Meta.InnerInstructions != nil
	for _, item := range executed {
		if item.Program != protocol.ProgramID {
			continue
		}
		decoded, err := protocol.DecodeInstruction(item.Accounts, item.Data)
		if err != nil {
			complete = false
			continue
		}
		called = append(called, decoded)
	}
	return called, complete, nil
}
