package exitcode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/identity"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

func refused(code protocol.ErrorCode) error {
	return fmt.Errorf("wrapped: %w", &protocol.ProgramError{Code: code, Name: code.Name(), Message: code.Message(), Logs: []string{"a log"}})
}

// Only an error that proves that nothing was sent may have an exit code that says so.
func TestExitCodeOfAnAction(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: errors.New("reset")}
	unknown := &transaction.UnknownOutcomeError{Cause: reset}
	for _, err := range []error{reset, context.DeadlineExceeded, context.Canceled, errors.New("x"), unknown, fmt.Errorf("x: %v", unknown)} {
		require.Equal(t, Unknown, KindOf(OfAction(err)), "%v", err)
		require.ErrorIs(t, OfAction(err), err)
	}
	require.NoError(t, OfAction(nil))
	require.Equal(t, Usage, KindOf(OfAction(Usagef("wrong"))))
	require.Equal(t, Refused, KindOf(OfAction(refused(protocol.ErrNotYourTurn))))
	require.Equal(t, Expired, KindOf(OfAction(fmt.Errorf("%w: x", transaction.ErrExpired))))
	require.Equal(t, Refused, KindOf(OfAction(&token.InsufficientFunds{})))
}

// When interrupted, the output says that nothing was sent only if the error proves it.
func TestInterruptBeforeTheSend(t *testing.T) {
	unsent := &haggle.JournalError{Outcome: transaction.NotSent, Err: context.Canceled}
	for _, err := range []error{unsent, fmt.Errorf("it: %w", unsent)} {
		var out bytes.Buffer
		require.Equal(t, int(Interrupted), Report(&out, "haggle", OfAction(err), false))
		require.Equal(t, "haggle: interrupted: nothing was sent\n", out.String())
	}
	var out bytes.Buffer
	require.Equal(t, int(Unknown), Report(&out, "haggle", OfAction(context.Canceled), false))
	require.NotContains(t, out.String(), "nothing was sent")
	late := &haggle.JournalError{Outcome: transaction.NotSent, Err: context.DeadlineExceeded}
	require.Equal(t, error(late), OfAction(late))
}

func TestExitCodes(t *testing.T) {
	for _, sample := range []struct {
		err  error
		kind Kind
		name string
	}{
		{nil, None, ""},
		{errors.New("broken"), Other, "Failed"},
		{Usagef("wrong"), Usage, "Usage"},
		{AsUsage(errors.New("unknown flag"), "help"), Usage, "Usage"},
		{refused(protocol.ErrNotYourTurn), Refused, "NotYourTurn"},
		{refused(protocol.ErrConstraintSeeds), Refused, "ConstraintSeeds"},
		{refused(31337), Refused, "ProgramError"},
		{fmt.Errorf("%w: 3", haggle.ErrNotAsExpected), Refused, "NotAsExpected"},
		{&protocol.AccountError{Err: protocol.ErrAccountNotFound}, NotFound, "NotFound"},
		{fmt.Errorf("mint: %w", rpc.ErrNotFound), NotFound, "NotFound"},
		{fmt.Errorf("%w: x", transaction.ErrExpired), Expired, "TransactionExpired"},
		{&transaction.UnknownOutcomeError{Cause: context.Canceled}, Unknown, "UnknownOutcome"},
		{&url.Error{Op: "Post", Err: errors.New("refused")}, Network, "Network"},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, Network, "Network"},
		{fmt.Errorf("no invitation: %w", context.DeadlineExceeded), Network, "Network"},
		{context.Canceled, Interrupted, "Interrupted"},
		{&Error{Kind: NoDeal, Err: errors.New("no deal")}, NoDeal, "NoDeal"},
		{&transaction.Error{Reason: "InsufficientFundsForFee"}, Refused, "InsufficientFundsForFee"},
		{fmt.Errorf("haggle: getSlot: %w", io.ErrUnexpectedEOF), Network, "Network"},
		{fmt.Errorf("read: %w", io.EOF), Network, "Network"},
		{&transaction.NodeError{Method: "getSlot", Code: 500}, Network, "Network"},
		{errors.New("haggle: getSlot: the node does not answer"), Network, "Network"},
		{fmt.Errorf("haggle: getSlot: %w", transaction.ErrBehind), Network, "Network"},
		{fmt.Errorf("haggle: getSlot: %w", transaction.ErrMalformed), Network, "Network"},
		{&token.InsufficientFunds{Have: 1, Need: 2}, Refused, "InsufficientFunds"},
		{token.ErrNotWrappedSOL, Usage, "Usage"},
		{fmt.Errorf("x does not sign: %w", &policy.Denial{Rule: policy.RulePerDay}), Denied, "PolicyDenied"},
		{&policy.Denial{Rule: policy.RuleNegotiation, Cause: &url.Error{Op: "Post", Err: errors.New("refused")}}, Denied, "PolicyDenied"},
		{&policy.Denial{Rule: policy.RuleApproval, Cause: context.Canceled}, Interrupted, "Interrupted"},
		{&identity.Refusal{}, Denied, "CounterpartyRefused"},
		{&identity.Refusal{Cause: errors.New("down")}, Network, "Network"},
		{&identity.Refusal{Cause: &identity.AllowlistError{}}, Other, "Failed"},
		{fmt.Errorf("x does not sign: %w", &wallet.RemoteError{Err: errors.New("down")}), Wallet, "WalletError"},
		{fmt.Errorf("%w: agent.age", wallet.ErrPassphrase), Wallet, "WalletError"},
	} {
		require.Equal(t, sample.kind, KindOf(sample.err), "%v", sample.err)
		var out bytes.Buffer
		require.Equal(t, int(sample.kind), Report(&out, "haggle", sample.err, true))
		if sample.err == nil {
			require.Empty(t, out.String())
			continue
		}
		var document struct{ Error description }
		require.NoError(t, json.Unmarshal(out.Bytes(), &document))
		require.Equal(t, sample.name, document.Error.Name)
		require.Equal(t, int(sample.kind), document.Error.ExitCode)
		require.NotEmpty(t, document.Error.Message)
	}
}

func TestARefusalHasItsCodeLogsAndHint(t *testing.T) {
	reported := describe(refused(protocol.ErrStaleState))
	require.EqualValues(t, 6013, reported.Code)
	require.Equal(t, &Details{Source: "node", Untrusted: true, Logs: []string{"a log"}}, reported.Details)
	require.Contains(t, reported.Hint, "read it again")
	reported = describe(WithHint(refused(protocol.ErrStaleState), "do this instead"))
	require.Equal(t, "do this instead", reported.Hint)
	require.EqualValues(t, 6013, reported.Code)
}

// A denial is reported alone, with numbers for scripts.
func TestADenialHasItsLimits(t *testing.T) {
	denied := &policy.Denial{Rule: policy.RulePerDay, Instruction: 1, Name: "haggle.create_negotiation", Limit: 5, Used: 3, Requested: 4}
	reported := describe(fmt.Errorf("haggle: %s does not sign: %w", protocol.ProgramID, denied))
	require.Equal(t, "policy denied: limit per day: 4 requested, 3 used, limit 5 lamports (instruction 1, haggle.create_negotiation)", reported.Message)
	require.Contains(t, reported.Hint, "haggle policy usage")
	require.Equal(t, &denial{Rule: policy.RulePerDay, Instruction: "haggle.create_negotiation", Requested: "4", Used: "3", Limit: "5"}, reported.Denial)
	require.Nil(t, describe(errors.New("broken")).Denial)
}

// People read tokens, scripts base units.
func TestAmountsAreForPeople(t *testing.T) {
	mint := solana.PublicKey{1}
	inTokens := func(address solana.PublicKey, units uint64) string {
		require.Equal(t, mint, address)
		return amount.Tokens{Units: units, Decimals: 6, Symbol: "TEST"}.String()
	}
	n := &protocol.Negotiation{TokenMint: mint, EscrowAmount: 5_000_000, EffectiveEscrow: 5_000_000}
	_, tooHigh := protocol.SealPrice(solana.PublicKey{2}, n, solana.PublicKey{3}, 5_500_000)
	for message, sample := range map[string]struct {
		err   error
		plain string
	}{
		"token account " + mint.String() + " holds 0.10 TEST, but 5.50 TEST are needed": {
			&token.InsufficientFunds{Account: mint, Mint: mint, Have: 100_000, Need: 5_500_000},
			"token account " + mint.String() + " holds 100000 base units, but 5500000 base units are needed",
		},
		"highest total: price 5.50 TEST and decay 0.25 TEST: 5.75 TEST in all, limit 3.50 TEST of mint " + mint.String(): {
			fmt.Errorf("haggle: x does not sign: %w", &policy.Denial{
				Rule: policy.RuleMaxTotal, Instruction: -1, Mint: mint, Limit: 3_500_000, Used: 250_000, Requested: 5_500_000,
			}),
			"policy denied: highest total: price 5500000 and decay 250000: 5750000 in all, limit 3500000 base units of " + mint.String(),
		},
		"reservation price out of range: must be 0.000001 TEST to 5.00 TEST": {
			tooHigh, "reservation price out of range: must be 1 base units to 5000000 base units",
		},
	} {
		var out bytes.Buffer
		err := WithAmounts(WithHint(sample.err, "a hint"), inTokens)
		require.Equal(t, int(KindOf(sample.err)), Report(&out, "haggle", err, false))
		require.Contains(t, out.String(), message+"\n  a hint\n")
		require.Contains(t, Message(err), message)
		out.Reset()
		Report(&out, "haggle", err, true)
		require.Contains(t, out.String(), sample.plain+`"`)
		require.Contains(t, Message(sample.err), sample.plain)

		out.Reset()
		options := &slog.HandlerOptions{ReplaceAttr: LogAmounts(inTokens)}
		slog.New(slog.NewTextHandler(&out, options)).Error("failed", "error", sample.err, "count", 1)
		require.Contains(t, out.String(), message+`" count=1`)
	}
	require.NoError(t, WithAmounts(nil, inTokens))
}

// loggedAmount is an amount in a log and not an error.
type loggedAmount struct{ mint solana.PublicKey }

func (a loggedAmount) TextWith(write amount.Formatter) string { return write(a.mint, 2_500_000) }

func TestLoggedAmountsAreInTokens(t *testing.T) {
	var out bytes.Buffer
	write := func(mint solana.PublicKey, units uint64) string { return fmt.Sprintf("%d of %d", units, mint[0]) }
	options := &slog.HandlerOptions{ReplaceAttr: LogAmounts(write)}
	slog.New(slog.NewTextHandler(&out, options)).Info("offer", "price", loggedAmount{solana.PublicKey{7}})
	require.Contains(t, out.String(), `price="2500000 of 7"`)
}

// Messages omit package names, even nested.
func TestMessagesDoNotNamePackages(t *testing.T) {
	refusal := &identity.Refusal{Cause: errors.New("haggle: identity: registry.example answers with status 500")}
	require.Equal(t, "counterparty "+refusal.Agent.String()+" refused: its trust score is unavailable: registry.example answers with status 500",
		Text(refusal))
	require.Equal(t, "close: the node does not answer", Text(errors.New("keeper: close: haggle: the node does not answer")))
	require.Equal(t, "a journal: of whom", describe(errors.New("a journal: of whom")).Message)
}

func TestReplacedTreasuryHasAHint(t *testing.T) {
	var out bytes.Buffer
	changed := fmt.Errorf("%w: %w", haggle.ErrTreasuryChanged, refused(protocol.ErrConstraintRaw))
	Report(&out, "haggle", changed, true)
	require.Contains(t, out.String(), `"name":"TreasuryChanged","message":"treasury has changed: `)
	require.Contains(t, out.String(), `"hint":"repeat the command`)
}

func TestReportAsText(t *testing.T) {
	var out bytes.Buffer
	require.Equal(t, 1, Report(&out, "haggle", WithHint(errors.New("haggle: broken"), "mend it"), false))
	require.Equal(t, "haggle: broken\n  mend it\n", out.String())
	out.Reset()
	require.Equal(t, 130, Report(&out, "buyer", context.Canceled, false))
	require.Equal(t, "buyer: interrupted\n", out.String())
}

func TestHintsStay(t *testing.T) {
	require.NoError(t, WithHint(nil, "nothing"))
	require.NoError(t, AsUsage(nil, "nothing"))
	first := WithHint(errors.New("broken"), "first")
	require.Equal(t, first, WithHint(first, "second"))
	require.Equal(t, Network, KindOf(WithHint(context.DeadlineExceeded, "wait")))
}

func TestTheFirstCaseOfAnErrorCounts(t *testing.T) {
	sentinel := errors.New("sentinel")
	match := func(err error) error {
		return Match(err, Case{Is: sentinel, Kind: NotFound, Hint: "create it"},
			Case{As: (*url.Error)(nil), Kind: Refused}, Case{Is: sentinel, Kind: Denied})
	}
	for _, sample := range []struct {
		err  error
		kind Kind
		hint string
	}{
		{fmt.Errorf("x: %w", sentinel), NotFound, "create it"},
		{fmt.Errorf("x: %w", &url.Error{Err: context.Canceled}), Refused, ""},
		{errors.Join(Usagef("wrong"), sentinel), Usage, ""},
		{errors.New("sentinel"), Other, ""},
	} {
		err := match(sample.err)
		require.Equal(t, sample.kind, KindOf(err))
		require.ErrorIs(t, err, sample.err)
		require.Equal(t, sample.hint, describe(err).Hint)
	}
	require.NoError(t, match(nil))
}

func TestKindsAreComplete(t *testing.T) {
	seen := map[Kind]bool{}
	for _, known := range Kinds {
		require.False(t, seen[known.Kind])
		require.NotEmpty(t, known.Meaning)
		seen[known.Kind] = true
	}
	for _, kind := range []Kind{
		None, Other, Usage, Refused, NotFound, Expired, Unknown, Network, NoDeal, Undecided, Denied, Wallet,
		Invalid, Interrupted,
	} {
		require.True(t, seen[kind])
	}
}
