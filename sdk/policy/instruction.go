package policy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// step is a completely decoded instruction: one of the types below, or an instruction of the program.
type step any

// Other programs' instructions that the policy decodes.
type (
	// computeUnitLimit is a limit in compute units.
	computeUnitLimit struct{ units uint32 }
	// computeUnitPrice is a price in micro-lamports per compute unit.
	computeUnitPrice struct{ microLamports uint64 }
	// computeOther does not change the cost: it sets the heap, or the size of the data that may be loaded.
	computeOther struct{ tag byte }

	lamportTransfer struct {
		from, to solana.PublicKey
		lamports uint64
	}
	accountCreation struct {
		from, account solana.PublicKey
		lamports      uint64
	}
	nonceStart   struct{ nonce, authority solana.PublicKey }
	nonceAdvance struct{ nonce solana.PublicKey }

	associatedCreation struct{ payer, account, wallet, mint, tokenProgram solana.PublicKey }

	tokenTransfer struct {
		mint, destination, authority solana.PublicKey
		amount                       uint64
	}
	nativeSync struct{}
	// withdrawal moves an owner account's lamports: from a durable nonce or closing token accounts.
	withdrawal struct{ owner, to solana.PublicKey }
)

// Names of other programs' instructions that can be allowed.
const (
	// TransferLamports is a transfer of lamports other than WrapSOL.
	TransferLamports = "system.transfer"
	// WrapSOL is a transfer of lamports to the wallet's own associated account for wrapped SOL. An earlier
	// CreateAssociated of the same message ensures that the account exists and is the wallet's.
	WrapSOL = "system.wrap_sol"
	// CreateNonce and StartNonce create a durable nonce account with the wallet as authority. No other
	// account can be created, except the associated token accounts of CreateAssociated.
	CreateNonce = "system.create_account"
	StartNonce  = "system.initialize_nonce_account"
	// AdvanceNonce keeps a transaction from expiring.
	AdvanceNonce = "system.advance_nonce_account"
	// WithdrawNonce transfers lamports from an account with a durable nonce. They must go to the wallet
	// itself.
	WithdrawNonce = "system.withdraw_nonce_account"
	// CreateAssociated creates an associated token account, with or without failing if the account exists.
	CreateAssociated = "associated_token.create"
	// TransferTokens is a checked transfer of tokens. Unchecked transfers do not name the mint.
	TransferTokens = "token.transfer_checked"
	// SyncNative turns lamports received by a wrapped SOL account into tokens.
	SyncNative = "token.sync_native"
	// CloseTokenAccount closes token accounts. The balance must go to the wallet itself.
	CloseTokenAccount = "token.close_account"
	// ComputeBudget is every instruction of the compute budget program.
	ComputeBudget = "compute_budget"
)

func haggleInstruction(name string) string { return "haggle." + name }

// DefaultInstructions returns the names of the instructions needed by negotiation parties. It leaves out
// transfers, durable nonces, arbiter decisions, and protocol administration.
func DefaultInstructions() []string {
	names := []string{WrapSOL, CreateAssociated, SyncNative, CloseTokenAccount, ComputeBudget}
	return append(names, haggleInstructions(false)...)
}

// KnownInstructions returns the names of all instructions that can be allowed.
func KnownInstructions() []string {
	names := append(DefaultInstructions(), TransferLamports, CreateNonce, StartNonce, AdvanceNonce, WithdrawNonce, TransferTokens)
	return append(names, haggleInstructions(true)...)
}

// haggleInstructions returns the program's instructions that only the arbiter or the configuration's
// authority can sign, or all others: instructions for the parties, and instructions that anyone can send.
func haggleInstructions(privileged bool) []string {
	var names []string
	for _, instruction := range protocol.Instructions() {
		if instruction.Effects().IsFor(protocol.RoleArbiter, protocol.RoleAuthority) == privileged {
			names = append(names, haggleInstruction(instruction.InstructionName()))
		}
	}
	return names
}

// knownPrograms returns the programs whose instructions the policy decodes.
func knownPrograms() []solana.PublicKey {
	return append(slices.Collect(maps.Keys(programs)), protocol.ProgramID)
}

// decodeHaggle is strict where the program is not: no account may follow those that the instruction takes,
// and every account that must sign must be a signer.
func decodeHaggle(accounts []*solana.AccountMeta, data []byte) (string, step, error) {
	instruction, err := protocol.DecodeInstruction(accounts, data)
	if err != nil {
		return "haggle", nil, err
	}
	name := haggleInstruction(instruction.InstructionName())
	built, err := instruction.Instruction()
	if err != nil {
		return name, nil, err
	}
	taken := built.Accounts()
	if len(accounts) != len(taken) {
		return name, nil, fmt.Errorf("%d accounts instead of %d", len(accounts), len(taken))
	}
	for i, meta := range taken {
		if meta.PublicKey != accounts[i].PublicKey {
			return name, nil, fmt.Errorf("account %d is %s instead of %s", i, accounts[i].PublicKey, meta.PublicKey)
		}
	}
	return name, instruction, nil
}

// program holds another program's decoded instructions.
type program struct {
	name string
	// tagSize is the size in bytes of the tag at the start of the data.
	tagSize int
	forms   map[uint32]form
	// others are names of further instructions, for the texts of denials.
	others []string
}

// form is an instruction's only form. accounts is the number of accounts, size the data size in bytes
// including the tag; 0 if step checks the number.
type form struct {
	name           string
	accounts, size int
	step           func(accounts []solana.PublicKey, data []byte) (step, error)
}

var programs = map[solana.PublicKey]*program{
	solana.SystemProgramID: {name: "system", tagSize: 4, forms: map[uint32]form{
		0: {CreateNonce, 2, 52, func(a []solana.PublicKey, d []byte) (step, error) { return nonceCreation(a, d[4:]) }},
		2: {TransferLamports, 2, 12, func(a []solana.PublicKey, d []byte) (step, error) {
			return lamportTransfer{from: a[0], to: a[1], lamports: binary.LittleEndian.Uint64(d[4:])}, nil
		}},
		3: {CreateNonce, 0, 0, nonceCreationWithSeed},
		4: {AdvanceNonce, 3, 4, func(a []solana.PublicKey, _ []byte) (step, error) { return nonceAdvance{a[0]}, nil }},
		5: {WithdrawNonce, 5, 12, func(a []solana.PublicKey, _ []byte) (step, error) {
			return withdrawal{owner: a[4], to: a[1]}, nil
		}},
		6: {StartNonce, 3, 36, func(a []solana.PublicKey, d []byte) (step, error) {
			return nonceStart{nonce: a[0], authority: solana.PublicKey(d[4:])}, nil
		}},
	}},
	solana.TokenProgramID:     &tokenProgram,
	solana.Token2022ProgramID: &tokenProgram,
	solana.SPLAssociatedTokenAccountProgramID: {name: "associated_token", tagSize: 1, forms: map[uint32]form{
		0: {CreateAssociated, 6, 1, decodeAssociated},
		1: {CreateAssociated, 6, 1, decodeAssociated}, // succeeds if the account exists
	}},
	solana.ComputeBudget: {name: ComputeBudget, tagSize: 1, forms: map[uint32]form{
		1: {ComputeBudget, 0, 5, func(_ []solana.PublicKey, d []byte) (step, error) { return computeOther{d[0]}, nil }},
		2: {ComputeBudget, 0, 5, func(_ []solana.PublicKey, d []byte) (step, error) {
			return computeUnitLimit{binary.LittleEndian.Uint32(d[1:])}, nil
		}},
		3: {ComputeBudget, 0, 9, func(_ []solana.PublicKey, d []byte) (step, error) {
			return computeUnitPrice{binary.LittleEndian.Uint64(d[1:])}, nil
		}},
		4: {ComputeBudget, 0, 5, func(_ []solana.PublicKey, d []byte) (step, error) { return computeOther{d[0]}, nil }},
	}},
}

var tokenProgram = program{name: "token", tagSize: 1, forms: map[uint32]form{
	9: {CloseTokenAccount, 3, 1, func(a []solana.PublicKey, _ []byte) (step, error) {
		return withdrawal{owner: a[2], to: a[1]}, nil
	}},
	12: {TransferTokens, 4, 10, func(a []solana.PublicKey, d []byte) (step, error) {
		return tokenTransfer{mint: a[1], destination: a[2], authority: a[3], amount: binary.LittleEndian.Uint64(d[1:])}, nil
	}},
	17: {SyncNative, 1, 1, func([]solana.PublicKey, []byte) (step, error) { return nativeSync{}, nil }},
}, others: []string{
	"initialize_mint", "initialize_account", "initialize_multisig", "transfer", "approve", "revoke", "set_authority", "mint_to",
	"burn", "close_account", "freeze_account", "thaw_account", "transfer_checked", "approve_checked", "mint_to_checked",
	"burn_checked", "initialize_account2", "sync_native", "initialize_account3", "initialize_multisig2", "initialize_mint2",
	"get_account_data_size", "initialize_immutable_owner", "amount_to_ui_amount", "ui_amount_to_amount",
}}

// decodeInstruction decodes an instruction. It returns as much of the name as it knows. It returns an error
// for an instruction that it cannot decode to the last byte and account.
func decodeInstruction(id solana.PublicKey, metas []*solana.AccountMeta, data []byte) (name string, decoded step, err error) {
	if id == protocol.ProgramID {
		return decodeHaggle(metas, data)
	}
	known := programs[id]
	if known == nil {
		return "", nil, fmt.Errorf("program %s: no decoder", id)
	}
	if id == solana.SPLAssociatedTokenAccountProgramID && len(data) == 0 {
		data = []byte{0}
	}
	if len(data) < known.tagSize {
		return known.name, nil, errors.New("instruction data is too short")
	}
	var tag [4]byte
	copy(tag[:], data[:known.tagSize])
	number := binary.LittleEndian.Uint32(tag[:])
	found, ok := known.forms[number]
	if !ok {
		name = fmt.Sprintf("%s instruction %d", known.name, number)
		if int64(number) < int64(len(known.others)) {
			name = known.name + "." + known.others[number]
		}
		return name, nil, errors.New("no policy can allow this instruction")
	}
	accounts := make([]solana.PublicKey, len(metas))
	for i, meta := range metas {
		accounts[i] = meta.PublicKey
	}
	if found.size > 0 && len(data) != found.size {
		return found.name, nil, fmt.Errorf("%d bytes of data instead of %d", len(data), found.size)
	}
	if found.size > 0 && len(accounts) != found.accounts {
		return found.name, nil, fmt.Errorf("%d accounts instead of %d", len(accounts), found.accounts)
	}
	decoded, err = found.step(accounts, data)
	return found.name, decoded, err
}

// nonceAccountSize is the size of durable nonce accounts, in bytes.
const nonceAccountSize = 80

// nonceCreation decodes a created account's lamports, size and owner.
func nonceCreation(accounts []solana.PublicKey, data []byte) (accountCreation, error) {
	created := accountCreation{from: accounts[0], account: accounts[1], lamports: binary.LittleEndian.Uint64(data)}
	if binary.LittleEndian.Uint64(data[8:]) != nonceAccountSize || solana.PublicKey(data[16:]) != solana.SystemProgramID {
		return created, errors.New("created account is not a nonce account")
	}
	return created, nil
}

const (
	// longestSeed is the maximum seed length, in bytes.
	longestSeed = 32
	// aroundSeed is the size in bytes of the fields beside the seed in an instruction that creates an account
	// with a seed: tag, base, the seed's length, lamports, space and owner.
	aroundSeed = 4 + 32 + 8 + 8 + 8 + 32
)

// nonceCreationWithSeed decodes creating an account at an address derived from the paying wallet.
func nonceCreationWithSeed(accounts []solana.PublicKey, data []byte) (step, error) {
	size := len(data) - aroundSeed
	if size < 0 || size > longestSeed || binary.LittleEndian.Uint64(data[36:]) != uint64(size) {
		return nil, fmt.Errorf("%d bytes of data do not match the seed's length", len(data))
	}
	// The base account may be named again.
	if len(accounts) != 2 && (len(accounts) != 3 || accounts[2] != accounts[0]) {
		return nil, fmt.Errorf("%d accounts instead of 2", len(accounts))
	}
	base, seed := solana.PublicKey(data[4:36]), string(data[44:44+size])
	created, err := nonceCreation(accounts, data[44+size:])
	if err != nil {
		return nil, err
	}
	address, err := solana.CreateWithSeed(base, seed, solana.SystemProgramID)
	if err == nil && (base != created.from || address != created.account) {
		err = fmt.Errorf("address %s is not derived from %s and the seed", created.account, created.from)
	}
	return created, err
}

func decodeAssociated(accounts []solana.PublicKey, _ []byte) (step, error) {
	created := associatedCreation{
		payer: accounts[0], account: accounts[1], wallet: accounts[2], mint: accounts[3], tokenProgram: accounts[5],
	}
	if created.tokenProgram != solana.TokenProgramID && created.tokenProgram != solana.Token2022ProgramID {
		return nil, fmt.Errorf("%s is not a token program", created.tokenProgram)
	}
	address, err := token.AssociatedAddress(created.wallet, created.mint, created.tokenProgram)
	if err == nil && address != created.account {
		err = fmt.Errorf("%s is not the associated token account: use %s", created.account, address)
	}
	return created, err
}

func unknownNames(names []string) error {
	known := KnownInstructions()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown instruction %q: use one of %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}
