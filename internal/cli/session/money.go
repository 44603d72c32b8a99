package session

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/mint"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

// Units converts an amount to a mint's base units.
func (s *Session) Units(ctx context.Context, address solana.PublicKey, flag string, text amount.Text) (uint64, error) {
	decimals := uint8(0)
	if !text.InUnits() {
		read, err := s.PinnedMint(ctx, address)
		if err != nil {
			return 0, err
		}
		decimals = read.Decimals
	}
	units, err := text.In(decimals)
	if err != nil {
		return 0, exitcode.Usagef("%s: %w", flag, err)
	}
	return units, nil
}

// Mint reads a mint, once in an invocation.
func (s *Session) Mint(ctx context.Context, address solana.PublicKey) (mint.Mint, error) {
	if known, is := s.known(address); is {
		return known, nil
	}
	client, err := s.Client()
	if err != nil {
		return mint.Mint{}, err
	}
	read, err := mint.Read(ctx, client, address)
	if err != nil {
		return mint.Mint{}, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.mints == nil {
		s.mints = map[solana.PublicKey]mint.Mint{}
	}
	s.mints[address] = read
	return read, nil
}

// PinnedMint returns a mint, and records its decimals at their first use: see [mint.Mint.Pin]. Amounts that are
// sent or signed are converted with it.
func (s *Session) PinnedMint(ctx context.Context, address solana.PublicKey) (mint.Mint, error) {
	read, err := s.Mint(ctx, address)
	if err != nil {
		return read, err
	}
	client, err := s.Client()
	if err != nil {
		return read, err
	}
	return read, read.Pin(ctx, client)
}

// known returns a mint that this invocation has read.
func (s *Session) known(address solana.PublicKey) (mint.Mint, bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	known, is := s.mints[address]
	return known, is
}

// AmountOf formats base units of a mint, or lamports if there is no mint: as tokens if this invocation has
// read the mint or it is well known. It sends no request.
func (s *Session) AmountOf(address solana.PublicKey, units uint64) string {
	if known, is := s.known(address); is {
		return known.Tokens(units).String()
	}
	return mint.Offline(address, units)
}

// TokensOf returns a function that formats base units of a mint as tokens.
func (s *Session) TokensOf(ctx context.Context, address solana.PublicKey) (func(units uint64) amount.Tokens, error) {
	read, err := s.Mint(ctx, address)
	return read.Tokens, err
}
