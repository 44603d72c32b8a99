package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const negotiationHelp = `A negotiation's life, and who does what:

  buyer     create    escrows the most it could pay and invites a seller
  seller    accept    accepts the invitation; now the buyer opens
  in turn   offer     makes an offer, which costs the escrow a share
  either    take      takes the other side's standing offer: it is paid at once
  either    reject    walks away: the escrow, less its decay, goes back to the buyer
  anyone    expire    the same, once somebody has let a deadline pass
  anyone    close     after the end: fees to the treasury, rent to the buyer
  party     claim     fetches a payment that its token account could not receive

Before the first offer both can compare reservation prices under seal: haggle zopa --help. A price
that is paid by milestones is paid with: haggle milestone --help

Whom to engage with is asked before "create" and "accept". --allowlist FILE has an address a line, and
after it a score if that is not 100. --trust URL is a registry that answers at URL/api/verify/ADDRESS; the
key to it, if it wants one, is in ` + connection.TrustAPIKeyVariable + `. With both, the list comes first. Who has a
score below --trust-threshold is refused, and so is whoever cannot be asked about.`

func newNegotiationCommand(s *session) *cobra.Command {
	group := newGroupCommand("negotiation", "Create negotiations, bargain, settle and watch", negotiationHelp,
		newCreateCommand(s), newAcceptCommand(s), newOfferCommand(s), newTakeCommand(s), newRejectCommand(s), newExpireCommand(s),
		newCloseCommand(s), newClaimCommand(s), newShowCommand(s), newListCommand(s), newWatchCommand(s))
	group.Aliases = []string{"n"}
	return group
}

// seen reads the negotiation that a command names, as every decision about it starts with its state.
func (s *session) seen(ctx context.Context, client *haggle.Client, written string) (*haggle.NegotiationAccount, error) {
	address, err := connection.ParseAddress(written)
	if err != nil {
		return nil, exitcode.Usagef("NEGOTIATION: %w", err)
	}
	n, err := client.GetNegotiation(ctx, address)
	if errors.Is(err, haggle.ErrWrongOwner) || errors.As(err, new(*protocol.DecodeError)) {
		return nil, notNegotiation(address)
	}
	return n, notFound(err, fmt.Sprintf("it was never created here, or has been closed; what happened: haggle negotiation watch %s", address))
}

func notNegotiation(address solana.PublicKey) error {
	return &exitcode.Error{Kind: exitcode.NotFound, Hint: "yours are listed by: haggle negotiation list", Err: fmt.Errorf("%s is no negotiation", address)}
}

// act does an action and explains a refusal by the state in which it happened.
func (s *session) act(ctx context.Context, client *haggle.Client, action *haggle.Action, key haggle.Signer) (*haggle.Receipt, error) {
	for _, warning := range action.Warnings {
		fmt.Fprintln(s.stderr, "warning:", warning)
	}
	receipt, err := action.Do(ctx, key)
	if errors.Is(err, haggle.ErrDetailsUnavailable) {
		err = nil
	}
	return receipt, s.explain(ctx, client, action.Negotiation, exitcode.OfAction(err))
}

// explain adds to the program's refusal what the negotiation's state says about it.
func (s *session) explain(ctx context.Context, client *haggle.Client, address solana.PublicKey, err error) error {
	var code protocol.ErrorCode
	if !errors.As(err, &code) || address.IsZero() {
		return err
	}
	n, readErr := client.GetNegotiation(ctx, address)
	if readErr != nil {
		return err
	}
	return exitcode.WithHint(err, s.stateHint(ctx, client, n, code))
}

// stateHint says what to do about a refusal, as the state suggests; it is empty if that says no more than the refusal.
func (s *session) stateHint(ctx context.Context, client *haggle.Client, n *haggle.NegotiationAccount, code protocol.ErrorCode) string {
	now, err := client.Now(ctx)
	if err != nil {
		return ""
	}
	step := n.ZopaStep()
	switch {
	case n.EndedWithoutZone():
		return fmt.Sprintf("no price suits both sides; what is left is: haggle negotiation close %s", n.Address)
	case n.IsOver():
		return fmt.Sprintf("it is over (%s); what is left is: haggle negotiation close %s", n.Status, n.Address)
	case n.IsOpen() && n.IsOverdue(now):
		return fmt.Sprintf("the deadline passed at %s; the escrow goes back with: haggle negotiation expire %s", clock(n.TurnDeadline), n.Address)
	case n.IsAgreed():
		return fmt.Sprintf("the price is agreed on and paid by milestones; %s: haggle negotiation show %s", n.Situation(), n.Address)
	case code == protocol.ErrUnauthorized:
		return fmt.Sprintf("the parties are %s (buyer) and %s (seller): sign with one of their keypairs", n.Buyer, n.Seller)
	case n.Status == protocol.NegotiationStatusCreated:
		return fmt.Sprintf("the seller has not accepted yet: haggle negotiation accept %s, with the keypair of %s", n.Address, n.Seller)
	case step.IsCommit() && code != protocol.ErrInvalidParams:
		return fmt.Sprintf("reservation prices come first; %s until %s: haggle zopa commit %s PRICE", n.Situation(), clock(n.TurnDeadline), n.Address)
	case step.IsReveal() && code != protocol.ErrInvalidParams:
		return fmt.Sprintf("reservation prices come first; %s until %s: haggle zopa reveal %s", n.Situation(), clock(n.TurnDeadline), n.Address)
	case code == protocol.ErrInvalidState && !n.HasOffer():
		return fmt.Sprintf("no offer stands yet: the buyer opens with: haggle negotiation offer %s AMOUNT", n.Address)
	case code == protocol.ErrNotYourTurn && n.HasOffer():
		return fmt.Sprintf("the offer that stands is your own; it is the %s's turn until %s: haggle negotiation watch %s", sideName(n.Turn()), clock(n.TurnDeadline), n.Address)
	case code == protocol.ErrNotYourTurn:
		return fmt.Sprintf("it is the %s's turn until %s: haggle negotiation watch %s", sideName(n.Turn()), clock(n.TurnDeadline), n.Address)
	case code == protocol.ErrOfferTooLow, code == protocol.ErrOfferExceedsEscrow:
		tokens, err := s.tokensOf(ctx, n.TokenMint)
		if err != nil {
			return ""
		}
		least, most := n.OfferRange()
		return fmt.Sprintf("round %d takes offers from %s to %s", n.CurrentRound+1, tokens(least), tokens(most))
	}
	return ""
}

// completeNegotiations offers the addresses of the keypair's own negotiations to the shell.
func (s *session) completeNegotiations(cmd *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	s.connection.Unattended = true
	agent, err := s.connection.Address(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	client, err := s.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var found []string
	for n, err := range client.FindNegotiations(ctx, haggle.Filter{Agent: agent}) {
		if err != nil {
			return found, cobra.ShellCompDirectiveError
		}
		found = append(found, fmt.Sprintf("%s\t%s, round %d", n.Address, n.Status, n.CurrentRound))
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
