package haggle

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

func storedAccount(owner solana.PublicKey, data []byte) any {
	return object{
		"lamports": 5_000, "owner": owner, "executable": false, "rentEpoch": 0, "space": len(data),
		"data": []any{base64.StdEncoding.EncodeToString(data), "base64"},
	}
}

// clientOf returns a client of a node that has one account, at every address.
func clientOf(t *testing.T, account any) *Client {
	t.Helper()
	client, _, _ := newScripted(t, map[string]func(int) (any, error){
		"getMultipleAccounts": always(object{"context": object{"slot": testSlot}, "value": []any{account}}),
	})
	return client
}

func TestNegotiationIsReadWithWhatItsReaderHasSeen(t *testing.T) {
	stored := &protocol.Negotiation{Buyer: solana.PublicKey{1}, Seller: solana.PublicKey{2}, EscrowAmount: 5_000_000, VaultBump: 254, Version: protocol.NegotiationVersion}
	data := stored.Encode()
	address := solana.PublicKey{3}
	read, err := clientOf(t, storedAccount(protocol.ProgramID, data)).Negotiation(address).Snapshot(t.Context())
	require.NoError(t, err)
	assert.Equal(t, &Snapshot{Address: address, Negotiation: *stored, Data: data, Slot: testSlot, Lamports: 5_000}, read)
	assert.Equal(t, protocol.TermsHash(address, data), read.TermsHash())
}

// A clock of another slot could be past a deadline that the negotiation no longer has.
func TestNegotiationAndClockAreOfOneSlot(t *testing.T) {
	data := (&protocol.Negotiation{Version: protocol.NegotiationVersion}).Encode()
	address := solana.PublicKey{3}
	client, node, _ := newScripted(t, nil)
	node.accounts = map[solana.PublicKey]any{address: storedAccount(protocol.ProgramID, data), solana.SysVarClockPubkey: storedClock(1_700_000_000)}
	read, err := client.Negotiation(address).Snapshot(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 1_700_000_000, read.Time)
	assert.EqualValues(t, testSlot, read.Slot)
	assert.Equal(t, 1, node.called("getMultipleAccounts"))

	node.accounts[solana.SysVarClockPubkey] = storedAccount(solana.SystemProgramID, make([]byte, clockSize))
	_, err = client.Negotiation(address).Snapshot(t.Context())
	require.ErrorIs(t, err, protocol.ErrWrongOwner)
}

func TestAccountsThatAreNotWhatTheyAreReadForAreErrors(t *testing.T) {
	negotiation := (&protocol.Negotiation{Version: protocol.NegotiationVersion}).Encode()
	foreign := append([]byte{}, negotiation...)
	foreign[0] ^= 1
	cases := map[string]struct {
		account any
		want    error
	}{
		"none":                {nil, protocol.ErrAccountNotFound},
		"just closed":         {object{"lamports": 0, "owner": solana.SystemProgramID, "executable": false, "rentEpoch": 0, "data": []any{"", "base64"}}, protocol.ErrAccountNotFound},
		"prefunded":           {storedAccount(solana.SystemProgramID, nil), protocol.ErrWrongOwner},
		"another program's":   {storedAccount(solana.TokenProgramID, negotiation), protocol.ErrWrongOwner},
		"too short":           {storedAccount(protocol.ProgramID, negotiation[:511]), protocol.ErrWrongLength},
		"too long":            {storedAccount(protocol.ProgramID, append(negotiation, 0)), protocol.ErrWrongLength},
		"of a later version":  {storedAccount(protocol.ProgramID, (&protocol.Negotiation{Version: protocol.NegotiationVersion + 1}).Encode()), protocol.ErrOutOfRange},
		"of no version":       {storedAccount(protocol.ProgramID, (&protocol.Negotiation{}).Encode()), protocol.ErrOutOfRange},
		"of another type":     {storedAccount(protocol.ProgramID, foreign), protocol.ErrWrongDiscriminator},
		"the configuration's": {storedAccount(protocol.ProgramID, (&protocol.ProtocolConfig{}).Encode()), nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			address := solana.PublicKey{3}
			read, err := clientOf(t, c.account).Negotiation(address).Snapshot(t.Context())
			assert.Nil(t, read)
			var wrong *protocol.AccountError
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, address, wrong.Address)
			if c.want != nil {
				assert.ErrorIs(t, err, c.want)
			}
		})
	}
}

func TestTokenAccountIsReadStrictly(t *testing.T) {
	data := make([]byte, tokenAccountSize)
	data[0], data[32], data[64], data[108] = 1, 2, 3, 1
	read, err := clientOf(t, storedAccount(solana.TokenProgramID, data)).GetTokenAccount(t.Context(), solana.PublicKey{9})
	require.NoError(t, err)
	want := &token.Account{
		Address: solana.PublicKey{9}, TokenProgram: solana.TokenProgramID, Mint: solana.PublicKey{1}, Owner: solana.PublicKey{2}, Amount: 3,
		State: token.StateInitialized, Slot: testSlot,
	}
	assert.Equal(t, want, read)

	data[108] = 3
	_, err = clientOf(t, storedAccount(solana.TokenProgramID, data)).GetTokenAccount(t.Context(), solana.PublicKey{9})
	require.ErrorIs(t, err, protocol.ErrOutOfRange)
	_, err = clientOf(t, storedAccount(solana.TokenProgramID, data[:164])).GetTokenAccount(t.Context(), solana.PublicKey{9})
	require.ErrorIs(t, err, protocol.ErrWrongLength)
	_, err = clientOf(t, storedAccount(protocol.ProgramID, data)).GetTokenAccount(t.Context(), solana.PublicKey{9})
	require.ErrorIs(t, err, protocol.ErrWrongOwner)
	_, err = clientOf(t, nil).GetTokenAccount(t.Context(), solana.PublicKey{9})
	require.ErrorIs(t, err, protocol.ErrAccountNotFound)
}

func TestNowIsTheChainsClock(t *testing.T) {
	data := make([]byte, clockSize)
	data[0], data[clockOffsetUnixTime], data[clockOffsetUnixTime+1] = 9, 0x10, 0x27
	now, err := clientOf(t, storedAccount(sysvarOwner, data)).Now(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 10_000, now)
	_, err = clientOf(t, storedAccount(sysvarOwner, data[:39])).Now(t.Context())
	require.ErrorIs(t, err, protocol.ErrWrongLength)
}

func TestFiltersAreTheNodes(t *testing.T) {
	agent := solana.PublicKey{7}
	shape := []rpc.RPCFilter{{DataSize: 512}, bytesAt(0, []byte(protocol.NegotiationDiscriminator))}
	buyer, seller := bytesAt(8, agent[:]), bytesAt(40, agent[:])
	status := func(value protocol.NegotiationStatus) rpc.RPCFilter { return bytesAt(80, []byte{byte(value)}) }
	with := func(more ...rpc.RPCFilter) []rpc.RPCFilter { return append(shape[:2:2], more...) }

	assert.Equal(t, [][]rpc.RPCFilter{shape}, Filter{}.queries())
	assert.Equal(t, [][]rpc.RPCFilter{shape}, Filter{Role: RoleSeller}.queries())
	assert.Equal(t, [][]rpc.RPCFilter{with(buyer), with(seller)}, Filter{Agent: agent}.queries())
	assert.Equal(t, [][]rpc.RPCFilter{with(seller)}, Filter{Agent: agent, Role: RoleSeller}.queries())
	assert.Equal(t, [][]rpc.RPCFilter{with(bytesAt(428, agent[:]))}, Filter{Agent: agent, Role: RoleArbiter}.queries())
	proposed, countered := protocol.NegotiationStatusProposed, protocol.NegotiationStatusCountered
	as := func(statuses ...protocol.NegotiationStatus) Filter {
		return Filter{Agent: agent, Role: RoleBuyer, Status: statuses}
	}
	assert.Equal(t, [][]rpc.RPCFilter{with(status(1), buyer)}, as(proposed).queries())
	assert.Equal(t, [][]rpc.RPCFilter{with(buyer)}, as(proposed, countered).queries(), "one snapshot for both")
}

func TestTermsThatAreLeftOutComeFromTheConfiguration(t *testing.T) {
	config := &protocol.ProtocolConfig{DefaultMaxRounds: 7, DefaultDecayRateBps: 150, DefaultResponseWindow: 90, DefaultProtocolFeeBps: 50}
	request := &CreateRequest{EscrowAmount: 100_000}
	assert.Equal(t, protocol.NegotiationParams{
		EscrowAmount: 100_000, MaxRounds: 7, DecayRateBps: 150, ResponseWindow: 90, GlobalDeadline: 1_000 + 3_600, MinOfferBps: 1_000,
		MaxFeeBps: 50,
	}, request.params(config, 1_000))

	request = &CreateRequest{
		EscrowAmount: 100_000, MaxRounds: 3, DecayRateBps: new(uint16(0)), ResponseWindow: 61*time.Second + 1, Deadline: 2 * time.Hour, MinOfferBps: 100,
		MaxFeeBps: new(uint16(0)),
	}
	assert.Equal(t, protocol.NegotiationParams{
		EscrowAmount: 100_000, MaxRounds: 3, ResponseWindow: 62, GlobalDeadline: 1_000 + 7_200, MinOfferBps: 100,
	}, request.params(config, 1_000))
}

func TestBondComparisonAndMilestonesArePartOfTheTerms(t *testing.T) {
	arbiter := solana.PublicKey{5}
	request := &CreateRequest{
		EscrowAmount: 100_000, Bond: 5_000, Zopa: true,
		Milestones: &Milestones{Arbiter: arbiter, Shares: []uint16{2_500, 7_500}, Delivery: 48*time.Hour + 1},
	}
	params := request.params(&protocol.ProtocolConfig{}, 1_000)
	assert.EqualValues(t, 5_000, params.BondRequired)
	assert.True(t, params.ZopaEnabled)
	assert.Equal(t, arbiter, params.Arbiter)
	assert.EqualValues(t, 24, params.ReviewHours)
	assert.Equal(t, [8]uint16{2_500, 7_500}, params.MilestoneBps)
	assert.EqualValues(t, 1_000+48*3_600+1+2*(24*3_600+60), params.MilestoneDeadline)

	request.Milestones.Delivery, request.Milestones.ReviewHours = 0, 3
	params = request.params(&protocol.ProtocolConfig{}, 1_000)
	assert.EqualValues(t, 3, params.ReviewHours)
	assert.EqualValues(t, 1_000+30*86_400+2*(3*3_600+60), params.MilestoneDeadline)

	// Eight reviews of a week come on top.
	request.Milestones.ReviewHours = protocol.MaxReviewHours
	request.Milestones.Shares = []uint16{1_250, 1_250, 1_250, 1_250, 1_250, 1_250, 1_250, 1_250}
	params = request.params(&protocol.ProtocolConfig{}, 1_000)
	assert.EqualValues(t, 1_000+30*86_400+8*(168*3_600+60), params.MilestoneDeadline)

	// Everything can be delivered until Delivery, and still be claimed.
	request.Milestones.Delivery = 72 * time.Hour
	params = request.params(&protocol.ProtocolConfig{}, 1_000)
	n := protocol.Negotiation{MilestoneDeadline: params.MilestoneDeadline, ReviewHours: params.ReviewHours}
	assert.EqualValues(t, 1_000+72*3_600, n.LatestClaim(8))
}

func TestDeadlineLeavesTimeForTheTransaction(t *testing.T) {
	for asked, given := range map[time.Duration]int64{
		59 * time.Second: 59, 60 * time.Second: 65, 64 * time.Second: 65, 66 * time.Second: 66, 24 * time.Hour: 86_400,
	} {
		request := &CreateRequest{Deadline: asked}
		assert.Equal(t, given, request.params(&protocol.ProtocolConfig{}, 0).GlobalDeadline, asked)
	}
}

func TestCheapSessionsAreFoundAtOnce(t *testing.T) {
	sessionID, negotiation, err := cheapSession(newKeypair(t).PublicKey(), newKeypair(t).PublicKey())
	require.NoError(t, err)
	assert.Less(t, sessionID, uint64(1)<<53)
	_, bump, err := protocol.FindVaultAddress(negotiation)
	require.NoError(t, err)
	assert.EqualValues(t, firstBump, bump)
}

func TestNodeAnswersOnlyWithWhatTheFilterSelects(t *testing.T) {
	agent, other := solana.PublicKey{7}, solana.PublicKey{8}
	arbiter := solana.PublicKey{10}
	stored := &protocol.Negotiation{Buyer: agent, Seller: other, Arbiter: arbiter, Status: protocol.NegotiationStatusProposed, Version: protocol.NegotiationVersion}
	client, _, _ := newScripted(t, map[string]func(int) (any, error){
		"getProgramAccounts": always(object{"context": object{"slot": testSlot}, "value": []any{
			object{"pubkey": solana.PublicKey{3}, "account": storedAccount(protocol.ProgramID, stored.Encode())},
		}}),
	})
	for name, c := range map[string]struct {
		filter   Filter
		selected bool
	}{
		"everyone's":          {Filter{}, true},
		"either role":         {Filter{Agent: agent}, true},
		"the right role":      {Filter{Agent: other, Role: RoleSeller}, true},
		"the wrong role":      {Filter{Agent: agent, Role: RoleSeller}, false},
		"the arbiter":         {Filter{Agent: arbiter, Role: RoleArbiter}, true},
		"an arbiter's party":  {Filter{Agent: agent, Role: RoleArbiter}, false},
		"no party":            {Filter{Agent: arbiter}, false},
		"somebody else's":     {Filter{Agent: solana.PublicKey{9}}, false},
		"the right status":    {Filter{Status: []protocol.NegotiationStatus{protocol.NegotiationStatusProposed}}, true},
		"the wrong status":    {Filter{Agent: agent, Status: []protocol.NegotiationStatus{protocol.NegotiationStatusSettled}}, false},
		"one of two statuses": {Filter{Status: []protocol.NegotiationStatus{protocol.NegotiationStatusSettled, protocol.NegotiationStatusProposed}}, true},
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
			assert.Equal(t, max(1, len(c.filter.queries())), found, "the scripted node has it in every answer")
		})
	}
}
