// Package seller is the example agent that sells a service: it waits for a given buyer's invitation, checks
// the terms, and concedes in equal steps from the opening price towards the reservation price.
//
//	seller --buyer ADDRESS --mint ADDRESS --opening 4.5 --reservation 3
//
// The SDK's package agent runs the negotiation; this package has Admit and Decide. Once restarted, it
// continues the open negotiation: the negotiation state is on chain, and the journal holds the unsent
// transactions.
package seller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/agentrun"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

type seller struct {
	*agentrun.Party
	settlement player.SettlementFlags
}

// Main runs the command line until the agent ends, and exits.
func Main(arguments []string) {
	log := &agentrun.Log{Agent: "seller", Out: os.Stdout}
	var known agentrun.Flags
	var s seller
	patience := duration.Flag(10 * time.Minute)
	cmd := &cobra.Command{
		Use:   "seller",
		Short: "Sell a service: bargain with a buyer on Solana",
		Long: `Waits for an invitation of the buyer, checks its terms, and concedes in equal steps from the opening price
to the reservation price, or as --strategy says.

After an interrupt or a crash it continues with its open negotiation. Every transaction is written to the
journal before it is sent. A restarted seller first resolves an unfinished transaction, which can take a
minute.

A sale counts once the payment is proven: finalized, and confirmed by nodes of two hosts (--url). Otherwise the
seller ends with code 9. --finalized-above and --single-source-up-to permit less proof for low prices.

The exit codes are haggle's (haggle help exit-codes): 0 if it has sold, 8 without a deal.`,
		Example: "  seller --buyer ADDRESS --mint ADDRESS --opening 4.5 --reservation 3 --single-source-up-to 5 --keypair seller.json",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if s.Party, err = known.Open(cmd.Context(), log); err != nil {
				return err
			}
			defer s.Close()
			return s.sell(cmd.Context(), time.Duration(patience))
		},
	}
	known.Register(cmd, "buyer", "4.5", "3")
	s.settlement.Register(cmd.Flags())
	cmd.Flags().Var(&patience, "patience", "time to wait for an invitation (0s: no limit)")
	cmd.SetArgs(arguments)
	agentrun.Main(cmd, log)
}

func (s *seller) sell(ctx context.Context, patience time.Duration) error {
	if s.Opening < s.Reservation {
		return exitcode.Usagef("--opening must not be below --reservation")
	}
	negotiation, err := s.Unfinished(ctx, haggle.Filter{Seller: s.Self}, func(n *haggle.Snapshot) bool {
		return s.concerns(n) && n.Status != protocol.NegotiationStatusCreated && (!n.IsOver() || n.ClaimableSeller > 0)
	})
	if err != nil {
		return err
	}
	if negotiation.IsZero() {
		s.Note("waiting for an invitation of %s", s.Counterpart)
	}
	limits := agent.Limits{Decimals: s.Amounts.Decimals, MinPrice: s.Reservation}
	if err := s.settlement.Limit(&limits, s.Units); err != nil {
		return err
	}
	deal, err := s.Bargain(ctx, negotiation, agent.Config{
		Concerns: s.concerns, Admit: s.admit, Decide: s.Play().Decide, Acted: s.acted, Patience: patience,
		Mints: map[solana.PublicKey]agent.Limits{s.Mint: limits},
	})
	if errors.Is(err, agent.ErrNoNegotiation) {
		return &exitcode.Error{
			Kind: exitcode.Network, Hint: "the buyer invites with: haggle negotiation create, or buyer",
			Err: fmt.Errorf("no acceptable invitation within %s", patience),
		}
	}
	if err != nil {
		return err
	}
	s.Note("sold for %s after %d offers, %s of it after the fee", s.Tokens(deal.Price), deal.Rounds, s.Tokens(deal.Price-deal.Fee))
	return nil
}

// concerns reports whether the negotiation is the buyer's invitation, possibly accepted by this seller
// before.
func (s *seller) concerns(n *haggle.Snapshot) bool {
	return n.Buyer == s.Counterpart && (n.Status == protocol.NegotiationStatusCreated || s.objection(n) == "")
}

// admit declines an unsuitable invitation. A suitable invitation is accepted on exactly the terms that were
// checked here.
func (s *seller) admit(ctx context.Context, n *haggle.Snapshot) error {
	if why := s.objection(n); why != "" {
		return &agent.Refusal{Negotiation: n.Address, Reason: why}
	}
	return s.Vet(ctx)
}

func (s *seller) acted(act agent.Act) {
	if n := act.Before; act.Name == "accept_invitation" {
		s.Note("found %s: %s escrowed, %d rounds", n.Address, s.Tokens(n.EscrowAmount), n.MaxRounds)
	}
}

// objection returns the negotiation term that the seller does not accept; "" if all are accepted.
func (s *seller) objection(n *haggle.Snapshot) string {
	switch {
	case n.ServiceHash != s.ServiceHash:
		return "it is for another service"
	case n.TokenMint != s.Mint:
		return "it pays in another mint, " + n.TokenMint.String()
	case n.EscrowAmount-n.FeeOn(n.EscrowAmount) < s.Reservation:
		return "its escrow, less the fee, does not cover the reservation price"
	case n.ZopaEnabled || n.BondRequired > 0 || !n.Arbiter.IsZero() || n.MilestoneCount() > 0:
		return "it requires sealed prices, a bond, an arbiter or milestones"
	case n.CurrentRound == 0 && !s.Suits(n):
		return "it has terms beside price and service"
	}
	return ""
}
