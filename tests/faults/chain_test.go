package faults_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// landed is a transaction that the chain has executed.
type landed struct {
	signature solana.Signature
	slot      uint64
	failed    bool
	payer     solana.PublicKey
	// fee is in lamports.
	fee uint64
	// moves lists the program's instructions in script notation, and negotiations their negotiations.
	moves        []string
	negotiations []solana.PublicKey
	// moved holds each owner's gain or loss in the mint's base units.
	moved map[solana.PublicKey]int64
}

// ledger reads the chain over a clean connection.
type ledger struct {
	client *rpc.Client
	mint   solana.PublicKey
	// read caches transactions.
	read map[solana.Signature]*landed
}

// history returns all transactions for an address, oldest first.
func (l *ledger) history(ctx context.Context, address solana.PublicKey) ([]*landed, error) {
	var listed []*rpc.TransactionSignature
	page := 1000
	options := &rpc.GetSignaturesForAddressOpts{Limit: &page, Commitment: rpc.CommitmentConfirmed}
	for {
		some, err := l.client.GetSignaturesForAddressWithOpts(ctx, address, options)
		if err != nil {
			return nil, err
		}
		listed = append(listed, some...)
		if len(some) < page {
			break
		}
		options.Before = some[len(some)-1].Signature
	}
	slices.Reverse(listed)
	var all []*landed
	for _, item := range listed {
		one := l.read[item.Signature]
		if one == nil {
			var err error
			if one, err = l.transaction(ctx, item.Signature); err != nil {
				return nil, fmt.Errorf("transaction %s: %w", item.Signature, err)
			}
			l.read[item.Signature] = one
		}
		all = append(all, one)
	}
	return all, nil
}

func (l *ledger) transaction(ctx context.Context, signature solana.Signature) (*landed, error) {
	newest := uint64(0)
	details, err := l.client.GetTransaction(ctx, signature, &rpc.GetTransactionOpts{
		Encoding: solana.EncodingBase64, Commitment: rpc.CommitmentConfirmed, MaxSupportedTransactionVersion: &newest,
	})
	if err != nil {
		return nil, err
	}
	decoded, err := details.Transaction.GetTransaction()
	if err != nil {
		return nil, err
	}
	one := &landed{
		signature: signature, slot: details.Slot, failed: details.Meta.Err != nil, fee: details.Meta.Fee,
		payer: decoded.Message.AccountKeys[0], moved: make(map[solana.PublicKey]int64),
	}
	for i := range decoded.Message.Instructions {
		instruction, err := protocol.InstructionIn(&decoded.Message, &decoded.Message.Instructions[i])
		if err != nil {
			return nil, err
		}
		if instruction == nil {
			continue
		}
		one.moves = append(one.moves, moveOf(instruction))
		if negotiation, ok := negotiationOf(instruction); ok {
			one.negotiations = append(one.negotiations, negotiation)
		}
	}
	return one, one.add(details.Meta, l.mint)
}

// add adds a transaction's transfers of the mint.
func (l *landed) add(meta *rpc.TransactionMeta, mint solana.PublicKey) error {
	for sign, balances := range map[int64][]rpc.TokenBalance{-1: meta.PreTokenBalances, 1: meta.PostTokenBalances} {
		for _, balance := range balances {
			if balance.Mint != mint {
				continue
			}
			var amount int64
			if _, err := fmt.Sscan(balance.UiTokenAmount.Amount, &amount); err != nil {
				return err
			}
			l.moved[*balance.Owner] += sign * amount
		}
	}
	return nil
}

func negotiationOf(instruction protocol.AnyInstruction) (solana.PublicKey, bool) {
	switch i := instruction.(type) {
	case *protocol.CreateNegotiation:
		return i.Negotiation, true
	case *protocol.AcceptInvitation:
		return i.Negotiation, true
	case *protocol.SubmitOffer:
		return i.Negotiation, true
	case *protocol.AcceptOffer:
		return i.Negotiation, true
	case *protocol.RejectNegotiation:
		return i.Negotiation, true
	case *protocol.ExpireNegotiation:
		return i.Negotiation, true
	case *protocol.CloseNegotiation:
		return i.Negotiation, true
	case *protocol.ClaimPayout:
		return i.Negotiation, true
	}
	return solana.PublicKey{}, false
}
