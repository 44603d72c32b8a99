package localnet

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/localnet/jsonrpc"
)

// faucetLamports is the airdrop to an external chain's faucet.
const faucetLamports = 1_000 * solana.LAMPORTS_PER_SOL

// connect returns a chain that runs already.
func connect(ctx context.Context, rpcURL, wsURL string, options Options) (*Chain, error) {
	if wsURL == "" {
		derived, err := webSocketURL(rpcURL)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", EnvRPCURL, err)
		}
		wsURL = derived
	}
	c := &Chain{
		Kind: External, endpoints: jsonrpc.Endpoints{RPC: rpcURL, WS: wsURL}, ProgramID: options.ProgramID,
		client: rpc.New(rpcURL),
	}
	if err := c.meet(ctx); err != nil {
		_ = c.client.Close()
		return nil, fmt.Errorf("%s=%s: %w", EnvRPCURL, rpcURL, err)
	}
	return c, nil
}

// meet checks that the chain contains the program, and funds a new faucet.
func (c *Chain) meet(ctx context.Context) error {
	if path := os.Getenv(EnvUpgradeAuthority); path != "" {
		key, err := solana.PrivateKeyFromSolanaKeygenFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", EnvUpgradeAuthority, err)
		}
		c.UpgradeAuthority = key
	}
	program, err := c.client.GetAccountInfoWithOpts(ctx, c.ProgramID,
		&rpc.GetAccountInfoOpts{Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return fmt.Errorf("program %s: %w", c.ProgramID, err)
	}
	if !program.Value.Executable {
		return fmt.Errorf("program %s: account not executable", c.ProgramID)
	}
	if c.faucet, err = solana.NewRandomPrivateKey(); err != nil {
		return err
	}
	signature, err := c.client.RequestAirdrop(ctx, c.Faucet(), faucetLamports, rpc.CommitmentConfirmed)
	if err != nil {
		return fmt.Errorf("airdrop: %w", err)
	}
	return c.awaitConfirmation(ctx, signature)
}

// webSocketURL derives the WebSocket endpoint as Solana's tools do: the scheme ws or wss, and the next port.
func webSocketURL(rpcURL string) (string, error) {
	parsed, err := url.Parse(rpcURL)
	if err != nil {
		return "", err
	}
	switch parsed.Scheme {
	case "http":
		parsed.Scheme = "ws"
	case "https":
		parsed.Scheme = "wss"
	default:
		return "", fmt.Errorf("%q is not an http or https address", rpcURL)
	}
	if text := parsed.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 65535 {
			return "", fmt.Errorf("%q: no port can follow %s; set %s", rpcURL, text, EnvWSURL)
		}
		parsed.Host = net.JoinHostPort(parsed.Hostname(), strconv.FormatUint(port+1, 10))
	}
	return parsed.String(), nil
}
