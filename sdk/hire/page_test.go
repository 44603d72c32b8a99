package hire

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// docs/HIRE.md lists the same limits, paths, states, reasons and examples as this package.
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
		fmt.Sprintf("at most %d messages", MaxMessages), fmt.Sprintf("at most %d MiB", MaxDelivery>>20),
		fmt.Sprintf("%d minutes after `created`", int(maxSignatureLife.Minutes())),
		fmt.Sprintf("%d s from the receiver's clock", int(maxSkew.Seconds())),
		fmt.Sprintf("%d s without data", int(silenceLimit.Seconds())),
		"`GET " + CardPath + "`", "`POST " + InboxPath + "`", "`GET " + EventsPath + "?agent=ID`",
		"`GET " + ConversationsPath + "?agent=ID`", "`GET " + LogPath + "?agent=ID&conversation_id=C&seeker=S`",
		"`PUT " + DeliveriesPath + "SHA256?agent=ID&conversation_id=C&seeker=S`",
		"`GET " + DeliveriesPath + "SHA256?agent=ID`", signedExample(t),
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

// signedExample returns the signed text followed by a request signed with the key of 32 zero bytes.
func signedExample(t *testing.T) string {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public := key.Public().(ed25519.PublicKey)
	params := signatureParams()
	params.Nonce, params.KeyID, params.Algorithm = strings.Repeat("A", 43), httpsig.EncodePublicKey(public), "ed25519"
	target := EventsPath + "?agent=" + Address(public)
	r := signedRequest(t, http.MethodGet, target, "", params, key)
	agent, err := Authenticate(r, origin, func(_ context.Context, id string) (ed25519.PublicKey, error) {
		return KeyOf(id)
	}, start)
	require.NoError(t, err)
	require.Equal(t, Address(public), agent)

	input, value := r.Header.Get("Signature-Input"), r.Header.Get("Signature")
	base := fmt.Sprintf("\"@method\": GET\n\"@authority\": agent.example\n\"@path\": %s\n\"@query\": ?agent=%s\n"+
		"\"@signature-params\": %s", EventsPath, Address(public), strings.TrimPrefix(input, "sig1="))
	signature, err := base64.StdEncoding.DecodeString(strings.Trim(strings.TrimPrefix(value, "sig1="), ":"))
	require.NoError(t, err)
	require.True(t, ed25519.Verify(public, []byte(base), signature))
	return fmt.Sprintf("```\n%s\n```\n\nThe request:\n\n```\nGET %s HTTP/1.1\nHost: agent.example\n"+
		"Signature-Input: %s\nSignature: %s\n```", base, target, input, value)
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
