package scenarios

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haggle-protocol/haggle/sdk/admin"
	"github.com/haggle-protocol/haggle/sdk/protocol"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/testchain"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// What the protocol is configured with; the fee is the documents' 0.5 %.
const (
	protocolFeeBps        = 50
	defaultDecayRateBps   = 200
	defaultResponseWindow = 300
	defaultMaxRounds      = 10
)

// envScenarioList names a file that receives the list of scenarios, so that two chains' lists can be compared.
const envScenarioList = "HAGGLE_SCENARIO_LIST"

// How many scenarios run at once unless -parallel says otherwise. On a validator everyone's window of 60 seconds has to pass at
// the same time, so it is all of them; where time is travelled in, they only compute, and more of them make each slower.
const (
	parallelOnValidator = "512"
	parallelElsewhere   = "16"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if !isSet("test.parallel") {
		parallel := parallelElsewhere
		if os.Getenv(testchain.EnvChain) == string(testchain.Validator) {
			parallel = parallelOnValidator
		}
		if err := flag.Set("test.parallel", parallel); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if err := errors.Join(shared.close(), played.publish()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func isSet(name string) bool {
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// A venue is a chain on which the protocol is configured.
type venue struct {
	*testchain.Chain
	client   *haggle.Client
	treasury solana.PublicKey
}

func openVenue(ctx context.Context) (*venue, error) {
	chain, err := testchain.Start(ctx, testchain.Options{Progress: func(line string) { fmt.Fprintln(os.Stderr, line) }})
	if err != nil {
		return nil, err
	}
	v := &venue{Chain: chain}
	if err := v.configure(ctx); err != nil {
		return nil, errors.Join(err, v.close())
	}
	return v, nil
}

// configure initializes the protocol; on a chain that somebody else started it may be already.
func (v *venue) configure(ctx context.Context) error {
	client, err := haggle.NewClient(haggle.Config{Endpoint: v.RPCURL, WSEndpoint: v.WSURL})
	if err != nil {
		return err
	}
	v.client = client
	config, err := client.GetConfig(ctx)
	if errors.Is(err, protocol.ErrAccountNotFound) {
		if err := v.initialize(ctx); err != nil {
			return fmt.Errorf("initialize the protocol: %w", err)
		}
		config, err = client.GetConfig(ctx)
	}
	if err != nil {
		return err
	}
	if config.DefaultProtocolFeeBps != protocolFeeBps {
		return fmt.Errorf("the chain's protocol fee is %d basis points, and the scenarios' %d", config.DefaultProtocolFeeBps, protocolFeeBps)
	}
	v.treasury = config.Treasury
	return nil
}

func (v *venue) initialize(ctx context.Context) error {
	treasury, err := solana.NewRandomPrivateKey()
	if err != nil {
		return err
	}
	authority, err := wallet.NewKeypair(v.UpgradeAuthority)
	if err != nil {
		return err
	}
	if err := v.Fund(ctx, authority.PublicKey(), solana.LAMPORTS_PER_SOL); err != nil {
		return err
	}
	decay, fee := uint16(defaultDecayRateBps), uint16(protocolFeeBps)
	action, err := admin.InitializeConfig(v.client, admin.InitializeConfigRequest{
		Authority:      authority.PublicKey(),
		Treasury:       treasury.PublicKey(),
		DecayRateBps:   &decay,
		ResponseWindow: defaultResponseWindow * time.Second,
		ProtocolFeeBps: &fee,
		MaxRounds:      defaultMaxRounds,
	})
	if err != nil {
		return err
	}
	_, err = action.Do(ctx, authority)
	return err
}

func (v *venue) close() error {
	var err error
	if v.client != nil {
		err = v.client.Close()
	}
	return errors.Join(err, v.Chain.Close())
}

// A sharedVenue is opened by the first scenario that needs it.
type sharedVenue struct {
	opening sync.Once
	venue   *venue
	err     error
	// clock is held for writing by a scenario that moves the clock of a chain that others use.
	clock sync.RWMutex
}

var shared sharedVenue

func (s *sharedVenue) open() (*venue, error) {
	s.opening.Do(func() { s.venue, s.err = openVenue(context.Background()) })
	return s.venue, s.err
}

func (s *sharedVenue) close() error {
	if s.venue == nil {
		return nil
	}
	return s.venue.close()
}

// A tokenProgram is one that escrow can be held in.
type tokenProgram struct {
	// name is what the list of scenarios calls it.
	name string
	id   solana.PublicKey
}

var (
	splToken      = tokenProgram{"spl_token", solana.TokenProgramID}
	token2022     = tokenProgram{"token_2022", solana.Token2022ProgramID}
	tokenPrograms = []tokenProgram{splToken, token2022}
)

// The scenarios that have been played to their end, each under a token program, with the test that played it.
type repertoire struct {
	mutex   sync.Mutex
	players map[string]string
}

var played = repertoire{players: map[string]string{}}

// add counts a scenario as played under some token programs, or under all if none is named.
func (r *repertoire) add(t *testing.T, scenario string, programs ...tokenProgram) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(programs) == 0 {
		programs = tokenPrograms
	}
	for _, program := range programs {
		name := scenario + "/" + program.name
		if player, taken := r.players[name]; taken && player != t.Name() {
			t.Errorf("%s plays scenario %s, too", player, name)
		}
		r.players[name] = t.Name()
	}
}

// publish prints the list, and writes it to the file that the environment names.
func (r *repertoire) publish() error {
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.players)) {
		fmt.Fprintf(&list, "scenario: %s\n", name)
	}
	fmt.Print(list.String())
	if path := os.Getenv(envScenarioList); path != "" {
		return os.WriteFile(path, []byte(list.String()), 0o644)
	}
	return nil
}

// scenario plays one under each token program, on the chain that all share, while others play theirs.
func scenario(t *testing.T, name string, play func(s *stage)) {
	scenariosUnder(t, tokenPrograms, name, play)
}

// scenariosUnder plays one under some of the token programs: those under which it can happen.
func scenariosUnder(t *testing.T, programs []tokenProgram, name string, play func(s *stage)) {
	t.Parallel()
	for _, program := range programs {
		t.Run(program.name, func(t *testing.T) { scenarioOf(t, name, program, play) })
	}
}

// scenarioOf plays one under a single token program, because what happens in it cannot happen under the other.
func scenarioOf(t *testing.T, name string, program tokenProgram, play func(s *stage)) {
	t.Parallel()
	v, err := shared.open()
	if err != nil {
		t.Fatal(err)
	}
	if v.Kind == testchain.External {
		shared.clock.RLock()
		defer shared.clock.RUnlock()
	}
	perform(t, v, name, program, play)
}

// scenarioOverTime plays one that waits for a deadline, under each token program. A validator's time passes for all at once. Where
// the clock is set instead, that would be felt by everybody else on the chain: so each gets a chain of its own or, on a chain
// that was already running, plays alone.
func scenarioOverTime(t *testing.T, name string, play func(s *stage)) {
	t.Parallel()
	for _, program := range tokenPrograms {
		t.Run(program.name, func(t *testing.T) {
			t.Parallel()
			onItsOwnClock(t, func(v *venue) { perform(t, v, name, program, play) })
		})
	}
}

// ownChains holds as many as may run at once beside the shared one. Each takes some 100 MB.
var ownChains = make(chan struct{}, 8)

func onItsOwnClock(t *testing.T, perform func(v *venue)) {
	v, err := shared.open()
	if err != nil {
		t.Fatal(err)
	}
	switch v.Kind {
	case testchain.Surfpool:
		ownChains <- struct{}{}
		defer func() { <-ownChains }()
		if v, err = openVenue(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := v.close(); err != nil {
				t.Error(err)
			}
		}()
	case testchain.External:
		shared.clock.Lock()
		defer shared.clock.Unlock()
	}
	perform(v)
}

// perform counts a scenario as played only if it has come to its end: what is skipped is missing from the list, and fails.
func perform(t *testing.T, v *venue, name string, program tokenProgram, play func(s *stage)) {
	s := setStage(t, v, program)
	t.Cleanup(func() {
		if t.Skipped() {
			t.Errorf("scenario %s was skipped", name)
		}
	})
	play(s)
	if !s.ended {
		t.Errorf("scenario %s does not say what everyone ends with", name)
	}
	if !t.Failed() {
		played.add(t, name, program)
	}
}
