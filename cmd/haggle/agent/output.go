package agent

import (
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/identity"
)

// ended is the output for a finished negotiation.
type ended struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	Counterpart solana.PublicKey `json:"counterpart"`
	// Status is "Settled", "Rejected" or "Expired".
	Status string `json:"status"`
	// Price and Fee are 0 if there is no deal. The price includes the fee.
	Price amount.Tokens `json:"price"`
	Fee   amount.Tokens `json:"fee"`
	// Rounds is the number of offers.
	Rounds uint8 `json:"rounds"`
}

// decided prints a decision before executing it.
func (a *agentCommand) decided(record agent.Record) {
	if a.JSON {
		a.log.Document(record)
		return
	}
	price := ""
	if record.Price > 0 {
		price = " " + a.log.Tokens(record.Price).String()
	}
	a.log.Note("%s round %d: %s%s (%s)", record.Negotiation, record.Round, record.Move, price, record.Reason)
}

func (a *agentCommand) acted(act agent.Act) {
	switch act.Name {
	case "accept_invitation", "submit_offer":
		a.steps.set(act.Before.Address, "waiting for the "+format.Side(1-a.side))
	default:
		a.steps.set(act.Before.Address, "waiting for the end of the negotiation")
	}
	a.log.Did(act.Name, act.Before, act.Receipt)
}

func (a *agentCommand) ended(result agent.Result) {
	a.reported.Store(true)
	a.steps.set(result.Negotiation, "")
	a.reportSpending(result.Negotiation)
	if a.prover != nil {
		a.proving.Go(func() { a.finish(result.Negotiation) })
	}
	if a.JSON {
		a.log.Document(ended{
			Negotiation: result.Negotiation, Counterpart: result.Counterpart, Status: result.Status.String(),
			Price: a.log.Tokens(result.Price), Fee: a.log.Tokens(result.Fee), Rounds: result.Rounds,
		})
		return
	}
	line := fmt.Sprintf("%s is %s after %s", result.Negotiation, result.Status, offers(result))
	if result.Price > 0 {
		line += fmt.Sprintf(" for %s, of which %s is the fee", a.log.Tokens(result.Price), a.log.Tokens(result.Fee))
	}
	a.log.Note("%s", line)
}

// offers writes the number of offers.
func offers(result agent.Result) string { return report.Counted(int(result.Rounds), "offer", "") }

// failed prints declined negotiations. Other errors go to the logger.
func (a *agentCommand) failed(negotiation solana.PublicKey, err error) {
	refusal, untrusted := new(agent.Refusal), new(identity.Refusal)
	switch {
	case errors.As(err, &refusal):
		a.declined(negotiation, amount.InText(refusal.Reason, refusal, a.log.AmountOf), refusal)
	case errors.Is(err, agent.ErrRefused) && errors.As(err, &untrusted):
		a.declined(negotiation, exitcode.Message(untrusted), untrusted)
	}
}
