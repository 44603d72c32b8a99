package mcp

import (
	"context"
	"errors"
	"strconv"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// Payment is the amount received by a token account.
type Payment struct {
	To        string `json:"to" jsonschema:"buyer, seller, escrow or treasury"`
	Owner     string `json:"owner" jsonschema:"address that can spend from the account"`
	Account   string `json:"account"`
	Mint      string `json:"mint"`
	BaseUnits string `json:"base_units"`
}

// paidBy returns an action's payments in a negotiation; none if the node does not return them.
func paidBy(receipt *haggle.Receipt, n *haggle.Snapshot) (paid []Payment) {
	if receipt == nil || n == nil {
		return nil
	}
	for _, p := range receipt.Payments {
		to := map[solana.PublicKey]string{n.Buyer: "buyer", n.Seller: "seller", n.Address: "escrow"}[p.Owner]
		if to == "" {
			to = "treasury" // the program pays no others
		}
		paid = append(paid, Payment{
			to, p.Owner.String(), p.Account.String(), p.Mint.String(), strconv.FormatUint(p.Amount, 10),
		})
	}
	return paid
}

type rejectArguments struct {
	Negotiation string `json:"negotiation" jsonschema:"address"`
	Round       uint8  `json:"round" jsonschema:"the state's round, the number of offers that you read; after another number nothing is sent"`
	sendingArguments
}

func (s *server) reject(ctx context.Context, in rejectArguments) *Answer {
	return s.act(ctx, toolReject, in.Negotiation, &in.sendingArguments, &in,
		func(ctx context.Context, n *haggle.Snapshot) (plan, error) {
			side, party := n.SideOf(s.me())
			switch {
			case !party:
				return plan{}, s.notParty(n)
			case n.Status == protocol.NegotiationStatusRejected:
				return plan{doneAlready: true}, nil
			case n.CurrentRound != in.Round:
				return plan{}, unexpected("%d offers have been made, not %d", n.CurrentRound, in.Round)
			case side == protocol.OfferSideSeller && n.RejectionForfeitsBond():
				return plan{}, unexpected("a rejection now forfeits the bond: let the negotiation expire, " +
					"or use the command haggle negotiation reject --forfeit-bond")
			}
			return built(ctx, s.Client.At(n).Reject(s.me()))
		})
}

type endArguments struct {
	Negotiation string `json:"negotiation" jsonschema:"address"`
	sendingArguments
}

func (s *server) expire(ctx context.Context, in endArguments) *Answer {
	return s.act(ctx, toolExpire, in.Negotiation, &in.sendingArguments, &in,
		func(ctx context.Context, n *haggle.Snapshot) (plan, error) {
			_, party := n.SideOf(s.me())
			switch {
			case !party:
				return plan{}, s.notParty(n)
			case n.Status == protocol.NegotiationStatusExpired:
				return plan{doneAlready: true}, nil
			case !n.IsOpen():
				return plan{}, unexpected("no deadline can end the negotiation: it is %s", n.Status)
			case !n.IsOverdue(n.Time):
				return plan{}, unexpected("the deadline, %d, has not passed: it is %d", n.TurnDeadline, n.Time)
			}
			return built(ctx, s.Client.At(n).Expire(s.me()))
		})
}

// closing is the name of the instruction that closes a negotiation.
var closing = (*protocol.CloseNegotiation)(nil).InstructionName()

// afterClosing is the next step after closing.
const afterClosing = "it is closed, and nothing is left to do: haggle_status lists the other negotiations"

func (s *server) close(ctx context.Context, in endArguments) *Answer {
	return s.act(ctx, toolClose, in.Negotiation, &in.sendingArguments, &in,
		func(ctx context.Context, n *haggle.Snapshot) (plan, error) {
			if _, party := n.SideOf(s.me()); !party {
				return plan{}, s.notParty(n)
			}
			if !n.IsOver() {
				return plan{}, unexpected("the negotiation has not ended: it is %s", n.Status)
			}
			rent, err := s.rentOf(ctx, n)
			if err != nil {
				return plan{}, err
			}
			planned, err := built(ctx, s.Client.At(n).Close(s.me()))
			planned.rent = rent
			return planned, err
		})
}

// rentOf returns a negotiation's account rent in lamports.
func (s *server) rentOf(ctx context.Context, n *haggle.Snapshot) (uint64, error) {
	vault, _, err := protocol.FindVaultAddress(n.Address)
	if err != nil {
		return 0, err
	}
	held, err := onchain.Lamports(ctx, s.Client, vault)
	if err != nil {
		return 0, err
	}
	if _, wraps := token.WrappedSOLProgram(n.TokenMint); wraps {
		account, err := s.Client.GetTokenAccount(ctx, vault)
		if err != nil {
			return 0, err
		}
		held -= min(held, account.Amount) // the tokens are lamports, too
	}
	return n.Lamports + held, nil
}

// wasClosed reports whether a read failed because the negotiation has been closed, as the history shows. If
// mine is set, this wallet must be a party.
func (s *server) wasClosed(ctx context.Context, negotiation solana.PublicKey, err error, mine bool) bool {
	if !errors.Is(err, protocol.ErrAccountNotFound) {
		return false
	}
	found := s.events(ctx, negotiation)
	if found.closed == nil || !mine {
		return found.closed != nil
	}
	return found.closed.ClosedBy == s.me() ||
		found.created != nil && (found.created.Buyer == s.me() || found.created.Seller == s.me())
}
