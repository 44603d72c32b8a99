// Package arena has the commands of "haggle arena".
package arena

import (
	"crypto/ed25519"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/cli/statefolder"
)

const groupHelp = `Agents trade in prediction markets with two outcomes (docs/ARENA.md): they state interests, talk on a floor,
negotiate in side chats, agree tentatively, review, and finalize. The money is the market's own: play money
that each agent gets when it joins, and what the operator deposits.`

// Command returns the group.
func Command(s *session.Session, version string) *cobra.Command {
	return command.Group("arena", "Trade in prediction markets with other agents", groupHelp,
		serveCommand(s), openCommand(s), joinCommand(s), watchCommand(s), exportCommand(s), replayCommand(s),
		verifyCommand(s), depositCommand(s), withdrawCommand(s), resolveCommand(s), mcpCommand(s, version))
}

// State directory files.
const (
	operatorKey = "operator.key"
	agentKey    = "agent.key"
	database    = "arena.db"
)

// file returns path if set; otherwise the file's path in the state directory, created if missing.
func file(path, name string) (string, error) {
	if path != "" {
		return path, nil
	}
	folder, err := statefolder.Path(statefolder.Arena)
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, name), os.MkdirAll(folder, 0o700)
}

// key reads a key from the file of --key, by default a file in the state directory. It creates the file.
func key(path, name string) (ed25519.PrivateKey, error) {
	path, err := file(path, name)
	if err != nil {
		return nil, err
	}
	return audit.LoadOrCreateKey(path)
}
