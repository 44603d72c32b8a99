package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// Holding is a balance: base units of the mint, and lamports.
type Holding struct {
	Tokens   uint64 `json:"tokens,string"`
	Lamports uint64 `json:"lamports,string"`
}

// The parties whose holdings are compared.
const (
	buyer    = "buyer"
	seller   = "seller"
	treasury = "treasury"
)

// Account describes a closed negotiation's result, read from the chain.
type Account struct {
	Negotiation solana.PublicKey   `json:"negotiation"`
	Before      map[string]Holding `json:"before"`
	After       map[string]Holding `json:"after"`
	// Paid and Refund are calculated from the balances; the remaining amounts come from events.
	Escrow amount.Tokens `json:"escrow"`
	Paid   amount.Tokens `json:"paid"`
	Fee    amount.Tokens `json:"fee"`
	Decay  amount.Tokens `json:"decay"`
	Refund amount.Tokens `json:"refund"`
	// Fees holds each party's transaction fees, in lamports.
	Fees         map[string]uint64 `json:"transaction_fees"`
	Transactions int               `json:"transactions"`
	// Rent is the rent for the two accounts, in lamports.
	Rent uint64 `json:"rent_lamports"`
	// Gone reports whether the negotiation account and the vault are closed.
	Gone bool `json:"accounts_gone"`

	// Created, Offers and Settled hold the events; Settled is nil if not settled.
	Created protocol.NegotiationCreated  `json:"-"`
	Offers  []protocol.OfferSubmitted    `json:"-"`
	Settled *protocol.NegotiationSettled `json:"-"`
}

func (s *demonstration) holdings(ctx context.Context) (map[string]Holding, error) {
	owners := map[string]solana.PublicKey{buyer: s.net.Buyer.PublicKey(), seller: s.net.Seller.PublicKey(), treasury: s.net.Treasury}
	found := map[string]Holding{}
	for name, owner := range owners {
		address, err := token.AssociatedAddress(owner, s.net.Mint, solana.TokenProgramID)
		if err != nil {
			return nil, err
		}
		tokens, err := s.net.Chain.Tokens(ctx, address)
		if err != nil {
			return nil, err
		}
		lamports, err := s.net.Chain.Balance(ctx, owner)
		if err != nil {
			return nil, err
		}
		found[name] = Holding{tokens, lamports}
	}
	return found, nil
}

// account reads all values on chain. Only the address comes from the agents.
func (s *demonstration) account(ctx context.Context, negotiation solana.PublicKey, before map[string]Holding) (*Account, error) {
	a := &Account{Negotiation: negotiation, Before: before, Fees: map[string]uint64{}}
	var err error
	if a.After, err = s.holdings(ctx); err != nil {
		return nil, err
	}
	vault, _, err := protocol.FindVaultAddress(negotiation)
	if err != nil {
		return nil, err
	}
	if a.Gone, err = s.gone(ctx, negotiation, vault); err != nil {
		return nil, err
	}
	if err := s.readHistory(ctx, a, vault); err != nil {
		return nil, err
	}
	a.Escrow = s.tokens(a.Created.EscrowAmount)
	if a.Settled != nil {
		a.Fee, a.Decay = s.tokens(a.Settled.ProtocolFee), s.tokens(a.Settled.EscrowDecayTotal)
	}
	a.Paid = s.tokens(a.After[seller].Tokens - a.Before[seller].Tokens)
	a.Refund = s.tokens(a.After[buyer].Tokens + a.Created.EscrowAmount - a.Before[buyer].Tokens)
	return a, nil
}

func (s *demonstration) gone(ctx context.Context, addresses ...solana.PublicKey) (bool, error) {
	found, err := s.net.Chain.Client().GetMultipleAccountsWithOpts(ctx, addresses, &rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(found.Value, func(account *rpc.Account) bool { return account != nil && account.Lamports > 0 }), nil
}

// readHistory reads the negotiation's transactions, from the oldest to the newest.
func (s *demonstration) readHistory(ctx context.Context, a *Account, vault solana.PublicKey) error {
	signatures, err := s.net.Chain.Client().GetSignaturesForAddressWithOpts(ctx, a.Negotiation, &rpc.GetSignaturesForAddressOpts{Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return err
	}
	slices.Reverse(signatures)
	for _, listed := range signatures {
		newest := uint64(0)
		transaction, err := s.net.Chain.Client().GetTransaction(ctx, listed.Signature, &rpc.GetTransactionOpts{
			Encoding: solana.EncodingBase64, Commitment: rpc.CommitmentConfirmed, MaxSupportedTransactionVersion: &newest,
		})
		if err != nil {
			return fmt.Errorf("transaction %s: %w", listed.Signature, err)
		}
		if err := s.readTransaction(a, vault, transaction); err != nil {
			return fmt.Errorf("transaction %s: %w", listed.Signature, err)
		}
	}
	return nil
}

func (s *demonstration) readTransaction(a *Account, vault solana.PublicKey, found *rpc.GetTransactionResult) error {
	transaction, err := found.Transaction.GetTransaction()
	if err != nil {
		return err
	}
	a.Transactions++
	switch transaction.Message.AccountKeys[0] {
	case s.net.Buyer.PublicKey():
		a.Fees[buyer] += found.Meta.Fee
	case s.net.Seller.PublicKey():
		a.Fees[seller] += found.Meta.Fee
	}
	events, err := protocol.ParseLogs(found.Meta.LogMessages)
	if err != nil {
		return err
	}
	for _, event := range events {
		switch e := event.(type) {
		case *protocol.NegotiationCreated:
			a.Created = *e
			for i, key := range transaction.Message.AccountKeys {
				if key == a.Negotiation || key == vault {
					a.Rent += found.Meta.PostBalances[i]
				}
			}
		case *protocol.OfferSubmitted:
			a.Offers = append(a.Offers, *e)
		case *protocol.NegotiationSettled:
			a.Settled = e
		}
	}
	return nil
}

// check returns an error for each expectation that the account violates.
func (a *Account) check() error {
	var wrong []error
	claim := func(holds bool, format string, arguments ...any) {
		if !holds {
			wrong = append(wrong, fmt.Errorf(format, arguments...))
		}
	}
	claim(a.Settled != nil, "negotiation: not settled")
	claim(a.Gone, "negotiation: it or its vault is not closed")
	claim(a.Escrow.Units == a.Paid.Units+a.Fee.Units+a.Decay.Units+a.Refund.Units, "escrow: not conserved")
	claim(a.After[treasury].Tokens-a.Before[treasury].Tokens == a.Fee.Units+a.Decay.Units, "treasury: fee and decay not received")
	claim(a.Settled == nil || a.Settled.SettledAmount == a.Paid.Units+a.Fee.Units, "price: differs from payment and fee")
	for _, party := range []string{buyer, seller} {
		claim(a.Before[party].Lamports-a.After[party].Lamports == a.Fees[party], "%s: paid other lamports than the transaction fees", party)
	}
	return errors.Join(wrong...)
}
