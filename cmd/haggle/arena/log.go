package arena

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/arena/chain"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

const exportHelp = `Prints the log of a market, one entry a line: the public log, in which private messages are salted hashes.
With --whole it has all messages, and the seed of the speaking order: haggle arena replay leads to the same
market again.`

func exportCommand(s *session.Session) *cobra.Command {
	var f marketFlags
	var whole bool
	cmd := &cobra.Command{
		Use: "export MARKET", Short: "Print the log of a market", Long: exportHelp,
		Example: "  haggle arena export likes > likes.jsonl\n  haggle arena export likes --whole > whole.jsonl",
	}
	cmd.Flags().StringVar(&f.database, "db", "", "database: FILE or postgres://HOST/NAME (default: a file in the state folder)")
	cmd.Flags().BoolVar(&whole, "whole", false, "also print what is private")
	command.Documents(cmd, chain.Line{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) (err error) {
		opened, err := f.open(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, opened.Close()) }()
		resolved := false
		if !whole {
			log, err := opened.Load(ctx, arguments[0], nil)
			if err != nil {
				return err
			}
			resolved = log.Book.Market().View().Phase == arena.PhaseResolved
		}
		lines := json.NewEncoder(s.Stdout)
		return opened.Lines(ctx, arguments[0], func(line chain.Line) error {
			if !whole {
				line = line.Public(resolved)
			}
			return lines.Encode(line)
		})
	})
	return cmd
}

const replayHelp = `Replays a whole log (haggle arena export --whole), and prints the events of the market: the public ones, or
with --all those of the side chats as well. The same log leads to the same events on any machine. With LOG "-"
it is read from stdin.`

func replayCommand(s *session.Session) *cobra.Command {
	o := &watchOptions{Session: s}
	var all bool
	cmd := &cobra.Command{
		Use: "replay LOG", Short: "Replay a market from its log", Long: replayHelp,
		Example: "  haggle arena replay whole.jsonl --all",
	}
	cmd.Flags().BoolVar(&all, "all", false, "also print private events")
	command.Documents(cmd, factView{})
	cmd.RunE = s.Limited(func(_ context.Context, arguments []string) error {
		var view *arena.View
		var number uint64
		log := new(chain.Log)
		err := readLog(s, arguments[0], log, func(_ chain.Line, events []arena.Event) error {
			if log.Book == nil {
				return exitcode.Usagef("%s: has no private messages; replay needs the whole log", arguments[0])
			}
			if view == nil {
				view = &arena.View{Config: log.Config}
			}
			for _, event := range events {
				view.Observe(event.At, event.Fact)
				shown := arena.Shown{At: event.At, Fact: event.Fact}
				if len(event.To) == 0 {
					number++
					shown.Number = number
				} else if !all {
					continue
				}
				if err := o.printFact(view, shown); err != nil {
					return err
				}
			}
			return nil
		})
		return err
	})
	return cmd
}

const verifyHelp = `Verifies a log of a market: the chain of hashes, that each message is that of its hash and signed by its
agent, and, if the log is whole, that the market accepts each message as it did. With LOG "-" it is read
from stdin.

--receipts is a file with receipts of the operator (haggle arena join --receipts). Each must be signed by the
operator, and the log must have its message at its time. A receipt whose message is missing, or elsewhere, is
proof against the operator. The log can be older than the latest receipts: export it after them.

The exit code is 12 if something is wrong. All logs of a market have the same last hash: compare it.`

// verifyView is the output of verify.
type verifyView struct {
	Market string `json:"market"`
	// Head is the last entry's hash, and Messages the number of messages; Shown counts the messages with
	// text.
	Head     string `json:"head"`
	Messages int    `json:"messages"`
	Shown    int    `json:"shown"`
	Receipts int    `json:"receipts"`
	Whole    bool   `json:"whole"`
}

func verifyCommand(s *session.Session) *cobra.Command {
	var receipts string
	cmd := &cobra.Command{
		Use: "verify LOG", Short: "Verify the log of a market", Long: verifyHelp,
		Example: "  haggle arena verify likes.jsonl --receipts receipts.jsonl",
	}
	cmd.Flags().StringVar(&receipts, "receipts", "", "file with receipts, one a line")
	command.Documents(cmd, verifyView{})
	cmd.RunE = s.Limited(func(_ context.Context, arguments []string) error {
		log, placed := new(chain.Log), map[string]chain.Line{}
		err := readLog(s, arguments[0], log, func(line chain.Line, _ []arena.Event) error {
			leaf, at, err := line.Leaf()
			if err == nil {
				placed[leaf+at.Format(timeFormat)] = line
			}
			return err
		})
		if err != nil {
			return err
		}
		view := verifyView{
			Market: log.Config.Market, Head: log.Head().Hash, Messages: log.Messages, Shown: log.Shown,
			Whole: log.Book != nil,
		}
		if receipts != "" {
			if view.Receipts, err = checkReceipts(receipts, log.Config.Operator, placed); err != nil {
				return err
			}
		}
		return s.Print(view, "market    "+view.Market, "head      "+view.Head,
			fmt.Sprintf("messages  %d, %d with a text", view.Messages, view.Shown),
			fmt.Sprintf("receipts  %d", view.Receipts), "valid")
	})
	return cmd
}

const timeFormat = "2006-01-02T15:04:05.000000Z"

// checkReceipts checks that the message log contains every receipt's message.
func checkReceipts(path, operator string, placed map[string]chain.Line) (count int, err error) {
	opened, err := os.Open(path)
	if err != nil {
		return 0, exitcode.Usagef("--receipts: %w", err)
	}
	defer opened.Close() // it was only read
	for decoder := json.NewDecoder(opened); ; count++ {
		var receipt arena.Receipt
		switch err := decoder.Decode(&receipt); {
		case errors.Is(err, io.EOF):
			return count, nil
		case err != nil:
			return count, exitcode.Usagef("--receipts: line %d: %w", count+1, err)
		}
		err := receipt.VerifySignature(operator)
		if _, is := placed[receipt.Leaf+receipt.At.UTC().Format(timeFormat)]; err == nil && !is {
			err = errors.New("the log does not have its message at its time")
		}
		if err != nil {
			return count, invalid(fmt.Errorf("receipt of message %d of %s: %w", receipt.Sequence, receipt.Agent, err))
		}
	}
}

func invalid(err error) error { return &exitcode.Error{Kind: exitcode.Invalid, Err: err} }

// maxLine limits the line size in bytes: an escaped message and the surrounding entry.
const maxLine = 128 << 10

// readLog follows a log's lines.
func readLog(s *session.Session, path string, log *chain.Log, each func(chain.Line, []arena.Event) error) error {
	in := s.Stdin
	if path != "-" {
		opened, err := os.Open(path)
		if err != nil {
			return exitcode.Usagef("LOG: %w", err)
		}
		defer opened.Close() // it was only read
		in = opened
	}
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	number := 0
	for scanner.Scan() {
		number++
		var line chain.Line
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			return exitcode.Usagef("LOG: line %d: %w", number, err)
		}
		events, err := log.Follow(line)
		if err != nil {
			return invalid(fmt.Errorf("line %d: %w", number, err))
		}
		if err := each(line, events); err != nil {
			return err
		}
	}
	if err := scanner.Err(); err != nil {
		return exitcode.Usagef("LOG: line %d: %w", number+1, err)
	}
	if number == 0 {
		return exitcode.Usagef("LOG: empty")
	}
	return nil
}
