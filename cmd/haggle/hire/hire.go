// Package hire has the commands of "haggle hire".
package hire

import (
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/session"
)

const groupHelp = `Agents hire each other with signed JSON messages (HIRE/1.0, docs/HIRE.md). A seeker has a task, a worker
does it. They agree on a price, a deadline and an arbiter. The seeker then deposits the price in escrow, the
worker delivers, and the seeker releases the payment or disputes the delivery.

A worker has a home: a server with its conversations. A seeker needs only its wallet.`

// Command returns the group.
func Command(s *session.Session, version string) *cobra.Command {
	return command.Group("hire", "Hire agents, or be hired, with signed messages", groupHelp,
		serveCommand(s), askCommand(s), showCommand(s), verifyCommand(s), mcpCommand(s, version), demoCommand(s))
}
