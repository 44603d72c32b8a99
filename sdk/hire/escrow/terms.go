package escrow

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// sessionDomain separates session ids from other hashes.
const sessionDomain = "haggle/hire/session"

// Session returns an agreement's session id: the first eight bytes, little endian, of the SHA-256 of
// "haggle/hire/session" and the hashes of the two accept messages as 32 bytes each. It returns an error for
// malformed hashes.
func Session(seekerAccept, workerAccept hire.Hash) (uint64, error) {
	text := []byte(sessionDomain)
	for _, hash := range []hire.Hash{seekerAccept, workerAccept} {
		decoded, err := hex.DecodeString(string(hash))
		if err != nil || len(decoded) != sha256.Size || hex.EncodeToString(decoded) != string(hash) {
			return 0, errors.New("escrow: accept: not a hash of 64 lower-case hexadecimal digits")
		}
		text = append(text, decoded...)
	}
	sum := sha256.Sum256(text)
	return binary.LittleEndian.Uint64(sum[:]), nil
}

// Terms specify an agreement's on-chain settlement.
type Terms struct {
	// Seeker and Worker are the parties' keys: the negotiation's buyer and seller.
	Seeker, Worker solana.PublicKey
	// Mint is the price's mint, and Decimals the mint's decimals.
	Mint     solana.PublicKey
	Decimals uint8
	// Price is measured in the mint's base units, including the protocol's fee.
	Price uint64
	// Arbiter decides about a disputed delivery.
	Arbiter solana.PublicKey
	// Deadline is the latest delivery.
	Deadline time.Time
	// Service is the accepted terms' hash: [hire.Terms.Hash].
	Service [sha256.Size]byte
	// Session holds the negotiation's session id.
	Session uint64
}

// ErrNotAgreed: the conversation contains no deal accepted by each side.
var ErrNotAgreed = errors.New("escrow: terms not accepted by both sides")

// TermsError is the reason why terms cannot be settled.
type TermsError struct {
	// Field is a field of [hire.Terms], or "seeker" or "worker" for the party's key.
	Field string
	// Problem is the field's problem.
	Problem string
}

func (e *TermsError) Error() string { return fmt.Sprintf("escrow: %s: %s", e.Field, e.Problem) }

// Of computes terms from a conversation that reached agreement. The arguments seeker and worker hold the
// parties' keys, and assets the cluster's tokens: see [Assets].
//
// It returns [ErrNotAgreed] unless both sides have accepted, and otherwise [Settleable] errors.
func Of(state hire.State, seeker, worker ed25519.PublicKey, assets []hire.Asset) (Terms, error) {
	if state.SeekerAccept == "" || state.WorkerAccept == "" {
		return Terms{}, ErrNotAgreed
	}
	terms, err := Settleable(state.Terms, state.At, seeker, worker, assets)
	if err != nil {
		return Terms{}, err
	}
	if terms.Session, err = Session(state.SeekerAccept, state.WorkerAccept); err != nil {
		return Terms{}, err
	}
	return terms, nil
}

// Settleable returns terms for an agreement at the given time, with no session. Parties call it before
// offering or accepting terms: accepted terms cannot be corrected.
//
// It returns a [*hire.Refusal] with [hire.ReasonPrice] for unsettleable prices. It returns a [*TermsError] if
// the terms name no arbiter, the arbiter is a party, the parties share a key, or the deadline is not between
// the given time and [MaxDelivery] later.
func Settleable(
	agreed hire.Terms, at time.Time, seeker, worker ed25519.PublicKey, assets []hire.Asset,
) (Terms, error) {
	asset, price, err := agreed.Price.Units(assets)
	if err != nil {
		return Terms{}, err
	}
	terms := Terms{Decimals: asset.Decimals, Price: price, Service: agreed.Hash()}
	if terms.Deadline, err = agreed.Deadline.Parse(); err != nil {
		return Terms{}, &TermsError{"deadline", err.Error()}
	}
	if terms.Mint, err = solana.PublicKeyFromBase58(string(asset.Mint)); err != nil {
		return Terms{}, &TermsError{"price", "the mint in the table of assets is not an address"}
	}
	if agreed.Arbiter != "" {
		if terms.Arbiter, err = solana.PublicKeyFromBase58(string(agreed.Arbiter)); err != nil {
			return Terms{}, &TermsError{"arbiter", "not an address"}
		}
	}
	if len(seeker) != ed25519.PublicKeySize || len(worker) != ed25519.PublicKeySize {
		return Terms{}, errors.New("escrow: seeker, worker: not Ed25519 keys")
	}
	terms.Seeker, terms.Worker = solana.PublicKeyFromBytes(seeker), solana.PublicKeyFromBytes(worker)
	return terms, terms.check(at)
}

// check reports why terms accepted at the given time cannot be settled.
func (t Terms) check(at time.Time) error {
	switch {
	case t.Seeker.IsZero():
		return &TermsError{"seeker", "key not set"}
	case t.Worker.IsZero():
		return &TermsError{"worker", "key not set"}
	case t.Seeker == t.Worker:
		return &TermsError{"worker", "has the seeker's key"}
	case t.Arbiter.IsZero():
		return &TermsError{"arbiter", "not set: a settlement requires one"}
	case t.Arbiter == t.Seeker || t.Arbiter == t.Worker:
		return &TermsError{"arbiter", "must not be a party"}
	case !t.Deadline.After(at):
		return &TermsError{"deadline", "not after the acceptance"}
	case t.Deadline.After(at.Add(MaxDelivery)):
		return &TermsError{"deadline", fmt.Sprintf("more than %d days after the acceptance",
			MaxDelivery/(24*time.Hour))}
	}
	return nil
}

// Address derives the negotiation's address.
func (t Terms) Address() (solana.PublicKey, error) {
	address, _, err := protocol.FindNegotiationAddress(t.Seeker, t.Worker, t.Session)
	return address, err
}

// deadline returns the latest delivery in Unix seconds, rounded up.
func (t Terms) deadline() int64 { return t.Deadline.Add(time.Second - 1).Unix() }
