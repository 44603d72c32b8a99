package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
)

// Decoder decodes the instructions of a program that the policy does not know itself: see Config.Decoders. It
// must return an error for an instruction that it does not decode to the last byte and account, or that may
// not be signed: a decoded instruction is allowed if what it spends is within the limits.
type Decoder func(accounts []*solana.AccountMeta, data []byte) (Decoded, error)

// Decoded is what an instruction of another program does to the wallet.
type Decoded struct {
	// Name is the instruction's, for denials and approvals, such as "memo.write".
	Name string
	// Spends is what leaves the wallet at most: Mint, Amount and Counterparty. They count as transfers.
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

// interpretDecoded counts what an instruction of another program spends.
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
