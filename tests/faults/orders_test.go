package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// moment is a time when a buyer repeats a negotiation's creation.
type moment string

const (
	atOnce         moment = "at once"
	afterAnswer    moment = "after the seller's answer"
	afterClosing   moment = "after the closing"
	afterARestart  moment = "after a restart"
	eventsToAnswer        = 2
)

// repetition is a repeated creation's result.
type repetition struct {
	// Number is the script's.
	Number int
	Moment moment
	// Signature is the first creation's transaction, from the journal.
	Signature solana.Signature
	// Problem is a result differing from the journal's first creation.
	Problem string `json:",omitempty"`
}

// order is a buyer's negotiation, as known by the buyer's process.
type order struct {
	negotiation
	created bool
	// due lists the moments of the remaining repetitions.
	due []moment
}

// orderAgain is the pause between attempts to create negotiations or to repeat creations.
const orderAgain = 200 * time.Millisecond

// order creates a buyer's negotiations in sequence, and repeats the creations at the moments of the scripts.
// When restarted, it also repeats creations whose events an earlier process has received.
func (h *host) order(ctx context.Context, number int, key *wallet.Keypair, logger *slog.Logger) error {
	orders, err := h.orders(number)
	if err != nil {
		return err
	}
	for left := true; left; {
		left = false
		for _, o := range orders {
			if !o.created {
				o.created = h.create(ctx, o.negotiation, key, logger)
			}
			if o.created {
				if err := h.repeatDue(ctx, o, logger); err != nil {
					return err
				}
			}
			left = left || !o.created || len(o.due) > 0
		}
		if err := pause(ctx, orderAgain); err != nil {
			return err
		}
	}
	return nil
}

// orders returns a buyer's negotiations, excluding repetitions already made by earlier processes.
func (h *host) orders(number int) (orders []*order, err error) {
	done, err := readRepetitions(h.repetitionsFile(number))
	if err != nil {
		return nil, err
	}
	for _, n := range h.of(number) {
		if n.Buyer != number {
			continue
		}
		events, err := readReceived(h.receivedFile(number, n.Script.Number))
		if err != nil {
			return nil, err
		}
		due := missing(n.Script.Repetitions, n.Script.Number, done)
		o := &order{negotiation: n, created: len(events) > 0, due: due}
		if o.created {
			o.due = append(o.due, afterARestart)
		}
		orders = append(orders, o)
	}
	return orders, nil
}

// missing returns the moments lacking a repetition.
func missing(moments []moment, number int, done []repetition) []moment {
	return slices.DeleteFunc(slices.Clone(moments), func(m moment) bool {
		return slices.ContainsFunc(done, func(r repetition) bool { return r.Number == number && r.Moment == m })
	})
}

// create reports whether the negotiation exists or existed.
func (h *host) create(ctx context.Context, n negotiation, key *wallet.Keypair, logger *slog.Logger) bool {
	request := n.Script.request(h.Mint, h.Wallets[n.Buyer], h.Wallets[n.Seller], h.Terms)
	_, err := h.client.CreateNegotiation(request).Do(ctx, key)
	if errors.As(err, new(*haggle.SessionUsedError)) {
		return true
	}
	if transaction.OutcomeOf(err) == transaction.Confirmed {
		logger.Info("done", "action", createAction, "negotiation", n.Address)
		return true
	}
	logger.Warn("not done", "action", createAction, "negotiation", n.Address, "error", err)
	return false
}

const createAction = "create_negotiation"

// repeatDue repeats a creation for each moment that is due.
func (h *host) repeatDue(ctx context.Context, o *order, logger *slog.Logger) error {
	events, err := readReceived(h.receivedFile(o.Buyer, o.Script.Number))
	if err != nil {
		return err
	}
	var left []moment
	for _, m := range o.due {
		isDue := m == atOnce || m == afterARestart || m == afterAnswer && len(events) >= eventsToAnswer ||
			m == afterClosing && endsWithClosing(events)
		if !isDue {
			left = append(left, m)
			continue
		}
		done, err := h.repeat(ctx, o.negotiation, m, logger)
		if err != nil {
			return err
		}
		if !done {
			left = append(left, m)
		}
	}
	o.due = left
	return nil
}

// repeat repeats a creation and records the result. It returns false if there is none yet, such as when a
// node returns an error.
func (h *host) repeat(ctx context.Context, n negotiation, m moment, logger *slog.Logger) (bool, error) {
	buyer, result := h.Wallets[n.Buyer], repetition{Number: n.Script.Number, Moment: m}
	request := n.Script.request(h.Mint, buyer, h.Wallets[n.Seller], h.Terms)
	_, err := h.client.CreateNegotiation(request).Do(ctx, refusingSigner{buyer})
	var done *haggle.AlreadyDone
	switch isDone := errors.As(err, &done); {
	case isDone && done.Receipt != nil && done.Negotiation == n.Address:
		result.Signature = done.Receipt.Signature
	case isDone || errors.Is(err, errSigned) || errors.As(err, new(*haggle.SessionUsedError)):
		result.Problem = err.Error()
	default:
		logger.Warn("creation not repeated", "moment", m, "negotiation", n.Address, "error", err)
		return false, nil
	}
	logger.Info("creation repeated "+string(m), "negotiation", n.Address, "result", err)
	line, err := json.Marshal(result)
	if err != nil {
		return false, err
	}
	file, err := os.OpenFile(h.repetitionsFile(n.Buyer), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return false, err
	}
	_, err = file.Write(append(line, '\n'))
	return true, errors.Join(err, file.Close())
}

// errSigned: a signature was requested for a repeated creation, although the journal contains the first
// creation.
var errSigned = errors.New("a repeated creation must not be signed")

// refusingSigner signs nothing, so a repeated creation cannot send anything.
type refusingSigner struct{ address solana.PublicKey }

func (s refusingSigner) PublicKey() solana.PublicKey { return s.address }

func (refusingSigner) SignMessage(context.Context, []byte) (solana.Signature, error) {
	return solana.Signature{}, errSigned
}

// readRepetitions returns a buyer's recorded repetitions. It skips a line truncated by a kill.
func readRepetitions(path string) (all []repetition, err error) {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(content) {
		var one repetition
		if json.Unmarshal(line, &one) == nil {
			all = append(all, one)
		}
	}
	return all, nil
}

// awaitTheRepetitions waits until the buyers have repeated all creations of the scripts.
func (s *fixture) awaitTheRepetitions(ctx context.Context) error {
	for wallet := range s.plan.Wallets {
		for {
			left, err := s.repetitionsLeft(wallet)
			if err != nil {
				return err
			}
			if left == 0 {
				break
			}
			if err := pause(ctx, lookEvery); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *fixture) repetitionsLeft(wallet int) (left int, err error) {
	done, err := readRepetitions(s.plan.repetitionsFile(wallet))
	for _, n := range s.plan.of(wallet) {
		if n.Buyer == wallet {
			left += len(missing(n.Script.Repetitions, n.Script.Number, done))
		}
	}
	return left, err
}

// repetitions requires that each repeated creation returned the first creation's transaction and that there
// is no second escrow.
func (a *audit) repetitions(context.Context) error {
	creations := make(map[solana.PublicKey]solana.Signature)
	escrows := 0
	for _, one := range a.ledger.read {
		if !one.failed && slices.ContainsFunc(one.moves, isCreation) {
			creations[one.negotiations[0]] = one.signature
			escrows++
		}
	}
	if a.secondEscrows = escrows - len(a.plan.Negotiations); a.secondEscrows != 0 {
		a.find("%d creations for %d orders", escrows, len(a.plan.Negotiations))
	}
	for wallet := range a.plan.Wallets {
		done, err := readRepetitions(a.plan.repetitionsFile(wallet))
		if err != nil {
			return err
		}
		for _, r := range done {
			a.repeated++
			if want := creations[a.plan.Negotiations[r.Number].Address]; r.Problem != "" || r.Signature != want {
				a.find("negotiation %d: its creation %s, repeated %s, has the result %s %s",
					r.Number, want, r.Moment, r.Signature, r.Problem)
			}
		}
		left, err := a.repetitionsLeft(wallet)
		if err != nil {
			return err
		}
		if left > 0 {
			a.find("wallet %d has not repeated %d creations of the scripts", wallet, left)
		}
	}
	return nil
}
