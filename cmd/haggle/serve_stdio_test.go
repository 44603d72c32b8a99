package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// An agent starts "haggle serve --stdio" with a key in the environment, and buys a license. A key that the
// gateway did not issue buys nothing.
func TestAgentBuysALicenseOverStdio(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("DATABASE_URL", "sqlite:"+filepath.Join(t.TempDir(), "gateway.db"))
	key := demoCompany(t)

	agent := startLicenseAgent(t, key)
	answer := proposeLicense(t, agent)
	require.False(t, answer.IsError, "%v", answer.Content)
	licenses, err := agent.ListResources(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, licenses.Resources, 1)
	license, err := agent.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: licenses.Resources[0].URI})
	require.NoError(t, err)
	require.Contains(t, license.Contents[0].Text, "Acme AI")

	refused := proposeLicense(t, startLicenseAgent(t, key[:len(key)-1]))
	require.True(t, refused.IsError)
	content, err := json.Marshal(refused.StructuredContent)
	require.NoError(t, err)
	require.Contains(t, string(content), "api-key-")
}

// demoCompany adds the demonstration's parties to the database in the environment, and returns a company's
// key.
func demoCompany(t *testing.T) string {
	t.Helper()
	gateway := exec.Command("haggle", "serve", "--demo", "--json", "--listen", "127.0.0.1:0",
		"--licensing-listen", "127.0.0.1:0", "--db", os.Getenv("DATABASE_URL"))
	gateway.Stderr = t.Output()
	output, err := gateway.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, gateway.Start())
	var ready struct {
		Demo []struct {
			Name string
			Key  string `json:"api_key"`
		}
	}
	require.NoError(t, json.NewDecoder(output).Decode(&ready))
	require.NoError(t, gateway.Process.Signal(os.Interrupt))
	require.NoError(t, gateway.Wait())
	for _, party := range ready.Demo {
		if party.Name == "Acme AI" {
			return party.Key
		}
	}
	t.Fatal("the demonstration has no company")
	return ""
}

func startLicenseAgent(t *testing.T, key string) *mcp.ClientSession {
	t.Helper()
	command := exec.Command("haggle", "serve", "--stdio")
	command.Env = append(os.Environ(), "HAGGLE_API_KEY="+key)
	command.Stderr = t.Output()
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, session.Close()) })
	return session
}

func proposeLicense(t *testing.T, agent *mcp.ClientSession) *mcp.CallToolResult {
	t.Helper()
	result, err := agent.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "propose_license_terms",
		Arguments: map[string]any{"publisher_hostname": "site-a.local", "proposed_terms": map[string]any{
			"price_per_fetch_micro": 4000, "purposes": []string{"search"}, "token_ttl_seconds": 600, "burst_rps": 5,
		}},
	})
	require.NoError(t, err)
	return result
}
