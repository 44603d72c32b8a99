package mcp

import (
	"context"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

type offerArguments struct {
	Negotiation string `json:"negotiation" jsonschema:"address"`
	Amount      string `json:"amount" jsonschema:"price: 2.5 for tokens or 2500000u for base units"`
	Round       uint8  `json:"round" jsonschema:"round of the offer: the state's round plus 1; in another round nothing is sent"`
	sendingArguments
}

func (s *server) offer(ctx context.Context, in offerArguments) *Answer {
	return s.act(ctx, toolOffer, in.Negotiation, &in.sendingArguments, &in,
		func(ctx context.Context, n *haggle.Snapshot) (plan, error) {
			price, err := s.units(ctx, n.TokenMint, "amount", in.Amount)
			if err != nil {
				return plan{}, err
			}
			if in.Round == n.CurrentRound && n.HasOffer() && n.CurrentOfferBy == s.me() &&
				n.CurrentOfferAmount == price {
				return plan{doneAlready: true}, nil
			}
			if err := s.checkTurn(n); err != nil {
				return plan{}, err
			}
			if in.Round != n.CurrentRound+1 {
				return plan{}, unexpected("the next offer is that of round %d, not %d", n.CurrentRound+1, in.Round)
			}
			if least, most := n.OfferRange(); price < least || price > most {
				return plan{}, unexpectedAmount(n, "round %d accepts offers from %v to %v", in.Round,
					amount.Units(least), amount.Units(most))
			}
			return built(ctx, s.Client.At(n).SubmitOffer(s.me(), haggle.Offer{Amount: price}))
		})
}

type acceptArguments struct {
	Negotiation string `json:"negotiation" jsonschema:"address"`
	What        string `json:"what" jsonschema:"what to accept"`
	serviceArguments
	MaxBond string `json:"max_bond,omitempty" jsonschema:"for an invitation: the highest bond to deposit; default none"`
	Mint    string `json:"mint,omitempty" jsonschema:"for an invitation with a bond: the expected mint"`
	Price   string `json:"price,omitempty" jsonschema:"for an offer: the price that you read; another price is not accepted"`
	Round   uint8  `json:"round,omitempty" jsonschema:"for an offer: the round that you read; an offer of another round is not accepted"`
	sendingArguments
}

func (s *server) accept(ctx context.Context, in acceptArguments) *Answer {
	return s.act(ctx, toolAccept, in.Negotiation, &in.sendingArguments, &in,
		func(ctx context.Context, n *haggle.Snapshot) (plan, error) {
			if in.What == invitation {
				return s.acceptInvitation(ctx, n, &in)
			}
			return s.acceptOffer(ctx, n, &in)
		})
}

func (s *server) acceptInvitation(
	ctx context.Context, n *haggle.Snapshot, in *acceptArguments,
) (plan, error) {
	if in.Price != "" || in.Round != 0 {
		return plan{}, invalid("price and round belong to an offer: leave them out")
	}
	service, err := in.hash()
	switch {
	case err != nil:
		return plan{}, err
	case s.me() != n.Seller:
		return plan{}, unexpected("the invitation is to %s, and this wallet is %s", n.Seller, s.me())
	case service != n.ServiceHash:
		return plan{}, unexpected("the service's hash is %x, and that of your service is %x",
			n.ServiceHash, service)
	case n.IsBargaining():
		return plan{doneAlready: true}, nil
	case n.ZopaEnabled, n.MilestoneCount() > 0:
		return plan{}, unexpected("the terms require a comparison of reservation prices or milestones, " +
			"for which there are no tools: use the command haggle negotiation accept-invitation")
	}
	if n.BondRequired > 0 {
		most := uint64(0)
		if in.MaxBond != "" {
			if most, err = s.units(ctx, n.TokenMint, "max_bond", in.MaxBond); err != nil {
				return plan{}, err
			}
		}
		if n.BondRequired > most || in.Mint != n.TokenMint.String() {
			return plan{}, unexpectedAmount(n,
				"the terms require a bond of %v in mint %s: set max_bond and mint to accept it",
				amount.Units(n.BondRequired), n.TokenMint)
		}
	}
	read, err := s.pinned(ctx, n.TokenMint)
	if err != nil {
		return plan{}, err
	}
	return built(ctx, s.Client.At(n).AcceptInvitation(s.me(), n.TermsHash(), read.Decimals, haggle.Deposit{}))
}

func (s *server) acceptOffer(ctx context.Context, n *haggle.Snapshot, in *acceptArguments) (plan, error) {
	if in.Service != "" || in.ServiceHash != "" || in.MaxBond != "" || in.Mint != "" {
		return plan{}, invalid("service, service_hash, max_bond and mint belong to an invitation: leave them out")
	}
	if in.Price == "" || in.Round == 0 {
		return plan{}, invalid("price and round not set: state the offer that you read")
	}
	price, err := s.units(ctx, n.TokenMint, "price", in.Price)
	if err != nil {
		return plan{}, err
	}
	if n.Status == protocol.NegotiationStatusSettled && n.PaidGross == price && n.CurrentRound == in.Round {
		return plan{doneAlready: true}, nil
	}
	if !n.HasOffer() || !n.IsBargaining() {
		return plan{}, unexpected("there is no offer to accept")
	}
	if err := s.checkTurn(n); err != nil {
		return plan{}, err
	}
	if n.CurrentOfferAmount != price || n.CurrentRound != in.Round {
		return plan{}, unexpectedAmount(n, "the current offer is %v in round %d, not %v in round %d",
			amount.Units(n.CurrentOfferAmount), n.CurrentRound, amount.Units(price), in.Round)
	}
	return built(ctx, s.Client.At(n).AcceptOffer(s.me(), price))
}

// act carries out a call on an existing negotiation.
func (s *server) act(
	ctx context.Context, tool, written string, call *sendingArguments, arguments any,
	decide func(context.Context, *haggle.Snapshot) (plan, error),
) *Answer {
	negotiation, err := address("negotiation", written)
	if err != nil {
		return s.failed(ctx, "", solana.PublicKey{}, err)
	}
	given := *call
	*call = sendingArguments{}
	return s.send(ctx, tool, given, negotiation, arguments, func(ctx context.Context) (plan, error) {
		n, err := onchain.Read(ctx, s.Client, negotiation)
		// If the account has been removed, the closing is done.
		if tool == toolClose && s.wasClosed(ctx, negotiation, err, true) {
			return plan{action: s.Client.Negotiation(negotiation).Close(s.me()), doneAlready: true}, nil
		}
		if err != nil {
			return plan{}, err
		}
		planned, err := decide(ctx, n)
		planned.snapshot = n
		return planned, err
	})
}

// built builds an action. It returns an error if the program would refuse the action.
func built(ctx context.Context, action *haggle.Action) (plan, error) {
	_, err := action.Build(ctx)
	return plan{action: action}, err
}

// checkTurn returns an error if this wallet cannot make or accept an offer now.
func (s *server) checkTurn(n *haggle.Snapshot) error {
	side, party := n.SideOf(s.me())
	switch {
	case !party:
		return s.notParty(n)
	case n.Status == protocol.NegotiationStatusCreated:
		return unexpected("the seller has not accepted the invitation")
	case !n.IsBargaining():
		return unexpected("the negotiation has ended")
	case n.IsOverdue(n.Time):
		return unexpected("the deadline passed at %d", n.TurnDeadline)
	case side != n.Turn():
		return &NotYourTurnError{Turn: format.Side(n.Turn()), Deadline: n.TurnDeadline}
	}
	return nil
}

func (s *server) notParty(n *haggle.Snapshot) error {
	return unexpected("the parties are %s (buyer) and %s (seller), and this wallet is %s",
		n.Buyer, n.Seller, s.me())
}

type statusArguments struct {
	Negotiation string `json:"negotiation,omitempty" jsonschema:"address; if it is left out, the open negotiations of this wallet are listed"`
	Ended       bool   `json:"ended,omitempty" jsonschema:"list the negotiations that have ended and are not closed, instead of the open ones"`
	WaitSeconds uint8  `json:"wait_seconds,omitempty" jsonschema:"longest time to wait, at most 60"`
}

const (
	maxWait = 60
	// pollEvery is how often a waiting call reads the state.
	pollEvery = time.Second
	// maxListed limits a list.
	maxListed = 50
)

func (s *server) status(ctx context.Context, in statusArguments, reported *progress) *Answer {
	if in.WaitSeconds > maxWait {
		return s.failed(ctx, "", solana.PublicKey{},
			invalid("wait_seconds %d: must be 0 to %d", in.WaitSeconds, maxWait))
	}
	if in.Negotiation == "" {
		if in.WaitSeconds > 0 {
			return s.failed(ctx, "", solana.PublicKey{}, invalid("wait_seconds needs a negotiation"))
		}
		return s.list(ctx, in.Ended)
	}
	if in.Ended {
		return s.failed(ctx, "", solana.PublicKey{}, invalid("ended selects a list: leave negotiation or ended out"))
	}
	negotiation, err := address("negotiation", in.Negotiation)
	if err != nil {
		return s.failed(ctx, "", solana.PublicKey{}, err)
	}
	reported.total = time.Duration(in.WaitSeconds) * time.Second
	end := time.Now().Add(reported.total)
	waiting, cancel := context.WithDeadline(ctx, end.Add(pollEvery))
	pending, earlier := s.resolve(waiting, negotiation)
	cancel()
	for {
		n, err := onchain.Read(ctx, s.Client, negotiation)
		if s.wasClosed(ctx, negotiation, err, false) {
			return &Answer{Outcome: Read, Negotiation: in.Negotiation, Wallet: s.me().String(), Next: afterClosing}
		}
		if err != nil {
			return s.failed(ctx, "", negotiation, err)
		}
		m, err := s.mint(ctx, n.TokenMint)
		if err != nil {
			return s.failed(ctx, "", negotiation, err)
		}
		v := s.stateOf(n, m, n.Time)
		if pending == nil && earlier == nil && v.waits() && time.Now().Before(end) {
			reported.report(ctx, "it is the other side's turn")
			select {
			case <-time.After(pollEvery):
				continue
			case <-ctx.Done():
			}
		}
		v.History = s.history(ctx, n, m)
		answer := &Answer{Outcome: Read, Negotiation: v.Negotiation, Wallet: s.me().String(), State: v,
			Pending: pending, Next: nextStep(v)}
		switch {
		case pending != nil:
			answer.Next = "do not decide again yet: call haggle_status again with wait_seconds 60"
		case earlier != nil:
			answer.Next = "the pending transaction had no effect: decide again; now " + answer.Next
		}
		return answer
	}
}

// waits reports whether the next step is up to the counterparty.
func (v *State) waits() bool {
	open := v.Status == "created" || v.Turn != ""
	return open && !v.YourTurn && !v.Overdue && v.Role != "none"
}

// list lists the negotiations of the wallet: those that are open, or those that have ended and are not closed.
func (s *server) list(ctx context.Context, ended bool) *Answer {
	answer := &Answer{Outcome: Read, Wallet: s.me().String(),
		Next: "call haggle_status with one of these negotiations"}
	now, err := s.Client.Now(ctx)
	if err != nil {
		return s.failed(ctx, "", solana.PublicKey{}, err)
	}
	filter := haggle.Filter{Party: s.me(), Status: []protocol.NegotiationStatus{
		protocol.NegotiationStatusCreated, protocol.NegotiationStatusProposed, protocol.NegotiationStatusCountered,
	}}
	if ended {
		filter.Status = []protocol.NegotiationStatus{
			protocol.NegotiationStatusSettled, protocol.NegotiationStatusRejected, protocol.NegotiationStatusExpired,
		}
	}
	for n, err := range s.Client.FindNegotiations(ctx, filter) {
		if err != nil {
			return s.failed(ctx, "", solana.PublicKey{}, err)
		}
		m, err := s.mint(ctx, n.TokenMint)
		if err != nil {
			return s.failed(ctx, "", solana.PublicKey{}, err)
		}
		if answer.List = append(answer.List, s.stateOf(n, m, now)); len(answer.List) == maxListed {
			answer.Next = "there may be more: these are the first ones; call haggle_status with one of them"
			break
		}
	}
	switch {
	case len(answer.List) == 0 && ended:
		answer.Next = "every negotiation that has ended is closed: nothing is left to do"
	case len(answer.List) == 0:
		answer.Next = "there are no open negotiations: haggle_create as a buyer, or haggle_await_invitation as a seller"
	}
	return answer
}
