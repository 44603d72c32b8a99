package haggle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// instructionBuilder builds one or two instructions of the program for a negotiation. Each implementation is
// in the instruction's file, and embeds the instruction with the fields given by the caller.
type instructionBuilder interface {
	// InstructionName returns the instruction's name in the IDL.
	InstructionName() string
	// build returns the instruction for a snapshot. It changes neither the action nor the builder, so copies
	// of the action can be built for other snapshots.
	build(ctx context.Context, action *Action) (*builtInstruction, error)
	// postcondition reports whether the negotiation now shows that the instruction took effect on the earlier
	// snapshot. It returns false if the state is inconclusive. now is the same deal as before.
	postcondition(before, now *Snapshot) bool
}

// builtInstruction is the result of instructionBuilder.
type builtInstruction struct {
	// payer pays the transaction's fee unless the caller named another payer.
	payer       solana.PublicKey
	instruction protocol.AnyInstruction
	// second is the program instruction that follows; nil for most builders.
	second protocol.AnyInstruction
	// preparation holds the preceding instructions, which create token accounts or wrap SOL.
	preparation []solana.Instruction
	warnings    []error
	// rent is Action.Rent, and treasury is Action.treasury.
	rent     uint64
	treasury solana.PublicKey
	// inTime is Action.inTime, and sealed is Action.sealed.
	inTime func(context.Context) error
	sealed *protocol.SealedPrice
	// creation is the instruction of a creation; otherwise nil.
	creation *protocol.CreateNegotiation
}

// Negotiation is a handle for a negotiation: the methods return actions, one for each instruction of the
// program. It needs no node until an action is built.
type Negotiation struct {
	client  *Client
	address solana.PublicKey
	// snapshot is the snapshot that actions are built on; if nil, they are built on the chain's state at that
	// time.
	snapshot *Snapshot
	err      error
}

// Negotiation returns a handle for the negotiation at address. Actions are built on the chain's state at the
// time they are built:
//
//	receipt, err := client.Negotiation(address).SubmitOffer(me.PublicKey(), haggle.Offer{Amount: 2_000_000}).Do(ctx, me)
func (c *Client) Negotiation(address solana.PublicKey) *Negotiation {
	return &Negotiation{client: c, address: address}
}

// At returns a handle for a negotiation, for callers that decided on a snapshot: actions are built on it. If
// the chain's state differs by then, [Action.Do] returns [*StateChangedError] or the program returns
// [protocol.ErrStaleState].
func (c *Client) At(snapshot *Snapshot) *Negotiation {
	if snapshot == nil {
		return &Negotiation{client: c, err: fmt.Errorf("%w: snapshot not set", ErrNotAsExpected)}
	}
	return &Negotiation{client: c, address: snapshot.Address, snapshot: snapshot}
}

// action returns an instruction's action.
func (n *Negotiation) action(builder instructionBuilder) *Action {
	return &Action{
		Name: builder.InstructionName(), Negotiation: n.address,
		client: n.client, builder: builder, snapshot: n.snapshot, err: n.err, key: randomKey(),
	}
}

// actionBy returns an instruction's action, signed by the given wallet.
func (n *Negotiation) actionBy(signer solana.PublicKey, builder instructionBuilder) *Action {
	action := n.action(builder)
	if action.err == nil && signer.IsZero() {
		action.err = fmt.Errorf("haggle: %s: signer not set", action.Name)
	}
	return action
}

// TokenAccounts holds the token accounts that an action pays to.
type TokenAccounts struct {
	// Buyer and Seller are the parties' accounts. If zero, the party's associated token account is used; it
	// is created if it is missing and the party signs the action. An amount that cannot be paid is recorded
	// for that party.
	Buyer, Seller solana.PublicKey
	// Treasury is the account for fee and decay, which only [Negotiation.Close] pays.
	Treasury solana.PublicKey
	// CreateMissing makes [Negotiation.Close] create a party's missing associated token account at the
	// closer's expense. By default it does not, because a party could close that account again and again and
	// make closers pay for it.
	CreateMissing bool
}

// PayTo returns a copy of the action that pays to these token accounts. It must be called before the action
// is built.
func (a *Action) PayTo(accounts TokenAccounts) *Action {
	changed := *a
	changed.accounts = accounts
	if a.isBuilt() {
		changed.err = fmt.Errorf("haggle: %s: PayTo after the action was built", a.Name)
	}
	return &changed
}

func (a *Action) isBuilt() bool { return a.Instructions != nil }

// Build reads the required state and builds the instructions; without it, [Action.Do], [Action.Transaction]
// and [Action.Simulate] do so. It returns the same action. A built action keeps the snapshot.
func (a *Action) Build(ctx context.Context) (*Action, error) {
	if a.err != nil {
		return nil, a.err
	}
	if a.isBuilt() {
		return a, nil
	}
	creating, isCreation := a.builder.(*createNegotiation)
	if a.snapshot == nil && !isCreation {
		snapshot, err := a.client.snapshot(ctx, a.Negotiation)
		if err != nil {
			return nil, err
		}
		a.snapshot, a.readAt = snapshot, time.Now()
	}
	built, err := a.builder.build(ctx, a)
	if err != nil {
		return nil, err
	}
	payer := cmp.Or(a.Payer, built.payer)
	instruction, err := built.instruction.Instruction()
	if err != nil {
		return nil, err
	}
	own := []solana.Instruction{instruction}
	if built.second != nil {
		second, err := built.second.Instruction()
		if err != nil {
			return nil, err
		}
		own = append(own, second)
	}
	instructions := append(slices.Clone(built.preparation), own...)
	if !a.unwrap.IsZero() {
		closing, err := a.unwrapping(own)
		if err != nil {
			return nil, err
		}
		instructions = append(instructions, closing)
	}
	a.Payer, a.Instructions, a.Warnings = payer, instructions, built.warnings
	a.Rent, a.treasury = built.rent, built.treasury
	a.instruction, a.second, a.inTime, a.sealed = built.instruction, built.second, built.inTime, built.sealed
	a.precondition = preconditionOf(built.instruction.Effects(), a.snapshot)
	if isCreation {
		// Copies of the action share the builder.
		a.builder = &createNegotiation{built.creation, creating.request}
		a.Negotiation, a.Creation = built.creation.Negotiation, built.creation
		// The instruction's data contains the time of the build.
		a.intent = intentOf(payer, a.Name, a.Negotiation[:])
		return a, nil
	}
	a.intent = intentOf(payer, a.Name, a.Negotiation[:], built.instruction.AppendData(nil))
	return a, nil
}

// NewAction returns an action with instructions of the caller's own, for example of the program's
// administration. payer signs and pays the fee.
func (c *Client) NewAction(name string, payer solana.PublicKey, instructions ...solana.Instruction) *Action {
	action := &Action{Name: name, Instructions: instructions, Payer: payer, client: c, key: randomKey()}
	if len(instructions) == 0 {
		action.err = fmt.Errorf("haggle: %s: no instructions are given", name)
	}
	content := make([][]byte, 0, 2*len(instructions))
	for _, instruction := range instructions {
		data, err := instruction.Data()
		if err != nil {
			action.err = fmt.Errorf("haggle: %s: %w", name, err)
			return action
		}
		for _, account := range instruction.Accounts() {
			content = append(content, account.PublicKey[:])
		}
		content = append(content, data)
		if action.instruction == nil && instruction.ProgramID() == protocol.ProgramID {
			action.instruction, _ = protocol.DecodeInstruction(instruction.Accounts(), data)
		}
	}
	action.intent = intentOf(payer, name, content...)
	return action
}
