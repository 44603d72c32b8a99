package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
)

// Decoder decodes instructions of programs unknown to the policy: see Config.Decoders. It must return an
// error if it does not decode an instruction to the last byte and account, or if the instruction must not be
// signed: decoded instructions are allowed if all Spends are within the limits.
type Decoder func(accounts []*solana.AccountMeta, data []byte) (Decoded, error)

// Decoded is the effect on the wallet of another program's instruction.
type Decoded struct {
	// Name is the name of the instruction in denials and approvals, such as "memo.write".
	Name string
	// Spends lists the maximum amounts leaving the wallet, each with Mint, Amount and Counterparty. They
	// count as transfers.
	Spends []Spend
}

// decode decodes an allowed program's instruction.
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

// interpretDecoded counts the spends of another program's instruction.
func (r *reading) interpretDecoded(decoded Decoded) error {
	for _, spend := range decoded.Spends {
		transfer := Spend{Mint: spend.Mint, Amount: spend.Amount, Purpose: PurposeTransfer, Counterparty: spend.Counterparty}
		if err := r.spend(transfer); err != nil {
			return err
		}
	}
	return nil
}

// checkDecoders returns an error for decoders that replace the policy's own.
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
