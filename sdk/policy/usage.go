package policy

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Digest is the SHA-256 of a message or of an intent; its text is hex. The intent of a message is the part
// that the chain executes at most once however often it is signed: the program's instructions that name a
// deal and its state, without blockhash, fees and deadlines. A message without such an instruction is an
// intent of its own.
type Digest [32]byte

// String returns the digest as hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns the digest as hex.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads exactly 64 hex digits.
func (d *Digest) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) {
		return fmt.Errorf("%d characters are no SHA-256", len(text))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

const secondsPerDay = 24 * 60 * 60

const (
	// openLife is how long the policy looks for the outcome of a message. After it the message counts as
	// executed.
	openLife = 48 * time.Hour
	// approvalLife is how long an approval holds for further messages of its intent.
	approvalLife = 24 * time.Hour
)

// dayOf returns the UTC day of a time, in days since 1 January 1970.
func dayOf(now time.Time) int64 {
	seconds := now.Unix()
	day := seconds / secondsPerDay
	if seconds%secondsPerDay < 0 {
		day--
	}
	return day
}

// with is a mint, or lamports, and the negotiation or counterparty of a spend.
type with struct{ mint, account solana.PublicKey }

// usage is the spending of a wallet, summed over its records. It is not safe for concurrent use.
type usage struct {
	// day is the latest day with a counted spend.
	day            int64
	today          map[solana.PublicKey]uint64
	negotiations   map[with]uint64
	counterparties map[with]uint64
	// intents are the intents with open messages.
	intents map[Digest]*intent
	// messages are the messages whose outcome is open.
	messages    map[Digest]*openMessage
	engagements map[solana.PublicKey][]Engagement
	commitments map[Digest]*Commitment
	approvals   map[Digest]Record
}

// intent is the counted spending of the open messages of one intent. At most one of them is executed, so it
// is the highest spending of any of them.
type intent struct {
	day    int64
	spends []Spend
	open   int
}

// openMessage is a counted message whose outcome is open.
type openMessage struct {
	Record
	// attempts is the number of calls that wait for the signer's signature; mayBeSigned reports whether a
	// signature may exist.
	attempts    int
	mayBeSigned bool
}

func newUsage() *usage {
	return &usage{
		today:          map[solana.PublicKey]uint64{},
		negotiations:   map[with]uint64{},
		counterparties: map[with]uint64{},
		intents:        map[Digest]*intent{},
		messages:       map[Digest]*openMessage{},
		engagements:    map[solana.PublicKey][]Engagement{},
		commitments:    map[Digest]*Commitment{},
		approvals:      map[Digest]Record{},
	}
}

// apply adds a record.
func (u *usage) apply(record Record) error {
	known := u.messages[record.Message]
	switch record.Kind {
	case RecordApproved:
		u.approvals[record.Intent] = record
	case RecordCounted:
		// A store that reported an error may have the record anyway, and gets it again.
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
		return u.settle(known, record.Outcome)
	case RecordSnapshot:
		u.restore(record)
	default:
		return fmt.Errorf("unknown kind of record %q", record.Kind)
	}
	return nil
}

func (u *usage) count(record Record) {
	if record.Day > u.day {
		u.day = record.Day
		clear(u.today)
	}
	known := u.intents[record.Intent]
	if known == nil {
		known = &intent{day: record.Day}
		u.intents[record.Intent] = known
		for _, engagement := range record.Engagements {
			engagement.Intent = record.Intent
			u.engagements[engagement.Negotiation] = append(u.engagements[engagement.Negotiation], engagement)
		}
		for _, commitment := range record.Commitments {
			commitment.Intent = record.Intent
			u.commitments[commitment.Hash] = &commitment
		}
	}
	for _, hash := range record.Reveals {
		if commitment := u.commitments[hash]; commitment != nil {
			cost, _ := lamportsOf(record.Spends, record.Fees)
			commitment.Used = sum(commitment.Used, cost)
		}
	}
	if known.day < record.Day {
		// The money may also leave the wallet on this day.
		for _, spend := range known.spends {
			u.today[spend.Mint] = sum(u.today[spend.Mint], spend.Amount)
		}
		known.day = record.Day
	}
	for _, spend := range slices.Concat(record.Spends, record.Fees) {
		u.add(spend)
	}
	known.spends = append(known.spends, record.Spends...)
	known.open++
	for _, deal := range record.Deals {
		u.bind(deal)
	}
	u.messages[record.Message] = &openMessage{Record: record}
}

func (u *usage) add(spend Spend) {
	u.today[spend.Mint] = sum(u.today[spend.Mint], spend.Amount)
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

// settle removes a message whose outcome is final, and gives back the money that it did not spend.
func (u *usage) settle(known *openMessage, outcome transaction.Outcome) error {
	delete(u.messages, known.Message)
	if outcome != transaction.Confirmed && outcome != transaction.Failed {
		for _, fee := range known.Fees {
			if err := u.subtract(known.Day, fee); err != nil {
				return err
			}
		}
		for _, hash := range known.Reveals {
			if commitment := u.commitments[hash]; commitment != nil {
				cost, _ := lamportsOf(known.Spends, known.Fees)
				commitment.Used -= min(commitment.Used, cost)
			}
		}
	}
	counted := u.intents[known.Intent]
	if counted == nil {
		return nil // another message of the intent was executed
	}
	counted.open--
	if outcome == transaction.Confirmed {
		delete(u.intents, known.Intent)
		delete(u.approvals, known.Intent)
		// The same intent can be signed again. The other messages of the executed one are not part of the new
		// one.
		for _, other := range u.messages {
			if other.Intent == known.Intent {
				other.Intent = Digest{}
			}
		}
		return nil
	}
	if counted.open > 0 {
		return nil
	}
	delete(u.intents, known.Intent)
	for _, spend := range counted.spends {
		if err := u.subtract(counted.day, spend); err != nil {
			return err
		}
	}
	for address, engagements := range u.engagements {
		kept := slices.DeleteFunc(engagements, func(e Engagement) bool { return e.Intent == known.Intent })
		if u.engagements[address] = kept; len(kept) == 0 {
			delete(u.engagements, address)
		}
	}
	for hash, commitment := range u.commitments {
		if commitment.Intent == known.Intent {
			delete(u.commitments, hash)
		}
	}
	return nil
}

func (u *usage) subtract(day int64, spend Spend) error {
	lower := func(amounts map[with]uint64, account solana.PublicKey) error {
		key := with{spend.Mint, account}
		if account.IsZero() {
			return nil
		}
		if amounts[key] < spend.Amount {
			return errLessThanNothing
		}
		if amounts[key] -= spend.Amount; amounts[key] == 0 {
			delete(amounts, key)
		}
		return nil
	}
	if err := errors.Join(lower(u.negotiations, spend.Negotiation), lower(u.counterparties, spend.Counterparty)); err != nil {
		return err
	}
	if day != u.day {
		return nil // the sum of that day is dropped
	}
	if u.today[spend.Mint] < spend.Amount {
		return errLessThanNothing
	}
	u.today[spend.Mint] -= spend.Amount
	return nil
}

// prune removes the usage that no limit depends on any more.
func (u *usage) prune(now time.Time) error {
	for _, known := range u.messages {
		if known.attempts == 0 && now.Sub(time.Unix(known.Time, 0)) > openLife {
			if err := u.settle(known, transaction.Confirmed); err != nil {
				return err
			}
		}
	}
	for digest, approval := range u.approvals {
		if now.Sub(time.Unix(approval.Time, 0)) > approvalLife {
			delete(u.approvals, digest)
		}
	}
	over := map[solana.PublicKey]bool{}
	for address, engagements := range u.engagements {
		if !slices.ContainsFunc(engagements, func(e Engagement) bool { return now.Unix() < e.Until || u.intents[e.Intent] != nil }) {
			over[address] = true
			delete(u.engagements, address)
		}
	}
	for key := range u.negotiations {
		if over[key.account] {
			delete(u.negotiations, key)
		}
	}
	for hash, commitment := range u.commitments {
		if now.Unix() >= commitment.Until && u.intents[commitment.Intent] == nil {
			delete(u.commitments, hash)
		}
	}
	return nil
}

// usedOn returns the amount spent on a day: zero on a day after the latest.
func (u *usage) usedOn(day int64, mint solana.PublicKey) uint64 {
	if day > u.day {
		return 0
	}
	return u.today[mint]
}

// spendKey is the key by which the spends of several messages of one intent are compared.
type spendKey struct {
	mint, negotiation, counterparty solana.PublicKey
	purpose                         string
}

// excess returns the spends of a message beyond the counted spends of other messages of its intent.
func (u *usage) excess(digest Digest, spends []Spend) []Spend {
	covered := map[spendKey]uint64{}
	if known := u.intents[digest]; known != nil {
		for _, spend := range known.spends {
			key := spendKey{spend.Mint, spend.Negotiation, spend.Counterparty, spend.Purpose}
			covered[key] = sum(covered[key], spend.Amount)
		}
	}
	var rest []Spend
	for _, spend := range spends {
		key := spendKey{spend.Mint, spend.Negotiation, spend.Counterparty, spend.Purpose}
		part := min(covered[key], spend.Amount)
		covered[key] -= part
		if spend.Amount -= part; spend.Amount > 0 {
			rest = append(rest, spend)
		}
	}
	return rest
}

// carried returns the amounts that an intent of an earlier day adds to a later day when it is signed again.
func (u *usage) carried(digest Digest, day int64) map[solana.PublicKey]uint64 {
	amounts := map[solana.PublicKey]uint64{}
	if known := u.intents[digest]; known != nil && known.day < day {
		for _, spend := range known.spends {
			amounts[spend.Mint] = sum(amounts[spend.Mint], spend.Amount)
		}
	}
	return amounts
}

// check compares the spends of a message with the limits. fees are those of the message, spends the rest.
func (u *usage) check(config *Config, day int64, digest Digest, spends, fees []Spend) error {
	tx := map[solana.PublicKey]uint64{}
	for _, spend := range slices.Concat(spends, fees) {
		tx[spend.Mint] = sum(tx[spend.Mint], spend.Amount)
		limit := config.limits(spend.Mint).PerTransaction
		if requested := tx[spend.Mint]; requested > limit || requested == Unlimited {
			return overLimit(RulePerTransaction, spend, solana.PublicKey{}, limit, 0, requested)
		}
	}
	onDay := u.carried(digest, day)
	negotiations, counterparties := map[with]uint64{}, map[with]uint64{}
	for _, spend := range slices.Concat(u.excess(digest, spends), fees) {
		limits := config.limits(spend.Mint)
		if key := (with{spend.Mint, spend.Negotiation}); !spend.Negotiation.IsZero() {
			negotiations[key] = sum(negotiations[key], spend.Amount)
			if used := u.negotiations[key]; exceeds(negotiations[key], used, limits.PerNegotiation) {
				return overLimit(RulePerNegotiation, spend, spend.Negotiation, limits.PerNegotiation, used, negotiations[key])
			}
		}
		if key := (with{spend.Mint, spend.Counterparty}); !spend.Counterparty.IsZero() {
			counterparties[key] = sum(counterparties[key], spend.Amount)
			if used := u.counterparties[key]; exceeds(counterparties[key], used, limits.PerCounterparty) {
				return overLimit(RulePerCounterparty, spend, spend.Counterparty, limits.PerCounterparty, used, counterparties[key])
			}
		}
		onDay[spend.Mint] = sum(onDay[spend.Mint], spend.Amount)
		if used := u.usedOn(day, spend.Mint); exceeds(onDay[spend.Mint], used, limits.PerDay) {
			return overLimit(RulePerDay, spend, solana.PublicKey{}, limits.PerDay, used, onDay[spend.Mint])
		}
	}
	return nil
}

func overLimit(rule Rule, spend Spend, subject solana.PublicKey, limit, used, requested uint64) error {
	return &Denial{
		Rule: rule, Instruction: spend.Instruction, Mint: spend.Mint, Subject: subject,
		Limit: limit, Used: used, Requested: requested,
	}
}

// isUsed reports whether an error is a denial that depends on earlier usage.
func isUsed(err error) bool {
	var denial *Denial
	return errors.As(err, &denial) && slices.Contains([]Rule{RulePerNegotiation, RulePerCounterparty, RulePerDay}, denial.Rule) && denial.Used > 0
}
