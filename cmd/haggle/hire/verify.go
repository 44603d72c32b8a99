package hire

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/hire/verify"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

const verifyHelp = `Verifies the log of a conversation, as haggle hire show --log prints it: the chain of hashes, the
signature of each message by its sender, that each was allowed in the state of the conversation at the time of
its arrival, and that contracts name the escrow that follows from the accepted terms. With LOG "-" it is read
from stdin.

Unless --offline is set, it then reads from the cluster whether each agreement is settled as agreed. That is
the word of the nodes of --url.

Ids that are origins have their key in their card. The keys of the wallet's state database are used, or --key;
nothing is fetched. --settlement is the settlement key that you trust: without it, that of the worker's pinned
card is used. Set the timeouts of the worker's card if they differ from the defaults.

The exit code is 12 if something is wrong. Both sides have the same last hash: compare it to see that the home
has shown both the same conversation.`

// verifyOptions holds the flags of haggle hire verify.
type verifyOptions struct {
	*session.Session
	assetFlag
	timeoutFlags
	keys       []string
	settlement string
	offline    bool
	lenient    bool
}

func verifyCommand(s *session.Session) *cobra.Command {
	o := &verifyOptions{Session: s}
	cmd := &cobra.Command{
		Use: "verify LOG", Short: "Verify the log of a conversation and its settlement", Long: verifyHelp,
		Example: "  haggle hire verify log.jsonl\n  haggle hire show ORIGIN CONVERSATION --log | haggle hire verify - --offline",
	}
	flags := cmd.Flags()
	o.assetFlag.register(cmd)
	o.timeoutFlags.register(cmd)
	flags.StringArrayVar(&o.keys, "key", nil, "key of an origin, ORIGIN=ADDRESS; can be repeated")
	flags.StringVar(&o.settlement, "settlement", "", "address of the settlement key")
	flags.BoolVar(&o.offline, "offline", false, "do not read the settlement from the cluster")
	flags.BoolVar(&o.lenient, "lenient", false, "allow messages without in_reply_to")
	command.Documents(cmd, verify.Report{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error { return o.verify(ctx, arguments[0]) })
	return cmd
}

func (o *verifyOptions) verify(ctx context.Context, path string) error {
	links, err := o.read(path)
	if err != nil {
		return err
	}
	timeouts, err := o.timeouts()
	if err != nil {
		return err
	}
	options := verify.Options{Rules: hire.Rules{Timeouts: timeouts, System: o.settlement, Lenient: o.lenient}}
	if options.Assets, err = o.assets(ctx, o.Session); err != nil {
		return err
	}
	resolver, err := o.resolver(ctx)
	if err != nil {
		return err
	}
	options.Key = func(ctx context.Context, id string) (ed25519.PublicKey, error) {
		pin, err := resolver(ctx, id)
		if err != nil {
			return nil, err
		}
		return hire.KeyOf(string(pin.Key))
	}
	if options.Rules.System == "" {
		if options.Rules.System, err = systemOf(ctx, links, resolver); err != nil {
			return err
		}
	}
	report, err := verify.Log(ctx, links, options)
	if err != nil {
		return err
	}
	if !o.offline && len(report.Findings) == 0 {
		client, err := o.Client()
		if err != nil {
			return err
		}
		if err := report.Chain(ctx, client); err != nil {
			return err
		}
	}
	if err := o.Print(report, lines(report)...); err != nil {
		return err
	}
	if len(report.Findings) > 0 {
		return &exitcode.Error{Kind: exitcode.Invalid, Err: fmt.Errorf("log not valid: %s", report.Findings[0].Detail)}
	}
	return nil
}

// read reads a log, one link a line.
func (o *verifyOptions) read(path string) (links []audit.Link, err error) {
	in := o.Stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, exitcode.Usagef("LOG: %w", err)
		}
		defer file.Close()
		in = file
	}
	reader := bufio.NewReader(io.LimitReader(in, maxLog))
	decoder := json.NewDecoder(reader)
	decoder.DisallowUnknownFields()
	for {
		var link audit.Link
		switch err := decoder.Decode(&link); {
		case errors.Is(err, io.EOF):
			return links, nil
		case err != nil:
			return nil, &exitcode.Error{Kind: exitcode.Invalid, Err: fmt.Errorf("LOG: entry %d: %w", len(links)+1, err)}
		}
		links = append(links, link)
	}
}

// maxLog limits the log size in bytes: it exceeds what a home stores for a conversation.
const maxLog = 128 << 20

// resolver returns the keys of ids locally, sending no requests.
func (o *verifyOptions) resolver(ctx context.Context) (func(context.Context, string) (hire.Pin, error), error) {
	given := map[string]hire.Pin{}
	for _, written := range o.keys {
		origin, address, found := strings.Cut(written, "=")
		if _, err := hire.KeyOf(address); !found || err != nil {
			return nil, exitcode.Usagef("--key: %q is not ORIGIN=ADDRESS", written)
		}
		given[origin] = hire.Pin{Key: hire.Base58(address)}
	}
	state, err := o.Connection.State(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, id string) (hire.Pin, error) {
		if hire.CheckOrigin(id) != nil {
			key, err := hire.KeyOf(id)
			if err != nil {
				return hire.Pin{}, err
			}
			return hire.Pin{Key: hire.Base58(hire.Address(key))}, nil
		}
		if pin, is := given[id]; is {
			return pin, nil
		}
		pin, err := state.HirePins().Pinned(ctx, id)
		if err == nil && pin == (hire.Pin{}) {
			err = exitcode.Usagef("no key of %s is known: set --key %s=ADDRESS", id, id)
		}
		return pin, err
	}, nil
}

// systemOf returns the settlement key in the worker's pinned card, or "" if none.
func systemOf(
	ctx context.Context, links []audit.Link, resolver func(context.Context, string) (hire.Pin, error),
) (string, error) {
	if len(links) == 0 {
		return "", nil
	}
	var entry audit.Entry
	if json.Unmarshal([]byte(links[0].Text), &entry) != nil {
		return "", nil // the verification says so
	}
	first, err := hire.Parse(entry.Data)
	if err != nil || hire.CheckOrigin(first.To()) != nil {
		return "", nil
	}
	pin, err := resolver(ctx, first.To())
	return string(pin.Settlement), err
}

func lines(r *verify.Report) []string {
	all := []string{
		fmt.Sprintf("conversation  %.80q", r.Conversation), "seeker        " + r.Seeker, "worker        " + r.Worker,
		fmt.Sprintf("messages      %d, all signed and in order: %v", r.Messages, len(r.Findings) == 0),
		"last hash     " + r.Head,
	}
	for _, deal := range r.Deals {
		line := fmt.Sprintf("deal %-2d       %s by %s, %d copies of the contract", deal.Deal, deal.Terms.Price,
			deal.Terms.Deadline, deal.Contracts)
		if s := deal.Settlement; s != nil {
			line += fmt.Sprintf(", %s on chain", s.Status)
		}
		all = append(all, line)
	}
	for _, finding := range r.Findings {
		all = append(all, fmt.Sprintf("finding       entry %d: %s: %s", finding.Entry, finding.Code, finding.Detail))
	}
	return all
}
