package haggle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/optional"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Action is an instruction of the program with the instructions it needs around it, unsigned. It can be used
// on three levels: the instructions, for the caller's own transaction ([Action.Build]); the unsigned
// transaction, for a wallet's signature ([Action.Transaction]); or everything at once:
//
//	receipt, err := client.Negotiation(address).SubmitOffer(me.PublicKey(), haggle.Offer{Amount: 2_000_000}).Do(ctx, me)
//
// An Action must not be used by several goroutines before being built.
type Action struct {
	// Name is the instruction's name in the IDL.
	Name string
	// Negotiation is the negotiation's address; zero for an action on the configuration, or for an unbuilt
	// creation.
	Negotiation solana.PublicKey
	// Creation holds the session id, the vault and the complete terms once a creation is built; otherwise it
	// is nil.
	Creation *protocol.CreateNegotiation
	// Instructions holds the action's own instruction, preceded by the instructions that create missing token
	// accounts or wrap SOL, and followed, with [Action.UnwrapSOL], by the instruction that unwraps SOL.
	// [Negotiation.RevealZopa] can need two own instructions. The compute budget's instructions are not
	// included. Instructions is nil before the action is built.
	Instructions []solana.Instruction
	// Payer pays the fee, and must sign. If zero, the acting party pays.
	Payer solana.PublicKey
	// Warnings lists reasons to reconsider the action before signing, set when it is built. They do not
	// prevent sending.
	Warnings []error
	// Rent is the rent of the token accounts that [Negotiation.Close] creates at the closer's expense, in
	// lamports, set when the action is built; zero for other actions. [Action.Simulate] returns the rent of
	// all accounts that an action creates.
	Rent uint64

	client  *Client
	builder instructionBuilder
	// err is the reason why the action cannot be built.
	err error
	// snapshot is the snapshot that the action is built on; nil for a creation. readAt is the time at which
	// building it read the snapshot; zero if the caller provided it.
	snapshot *Snapshot
	readAt   time.Time
	// accounts and unwrap are set by PayTo and UnwrapSOL.
	accounts TokenAccounts
	unwrap   solana.PublicKey

	// instruction is the action's own instruction; the precondition, the idempotency key and the intent
	// follow from it. second is a further own instruction; nil for most actions.
	instruction, second protocol.AnyInstruction
	precondition        precondition
	// key is the idempotency key if it does not follow from the instruction. intent is the same each time the
	// action is built.
	key, intent solana.Hash
	// inTime refuses an action that would be too late, before a node receives it, and delays an action that
	// would be too early; nil if neither does harm.
	inTime func(context.Context) error
	// treasury is the treasury paid by a close; zero if there is no such payment, and for other actions.
	treasury solana.PublicKey
	// sealed is the price that the action commits to; nil for other actions.
	sealed *protocol.SealedPrice
	// options are set by With.
	options sendOptions
}

// Transaction simulates the action and builds the unsigned transaction, including the compute limit and the
// priority fee. The transaction must be sent within about a minute, with [Client.Submit], which knows the
// validity and the idempotency keys of the transactions that this client built.
//
// It fails with the simulation's error, a [*protocol.ProgramError] or a [*transaction.Error], or with
// [*StateChangedError] or [*AlreadyDone].
func (a *Action) Transaction(ctx context.Context) (*solana.Transaction, error) {
	prepared, err := a.prepare(ctx)
	if err != nil {
		return nil, err
	}
	return prepared.transaction, a.client.keepPrepared(prepared)
}

// Do builds the action if it is not built, reads the negotiation again unless Build read it within the last
// second, simulates the action, sets the compute limit from the simulation, obtains all signatures, records
// the transaction in the journal if there is one, sends it, and resends it until confirmation or expiry.
//
// With a journal, Do sends nothing and returns [*AlreadyDone] if an action with that idempotency key is
// confirmed, whichever call, process or recovery recorded it. First, it waits for the outcomes of conflicting
// transactions, which share the key or the negotiation, and returns [*UnresolvedError] if they stay unknown.
// Other unknown outcomes do not delay it: see [Client.Recover].
//
// Before anything is signed it returns [*StateChangedError] if the precondition is no longer met, and
// [*AlreadyDone] if the negotiation shows that the action is done. Otherwise it fails with a
// [*protocol.ProgramError] or [*transaction.Error], without Signature if nothing was sent; with
// [transaction.ErrExpired], which makes the action safe to repeat; or with
// [*transaction.UnknownOutcomeError]. With [transaction.ErrDetailsUnavailable] it also returns a receipt,
// because the action is done; with a [*JournalError] it may. [transaction.OutcomeOf] distinguishes these
// errors.
//
// Do rebuilds a refused close because the protocol's treasury was replaced: see [Negotiation.Close]. If the
// refused transaction was executed, a fee was paid; [WithMaxPriorityFee] prevents a second fee.
func (a *Action) Do(ctx context.Context, signers ...Signer) (receipt *Receipt, err error) {
	ctx, end := a.client.beginAction(ctx, a.Name, a.Negotiation)
	defer func() { end(err) }()
	if _, err := a.Build(ctx); err != nil {
		return nil, beforeSending(err)
	}
	a.client.observers.add(signers)
	receipt, err = a.carryOut(ctx, signers)
	if a.options.maxPriorityFee != nil || transaction.OutcomeOf(err) != transaction.Failed {
		return receipt, err
	}
	// The transaction failed, so it cannot take effect in addition to the next transaction.
	if err = a.rebuild(ctx, err, a.Rent); err != nil {
		return nil, err
	}
	return a.carryOut(ctx, signers)
}

// carryOut signs and sends a built action, unless it is done according to the journal.
func (a *Action) carryOut(ctx context.Context, signers []Signer) (receipt *Receipt, err error) {
	done, err := a.client.resolveConflicts(ctx, conflicts{
		wallet: a.Payer, key: a.idempotencyKey(), intent: a.intent, negotiation: a.Negotiation,
	})
	if err != nil {
		return nil, beforeSending(err)
	}
	if done != nil {
		if receipt, err = a.client.receiptOf(ctx, done); err != nil {
			return nil, beforeSending(err)
		}
		return receipt, &AlreadyDone{Action: a.Name, Negotiation: done.Entry.Negotiation, Receipt: receipt}
	}
	prepared, err := a.prepare(ctx)
	if err != nil {
		return nil, beforeSending(err)
	}
	if err := send.Sign(a.signing(prepared.valid).Context(ctx), prepared.transaction, signers); err != nil {
		return nil, beforeSending(err)
	}
	return a.client.send(ctx, prepared)
}

// signing returns the context for signing.
func (a *Action) signing(valid *send.Validity) Signing {
	return Signing{LastValidBlockHeight: valid.LastHeight, Slot: valid.Since, SealedPrice: a.sealed}
}

// idempotencyKey returns the key that prevents a second execution.
func (a *Action) idempotencyKey() solana.Hash {
	if a.instruction != nil {
		if key := keyOf(a.Payer, a.instruction); !key.IsZero() {
			return key
		}
	}
	return a.key
}

// prepare makes the unsigned transaction, if the precondition is met. It rebuilds a close if the treasury was
// replaced.
func (a *Action) prepare(ctx context.Context) (*preparedTx, error) {
	prepared, err := a.simulateTx(ctx)
	if err == nil {
		return prepared, nil
	}
	if err = a.rebuild(ctx, err, a.Rent); err != nil {
		return nil, err
	}
	return a.simulateTx(ctx)
}

// simulateTx makes the unsigned transaction of the built instructions, and simulates it.
func (a *Action) simulateTx(ctx context.Context) (*preparedTx, error) {
	inputs, err := a.gather(ctx, true)
	if err != nil {
		return nil, err
	}
	tx, result, err := a.fitComputeLimit(ctx, inputs)
	if err != nil {
		return nil, err
	}
	if err := simulationError(tx, result); err != nil {
		return nil, a.explain(ctx, err)
	}
	prepared := &preparedTx{
		transaction: tx,
		valid:       &inputs.valid,
		commitment:  inputs.commitment,
		action:      a.Name,
		negotiation: a.Negotiation,
		key:         a.idempotencyKey(),
		intent:      a.intent,
	}
	if creation, ok := a.instruction.(*protocol.CreateNegotiation); ok {
		prepared.sessionID = creation.SessionID
	}
	return prepared, nil
}

// explain returns an *AlreadyDone for a refusal if the postcondition is met, otherwise the refusal.
func (a *Action) explain(ctx context.Context, refused error) error {
	var program *protocol.ProgramError
	if a.precondition.isZero() || !errors.As(refused, &program) {
		return refused
	}
	now, err := a.current(ctx)
	if err != nil || !a.isDone(now) {
		return refused
	}
	return &AlreadyDone{Action: a.Name, Negotiation: a.Negotiation, Now: now, Refusal: refused}
}

// txInputs holds the values used to build a transaction, besides the instructions.
type txInputs struct {
	blockhash  solana.Hash
	valid      send.Validity
	commitment rpc.CommitmentType
	// first is the transaction's first instruction; nil if no durable nonce is used.
	first solana.Instruction
	// price is in millionths of a lamport per compute unit, not capped yet.
	price uint64
	// maxPriorityFee is in lamports.
	maxPriorityFee uint64
}

// newSnapshot is the age limit for using a snapshot read by Build. The caller's snapshot is always read
// again. The state can change at any time before the transaction is executed, and then the program refuses
// it.
const newSnapshot = time.Second

// gather requests all inputs for a transaction at once, and the negotiation if check is set and the snapshot
// is not new.
func (a *Action) gather(ctx context.Context, check bool) (*txInputs, error) {
	if _, err := a.Build(ctx); err != nil {
		return nil, err
	}
	if a.Payer.IsZero() {
		return nil, fmt.Errorf("haggle: %s: fee payer not set", a.Name)
	}
	commitment, err := commitmentOr(a.options.commitment, a.client.commitment)
	if err != nil {
		return nil, err
	}
	a.client.syncSlot(ctx)
	if a.inTime != nil {
		if err := a.inTime(ctx); err != nil {
			return nil, err
		}
	}
	inputs := &txInputs{commitment: commitment,
		maxPriorityFee: optional.Or(a.options.maxPriorityFee, a.client.maxPriorityFee)}
	var checked, dated, priced error
	var asking sync.WaitGroup
	if check && !a.precondition.isZero() && time.Since(a.readAt) > newSnapshot {
		asking.Go(func() { checked = a.check(ctx) })
	}
	if inputs.maxPriorityFee > 0 {
		asking.Go(func() { inputs.price, priced = a.client.unitPrice(ctx, a.Instructions) })
	}
	dated = a.setValidity(ctx, inputs)
	asking.Wait()
	for _, err := range []error{checked, dated, priced} {
		if err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// setValidity sets how long the transaction will be valid.
func (a *Action) setValidity(ctx context.Context, inputs *txInputs) error {
	if !a.options.nonce.IsZero() {
		return a.useNonce(ctx, inputs)
	}
	latest, slot, err := a.client.latestBlockhash(ctx)
	if err != nil {
		return err
	}
	inputs.blockhash = latest.Blockhash
	inputs.valid = send.Validity{LastHeight: latest.LastValidBlockHeight, Blockhash: latest.Blockhash, Since: slot}
	return nil
}

// latestBlockhash returns the newest blockhash and the slot of the response.
func (c *Client) latestBlockhash(ctx context.Context) (*rpc.LatestBlockhashResult, uint64, error) {
	answer, err := c.rpc.GetLatestBlockhash(ctx, c.commitment)
	if err != nil {
		return nil, 0, err
	}
	if answer.Value == nil {
		return nil, 0, malformed("node returned no blockhash")
	}
	return answer.Value, answer.Context.Slot, nil
}

// fitComputeLimit simulates the action and builds the transaction with the resulting compute limit. If the
// simulation fails, it returns the simulated transaction.
func (a *Action) fitComputeLimit(
	ctx context.Context, inputs *txInputs,
) (*solana.Transaction, *rpc.SimulateTransactionResult, error) {
	budget := computeBudget{unitLimit: maxUnitLimit,
		unitPrice: cappedUnitPrice(inputs.price, maxUnitLimit, inputs.maxPriorityFee)}
	simulated, err := a.assemble(budget, inputs)
	if err != nil {
		return nil, nil, err
	}
	result, err := a.client.simulate(ctx, simulated, inputs)
	if err != nil || result.Err != nil {
		return simulated, result, err
	}
	if result.UnitsConsumed == nil {
		return nil, nil, malformed("node returned no compute units of the simulation")
	}
	budget.unitLimit = a.unitLimit(*result.UnitsConsumed, result.Logs)
	budget.unitPrice = cappedUnitPrice(inputs.price, budget.unitLimit, inputs.maxPriorityFee)
	tx, err := a.assemble(budget, inputs)
	return tx, result, err
}

func (a *Action) assemble(budget computeBudget, inputs *txInputs) (*solana.Transaction, error) {
	var instructions []solana.Instruction
	if inputs.first != nil {
		instructions = append(instructions, inputs.first)
	}
	instructions = append(append(instructions, budget.instructions()...), a.Instructions...)
	tx, err := solana.NewTransaction(instructions, inputs.blockhash, solana.TransactionPayer(a.Payer))
	if err != nil {
		return nil, fmt.Errorf("haggle: %s: %w", a.Name, err)
	}
	return tx, nil
}

// simulate executes a transaction without effect, and returns the accounts as they would then be. A failure
// of the transaction is part of the result, not an error.
func (c *Client) simulate(
	ctx context.Context, tx *solana.Transaction, inputs *txInputs, after ...solana.PublicKey,
) (*rpc.SimulateTransactionResult, error) {
	unsigned := *tx
	unsigned.Signatures = make([]solana.Signature, tx.Message.Header.NumRequiredSignatures)
	options := &rpc.SimulateTransactionOpts{
		Commitment: c.commitment,
		// A nonce's value is not replaced, so that the node checks whether it is still the account's.
		ReplaceRecentBlockhash: inputs.first == nil,
	}
	if len(after) > 0 {
		options.Accounts = &rpc.SimulateTransactionAccountsOpts{Encoding: solana.EncodingBase64,
			Addresses: after}
	}
	answer, err := c.rpc.SimulateTransactionWithOpts(ctx, &unsigned, options)
	if err != nil {
		return nil, err
	}
	if answer.Value == nil {
		return nil, malformed("node returned no simulation result")
	}
	return answer.Value, nil
}

// simulationError returns a simulated transaction's error; nil if it succeeded.
func simulationError(tx *solana.Transaction, result *rpc.SimulateTransactionResult) error {
	if result.Err == nil {
		return nil
	}
	return send.FailureError(result.Err, result.Logs, send.InvokedPrograms(tx), solana.Signature{}, explainFailure)
}
