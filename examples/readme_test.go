package examples

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	return string(text)
}

var goBlock = regexp.MustCompile("(?s)```go\n(// ([a-z_]+\\.go).*?)```")

// TestLocalnetPageExampleRuns runs the test in docs/LOCALNET.md as readers would.
func TestLocalnetPageExampleRuns(t *testing.T) {
	page, err := os.ReadFile("../docs/LOCALNET.md")
	require.NoError(t, err)
	block := goBlock.FindStringSubmatch(string(page))
	require.NotNil(t, block)
	_, body, found := strings.Cut(block[1], "func TestDeal")
	require.True(t, found)
	require.LessOrEqual(t, strings.Count(body, "\n"), 30)
	folder := t.TempDir()
	writeModule(t, folder, map[string]string{"deal_test.go": block[1]})
	inModule(t, folder, "vet", ".")
	inModule(t, folder, "test", ".")
}

// readmeFiles returns the README's Go files by name, as stated in the first line.
func readmeFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, block := range goBlock.FindAllStringSubmatch(readme(t), -1) {
		files[block[2]] = block[1]
	}
	require.Len(t, files, 2)
	return files
}

// writeModule writes a module with the given files that depends on this checkout.
func writeModule(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	// The versions of the checkout, so that the test downloads nothing.
	module, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	_, requirements, _ := strings.Cut(string(module), "\n")
	const haggle = "github.com/haggle-protocol/haggle"
	content := "module agents\n" + requirements +
		fmt.Sprintf("\nrequire %s v0.0.0\nreplace %s => %s\n", haggle, haggle, root)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte(content), 0o600))
	sums, err := os.ReadFile("../go.sum")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go.sum"), sums, 0o600))
}

// TestSDKIsInstalledByOneCommand checks that both pages give the same command. toolchain/go-get runs it.
func TestSDKIsInstalledByOneCommand(t *testing.T) {
	const command = "`go mod edit -replace github.com/haggle-protocol/haggle=CHECKOUT && go mod tidy`"
	for _, path := range []string{"../README.md", "../docs/LOCALNET.md"} {
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(page), command, path)
	}
}

// inModule runs go in a module's directory.
func inModule(t *testing.T, folder string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir, command.Env = folder, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
}

// TestREADMEAgentsSettle compiles the README's agents in a module of their own, and runs both as a reader
// would.
func TestREADMEAgentsSettle(t *testing.T) {
	a := &agents{t: t, folder: t.TempDir()}
	a.wallets = filepath.Join(a.folder, "chain")
	require.NoError(t, os.Mkdir(a.wallets, 0o700))
	writeModule(t, a.folder, readmeFiles(t))
	inModule(t, a.folder, "vet", ".")
	inModule(t, a.folder, "build", "-o", "agents", ".")

	a.start()
	agent := func(arguments ...string) *exec.Cmd {
		command := exec.CommandContext(t.Context(), filepath.Join(a.folder, "agents"), arguments...)
		command.Dir = a.folder
		command.Env = append(os.Environ(),
			localnet.EnvRPCURL+"="+a.net.Chain.RPCURL(), localnet.EnvWSURL+"="+a.net.Chain.WSURL())
		return command
	}
	deal := []string{"Settled at 3500000"}
	mint, seller := a.net.Mint.String(), a.net.Seller.PublicKey().String()
	buyer := func() *exec.Cmd { return agent("buyer", mint, seller, "order-1") }
	before := a.deposits()
	a.killAfterDeposit(buyer())
	settle(t, agent("seller", mint), buyer(), deal, deal)
	output, err := buyer().CombinedOutput()
	require.NoError(t, err, string(output))
	require.Contains(t, string(output), deal[0], "the purchase is over")
	require.Equal(t, before+1, a.deposits())
}

// TestREADMEAgentsAreTheExamples shows that the README's functions are those of the examples, and that they
// have 40 lines without comments and empty lines.
func TestREADMEAgentsAreTheExamples(t *testing.T) {
	var examples strings.Builder
	for _, name := range []string{"seller", "buyer"} {
		content, err := os.ReadFile(filepath.Join(name, "main.go"))
		require.NoError(t, err)
		examples.Write(content)
	}
	_, functions, found := strings.Cut(readmeFiles(t)["agents.go"], "(\"Summarise a paper\")\n\n")
	require.True(t, found)
	for _, function := range strings.Split(strings.TrimSpace(functions), "\n\n") {
		require.Contains(t, examples.String(), function)
	}
	lines := 0
	for scanner := bufio.NewScanner(strings.NewReader(functions)); scanner.Scan(); {
		if line := strings.TrimSpace(scanner.Text()); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	require.LessOrEqual(t, lines, 40)
}

// TestREADMECosts computes the README's table of costs from the program's defaults.
func TestREADMECosts(t *testing.T) {
	text := readme(t)
	n := protocol.Negotiation{
		EscrowAmount: 5_000_000, EffectiveEscrow: 5_000_000, DecayRateBps: protocol.DefaultDecayRateBps,
	}
	for round := uint8(1); round <= protocol.DefaultMaxRounds; round++ {
		n.EffectiveEscrow = n.EscrowAfterRound()
		n.CurrentRound = round
		share := math.Round(float64(n.Decay())*1_000/float64(n.EscrowAmount)) / 10
		row := fmt.Sprintf(" | %s | %.1f %% |\n", amount.Tokens{Units: n.Decay(), Decimals: 6}, share)
		switch round {
		case 1, 3, 5:
			require.Contains(t, text, fmt.Sprintf("\n| %d%s", round, row))
		case protocol.DefaultMaxRounds:
			require.Contains(t, text, fmt.Sprintf("\n| %d, the default maximum%s", round, row))
		}
	}
	require.Contains(t, text, fmt.Sprintf("default decay of %d %%", protocol.DefaultDecayRateBps/100))
	require.Contains(t, text, fmt.Sprintf("by default %.1f %%,", float64(protocol.DefaultProtocolFeeBps)/100))
	most := protocol.MaxDecayRateBps
	require.Contains(t, text, fmt.Sprintf("0 to %d,%03d basis points", most/1_000, most%1_000))
}

// TestREADMEAdviserIsTheExample checks that the README's agent with a language model matches the example.
func TestREADMEAdviserIsTheExample(t *testing.T) {
	_, section, found := strings.Cut(readme(t), "## An agent that asks a language model\n")
	require.True(t, found)
	_, function, _ := strings.Cut(section, "```go\n")
	function, _, _ = strings.Cut(function, "```")
	require.Contains(t, function, "llm.NewPlayer(model,")
	content, err := os.ReadFile("language-model/main.go")
	require.NoError(t, err)
	require.Contains(t, string(content), function)
}
