package agent

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk"
)

func TestNoStepIsTakenOnANegotiationThatHasTakenTheOthersPlace(t *testing.T) {
	found := &haggle.NegotiationAccount{}
	found.Version = haggle.NegotiationVersion
	found.CreatedAt, found.EscrowAmount, found.DecayRateBps = 10, 5_000_000, 150
	worthless := found.Negotiation
	worthless.CreatedAt, worthless.TokenMint[0] = 20, 1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ ID json.RawMessage }
		content, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(content, &request)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"context":{"slot":1},"value":[{"lamports":1,"owner":%q,"executable":false,"rentEpoch":0,"space":512,"data":[%q,"base64"]}]}}`,
			request.ID, haggle.ProgramAddress, base64.StdEncoding.EncodeToString(worthless.Encode()))
	}))
	defer server.Close()
	client, err := haggle.NewClient(haggle.Config{Endpoint: server.URL})
	require.NoError(t, err)
	defer client.Close()
	_, err = Follow(t.Context(), client, found, func(context.Context, *haggle.NegotiationAccount, int64) (bool, error) {
		t.Error("a step has been taken")
		return true, nil
	})
	require.ErrorIs(t, err, ErrReplaced)
}
