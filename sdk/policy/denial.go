package policy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/amount"
)

// ErrDenied is the error of every denial, for errors.Is.
var ErrDenied = errors.New("haggle: policy denied")

// Rule is the rule broken by a denied transaction.
type Rule string

// The rules, in the order of checking.
const (
	// RuleStopped: the kill switch is on, or the stop file exists or cannot be checked.
	RuleStopped Rule = "stopped"
	// RuleMessage: the bytes are not an executable message, or the wallet is not a signer.
	RuleMessage Rule = "message"
	// RuleLookupTable: accounts come from an unreadable address lookup table.
	RuleLookupTable Rule = "lookup table"
	// RuleProgram: an instruction calls a forbidden program.
	RuleProgram Rule = "program"
	// RuleUndecodable: an instruction cannot be decoded completely.
	RuleUndecodable Rule = "undecodable instruction"
	// RuleInstruction: Config.Instructions does not allow an instruction.
	RuleInstruction Rule = "instruction"
	// RuleMint: money would move, or be agreed on, in a forbidden mint.
	RuleMint Rule = "mint"
	// RuleDestination: the wallet's money would go to a foreign account.
	RuleDestination Rule = "destination"
	// RuleCounterparty: the counterparty is not allowed, or Screen refuses it.
	RuleCounterparty Rule = "counterparty"
	// RuleArbiter: the arbiter of the milestones is not allowed.
	RuleArbiter Rule = "arbiter"
	// RuleTerms: a negotiation's decay, rounds, response window or fee exceed Config.Terms.
	RuleTerms Rule = "terms"
	// RuleAgreement: settle_by_agreement is not allowed, or gives the counterparty more than Config.Agreement
	// allows.
	RuleAgreement Rule = "agreement"
	// RuleCommitment: the price behind a sealed commitment is not known.
	RuleCommitment Rule = "commitment"
	// RuleNegotiation: a negotiation's terms are unknown, or the state differs from the transaction's
	// expected state.
	RuleNegotiation Rule = "negotiation"
	// RuleMaxTotal: a buyer would pay more than MaxTotal, price and decay together.
	RuleMaxTotal Rule = "highest total"
	// RuleMinPrice: a seller would sell for less than MinPrice.
	RuleMinPrice Rule = "lowest price"
	// RuleBand: a price is outside the band for the mint and side.
	RuleBand Rule = "price band"
	// RulePerTransaction, RulePerNegotiation, RulePerCounterparty and RulePerDay: the transaction exceeds a
	// spending limit.
	RulePerTransaction  Rule = "limit per transaction"
	RulePerNegotiation  Rule = "limit per negotiation"
	RulePerCounterparty Rule = "limit per counterparty"
	RulePerDay          Rule = "limit per day"
	// RuleApproval: approval is required, and was refused or not given in time.
	RuleApproval Rule = "approval"
)

// Denial is a policy refusal. It matches ErrDenied.
type Denial struct {
	// Rule is the rule that the transaction breaks.
	Rule Rule
	// Instruction is the index of the instruction that breaks it; -1 if no single instruction does.
	Instruction int
	// Name is the instruction's name, such as "haggle.create_negotiation", if known.
	Name string
	// Mint is the amounts' mint. Lamports use the zero key.
	Mint solana.PublicKey
	// Limit is the highest allowed amount; for RuleMinPrice the lowest, and for RuleBand the violated bound.
	// Used is the amount used by earlier transactions, and 0 unless the limit applies to a sum. Requested is
	// the amount added by the transaction. With RuleMaxTotal and RuleBand Requested is the price, and Used
	// the decay of all offers until the deal. Units: the mint's base units, or lamports.
	Limit, Used, Requested uint64
	// Subject is the program, mint, account, counterparty or negotiation that is refused or limited, if any.
	Subject solana.PublicKey
	// Cause is the error that led to the denial, such as a node error or a Config function's error, if any.
	Cause error
}

func (d *Denial) Error() string {
	unit := "lamports"
	if !d.Mint.IsZero() {
		unit = "base units of " + d.Mint.String()
	}
	return d.text(d.amounts(func(n uint64) string { return strconv.FormatUint(n, 10) }) + " " + unit)
}

// TextWith implements [amount.Error].
func (d *Denial) TextWith(write amount.Formatter) string {
	text := d.amounts(func(n uint64) string { return write(d.Mint, n) })
	if !d.Mint.IsZero() {
		text += " of mint " + d.Mint.String()
	}
	return d.text(text)
}

// amounts returns the amounts with the limit.
func (d *Denial) amounts(write func(uint64) string) string {
	if d.Rule == RuleBand {
		return d.bandAmounts(write)
	}
	if d.Rule == RuleMaxTotal {
		return fmt.Sprintf("price %s and decay %s: %s in all, limit %s", write(d.Requested), write(d.Used),
			write(sum(d.Requested, d.Used)), write(d.Limit))
	}
	return fmt.Sprintf("%s requested, %s used, limit %s", write(d.Requested), write(d.Used), write(d.Limit))
}

func (d *Denial) text(amounts string) string {
	var text strings.Builder
	text.WriteString(ErrDenied.Error() + ": " + d.problem())
	if d.Limit != 0 || d.Used != 0 || d.Requested != 0 {
		text.WriteString(": " + amounts)
	}
	if d.Cause != nil {
		fmt.Fprintf(&text, ": %v", d.Cause)
	}
	switch {
	case d.Instruction >= 0 && d.Name != "" && d.Rule != RuleInstruction:
		fmt.Fprintf(&text, " (instruction %d, %s)", d.Instruction, d.Name)
	case d.Instruction >= 0:
		fmt.Fprintf(&text, " (instruction %d)", d.Instruction)
	}
	return text.String()
}

// problem returns the broken rule and the subject.
func (d *Denial) problem() string {
	switch d.Rule {
	case RuleProgram, RuleMint, RuleCounterparty, RuleArbiter, RuleDestination:
		return fmt.Sprintf("%s %s is not allowed", d.Rule, d.Subject)
	case RuleInstruction:
		return d.Name + " is not allowed"
	}
	if d.Subject.IsZero() {
		return string(d.Rule)
	}
	return fmt.Sprintf("%s: %s", d.Rule, d.Subject)
}

// Unwrap returns ErrDenied and the cause.
func (d *Denial) Unwrap() []error {
	if d.Cause == nil {
		return []error{ErrDenied}
	}
	return []error{ErrDenied, d.Cause}
}

// general returns a denial that concerns no single instruction.
func general(rule Rule, cause error) *Denial {
	return &Denial{Rule: rule, Instruction: -1, Cause: cause}
}
