package onchain

import (
	"context"
	"fmt"
	"strings"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/jsonview"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// DryRunView is the simulation of an action, neither signed nor sent.
type DryRunView struct {
	DryRun       bool             `json:"dry_run"`
	Action       string           `json:"action"`
	Negotiation  solana.PublicKey `json:"negotiation"`
	ComputeUnits uint64           `json:"compute_units"`
	FeeLamports  uint64           `json:"fee_lamports"`
	// RentLamports is the rent of the accounts that the transaction would create.
	RentLamports uint64 `json:"rent_lamports"`
	// Policy is "allowed", "approval required", or "none" without --policy.
	Policy string          `json:"policy"`
	Events []jsonview.List `json:"events"`
	// Changes lists the accounts with balance changes.
	Changes []changeView `json:"changes"`
}

// changeView is a change in an account's balance. Owner, Mint and BaseUnits are set for token accounts.
type changeView struct {
	Account   solana.PublicKey  `json:"account"`
	Lamports  int64             `json:"lamports,string"`
	Owner     *solana.PublicKey `json:"owner,omitempty"`
	Mint      *solana.PublicKey `json:"mint,omitempty"`
	BaseUnits int64             `json:"base_units,omitempty,string"`
}

// RegisterDryRun adds --dry-run to a set, for commands using [Do].
func RegisterDryRun(s *session.Session, set *pflag.FlagSet) {
	set.BoolVar(&s.DryRun, "dry-run", false,
		"simulate the action, check the policy, and print the effects; sign and send nothing")
}

// DryRun simulates an action, checks it against the wallet's policy, and prints the effects. It returns
// session.ErrDryRun if the action would succeed, to end the command before it prints a receipt.
func DryRun(
	ctx context.Context, s *session.Session, client *haggle.Client, action *haggle.Action, key haggle.Signer,
) error {
	s.Stage("simulating " + action.Name)
	run, err := action.Simulate(ctx)
	if err != nil {
		return explain(ctx, s, client, action.Negotiation, err)
	}
	verdict, err := CheckPolicy(ctx, key, run)
	if err != nil {
		return transaction.WithOutcome(err, transaction.NotSent)
	}
	v := DryRunView{
		DryRun: true, Action: action.Name, Negotiation: action.Negotiation, ComputeUnits: run.ComputeUnits,
		FeeLamports: run.Fee, RentLamports: run.Rent, Policy: verdict, Events: []jsonview.List{}, Changes: []changeView{},
	}
	for _, event := range run.Events {
		v.Events = append(v.Events, EventFields(event))
	}
	lines := []string{fmt.Sprintf("dry run: %s would succeed; nothing was signed or sent", action.Name),
		"  " + policyText[verdict],
		fmt.Sprintf("  fee %s, %d compute units", amount.SOL(run.Fee), run.ComputeUnits)}
	if run.Rent > 0 {
		lines = append(lines, fmt.Sprintf("  rent of new accounts %s", amount.SOL(run.Rent)))
	}
	for i := range run.Changes {
		change := viewChange(&run.Changes[i])
		v.Changes = append(v.Changes, change)
		lines = append(lines, "  "+change.text(ctx, s))
	}
	if err := s.Print(v, lines...); err != nil {
		return err
	}
	return session.ErrDryRun
}

func viewChange(change *transaction.BalanceChange) changeView {
	v := changeView{Account: change.Account, Lamports: change.Lamports()}
	if tokens := change.Tokens; tokens != nil {
		v.Owner, v.Mint, v.BaseUnits = &tokens.Owner, &tokens.Mint, int64(tokens.After)-int64(tokens.Before)
	}
	return v
}

// text lists the non-zero changes.
func (v changeView) text(ctx context.Context, s *session.Session) string {
	var parts []string
	if v.Mint != nil && v.BaseUnits != 0 {
		// If the mint is unreadable, the amount stays in base units.
		_, _ = s.Mint(ctx, *v.Mint)
		parts = append(parts, signed(v.BaseUnits, func(units uint64) string {
			return s.AmountOf(*v.Mint, units) + " of mint " + v.Mint.String()
		}))
	}
	if v.Lamports != 0 {
		parts = append(parts, signed(v.Lamports, func(lamports uint64) string { return amount.SOL(lamports).String() }))
	}
	text := v.Account.String()
	if v.Owner != nil {
		text += " of " + v.Owner.String()
	}
	return text + ": " + strings.Join(parts, ", ")
}

// signed formats a change including the sign.
func signed(change int64, text func(uint64) string) string {
	if change < 0 {
		return "-" + text(-uint64(change))
	}
	return "+" + text(uint64(change))
}

// Policy verdicts on an action.
const (
	noPolicy      = "none"
	allowed       = "allowed"
	needsApproval = "approval required"
)

var policyText = map[string]string{
	noPolicy:      "no policy is set (--policy)",
	allowed:       "the policy allows it",
	needsApproval: "the policy asks for approval before it signs",
}

// CheckPolicy returns the wallet policy's verdict or denial.
func CheckPolicy(ctx context.Context, key haggle.Signer, run *haggle.DryRun) (verdict string, err error) {
	governed, ok := key.(*policy.Policy)
	if !ok {
		return noPolicy, nil
	}
	approval, err := governed.CheckRun(ctx, run)
	if approval != nil {
		return needsApproval, err
	}
	return allowed, err
}
