package proving

import (
	"reflect"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

var (
	buyer, seller = solana.PublicKey{1}, solana.PublicKey{2}
	negotiation   = solana.PublicKey{3}
)

// offerOf returns an offer instruction. The metadata begins with 5, then the round.
func offerOf(t *testing.T, offerer solana.PublicKey, round uint8, amount uint64) solana.Instruction {
	t.Helper()
	instruction, err := (&protocol.SubmitOffer{
		Offerer: offerer, Negotiation: negotiation, CreatedAt: 7, ExpectedRound: round, Amount: amount,
		Metadata: [64]byte{5, round},
	}).Instruction()
	require.NoError(t, err)
	return instruction
}

func TestMetadataOfAnyOffer(t *testing.T) {
	offer := offerOf(t, seller, 1, 6)
	for name, execute := range map[string]func(*scriptedNode) *scriptedTransaction{
		"an instruction of the transaction": func(n *scriptedNode) *scriptedTransaction {
			return n.execute(offer, false)
		},
		"an account of a lookup table": func(n *scriptedNode) *scriptedTransaction {
			table := map[solana.PublicKey]solana.PublicKeySlice{{9}: {negotiation}}
			return n.add(offer, table, false)
		},
		"sent by another program": func(n *scriptedNode) *scriptedTransaction {
			return n.sentBy(solana.PublicKey{8}, offer)
		},
	} {
		t.Run(name, func(t *testing.T) {
			node := &scriptedNode{t: t}
			client := node.client()
			executed := execute(node)
			metadata, err := metadataOf(t.Context(), client, executed.signature, negotiation, 1)
			require.NoError(t, err)
			require.Equal(t, proof.Metadata{5, 1}, metadata)
			_, err = metadataOf(t.Context(), client, executed.signature, negotiation, 2)
			require.ErrorIs(t, err, ErrNoHistory)
		})
	}
}

// creation is the event of the creation of the negotiation.
func creation() *protocol.NegotiationCreated {
	return &protocol.NegotiationCreated{NegotiationID: negotiation, Buyer: buyer, Seller: seller,
		EscrowAmount: 100_000, MaxRounds: 6, MinOfferBps: 1_000, Timestamp: 7}
}

// offered is an offer event; rounds start at 0.
func offered(offerer solana.PublicKey, round uint8, amount uint64) *protocol.OfferSubmitted {
	return &protocol.OfferSubmitted{
		NegotiationID: negotiation, Offerer: offerer, Amount: amount, Round: round + 1,
	}
}

// instructionOf returns an instruction with a single account in place of all accounts not set.
func instructionOf(t *testing.T, of protocol.AnyInstruction) solana.Instruction {
	t.Helper()
	for _, field := range reflect.ValueOf(of).Elem().Fields() {
		if field.Type() == reflect.TypeFor[solana.PublicKey]() && field.IsZero() {
			field.Set(reflect.ValueOf(solana.PublicKey{40}))
		}
	}
	instruction, err := of.Instruction()
	require.NoError(t, err)
	return instruction
}

func create(t *testing.T) solana.Instruction {
	t.Helper()
	return instructionOf(t, &protocol.CreateNegotiation{Buyer: buyer, Seller: seller, Negotiation: negotiation})
}

func TestMovesThatTheLogsLack(t *testing.T) {
	accept := func() solana.Instruction {
		return instructionOf(t, &protocol.AcceptOffer{
			Acceptor: buyer, Negotiation: negotiation, CreatedAt: 7, ExpectedRound: 2, ExpectedAmount: 6,
		})
	}
	reject := instructionOf(t, &protocol.RejectNegotiation{
		Rejector: seller, Negotiation: negotiation, CreatedAt: 7, ExpectedRound: 2,
	})
	expire := instructionOf(t, &protocol.ExpireNegotiation{Negotiation: negotiation})
	for name, c := range map[string]struct {
		end  solana.Instruction
		last *proof.Last
	}{
		"accept": {accept(), &proof.Last{By: proof.Buyer, Move: "accept"}},
		"reject": {reject, &proof.Last{By: proof.Seller, Move: "reject"}},
		"expire": {expire, &proof.Last{Move: "expire"}},
	} {
		t.Run(name, func(t *testing.T) {
			node := &scriptedNode{t: t}
			client := node.client()
			// Anyone can mention the account, also before the creation.
			unrelated := instructionOf(t, &protocol.ExpireNegotiation{Negotiation: solana.PublicKey{8}})
			node.execute(unrelated, true)
			node.execute(create(t), true, creation())
			node.execute(offerOf(t, buyer, 0, 5), true, offered(buyer, 0, 5))
			node.execute(offerOf(t, seller, 1, 6), true)
			node.execute(c.end, true)
			node.execute(unrelated, true)
			courses, err := read(t.Context(), client, negotiation)
			require.NoError(t, err)
			require.Len(t, courses, 1)
			require.Equal(t, []proof.Offer{{Amount: 5}, {Amount: 6}}, courses[0].offers)
			require.Equal(t, c.last, courses[0].last)
			require.NoError(t, courses[0].readMetadata(t.Context(), client))
			require.Equal(t, proof.Metadata{5, 1}, courses[0].offers[1].Metadata)
		})
	}
}

func TestMovesThatCannotBeKnown(t *testing.T) {
	for name, execute := range map[string]func(node *scriptedNode){
		"creation": func(node *scriptedNode) { node.execute(create(t), true) },
		"earlier negotiation": func(node *scriptedNode) {
			node.execute(offerOf(t, buyer, 0, 5), false, offered(buyer, 0, 5))
		},
		"offer before an offer": func(node *scriptedNode) {
			node.execute(create(t), false, creation())
			node.execute(offerOf(t, seller, 1, 6), false, offered(seller, 1, 6))
		},
		"offer before an offer that is not logged": func(node *scriptedNode) {
			node.execute(create(t), false, creation())
			node.execute(offerOf(t, seller, 1, 6), true)
		},
		"offer before the end": func(node *scriptedNode) {
			node.execute(create(t), false, creation())
			node.execute(instructionOf(t, &protocol.AcceptOffer{
				Acceptor: buyer, Negotiation: negotiation, CreatedAt: 7, ExpectedRound: 2,
			}), true)
		},
		"instructions that programs have sent": func(node *scriptedNode) {
			node.execute(create(t), false, creation())
			item := node.execute(offerOf(t, buyer, 0, 5), true)
			item.answer["meta"].(object)["innerInstructions"] = nil
		},
		"sealed prices": func(node *scriptedNode) {
			node.execute(create(t), false, creation())
			node.execute(instructionOf(t, &protocol.RevealZopaPrice{Agent: seller, Negotiation: negotiation}), true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			node := &scriptedNode{t: t}
			client := node.client()
			execute(node)
			_, err := read(t.Context(), client, negotiation)
			require.ErrorIs(t, err, ErrNoHistory)
			err = Compare(t.Context(), client, &proof.Proof{Terms: proof.Terms{
				Negotiation: proof.Address(negotiation), CreatedAt: 7}})
			require.ErrorIs(t, err, ErrNoHistory)
			require.NotErrorIs(t, err, ErrChain)
		})
	}
}

func TestCompareOfARunningNegotiation(t *testing.T) {
	node := &scriptedNode{t: t}
	client := node.client()
	node.execute(create(t), false, creation())
	p, path := committed(t, 7)
	made, err := readProof(path)
	require.NoError(t, err)
	require.NoError(t, Compare(t.Context(), client, made), "no offer")
	node.execute(offerOf(t, buyer, 0, 5), false, offered(buyer, 0, 5))
	require.NoError(t, Compare(t.Context(), client, made), "an offer of the other side")
	commitment, err := p.Commit(snapshot(7))
	require.NoError(t, err)
	for metadata, want := range map[onchain.Metadata]error{
		onchain.CommitmentMetadata(commitment):    nil,
		onchain.DocumentMetadata([32]byte{1}):     nil, // with the commitment in the document text
		onchain.CommitmentMetadata([32]byte{1}):   ErrChain,
		protocol.Terms{QualityTier: 1}.Metadata(): ErrChain,
	} {
		node.execute(instructionOf(t, &protocol.SubmitOffer{
			Offerer: seller, Negotiation: negotiation, CreatedAt: 7, ExpectedRound: 1, Amount: 6,
			Metadata: metadata,
		}), false, offered(seller, 1, 6))
		err := Compare(t.Context(), client, made)
		if want == nil {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, "offer 2 on chain does not carry the commitment")
		}
		node.removeLast()
	}
}
