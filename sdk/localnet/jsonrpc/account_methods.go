package jsonrpc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/base58"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

type accountConfig struct {
	readConfig
	accountEncoding
}

// accountConfig decodes the configuration at an index.
func (s *Server) accountConfig(p parameters, index int) (config accountConfig, level ledger.Commitment, err error) {
	if err = p.optional(index, &config); err == nil {
		if err = config.check(); err == nil {
			level, err = s.at(config.readConfig)
		}
	}
	return config, level, err
}

func (s *Server) getAccountInfo(p parameters) (any, error) {
	key, err := p.key(0)
	if err != nil {
		return nil, err
	}
	config, level, err := s.accountConfig(p, 1)
	if err != nil {
		return nil, err
	}
	accounts, slot := s.ledger.Accounts(level, key)
	encoded, err := config.encode(accounts[0])
	return withContext(slot, encoded), err
}

func (s *Server) getBalance(p parameters) (any, error) {
	key, err := p.key(0)
	if err != nil {
		return nil, err
	}
	level, err := s.read(p, 1)
	if err != nil {
		return nil, err
	}
	accounts, slot := s.ledger.Accounts(level, key)
	lamports := uint64(0)
	if accounts[0] != nil {
		lamports = accounts[0].Lamports
	}
	return withContext(slot, lamports), nil
}

func (s *Server) getMultipleAccounts(p parameters) (any, error) {
	var texts []string
	if err := p.into(0, &texts); err != nil {
		return nil, err
	}
	if len(texts) > maxAccounts {
		return nil, invalidParams("Too many inputs provided; max %d", maxAccounts)
	}
	keys := make([]solana.PublicKey, len(texts))
	for i, text := range texts {
		var err error
		if keys[i], err = parseKey(text); err != nil {
			return nil, err
		}
	}
	config, level, err := s.accountConfig(p, 1)
	if err != nil {
		return nil, err
	}
	if config.Encoding == "" {
		config.Encoding = "base64"
	}
	accounts, slot := s.ledger.Accounts(level, keys...)
	values := make([]any, len(accounts))
	for i, account := range accounts {
		if values[i], err = config.encode(account); err != nil {
			return nil, err
		}
	}
	return withContext(slot, values), nil
}

// filter is a filter of getProgramAccounts and programSubscribe.
type filter struct {
	DataSize *uint64 `json:"dataSize"`
	Memcmp   *struct {
		Offset   uint64          `json:"offset"`
		Bytes    json.RawMessage `json:"bytes"`
		Encoding string          `json:"encoding"`
	} `json:"memcmp"`
	want []byte
}

// filters are the filters of a configuration.
type filters []filter

// prepare decodes the bytes that the filters compare with.
func (f filters) prepare() error {
	if len(f) > maxFilters {
		return invalidParams("Too many filters provided; max %d", maxFilters)
	}
	for i := range f {
		compare := f[i].Memcmp
		if compare == nil {
			if f[i].DataSize == nil {
				return invalidParams("Invalid params: unknown filter")
			}
			continue
		}
		var text string
		var err error
		if json.Unmarshal(compare.Bytes, &text) != nil {
			var numbers []uint16
			if err = json.Unmarshal(compare.Bytes, &numbers); err == nil {
				for _, number := range numbers[:min(len(numbers), maxMemcmp+1)] {
					f[i].want = append(f[i].want, byte(number))
				}
			}
		} else if len(text) > 2*maxMemcmp {
			return invalidParams("Invalid param: Memcmp too large")
		} else if compare.Encoding == "base64" {
			f[i].want, err = base64.StdEncoding.DecodeString(text)
		} else {
			f[i].want, err = base58.Decode(text)
		}
		if err != nil {
			return invalidParams("Invalid param: %v", err)
		}
		if len(f[i].want) > maxMemcmp {
			return invalidParams("Invalid param: Memcmp too large")
		}
	}
	return nil
}

func (f filters) match(account *engine.Account) bool {
	for _, filter := range f {
		if filter.DataSize != nil && uint64(len(account.Data)) != *filter.DataSize {
			return false
		}
		if compare := filter.Memcmp; compare != nil &&
			(compare.Offset > uint64(len(account.Data)) || !bytes.HasPrefix(account.Data[compare.Offset:], filter.want)) {
			return false
		}
	}
	return true
}

func (s *Server) getProgramAccounts(p parameters) (any, error) {
	key, err := p.key(0)
	if err != nil {
		return nil, err
	}
	config, level, err := s.accountConfig(p, 1)
	if err != nil {
		return nil, err
	}
	var more struct {
		Filters     filters `json:"filters"`
		WithContext bool    `json:"withContext"`
	}
	if err := p.optional(1, &more); err != nil {
		return nil, err
	}
	if err := more.Filters.prepare(); err != nil {
		return nil, err
	}
	owned, slot := s.ledger.ProgramAccounts(key, level, more.Filters.match)
	return config.encodeOwned(owned, slot, more.WithContext)
}

func (e accountEncoding) encodeOwned(owned []ledger.Owned, slot uint64, context bool) (any, error) {
	values := []any{}
	for _, each := range owned {
		encoded, err := e.encode(each.Account)
		if err != nil {
			return nil, err
		}
		values = append(values, object{"pubkey": each.Address, "account": encoded})
	}
	if context {
		return withContext(slot, values), nil
	}
	return values, nil
}

func (s *Server) getTokenAccountsByOwner(p parameters) (any, error) {
	owner, err := p.key(0)
	if err != nil {
		return nil, err
	}
	var by struct {
		Mint      string `json:"mint"`
		ProgramID string `json:"programId"`
	}
	if err := p.into(1, &by); err != nil {
		return nil, err
	}
	config, level, err := s.accountConfig(p, 2)
	if err != nil {
		return nil, err
	}
	var mint solana.PublicKey
	programs := []solana.PublicKey{solana.TokenProgramID, solana.Token2022ProgramID}
	if by.Mint != "" {
		if mint, err = parseKey(by.Mint); err != nil {
			return nil, err
		}
	} else {
		program, err := parseKey(by.ProgramID)
		if err != nil {
			return nil, err
		}
		if program != programs[0] && program != programs[1] {
			return nil, invalidParams("Invalid param: unrecognized Token program id")
		}
		programs = []solana.PublicKey{program}
	}
	var all []ledger.Owned
	var slot uint64
	for _, program := range programs {
		var owned []ledger.Owned
		owned, slot = s.ledger.ProgramAccounts(program, level, func(account *engine.Account) bool {
			token, is := ledger.ParseToken(account)
			return is && token.Owner == owner && (mint.IsZero() || token.Mint == mint)
		})
		all = append(all, owned...)
	}
	return config.encodeOwned(all, slot, true)
}

func (s *Server) getTokenSupply(p parameters) (any, error) {
	return s.tokens(p, func(account *engine.Account, _ ledger.Commitment) (uint64, byte, bool) {
		mint, is := ledger.ParseMint(account)
		return mint.Supply, mint.Decimals, is
	}, "mint")
}

func (s *Server) getTokenAccountBalance(p parameters) (any, error) {
	return s.tokens(p, func(account *engine.Account, level ledger.Commitment) (uint64, byte, bool) {
		token, is := ledger.ParseToken(account)
		mint, known := ledger.ParseMint(s.ledger.Account(token.Mint, level))
		return token.Amount, mint.Decimals, is && known
	}, "account")
}

func (s *Server) tokens(p parameters, of func(*engine.Account, ledger.Commitment) (uint64, byte, bool),
	what string) (any, error) {
	key, err := p.key(0)
	if err != nil {
		return nil, err
	}
	level, err := s.read(p, 1)
	if err != nil {
		return nil, err
	}
	accounts, slot := s.ledger.Accounts(level, key)
	if accounts[0] == nil {
		return nil, invalidParams("Invalid param: could not find %s", what)
	}
	amount, decimals, valid := of(accounts[0], level)
	if !valid {
		return nil, invalidParams("Invalid param: not a Token %s", what)
	}
	return withContext(slot, tokenAmount(amount, decimals)), nil
}
