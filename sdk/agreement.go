package haggle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ErrAgreement: a transaction is not an agreement that the second signer can complete: see
// [Client.ReviewAgreement].
var ErrAgreement = errors.New("haggle: not an agreement to complete")

// ReviewAgreement decodes a transaction prepared by the counterparty with [Negotiation.SettleByAgreement],
// for the party that must complete it with [SignTransaction] and [Client.Submit]. Signing it agrees to the
// terms and to nothing else: the transaction takes nothing from the signer's wallet, and the program pays the
// signer at no account with a delegate or close authority, whichever account the counterparty chose.
//
// It fails with [ErrAgreement] for any other transaction, with [protocol.ErrStaleState] if the negotiation
// changed since, or with [protocol.ErrExpired] if the agreement is void.
func (c *Client) ReviewAgreement(
	ctx context.Context, tx *solana.Transaction, signer solana.PublicKey,
) (*protocol.Agreement, error) {
	terms, err := parseAgreement(tx, signer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAgreement, err)
	}
	n, err := c.snapshot(ctx, terms.Negotiation)
	if err != nil {
		return nil, err
	}
	const name = "settle_by_agreement"
	switch {
	case terms.Buyer != n.Buyer || terms.Seller != n.Seller:
		return nil, fmt.Errorf("%w: buyer and seller are not those of negotiation %s", ErrAgreement,
			n.Address)
	case n.BondState != protocol.BondStateHeld && terms.BondToBuyerBps > 0:
		return nil, protocol.Refuse(name, protocol.ErrInvalidState, "no bond is held")
	case !n.IsAgreed():
		return nil, protocol.Refuse(name, protocol.ErrInvalidState, "status %s", n.Status)
	case terms.CreatedAt != n.CreatedAt:
		return nil, protocol.Refuse(name, protocol.ErrStaleState,
			"the deal was created at %d, and the agreement names %d", n.CreatedAt, terms.CreatedAt)
	case terms.ExpectedDecided != n.MilestonesDecided:
		return nil, protocol.Refuse(name, protocol.ErrStaleState, "milestones have been decided since")
	}
	now, err := c.Now(ctx)
	if err != nil {
		return nil, err
	}
	if now >= terms.ValidUntil {
		return nil, protocol.Refuse(name, protocol.ErrExpired, "the agreement was valid until %d",
			terms.ValidUntil)
	}
	return &protocol.Agreement{Terms: *terms, Negotiation: &n.Negotiation,
		Amounts: n.AgreementAmounts(terms.SellerBps, terms.BondToBuyerBps)}, nil
}

// parseAgreement decodes a transaction that consists of a settle_by_agreement instruction and instructions
// that cost the second signer nothing.
func parseAgreement(
	tx *solana.Transaction, signer solana.PublicKey,
) (*protocol.SettleByAgreement, error) {
	message := &tx.Message
	if message.IsVersioned() {
		return nil, errors.New("not a legacy transaction")
	}
	if len(message.AccountKeys) == 0 || message.AccountKeys[0] == signer {
		return nil, errors.New("the fee payer is not the other party")
	}
	var found *protocol.SettleByAgreement
	for i := range message.Instructions {
		compiled := &message.Instructions[i]
		program, err := message.Program(compiled.ProgramIDIndex)
		if err != nil {
			return nil, fmt.Errorf("instruction %d: %w", i, err)
		}
		accounts := make([]*solana.AccountMeta, len(compiled.Accounts))
		for at, index := range compiled.Accounts {
			if int(index) >= len(message.AccountKeys) {
				return nil, fmt.Errorf("instruction %d: account %d does not exist", i, index)
			}
			accounts[at] = solana.Meta(message.AccountKeys[index])
		}
		if program == protocol.ProgramID {
			terms := new(protocol.SettleByAgreement)
			if err := terms.Decode(accounts, compiled.Data); err != nil {
				return nil, fmt.Errorf("instruction %d: %w", i, err)
			}
			if found != nil {
				return nil, errors.New("transaction settles two negotiations")
			}
			found = terms
			continue
		}
		if !isHarmless(program, accounts, compiled.Data, signer) {
			return nil, fmt.Errorf("instruction %d of program %s is not allowed", i, program)
		}
	}
	if found == nil {
		return nil, errors.New("transaction settles no negotiation")
	}
	if signer != found.Buyer && signer != found.Seller {
		return nil, fmt.Errorf("%s is not a party", signer)
	}
	return found, nil
}

const (
	// systemAdvanceNonce is the system program's instruction, as four bytes.
	systemAdvanceNonce = 4
	// associatedCreateIdempotent is the associated token program's instruction.
	associatedCreateIdempotent = 1
)

// isHarmless reports whether an instruction beside the agreement takes nothing from a signer other than the
// fee payer: it sets the compute budget, advances another account's nonce, or creates an associated token
// account at another's expense.
func isHarmless(
	program solana.PublicKey, accounts []*solana.AccountMeta, data []byte, signer solana.PublicKey,
) bool {
	switch program {
	case solana.ComputeBudget:
		return true
	case solana.SystemProgramID:
		return len(data) == 4 && binary.LittleEndian.Uint32(data) == systemAdvanceNonce &&
			len(accounts) == 3 &&
			accounts[2].PublicKey != signer
	case solana.SPLAssociatedTokenAccountProgramID:
		return len(data) == 1 && data[0] == associatedCreateIdempotent && len(accounts) > 0 &&
			accounts[0].PublicKey != signer
	}
	return false
}
