package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/cli/solanaconfig"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// scriptsAtOnce exceeds the usual number of cores: scripts mostly wait for chains.
const scriptsAtOnce = "5"

func TestMain(m *testing.M) {
	// This changes the default: -parallel on the command line replaces it.
	if err := flag.Set("test.parallel", scriptsAtOnce); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"haggle": mainWithValidation})
}

// TestScripts plays the terminal sessions in testdata/script, each on a separate chain if requested, and the
// commands in the documents for language models, as SKILL and llms. Documents printed with --json are
// validated against docs/schemas. Sessions can use haggle, the binaries buyer and seller, and these commands:
//
//	chain starts a chain with agents; sets BUYER, SELLER, TREASURY, MINT, SYMBOL, RPC_URL
//	                       and WS_URL, writes buyer.yml, seller.yml and authority.yml
//	chain bare starts a chain, not configured; writes authority.yml
//	chain elsewhere starts a chain, program missing, and a wallet with SOL; writes stranger.yml
//	advance DURATION lets the chain's time pass
//	give seller TOKENS mints to an agent's associated token account
//	freeze seller freezes an agent's associated token account
//	thaw seller
//	exits CODE COMMAND... runs a command and requires this exit code
//	field NAME PATH sets a variable to a field of the JSON document on stdout: field N .negotiation
//	until PATTERN COMMAND repeats a command until success with output matching the pattern
//	await FILE waits until a file exists
//	load NAME FILE sets a variable to a file's content
//	fill FILE replaces $NAME in a file by variables
//	declare KEYPAIR FILE STRATEGY MODEL appends a signed declaration to a file
//	fund ADDRESS LAMPORTS transfers lamports to an address
//	postgres NAME starts a PostgreSQL server and sets a variable to an empty database
//	gateway [ADDRESS] writes a gateway's database, checkpoints and key to the state folder; sets FIRST,
//	                       SECOND and THIRD
//	tamper FILE STATEMENT changes the audit log in a SQLite file
//	module, load-json, load-config, taken-port see there
//	request STATUS METHOD URL [KEY [FILE]] sends an HTTP request, whose response must have the status
//	await-json FILE waits until a file has a JSON document, and writes it to stdout
//	serve-wallet, serve-registry, slow-node, lying-node, language-model start services: see there
func TestScripts(t *testing.T) {
	// Each script starts a chain with a separate clock.
	t.Setenv(localnet.EnvRPCURL, "")
	buildChain(t)
	programs := buildAgents(t)
	report := filepath.Join(t.TempDir(), "documents")
	all := !strings.Contains(flag.Lookup("test.run").Value.String(), "/")
	t.Cleanup(func() { checkDocuments(t, report, all) })
	checkout, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: scripts(t),
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", programs+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("PROGRAMS", programs)
			env.Setenv("CHECKOUT", checkout)
			env.Setenv(documentReport, report)
			for _, name := range []string{localnet.EnvChain, "HAGGLE_CACHE", "XDG_CACHE_HOME"} {
				env.Setenv(name, os.Getenv(name))
			}
			if cache, err := os.UserCacheDir(); err == nil {
				env.Setenv("XDG_CACHE_HOME", cache)
			}
			env.Values[stageKey{}] = &fixture{}
			env.Defer(func() { stopLocalnets(t, env.WorkDir) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"chain": startChain, "advance": advance, "give": give,
			"freeze": onTokenAccount((*localnet.Chain).Freeze), "thaw": onTokenAccount((*localnet.Chain).Thaw),
			"exits": exits, "field": field, "until": until, "await": await,
			"load": load, "fill": fill, "declare": declare, "fund": fund, "serve-wallet": serveWallet, "serve-registry": serveRegistry,
			"slow-node": slowNode, "lying-node": lyingNode, "postgres": startPostgres, "request": request, "await-json": awaitJSON,
			"gateway": gateway, "tamper": tamper, "language-model": languageModel,
			"module": module, "load-json": loadJSON, "load-config": loadConfig, "taken-port": takenPort,
		},
		Condition: holds,
	})
}

// stopLocalnets stops the background localnets left over in a failed script's directory.
func stopLocalnets(t *testing.T, work string) {
	running, err := filepath.Glob(filepath.Join(work, "*", "localnet.pid"))
	if err != nil {
		t.Error(err)
	}
	for _, file := range running {
		folder := filepath.Dir(file)
		output, err := exec.Command("haggle", "localnet", "--stop", "--dir", folder).CombinedOutput()
		var ended *exec.ExitError
		if err != nil && !(errors.As(err, &ended) && ended.ExitCode() == int(exitcode.NotFound)) {
			t.Errorf("stop the localnet in %s: %v\n%s", folder, err, output)
		}
	}
}

// buildChain builds the chain for the scripts, which have no home folder.
func buildChain(t *testing.T) {
	t.Helper()
	chain, err := localnet.StartChain(t.Context(), localnet.Options{Progress: func(line string) { t.Log(line) }})
	if err == nil {
		err = chain.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// buildAgents builds the binaries that run as separate processes.
func buildAgents(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", folder, "../buyer", "../seller").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return folder
}

// holds evaluates a condition: [flag:COMMAND:NAME], the command defines the flag; [validator], a validator is
// installed.
func holds(condition string) (bool, error) {
	if condition == "validator" {
		return localnet.HasValidator(context.Background()), nil
	}
	parts := strings.Split(condition, ":")
	if len(parts) != 3 || parts[0] != "flag" {
		return false, fmt.Errorf("unknown condition %s", condition)
	}
	cmd, _, err := newRootCommand(&session.Session{}).Find([]string{parts[1]})
	return err == nil && cmd.Flags().Lookup(parts[2]) != nil, err
}

// fixture is a script's chain.
type fixture struct {
	chain *localnet.Chain
	net   *localnet.Net
}

type stageKey struct{}

const patience = 60 * time.Second

func startChain(ts *testscript.TestScript, _ bool, arguments []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s := ts.Value(stageKey{}).(*fixture)
	if len(arguments) == 1 && arguments[0] == "bare" {
		chain, err := localnet.StartChain(ctx, localnet.Options{})
		ts.Check(err)
		ts.Defer(func() { ts.Check(chain.Close()) })
		s.chain = chain
		writeAuthority(ctx, ts, chain)
		return
	}
	if len(arguments) == 1 && arguments[0] == "elsewhere" {
		chain, err := localnet.StartChain(ctx, localnet.Options{ProgramID: solana.PublicKey{5}})
		ts.Check(err)
		ts.Defer(func() { ts.Check(chain.Close()) })
		s.chain = chain
		stranger, err := wallet.GenerateKeypair()
		ts.Check(err)
		ts.Check(chain.Fund(ctx, stranger.PublicKey(), solana.LAMPORTS_PER_SOL))
		writeConfig(ts, chain, "stranger", stranger)
		return
	}
	net, err := localnet.Start(ctx, localnet.Options{})
	ts.Check(err)
	ts.Defer(func() { ts.Check(net.Close()) })
	s.chain, s.net = net.Chain, net
	writeConfig(ts, net.Chain, "buyer", net.Buyer)
	writeConfig(ts, net.Chain, "seller", net.Seller)
	writeAuthority(ctx, ts, net.Chain)
	ts.Setenv("BUYER", net.Buyer.PublicKey().String())
	ts.Setenv("SELLER", net.Seller.PublicKey().String())
	ts.Setenv("TREASURY", net.Treasury.String())
	ts.Setenv("MINT", net.Mint.String())
	ts.Setenv("SYMBOL", localnet.Symbol)
	ts.Setenv("RPC_URL", net.Chain.RPCURL())
	ts.Setenv("WS_URL", net.Chain.WSURL())
}

// writeAuthority funds the program's upgrade authority, and writes authority.yml.
func writeAuthority(ctx context.Context, ts *testscript.TestScript, chain *localnet.Chain) {
	authority, err := wallet.NewKeypair(chain.UpgradeAuthority)
	ts.Check(err)
	ts.Check(chain.Fund(ctx, authority.PublicKey(), solana.LAMPORTS_PER_SOL))
	writeConfig(ts, chain, "authority", authority)
}

func writeConfig(ts *testscript.TestScript, chain *localnet.Chain, name string, key *wallet.Keypair) {
	ts.Check(key.Save(ts.MkAbs(name + ".json")))
	config := solanaconfig.Config{URL: chain.RPCURL(), WebSocketURL: chain.WSURL(), KeypairPath: ts.MkAbs(name + ".json")}
	ts.Check(config.Write(ts.MkAbs(name + ".yml")))
}

func advance(ts *testscript.TestScript, _ bool, arguments []string) {
	length, err := duration.Parse(arguments[0])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), length+patience)
	defer cancel()
	s := ts.Value(stageKey{}).(*fixture)
	now, err := s.chain.Now(ctx)
	ts.Check(err)
	ts.Check(s.chain.AdvanceTo(ctx, now+int64(length/time.Second)))
}

// onTokenAccount returns the command that changes an agent's associated token account.
func onTokenAccount(
	change func(chain *localnet.Chain, ctx context.Context, mint, account solana.PublicKey) error,
) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, arguments []string) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		net := ts.Value(stageKey{}).(*fixture).net
		ts.Check(change(net.Chain, ctx, net.Mint, tokenAccount(ts, net, arguments[0])))
	}
}

func give(ts *testscript.TestScript, _ bool, arguments []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	net := ts.Value(stageKey{}).(*fixture).net
	tokens, err := strconv.ParseUint(arguments[1], 10, 32)
	ts.Check(err)
	ts.Check(net.Chain.MintTo(ctx, net.Mint, tokenAccount(ts, net, arguments[0]), tokens*1_000_000))
}

func tokenAccount(ts *testscript.TestScript, net *localnet.Net, agent string) solana.PublicKey {
	owner := map[string]*wallet.Keypair{"buyer": net.Buyer, "seller": net.Seller}[agent]
	account, err := token.AssociatedAddress(owner.PublicKey(), net.Mint, solana.TokenProgramID)
	ts.Check(err)
	return account
}

func exits(ts *testscript.TestScript, _ bool, arguments []string) {
	want, err := strconv.Atoi(arguments[0])
	ts.Check(err)
	err = ts.Exec(arguments[1], arguments[2:]...)
	got := 0
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d instead of %d", got, want)
	}
}

func field(ts *testscript.TestScript, _ bool, arguments []string) {
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &value))
	for _, name := range strings.Split(strings.TrimPrefix(arguments[1], "."), ".") {
		object, isObject := value.(map[string]any)
		if !isObject || object[name] == nil {
			ts.Fatalf("there is no %s", arguments[1])
		}
		value = object[name]
	}
	ts.Setenv(arguments[0], fmt.Sprint(value))
}

func until(ts *testscript.TestScript, _ bool, arguments []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		err := ts.Exec(arguments[1], arguments[2:]...)
		if err == nil && strings.Contains(ts.ReadFile("stdout"), arguments[0]) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%q never came: %v", arguments[0], err)
		}
	}
}

func await(ts *testscript.TestScript, _ bool, arguments []string) {
	path := ts.MkAbs(filepath.FromSlash(arguments[0]))
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s never came", path)
		}
	}
}
