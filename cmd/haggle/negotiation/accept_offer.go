package negotiation

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const takeHelp = `Takes the other side's standing offer, which settles the negotiation: the seller is paid from the
escrow, less the protocol's fee, and the buyer gets the rest back. With milestones the price stays in
escrow until they are reached. Where reservation prices were compared, either side can take the price
in the middle.

Nobody signs blind. At a terminal the command shows what will be paid and asks; a script says with
--expect at which price it takes, and nothing is signed if another one stands. An offer that carries
terms beside its price also needs --round in a script, for whoever takes it agrees to them. Either way
the transaction carries price, round and terms, and is refused if the offer has changed meanwhile.`

func newTakeCommand(s *session.Session) *cobra.Command {
	var expected amount.Text
	var round uint8
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "take NEGOTIATION", Short: "Take the standing offer (the side that it is made to)", Long: takeHelp,
		Example: "  haggle negotiation take NEGOTIATION\n  haggle negotiation take NEGOTIATION --expect 3.5 --round 4",
		Args:    command.Exactly(1), ValidArgsFunction: onchain.CompleteNegotiations(s),
	}
	cmd.Flags().Var(&expected, "expect", "take at this price and at no other")
	cmd.Flags().Uint8Var(&round, "round", 0, "take the offer of this round and of no other")
	unwrap.register(cmd)
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		return take(ctx, s, arguments[0], expected, round, unwrap)
	})
	return cmd
}

// payment is what taking an offer pays.
type payment struct {
	Price, Fee, ToSeller, ToBuyer amount.Tokens
}

func paymentOf(n *haggle.NegotiationAccount, tokens func(uint64) amount.Tokens) payment {
	price := n.CurrentOfferAmount
	fee := n.FeeOn(price)
	return payment{tokens(price), tokens(fee), tokens(price - fee), tokens(n.EffectiveEscrow - price)}
}

// text tells what is paid, and for which terms beside the price.
func (p payment) text(terms string) string {
	return format.Rows{
		{"price", p.Price.String()},
		{"terms", terms},
		{"to the seller", fmt.Sprintf("%s (after the fee of %s)", p.ToSeller, p.Fee)},
		{"to the buyer", p.ToBuyer.String() + " of the escrow"},
	}.String()
}

func take(ctx context.Context, s *session.Session, written string, expected amount.Text, round uint8, unwrap unwrapFlag) error {
	client, key, err := s.ClientAndKey(ctx)
	if err != nil {
		return err
	}
	n, err := onchain.Snapshot(ctx, s, client, written)
	if err != nil {
		return err
	}
	if !n.HasOffer() || !n.IsBargaining() {
		return exitcode.WithHint(fmt.Errorf("%w: there is no offer to take", haggle.ErrNotAsExpected),
			onchain.StateHint(ctx, s, client, n, protocol.ErrInvalidState))
	}
	if err := expectRound(n, n.CurrentRound, round); err != nil {
		return err
	}
	tokens, err := s.TokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	paid := paymentOf(n, tokens)
	if err := agree(ctx, s, n, paid, expected, round); err != nil {
		return err
	}
	action, err := unwrap.of(key)(client.Accept(ctx, haggle.AcceptRequest{Acceptor: key.PublicKey(), Seen: n, Price: n.CurrentOfferAmount}))
	if err != nil {
		return onchain.Explain(ctx, s, client, n.Address, err)
	}
	receipt, err := onchain.Do(ctx, s, client, action, key)
	if err != nil {
		return err
	}
	if count := n.MilestoneCount(); count > 0 {
		return onchain.Print(s, action, receipt, fmt.Sprintf("agreed on %s, to be paid by %d milestones; %s back to the buyer", paid.Price, count, paid.ToBuyer))
	}
	return onchain.Print(s, action, receipt, fmt.Sprintf("settled for %s: %s to the seller, fee %s, %s back to the buyer", paid.Price, paid.ToSeller, paid.Fee, paid.ToBuyer))
}

// agree makes sure that somebody wants to take at this price: by --expect, otherwise by asking.
func agree(ctx context.Context, s *session.Session, n *haggle.NegotiationAccount, paid payment, expected amount.Text, round uint8) error {
	terms := viewTerms(n.Metadata, func(units uint64) amount.Tokens { return amount.Tokens{Units: units, Decimals: paid.Price.Decimals} })
	if !expected.IsZero() {
		price, err := s.Units(ctx, n.TokenMint, "--expect", expected)
		if err != nil {
			return err
		}
		if price != paid.Price.Units {
			return exitcode.WithHint(fmt.Errorf("%w: the offer that stands is %s", haggle.ErrNotAsExpected, paid.Price),
				"nothing was signed; look at it again: haggle negotiation show "+n.Address.String())
		}
		if n.Metadata != [protocol.MaxMetadataLen]byte{} && round == 0 && !s.Interactive() {
			return exitcode.Usagef("the offer carries terms%s: look at them, then say which offer to take: --round %d", terms.text(), n.CurrentRound)
		}
		return nil
	}
	if !s.Interactive() {
		return exitcode.Usagef("say at which price to take: the offer that stands is --expect %s", paid.Price)
	}
	offered := fmt.Sprintf("the %s offers in round %d", format.Side(n.OfferSide), n.CurrentRound)
	if n.HasMidpoint() {
		offered = "in the middle of the reservation prices stands"
	}
	return s.Confirm(ctx, fmt.Sprintf("%s:\n%s\ntake it?", offered, paid.text(terms.summary())),
		"not taken: nothing was signed")
}
