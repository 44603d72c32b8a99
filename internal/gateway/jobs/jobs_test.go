package jobs_test

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/jobs"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/store/storetest"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

var server *testpostgres.Server

// childVariable passes the database address and the file directory to a child running jobs.
const childVariable = "HAGGLE_TEST_GATEWAY_JOBS"

// Names of files in the directory.
const (
	checkpointFile = "checkpoints.jsonl"
	checkpointKey  = "checkpoints.key"
)

func TestMain(m *testing.M) {
	if work := os.Getenv(childVariable); work != "" {
		fmt.Fprintln(os.Stderr, runForever(work))
		os.Exit(1)
	}
	os.Exit(testpostgres.Run(m, &server))
}

type child struct {
	Address, Folder string
	// Answers makes the child give pending answers: see answers_test.go.
	Answers string
}

func (c child) config(s *store.Store) (jobs.Config, error) {
	key, err := audit.LoadOrCreateKey(filepath.Join(c.Folder, checkpointKey))
	return jobs.Config{
		Store: s, SweepEvery: time.Second, CheckpointEvery: time.Second, ForgetEvery: time.Second,
		KeyLifetime: time.Hour, CheckpointPath: filepath.Join(c.Folder, checkpointFile), CheckpointKey: key,
	}, err
}

func runForever(work string) error {
	var c child
	if err := json.Unmarshal([]byte(work), &c); err != nil {
		return err
	}
	s, err := store.Open(context.Background(), store.Config{Address: c.Address})
	if err != nil {
		return err
	}
	config, err := c.config(s)
	if err != nil {
		return err
	}
	if c.Answers != "" {
		if config.Answer, err = c.answer(s); err != nil {
			return err
		}
	}
	if _, err := jobs.Start(context.Background(), config); err != nil {
		return err
	}
	fmt.Println("started")
	select {}
}

// fixture is a gateway's database that other processes work on.
type fixture struct {
	*store.Store
	child
	db        *sql.DB
	schema    string
	publisher int64
	client    int64
}

func onBoth(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	storetest.OnBoth(t, server, func(t *testing.T, d storetest.Database) {
		t.Parallel()
		test(t, newFixture(t, d))
	})
}

func newFixture(t *testing.T, d storetest.Database) *fixture {
	t.Helper()
	f := &fixture{child: child{Folder: t.TempDir(), Address: d.Address}}
	if d.Dialect == store.Postgres {
		f.schema = "haggle_gateway_jobs."
	}
	var err error
	f.Store, err = store.Open(t.Context(), store.Config{Address: f.Address,
		Limits: store.Limits{PerClientHour: 10_000, OpenPerClient: 10_000, OpenPerPublisher: 10_000}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Store.Close()) })
	f.db = d.Open(t)
	f.publisher, f.client = storetest.Fill(t, f.Store)
	return f
}

// negotiate opens a negotiation with a deadline and a status.
func (f *fixture) negotiate(t *testing.T, status engine.Status, lasts time.Duration) string {
	t.Helper()
	var result store.Result
	for { // another writer to the SQLite file delays it
		var err error
		result, err = storetest.Decided(t.Context(), func(states []store.State) (store.Outcome, error) {
			terms := json.RawMessage(`{"price_per_fetch_micro":1800}`)
			return store.Outcome{Answer: json.RawMessage(`{}`), Updates: []store.Update{{
				Rounds: []store.Round{{Actor: engine.PartyClient, Action: "propose", Terms: terms}},
				Status: status, Terms: terms, OfferBy: engine.PartyClient, Deadline: states[0].Now.Add(lasts),
			}}}, nil
		})(
			f.BeginCreation(t.Context(), store.Creation{Client: f.client,
				Proposals: []store.Proposal{{Publisher: f.publisher, Terms: json.RawMessage(`{}`)}},
				Key:       &store.Key{Owner: "acme", Key: fmt.Sprint(time.Now().UnixNano()), BodyHash: "h"},
			}))
		if err == nil {
			return result.Negotiations[0].ID
		}
		require.ErrorIs(t, err, store.ErrInProgress)
	}
}

// start starts a child that runs the jobs until it is killed.
func (f *fixture) start(t *testing.T) *exec.Cmd {
	t.Helper()
	process, _ := f.startReading(t)
	return process
}

// startReading also returns what the child prints.
func (f *fixture) startReading(t *testing.T) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	work, err := json.Marshal(f.child)
	require.NoError(t, err)
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), childVariable+"="+string(work))
	process.Stderr = os.Stderr
	output, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() { _ = process.Process.Kill(); _ = process.Wait() })
	printed := bufio.NewReader(output)
	line, err := printed.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "started\n", line)
	return process, printed
}

func (f *fixture) count(t *testing.T, statement string) (n int64) {
	t.Helper()
	require.NoError(t, f.db.QueryRowContext(t.Context(), statement).Scan(&n))
	return n
}

// patience is longer than the election of another leader, 21 s.
const patience = 90 * time.Second

func (f *fixture) timeouts(t *testing.T) int64 {
	return f.count(t, `SELECT COUNT(*) FROM negotiations WHERE status = 'timeout'`)
}

// await waits until a condition is true.
func (f *fixture) await(t *testing.T, condition func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !condition(); time.Sleep(20 * time.Millisecond) {
		require.True(t, time.Now().Before(limit), "%d timeouts, %+v", f.timeouts(t), f.verify(t))
	}
}

// verify requires a valid history, and returns the report; an empty one before the first checkpoint.
func (f *fixture) verify(t *testing.T) *audit.Report {
	t.Helper()
	if _, err := os.Stat(filepath.Join(f.Folder, checkpointFile)); err != nil {
		return &audit.Report{Uncovered: -1}
	}
	public, err := audit.ReadPublicKey(filepath.Join(f.Folder, checkpointKey+audit.PublicSuffix))
	require.NoError(t, err)
	report, err := audit.Verify(t.Context(), f, audit.VerifyOptions{
		Path: filepath.Join(f.Folder, checkpointFile), Key: public})
	require.NoError(t, err)
	require.Empty(t, report.Findings)
	return report
}

// requireOnce requires that every negotiation timed out once, and that every job was inserted once per
// period.
func (f *fixture) requireOnce(t *testing.T, ended int64) {
	t.Helper()
	require.Equal(t, ended, f.timeouts(t))
	require.Equal(t, ended, f.count(t, `SELECT COUNT(*) FROM negotiation_rounds WHERE actor = 'system'`))
	require.Equal(t, ended, f.count(t,
		`SELECT COUNT(DISTINCT negotiation_id) FROM negotiation_rounds WHERE actor = 'system'`))
	require.Equal(t, f.count(t, `SELECT COUNT(*) FROM audit_entries`),
		f.count(t, `SELECT SUM(audit_length) FROM negotiations`))
	inserted := f.count(t, `SELECT COUNT(*) FROM `+f.schema+`river_job`)
	require.Positive(t, inserted)
	require.Equal(t, inserted, f.count(t, `SELECT COUNT(DISTINCT unique_key) FROM `+f.schema+`river_job`))
	require.EqualValues(t, 1, f.count(t, `SELECT COUNT(*) FROM `+f.schema+`river_leader`))
}

// Negotiations and approvals end after their deadline even if the sweeping process is killed meanwhile, and
// the checkpoints continue in the same file.
func TestAKilledProcessIsReplaced(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		first := f.start(t)
		open := f.negotiate(t, engine.Negotiating, time.Hour)
		ids := []string{}
		for i := range 60 {
			status := engine.Negotiating
			if i%2 == 1 {
				status = engine.AwaitingApproval
			}
			ids = append(ids, f.negotiate(t, status, time.Duration(i+1)*150*time.Millisecond))
		}
		f.await(t, func() bool {
			return f.timeouts(t) > 0 && f.verify(t).Checkpoints > 0
		})
		require.NoError(t, first.Process.Kill())
		require.Error(t, first.Wait())
		before := f.verify(t).Checkpoints
		require.Less(t, f.timeouts(t), int64(len(ids)), "the process was killed before the end")

		f.start(t)
		f.await(t, func() bool {
			return f.timeouts(t) == int64(len(ids)) && f.verify(t).Uncovered == 0
		})
		require.Greater(t, f.verify(t).Checkpoints, before)
		f.requireOnce(t, int64(len(ids)))
		for i, reason := range []string{"No activity before the deadline", "No approval before the deadline"} {
			n, err := f.Negotiation(t.Context(), ids[i])
			require.NoError(t, err)
			require.Equal(t, reason, n.Reason)
		}
		n, err := f.Negotiation(t.Context(), open)
		require.NoError(t, err)
		require.Equal(t, engine.Negotiating, n.Status)
	})
}

// Two processes run the jobs without repeating any, and one continues the checkpoints without the other.
func TestTwoProcessesRepeatNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		first := f.start(t)
		f.start(t)
		for i := range 40 {
			f.negotiate(t, engine.Negotiating, time.Duration(i+1)*50*time.Millisecond)
		}
		f.await(t, func() bool {
			return f.timeouts(t) == 40 && f.verify(t).Uncovered == 0
		})
		f.requireOnce(t, 40)

		require.NoError(t, first.Process.Kill())
		require.Error(t, first.Wait())
		f.negotiate(t, engine.Negotiating, time.Millisecond)
		f.await(t, func() bool {
			return f.timeouts(t) == 41 && f.verify(t).Uncovered == 0
		})
		f.requireOnce(t, 41)
	})
}

// Old idempotency keys and nonces are deleted, newer entries are kept. A stop writes a last checkpoint and
// frees the file.
func TestStopWritesALastCheckpoint(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		f.negotiate(t, engine.Negotiating, time.Hour)
		_, err := f.db.ExecContext(t.Context(), `UPDATE idempotency_keys SET created_at = created_at - 3600000000`)
		require.NoError(t, err)
		f.negotiate(t, engine.Negotiating, time.Hour)
		require.NoError(t, f.UseNonce(t.Context(), "a", "old", time.Now().Add(-2*time.Minute)))
		require.NoError(t, f.UseNonce(t.Context(), "a", "new", time.Now().Add(time.Hour)))
		config, err := f.config(f.Store)
		require.NoError(t, err)
		config.CheckpointEvery = time.Hour
		spans := tracetest.NewSpanRecorder()
		config.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		running, err := jobs.Start(t.Context(), config)
		require.NoError(t, err)
		f.await(t, func() bool {
			return f.count(t, `SELECT COUNT(*) FROM idempotency_keys`) == 1 && f.verify(t).Checkpoints == 1 &&
				f.count(t, `SELECT COUNT(*) FROM signature_nonces`) == 1
		})
		f.negotiate(t, engine.Negotiating, time.Hour)
		require.NoError(t, running.Stop(t.Context()))
		kinds := map[string]bool{}
		for _, span := range spans.Ended() {
			kinds[span.Name()] = true
		}
		require.Equal(t, map[string]bool{"haggle_gateway_sweep": true, "haggle_gateway_checkpoint": true,
			"haggle_gateway_forget_idempotency_keys": true}, kinds)
		require.Zero(t, f.verify(t).Uncovered)
		require.EqualValues(t, 2, f.verify(t).Checkpoints)
		require.EqualValues(t, 2, f.count(t, `SELECT COUNT(*) FROM idempotency_keys`))
		free, err := audit.OpenCheckpointer(config.CheckpointPath, config.CheckpointKey)
		require.NoError(t, err)
		require.NoError(t, free.Close())
	})
}

// A chain that is shorter than in a checkpoint is not signed. The log names it, and checkpoints continue once
// the database is restored.
func TestAShortenedChainIsNotSigned(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		id := f.negotiate(t, engine.Negotiating, time.Hour)
		config, err := f.config(f.Store)
		require.NoError(t, err)
		messages := make(chan string, 1000)
		config.Logger = slog.New(slog.NewTextHandler(lines(messages), nil))
		running, err := jobs.Start(t.Context(), config)
		require.NoError(t, err)
		f.await(t, func() bool { return f.verify(t).Checkpoints == 1 })
		change := func(by string) {
			_, err := f.db.ExecContext(t.Context(), `UPDATE negotiations SET audit_length = audit_length `+by)
			require.NoError(t, err)
		}
		change("- 1")
		for !strings.Contains(<-messages, "chain "+id+": checkpoint not signed") {
			continue
		}
		change("+ 1")
		f.negotiate(t, engine.Negotiating, time.Hour)
		f.await(t, func() bool { return f.verify(t).Checkpoints == 2 })
		require.NoError(t, running.Stop(t.Context()))
	})
}

// lines is a writer that sends everything written.
type lines chan<- string

func (l lines) Write(text []byte) (int, error) {
	l <- string(text)
	return len(text), nil
}

func TestInvalidConfigurations(t *testing.T) {
	database, err := store.Open(t.Context(), store.Config{
		Address: "sqlite:" + filepath.Join(t.TempDir(), "gateway.db"),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	for problem, config := range map[string]jobs.Config{
		"interval 500ms must be a whole number of seconds": {Store: database, SweepEvery: 500 * time.Millisecond},
		"interval -1s must be":                             {Store: database, ForgetEvery: -time.Second},
		"store not set":                                    {CheckpointPath: "x", CheckpointKey: key},
		"checkpoint key not set":                           {Store: database, CheckpointPath: "x"},
		"KeyLifetime and AnswerTimeout must not":           {Store: database, AnswerTimeout: -1},
	} {
		_, err := jobs.Start(t.Context(), config)
		require.ErrorContains(t, err, problem)
	}
}

// A job and the round that needs it are committed together, or neither is. The job is not executed, because the process
// gives no answers.
func TestJobIsCommittedWithItsRound(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		running, err := jobs.Start(t.Context(), jobs.Config{Store: f.Store})
		require.NoError(t, err)
		defer func() { require.NoError(t, running.Stop(t.Context())) }()
		id := f.negotiate(t, engine.Negotiating, time.Hour)
		refused := errors.New("refused")
		round := func(ending error, actions ...string) error {
			for { // another job writing to the SQLite file delays it
				_, err := storetest.Decided(t.Context(), func(states []store.State) (store.Outcome, error) {
					d := store.Update{Status: engine.Negotiating, Deadline: states[0].Now.Add(time.Hour)}
					for _, action := range actions {
						d.Rounds = append(d.Rounds, store.Round{Actor: engine.PartyClient, Action: action})
					}
					enqueue := func(ctx context.Context, tx store.Tx) error {
						return errors.Join(running.EnqueueAnswers(ctx, tx, []string{id}), ending)
					}
					return store.Outcome{Updates: []store.Update{d}, Enqueue: enqueue}, nil
				})(
					f.BeginRound(t.Context(), store.RoundRequest{Negotiations: []string{id}}))
				if !errors.Is(err, store.ErrInProgress) {
					return err
				}
			}
		}
		stored := func() (inserted, rounds int) {
			require.NoError(t, f.db.QueryRow(`SELECT COUNT(*) FROM `+f.schema+`river_job WHERE kind = 'haggle_gateway_answer'`).Scan(&inserted))
			require.NoError(t, f.db.QueryRow(`SELECT COUNT(*) FROM negotiation_rounds`).Scan(&rounds))
			return inserted, rounds - 1
		}
		require.ErrorIs(t, round(refused, "counter"), refused)
		require.ErrorContains(t, round(nil, "counter", "counter"), "negotiation_rounds", "the commit fails")
		inserted, rounds := stored()
		require.Equal(t, []int{0, 0}, []int{inserted, rounds})
		require.NoError(t, round(nil, "counter"))
		inserted, rounds = stored()
		require.Equal(t, []int{1, 1}, []int{inserted, rounds})
	})
}

// If it were not retried, a job would be repeated an hour later.
func TestFailedJobIsTriedAgainInItsPeriod(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		_, err := f.db.Exec(`ALTER TABLE idempotency_keys RENAME TO hidden`)
		require.NoError(t, err)
		running, err := jobs.Start(t.Context(), jobs.Config{Store: f.Store})
		require.NoError(t, err)
		defer func() { require.NoError(t, running.Stop(t.Context())) }()
		until := func(condition string) {
			require.Eventually(t, func() bool {
				var found int
				err := f.db.QueryRow(`SELECT COUNT(*) FROM ` + f.schema + `river_job
					WHERE kind = 'haggle_gateway_forget_idempotency_keys' AND ` + condition).Scan(&found)
				return err == nil && found > 0
			}, 2*time.Minute, 50*time.Millisecond, condition)
		}
		until(`state = 'retryable'`)
		for { // another job writing to the SQLite file delays it
			if _, err = f.db.Exec(`ALTER TABLE hidden RENAME TO idempotency_keys`); err == nil {
				break
			}
			require.NoError(t, t.Context().Err())
		}
		until(`state = 'completed' AND attempt > 1`)
	})
}
