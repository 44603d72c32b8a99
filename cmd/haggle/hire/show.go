package hire

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

const showHelp = `Lists the wallet's conversations at the home ORIGIN, or prints the messages of one. The home shows
conversations to their two parties only. With --log the output is the log as the home keeps it, one entry a
line, for haggle hire verify.`

// showOptions holds the flags of haggle hire show.
type showOptions struct {
	*session.Session
	as, seeker string
	log, open  bool
	local      bool
}

// conversationView is a conversation in the list.
type conversationView struct {
	Conversation string     `json:"conversation_id"`
	Seeker       string     `json:"seeker"`
	Worker       string     `json:"worker"`
	Phase        hire.Phase `json:"phase"`
	Deal         int        `json:"deal"`
	Price        hire.Price `json:"price,omitempty"`
}

// arrivalView is a conversation message.
type arrivalView struct {
	messageView
	// Arrived is the home's time of the arrival.
	Arrived time.Time `json:"arrived"`
}

func showCommand(s *session.Session) *cobra.Command {
	o := &showOptions{Session: s}
	cmd := &cobra.Command{
		Use: "show ORIGIN [CONVERSATION]", Short: "List conversations, or print one", Long: showHelp,
		Example: "  haggle hire show https://worker.example\n" +
			"  haggle hire show https://worker.example CONVERSATION --log > log.jsonl",
	}
	flags := cmd.Flags()
	flags.StringVar(&o.as, "as", "", "id of the wallet's agent (default: its address)")
	flags.StringVar(&o.seeker, "seeker", "", "id of the conversation's seeker (default: --as)")
	flags.BoolVar(&o.log, "log", false, "print the log as the home keeps it")
	flags.BoolVar(&o.open, "open", false, "list only conversations that expect a message or a contract")
	flags.BoolVar(&o.local, "local", false, "also connect to a home at a private address")
	command.Documents(cmd, conversationView{}, arrivalView{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		home, err := o.home(ctx, arguments[0])
		if err != nil {
			return err
		}
		if len(arguments) == 1 {
			return o.list(ctx, home)
		}
		return o.print(ctx, home, arguments[1])
	})
	return cmd
}

func (o *showOptions) home(ctx context.Context, origin string) (*hire.Home, error) {
	if err := hire.CheckOrigin(origin); err != nil {
		return nil, exitcode.Usagef("ORIGIN: %w", err)
	}
	key, err := o.Connection.MessageKey(ctx)
	if err != nil {
		return nil, err
	}
	return &hire.Home{
		Origin: origin, Agent: cmp.Or(o.as, addressOf(key).String()), Key: key, Client: &hire.Client{Local: o.local},
	}, nil
}

func (o *showOptions) list(ctx context.Context, home *hire.Home) error {
	query := hire.ConversationQuery{Open: o.open}
	for {
		page, err := home.Conversations(ctx, query)
		if err != nil {
			return err
		}
		for _, c := range page.Conversations {
			v := conversationView{c.ID, c.Seeker, c.Worker, c.State.Phase, c.State.Deal, c.State.Terms.Price}
			line := fmt.Sprintf("%-11s  %-16s  %.60q with %.60s", v.Phase, v.Price, v.Conversation, v.Worker)
			if err := o.Print(v, line); err != nil {
				return err
			}
		}
		if query.After = page.Next; query.After == "" {
			return nil
		}
	}
}

func (o *showOptions) print(ctx context.Context, home *hire.Home, conversation string) error {
	log, err := home.Log(ctx, conversation, cmp.Or(o.seeker, home.Agent))
	if err != nil {
		return err
	}
	for _, arrival := range log.Arrivals {
		if o.log {
			if _, err := fmt.Fprintf(o.Stdout, "%s\n", arrival.Link); err != nil {
				return err
			}
			continue
		}
		v := arrivalView{viewOfMessage(arrival.Message, home.Agent), arrival.At}
		if err := o.Print(v, arrival.At.Format(time.RFC3339)+"  "+v.line()); err != nil {
			return err
		}
	}
	return nil
}
