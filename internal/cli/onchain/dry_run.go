package onchain

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/jsonview"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// DryRunView is the simulation of an action that was neither signed nor sent.
type DryRunView struct {
	DryRun       bool             `json:"dry_run"`
	Action       string           `json:"action"`
	Negotiation  solana.PublicKey `json:"negotiation"`
	ComputeUnits uint64           `json:"compute_units"`
	FeeLamports  uint64           `json:"fee_lamports"`
	Events       []jsonview.List  `json:"events"`
	// Changes are the accounts whose balances would change.
	Changes []changeView `json:"changes"`
}

// changeView is the change of an account's balance. Owner, Mint and BaseUnits are those of a token account.
type changeView struct {
	Account   solana.PublicKey  `json:"account"`
	Lamports  int64             `json:"lamports,string"`
	Owner     *solana.PublicKey `json:"owner,omitempty"`
	Mint      *solana.PublicKey `json:"mint,omitempty"`
	BaseUnits int64             `json:"base_units,omitempty,string"`
}

// dryRun simulates an action and prints its effects. It returns session.ErrDryRun if the action would
// succeed, so that the command ends without a receipt.
func dryRun(ctx context.Context, s *session.Session, client *haggle.Client, action *haggle.Action) error {
	s.Stage("simulating " + action.Name)
	run, err := action.Simulate(ctx)
	if err != nil {
		return explain(ctx, s, client, action.Negotiation, err)
	}
	v := DryRunView{
		DryRun: true, Action: action.Name, Negotiation: action.Negotiation, ComputeUnits: run.ComputeUnits,
		FeeLamports: run.Fee, Events: []jsonview.List{}, Changes: []changeView{},
	}
	for _, event := range run.Events {
		v.Events = append(v.Events, EventFields(event))
	}
	lines := []string{fmt.Sprintf("dry run: %s would succeed; nothing was signed or sent", action.Name),
		fmt.Sprintf("  fee %d lamports, %d compute units", run.Fee, run.ComputeUnits)}
	for i := range run.Changes {
		change := viewChange(&run.Changes[i])
		v.Changes = append(v.Changes, change)
		lines = append(lines, "  "+change.text())
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

func (v changeView) text() string {
	if v.Mint == nil {
		return fmt.Sprintf("%s: %+d lamports", v.Account, v.Lamports)
	}
	return fmt.Sprintf("%s of %s: %+d lamports, %+d base units of %s", v.Account, v.Owner, v.Lamports, v.BaseUnits, v.Mint)
}
