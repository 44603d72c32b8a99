package exitcode

import (
	"strconv"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/policy"
)

// denial is a policy's refusal for scripts. Amounts are base units of the mint, or lamports without one.
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

// denialHint says what would have to change for the policy to sign.
func denialHint(d *policy.Denial) string {
	const nothing = "nothing was signed; "
	if d.Rule == policy.RuleInstruction && d.Name == policy.ComputeBudget {
		return nothing + `every transaction sets its compute budget: the policy's "instructions" have to allow "compute_budget", too`
	}
	switch d.Rule {
	case policy.RuleStopped:
		return nothing + "it signs again when the file that stops it is gone: haggle policy check FILE"
	case policy.RuleApproval:
		return nothing + `run it at a terminal to be asked, or raise "approveAbove" in the policy`
	case policy.RulePerDay:
		return nothing + "what is used up is shown by: haggle policy usage --policy-usage FILE; the next day begins at 00:00 UTC"
	case policy.RulePerCounterparty, policy.RulePerNegotiation:
		return nothing + "what is used up is shown by: haggle policy usage --policy-usage FILE"
	case policy.RuleMint:
		return nothing + `a mint is allowed by limits for it in the policy's "tokens"`
	case policy.RuleAgreement:
		return nothing + `an agreement on another split is allowed by its shares in the policy's "agreement"`
	case policy.RuleCommitment:
		return nothing + "the price behind the commitment was not given to the policy"
	case policy.RuleNegotiation:
		return nothing + "look at it again: haggle negotiation show"
	}
	return nothing + "what is allowed is shown by: haggle policy check FILE"
}

func refusalHint(r *identity.Refusal) string {
	if r.Cause != nil {
		return "nothing was signed: whoever cannot be asked about is not engaged with"
	}
	return "nothing was signed; whom to engage with is said by --trust, --trust-threshold and --allowlist"
}
