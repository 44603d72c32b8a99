package jsonrpc

import (
	"encoding/json"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

type accountConfig struct {
	readConfig
	accountEncoding
}

// accountConfig decodes the configuration parameter.
func (s *Server) accountConfig(p parameters, index int) (config accountConfig, level ledger.Commitment, err error) {
	if err = p.optional(index, "RpcAccountInfoConfig", &config); err == nil {
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
	if err := p.into(0, "", &texts); err != nil {
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
	if err := p.optional(1, "RpcProgramAccountsConfig", &more); err != nil {
		return nil, err
	}
	if err := more.Filters.checkTokenAddresses(key); err != nil {
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

// tokenFilter is the getTokenAccountsByOwner filter: exactly one field is set.
type tokenFilter struct{ mint, programID string }

// UnmarshalJSON implements json.Unmarshaler.
func (f *tokenFilter) UnmarshalJSON(raw []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	if len(fields) != 1 {
		return errSingleKey
	}
	for name, value := range fields {
		switch name {
		case "mint":
			return json.Unmarshal(value, &f.mint)
		case "programId":
			return json.Unmarshal(value, &f.programID)
		}
		return invalidParams("Invalid params: unknown variant `%s`, expected `mint` or `programId`.", name)
	}
	return nil
}

func (s *Server) getTokenAccountsByOwner(p parameters) (any, error) {
	owner, err := p.key(0)
	if err != nil {
		return nil, err
	}
	var by tokenFilter
	if err := p.into(1, "", &by); err != nil {
		return nil, err
	}
	config, level, err := s.accountConfig(p, 2)
	if err != nil {
		return nil, err
	}
	var mint solana.PublicKey
	programs := []solana.PublicKey{solana.TokenProgramID, solana.Token2022ProgramID}
	if by.mint != "" {
		if mint, err = parseKey(by.mint); err != nil {
			return nil, err
		}
		if _, err := s.mint(mint, level); err != nil {
			return nil, err
		}
	} else {
		program, err := parseKey(by.programID)
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
	return s.tokens(p, func(account *engine.Account, _ ledger.Commitment) (object, error) {
		mint, is := ledger.ParseMint(account)
		switch {
		case is:
			return tokenAmount(mint.Supply, mint.Decimals), nil
		case !ledger.OwnedByTokenProgram(account):
			return nil, invalidParams("Invalid param: not a Token mint")
		}
		return nil, invalidParams("Invalid param: mint could not be unpacked")
	})
}

func (s *Server) getTokenAccountBalance(p parameters) (any, error) {
	return s.tokens(p, func(account *engine.Account, level ledger.Commitment) (object, error) {
		token, is := ledger.ParseToken(account)
		if !is {
			return nil, invalidParams("Invalid param: not a Token account")
		}
		mint, err := s.mint(token.Mint, level)
		return tokenAmount(token.Amount, mint.Decimals), err
	})
}

// mint reads the mint for an account or filter.
func (s *Server) mint(address solana.PublicKey, level ledger.Commitment) (ledger.Mint, error) {
	account := s.ledger.Account(address, level)
	if account == nil {
		return ledger.Mint{}, invalidParams("Invalid param: could not find mint")
	}
	mint, is := ledger.ParseMint(account)
	if !is {
		return mint, invalidParams("Invalid param: Token mint could not be unpacked")
	}
	return mint, nil
}

func (s *Server) tokens(p parameters, amount func(*engine.Account, ledger.Commitment) (object, error)) (any, error) {
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
		return nil, invalidParams("Invalid param: could not find account")
	}
	value, err := amount(accounts[0], level)
	return withContext(slot, value), err
}
