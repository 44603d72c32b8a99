package scenarios

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/haggle-protocol/haggle/sdk/admin"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// The configuration belongs to a whole chain, so changes would affect all other scenarios there. These
// scenarios use a separate chain, or run alone on a chain already running, in sequence under each token
// program. Each restores the configuration.
func TestAdministration(t *testing.T) {
	t.Parallel()
	for _, program := range tokenPrograms {
		t.Run(program.name, func(t *testing.T) {
			t.Parallel()
			alone(t, func(v *venue) {
				for _, act := range []struct {
					name string
					play func(a administration)
				}{
					{"administration_update_config", administration.updatesConfig},
					{"administration_update_config_out_of_range", administration.keepsToRanges},
					{"administration_pause", administration.pauses},
					{"administration_change_of_authority", administration.changesAuthority},
					{"administration_change_of_treasury", administration.changesTreasury},
				} {
					t.Run(act.name, func(t *testing.T) {
						perform(t, v, act.name, program, func(s *fixture) { s.administer(act.play) })
					})
				}
			})
		})
	}
}

// alone opens a chain for a single scenario. If the chain was already running it is shared, so the scenario
// waits until all others have ended.
func alone(t *testing.T, play func(v *venue)) {
	t.Helper()
	v, err := shared.open()
	require.NoError(t, err)
	if v.Kind == localnet.External {
		require.NotEmpty(t, v.UpgradeAuthority, "%s has to name the keypair of the chain's authority", localnet.EnvUpgradeAuthority)
		shared.clock.Lock()
		defer shared.clock.Unlock()
	} else {
		v, err = openVenue(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, v.close()) }()
	}
	play(v)
}

// administration is a fixture with the authority over the chain's configuration.
type administration struct {
	*fixture
	authority party
}

// administer runs a scenario that changes the chain's configuration, and asserts that it is restored.
func (s *fixture) administer(play func(a administration)) {
	key, err := wallet.NewKeypair(s.venue.UpgradeAuthority)
	require.NoError(s.t, err)
	before := s.config()
	require.Equal(s.t, before.Authority, key.PublicKey(), "the configuration's authority")
	play(administration{s, party{Keypair: key, private: s.venue.UpgradeAuthority}})
	after := s.config()
	require.Equal(s.t, terms(before), terms(after))
}

// terms returns the configuration values set by the authority, excluding the totals of the closings.
func terms(config protocol.ProtocolConfig) protocol.ConfigUpdated {
	return protocol.ConfigUpdated{
		Authority: config.Authority, Treasury: config.Treasury, DefaultDecayRateBps: config.DefaultDecayRateBps,
		DefaultResponseWindow: config.DefaultResponseWindow, DefaultProtocolFeeBps: config.DefaultProtocolFeeBps,
		DefaultMaxRounds: config.DefaultMaxRounds, IsPaused: config.IsPaused,
	}
}

func (s *fixture) config() protocol.ProtocolConfig {
	s.t.Helper()
	config, err := s.venue.client.GetConfig(s.ctx)
	require.NoError(s.t, err)
	return config.ProtocolConfig
}

// configures changes the configuration, and asserts that the configuration and the event contain the wanted
// values.
func (a administration) configures(m move, want protocol.ConfigUpdated) {
	a.t.Helper()
	receipt := a.do(m)
	require.Equal(a.t, []protocol.Event{&want}, receipt.Events)
	require.Equal(a.t, want, terms(a.config()))
}

func (a administration) update(by party, request admin.UpdateConfigRequest) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		request.Authority = by.PublicKey()
		return admin.UpdateConfig(ctx, a.venue.client, request)
	}}
}

func (a administration) setPaused(by party, paused bool) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return admin.SetPaused(a.venue.client, admin.SetPausedRequest{Authority: by.PublicKey(), Paused: paused})
	}}
}

func (a administration) propose(by party, next solana.PublicKey) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return admin.ProposeAuthority(a.venue.client, admin.ProposeAuthorityRequest{Authority: by.PublicKey(), NewAuthority: next})
	}}
}

func (a administration) acceptAuthority(by party) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return admin.AcceptAuthority(a.venue.client, admin.AcceptAuthorityRequest{Authority: by.PublicKey()})
	}}
}

// create is an attempt to create a negotiation.
func (a administration) create(terms haggle.CreateRequest) move {
	return move{a.buyer, func(ctx context.Context) (*haggle.Action, error) {
		created, err := a.venue.client.CreateNegotiation(terms).Build(ctx)
		if err != nil {
			return nil, err
		}
		return created, nil
	}}
}

// onDefaults returns terms that use every default of the SDK.
func (a administration) onDefaults(escrow uint64) haggle.CreateRequest {
	return haggle.CreateRequest{
		Buyer: a.buyer.PublicKey(), Seller: a.seller.PublicKey(), Mint: a.mint, Decimals: localnet.Decimals,
		EscrowAmount: escrow, ServiceHash: service, Key: rand.Text(),
	}
}

// A fee applies to later negotiations. A negotiation in progress keeps all terms, including the fee.
func (a administration) updatesConfig() {
	d := a.bargain(a.onDefaults(2_000_000))
	before := terms(a.config())
	changed := before
	changed.DefaultDecayRateBps, changed.DefaultResponseWindow, changed.DefaultProtocolFeeBps, changed.DefaultMaxRounds = 1_000, 3_600, 500, 20
	decay, fee := uint16(1_000), uint16(500)
	every := admin.UpdateConfigRequest{DecayRateBps: &decay, ResponseWindow: time.Hour, ProtocolFeeBps: &fee, MaxRounds: 20}
	a.refuses(protocol.ErrUnauthorized, a.update(a.buyer, every))
	a.configures(a.update(a.authority, every), changed)

	// The configuration sets no term but the fee, which the buyer must agree to.
	_, err := a.create(a.onDefaults(3_000_000)).build(a.ctx)
	require.ErrorIs(a.t, err, protocol.ErrStaleState)
	named := a.onDefaults(3_000_000)
	named.DecayRateBps, named.ResponseWindow, named.MaxRounds, named.MaxFeeBps = &decay, time.Hour, 20, &fee
	later := a.bargain(named)
	state := later.state()
	require.EqualValues(a.t, 1_000, state.DecayRateBps)
	require.EqualValues(a.t, 3_600, state.ResponseWindow)
	require.EqualValues(a.t, 500, state.ProtocolFeeBps)
	require.EqualValues(a.t, 20, state.MaxRounds)
	state = d.state()
	require.EqualValues(a.t, defaultDecayRateBps, state.DecayRateBps)
	require.EqualValues(a.t, defaultResponseWindow, state.ResponseWindow)
	require.EqualValues(a.t, protocolFeeBps, state.ProtocolFeeBps)
	require.EqualValues(a.t, defaultMaxRounds, state.MaxRounds)

	for _, each := range []*deal{d, later} {
		each.offers(1_000_000)
		a.do(each.accept(a.seller))
		each.closes(a.buyer)
	}
	decay, fee = defaultDecayRateBps, protocolFeeBps
	every.ResponseWindow, every.MaxRounds = defaultResponseWindow*time.Second, defaultMaxRounds
	a.configures(a.update(a.authority, every), before)
	a.ends(holdings{
		buyer:    960_000 + 1_700_000,
		seller:   995_000 + 950_000,
		treasury: 5_000 + 40_000 + 50_000 + 300_000,
	})
}

// Every value must be in a range, limits included; a rejected change does nothing.
func (a administration) keepsToRanges() {
	before := a.config()
	valid := protocol.UpdateConfig{
		Authority: before.Authority, Treasury: before.Treasury, DefaultDecayRateBps: 200, DefaultResponseWindow: 300,
		DefaultProtocolFeeBps: 50, DefaultMaxRounds: 10,
	}
	with := func(change func(values *protocol.UpdateConfig)) move {
		changed := valid
		change(&changed)
		return raw(a.authority, &changed)
	}
	a.refuses(protocol.ErrInvalidParams,
		with(func(v *protocol.UpdateConfig) { v.DefaultDecayRateBps = 1_001 }),
		with(func(v *protocol.UpdateConfig) { v.DefaultResponseWindow = 59 }),
		with(func(v *protocol.UpdateConfig) { v.DefaultResponseWindow = 3_601 }),
		with(func(v *protocol.UpdateConfig) { v.DefaultResponseWindow = -300 }),
		with(func(v *protocol.UpdateConfig) { v.DefaultProtocolFeeBps = 501 }),
		with(func(v *protocol.UpdateConfig) { v.DefaultMaxRounds = 0 }),
		with(func(v *protocol.UpdateConfig) { v.DefaultMaxRounds = 21 }),
		with(func(v *protocol.UpdateConfig) { v.Treasury = solana.PublicKey{} }))
	require.Equal(a.t, before, a.config())

	least := terms(before)
	least.DefaultDecayRateBps, least.DefaultResponseWindow, least.DefaultProtocolFeeBps, least.DefaultMaxRounds = 0, 60, 0, 1
	var none uint16
	a.configures(a.update(a.authority, admin.UpdateConfigRequest{
		DecayRateBps: &none, ResponseWindow: time.Minute, ProtocolFeeBps: &none, MaxRounds: 1,
	}), least)
	undecaying := a.onDefaults(1_000_000)
	undecaying.DecayRateBps = &none
	free := a.agree(undecaying, 400_000)
	a.forces(raw(a.authority, &valid))
	require.Equal(a.t, terms(before), terms(a.config()))
	free.closes(a.buyer)
	a.ends(holdings{buyer: 4_600_000, seller: 400_000})
}

// A pause stops the creation of negotiations only: all negotiations in progress can end, so no money is
// locked.
func (a administration) pauses() {
	invited, _ := a.invite(a.termsOf(1_000_000))
	bargained, unopened := a.bargain(a.termsOf(1_000_000)), a.bargain(a.termsOf(1_000_000))
	bargained.offers(400_000)
	settled := a.agree(a.termsOf(1_000_000), 500_000)
	before := terms(a.config())
	paused := before
	paused.IsPaused = true

	a.refuses(protocol.ErrUnauthorized, a.setPaused(a.buyer, true))
	a.configures(a.setPaused(a.authority, true), paused)
	a.configures(a.setPaused(a.authority, true), paused)
	a.refuses(protocol.ErrPaused, a.create(a.termsOf(1_000_000)))

	a.do(invited.takePart(a.seller))
	invited.offers(400_000, 600_000)
	a.do(invited.accept(a.buyer))
	a.do(bargained.accept(a.seller))
	a.do(unopened.reject(a.seller))
	for _, d := range []*deal{invited, bargained, unopened, settled} {
		d.closes(a.seller)
	}
	a.configures(a.setPaused(a.authority, false), before)
	after := a.bargain(a.termsOf(1_000_000))
	a.do(after.reject(a.buyer))
	after.closes(a.buyer)
	a.ends(holdings{
		buyer:    1_000_000 + (960_400 - 600_000) + (980_000 - 400_000) + 1_000_000 + (980_000 - 500_000),
		seller:   597_000 + 398_000 + 497_500,
		treasury: 39_600 + 3_000 + 20_000 + 2_000 + 20_000 + 2_500,
	})
}

// The authority changes in two steps, so that it cannot be lost to a keyless address: until the next
// authority accepts, nothing changes.
func (a administration) changesAuthority() {
	next, stranger := a.stranger(), a.stranger()
	before := terms(a.config())
	handed := before
	handed.Authority = next.PublicKey()
	a.refuses(protocol.ErrUnauthorized, a.propose(stranger, stranger.PublicKey()), a.acceptAuthority(next), a.acceptAuthority(a.authority))

	a.configures(a.propose(a.authority, next.PublicKey()), before)
	require.Equal(a.t, next.PublicKey(), a.config().PendingAuthority)
	a.refuses(protocol.ErrUnauthorized, a.setPaused(next, true), a.acceptAuthority(stranger), a.acceptAuthority(a.authority))
	a.configures(a.propose(a.authority, solana.PublicKey{}), before)
	a.refuses(protocol.ErrUnauthorized, a.acceptAuthority(next)) // the proposal was withdrawn

	a.configures(a.propose(a.authority, next.PublicKey()), before)
	a.configures(a.acceptAuthority(next), handed)
	require.Zero(a.t, a.config().PendingAuthority)
	a.refuses(protocol.ErrUnauthorized, a.setPaused(a.authority, true), a.propose(a.authority, a.authority.PublicKey()), a.acceptAuthority(next))
	a.do(a.setPaused(next, true))
	a.do(a.setPaused(next, false))

	a.configures(a.propose(next, a.authority.PublicKey()), handed)
	a.configures(a.acceptAuthority(a.authority), before)
	a.ends(holdings{buyer: fiveTokens})
}

// The treasury is read at the closing: income from a negotiation in progress goes to the treasury at that
// time, and earlier income stays where it is.
func (a administration) changesTreasury() {
	swept, pending := a.agree(a.termsOf(1_000_000), 400_000), a.agree(a.termsOf(2_000_000), 1_000_000)
	swept.closes(a.buyer)
	before := terms(a.config())
	changed := before
	next := a.newParty()
	changed.Treasury = next.PublicKey()
	request := admin.UpdateConfigRequest{Treasury: next.PublicKey()}
	a.refuses(protocol.ErrUnauthorized, a.update(a.seller, request))
	a.configures(a.update(a.authority, request), changed)

	a.refuses(protocol.ErrConstraintRaw, pending.closeUndelivered(a.buyer)) // names the old treasury
	former := a.treasuryAccount
	a.treasuryAccount = next.account
	pending.closes(a.stranger())
	a.configures(a.update(a.authority, admin.UpdateConfigRequest{Treasury: before.Treasury}), before)
	a.ends(holdings{
		buyer: 2_000_000 + 580_000 + 960_000, seller: 398_000 + 995_000, treasury: 40_000 + 5_000,
		elsewhere: map[solana.PublicKey]uint64{former: 20_000 + 2_000},
	})
}
