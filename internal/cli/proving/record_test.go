package proving

import (
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/indexer"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestPublicationOfAnIndexedNegotiation(t *testing.T) {
	commitment := sha256.Sum256([]byte("strategy"))
	with := func(m onchain.Metadata) *[64]byte { return (*[64]byte)(&m) }
	created := indexer.EventWithMetadata{Event: creation()}
	opening := indexer.EventWithMetadata{Event: offered(buyer, 0, 5), Metadata: new([64]byte)}
	answer := func(metadata *[64]byte) indexer.EventWithMetadata {
		return indexer.EventWithMetadata{Event: offered(seller, 1, 6), Metadata: metadata}
	}
	for name, c := range map[string]struct {
		n         indexer.AgentNegotiation
		published Publication
		hash      proof.Hash
	}{
		"commitment": {indexer.AgentNegotiation{Complete: true, Events: []indexer.EventWithMetadata{
			created, opening, answer(with(onchain.CommitmentMetadata(commitment)))}}, Commitment, commitment},
		"document": {indexer.AgentNegotiation{Complete: true, Events: []indexer.EventWithMetadata{
			created, opening, answer(with(onchain.DocumentMetadata(commitment)))}}, Document, proof.Hash{}},
		"price alone": {indexer.AgentNegotiation{Complete: true, Events: []indexer.EventWithMetadata{
			created, opening, answer(new([64]byte))}}, NoCommitment, proof.Hash{}},
		"no offer": {indexer.AgentNegotiation{Complete: true, Events: []indexer.EventWithMetadata{
			created, opening}}, NoOffer, proof.Hash{}},
		"no offer of an incomplete negotiation": {indexer.AgentNegotiation{Events: []indexer.EventWithMetadata{
			created, opening}}, Unknown, proof.Hash{}},
		"unknown metadata": {indexer.AgentNegotiation{Complete: true, Events: []indexer.EventWithMetadata{
			created, opening, answer(nil)}}, Unknown, proof.Hash{}},
		"commitment in an incomplete negotiation": {indexer.AgentNegotiation{Events: []indexer.EventWithMetadata{
			answer(with(onchain.CommitmentMetadata(commitment)))}}, Commitment, commitment},
	} {
		t.Run(name, func(t *testing.T) {
			record := NewRecord(&c.n)
			require.Equal(t, proof.Seller, record.Side)
			require.Equal(t, c.published, record.Published)
			require.Equal(t, c.hash, record.Hash)
		})
	}
}

func TestCompareWithAnIndexedNegotiation(t *testing.T) {
	metadata := [64]byte{5}
	n := indexer.AgentNegotiation{IsBuyer: true, Complete: true, Events: []indexer.EventWithMetadata{
		{Event: creation()}, {Event: offered(buyer, 0, 5), Metadata: &metadata},
		{Event: &protocol.NegotiationRejected{NegotiationID: negotiation, RejectedBy: seller}},
	}}
	record := NewRecord(&n)
	p := &proof.Proof{
		Terms: record.course.terms, Side: proof.Buyer, Offers: []proof.Offer{{Amount: 5, Metadata: metadata}},
		Last: &proof.Last{By: proof.Seller, Move: "reject"},
	}
	require.NoError(t, record.Compare(p))
	for text, change := range map[string]func(*proof.Proof){
		"offer 1: 6 base units in the file, 5 base units on chain": func(p *proof.Proof) { p.Offers[0].Amount = 6 },
		"metadata of offer 1: 06 in the file, 05 on chain":         func(p *proof.Proof) { p.Offers[0].Metadata[0] = 6 },
		"end: expired in the file, rejected by the":                func(p *proof.Proof) { p.Last = &proof.Last{Move: "expire"} },
		"escrow: 1 base unit in the file":                          func(p *proof.Proof) { p.Terms.Escrow = 1 },
	} {
		changed := *p
		changed.Offers = []proof.Offer{p.Offers[0]}
		change(&changed)
		err := record.Compare(&changed)
		require.ErrorIs(t, err, ErrChain)
		require.ErrorContains(t, err, text)
	}
	for text, change := range map[string]func(*indexer.AgentNegotiation){
		"events are missing":                 func(n *indexer.AgentNegotiation) { n.Complete = false },
		"the metadata of offer 1 is missing": func(n *indexer.AgentNegotiation) { n.Events[1].Metadata = nil },
		"the creation is missing":            func(n *indexer.AgentNegotiation) { n.Events = n.Events[1:] },
		"an offer is missing": func(n *indexer.AgentNegotiation) {
			n.Events = []indexer.EventWithMetadata{n.Events[0], {Event: offered(buyer, 2, 5), Metadata: &metadata}}
		},
	} {
		incomplete := n
		incomplete.Events = append([]indexer.EventWithMetadata{}, n.Events...)
		change(&incomplete)
		err := NewRecord(&incomplete).Compare(p)
		require.ErrorIs(t, err, ErrNoRecord)
		require.ErrorContains(t, err, text)
	}
}
