package exitcode

import (
	"strconv"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/policy"
)

// denial is a policy's denial for scripts. Amounts are base units of the mint, or lamports if there is
// none.
type denial struct {
	Rule        policy.Rule      `json:"rule"`
	Instruction string           `json:"instruction,omitempty"`
	Mint        solana.PublicKey `json:"mint,omitzero"`
	Subject     solana.PublicKey `json:"subject,omitzero"`
	Requested   string           `json:"requested,omitempty"`
	Used        string           `json:"used,omitempty"`
	Limit       string           `json:"limit,omitempty"`
}

func viewDenial(d *policy.Denial) *denial {
	v := &denial{Rule: d.Rule, Instruction: d.Name, Mint: d.Mint, Subject: d.Subject}
	if d.Limit != 0 || d.Used != 0 || d.Requested != 0 {
		v.Requested, v.Used, v.Limit = number(d.Requested), number(d.Used), number(d.Limit)
	}
	return v
}

func number(amount uint64) string { return strconv.FormatUint(amount, 10) }

// denialHint returns the change that would make the policy sign.
func denialHint(d *policy.Denial) string {
	const nothing = "nothing was signed; "
	if d.Rule == policy.RuleInstruction && d.Name == policy.ComputeBudget {
		return nothing + `every transaction sets its compute budget: the policy's "instructions" must include "compute_budget"`
	}
	switch d.Rule {
	case policy.RuleStopped:
		return nothing + "to sign again, delete the stop file: haggle policy check FILE"
	case policy.RuleApproval:
		return nothing + `run it at a terminal to approve it, or raise "approveAbove" in the policy`
	case policy.RulePerDay:
		return nothing + "to read the usage: haggle policy usage; the next day begins at 00:00 UTC"
	case policy.RulePerCounterparty, policy.RulePerNegotiation:
		return nothing + "to read the usage: haggle policy usage"
	case policy.RuleMint:
		return nothing + `to allow the mint, add its limits to the policy's "tokens"`
	case policy.RuleTerms:
		return nothing + `to allow the terms, change the limits in the policy's "terms"`
	case policy.RuleAgreement:
		return nothing + `to allow the split, change the shares in the policy's "agreement"`
	case policy.RuleCommitment:
		return nothing + "the price behind the commitment was not given to the policy"
	case policy.RuleNegotiation:
		return nothing + "read the state again: haggle negotiation show"
	}
	return nothing + "to read the limits: haggle policy check FILE"
}

func refusalHint(r *identity.Refusal) string {
	if r.Cause != nil {
		return "nothing was signed: a counterparty whose score cannot be read is refused"
	}
	return "nothing was signed; see --trust, --trust-threshold and --allowlist"
}
