package haggle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// Action is something to be done on chain, which nobody has signed yet. There are three levels to use it on: its instructions, to
// be put into a transaction of one's own; the unsigned transaction, to be signed by a wallet; or all of it at once:
//
//	action, err := client.Offer(ctx, haggle.OfferRequest{Offerer: me.PublicKey(), Seen: negotiation, Amount: 2_000_000})
//	...
//	receipt, err := action.Do(ctx, me)
type Action struct {
	// Name is the instruction's name in the IDL.
	Name string
	// Negotiation is the negotiation's address; zero for an action on the configuration.
	Negotiation solana.PublicKey
	// Instructions are what is to be executed, without those that set the compute budget. The last one is the action itself; those
	// before it create token accounts that are missing.
	Instructions []solana.Instruction
	// Payer pays the fee, and has to sign. It is the acting party unless it is changed here.
	Payer solana.PublicKey

	client *Client
}

// newAction puts an action together: what has to be there first, then the instruction itself.
func (c *Client) newAction(negotiation, payer solana.PublicKey, instruction AnyInstruction, before ...solana.Instruction) (*Action, error) {
	built, err := instruction.Instruction()
	if err != nil {
		return nil, err
	}
	return &Action{
		Name:         instruction.InstructionName(),
		Negotiation:  negotiation,
		Instructions: append(before, built),
		Payer:        payer,
		client:       c,
	}, nil
}

// Receipt says what a confirmed transaction has done.
type Receipt struct {
	Signature solana.Signature
	// Slot is when the transaction was executed.
	Slot uint64
	// Logs are the transaction's.
	Logs []string
	// Events are the program's, in their order.
	Events []Event
	// ComputeUnits are what the whole transaction has consumed.
	ComputeUnits uint64
	// Fee is what the payer has paid, in lamports.
	Fee uint64
	// BlockTime is the block's time in Unix seconds; zero if the node does not know.
	BlockTime int64
	// Elapsed is the machine's time from the first broadcast to the confirmation, or at Client.Outcome until it was seen.
	Elapsed time.Duration
}

// Transaction simulates the action and makes the transaction that is to be signed, with its compute limit and its priority fee
// set. It has to be sent within about a minute, for example with [Client.Submit].
//
// It fails with what the simulation fails with: a [*ProgramError] or a [*TransactionError].
func (a *Action) Transaction(ctx context.Context) (*solana.Transaction, error) {
	transaction, _, err := a.prepare(ctx)
	return transaction, err
}

// Do simulates the action, sets its compute limit from that, has everyone sign who has to, sends it, and sends it again until it
// is confirmed or cannot be executed any more.
//
// It fails with a [*ProgramError] or [*TransactionError], without Signature if nothing has been sent; with
// [ErrTransactionExpired], after which the action is safe to repeat; with an [*UnknownOutcome], after which one has to look
// first. With [ErrDetailsUnavailable] there is a receipt, because the action has been done.
func (a *Action) Do(ctx context.Context, signers ...Signer) (*Receipt, error) {
	transaction, lastValid, err := a.prepare(ctx)
	if err != nil {
		return nil, err
	}
	if err := sign(ctx, transaction, signers); err != nil {
		return nil, err
	}
	return a.client.submit(ctx, transaction, lastValid)
}

// prepare makes the unsigned transaction, and says until which block height it is valid.
func (a *Action) prepare(ctx context.Context) (*solana.Transaction, uint64, error) {
	if a.Payer.IsZero() {
		return nil, 0, fmt.Errorf("haggle: %s: nobody pays", a.Name)
	}
	latest, err := a.client.latestBlockhash(ctx)
	if err != nil {
		return nil, 0, err
	}
	price, err := a.client.unitPrice(ctx, a.Instructions)
	if err != nil {
		return nil, 0, err
	}
	budget := computeBudget{unitLimit: maxUnitLimit, unitPrice: cappedUnitPrice(price, maxUnitLimit, a.client.maxPriorityFee)}
	draft, err := a.assemble(budget, latest.Blockhash)
	if err != nil {
		return nil, 0, err
	}
	consumed, err := a.client.simulate(ctx, draft)
	if err != nil {
		return nil, 0, err
	}
	budget.unitLimit = unitLimitFor(consumed)
	budget.unitPrice = cappedUnitPrice(price, budget.unitLimit, a.client.maxPriorityFee)
	transaction, err := a.assemble(budget, latest.Blockhash)
	return transaction, latest.LastValidBlockHeight, err
}

func (c *Client) latestBlockhash(ctx context.Context) (*rpc.LatestBlockhashResult, error) {
	answer, err := c.rpc.GetLatestBlockhash(ctx, c.commitment)
	if err != nil {
		return nil, err
	}
	if answer == nil || answer.Value == nil {
		return nil, errors.New("haggle: the node answers without a blockhash")
	}
	return answer.Value, nil
}

func (a *Action) assemble(budget computeBudget, blockhash solana.Hash) (*solana.Transaction, error) {
	transaction, err := solana.NewTransaction(append(budget.instructions(), a.Instructions...), blockhash, solana.TransactionPayer(a.Payer))
	if err != nil {
		return nil, fmt.Errorf("haggle: %s: %w", a.Name, err)
	}
	return transaction, nil
}

// simulate executes a transaction without effect and says how many compute units it consumes.
func (c *Client) simulate(ctx context.Context, transaction *solana.Transaction) (uint64, error) {
	unsigned := *transaction
	unsigned.Signatures = make([]solana.Signature, transaction.Message.Header.NumRequiredSignatures)
	answer, err := c.rpc.SimulateTransactionWithOpts(ctx, &unsigned, &rpc.SimulateTransactionOpts{
		Commitment:             c.commitment,
		ReplaceRecentBlockhash: true,
	})
	if err != nil {
		return 0, err
	}
	if answer == nil || answer.Value == nil {
		return 0, errors.New("haggle: the node does not say how the simulation went")
	}
	if answer.Value.Err != nil {
		return 0, failureError(answer.Value.Err, answer.Value.Logs, invokedPrograms(transaction), solana.Signature{})
	}
	if answer.Value.UnitsConsumed == nil {
		return 0, errors.New("haggle: the node does not say what the simulation consumed")
	}
	return *answer.Value.UnitsConsumed, nil
}

// invokedPrograms are the programs that a transaction's instructions call.
func invokedPrograms(transaction *solana.Transaction) []solana.PublicKey {
	programs := make([]solana.PublicKey, len(transaction.Message.Instructions))
	for i, instruction := range transaction.Message.Instructions {
		if int(instruction.ProgramIDIndex) < len(transaction.Message.AccountKeys) {
			programs[i] = transaction.Message.AccountKeys[instruction.ProgramIDIndex]
		}
	}
	return programs
}
