package policy

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
)

// Digest is the SHA-256 of a message, shown as hex.
type Digest [32]byte

// String is the digest as hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText is the digest as hex.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText takes exactly 64 hex digits.
func (d *Digest) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) {
		return fmt.Errorf("%d characters are no SHA-256", len(text))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

const secondsPerDay = 24 * 60 * 60

// dayOf is the UTC day of a time, in days since 1 January 1970.
func dayOf(now time.Time) int64 {
	seconds := now.Unix()
	day := seconds / secondsPerDay
	if seconds%secondsPerDay < 0 {
		day--
	}
	return day
}

// with is something that is spent in one mint, or in lamports, on or with one account.
type with struct{ mint, account solana.PublicKey }

// usage is what has been spent. It is not safe for concurrent use by itself.
type usage struct {
	// day is the latest that anything has been counted for.
	day            int64
	today          map[solana.PublicKey]uint64
	negotiations   map[with]uint64
	counterparties map[with]uint64
	entries        map[Digest]*entry
	signatures     map[solana.Signature]Digest
	engagements    map[solana.PublicKey][]Engagement
}

// entry is a message that has been counted.
type entry struct {
	Record
	released bool
	// attempts is how many calls are asking the signer for its signature now, and mayBeSigned that one of them may have got it.
	attempts    int
	mayBeSigned bool
}

func newUsage() *usage {
	return &usage{
		today:          map[solana.PublicKey]uint64{},
		negotiations:   map[with]uint64{},
		counterparties: map[with]uint64{},
		entries:        map[Digest]*entry{},
		signatures:     map[solana.Signature]Digest{},
		engagements:    map[solana.PublicKey][]Engagement{},
	}
}

// counts says whether a message is counted already. The same message is executed once at most, however often it is signed.
func (u *usage) counts(message Digest) bool {
	known := u.entries[message]
	return known != nil && !known.released
}

// apply adds a record to the sums.
func (u *usage) apply(record Record) error {
	known := u.entries[record.Message]
	switch record.Kind {
	case RecordCounted:
		// A store that has failed to say that it has the record may have it twice.
		if !u.counts(record.Message) {
			u.count(record)
		}
	case RecordSigned:
		if known == nil {
			return fmt.Errorf("message %s is signed and was not counted", record.Message)
		}
		known.Signature = record.Signature
		u.signatures[record.Signature] = record.Message
	case RecordReleased:
		if known == nil || known.released {
			return fmt.Errorf("message %s is given back and was not counted", record.Message)
		}
		return u.release(known, record.Fate)
	default:
		return fmt.Errorf("a record of kind %q", record.Kind)
	}
	return nil
}

func (u *usage) count(record Record) {
	if record.Day > u.day {
		u.day = record.Day
		clear(u.today)
	}
	for _, spend := range record.Spends {
		u.add(record.Day, spend)
	}
	for _, engagement := range record.Engagements {
		u.engagements[engagement.Negotiation] = append(u.engagements[engagement.Negotiation], engagement)
	}
	u.entries[record.Message] = &entry{Record: record}
}

func (u *usage) add(day int64, spend Spend) {
	if day == u.day {
		u.today[spend.Mint] = sum(u.today[spend.Mint], spend.Amount)
	}
	if !spend.Negotiation.IsZero() {
		key := with{spend.Mint, spend.Negotiation}
		u.negotiations[key] = sum(u.negotiations[key], spend.Amount)
	}
	if !spend.Counterparty.IsZero() {
		key := with{spend.Mint, spend.Counterparty}
		u.counterparties[key] = sum(u.counterparties[key], spend.Amount)
	}
}

var errLessThanNothing = errors.New("more is given back than was used")

// release takes back what a message has spent. A transaction that has failed has paid its fees all the same.
func (u *usage) release(known *entry, fate Fate) error {
	for _, spend := range known.Spends {
		isFee := spend.Purpose == PurposeFee || spend.Purpose == PurposePriorityFee
		if fate == FateFailed && isFee {
			continue
		}
		if err := u.subtract(known.Day, spend); err != nil {
			return err
		}
	}
	for _, engagement := range known.Engagements {
		rest := u.engagements[engagement.Negotiation]
		if i := slices.Index(rest, engagement); i >= 0 {
			u.engagements[engagement.Negotiation] = slices.Delete(rest, i, i+1)
		}
	}
	known.released = true
	return nil
}

func (u *usage) subtract(day int64, spend Spend) error {
	lower := func(amounts map[with]uint64, key with) error {
		if amounts[key] < spend.Amount {
			return errLessThanNothing
		}
		amounts[key] -= spend.Amount
		return nil
	}
	if !spend.Negotiation.IsZero() {
		if err := lower(u.negotiations, with{spend.Mint, spend.Negotiation}); err != nil {
			return err
		}
	}
	if !spend.Counterparty.IsZero() {
		if err := lower(u.counterparties, with{spend.Mint, spend.Counterparty}); err != nil {
			return err
		}
	}
	if day != u.day {
		return nil // that day's sum is gone
	}
	if u.today[spend.Mint] < spend.Amount {
		return errLessThanNothing
	}
	u.today[spend.Mint] -= spend.Amount
	return nil
}

// usedOn is what has been spent on a day: nothing yet on one after the latest.
func (u *usage) usedOn(day int64, mint solana.PublicKey) uint64 {
	if day > u.day {
		return 0
	}
	return u.today[mint]
}

// check holds what a message spends against the limits.
func (u *usage) check(config *Config, day int64, spends []Spend) error {
	transaction := map[solana.PublicKey]uint64{}
	negotiations, counterparties := map[with]uint64{}, map[with]uint64{}
	for _, spend := range spends {
		limits := config.limits(spend.Mint)
		deny := func(rule Rule, subject solana.PublicKey, limit, used uint64, requested uint64) error {
			return &Denial{
				Rule: rule, Instruction: spend.Instruction, Mint: spend.Mint, Subject: subject,
				Limit: limit, Used: used, Requested: requested,
			}
		}
		transaction[spend.Mint] = sum(transaction[spend.Mint], spend.Amount)
		requested := transaction[spend.Mint]
		if exceeds(requested, 0, limits.PerTransaction) || overflows(requested) {
			return deny(RulePerTransaction, solana.PublicKey{}, limits.PerTransaction, 0, requested)
		}
		if key := (with{spend.Mint, spend.Negotiation}); !spend.Negotiation.IsZero() {
			negotiations[key] = sum(negotiations[key], spend.Amount)
			if used := u.negotiations[key]; exceeds(negotiations[key], used, limits.PerNegotiation) {
				return deny(RulePerNegotiation, spend.Negotiation, limits.PerNegotiation, used, negotiations[key])
			}
		}
		if key := (with{spend.Mint, spend.Counterparty}); !spend.Counterparty.IsZero() {
			counterparties[key] = sum(counterparties[key], spend.Amount)
			if used := u.counterparties[key]; exceeds(counterparties[key], used, limits.PerCounterparty) {
				return deny(RulePerCounterparty, spend.Counterparty, limits.PerCounterparty, used, counterparties[key])
			}
		}
		if used := u.usedOn(day, spend.Mint); exceeds(requested, used, limits.PerDay) {
			return deny(RulePerDay, solana.PublicKey{}, limits.PerDay, used, requested)
		}
	}
	return nil
}

// checkEngagements refuses a negotiation that is on record in another mint: its prices would be taken for that mint's.
func (u *usage) checkEngagements(engagements []Engagement) error {
	for _, engagement := range engagements {
		for _, other := range u.engagements[engagement.Negotiation] {
			if other.Mint != engagement.Mint {
				return &Denial{
					Rule: RuleNegotiation, Instruction: -1, Subject: engagement.Negotiation,
					Cause: fmt.Errorf("the wallet has engaged in it in mint %s before", other.Mint),
				}
			}
		}
	}
	return nil
}

// overflows says whether an amount is the one that stands for more than a number can hold.
func overflows(amount uint64) bool { return amount == Unlimited }
