package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
)

// Decoder decodes the instructions of a program that the policy does not decode itself: see Config.Decoders.
// It must return an error for an instruction that it does not decode to the last byte and account, or that
// must not be signed: a decoded instruction is allowed if its Spends are within the limits.
type Decoder func(accounts []*solana.AccountMeta, data []byte) (Decoded, error)

// Decoded is the effect of an instruction of another program on the wallet.
type Decoded struct {
	// Name is the name of the instruction in denials and approvals, such as "memo.write".
	Name string
	// Spends is the most that leaves the wallet: Mint, Amount and Counterparty of each. They count as
	// transfers.
	Spends []Spend
}

// decode decodes an instruction of an allowed program.
func (p *Policy) decode(program solana.PublicKey, accounts []*solana.AccountMeta, data []byte) (string, step, error) {
	decoder := p.config.Decoders[program]
	if decoder == nil {
		return decodeInstruction(program, accounts, data)
	}
	copies := make([]*solana.AccountMeta, len(accounts))
	for i, account := range accounts {
		copies[i] = new(*account)
	}
	decoded, err := decoder(copies, slices.Clone(data))
	if err == nil && decoded.Name == "" {
		err = errors.New("the decoder returned no name")
	}
	return decoded.Name, decoded, err
}

// interpretDecoded counts the spends of an instruction of another program.
func (r *reading) interpretDecoded(decoded Decoded) error {
	for _, spend := range decoded.Spends {
		transfer := Spend{Mint: spend.Mint, Amount: spend.Amount, Purpose: PurposeTransfer, Counterparty: spend.Counterparty}
		if err := r.spend(transfer); err != nil {
			return err
		}
	}
	return nil
}

// checkDecoders returns an error for a decoder of a program that the policy decodes itself.
func checkDecoders(decoders map[solana.PublicKey]Decoder) error {
	for program, decoder := range decoders {
		if decoder == nil {
			return fmt.Errorf("decoder of program %s not set", program)
		}
		if slices.Contains(knownPrograms(), program) {
			return fmt.Errorf("program %s: the policy decodes its instructions itself", program)
		}
	}
	return nil
}
