package policy

import (
	"context"
	"errors"
	"time"

	"github.com/gagliardetto/solana-go"
	addresslookuptable "github.com/gagliardetto/solana-go/programs/address-lookup-table"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// Reader has a client read negotiations for Config.Negotiations.
//
// What the client's node answers is believed only as far as something holds it to: an invitation's terms have to have the hash that
// the transaction accepts, and buyer, seller and session have to lead to the negotiation's address. The mint of an offer in a
// negotiation that the wallet has not engaged in through the policy is what the node says it is.
func Reader(client *haggle.Client) Negotiations { return reader{client} }

type reader struct{ client *haggle.Client }

func (r reader) NegotiationData(ctx context.Context, address solana.PublicKey) ([]byte, error) {
	account, err := r.client.GetNegotiation(ctx, address)
	if err != nil {
		return nil, err
	}
	return account.Data, nil
}

// TablesOf has a client read address lookup tables for Config.Tables.
func TablesOf(client *haggle.Client) Tables { return tables{client} }

type tables struct{ client *haggle.Client }

func (t tables) Table(ctx context.Context, table solana.PublicKey) ([]solana.PublicKey, error) {
	state, err := addresslookuptable.GetAddressLookupTable(ctx, t.client.RPC(), table)
	if err != nil {
		return nil, err
	}
	if !state.IsActive() {
		return nil, errors.New("it has been deactivated")
	}
	return state.Addresses, nil
}

// EvidenceOf has a client look up what has become of transactions for Config.Evidence. It waits until that is certain, or for as
// long as haggle.Client.Outcome does.
func EvidenceOf(client *haggle.Client) Evidence { return evidence{client} }

type evidence struct{ client *haggle.Client }

func (e evidence) Fate(ctx context.Context, transaction solana.Signature, blockhash solana.Hash, lastValidBlockHeight uint64) (Fate, error) {
	_, err := e.client.Outcome(ctx, &haggle.UnknownOutcome{
		Signature: transaction, Blockhash: blockhash, LastValidBlockHeight: lastValidBlockHeight, SentAt: time.Now(),
	})
	switch haggle.OutcomeOf(err) {
	case haggle.OutcomeConfirmed:
		return FateConfirmed, nil
	case haggle.OutcomeFailed:
		return FateFailed, nil
	case haggle.OutcomeExpired:
		return FateExpired, nil
	}
	return "", err
}
