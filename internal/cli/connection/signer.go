package connection

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// WalletAPIKeyVariable names the environment variable with a remote wallet's API key.
const WalletAPIKeyVariable = "HAGGLE_WALLET_API_KEY"

// Signer opens the wallet of --keypair, which enforces the policy of --policy. It returns the same signer each
// time. It reads passphrases at the terminal and API keys from the environment.
func (f *Flags) Signer(ctx context.Context) (haggle.Signer, error) {
	if f.signer != nil {
		return f.signer, nil
	}
	settings, err := f.Settle()
	if err != nil {
		return nil, err
	}
	config, err := f.readPolicy()
	if err != nil {
		return nil, err
	}
	opened, err := f.open(ctx, settings.KeypairPath)
	if err != nil {
		return nil, err
	}
	signer := opened
	if config != nil {
		if signer, err = f.govern(ctx, opened, *config); err != nil {
			return nil, err
		}
	}
	f.opened, f.signer, f.policy = opened, signer, config
	return signer, nil
}

// Policy returns the policy of the wallet that [Flags.Signer] has opened; nil if --policy is not set.
func (f *Flags) Policy() *policy.Config { return f.policy }

// Address returns the wallet's address. No policy is needed.
func (f *Flags) Address(ctx context.Context) (solana.PublicKey, error) {
	if f.signer != nil {
		return f.signer.PublicKey(), nil
	}
	settings, err := f.Settle()
	if err != nil {
		return solana.PublicKey{}, err
	}
	signer, err := f.open(ctx, settings.KeypairPath)
	if err != nil {
		return solana.PublicKey{}, err
	}
	return signer.PublicKey(), nil
}

// The wallets that are not plain files.
const (
	environmentScheme = "env"
	encryptedScheme   = "age"
)

// scheme matches the wallet kind in a wallet name. A single letter is a Windows drive.
var scheme = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+-]+):`)

// open opens the wallet with this name.
func (f *Flags) open(ctx context.Context, name string) (haggle.Signer, error) {
	found := scheme.FindStringSubmatch(name)
	if found == nil {
		return f.openFile(ctx, name)
	}
	rest := name[len(found[0]):]
	switch found[1] {
	case environmentScheme:
		return openEnvironment(rest)
	case encryptedScheme:
		return f.openEncrypted(ctx, rest)
	case "https", "http":
		return openRemote(ctx, name)
	}
	return nil, &exitcode.Error{
		Kind: exitcode.Usage, Hint: "a wallet is a keypair file, env:NAME, age:FILE or https://HOST/PATH; write a file with a colon in its name as ./FILE",
		Err: fmt.Errorf("--keypair: unknown kind of wallet %q", found[1]),
	}
}

func openEnvironment(variable string) (haggle.Signer, error) {
	if variable == "" {
		return nil, exitcode.Usagef("--keypair: environment variable not set: env:NAME")
	}
	key, err := opened(wallet.FromEnvironment(variable))
	if errors.Is(err, wallet.ErrNotSet) {
		return nil, exitcode.WithHint(err, "set it to the key, in base 58 or as the content of a keypair file: export "+variable+"=...")
	}
	return key, err
}

func (f *Flags) openFile(ctx context.Context, path string) (haggle.Signer, error) {
	key, err := wallet.LoadKeypairFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(path)
	case errors.Is(err, wallet.ErrEncrypted):
		return f.openEncrypted(ctx, path)
	}
	return opened(key, err)
}

func missing(path string) error {
	return &exitcode.Error{
		Kind: exitcode.Usage,
		Hint: "to create one: haggle wallet new FILE; then set --keypair FILE",
		Err:  &missingFile{path},
	}
}

// missingFile reports a nonexistent keypair file. errors.Is finds fs.ErrNotExist.
type missingFile struct{ path string }

func (m *missingFile) Error() string { return "keypair file not found: " + m.path }

func (*missingFile) Unwrap() error { return fs.ErrNotExist }

// opened returns a key, or the opening error with an error kind.
func opened(key *wallet.Keypair, err error) (haggle.Signer, error) {
	switch {
	case errors.Is(err, wallet.ErrPassphrase):
		return nil, &exitcode.Error{Kind: exitcode.Wallet, Err: fmt.Errorf("--keypair: %w", err)}
	case err != nil:
		return nil, exitcode.Usagef("--keypair: %w", err)
	}
	return key, nil
}

func (f *Flags) openEncrypted(ctx context.Context, path string) (haggle.Signer, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, missing(path)
	}
	passphrase, err := f.Passphrase(ctx, "passphrase of "+path)
	if err != nil {
		return nil, err
	}
	key, err := wallet.OpenEncrypted(path, passphrase)
	if errors.Is(err, wallet.ErrReadableByOthers) {
		return nil, exitcode.WithHint(exitcode.Usagef("--keypair: %w", err), "chmod 600 "+path)
	}
	return opened(key, err)
}

// openRemote opens a wallet service. The address after the # must be its account, and is not sent.
func openRemote(ctx context.Context, name string) (haggle.Signer, error) {
	endpoint, pinned, isPinned := strings.Cut(name, "#")
	config := wallet.RemoteConfig{Endpoint: endpoint, APIKey: os.Getenv(WalletAPIKeyVariable)}
	if isPinned {
		address, err := ParseAddress(pinned)
		if err != nil {
			return nil, exitcode.Usagef("--keypair: invalid address after # of a remote wallet: %w", err)
		}
		config.PublicKey = address
	}
	if config.APIKey == "" {
		return nil, &exitcode.Error{
			Kind: exitcode.Usage, Hint: "set the API key of the wallet in " + WalletAPIKeyVariable,
			Err: fmt.Errorf("--keypair: environment variable %s not set", WalletAPIKeyVariable),
		}
	}
	remote, err := wallet.NewRemote(ctx, config)
	if failed := new(wallet.RemoteError); errors.As(err, &failed) {
		return nil, fmt.Errorf("wallet cannot be opened: %w", err)
	}
	if err != nil {
		return nil, exitcode.Usagef("--keypair: %w", err)
	}
	return remote, nil
}

// WalletName returns a wallet's name for output. For a remote wallet it returns only the host, because the
// path can contain a key.
func WalletName(name string) string {
	if found := scheme.FindStringSubmatch(name); found == nil || found[1] != "https" && found[1] != "http" {
		return name
	}
	before, rest, _ := strings.Cut(name, "://")
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	return before + "://" + host[strings.LastIndex(host, "@")+1:]
}

// MessageKey returns the key of --keypair for signing messages that are no transactions. The policy does
// not apply: it limits payments. A wallet service signs only transactions.
func (f *Flags) MessageKey(ctx context.Context) (ed25519.PrivateKey, error) {
	if _, err := f.Signer(ctx); err != nil {
		return nil, err
	}
	key, is := f.opened.(*wallet.Keypair)
	if !is {
		return nil, exitcode.Usagef("--keypair: messages need a key in this process: a keypair file, env:NAME or age:FILE")
	}
	return ed25519.PrivateKey(key.PrivateKey()), nil
}
