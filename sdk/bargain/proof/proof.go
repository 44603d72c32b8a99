package proof

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/gagliardetto/solana-go/base58"
	"github.com/gowebpki/jcs"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// Version versions the format and the strategies. It changes with any named strategy's moves on chain, and
// with the preferences that package scenario reads from a text.
const Version = "haggle-proof-v4"

// domain separates commitments from all other hashes.
const domain = "haggle-strategy-v1"

// Proof errors. Verify and Read return these with details.
var (
	// ErrForm: the file is not JSON in this Version's format, or larger than MaxSize.
	ErrForm = errors.New("proof: invalid file")
	// ErrTerms: the terms or the recorded offers are not possible under the rules.
	ErrTerms = errors.New("proof: impossible negotiation")
	// ErrCommitment: the revealed strategy is not the committed one.
	ErrCommitment = errors.New("proof: reveal does not match the commitment")
	// ErrStrategy: the revealed strategy is unknown or incomplete.
	ErrStrategy = errors.New("proof: invalid strategy")
	// ErrMetadata: the side's first offer does not carry the commitment, or a document does not match the
	// offer.
	ErrMetadata = errors.New("proof: invalid metadata")
	// ErrReplay: the strategy makes another move than the recorded one, or an offer with other metadata.
	ErrReplay = errors.New("proof: recorded move is not the strategy's")
)

// Address is a 32-byte address, encoded as base58 in JSON.
type Address [32]byte

// MarshalText writes base58.
func (a Address) MarshalText() ([]byte, error) { return []byte(base58.Encode(a[:])), nil }

// UnmarshalText reads base58.
func (a *Address) UnmarshalText(text []byte) error {
	if len(text) > 44 {
		return errors.New("address is longer than 44 characters")
	}
	read, err := base58.Decode(string(text))
	if err != nil {
		return err
	}
	if len(read) != len(a) {
		return fmt.Errorf("address has %d bytes, not 32", len(read))
	}
	*a = Address(read)
	return nil
}

// Hash is 32 bytes, in JSON as lower-case hexadecimal.
type Hash [32]byte

// MarshalText writes hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }

// UnmarshalText reads hexadecimal.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("hash has %d characters, not 64", len(text))
	}
	if _, err := hex.Decode(h[:], text); err != nil {
		return errors.New("hash is not hexadecimal")
	}
	return nil
}

// Metadata returns the metadata for an offer with the commitment, and no terms beside the price.
func (h Hash) Metadata() Metadata { return Metadata(onchain.CommitmentMetadata(h)) }

// Metadata is an offer's metadata, encoded as lower-case hexadecimal in JSON.
type Metadata onchain.Metadata

// MarshalText writes hexadecimal.
func (m Metadata) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(m[:])), nil }

// UnmarshalText reads hexadecimal.
func (m *Metadata) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(m)) {
		return fmt.Errorf("metadata has %d characters, not %d", len(text), hex.EncodedLen(len(m)))
	}
	if _, err := hex.Decode(m[:], text); err != nil {
		return errors.New("metadata is not hexadecimal")
	}
	return nil
}

// Side is a party: Buyer or Seller.
type Side string

// The sides.
const (
	Buyer  Side = "buyer"
	Seller Side = "seller"
)

// offerSide converts the side for package protocol.
func (s Side) offerSide() (onchain.Side, error) {
	switch s {
	case Buyer:
		return onchain.Buyer, nil
	case Seller:
		return onchain.Seller, nil
	}
	return 0, fmt.Errorf("%w: side %q is neither buyer nor seller", ErrTerms, string(s))
}

// Terms holds the negotiation terms that determine moves.
type Terms struct {
	Negotiation Address `json:"negotiation"`
	// CreatedAt is the negotiation's created_at, in Unix seconds.
	CreatedAt int64   `json:"created_at"`
	Buyer     Address `json:"buyer"`
	Seller    Address `json:"seller"`
	// Escrow is the deposit, in base units of the mint.
	Escrow       uint64 `json:"escrow,string"`
	MaxRounds    uint8  `json:"max_rounds"`
	DecayRateBps uint16 `json:"decay_rate_bps"`
	MinOfferBps  uint16 `json:"min_offer_bps"`
	FeeBps       uint16 `json:"fee_bps"`
	// Bond is the seller's deposit, in base units of the mint; zero if none is required.
	Bond uint64 `json:"bond,string,omitempty"`
}

// party returns a side's address.
func (t Terms) party(side onchain.Side) Address {
	if side == onchain.Buyer {
		return t.Buyer
	}
	return t.Seller
}

func (t Terms) rules() onchain.Rules {
	return onchain.Rules{
		Escrow: t.Escrow, MaxRounds: t.MaxRounds, DecayRateBps: t.DecayRateBps, MinOfferBps: t.MinOfferBps,
		FeeBps: t.FeeBps, Bond: t.Bond,
	}
}

// check returns ErrTerms if the program does not allow the terms.
func (t Terms) check() error {
	if t.Buyer == t.Seller {
		return fmt.Errorf("%w: buyer and seller are the same", ErrTerms)
	}
	for _, term := range []struct {
		name               string
		given, least, most uint64
	}{
		{"escrow", t.Escrow, onchain.MinEscrow, math.MaxUint64},
		{"max_rounds", uint64(t.MaxRounds), uint64(onchain.MinRounds), uint64(onchain.MaxRounds)},
		{"decay_rate_bps", uint64(t.DecayRateBps), 0, uint64(onchain.MaxDecayRateBps)},
		{"min_offer_bps", uint64(t.MinOfferBps), uint64(onchain.MinOfferBpsFloor),
			uint64(onchain.MinOfferBpsCeiling)},
		{"fee_bps", uint64(t.FeeBps), 0, uint64(onchain.MaxFeeBps)},
	} {
		if term.given < term.least || term.given > term.most {
			return fmt.Errorf("%w: %s is %d, not %d to %d", ErrTerms, term.name, term.given, term.least, term.most)
		}
	}
	return nil
}

// Strategy is a strategy with parameters.
type Strategy struct {
	// Name is the canonical text including parameters, such as "negmas-boulware:e=6": see strategy.Parse.
	// "optimal" is the optimal player: see game.Name.
	Name string `json:"name"`
	// Opening and Reservation are prices in base units of the mint: see agent.Player. A seller's reservation
	// is the least amount after the fee.
	Opening     uint64 `json:"opening,string"`
	Reservation uint64 `json:"reservation,string"`
	Seed        uint64 `json:"seed,string"`
	// MaxTotal limits a buyer's total payment, price plus decay, in base units of the mint: see agent.Limits.
	// If zero, only the escrow limits the total. For a seller, it must be zero.
	MaxTotal uint64 `json:"max_total,string,omitempty"`
	// Step is the price step for strategies that concede rank by rank, in base units of the mint: see
	// agent.Player. If zero, the step depends on the terms.
	Step uint64 `json:"step,string,omitempty"`
	// OtherReservation is the opponent's reservation price as assumed by "optimal", in base units of the
	// mint; for all other strategies it is nil.
	OtherReservation *uint64 `json:"other_reservation,string,omitempty"`
	// Issues is not nil for a strategy over several issues.
	Issues *Issues `json:"issues,omitempty"`
}

// checkTotal returns ErrStrategy for a seller with a MaxTotal.
func (s *Strategy) checkTotal(side onchain.Side) error {
	if s.MaxTotal != 0 && side != onchain.Buyer {
		return fmt.Errorf("%w: max_total is a limit of buyers", ErrStrategy)
	}
	return nil
}

// strategy returns the strategy, not including opening and reservation. It returns [ErrStrategy] if the name
// is unknown or not canonical, or the opponent's reservation price is missing or does not apply to the
// strategy.
func (s *Strategy) strategy() (bargain.Strategy, error) {
	switch other := s.OtherReservation; {
	case s.Name == game.Name && other != nil:
		return game.Assuming{Other: *other}, nil
	case s.Name == game.Name:
		return nil, fmt.Errorf("%w: %s requires other_reservation", ErrStrategy, s.Name)
	case other != nil:
		return nil, fmt.Errorf("%w: other_reservation requires %s, not %q", ErrStrategy, game.Name, s.Name)
	}
	named, err := strategy.Parse(s.Name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrStrategy, err)
	case named.String() != s.Name:
		return nil, fmt.Errorf("%w: name %q must be %q", ErrStrategy, s.Name, named)
	}
	return named.Strategy, nil
}

// Model is a language model that decides the moves.
type Model struct {
	// Name identifies the model and version.
	Name string `json:"name"`
	// Prompt is the SHA-256 of the whole prompt.
	Prompt Hash `json:"prompt_sha256"`
	// Band is the side's price range, or nil if the side commits to none.
	Band *Band `json:"band,omitempty"`
}

// Reveal is a commitment's hidden content: a strategy or a model, not both.
type Reveal struct {
	Strategy *Strategy `json:"strategy,omitempty"`
	Model    *Model    `json:"model,omitempty"`
	Nonce    Hash      `json:"nonce"`
}

// canonical returns the canonical JSON of the strategy or model, without the nonce.
func (r Reveal) canonical() ([]byte, error) {
	if (r.Strategy == nil) == (r.Model == nil) {
		return nil, fmt.Errorf("%w: exactly one of strategy and model is required", ErrStrategy)
	}
	if r.Nonce == (Hash{}) {
		return nil, fmt.Errorf("%w: the nonce is zero", ErrStrategy)
	}
	hidden := struct {
		Strategy *Strategy `json:"strategy,omitempty"`
		Model    *Model    `json:"model,omitempty"`
		Version  string    `json:"version"`
	}{r.Strategy, r.Model, Version}
	text, err := json.Marshal(hidden)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(text)
}

// Commit returns a side's commitment to a strategy or model. It returns [ErrStrategy] if the nonce is not
// set.
func Commit(terms Terms, side Side, reveal Reveal) (Hash, error) {
	by, err := side.offerSide()
	if err != nil {
		return Hash{}, err
	}
	text, err := reveal.canonical()
	if err != nil {
		return Hash{}, err
	}
	agent := terms.party(by)
	input := append([]byte(domain), terms.Negotiation[:]...)
	input = binary.LittleEndian.AppendUint64(input, uint64(terms.CreatedAt))
	input = append(append(append(input, agent[:]...), text...), reveal.Nonce[:]...)
	return sha256.Sum256(input), nil
}
