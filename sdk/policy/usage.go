package policy

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Digest is a message's or intent's SHA-256, encoded as hex text. A message's intent is the part that the
// chain executes at most once however often it is signed: the program's instructions naming a deal and the
// expected state, excluding blockhash, fees and deadlines. Messages that contain no such instruction are
// separate intents.
type Digest [32]byte

// String returns the digest as hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns the digest as hex.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads exactly 64 hex digits.
func (d *Digest) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) {
		return fmt.Errorf("not a SHA-256: %d characters", len(text))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

const secondsPerDay = 24 * 60 * 60

const (
	// openLife is how long the policy looks for a message's outcome. Afterwards the message counts as
	// executed.
	openLife = 48 * time.Hour
	// approvalLife is how long an approval is valid for messages with the same intent.
	approvalLife = 24 * time.Hour
)

// dayOf returns the UTC day, in days since 1 January 1970.
func dayOf(now time.Time) int64 {
	return now.Unix() / secondsPerDay
}

// Scope is a spend's mint, or lamports, and negotiation or counterparty. MarshalText writes both addresses.
type Scope struct{ Mint, Account solana.PublicKey }

// MarshalText returns "mint/account".
func (s Scope) MarshalText() ([]byte, error) {
	return []byte(s.Mint.String() + "/" + s.Account.String()), nil
}

// UnmarshalText parses MarshalText output.
func (s *Scope) UnmarshalText(text []byte) error {
	mint, account, _ := bytes.Cut(text, []byte("/"))
	return errors.Join(s.Mint.UnmarshalText(mint), s.Account.UnmarshalText(account))
}

// Snapshot is a wallet's spending, summed over all records. It is not safe for concurrent use.
type Snapshot struct {
	// Day is the latest day with a counted spend, and Today that day's sums by mint.
	Day            int64                       `json:"day"`
	Today          map[solana.PublicKey]uint64 `json:"today,omitempty"`
	Negotiations   map[Scope]uint64            `json:"negotiations,omitempty"`
	Counterparties map[Scope]uint64            `json:"counterparties,omitempty"`
	// Intents holds the intents with open messages. Their spends are part of the sums.
	Intents map[Digest]*OpenIntent `json:"intents,omitempty"`
	// Messages holds the messages with an open outcome. Their fees are part of the sums.
	Messages    map[Digest]*OpenMessage           `json:"messages,omitempty"`
	Engagements map[solana.PublicKey][]Engagement `json:"engagements,omitempty"`
	Commitments map[Digest]*Commitment            `json:"commitments,omitempty"`
	// Approvals are approved records, by their intents.
	Approvals map[Digest]Record `json:"approvals,omitempty"`
}

// OpenIntent is the counted spending for an intent's open messages. At most one message is executed, so it is
// the highest spending among the messages.
type OpenIntent struct {
	Day    int64   `json:"day"`
	Spends []Spend `json:"spends,omitempty"`
	// Open is the number of open messages.
	Open int `json:"open"`
}

// OpenMessage is the counted record and signature of an open message.
type OpenMessage struct {
	Record
	// attempts is the number of calls waiting for the signer; mayBeSigned reports whether the message may
	// have been signed.
	attempts    int
	mayBeSigned bool
}

func newSnapshot() *Snapshot {
	return &Snapshot{
		Today:          map[solana.PublicKey]uint64{},
		Negotiations:   map[Scope]uint64{},
		Counterparties: map[Scope]uint64{},
		Intents:        map[Digest]*OpenIntent{},
		Messages:       map[Digest]*OpenMessage{},
		Engagements:    map[solana.PublicKey][]Engagement{},
		Commitments:    map[Digest]*Commitment{},
		Approvals:      map[Digest]Record{},
	}
}

// clone returns a copy that shares nothing with the original.
func (u *Snapshot) clone() (*Snapshot, error) {
	copied := newSnapshot()
	content, err := json.Marshal(u)
	if err == nil {
		err = json.Unmarshal(content, copied)
	}
	return copied, err
}

func (u *Snapshot) apply(record Record) error {
	known := u.Messages[record.Message]
	switch record.Kind {
	case RecordApproved:
		u.Approvals[record.Intent] = record
	case RecordCounted:
		// A store that reported an error may contain the record anyway, and receives it again.
		if known == nil {
			u.count(record)
		}
	case RecordSigned:
		if known == nil {
			return fmt.Errorf("message %s is signed but not counted", record.Message)
		}
		known.Signature, known.mayBeSigned = record.Signature, true
	case RecordSettled:
		if known == nil {
			return fmt.Errorf("message %s is settled but not counted", record.Message)
		}
		u.settle(known, record.Outcome)
	case RecordSnapshot:
		if record.Snapshot == nil {
			return errors.New("snapshot record without a snapshot")
		}
		restored, err := record.Snapshot.clone()
		if err != nil {
			return err
		}
		*u = *restored
	default:
		return fmt.Errorf("unknown kind of record %q", record.Kind)
	}
	return nil
}

func (u *Snapshot) count(record Record) {
	if record.Day > u.Day {
		u.Day = record.Day
		clear(u.Today)
	}
	known := u.Intents[record.Intent]
	if known == nil {
		known = &OpenIntent{Day: record.Day}
		u.Intents[record.Intent] = known
		for _, engagement := range record.Engagements {
			engagement.Intent = record.Intent
			u.Engagements[engagement.Negotiation] = append(u.Engagements[engagement.Negotiation], engagement)
		}
		for _, commitment := range record.Commitments {
			commitment.Intent = record.Intent
			u.Commitments[commitment.Hash] = &commitment
		}
	}
	for _, hash := range record.Reveals {
		if commitment := u.Commitments[hash]; commitment != nil {
			cost, _ := lamportsOf(record.Spends, record.Fees)
			commitment.Used = sum(commitment.Used, cost)
		}
	}
	if known.Day < record.Day {
		// The money may also leave the wallet on this day.
		for _, spend := range known.Spends {
			u.Today[spend.Mint] = sum(u.Today[spend.Mint], spend.Amount)
		}
		known.Day = record.Day
	}
	for _, spend := range slices.Concat(record.Spends, record.Fees) {
		u.add(spend)
	}
	known.Spends = append(known.Spends, record.Spends...)
	known.Open++
	for _, deal := range record.Deals {
		u.bind(deal)
	}
	u.Messages[record.Message] = &OpenMessage{Record: record}
}

func (u *Snapshot) add(spend Spend) {
	u.Today[spend.Mint] = sum(u.Today[spend.Mint], spend.Amount)
	if !spend.Negotiation.IsZero() {
		key := Scope{spend.Mint, spend.Negotiation}
		u.Negotiations[key] = sum(u.Negotiations[key], spend.Amount)
	}
	if !spend.Counterparty.IsZero() {
		key := Scope{spend.Mint, spend.Counterparty}
		u.Counterparties[key] = sum(u.Counterparties[key], spend.Amount)
	}
}

// settle removes a message with a final outcome, and gives back the unspent money.
func (u *Snapshot) settle(known *OpenMessage, outcome transaction.Outcome) {
	delete(u.Messages, known.Message)
	if outcome != transaction.Confirmed && outcome != transaction.Failed {
		for _, fee := range known.Fees {
			u.subtract(known.Day, fee)
		}
		for _, hash := range known.Reveals {
			if commitment := u.Commitments[hash]; commitment != nil {
				cost, _ := lamportsOf(known.Spends, known.Fees)
				commitment.Used -= min(commitment.Used, cost)
			}
		}
	}
	counted := u.Intents[known.Intent]
	if counted == nil {
		return // another of the intent's messages was executed
	}
	counted.Open--
	if outcome == transaction.Confirmed {
		delete(u.Intents, known.Intent)
		delete(u.Approvals, known.Intent)
		// The same intent can be signed again. The executed intent's remaining messages are not part of the
		// new intent.
		for _, other := range u.Messages {
			if other.Intent == known.Intent {
				other.Intent = Digest{}
			}
		}
		return
	}
	if counted.Open > 0 {
		return
	}
	delete(u.Intents, known.Intent)
	for _, spend := range counted.Spends {
		u.subtract(counted.Day, spend)
	}
	for address, engagements := range u.Engagements {
		kept := slices.DeleteFunc(engagements, func(e Engagement) bool { return e.Intent == known.Intent })
		if u.Engagements[address] = kept; len(kept) == 0 {
			delete(u.Engagements, address)
		}
	}
	for hash, commitment := range u.Commitments {
		if commitment.Intent == known.Intent {
			delete(u.Commitments, hash)
		}
	}
}

// subtract gives back a spend, which is part of the sums.
func (u *Snapshot) subtract(day int64, spend Spend) {
	lower := func(amounts map[Scope]uint64, account solana.PublicKey) {
		key := Scope{spend.Mint, account}
		if account.IsZero() {
			return
		}
		if amounts[key] -= spend.Amount; amounts[key] == 0 {
			delete(amounts, key)
		}
	}
	lower(u.Negotiations, spend.Negotiation)
	lower(u.Counterparties, spend.Counterparty)
	if day == u.Day { // the sums of earlier days are dropped
		u.Today[spend.Mint] -= spend.Amount
	}
}

// prune removes usage no longer relevant to any limit.
func (u *Snapshot) prune(now time.Time) {
	for _, known := range u.Messages {
		if known.attempts == 0 && now.Sub(time.Unix(known.Time, 0)) > openLife {
			u.settle(known, transaction.Confirmed)
		}
	}
	for digest, approval := range u.Approvals {
		if now.Sub(time.Unix(approval.Time, 0)) > approvalLife {
			delete(u.Approvals, digest)
		}
	}
	over := map[solana.PublicKey]bool{}
	for address, engagements := range u.Engagements {
		if !slices.ContainsFunc(engagements, func(e Engagement) bool { return now.Unix() < e.Until || u.Intents[e.Intent] != nil }) {
			over[address] = true
			delete(u.Engagements, address)
		}
	}
	for key := range u.Negotiations {
		if over[key.Account] {
			delete(u.Negotiations, key)
		}
	}
	for hash, commitment := range u.Commitments {
		if now.Unix() >= commitment.Until && u.Intents[commitment.Intent] == nil {
			delete(u.Commitments, hash)
		}
	}
}

// usedOn returns the amount spent on a day: zero on a day after the latest.
func (u *Snapshot) usedOn(day int64, mint solana.PublicKey) uint64 {
	if day > u.Day {
		return 0
	}
	return u.Today[mint]
}

// kind returns the spend minus amount and instruction: the key for comparing spends across an intent's
// messages.
func (s Spend) kind() Spend {
	s.Amount, s.Instruction = 0, 0
	return s
}

// excess returns the message's spends beyond the counted spends of the same intent's other messages.
func (u *Snapshot) excess(digest Digest, spends []Spend) []Spend {
	covered := map[Spend]uint64{}
	if known := u.Intents[digest]; known != nil {
		for _, spend := range known.Spends {
			covered[spend.kind()] = sum(covered[spend.kind()], spend.Amount)
		}
	}
	var rest []Spend
	for _, spend := range spends {
		part := min(covered[spend.kind()], spend.Amount)
		covered[spend.kind()] -= part
		if spend.Amount -= part; spend.Amount > 0 {
			rest = append(rest, spend)
		}
	}
	return rest
}

// carried returns the amounts that an earlier day's intent adds to a later day when signed again.
func (u *Snapshot) carried(digest Digest, day int64) map[solana.PublicKey]uint64 {
	amounts := map[solana.PublicKey]uint64{}
	if known := u.Intents[digest]; known != nil && known.Day < day {
		for _, spend := range known.Spends {
			amounts[spend.Mint] = sum(amounts[spend.Mint], spend.Amount)
		}
	}
	return amounts
}
