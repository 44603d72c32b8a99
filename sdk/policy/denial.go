package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gagliardetto/solana-go"
)

// ErrDenied is what every denial is, for errors.Is.
var ErrDenied = errors.New("haggle: the policy does not sign")

// Rule is what a denied transaction went against.
type Rule string

// The rules, in the order in which they are asked.
const (
	// RuleStopped: the kill switch is on, or the file that stops the policy exists or cannot be looked for.
	RuleStopped Rule = "stopped"
	// RuleMessage: the bytes are not a message that the chain would execute, or not one that this wallet signs.
	RuleMessage Rule = "message"
	// RuleLookupTable: accounts come from an address lookup table that cannot be read.
	RuleLookupTable Rule = "lookup table"
	// RuleProgram: an instruction calls a program that is not allowed.
	RuleProgram Rule = "program"
	// RuleUndecodable: an instruction cannot be decoded completely.
	RuleUndecodable Rule = "undecodable instruction"
	// RuleInstruction: an instruction is not one of those that are allowed.
	RuleInstruction Rule = "instruction"
	// RuleMint: money would move, or be agreed on, in a mint that is not allowed.
	RuleMint Rule = "mint"
	// RuleDestination: the wallet's money would go to an account that is not known to be its own.
	RuleDestination Rule = "destination"
	// RuleCounterparty: the other side is not allowed, or Screen refuses it.
	RuleCounterparty Rule = "counterparty"
	// RuleArbiter: the arbiter of the milestones is not allowed.
	RuleArbiter Rule = "arbiter"
	// RuleAgreement: settle_by_agreement is not allowed, or gives the other party more than Config.Agreement
	// allows.
	RuleAgreement Rule = "agreement"
	// RuleCommitment: the price behind a sealed commitment is not known.
	RuleCommitment Rule = "commitment"
	// RuleNegotiation: what a negotiation is about is not known, or it is not what the transaction says that its signer has seen.
	RuleNegotiation Rule = "negotiation"
	// RuleMaxPrice: a buyer would pay more than it may.
	RuleMaxPrice Rule = "highest price"
	// RuleMinPrice: a seller would sell for less than it may.
	RuleMinPrice Rule = "lowest price"
	// RulePerTransaction, RulePerNegotiation, RulePerCounterparty and RulePerDay: a limit on what is spent.
	RulePerTransaction  Rule = "limit per transaction"
	RulePerNegotiation  Rule = "limit per negotiation"
	RulePerCounterparty Rule = "limit per counterparty"
	RulePerDay          Rule = "limit per day"
	// RuleApproval: approval was needed, and was not given in time, or not at all.
	RuleApproval Rule = "approval"
)

// Denial is a refusal to sign. It is found with errors.As as a *Denial and with errors.Is as ErrDenied.
type Denial struct {
	// Rule is what the transaction went against.
	Rule Rule
	// Instruction is which of the transaction's instructions did, from 0; -1 if it is not a matter of one alone.
	Instruction int
	// Name is that instruction's, such as "haggle.create_negotiation"; empty if it is not known.
	Name string
	// Mint is that of the amounts; zero for lamports.
	Mint solana.PublicKey
	// Limit is the most that was allowed, or with RuleMinPrice the least; Used what had been used of it before, and Requested what
	// this transaction would have added: in base units of the mint, or in lamports. Used is zero where nothing adds up.
	Limit, Used, Requested uint64
	// Subject is the program, mint, account, counterparty or negotiation that is refused or that the limit is for; zero without one.
	Subject solana.PublicKey
	// Cause is why, where something else refused or failed; otherwise nil.
	Cause error
}

func (d *Denial) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "haggle: the policy does not sign: %s", d.Rule)
	if d.Name != "" {
		fmt.Fprintf(&text, ": %s", d.Name)
	}
	if d.Instruction >= 0 {
		fmt.Fprintf(&text, " (instruction %d)", d.Instruction)
	}
	if d.Limit != 0 || d.Used != 0 || d.Requested != 0 {
		unit := "lamports"
		if !d.Mint.IsZero() {
			unit = "base units of " + d.Mint.String()
		}
		fmt.Fprintf(&text, ": %d asked for, %d used, limit %d %s", d.Requested, d.Used, d.Limit, unit)
	}
	if !d.Subject.IsZero() {
		fmt.Fprintf(&text, ": %s", d.Subject)
	}
	if d.Cause != nil {
		fmt.Fprintf(&text, ": %v", d.Cause)
	}
	return text.String()
}

// Unwrap is ErrDenied, and the cause.
func (d *Denial) Unwrap() []error {
	if d.Cause == nil {
		return []error{ErrDenied}
	}
	return []error{ErrDenied, d.Cause}
}

// general is a denial that is not a matter of one instruction alone.
func general(rule Rule, cause error) *Denial {
	return &Denial{Rule: rule, Instruction: -1, Cause: cause}
}
