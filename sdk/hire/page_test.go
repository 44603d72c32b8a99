package hire

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs/HIRE.md has the limits, the states, the reasons and a message as this package has them.
func TestPageAgreesWithThePackage(t *testing.T) {
	content, err := os.ReadFile("../../docs/HIRE.md")
	require.NoError(t, err)
	page := string(content)

	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public := key.Public().(ed25519.PublicKey)
	m, err := Sign(key, Draft{
		From: DIDKey(public), To: Address(keyOf(worker).Public().(ed25519.PublicKey)), At: start, Conversation: "conv_1",
		Payload: &Proposal{Task: NewText("logo <é>"), Budget: "5 USDC", Deadline: deadline, Arbiter: address},
	})
	require.NoError(t, err)
	for _, text := range []string{
		"```\n" + string(m.signed) + "\n" + m.signature + "\n" + string(m.Hash()) + "\n```",
		"`" + Address(public) + "`", "`" + DIDKey(public) + "`", states(),
		fmt.Sprintf("at most %d KiB", MaxSize>>10), fmt.Sprintf("at most %d nested", MaxDepth),
	} {
		require.Contains(t, page, text)
	}

	var documented []Reason
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (?:it|the|its|sender|accepted|`in_reply_to`) ").FindAllStringSubmatch(
		page[strings.Index(page, "## Reasons"):], -1) {
		documented = append(documented, Reason(row[1]))
	}
	require.Equal(t, Reasons(), documented)
}

// states returns the table of the types that each role may send.
func states() string {
	var table strings.Builder
	table.WriteString("| state | seeker | worker | system |\n|---|---|---|---|\n")
	for _, phase := range []Phase{PhaseIdle, PhaseNegotiating, PhaseContracted, PhaseDeclined} {
		fmt.Fprintf(&table, "| %s |", phase)
		for _, role := range []Role{RoleSeeker, RoleWorker, RoleSystem} {
			var names []string
			for _, sent := range allowed[phase][role] {
				names = append(names, string(sent))
			}
			fmt.Fprintf(&table, " %s |", strings.Join(names, ", "))
		}
		table.WriteString("\n")
	}
	return table.String()
}
