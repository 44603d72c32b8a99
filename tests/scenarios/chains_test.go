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

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// The configuration of the protocol; the fee is the documents' 0.5 %.
const (
	protocolFeeBps        = 50
	defaultDecayRateBps   = 200
	defaultResponseWindow = 300
	defaultMaxRounds      = 10
)

// envScenarioList names a file that receives the list of scenarios, so that two chains' lists can be
// compared.
const envScenarioList = "HAGGLE_SCENARIO_LIST"

// The number of scenarios at once, unless -parallel is set. On a validator all scenarios wait for the
// 60-second window at the same time; where the clock can be set, scenarios only compute, and more scenarios
// slow each other down.
const (
	parallelOnValidator = "512"
	parallelElsewhere   = "16"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if !isSet("test.parallel") {
		parallel := parallelElsewhere
		if os.Getenv(localnet.EnvChain) == string(localnet.Validator) {
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

// venue is a chain with the configured protocol.
type venue struct {
	*localnet.Chain
	client   *haggle.Client
	treasury solana.PublicKey
}

func openVenue(ctx context.Context) (*venue, error) {
	chain, err := localnet.StartChain(ctx, localnet.Options{Progress: func(line string) { fmt.Fprintln(os.Stderr, line) }})
	if err != nil {
		return nil, err
	}
	v := &venue{Chain: chain}
	if err := v.configure(ctx); err != nil {
		return nil, errors.Join(err, v.close())
	}
	return v, nil
}

// configure initializes the protocol. If the chain was already running, the protocol may be initialized.
func (v *venue) configure(ctx context.Context) error {
	client, err := haggle.NewClient(v.ClientConfig())
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

// sharedVenue is opened by the first scenario that needs it.
type sharedVenue struct {
	opening sync.Once
	venue   *venue
	err     error
	// clock is locked for writing by a scenario that sets a shared chain's clock.
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

// tokenProgram is a token program that escrow can use.
type tokenProgram struct {
	// name is the program's name in the list of scenarios.
	name string
	id   solana.PublicKey
}

var (
	splToken      = tokenProgram{"spl_token", solana.TokenProgramID}
	token2022     = tokenProgram{"token_2022", solana.Token2022ProgramID}
	tokenPrograms = []tokenProgram{splToken, token2022}
)

// repertoire contains the scenarios that ran to their end, each under a token program, with their tests.
type repertoire struct {
	mutex   sync.Mutex
	players map[string]string
}

var played = repertoire{players: map[string]string{}}

// add records a scenario under some token programs, or under all if none is given.
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

// scenario runs a scenario under each token program on the shared chain, in parallel to others.
func scenario(t *testing.T, name string, play func(s *fixture)) {
	scenariosUnder(t, tokenPrograms, name, play)
}

// scenariosUnder runs a scenario under some token programs: those that support it.
func scenariosUnder(t *testing.T, programs []tokenProgram, name string, play func(s *fixture)) {
	t.Parallel()
	for _, program := range programs {
		t.Run(program.name, func(t *testing.T) { scenarioOf(t, name, program, play) })
	}
}

// scenarioOf runs a scenario under a single token program, because the other does not support it.
func scenarioOf(t *testing.T, name string, program tokenProgram, play func(s *fixture)) {
	t.Parallel()
	v, err := shared.open()
	if err != nil {
		t.Fatal(err)
	}
	if v.Kind == localnet.External {
		shared.clock.RLock()
		defer shared.clock.RUnlock()
	}
	perform(t, v, name, program, play)
}

// scenarioOverTime runs a scenario that waits for a deadline, under each token program. On a validator all
// scenarios wait at the same time. Setting a chain's clock affects all scenarios on it, so where the clock is
// set the scenario uses a separate chain or, if the chain was already running, runs alone.
func scenarioOverTime(t *testing.T, name string, play func(s *fixture)) {
	t.Parallel()
	for _, program := range tokenPrograms {
		t.Run(program.name, func(t *testing.T) {
			t.Parallel()
			onItsOwnClock(t, func(v *venue) { perform(t, v, name, program, play) })
		})
	}
}

// ownChains limits the chains that run at once beside the shared one. Each uses some 100 MB.
var ownChains = make(chan struct{}, 8)

func onItsOwnClock(t *testing.T, perform func(v *venue)) {
	v, err := shared.open()
	if err != nil {
		t.Fatal(err)
	}
	switch v.Kind {
	case localnet.Process:
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
	case localnet.External:
		shared.clock.Lock()
		defer shared.clock.Unlock()
	}
	perform(v)
}

// perform records a scenario only if it ran to the end: a skipped scenario is missing from the list, which
// fails.
func perform(t *testing.T, v *venue, name string, program tokenProgram, play func(s *fixture)) {
	s := newFixture(t, v, program)
	t.Cleanup(func() {
		if t.Skipped() {
			t.Errorf("scenario %s was skipped", name)
		}
	})
	play(s)
	if !s.ended {
		t.Errorf("scenario %s does not assert the final balances", name)
	}
	if !t.Failed() {
		played.add(t, name, program)
	}
}
