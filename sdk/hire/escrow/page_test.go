package escrow_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// docs/HIRE.md describes the settlement for peers in other languages.
func TestPageHasTheTermsOfSettlements(t *testing.T) {
	page, err := os.ReadFile("../../../docs/HIRE.md")
	require.NoError(t, err)
	for _, text := range []string{
		`SHA-256("haggle/hire/session" || seeker_accept || worker_accept)`, "session id 4248140667046874907",
		fmt.Sprintf("| `max_rounds` | %d |", escrow.MaxRounds),
		fmt.Sprintf("| `response_window` | %d s or more |", escrow.ResponseWindow/time.Second),
		fmt.Sprintf("| `global_deadline` | %d minutes after the creation; %d minutes or more are accepted |",
			escrow.GlobalDeadline/time.Minute, escrow.MinGlobalDeadline/time.Minute),
		fmt.Sprintf("| `review_hours` | %d or less |", escrow.ReviewHours),
		fmt.Sprintf("plus %d s; up to an hour more", protocol.MilestoneSlack),
		fmt.Sprintf("| `protocol_fee_bps` | %d or less |", escrow.MaxFeeBps),
		fmt.Sprintf("at most %d days", escrow.MaxDelivery/(24*time.Hour)),
	} {
		assert.Contains(t, string(page), text)
	}
}
