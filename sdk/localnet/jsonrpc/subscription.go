package jsonrpc

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// subscription is a client's subscription.
type subscription struct {
	kind       string
	commitment ledger.Commitment
	key        solana.PublicKey
	// mentions reports whether the logs subscription is about the key alone.
	mentions  bool
	signature solana.Signature
	encoding  accountEncoding
	filters   filters
	// active is set when the client knows the ID. It is guarded by the connection's lock.
	active bool
}

// kinds maps subscription kinds to parameter decoders.
var kinds = map[string]func(*subscription, parameters) error{
	"account": (*subscription).parseAccount,
	"program": (*subscription).parseProgram,
	"logs":    (*subscription).parseLogs,
	"signature": func(s *subscription, p parameters) (err error) {
		if s.signature, err = p.signature(0); err != nil {
			return invalidRequestParam(err, "signature")
		}
		return nil
	},
	"slot": func(*subscription, parameters) error { return nil },
	"root": func(*subscription, parameters) error { return nil },
}

// newSubscription decodes a subscription. All errors are *Error values.
func newSubscription(kind string, p parameters) (*subscription, error) {
	s := &subscription{kind: kind}
	required, most := 1, 2
	if kind == "slot" || kind == "root" {
		required, most = 0, 0
	}
	if err := p.check(required, most); err != nil {
		return nil, err
	}
	var config accountConfig
	if err := p.optional(1, "RpcAccountInfoConfig", &config); err != nil {
		return nil, err
	}
	if err := config.check(); err != nil {
		return nil, err
	}
	s.commitment, s.encoding = commitment(config.Commitment), config.accountEncoding
	s.encoding.DataSlice = nil // nodes send all data
	return s, kinds[kind](s, p)
}

func (s *subscription) parseAccount(p parameters) (err error) {
	if s.key, err = p.key(0); err != nil {
		return invalidRequestParam(err, "pubkey")
	}
	return nil
}

// invalidRequestParam replaces an undecodable address or signature text.
func invalidRequestParam(err error, name string) error {
	if strings.HasPrefix(err.Error(), "Invalid param:") {
		return invalidParams("Invalid Request: Invalid %s provided", name)
	}
	return err
}

func (s *subscription) parseProgram(p parameters) (err error) {
	var config struct {
		Filters filters `json:"filters"`
	}
	if err := p.optional(1, "RpcProgramAccountsConfig", &config); err != nil {
		return err
	}
	s.filters = config.Filters
	return s.parseAccount(p)
}

func (s *subscription) parseLogs(p parameters) error {
	var name string
	if json.Unmarshal(p[0], &name) == nil {
		if name != "all" && name != "allWithVotes" {
			return invalidParams("Invalid params: unknown variant `%s`, expected one of `all`, `allWithVotes`, `mentions`.", name)
		}
		return nil
	}
	var filter struct {
		Mentions []string `json:"mentions"`
	}
	if err := p.into(0, "", &filter); err != nil {
		return err
	}
	if len(filter.Mentions) != 1 {
		return invalidParams("Invalid Request: Only 1 address supported")
	}
	var err error
	if s.key, err = parseKey(filter.Mentions[0]); err != nil {
		return invalidRequestParam(err, "mentions")
	}
	s.mentions = true
	return nil
}

// result returns a transaction's notification, or false unless the subscription is about it.
func (s *subscription) result(l *ledger.Ledger, t *ledger.Transaction) ([]any, bool) {
	switch s.kind {
	case "signature":
		return []any{contextOf(t.Slot, object{"err": nullable(t.Result.Err)})}, s.signature == t.Signature
	case "logs":
		return []any{contextOf(t.Slot, object{
			"signature": t.Signature, "err": nullable(t.Result.Err), "logs": list(t.Result.Logs),
		})}, !s.mentions || slices.Contains(t.Keys, s.key)
	}
	var results []any
	for _, change := range t.Result.Changes {
		switch {
		case s.kind == "account" && change.Address == s.key:
			account := change.Account
			if encoded, err := s.encoding.encode(&account); err == nil {
				results = append(results, contextOf(t.Slot, encoded))
			}
		case s.kind == "program" && change.Account.Owner == s.key && s.filters.match(&change.Account):
			account := change.Account
			if encoded, err := s.encoding.encode(&account); err == nil {
				results = append(results, contextOf(t.Slot, object{"pubkey": change.Address, "account": encoded}))
			}
		}
	}
	return results, len(results) > 0
}
