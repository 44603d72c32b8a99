package store

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
)

// childVariable passes the database address, the client and the publishers to the killed process.
const childVariable = "HAGGLE_TEST_GATEWAY_STORE"

// child opens negotiations, plays rounds and accepts until it is killed. It writes a line for each committed
// transaction: the idempotency key and the negotiation.
func child() int {
	var work struct {
		Address    string
		Client     int64
		Publishers []int64
		Run        int
	}
	err := json.Unmarshal([]byte(os.Getenv(childVariable)), &work)
	if err == nil {
		err = workForever(work.Address, work.Client, work.Publishers, work.Run)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func workForever(address string, client int64, publishers []int64, run int) error {
	ctx := context.Background()
	s, err := Open(ctx, Config{Address: address,
		Limits: Limits{PerClientHour: 1_000_000, OpenPerClient: 1_000_000, OpenPerPublisher: 1_000_000}})
	if err != nil {
		return err
	}
	var line sync.Mutex
	failed := make(chan error)
	for worker, publisher := range publishers {
		go func() {
			for i := 0; ; i++ {
				if err := s.deal(ctx, client, publisher, fmt.Sprintf("%d-%d-%d", run, worker, i), func(key, id string) {
					line.Lock()
					defer line.Unlock()
					fmt.Println(key, id)
				}); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

// deal is a whole negotiation: two rounds, the acceptance and the license.
func (s *Store) deal(ctx context.Context, client, publisher int64, name string,
	committed func(key, id string)) error {
	key := func(step string) *Key { return &Key{Owner: "child", Key: name + "-" + step, BodyHash: "body"} }
	result, err := s.CreateNegotiations(ctx, Creation{
		Client: client, Proposals: []Proposal{{publisher, json.RawMessage(`{}`)}},
		Deadline: s.now().Add(time.Hour), Key: key("open"),
	}, counter)
	if err != nil {
		return err
	}
	id := result.Negotiations[0].ID
	committed(name+"-open", id)
	if _, err := s.Round(ctx, RoundRequest{Negotiations: []string{id}, Key: key("round")}, counter); err != nil {
		return err
	}
	committed(name+"-round", id)
	if _, err := s.Accept(ctx, AcceptRequest{client, []Offer{{id, 2}}, key("accept")}, at1800); err != nil {
		return err
	}
	committed(name+"-accept", id)
	_, _, err = s.GenerateLicense(ctx, id, json.RawMessage(`{}`))
	return err
}

// A gateway killed at any moment loses no transaction that it confirmed, and leaves none in part.
func TestAKilledProcessLosesAndRepeatsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		publishers := []int64{f.publisher.ID}
		for i := range 3 {
			publishers = append(publishers, f.addPublisher(t, fmt.Sprintf("site-%d.local", i)).ID)
		}
		confirmed := map[string]string{}
		for run := range 3 {
			for key, id := range killed(t, f.address, f.client.ID, publishers, run) {
				require.NotContains(t, confirmed, key)
				confirmed[key] = id
			}
		}
		require.Greater(t, len(confirmed), 30)
		for key, id := range confirmed {
			require.EqualValues(t, 1, count(t, f.db,
				`SELECT COUNT(*) FROM idempotency_keys WHERE idempotency_key = $1`, key))
			n, err := f.Negotiation(t.Context(), id)
			require.NoError(t, err)
			rounds := map[string]int{"open": 1, "round": 2, "accept": 3}[key[strings.LastIndex(key, "-")+1:]]
			require.GreaterOrEqual(t, n.CurrentRound, rounds, key)
		}
		// Each key is a client's round, and no transaction is incomplete.
		keys := count(t, f.db, `SELECT COUNT(*) FROM idempotency_keys`)
		require.GreaterOrEqual(t, keys, int64(len(confirmed)))
		// Each worker was in at most one transaction when it was killed.
		require.LessOrEqual(t, keys, int64(len(confirmed)+3*len(publishers)))
		require.Equal(t, keys, count(t, f.db, `SELECT COUNT(*) FROM negotiation_rounds WHERE actor = 'client'`))
		require.Equal(t, keys, count(t, f.db, `SELECT SUM(current_round) FROM negotiations`))
		require.Equal(t, count(t, f.db, `SELECT COUNT(*) FROM negotiation_rounds WHERE action = 'counter'`),
			count(t, f.db, `SELECT COUNT(*) FROM negotiation_messages`))
		require.Equal(t, count(t, f.db, `SELECT COUNT(*) FROM policies`),
			count(t, f.db, `SELECT COUNT(*) FROM negotiations WHERE generated_policy_id IS NOT NULL AND status =
				'accepted'`))
		require.Equal(t, count(t, f.db, `SELECT COUNT(*) FROM audit_entries`),
			count(t, f.db, `SELECT SUM(audit_length) FROM negotiations`))
		public, private, err := ed25519.GenerateKey(nil)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "checkpoints")
		c, err := audit.OpenCheckpointer(path, private)
		require.NoError(t, err)
		defer c.Close()
		_, err = c.Write(t.Context(), f, f.now())
		require.NoError(t, err)
		report, err := audit.Verify(t.Context(), f, audit.VerifyOptions{Path: path, Key: public})
		require.NoError(t, err)
		require.Empty(t, report.Findings)
		require.Zero(t, report.Uncovered)
	})
}

// killed runs a child until it confirmed some transactions, kills it, and returns the confirmed transactions.
func killed(t *testing.T, address string, client int64, publishers []int64, run int) map[string]string {
	t.Helper()
	work, err := json.Marshal(map[string]any{"Address": address, "Client": client, "Publishers": publishers,
		"Run": run})
	require.NoError(t, err)
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+string(work))
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	confirmed := map[string]string{}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		// Lines that follow the kill were written before it.
		key, id, complete := strings.Cut(lines.Text(), " ")
		if complete && len(id) == 36 {
			confirmed[key] = id
		}
		if len(confirmed) == 25+7*run {
			require.NoError(t, command.Process.Kill())
		}
	}
	var ended *exec.ExitError
	require.ErrorAs(t, command.Wait(), &ended)
	require.False(t, ended.Exited(), "the child ended by itself")
	return confirmed
}
