package escrow

import (
	"fmt"
	"strconv"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Settlement returns where the terms are settled: at [Terms.Address] on the cluster with this genesis hash.
// Receivers compare it with the contract's settlement.
func (t Terms) Settlement(genesis solana.Hash) (hire.Settlement, error) {
	address, err := t.Address()
	if err != nil {
		return hire.Settlement{}, err
	}
	return hire.Settlement{
		Cluster:     hire.Base58(genesis.String()),
		Program:     hire.Base58(protocol.ProgramAddress),
		Negotiation: hire.Base58(address.String()),
		Mint:        hire.Base58(t.Mint.String()),
		Units:       hire.Units(strconv.FormatUint(t.Price, 10)),
	}, nil
}

// Contract returns an agreement's contract. The settlement key signs it once the negotiation passes
// [Terms.Check]. It returns [ErrNotAgreed] unless both sides have accepted, and an error for a different
// agreement's terms.
func Contract(state hire.State, terms Terms, genesis solana.Hash) (*hire.Contract, error) {
	if state.SeekerAccept == "" || state.WorkerAccept == "" {
		return nil, ErrNotAgreed
	}
	session, err := Session(state.SeekerAccept, state.WorkerAccept)
	if err != nil {
		return nil, err
	}
	if terms.Session != session || terms.Service != state.Terms.Hash() {
		return nil, fmt.Errorf("escrow: session %d is of another agreement than %d", terms.Session, session)
	}
	settlement, err := terms.Settlement(genesis)
	if err != nil {
		return nil, err
	}
	return &hire.Contract{
		Reply: hire.Reply{InReplyTo: state.Last}, Terms: state.Terms,
		SeekerAccept: state.SeekerAccept, WorkerAccept: state.WorkerAccept, Settlement: settlement,
	}, nil
}
