// Package exitcode describes errors to scripts and people: an exit code, a name, and the next step.
package exitcode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/gorilla/websocket"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/identity"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// Kind classifies errors. Its number is the exit code.
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
	Invalid     Kind = 12
	Deviated    Kind = 13
	Interrupted Kind = 130
)

// Kinds are all exit codes with their meanings, for the help.
var Kinds = []struct {
	Kind    Kind
	Name    string
	Meaning string
}{
	{None, "OK", "done"},
	{Other, "Failed", "another error"},
	{Usage, "Usage", "invalid command line: nothing was sent"},
	{Refused, "ProgramError", "rejected by the program, too few funds, or an unexpected state: nothing changed"},
	{NotFound, "NotFound", "the account does not exist: never created, or closed"},
	{Expired, "TransactionExpired", "the transaction can no longer be executed: safe to repeat"},
	{Unknown, "UnknownOutcome", "the outcome of the transaction is unknown: read the state before repeating it"},
	{Network, "Network", "the endpoint did not respond in time"},
	{NoDeal, "NoDeal", "no deal, or declined by the agent (agent, buyer, seller, negotiation watch)"},
	{Undecided, "Undecided", "the end of the negotiation is not known or not proven (agent, watch, verify)"},
	{Denied, "PolicyDenied", "denied by --policy, --trust or --allowlist: nothing was signed"},
	{Wallet, "WalletError", "the wallet cannot be opened, does not respond or does not sign: nothing was sent"},
	{Invalid, "Invalid", "the proof is not valid, or differs from the chain (verify)"},
	{Deviated, "Deviated", "the agent let its turn expire, or left its committed band (verify)"},
	{Interrupted, "Interrupted", "stopped by Ctrl-C"},
}

// Error is an error with a kind and a hint for the user.
type Error struct {
	Kind Kind
	// Hint is advice for the user; it may be empty.
	Hint string
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Usagef returns an error of the command line.
func Usagef(format string, arguments ...any) error {
	return &Error{Kind: Usage, Err: fmt.Errorf(format, arguments...)}
}

// Requires returns the error for a flag, such as "--csv", that is set while another required flag is not.
// reason can be empty.
func Requires(flag, other, reason string) error { return dependency(flag, "requires", other, reason) }

// Excludes returns the error for two mutually exclusive flags. reason can be empty.
func Excludes(flag, other, reason string) error {
	return dependency(flag, "excludes", other, cmp.Or(reason, "leave one out"))
}

func dependency(flag, verb, other, reason string) error {
	text := flag + ": " + verb + " " + other
	if reason != "" {
		text += "; " + reason
	}
	return &Error{Kind: Usage, Err: errors.New(text)}
}

// AsUsage makes an error that has no kind a command line error. A nil error stays nil.
func AsUsage(err error, hint string) error {
	if err == nil || errors.As(err, new(*Error)) {
		return err
	}
	return &Error{Kind: Usage, Hint: hint, Err: err}
}

// Case assigns a kind and a hint to certain errors.
type Case struct {
	// Is is the error to find with errors.Is. If it is nil, As is a value of the type to find with errors.As.
	Is, As error
	Kind   Kind
	// Hint is advice for the user; it may be empty.
	Hint string
}

// Match adds the kind and the hint of the first matching case. An error that has a kind, or matches no case,
// stays as it is.
func Match(err error, cases ...Case) error {
	if errors.As(err, new(*Error)) {
		return err
	}
	for _, c := range cases {
		if c.Is != nil && errors.Is(err, c.Is) ||
			c.As != nil && errors.As(err, reflect.New(reflect.TypeOf(c.As)).Interface()) {
			return &Error{c.Kind, c.Hint, err}
		}
	}
	return err
}

// WithHint adds a hint to an error and keeps the kind. A nil error stays nil, and an existing hint is kept.
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

// OfAction gives a transaction error the kind Unknown if the error does not prove the outcome; otherwise a
// network error would read as if nothing had been sent. If interrupted before sending, the error says that
// nothing was sent. A nil error stays nil.
func OfAction(err error) error {
	outcome, kind := transaction.OutcomeOf(err), KindOf(err)
	switch {
	case errors.As(err, new(*Error)):
	case outcome == transaction.Unknown && kind != Unknown:
		return &Error{Kind: Unknown, Err: err}
	case outcome == transaction.NotSent && kind == Interrupted:
		return &Error{Kind: Interrupted, Err: errors.New("interrupted: nothing was sent")}
	}
	return err
}

// KindOf classifies an error. An error that is neither an *Error nor the SDK's nor the network's is Other.
func KindOf(err error) Kind {
	var (
		own      *Error
		program  *protocol.ProgramError
		unknown  *transaction.UnknownOutcomeError
		network  net.Error
		location *url.Error
		status   *jsonrpc.HTTPError
		path     *fs.PathError
		link     *os.LinkError
		answered *transaction.NodeError
		refusal  *identity.Refusal
		remote   *wallet.RemoteError
		failed   *transaction.Error
	)
	switch {
	case err == nil:
		return None
	case errors.As(err, &own):
		return own.Kind
	case errors.As(err, &unknown), errors.Is(err, haggle.ErrUnresolved):
		return Unknown
	case errors.As(err, new(*agent.UnverifiedError)):
		return Undecided
	case errors.Is(err, transaction.ErrSingleSource):
		return Usage
	case errors.As(err, &program), errors.Is(err, haggle.ErrNotAsExpected), errors.As(err, new(*token.DecimalsError)),
		errors.As(err, new(*token.InsufficientFunds)), errors.As(err, &failed) && isShortOfSOL(failed):
		return Refused
	case errors.Is(err, token.ErrNotWrappedSOL):
		return Usage
	case errors.Is(err, transaction.ErrExpired):
		return Expired
	case errors.Is(err, protocol.ErrAccountNotFound), errors.Is(err, rpc.ErrNotFound):
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
		// A system call's error implements net.Error too.
		return Other
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network), errors.As(err, &location), errors.As(err, &status),
		errors.As(err, &answered), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, transaction.ErrBehind), errors.Is(err, transaction.ErrMalformed), isBehind(err), isSilent(err),
		errors.Is(err, websocket.ErrBadHandshake), isOfHTTP(err):
		return Network
	}
	return Other
}

// kindOfRefusal distinguishes a counterparty with a low score from a counterparty with an unreadable score.
func kindOfRefusal(refusal *identity.Refusal) Kind {
	switch {
	case refusal.Cause == nil:
		return Denied
	case errors.As(refusal.Cause, new(*identity.AllowlistError)), errors.As(refusal.Cause, new(*fs.PathError)):
		return Other
	}
	return Network
}

// isBehind reports whether a simulation failed because the node does not know the blockhash yet: nothing was
// sent.
func isBehind(err error) bool {
	var tx *transaction.Error
	return errors.As(err, &tx) && tx.Reason == "BlockhashNotFound" && tx.Signature.IsZero()
}

// isShortOfSOL reports whether the wallet lacks lamports.
func isShortOfSOL(failed *transaction.Error) bool {
	const tooFew = 1 // the system program's error
	switch failed.Reason {
	case "AccountNotFound", "InsufficientFundsForFee", "InsufficientFundsForRent":
		return true
	}
	return failed.Program == solana.SystemProgramID && failed.Code == tooFew || shortTransfer(failed.Logs) != nil
}

// insufficientLamports matches the system program's log line for a failed transfer. Other programs return the
// same error as their own.
var insufficientLamports = regexp.MustCompile(`^Transfer: insufficient lamports (\d+), need (\d+)$`)

// shortTransfer returns the wallet's lamports and the lamports required by a transfer; nil if the logs
// contain neither.
func shortTransfer(logs []string) []amount.Tokens {
	for _, line := range logs {
		if found := insufficientLamports.FindStringSubmatch(line); found != nil {
			have, err := strconv.ParseUint(found[1], 10, 64)
			need, needErr := strconv.ParseUint(found[2], 10, 64)
			if err == nil && needErr == nil {
				return []amount.Tokens{amount.SOL(have), amount.SOL(need)}
			}
		}
	}
	return nil
}

// isSilent reports whether the node closed the connection before responding. The JSON-RPC client has no type
// for this error.
func isSilent(err error) bool { return strings.HasSuffix(err.Error(), "the node does not answer") }

// isOfHTTP reports whether the endpoint speaks http while the URL says https.
func isOfHTTP(err error) bool { return strings.Contains(err.Error(), http.ErrSchemeMismatch.Error()) }

// isConfiguration reports whether the protocol's configuration does not exist.
func isConfiguration(err error) bool {
	var account *protocol.AccountError
	address, _, findErr := protocol.FindConfigAddress()
	return findErr == nil && errors.As(err, &account) && account.Address == address &&
		errors.Is(err, protocol.ErrAccountNotFound)
}

// Report writes an error for people, or as a JSON document on a single line, and returns the exit code. A nil
// error writes nothing. JSON amounts are in base units.
func Report(w io.Writer, program string, err error, asJSON bool) int {
	if err == nil {
		return int(None)
	}
	if asJSON {
		reported := describe(withoutAmounts(err))
		_ = json.NewEncoder(w).Encode(Document{reported})
		return reported.ExitCode
	}
	reported, text := describeText(err)
	fmt.Fprintf(w, "%s: %s\n", program, forTerminal(text))
	if reported.Hint != "" {
		fmt.Fprintf(w, "  %s\n", reported.Hint)
	}
	return reported.ExitCode
}

// Document is an error as JSON, on stderr.
type Document struct {
	Error description `json:"error"`
}

// DocumentOf describes an error as Report writes it with JSON, but with the amounts of WithAmounts. The error
// must not be nil.
func DocumentOf(err error) Document { return Document{describe(err)} }

// Message returns an error's message as Report writes it with JSON: untrusted text is excluded.
func Message(err error) string { return describe(err).Message }

// Text formats an error as Report writes it for people, excluding the hint.
func Text(err error) string {
	_, text := describeText(err)
	return forTerminal(text)
}

type description struct {
	ExitCode int `json:"exit_code"`
	// Code is the program's error number.
	Code    uint32 `json:"code,omitempty"`
	Name    string `json:"name"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Details holds all untrusted text; the remaining fields contain none.
	Details *Details `json:"details,omitempty"`
	// Denial names the policy rule and the limit.
	Denial *denial `json:"denial,omitempty"`
}

func describe(err error) description {
	reported, _ := describeText(err)
	return reported
}

// describeText returns an error's description with the full wording for people.
func describeText(err error) (reported description, text string) {
	kind := KindOf(err)
	reported = description{ExitCode: int(kind), Message: err.Error(), Hint: usualHint(kind)}
	for _, known := range Kinds {
		if known.Kind == kind {
			reported.Name = known.Name
		}
	}
	var (
		program *protocol.ProgramError
		tx      *transaction.Error
		funds   *token.InsufficientFunds
		denied  *policy.Denial
		refusal *identity.Refusal
		journal *haggle.JournalError
		logs    []string
	)
	switch {
	case errors.As(err, &journal) && journal.Outcome == transaction.NotSent:
		reported.Message = fmt.Sprintf("%v: nothing was sent", journal.Err)
	case errors.As(err, &denied):
		reported.Message, reported.Hint = denied.Error(), denialHint(denied)
		reported.Denial = viewDenial(denied)
	case errors.As(err, &refusal):
		reported.Message, reported.Hint = refusal.Error(), refusalHint(refusal)
		if kind == Denied {
			reported.Name = "CounterpartyRefused"
		}
	case errors.As(err, new(*agent.UnverifiedError)):
		reported.Name, reported.Hint = "SettlementUnverified", "compare with other nodes (--url); deliver once they show the escrow or the payment"
	case errors.Is(err, haggle.ErrTreasuryChanged):
		reported.Name = "TreasuryChanged"
		reported.Hint = "repeat the command to close it for the new treasury; to see the costs before: --dry-run"
	case errors.As(err, &program):
		reported.Code, logs = uint32(program.Code), program.Logs
		if program.Name != "" {
			reported.Name = program.Name
		}
		if hint := programHints[program.Code]; hint != "" {
			reported.Hint = hint
		}
	case errors.Is(err, haggle.ErrNotAsExpected):
		reported.Name = "NotAsExpected"
	case errors.As(err, new(*token.DecimalsError)):
		reported.Name = "DecimalsDiffer"
		reported.Hint = "nothing was signed; one of them is wrong: compare with the mint's issuer or another node"
	case errors.As(err, &tx):
		logs = tx.Logs
		if chainReasons[tx.Reason] {
			reported.Name = tx.Reason
		}
		switch {
		case isShortOfSOL(tx):
			if short := shortTransfer(tx.Logs); short != nil {
				reported.Message = fmt.Sprintf("too little SOL: a transfer needs %s, and %s are left (%s)",
					short[1], short[0], reported.Message)
			} else {
				reported.Message = "too little SOL: " + reported.Message
			}
			reported.Hint = "add SOL to the paying wallet; on localhost, devnet and testnet: haggle airdrop 1"
		case errors.Is(err, haggle.ErrTokenProgramTooOld):
			reported.Hint = "use another cluster; docs/DEPLOYMENT.md lists the requirements"
		}
	case errors.As(err, &funds):
		reported.Name = "InsufficientFunds"
	case reported.Message == context.DeadlineExceeded.Error():
		reported.Message = "time limit reached (--timeout)"
		reported.Hint = "to wait longer, raise --timeout; to check the endpoint: haggle doctor"
	case isOfHTTP(err):
		reported.Hint = "the endpoint speaks http: write http:// instead of https:// in its address"
	case strings.Contains(reported.Message, "connect to the WebSocket endpoint"):
		reported.Hint = "check --ws (by default the port after the one of --url), or run haggle doctor"
	case isConfiguration(err):
		reported.Message = "protocol not initialized on this cluster: " + reported.Message
		reported.Hint = "check --url: the cluster may be another one; haggle doctor checks it"
	}
	var own *Error
	switch {
	case errors.As(err, &own) && own.Hint != "":
		reported.Hint = own.Hint
	case kind == Interrupted && own == nil:
		reported.Message = "interrupted"
	}
	reported.Message = withoutPackages(messageWithAmounts(reported.Message, err))
	text = reported.Message
	reported.separate(err, logs)
	return reported, text
}

// packages matches the package name prefixes in SDK errors; messages omit them.
var packages = regexp.MustCompile(
	`(^|: )((haggle|agent|identity|journal|keeper|policy|queue|simulation|tournament|wallet): )+`)

func withoutPackages(message string) string { return packages.ReplaceAllString(message, "$1") }

func usualHint(kind Kind) string {
	switch kind {
	case Expired:
		return "nothing was executed: run the command again"
	case Unknown:
		return "read the state before you repeat it: haggle negotiation show"
	case Wallet:
		return "nothing was sent; --keypair names the wallet"
	case Network:
		return "check --url, or run haggle doctor; to start a local chain: haggle localnet"
	}
	return ""
}

// programHints maps program errors to next steps. A hint from the negotiation's state takes precedence.
var programHints = map[protocol.ErrorCode]string{
	protocol.ErrUnauthorized:          "sign with the keypair of an authorized party: --keypair",
	protocol.ErrNotYourTurn:           "wait for the other side: haggle negotiation watch",
	protocol.ErrExpired:               "the global deadline has passed; to return the escrow: haggle negotiation expire",
	protocol.ErrResponseWindowExpired: "the response window has passed; to return the escrow: haggle negotiation expire",
	protocol.ErrOfferTooLow:           "to read the range of the next offer: haggle negotiation show",
	protocol.ErrOfferExceedsEscrow:    "to read the range of the next offer: haggle negotiation show",
	protocol.ErrMaxRoundsReached:      "no round is left: accept the last offer, or reject",
	protocol.ErrInvalidParams:         "for the ranges: haggle negotiation create --help",
	protocol.ErrPaused:                "creation is paused by the protocol's authority; existing negotiations continue",
	protocol.ErrStaleState:            "the state has changed: read it again before you decide: haggle negotiation show",
	protocol.ErrUnsupportedMint:       "use a mint of SPL Token, or one of Token-2022 whose extensions docs/PROTOCOL.md allows",
	protocol.ErrPayoutPending:         "a party's token account could not receive its payment; that party claims it with: haggle negotiation claim-payout",
}
