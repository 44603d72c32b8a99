package haggle

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// manyNegotiations is a node with count negotiations. It sends the second half when half is closed, and
// leaves the response incomplete if cut is set.
type manyNegotiations struct {
	count int
	half  chan struct{}
	cut   bool
}

func (m *manyNegotiations) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct{ ID string }
	if json.NewDecoder(r.Body).Decode(&request) != nil {
		return
	}
	stored := (&protocol.Negotiation{Buyer: solana.PublicKey{1}, Seller: solana.PublicKey{2},
		Version: protocol.NegotiationVersion}).Encode()
	content := base64.StdEncoding.EncodeToString(stored)
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `{"jsonrpc":"2.0","result":{"context":{"apiVersion":"3.0.0","slot":%d},"value":[`,
		testSlot)
	for i := range m.count {
		if i == m.count/2 {
			_ = out.Flush()
			w.(http.Flusher).Flush()
			select {
			case <-m.half:
			case <-r.Context().Done():
				return
			}
			if m.cut {
				panic(http.ErrAbortHandler)
			}
		}
		if i > 0 {
			_ = out.WriteByte(',')
		}
		fmt.Fprintf(out, `{"account":{"data":["%s","base64"],"executable":false,"lamports":%d,"owner":"%s","rentEpoch":18446744073709551615,"space":512},"pubkey":"%s"}`,
			content, protocol.NegotiationRent, protocol.ProgramID, negotiationNumber(i))
	}
	fmt.Fprintf(out, `]},"id":%q}`, request.ID)
	_ = out.Flush()
}

func negotiationNumber(i int) (address solana.PublicKey) {
	binary.LittleEndian.PutUint64(address[:], uint64(i)+1)
	return address
}

func (m *manyNegotiations) client(t *testing.T) *Client {
	t.Helper()
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	client, err := NewClient(Config{Endpoint: server.URL})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func heapInUse() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func TestFindNegotiationsStreams100000(t *testing.T) {
	const all, most = 100_000, 8 << 20
	node := &manyNegotiations{count: all, half: make(chan struct{})}
	client := node.client(t)
	before := heapInUse()
	late := time.AfterFunc(time.Minute,
		func() { panic("no negotiation arrives before the last one is sent") })
	found := 0
	for negotiation, err := range client.FindNegotiations(t.Context(), Filter{}) {
		require.NoError(t, err)
		if found == 0 {
			late.Stop()
			close(node.half)
		}
		require.Equal(t, negotiationNumber(found), negotiation.Address)
		require.EqualValues(t, testSlot, negotiation.Slot)
		if found++; found%(all/4) == 0 {
			require.Less(t, heapInUse(), before+most, "after %d negotiations", found)
		}
	}
	assert.Equal(t, all, found)
}

func TestTruncatedListYieldsItsStartAndAnError(t *testing.T) {
	node := &manyNegotiations{count: 1_000, half: make(chan struct{}), cut: true}
	close(node.half)
	found, failures := 0, 0
	for negotiation, err := range node.client(t).FindNegotiations(t.Context(), Filter{}) {
		if err != nil {
			failures++
			continue
		}
		require.Equal(t, negotiationNumber(found), negotiation.Address)
		found++
	}
	assert.Equal(t, 1, failures)
	assert.Equal(t, 500, found)
}

func TestLeavingTheLoopEndsTheRequest(t *testing.T) {
	node := &manyNegotiations{count: 1_000, half: make(chan struct{})}
	client := node.client(t)
	for _, err := range client.FindNegotiations(t.Context(), Filter{}) {
		require.NoError(t, err)
		break
	}
	assert.Zero(t, client.Nodes()[0].Errors)
}

func TestNodeReceivesTheFilters(t *testing.T) {
	agent := solana.PublicKey{7}
	shape := []rpc.RPCFilter{{DataSize: 512}, bytesAt(0, []byte(protocol.NegotiationDiscriminator))}
	buyer, seller := bytesAt(8, agent[:]), bytesAt(40, agent[:])
	status := func(value protocol.NegotiationStatus) rpc.RPCFilter { return bytesAt(80, []byte{byte(value)}) }
	with := func(more ...rpc.RPCFilter) []rpc.RPCFilter { return append(shape[:2:2], more...) }

	assert.Equal(t, [][]rpc.RPCFilter{shape}, Filter{}.queries())
	assert.Equal(t, [][]rpc.RPCFilter{shape}, Filter{}.queries())
	assert.Equal(t, [][]rpc.RPCFilter{with(buyer), with(seller)}, Filter{Party: agent}.queries())
	assert.Equal(t, [][]rpc.RPCFilter{with(seller)}, Filter{Seller: agent}.queries())
	assert.Equal(t, [][]rpc.RPCFilter{with(bytesAt(428, agent[:]))},
		Filter{Arbiter: agent}.queries())
	proposed, countered := protocol.NegotiationStatusProposed, protocol.NegotiationStatusCountered
	as := func(statuses ...protocol.NegotiationStatus) Filter {
		return Filter{Buyer: agent, Status: statuses}
	}
	assert.Equal(t, [][]rpc.RPCFilter{with(status(1), buyer)}, as(proposed).queries())
	assert.Equal(t, [][]rpc.RPCFilter{with(buyer)}, as(proposed, countered).queries(),
		"one snapshot for both")
}

func TestNegotiationOutsideTheFilterIsAnError(t *testing.T) {
	agent, other := solana.PublicKey{7}, solana.PublicKey{8}
	arbiter := solana.PublicKey{10}
	stored := &protocol.Negotiation{Buyer: agent, Seller: other, Arbiter: arbiter,
		Status: protocol.NegotiationStatusProposed, Version: protocol.NegotiationVersion}
	client, _, _ := newScripted(t, map[string]func(int) (any, error){
		"getProgramAccounts": always(object{"context": object{"slot": testSlot}, "value": []any{
			object{"pubkey": solana.PublicKey{3},
				"account": storedAccount(protocol.ProgramID, stored.Encode())},
		}}),
	})
	for name, c := range map[string]struct {
		filter   Filter
		selected bool
	}{
		"everyone's":         {Filter{}, true},
		"either role":        {Filter{Party: agent}, true},
		"the right role":     {Filter{Seller: other}, true},
		"the wrong role":     {Filter{Seller: agent}, false},
		"the arbiter":        {Filter{Arbiter: arbiter}, true},
		"an arbiter's party": {Filter{Arbiter: agent}, false},
		"no party":           {Filter{Party: arbiter}, false},
		"of another agent":   {Filter{Party: solana.PublicKey{9}}, false},
		"the right status":   {Filter{Status: []protocol.NegotiationStatus{protocol.NegotiationStatusProposed}}, true},
		"the wrong status": {Filter{Party: agent,
			Status: []protocol.NegotiationStatus{protocol.NegotiationStatusSettled}}, false},
		"one of two statuses": {Filter{Status: []protocol.NegotiationStatus{protocol.NegotiationStatusSettled,
			protocol.NegotiationStatusProposed}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			found := 0
			for _, err := range client.FindNegotiations(t.Context(), c.filter) {
				if !c.selected {
					require.ErrorContains(t, err, "does not match the filter")
					return
				}
				require.NoError(t, err)
				found++
			}
			assert.Equal(t, max(1, len(c.filter.queries())), found,
				"the scripted node has it in every answer")
		})
	}
}
