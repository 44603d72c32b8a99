package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// sendingArguments holds the fields shared by all calls that send.
type sendingArguments struct {
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"simulate and check the policy only: sign and send nothing"`
	Key    string `json:"idempotency_key,omitempty" jsonschema:"a call that repeats a key sends nothing"`
}

// maxKeyLength limits an idempotency key, in bytes.
const maxKeyLength = 128

// keyedCall is a call that sent a transaction.
type keyedCall struct {
	tool, arguments string
	answer          *Answer
}

// pendingTransaction is a transaction with an unknown outcome when the call ended.
type pendingTransaction struct {
	action  string
	unknown *transaction.UnknownOutcomeError
}

// readLimit is the timeout for reading the state when an action, possibly with an expired context, is over.
const readLimit = 10 * time.Second

// plan is a call's next step: an action to send, or none if the action has taken effect already.
type plan struct {
	action *haggle.Action
	// doneAlready reports whether the state shows the effect of the action.
	doneAlready bool
	// repeated checks a creation that the journal knows; nil for other actions.
	repeated func(context.Context, solana.PublicKey) error
	// costs is set for creations; nil for other actions.
	costs *Costs
	// snapshot is the negotiation before the action; nil for creations.
	snapshot *haggle.Snapshot
	// rent is the rent returned by a closing, in lamports; 0 for other actions.
	rent uint64
}

// name returns the action's name; "" if there is no action.
func (p *plan) name() string {
	if p.action == nil {
		return ""
	}
	return p.action.Name
}

// send carries out a call that sends: at most once for an idempotency key, one call at a time.
func (s *server) send(
	ctx context.Context, tool string, call sendingArguments, negotiation solana.PublicKey, arguments any,
	decide func(context.Context) (plan, error),
) *Answer {
	ctx, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	if len(call.Key) > maxKeyLength {
		return s.failed(ctx, "", solana.PublicKey{},
			invalid("idempotency_key: must have at most %d bytes", maxKeyLength))
	}
	if strings.ContainsFunc(call.Key, unicode.IsControl) {
		return s.failed(ctx, "", solana.PublicKey{}, invalid("idempotency_key: must not contain control characters"))
	}
	select {
	case s.sending <- struct{}{}:
		defer func() { <-s.sending }()
	case <-ctx.Done():
		return s.failed(ctx, "", negotiation, context.Cause(ctx))
	}
	if answer := s.repetition(ctx, tool, call, negotiation, arguments); answer != nil {
		return answer
	}
	planned, err := decide(ctx)
	switch {
	case errors.Is(err, haggle.ErrAlreadyDone) && planned.action != nil:
		return s.answerTo(ctx, planned, negotiation, nil, err)
	case err != nil:
		return s.afterFailure(ctx, tool, negotiation, err, nil)
	case planned.doneAlready:
		return s.done(ctx, DoneAlready, planned.name(), negotiation, nil)
	case call.DryRun:
		return s.simulate(ctx, planned, negotiation)
	}
	receipt, err := planned.action.Do(ctx, s.Wallet)
	if address := planned.action.Negotiation; !address.IsZero() {
		negotiation = address
	}
	answer := s.answerTo(ctx, planned, negotiation, receipt, err)
	if answer.Outcome == Confirmed || answer.Outcome == Unknown {
		answer.Costs = planned.costs
	}
	if answer.Outcome == Confirmed {
		answer.Paid = paidBy(receipt, planned.snapshot)
		if planned.rent > 0 {
			answer.Rent = strconv.FormatUint(planned.rent, 10)
		}
	}
	if answer.Outcome != Failed {
		s.remember(tool, call, arguments, answer)
	}
	return answer
}

// answerTo describes the outcome when an action has been carried out.
func (s *server) answerTo(
	ctx context.Context, planned plan, negotiation solana.PublicKey, receipt *haggle.Receipt, err error,
) *Answer {
	var done *haggle.AlreadyDone
	var journal *haggle.JournalError
	switch {
	case errors.As(err, &done):
		if planned.repeated != nil {
			if err := planned.repeated(ctx, done.Negotiation); err != nil {
				return s.failed(ctx, planned.action.Name, done.Negotiation, err)
			}
		}
		return s.done(ctx, DoneAlready, planned.name(), done.Negotiation, done.Receipt)
	case errors.As(err, &journal) && journal.Failure == nil && journal.Outcome == transaction.Confirmed,
		errors.Is(err, transaction.ErrDetailsUnavailable), err == nil:
		return s.done(ctx, Confirmed, planned.name(), negotiation, receipt)
	}
	return s.afterFailure(ctx, planned.action.Name, negotiation, err, planned.action)
}

// afterFailure describes an error: an unknown outcome, or an action that changed nothing.
func (s *server) afterFailure(
	ctx context.Context, name string, negotiation solana.PublicKey, err error, action *haggle.Action,
) *Answer {
	if unknown := unresolved(err); unknown != nil && action != nil {
		s.lock.Lock()
		s.pending[negotiation] = pendingTransaction{action.Name, unknown}
		s.lock.Unlock()
		return s.unknown(ctx, negotiation, &Pending{action.Name, unknown.Signature.String()})
	}
	var earlier *haggle.UnresolvedError
	if errors.As(err, &earlier) && len(earlier.Entries) > 0 {
		entry := earlier.Entries[0].Entry
		return s.unknown(ctx, negotiation, &Pending{entry.Action, entry.Signature.String()})
	}
	return s.failed(ctx, name, negotiation, err)
}

// unknown describes a transaction whose outcome is not known yet.
func (s *server) unknown(ctx context.Context, negotiation solana.PublicKey, pending *Pending) *Answer {
	return &Answer{
		Outcome: Unknown, Action: pending.Action, Negotiation: negotiation.String(), Signature: pending.Signature,
		State: s.readState(ctx, negotiation), Pending: pending,
		Next: "do not decide again yet: call haggle_status with this negotiation and wait_seconds 60 until " +
			"\"pending\" is gone; a transaction has an outcome after at most two minutes",
	}
}

var errNeedsApproval = errors.New(
	"policy denied: the transaction needs an approval, which haggle mcp cannot request")

// simulate returns the effects if the action were sent, or the policy's denial.
func (s *server) simulate(ctx context.Context, planned plan, negotiation solana.PublicKey) *Answer {
	action := planned.action
	run, err := action.Simulate(ctx)
	if err != nil {
		return s.failed(ctx, action.Name, negotiation, err)
	}
	approval, err := s.Wallet.CheckRun(ctx, run)
	if err == nil && approval != nil {
		err = &exitcode.Error{Kind: exitcode.Denied, Err: errNeedsApproval}
	}
	if err != nil {
		return s.failed(ctx, action.Name, negotiation, err)
	}
	return &Answer{
		Outcome: DryRan, Action: action.Name, Negotiation: action.Negotiation.String(), Effects: effectsOf(run),
		Costs: planned.costs,
		Next:  "nothing was signed or sent: to send it, repeat the call without dry_run",
	}
}

// done describes an action in effect.
func (s *server) done(
	ctx context.Context, outcome Outcome, action string, negotiation solana.PublicKey, receipt *haggle.Receipt,
) *Answer {
	answer := &Answer{Outcome: outcome, Action: action, Negotiation: negotiation.String()}
	if receipt != nil {
		answer.Signature = receipt.Signature.String()
		if receipt.Fee > 0 {
			answer.FeeLamports = strconv.FormatUint(receipt.Fee, 10)
		}
	}
	if action == closing {
		answer.Next = afterClosing
		return answer
	}
	answer.Next = "haggle_status with this negotiation"
	if answer.State = s.readState(ctx, negotiation); answer.State != nil {
		answer.Next = nextStep(answer.State)
	}
	return answer
}

// readState returns nil if the negotiation cannot be read. It also reads if the time of ctx is over.
func (s *server) readState(ctx context.Context, negotiation solana.PublicKey) *State {
	if negotiation.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readLimit)
	defer cancel()
	n, err := s.Client.Negotiation(negotiation).Snapshot(ctx)
	if err != nil {
		return nil
	}
	m, err := s.mint(ctx, n.TokenMint)
	if err != nil {
		return nil
	}
	return s.stateOf(n, m, n.Time)
}

// repetition returns the answer to a call whose idempotency key was used; nil for new keys.
func (s *server) repetition(
	ctx context.Context, tool string, call sendingArguments, negotiation solana.PublicKey, arguments any,
) *Answer {
	if call.Key == "" || call.DryRun {
		return nil
	}
	s.lock.Lock()
	earlier, used := s.keys[call.Key]
	s.lock.Unlock()
	if !used {
		return nil
	}
	if earlier.tool != tool || earlier.arguments != written(arguments) {
		return s.failed(ctx, "", negotiation,
			invalid("idempotency_key %q: used before by %s with other arguments", call.Key, earlier.tool))
	}
	address, err := solana.PublicKeyFromBase58(earlier.answer.Negotiation)
	if err != nil {
		return nil
	}
	pending, err := s.resolve(ctx, address)
	switch {
	case pending != nil:
		return s.unknown(ctx, address, pending)
	case err != nil:
		// The transaction had no effect, so the call may send another one.
		s.lock.Lock()
		delete(s.keys, call.Key)
		s.lock.Unlock()
		return nil
	}
	answer := s.done(ctx, DoneAlready, earlier.answer.Action, address, nil)
	answer.Signature, answer.Paid, answer.Rent = earlier.answer.Signature, earlier.answer.Paid, earlier.answer.Rent
	return answer
}

// remember keeps a call that sent a transaction, for calls with the same key.
func (s *server) remember(tool string, call sendingArguments, arguments any, answer *Answer) {
	if call.Key == "" {
		return
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.keys[call.Key] = keyedCall{tool, written(arguments), answer}
}

// written formats arguments uniformly, for comparison.
func written(arguments any) string {
	content, err := json.Marshal(arguments)
	if err != nil {
		return "" // the arguments are structs of texts and numbers
	}
	return string(content)
}

// resolve waits for the outcome of the negotiation's last transaction. It returns the transaction if the
// outcome stays unknown, and an error if the transaction had no effect.
func (s *server) resolve(ctx context.Context, negotiation solana.PublicKey) (*Pending, error) {
	s.lock.Lock()
	last, is := s.pending[negotiation]
	s.lock.Unlock()
	if !is {
		return nil, nil
	}
	_, err := s.Client.Outcome(ctx, last.unknown)
	outcome := transaction.OutcomeOf(err)
	if errors.Is(err, transaction.ErrDetailsUnavailable) {
		err = nil
	}
	if err != nil && !outcome.IsFinal() {
		return &Pending{last.action, last.unknown.Signature.String()}, nil
	}
	s.lock.Lock()
	delete(s.pending, negotiation)
	s.lock.Unlock()
	return nil, err
}
