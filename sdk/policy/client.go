package policy

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"
	addresslookuptable "github.com/gagliardetto/solana-go/programs/address-lookup-table"
	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Reader returns a Negotiations for Config.Negotiations that reads from a client's nodes.
//
// The policy checks what a node returns: an invitation's terms must have the hash that the transaction
// accepts, and buyer, seller and session must derive the negotiation's address. The mint of a negotiation
// that the wallet did not create or join through the policy is not checked.
func Reader(client *haggle.Client) Negotiations { return reader{client} }

type reader struct{ client *haggle.Client }

func (r reader) NegotiationData(ctx context.Context, address solana.PublicKey) ([]byte, error) {
	account, err := r.client.Negotiation(address).Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return account.Data, nil
}

// TablesOf returns a Tables for Config.Tables that reads from a client's nodes.
func TablesOf(client *haggle.Client) Tables { return tables{client} }

type tables struct{ client *haggle.Client }

func (t tables) Table(ctx context.Context, table solana.PublicKey) ([]solana.PublicKey, error) {
	state, err := addresslookuptable.GetAddressLookupTable(ctx, t.client.RPC(), table)
	if err != nil {
		return nil, err
	}
	if !state.IsActive() {
		return nil, errors.New("table is deactivated")
	}
	return state.Addresses, nil
}

// EvidenceOf returns an Evidence for Config.Evidence that queries a client's nodes.
func EvidenceOf(client *haggle.Client) Evidence { return evidence{client} }

type evidence struct{ client *haggle.Client }

func (e evidence) Outcome(ctx context.Context, tx SignedTransaction) transaction.Outcome {
	_, err := e.client.Outcome(ctx, &transaction.UnknownOutcomeError{
		Signature: tx.Signature, Blockhash: tx.Blockhash, Nonce: tx.Nonce,
		LastValidBlockHeight: tx.LastValidBlockHeight, Slot: tx.Slot, SentAt: tx.SignedAt,
	})
	return transaction.OutcomeOf(err)
}

func (e evidence) Slot(ctx context.Context) (uint64, error) {
	return e.client.RPC().GetSlot(ctx, rpc.CommitmentConfirmed)
}
