package policy

import (
	"context"
	"crypto/ed25519"
	"fmt"

	"github.com/gagliardetto/solana-go"
)

const (
	// packetSize is the greatest size of a transaction with its signatures, in bytes.
	packetSize = 1232
	// mostAccounts is the greatest number of accounts of a message: an index is one byte.
	mostAccounts = 256
	// versionMark is set in the first byte of a message that has a version; the rest of the byte is the
	// version.
	versionMark = 0x80
)

// message is a transaction's message, decoded byte by byte. No byte is left over, and no part is repeated.
type message struct {
	versioned bool
	// signers is the number of keys that sign; the first pays the fee.
	signers int
	// readonlySigners and readonlyOthers are the numbers of accounts that are not writable: the last of the
	// signers, and the last of the other keys.
	readonlySigners, readonlyOthers int
	// keys are the accounts that the message itself names.
	keys         []solana.PublicKey
	blockhash    solana.Hash
	instructions []compiled
	lookups      []lookup
}

// compiled is an instruction whose accounts are indexes.
type compiled struct {
	program  byte
	accounts []byte
	data     []byte
}

// lookup names accounts by their places in a table that is on chain.
type lookup struct {
	table              solana.PublicKey
	writable, readonly []byte
}

// cursor takes bytes off the front of a message. It keeps its first error.
type cursor struct {
	rest []byte
	err  error
}

func (c *cursor) fail(format string, arguments ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, arguments...)
	}
	c.rest = nil
}

func (c *cursor) take(n int) []byte {
	if c.err != nil || n > len(c.rest) {
		c.fail("the message ends early")
		return nil
	}
	taken := c.rest[:n:n]
	c.rest = c.rest[n:]
	return taken
}

func (c *cursor) byte() byte {
	if taken := c.take(1); taken != nil {
		return taken[0]
	}
	return 0
}

// length reads a compact-u16: seven bits a byte, lowest first. Like the chain it accepts only the shortest
// encoding.
func (c *cursor) length() int {
	value := 0
	for i := range 3 {
		next := c.byte()
		value |= int(next&0x7f) << (7 * i)
		if next&0x80 != 0 {
			continue
		}
		if i > 0 && next == 0 || value > 0xffff {
			c.fail("a length is not encoded as it has to be")
		}
		return value
	}
	c.fail("a length is not encoded as it has to be")
	return 0
}

func (c *cursor) bytes() []byte { return c.take(c.length()) }

func (c *cursor) key() (key solana.PublicKey) {
	copy(key[:], c.take(len(key)))
	return key
}

// parseMessage decodes a legacy message or one of version 0. It returns an error for a message that the chain
// would refuse to execute, and for bytes that are left over.
func parseMessage(data []byte) (*message, error) {
	c := &cursor{rest: data}
	m := &message{}
	first := c.byte()
	if first&versionMark != 0 {
		if first != versionMark {
			return nil, fmt.Errorf("messages of version %d are not known", first&^versionMark)
		}
		m.versioned = true
		first = c.byte()
	}
	m.signers, m.readonlySigners, m.readonlyOthers = int(first), int(c.byte()), int(c.byte())
	m.parseKeys(c)
	copy(m.blockhash[:], c.take(len(m.blockhash)))
	m.parseInstructions(c)
	if m.versioned {
		m.parseLookups(c)
	}
	if c.err == nil && len(c.rest) > 0 {
		c.fail("%d bytes are left over", len(c.rest))
	}
	if c.err != nil {
		return nil, c.err
	}
	if size := 1 + m.signers*ed25519.SignatureSize + len(data); size > packetSize {
		return nil, fmt.Errorf("the transaction would be %d bytes long, %d at most are executed", size, packetSize)
	}
	return m, m.check()
}

func (m *message) parseKeys(c *cursor) {
	count := c.length()
	if count > mostAccounts || count*len(solana.PublicKey{}) > len(c.rest) {
		c.fail("the message ends early")
		return
	}
	m.keys = make([]solana.PublicKey, count)
	for i := range m.keys {
		m.keys[i] = c.key()
	}
}

func (m *message) parseInstructions(c *cursor) {
	for range c.length() {
		if c.err != nil {
			return
		}
		m.instructions = append(m.instructions, compiled{program: c.byte(), accounts: c.bytes(), data: c.bytes()})
	}
}

func (m *message) parseLookups(c *cursor) {
	for range c.length() {
		if c.err != nil {
			return
		}
		m.lookups = append(m.lookups, lookup{table: c.key(), writable: c.bytes(), readonly: c.bytes()})
	}
}

// check returns an error for a message that the chain refuses before it executes anything.
func (m *message) check() error {
	others := len(m.keys) - m.signers
	if m.signers == 0 || others < 0 || m.readonlySigners >= m.signers || m.readonlyOthers > others {
		return fmt.Errorf("the header does not fit %d accounts", len(m.keys))
	}
	total := len(m.keys)
	for _, l := range m.lookups {
		if len(l.writable)+len(l.readonly) == 0 {
			return fmt.Errorf("nothing is taken from table %s", l.table)
		}
		total += len(l.writable) + len(l.readonly)
	}
	if total > mostAccounts {
		return fmt.Errorf("%d accounts, at most %d can be named", total, mostAccounts)
	}
	for i, instruction := range m.instructions {
		if instruction.program == 0 || int(instruction.program) >= len(m.keys) {
			return fmt.Errorf("instruction %d calls account %d, which is not a program that the message names", i, instruction.program)
		}
		for _, account := range instruction.accounts {
			if int(account) >= total {
				return fmt.Errorf("instruction %d takes account %d of %d", i, account, total)
			}
		}
	}
	return unique(m.keys)
}

func unique(keys []solana.PublicKey) error {
	seen := make(map[solana.PublicKey]bool, len(keys))
	for _, key := range keys {
		if seen[key] {
			return fmt.Errorf("account %s is named twice", key)
		}
		seen[key] = true
	}
	return nil
}

// accounts returns all accounts that the message names, with their flags: its own, then the writable ones of
// all tables, then the others.
func (m *message) accounts(ctx context.Context, tables Tables) ([]solana.AccountMeta, error) {
	metas := make([]solana.AccountMeta, len(m.keys))
	for i, key := range m.keys {
		writable := i < m.signers-m.readonlySigners || i >= m.signers && i < len(m.keys)-m.readonlyOthers
		metas[i] = solana.AccountMeta{PublicKey: key, IsSigner: i < m.signers, IsWritable: writable}
	}
	if len(m.lookups) == 0 {
		return metas, nil
	}
	if tables == nil {
		return nil, fmt.Errorf("accounts are named by a place in table %s, and there is nothing to look it up with", m.lookups[0].table)
	}
	var readonly []solana.AccountMeta
	for _, l := range m.lookups {
		addresses, err := tables.Table(ctx, l.table)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", l.table, err)
		}
		for _, place := range append(append([]byte(nil), l.writable...), l.readonly...) {
			if int(place) >= len(addresses) {
				return nil, fmt.Errorf("table %s has %d addresses, and number %d is asked for", l.table, len(addresses), place)
			}
		}
		for _, place := range l.writable {
			metas = append(metas, solana.AccountMeta{PublicKey: addresses[place], IsWritable: true})
		}
		for _, place := range l.readonly {
			readonly = append(readonly, solana.AccountMeta{PublicKey: addresses[place]})
		}
	}
	metas = append(metas, readonly...)
	keys := make([]solana.PublicKey, len(metas))
	for i, meta := range metas {
		keys[i] = meta.PublicKey
	}
	return metas, unique(keys)
}
