package connection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/mint"
	"github.com/haggle-protocol/haggle/internal/cli/userinput"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/policy"
)

// ReadPolicy reads a file with a policy.
func ReadPolicy(path string) (*policy.Config, error) {
	config, err := policy.ReadConfig(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exitcode.Usagef("%s: file not found", path)
	}
	if err != nil {
		return nil, &exitcode.Error{Kind: exitcode.Usage, Err: fmt.Errorf("policy not valid: %w", err),
			Hint: "to see a complete policy: haggle policy --help"}
	}
	return &config, nil
}

// readPolicy returns nil if --policy is not set.
func (f *Flags) readPolicy() (*policy.Config, error) {
	if f.PolicyPath == "" {
		return nil, nil
	}
	config, err := ReadPolicy(f.PolicyPath)
	if err != nil {
		return nil, fmt.Errorf("--policy: %w", err)
	}
	return config, nil
}

// govern returns a signer that enforces a policy.
func (f *Flags) govern(ctx context.Context, signer haggle.Signer, config policy.Config) (haggle.Signer, error) {
	client, err := f.Client()
	if err != nil {
		return nil, err
	}
	state, err := f.State(ctx)
	if err != nil {
		return nil, err
	}
	config.Store, config.Negotiations, config.Tables = state, policy.Reader(client), policy.TablesOf(client)
	config.Evidence, config.Approve = policy.EvidenceOf(client), f.approve
	governed, err := policy.New(ctx, signer, config)
	if err != nil {
		return nil, exitcode.AsUsage(stateError(ctx, err), "")
	}
	return governed, nil
}

// Usage returns the usage records of the wallet of --keypair.
func (f *Flags) Usage(ctx context.Context) (records []policy.Record, err error) {
	wallet, err := f.Address(ctx)
	if err != nil {
		return nil, err
	}
	state, err := f.State(ctx)
	if err != nil {
		return nil, err
	}
	for record, err := range state.UsageLog(wallet).Next(ctx) {
		if err != nil {
			return nil, stateError(ctx, err)
		}
		records = append(records, record)
	}
	return records, nil
}

var (
	errNoTerminal  = errors.New("approval required, but there is no terminal to ask")
	errNotApproved = errors.New("not approved")
)

// approve prompts for approval at the terminal. Every answer except "y" and "yes" is a refusal.
func (f *Flags) approve(ctx context.Context, request *policy.Request) error {
	if !f.attended() {
		return errNoTerminal
	}
	defer f.prompting()()
	amount := f.AmountOf
	if amount == nil {
		amount = mint.Offline
	}
	return terminal.approve(ctx, requestText(request, amount))
}

// terminal is the process's terminal.
var terminal = newPrompter(os.Stdin, os.Stderr)

// prompter serialises prompts.
type prompter struct {
	in  io.Reader
	out io.Writer
	// asking holds an element while a prompt is open, to keep answers from reaching a different prompt.
	asking chan struct{}
}

func newPrompter(in io.Reader, out io.Writer) *prompter {
	return &prompter{in: in, out: out, asking: make(chan struct{}, 1)}
}

func (d *prompter) approve(ctx context.Context, request string) error {
	select {
	case d.asking <- struct{}{}:
		defer func() { <-d.asking }()
	case <-ctx.Done():
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "the policy requires approval:\n%s\nsign it? [y/n] ", request)
	answer, err := userinput.Line(ctx, d.in)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil || !userinput.IsYes(answer):
		return errNotApproved
	}
	return nil
}

// requestText formats each amount with the full mint, for comparison by the person who approves.
func requestText(request *policy.Request, amount func(mint solana.PublicKey, units uint64) string) string {
	ofMint := func(mint solana.PublicKey, units uint64) string {
		text := amount(mint, units)
		if !mint.IsZero() {
			text += " of mint " + mint.String()
		}
		return text
	}
	lines := []string{"  " + strings.Join(request.Instructions, ", ")}
	for _, spend := range request.Spends {
		line := fmt.Sprintf("  pays   %s (%s)", ofMint(spend.Mint, spend.Amount), spend.Purpose)
		if !spend.Counterparty.IsZero() {
			line += " with " + spend.Counterparty.String()
		}
		lines = append(lines, line)
	}
	for _, price := range request.Prices {
		lines = append(lines, fmt.Sprintf("  price  %s as %s with %s in %s", ofMint(price.Mint, price.Amount),
			strings.ToLower(price.Side.String()), price.Counterparty, price.Negotiation))
	}
	return strings.Join(lines, "\n")
}
