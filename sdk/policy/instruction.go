package policy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// step is a completely decoded instruction: one of the types below, or an instruction of the program.
type step any

// The steps of other programs that the policy decodes.
type (
	// computeUnitLimit is a limit in compute units.
	computeUnitLimit struct{ units uint32 }
	// computeUnitPrice is a price in millionths of a lamport per compute unit.
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
	nonceAdvance struct{ nonce, authority solana.PublicKey }
	nonceEnd     struct {
		nonce, to, authority solana.PublicKey
		lamports             uint64
	}

	associatedCreation struct{ payer, account, wallet, mint, tokenProgram solana.PublicKey }

	tokenTransfer struct {
		source, mint, destination, authority solana.PublicKey
		amount                               uint64
	}
	nativeSync  struct{ account solana.PublicKey }
	tokenClosed struct{ account, destination, owner solana.PublicKey }
)

// The names of the instructions of other programs that can be allowed.
const (
	// TransferLamports is a transfer of lamports other than WrapSOL.
	TransferLamports = "system.transfer"
	// WrapSOL is a transfer of lamports to the wallet's own associated account for wrapped SOL. An earlier
	// CreateAssociated of the same message ensures that the account exists and is the wallet's.
	WrapSOL = "system.wrap_sol"
	// CreateNonce and StartNonce create an account with a durable nonce, whose authority must be the wallet.
	// No other account can be created, except the associated token accounts of CreateAssociated.
	CreateNonce = "system.create_account"
	StartNonce  = "system.initialize_nonce_account"
	// AdvanceNonce makes a transaction that does not expire.
	AdvanceNonce = "system.advance_nonce_account"
	// WithdrawNonce transfers lamports from an account with a durable nonce. They must go to the wallet
	// itself.
	WithdrawNonce = "system.withdraw_nonce_account"
	// CreateAssociated creates an associated token account, with or without an error if the account exists.
	CreateAssociated = "associated_token.create"
	// TransferTokens is a checked transfer of tokens. An unchecked transfer does not name its mint.
	TransferTokens = "token.transfer_checked"
	// SyncNative turns the lamports that an account for wrapped SOL received into tokens.
	SyncNative = "token.sync_native"
	// CloseTokenAccount closes a token account. Its balance must go to the wallet itself.
	CloseTokenAccount = "token.close_account"
	// ComputeBudget is every instruction of the compute budget program.
	ComputeBudget = "compute_budget"
)

// haggleInstruction returns the name of an instruction of the program.
func haggleInstruction(name string) string { return "haggle." + name }

// DefaultInstructions returns the names of the instructions that a party to negotiations needs. It leaves out
// transfers, durable nonces, the decisions of an arbiter, and the administration of the protocol.
func DefaultInstructions() []string {
	names := []string{WrapSOL, CreateAssociated, SyncNative, CloseTokenAccount, ComputeBudget}
	for _, instruction := range partyInstructions {
		names = append(names, haggleInstruction(instruction.InstructionName()))
	}
	return names
}

// partyInstructions are the program's instructions for the parties, and those that expire and close
// negotiations.
var partyInstructions = []protocol.AnyInstruction{
	&protocol.CreateNegotiation{}, &protocol.AcceptInvitation{}, &protocol.SubmitOffer{}, &protocol.AcceptOffer{},
	&protocol.RejectNegotiation{}, &protocol.ExpireNegotiation{}, &protocol.CloseNegotiation{}, &protocol.ClaimPayout{},
	&protocol.SubmitZopaCommitment{}, &protocol.RevealZopaPrice{}, &protocol.ClaimMilestone{}, &protocol.ReleaseMilestone{},
	&protocol.DisputeMilestone{}, &protocol.SettleDeadline{}, &protocol.SettleByAgreement{},
}

// otherInstructions must be allowed by name.
var otherInstructions = []protocol.AnyInstruction{
	&protocol.ResolveDispute{}, &protocol.InitializeConfig{}, &protocol.UpdateConfig{}, &protocol.SetPaused{},
	&protocol.ProposeAuthority{}, &protocol.AcceptAuthority{},
}

// KnownInstructions returns the names of all instructions that can be allowed.
func KnownInstructions() []string {
	names := append(DefaultInstructions(), TransferLamports, CreateNonce, StartNonce, AdvanceNonce, WithdrawNonce, TransferTokens)
	for _, instruction := range otherInstructions {
		names = append(names, haggleInstruction(instruction.InstructionName()))
	}
	return names
}

// knownPrograms returns the programs whose instructions the policy decodes.
func knownPrograms() []solana.PublicKey {
	return []solana.PublicKey{
		protocol.ProgramID, solana.SystemProgramID, solana.TokenProgramID, solana.Token2022ProgramID,
		solana.SPLAssociatedTokenAccountProgramID, solana.ComputeBudget,
	}
}

// decodeInstruction decodes an instruction. It returns as much of the name as it knows. It returns an error
// for an instruction that it cannot decode to the last byte and account.
func decodeInstruction(program solana.PublicKey, accounts []*solana.AccountMeta, data []byte) (name string, decoded step, err error) {
	switch program {
	case protocol.ProgramID:
		return decodeHaggle(accounts, data)
	case solana.SystemProgramID:
		return decodeSystem(accounts, data)
	case solana.TokenProgramID, solana.Token2022ProgramID:
		return decodeToken(accounts, data)
	case solana.SPLAssociatedTokenAccountProgramID:
		return decodeAssociated(accounts, data)
	case solana.ComputeBudget:
		return decodeComputeBudget(accounts, data)
	}
	return "", nil, fmt.Errorf("program %s is not known", program)
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

// fit returns an error if the numbers of accounts and of data bytes differ from the instruction's only form.
func fit(accounts []*solana.AccountMeta, data []byte, accountCount, dataSize int) error {
	if len(data) != dataSize {
		return fmt.Errorf("%d bytes of data instead of %d", len(data), dataSize)
	}
	if len(accounts) != accountCount {
		return fmt.Errorf("%d accounts instead of %d", len(accounts), accountCount)
	}
	return nil
}

// The known instructions of the system program, and the size of an account with a durable nonce in bytes.
const (
	systemCreateAccount   = 0
	systemTransfer        = 2
	systemCreateWithSeed  = 3
	systemAdvanceNonce    = 4
	systemWithdrawNonce   = 5
	systemInitializeNonce = 6

	nonceAccountSize = 80
)

func decodeSystem(accounts []*solana.AccountMeta, data []byte) (string, step, error) {
	if len(data) < 4 {
		return "system", nil, errors.New("the data is too short")
	}
	switch tag := binary.LittleEndian.Uint32(data); tag {
	case systemCreateAccount:
		if err := fit(accounts, data, 2, 52); err != nil {
			return CreateNonce, nil, err
		}
		if space := binary.LittleEndian.Uint64(data[12:]); space != nonceAccountSize || solana.PublicKey(data[20:52]) != solana.SystemProgramID {
			return CreateNonce, nil, errors.New("the account that is made is not one for a durable nonce")
		}
		return CreateNonce, accountCreation{from: accounts[0].PublicKey, account: accounts[1].PublicKey, lamports: binary.LittleEndian.Uint64(data[4:])}, nil
	case systemCreateWithSeed:
		created, err := decodeCreateWithSeed(accounts, data[4:])
		return CreateNonce, created, err
	case systemTransfer:
		if err := fit(accounts, data, 2, 12); err != nil {
			return TransferLamports, nil, err
		}
		return TransferLamports, lamportTransfer{from: accounts[0].PublicKey, to: accounts[1].PublicKey, lamports: binary.LittleEndian.Uint64(data[4:])}, nil
	case systemAdvanceNonce:
		if err := fit(accounts, data, 3, 4); err != nil {
			return AdvanceNonce, nil, err
		}
		return AdvanceNonce, nonceAdvance{nonce: accounts[0].PublicKey, authority: accounts[2].PublicKey}, nil
	case systemWithdrawNonce:
		if err := fit(accounts, data, 5, 12); err != nil {
			return WithdrawNonce, nil, err
		}
		return WithdrawNonce, nonceEnd{
			nonce: accounts[0].PublicKey, to: accounts[1].PublicKey, authority: accounts[4].PublicKey,
			lamports: binary.LittleEndian.Uint64(data[4:]),
		}, nil
	case systemInitializeNonce:
		if err := fit(accounts, data, 3, 36); err != nil {
			return StartNonce, nil, err
		}
		return StartNonce, nonceStart{nonce: accounts[0].PublicKey, authority: solana.PublicKey(data[4:36])}, nil
	default:
		return fmt.Sprintf("system instruction %d", tag), nil, errors.New("it is not one of those that can be allowed")
	}
}

const (
	// longestSeed is the greatest length of a seed, in bytes.
	longestSeed = 32
	// aroundSeed is the size in bytes of the fields beside the seed in an instruction that creates an account
	// with a seed: base, the seed's length, lamports, space and owner.
	aroundSeed = 32 + 8 + 8 + 8 + 32
)

// decodeCreateWithSeed decodes the creation of an account whose address is derived from the wallet that pays
// for it.
func decodeCreateWithSeed(accounts []*solana.AccountMeta, data []byte) (step, error) {
	if len(data) < aroundSeed || binary.LittleEndian.Uint64(data[32:]) != uint64(len(data)-aroundSeed) || len(data) > aroundSeed+longestSeed {
		return nil, fmt.Errorf("%d bytes do not fit the seed", len(data))
	}
	// The account that the address is derived from may be named again.
	if len(accounts) != 2 && (len(accounts) != 3 || accounts[2].PublicKey != accounts[0].PublicKey) {
		return nil, fmt.Errorf("%d accounts instead of 2", len(accounts))
	}
	base, rest := solana.PublicKey(data[:32]), data[40:]
	seed, rest := string(rest[:len(data)-aroundSeed]), rest[len(data)-aroundSeed:]
	created := accountCreation{from: accounts[0].PublicKey, account: accounts[1].PublicKey, lamports: binary.LittleEndian.Uint64(rest)}
	if space := binary.LittleEndian.Uint64(rest[8:]); space != nonceAccountSize || solana.PublicKey(rest[16:48]) != solana.SystemProgramID {
		return nil, errors.New("the account that is made is not one for a durable nonce")
	}
	address, err := solana.CreateWithSeed(base, seed, solana.SystemProgramID)
	if err == nil && (base != created.from || address != created.account) {
		err = fmt.Errorf("%s does not follow from %s and the seed", created.account, created.from)
	}
	return created, err
}

// The token programs' instructions. Those without a step have names only for the text of a denial.
const (
	tokenTransferChecked = 12
	tokenCloseAccount    = 9
	tokenSyncNative      = 17
)

var tokenInstructions = []string{
	"initialize_mint", "initialize_account", "initialize_multisig", "transfer", "approve", "revoke", "set_authority", "mint_to",
	"burn", "close_account", "freeze_account", "thaw_account", "transfer_checked", "approve_checked", "mint_to_checked",
	"burn_checked", "initialize_account2", "sync_native", "initialize_account3", "initialize_multisig2", "initialize_mint2",
	"get_account_data_size", "initialize_immutable_owner", "amount_to_ui_amount", "ui_amount_to_amount",
}

func decodeToken(accounts []*solana.AccountMeta, data []byte) (string, step, error) {
	if len(data) == 0 {
		return "token", nil, errors.New("there is no data")
	}
	switch data[0] {
	case tokenTransferChecked:
		if err := fit(accounts, data, 4, 10); err != nil {
			return TransferTokens, nil, err
		}
		return TransferTokens, tokenTransfer{
			source: accounts[0].PublicKey, mint: accounts[1].PublicKey, destination: accounts[2].PublicKey,
			authority: accounts[3].PublicKey, amount: binary.LittleEndian.Uint64(data[1:]),
		}, nil
	case tokenCloseAccount:
		if err := fit(accounts, data, 3, 1); err != nil {
			return CloseTokenAccount, nil, err
		}
		return CloseTokenAccount, tokenClosed{account: accounts[0].PublicKey, destination: accounts[1].PublicKey, owner: accounts[2].PublicKey}, nil
	case tokenSyncNative:
		if err := fit(accounts, data, 1, 1); err != nil {
			return SyncNative, nil, err
		}
		return SyncNative, nativeSync{account: accounts[0].PublicKey}, nil
	}
	name := fmt.Sprintf("token instruction %d", data[0])
	if int(data[0]) < len(tokenInstructions) {
		name = "token." + tokenInstructions[data[0]]
	}
	return name, nil, errors.New("it is not one of those that can be allowed")
}

const (
	associatedCreate           = 0
	associatedCreateIdempotent = 1
)

func decodeAssociated(accounts []*solana.AccountMeta, data []byte) (string, step, error) {
	if len(data) > 1 || len(data) == 1 && data[0] != associatedCreate && data[0] != associatedCreateIdempotent {
		return "associated_token", nil, errors.New("it is not one of those that can be allowed")
	}
	if len(accounts) != 6 {
		return CreateAssociated, nil, fmt.Errorf("%d accounts instead of 6", len(accounts))
	}
	created := associatedCreation{
		payer: accounts[0].PublicKey, account: accounts[1].PublicKey, wallet: accounts[2].PublicKey,
		mint: accounts[3].PublicKey, tokenProgram: accounts[5].PublicKey,
	}
	if created.tokenProgram != solana.TokenProgramID && created.tokenProgram != solana.Token2022ProgramID {
		return CreateAssociated, nil, fmt.Errorf("%s is no token program", created.tokenProgram)
	}
	address, err := token.AssociatedAddress(created.wallet, created.mint, created.tokenProgram)
	if err == nil && address != created.account {
		err = fmt.Errorf("%s is not the associated account, which is %s", created.account, address)
	}
	return CreateAssociated, created, err
}

// The compute budget program's instructions.
const (
	computeHeapFrame      = 1
	computeLimit          = 2
	computePrice          = 3
	computeLoadedAccounts = 4
)

func decodeComputeBudget(accounts []*solana.AccountMeta, data []byte) (string, step, error) {
	if len(data) == 0 {
		return ComputeBudget, nil, errors.New("there is no data")
	}
	size := 5
	if data[0] == computePrice {
		size = 9
	}
	if err := fit(accounts, data, 0, size); err != nil {
		return ComputeBudget, nil, err
	}
	switch data[0] {
	case computeLimit:
		return ComputeBudget, computeUnitLimit{units: binary.LittleEndian.Uint32(data[1:])}, nil
	case computePrice:
		return ComputeBudget, computeUnitPrice{microLamports: binary.LittleEndian.Uint64(data[1:])}, nil
	case computeHeapFrame, computeLoadedAccounts:
		return ComputeBudget, computeOther{tag: data[0]}, nil
	}
	return ComputeBudget, nil, fmt.Errorf("it has no instruction %d", data[0])
}

// unknownNames returns an error for a name that is not in KnownInstructions.
func unknownNames(names []string) error {
	known := KnownInstructions()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("no instruction that can be allowed is called %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}
