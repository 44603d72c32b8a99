// Package exitcode tells scripts and people what went wrong: an exit code, a name, and what to do about it.
package exitcode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// Kind is what a script has to distinguish; its number is the exit code.
type Kind int

// The exit codes.
const (
	None        Kind = 0
	Other       Kind = 1
	Usage       Kind = 2
	Refused     Kind = 3
	NotFound    Kind = 4
	Expired     Kind = 5
	Unknown     Kind = 6
	Network     Kind = 7
	NoDeal      Kind = 8
	Undecided   Kind = 9
	Denied      Kind = 10
	Wallet      Kind = 11
	Interrupted Kind = 130
)

// Kinds are all exit codes with their meanings, for the help.
var Kinds = []struct {
	Kind    Kind
	Name    string
	Meaning string
}{
	{None, "OK", "done"},
	{Other, "Failed", "failed for a reason that has no code of its own"},
	{Usage, "Usage", "the command line is wrong: nothing was sent"},
	{Refused, "ProgramError", "refused by the program, or the state is not as expected: nothing changed"},
	{NotFound, "NotFound", "there is no such account: never created, or closed"},
	{Expired, "TransactionExpired", "the transaction can no longer land: repeating it is safe"},
	{Unknown, "UnknownOutcome", "it may have landed or may still: look at the state before repeating anything"},
	{Network, "Network", "the endpoint did not answer, or not in time"},
	{NoDeal, "NoDeal", "the negotiation ended without a deal (buyer, seller, negotiation watch)"},
	{Undecided, "Undecided", "the negotiation is closed, and how it ended has not been seen (negotiation watch)"},
	{Denied, "PolicyDenied", "refused by --policy, --trust or --allowlist: nothing was signed"},
	{Wallet, "WalletError", "the wallet does not open, does not answer or does not sign: nothing was sent"},
	{Interrupted, "Interrupted", "stopped by Ctrl-C"},
}

// Error is a failure with a hint for the user.
type Error struct {
	Kind Kind
	// Hint is advice for the user; it may be empty.
	Hint string
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Usagef is a mistake on the command line.
func Usagef(format string, arguments ...any) error {
	return &Error{Kind: Usage, Err: fmt.Errorf(format, arguments...)}
}

// AsUsage makes a mistake on the command line of an error that says nothing about itself. A nil error stays nil.
func AsUsage(err error, hint string) error {
	if err == nil || errors.As(err, new(*Error)) {
		return err
	}
	return &Error{Kind: Usage, Hint: hint, Err: err}
}

// WithHint adds what to do about an error, whose kind stays as it is. A nil error stays nil, and a hint that is there stays.
func WithHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	known := new(Error)
	if errors.As(err, &known) && known.Hint != "" {
		return err
	}
	return &Error{Kind: KindOf(err), Hint: hint, Err: err}
}

// OfAction returns the error of a transaction with the kind Unknown if it does not prove what became of the
// transaction: a network error would read as if nothing had been sent. A nil error stays nil.
func OfAction(err error) error {
	if haggle.OutcomeOf(err) != haggle.OutcomeUnknown || errors.As(err, new(*Error)) || KindOf(err) == Unknown {
		return err
	}
	return &Error{Kind: Unknown, Err: err}
}

// KindOf classifies an error. An error that is neither an *Error nor the SDK's nor the network's is Other.
func KindOf(err error) Kind {
	var (
		own      *Error
		program  *protocol.ProgramError
		unknown  *haggle.UnknownOutcome
		network  net.Error
		location *url.Error
		http     *jsonrpc.HTTPError
		path     *fs.PathError
		link     *os.LinkError
		node     *haggle.NodeError
		refusal  *identity.Refusal
		remote   *wallet.RemoteError
	)
	switch {
	case err == nil:
		return None
	case errors.As(err, &own):
		return own.Kind
	case errors.As(err, &unknown):
		return Unknown
	case errors.As(err, &program), errors.Is(err, haggle.ErrNotAsExpected):
		return Refused
	case errors.Is(err, haggle.ErrNotWrappedSOL):
		return Usage
	case errors.Is(err, haggle.ErrTransactionExpired):
		return Expired
	case errors.Is(err, haggle.ErrAccountNotFound), errors.Is(err, rpc.ErrNotFound):
		return NotFound
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, policy.ErrDenied):
		return Denied
	case errors.As(err, &refusal):
		return kindOfRefusal(refusal)
	case errors.As(err, &remote), errors.Is(err, wallet.ErrPassphrase):
		return Wallet
	case errors.As(err, &path), errors.As(err, &link):
		// A system call's error has the methods of the network's.
		return Other
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network), errors.As(err, &location), errors.As(err, &http),
		errors.As(err, &node), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, haggle.ErrNodeBehind), errors.Is(err, haggle.ErrMalformedAnswer), isBehind(err), isSilent(err):
		return Network
	}
	return Other
}

// kindOfRefusal tells a counterparty that is not trusted from one of whom nobody could say whether it is.
func kindOfRefusal(refusal *identity.Refusal) Kind {
	switch {
	case refusal.Cause == nil:
		return Denied
	case errors.As(refusal.Cause, new(*identity.AllowlistError)), errors.As(refusal.Cause, new(*fs.PathError)):
		return Other
	}
	return Network
}

// isBehind says whether a node does not know a blockhash yet that another node has given: nothing was sent.
func isBehind(err error) bool {
	var transaction *haggle.TransactionError
	return errors.As(err, &transaction) && transaction.Reason == "BlockhashNotFound" && transaction.Signature.IsZero()
}

// isShortOfSOL says whether the wallet has too few lamports for what it is to pay.
func isShortOfSOL(failed *haggle.TransactionError) bool {
	const tooFew = 1 // the system program's
	return failed.Reason == "InsufficientFundsForFee" || failed.Program == solana.SystemProgramID && failed.Code == tooFew
}

// isSilent says whether a node has closed the connection instead of answering, for which the JSON-RPC client has no type.
func isSilent(err error) bool { return strings.HasSuffix(err.Error(), "the node does not answer") }

// Report writes an error for people, or as a JSON document on one line, and returns the exit code. A nil error writes nothing.
func Report(w io.Writer, program string, err error, asJSON bool) int {
	if err == nil {
		return int(None)
	}
	told := describe(err)
	if asJSON {
		_ = json.NewEncoder(w).Encode(map[string]description{"error": told})
		return told.ExitCode
	}
	fmt.Fprintf(w, "%s: %s\n", program, told.Message)
	if told.Hint != "" {
		fmt.Fprintf(w, "  %s\n", told.Hint)
	}
	return told.ExitCode
}

type description struct {
	ExitCode int `json:"exit_code"`
	// Code is the program's number, if the program has refused.
	Code    uint32   `json:"code,omitempty"`
	Name    string   `json:"name"`
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`
	Logs    []string `json:"logs,omitempty"`
	// Denial is what a policy's limits say about it.
	Denial *denial `json:"denial,omitempty"`
}

func describe(err error) description {
	kind := KindOf(err)
	told := description{ExitCode: int(kind), Message: err.Error(), Hint: usualHint(kind)}
	for _, known := range Kinds {
		if known.Kind == kind {
			told.Name = known.Name
		}
	}
	var (
		program     *protocol.ProgramError
		transaction *haggle.TransactionError
		funds       *haggle.InsufficientFunds
		denied      *policy.Denial
		refusal     *identity.Refusal
	)
	switch {
	case errors.As(err, &denied):
		// Whose signature it was to be, which the error begins with, says nothing that the denial does not.
		told.Message, told.Hint, told.Denial = denied.Error(), denialHint(denied), viewDenial(denied)
	case errors.As(err, &refusal):
		told.Message, told.Hint = refusal.Error(), refusalHint(refusal)
		if kind == Denied {
			told.Name = "CounterpartyRefused"
		}
	case errors.As(err, &program):
		told.Code, told.Logs = uint32(program.Code), program.Logs
		if program.Name != "" {
			told.Name = program.Name
		}
		if hint := programHints[program.Code]; hint != "" {
			told.Hint = hint
		}
	case errors.Is(err, haggle.ErrNotAsExpected):
		told.Name = "NotAsExpected"
	case errors.As(err, &transaction):
		told.Name, told.Logs = transaction.Reason, transaction.Logs
		switch {
		case isShortOfSOL(transaction):
			told.Hint = "what the wallet has is shown by: haggle balance"
		case errors.Is(err, haggle.ErrTokenProgramTooOld):
			told.Hint = "use another cluster; what the program needs of one is listed in docs/DEPLOYMENT.md"
		}
	case errors.As(err, &funds):
		told.Name = "InsufficientFunds"
	}
	var own *Error
	switch {
	case errors.As(err, &own) && own.Hint != "":
		told.Hint = own.Hint
	case kind == Interrupted && own == nil:
		told.Message = "interrupted"
	}
	told.Message = withoutPackages(told.Message)
	return told
}

// packages are the names that the SDK's errors begin with. To whoever reads a message on a terminal they say nothing.
var packages = regexp.MustCompile(`(^|: )((haggle|agent|identity|journal|keeper|policy|wallet): )+`)

func withoutPackages(message string) string { return packages.ReplaceAllString(message, "$1") }

func usualHint(kind Kind) string {
	switch kind {
	case Expired:
		return "nothing happened and nothing will: run the command again"
	case Unknown:
		return "look at the negotiation before you repeat it: haggle negotiation show"
	case Wallet:
		return "nothing was sent; which wallet signs is said by --keypair"
	case Network:
		return "check --url; a local chain is started with: haggle localnet"
	}
	return ""
}

// programHints say what to do about what the program refuses, where the state of the negotiation does not say it better.
var programHints = map[protocol.ErrorCode]string{
	protocol.ErrUnauthorized:          "sign with the keypair of a party that may do this: --keypair",
	protocol.ErrNotYourTurn:           "the other side has to answer first: haggle negotiation watch",
	protocol.ErrExpired:               "the global deadline has passed; the escrow goes back with: haggle negotiation expire",
	protocol.ErrResponseWindowExpired: "nobody answered in time; the escrow goes back with: haggle negotiation expire",
	protocol.ErrOfferTooLow:           "haggle negotiation show tells the range that the next offer must lie in",
	protocol.ErrOfferExceedsEscrow:    "haggle negotiation show tells the range that the next offer must lie in",
	protocol.ErrMaxRoundsReached:      "no offer is left: take the last one or reject it",
	protocol.ErrInvalidParams:         "the ranges are in the help: haggle negotiation create --help",
	protocol.ErrPaused:                "new negotiations wait until the protocol's authority resumes it; those that run go on",
	protocol.ErrStaleState:            "the other side was faster: look again, then decide: haggle negotiation show",
	protocol.ErrUnsupportedMint:       "escrow takes mints of SPL Token, and those of Token-2022 whose extensions cannot touch it (docs/PROTOCOL.md)",
	protocol.ErrPayoutPending:         "a party's token account cannot receive its money: it has to claim it: haggle negotiation claim",
}
