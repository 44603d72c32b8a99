package protocol

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// ErrSealedPrice reports bytes that are not a [SealedPrice.Secret] document, or an attempt to encode a sealed
// price by other means.
var ErrSealedPrice = errors.New("haggle: sealed price")

// SealedPrice is an agent's reservation price in a negotiation (the buyer's maximum or the seller's minimum
// price) and the nonce that keeps the commitment from being guessed.
//
// A party that loses it after committing cannot reveal it, and a seller then loses the bond: store Secret
// before submit_zopa_commitment is sent. Printing or encoding a SealedPrice does not reveal the price; Price,
// Nonce and Secret do.
type SealedPrice struct {
	// secret is behind two pointers: fmt follows one when it prints a structure that contains a SealedPrice,
	// and then prints a pointer instead of the price.
	secret **sealedPrice
}

type sealedPrice struct {
	negotiation, agent solana.PublicKey
	createdAt          int64
	price              uint64
	nonce              [32]byte
}

func sealed(secret sealedPrice) *SealedPrice {
	pointer := &secret
	return &SealedPrice{secret: &pointer}
}

// open returns the secret; the zero secret for the zero SealedPrice.
func (p SealedPrice) open() sealedPrice {
	if p.secret == nil {
		return sealedPrice{}
	}
	return **p.secret
}

// SealPrice seals a party's reservation price in a negotiation, in the mint's base units, with a random
// nonce.
//
// Like the program at the reveal it returns [ErrInvalidParams] for a price outside
// [Negotiation.ReservationRange], and [ErrUnauthorized] unless the agent is a party.
func SealPrice(address solana.PublicKey, n *Negotiation, agent solana.PublicKey, price uint64) (*SealedPrice, error) {
	var nonce [32]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return nil, fmt.Errorf("haggle: seal a price: %w", err)
	}
	sealed := NewSealedPrice(address, n.CreatedAt, agent, price, nonce)
	if err := sealed.CheckRange("seal a price", n); err != nil {
		return nil, err
	}
	if _, ok := n.SideOf(agent); !ok {
		return nil, Refuse("seal a price", ErrUnauthorized, "%s is no party", agent)
	}
	return sealed, nil
}

// NewSealedPrice returns a sealed price with a nonce of the caller's own, which must be random and secret.
func NewSealedPrice(negotiation solana.PublicKey, createdAt int64, agent solana.PublicKey, price uint64, nonce [32]byte) *SealedPrice {
	return sealed(sealedPrice{negotiation: negotiation, createdAt: createdAt, agent: agent, price: price, nonce: nonce})
}

// IsZero reports whether there is no price.
func (p SealedPrice) IsZero() bool { return p.secret == nil }

// PriceRangeError reports a reservation price that the program would reject.
type PriceRangeError struct {
	// Mint is the mint of the price.
	Mint solana.PublicKey
	// Least and Most hold the lowest and the highest price, in the mint's base units.
	Least, Most uint64
}

func (e *PriceRangeError) Error() string {
	return e.TextWith(func(_ solana.PublicKey, units uint64) string {
		return fmt.Sprintf("%d base units", units)
	})
}

// TextWith returns Error's text with each amount formatted by write, which takes the mint's base units.
func (e *PriceRangeError) TextWith(write func(mint solana.PublicKey, units uint64) string) string {
	return fmt.Sprintf("reservation price out of range: must be %s to %s", write(e.Mint, e.Least), write(e.Mint, e.Most))
}

// TransactionOutcome returns [transaction.NotSent]: the price is checked before anything is sent.
func (e *PriceRangeError) TransactionOutcome() transaction.Outcome { return transaction.NotSent }

// CheckRange returns [ErrInvalidParams] for a price outside [Negotiation.ReservationRange], as a refusal of
// the action.
func (p SealedPrice) CheckRange(action string, n *Negotiation) error {
	if least, most := n.ReservationRange(); p.Price() < least || p.Price() > most {
		return fmt.Errorf("haggle: %s: %w: %w", action, Refusal(ErrInvalidParams),
			&PriceRangeError{Mint: n.TokenMint, Least: least, Most: most})
	}
	return nil
}

// Negotiation returns the negotiation address that the price belongs to. It belongs to a single deal there:
// see CreatedAt.
func (p SealedPrice) Negotiation() solana.PublicKey { return p.open().negotiation }

// CreatedAt returns the creation time of the deal that the price is for, in Unix seconds.
func (p SealedPrice) CreatedAt() int64 { return p.open().createdAt }

// Agent returns the party that the price belongs to.
func (p SealedPrice) Agent() solana.PublicKey { return p.open().agent }

// Price returns the price itself, in the mint's base units.
func (p SealedPrice) Price() uint64 { return p.open().price }

// Nonce returns the nonce that keeps the commitment from being guessed; the reveal of the price reveals it.
func (p SealedPrice) Nonce() [32]byte { return p.open().nonce }

// Commitment returns the commitment that is published on chain before the price: see [ZopaCommitment].
func (p SealedPrice) Commitment() [32]byte {
	secret := p.open()
	return ZopaCommitment(secret.negotiation, secret.createdAt, secret.agent, secret.price, secret.nonce)
}

// Matches reports whether the commitment matches this price, in constant time.
func (p SealedPrice) Matches(commitment [32]byte) bool {
	own := p.Commitment()
	return subtle.ConstantTimeCompare(own[:], commitment[:]) == 1
}

// sealedPriceVersion is the Secret document's version.
const sealedPriceVersion = 1

type sealedPriceDocument struct {
	Version     int              `json:"version"`
	Negotiation solana.PublicKey `json:"negotiation"`
	CreatedAt   int64            `json:"created_at"`
	Agent       solana.PublicKey `json:"agent"`
	Price       uint64           `json:"price,string"`
	Nonce       string           `json:"nonce"`
	Commitment  string           `json:"commitment"`
}

// Secret returns everything needed to reveal the price, as a JSON document for [ParseSealedPrice]. Store it
// where only the owner can read it. Secret returns an error for the zero SealedPrice only.
func (p SealedPrice) Secret() ([]byte, error) {
	secret, commitment := p.open(), p.Commitment()
	if secret.price == 0 {
		return nil, fmt.Errorf("%w: there is none", ErrSealedPrice)
	}
	return json.Marshal(sealedPriceDocument{
		Version:     sealedPriceVersion,
		Negotiation: secret.negotiation,
		CreatedAt:   secret.createdAt,
		Agent:       secret.agent,
		Price:       secret.price,
		Nonce:       hex.EncodeToString(secret.nonce[:]),
		Commitment:  hex.EncodeToString(commitment[:]),
	})
}

// ParseSealedPrice reads a [SealedPrice.Secret] document. It returns [ErrSealedPrice] for anything else, even
// if a single character in a key, the price or the nonce differs: then the commitment does not match.
func ParseSealedPrice(secret []byte) (*SealedPrice, error) {
	decoder := json.NewDecoder(bytes.NewReader(secret))
	decoder.DisallowUnknownFields()
	var document sealedPriceDocument
	// The error leaves out the details: they may contain the price.
	if decoder.Decode(&document) != nil || !isEnd(decoder) {
		return nil, fmt.Errorf("%w: not such a document", ErrSealedPrice)
	}
	if document.Version != sealedPriceVersion {
		return nil, fmt.Errorf("%w: of another version", ErrSealedPrice)
	}
	nonce, nonceErr := hex.DecodeString(document.Nonce)
	commitment, commitmentErr := hex.DecodeString(document.Commitment)
	if nonceErr != nil || commitmentErr != nil || len(nonce) != 32 || len(commitment) != 32 || document.Price == 0 {
		return nil, fmt.Errorf("%w: not such a document", ErrSealedPrice)
	}
	read := sealed(sealedPrice{
		negotiation: document.Negotiation, createdAt: document.CreatedAt, agent: document.Agent, price: document.Price,
		nonce: [32]byte(nonce),
	})
	if !read.Matches([32]byte(commitment)) {
		return nil, fmt.Errorf("%w: its commitment is another's", ErrSealedPrice)
	}
	return read, nil
}

func isEnd(decoder *json.Decoder) bool {
	_, err := decoder.Token()
	return errors.Is(err, io.EOF)
}

// String identifies the price's owner and negotiation, but omits the price itself.
func (p SealedPrice) String() string {
	if p.secret == nil {
		return "no sealed price"
	}
	return fmt.Sprintf("sealed price of %s in %s", p.Agent(), p.Negotiation())
}

// GoString returns String with the name of the type.
func (p SealedPrice) GoString() string { return "protocol.SealedPrice(" + p.String() + ")" }

// Format writes String for every verb.
func (p SealedPrice) Format(state fmt.State, verb rune) {
	text := p.String()
	if verb == 'v' && state.Flag('#') {
		text = p.GoString()
	}
	_, _ = io.WriteString(state, text)
}

// LogValue returns String.
func (p SealedPrice) LogValue() slog.Value { return slog.StringValue(p.String()) }

// MarshalText returns [ErrSealedPrice], so that encoding a structure neither reveals the price nor loses it
// silently.
func (p SealedPrice) MarshalText() ([]byte, error) {
	return nil, fmt.Errorf("%w: it is encoded by Secret alone", ErrSealedPrice)
}
