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
// The policy checks what a node returns: an invitation's terms must match the terms hash in the transaction,
// and buyer, seller and session must derive the negotiation address. If the wallet did not create or join a
// negotiation through the policy, the mint is not checked.
func Reader(client *haggle.Client) Negotiations { return chain{client} }

// chain reads from a client's nodes.
type chain struct{ client *haggle.Client }

func (c chain) NegotiationData(ctx context.Context, address solana.PublicKey) ([]byte, error) {
	account, err := c.client.Negotiation(address).Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return account.Data, nil
}

// TablesOf returns a Tables for Config.Tables that reads from a client's nodes.
func TablesOf(client *haggle.Client) Tables { return chain{client} }

func (c chain) Table(ctx context.Context, table solana.PublicKey) ([]solana.PublicKey, error) {
	state, err := addresslookuptable.GetAddressLookupTable(ctx, c.client.RPC(), table)
	if err != nil {
		return nil, err
	}
	if !state.IsActive() {
		return nil, errors.New("table is deactivated")
	}
	return state.Addresses, nil
}

// EvidenceOf returns an Evidence for Config.Evidence that queries a client's nodes. Outcomes of transactions
// sent by this client need no request.
func EvidenceOf(client *haggle.Client) Evidence { return chain{client} }

func (c chain) Outcome(ctx context.Context, tx SignedTransaction) transaction.Outcome {
	if tx.Signature.IsZero() {
		outcome, err := c.outcomeOfMessage(ctx, tx)
		if err != nil {
			return transaction.Unknown
		}
		return outcome
	}
	_, err := c.client.Outcome(ctx, &transaction.UnknownOutcomeError{
		Signature: tx.Signature, Blockhash: tx.Blockhash, Nonce: tx.Nonce,
		LastValidBlockHeight: tx.LastValidBlockHeight, Slot: tx.Slot, SentAt: tx.SignedAt,
	})
	return transaction.OutcomeOf(err)
}

func (c chain) Slot(ctx context.Context) (uint64, error) {
	return c.client.RPC().GetSlot(ctx, rpc.CommitmentConfirmed)
}
