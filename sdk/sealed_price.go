package haggle

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

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ErrSealedPrice: what is to be read is not what [SealedPrice.Secret] has written, or a sealed price is about to be written by
// something that does not know that it is secret.
var ErrSealedPrice = errors.New("haggle: sealed price")

// SealedPrice is an agent's reservation price in one negotiation, the most that the buyer would pay or the least that the seller
// would take, together with the nonce that keeps its commitment from being guessed.
//
// Who loses it after committing to it cannot reveal it, and the seller then loses its bond: keep Secret before
// [Negotiation.CommitZopa]. Printing or encoding a SealedPrice does not give the price away; only Price and Secret do.
type SealedPrice struct {
	// secret is behind two pointers: fmt follows one when it prints a structure that contains a SealedPrice, and then shows where
	// the price is instead of the price.
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

// open is the zero secret for the zero SealedPrice.
func (p SealedPrice) open() sealedPrice {
	if p.secret == nil {
		return sealedPrice{}
	}
	return **p.secret
}

// SealPrice seals a party's reservation price, in base units of the mint, with a random nonce.
//
// It fails as the program does when the price is revealed: [protocol.ErrInvalidParams] for a price outside
// [protocol.Negotiation.ReservationRange], [protocol.ErrUnauthorized] for an agent that is no party.
func SealPrice(n *Snapshot, agent solana.PublicKey, price uint64) (*SealedPrice, error) {
	secret := sealedPrice{negotiation: n.Address, createdAt: n.CreatedAt, agent: agent, price: price}
	if err := secret.checkRange("seal a price", n); err != nil {
		return nil, err
	}
	if _, ok := n.SideOf(agent); !ok {
		return nil, protocol.Refuse("seal a price", protocol.ErrUnauthorized, "%s is no party", agent)
	}
	if _, err := rand.Read(secret.nonce[:]); err != nil {
		return nil, fmt.Errorf("haggle: seal a price: %w", err)
	}
	return sealed(secret), nil
}

func (s *sealedPrice) checkRange(action string, n *Snapshot) error {
	if least, most := n.ReservationRange(); s.price < least || s.price > most {
		return protocol.Refuse(action, protocol.ErrInvalidParams, "the price is not between %d and %d base units", least, most)
	}
	return nil
}

// Negotiation is the address of the negotiation that the price is for. The price is for one deal there: see
// CreatedAt.
func (p SealedPrice) Negotiation() solana.PublicKey { return p.open().negotiation }

// CreatedAt is the creation of the deal that the price is for, in Unix seconds.
func (p SealedPrice) CreatedAt() int64 { return p.open().createdAt }

// Agent is the party whose price it is.
func (p SealedPrice) Agent() solana.PublicKey { return p.open().agent }

// Price is the price itself, in base units of the mint.
func (p SealedPrice) Price() uint64 { return p.open().price }

// Commitment is what goes on chain instead of the price: see [protocol.ZopaCommitment].
func (p SealedPrice) Commitment() [32]byte {
	secret := p.open()
	return protocol.ZopaCommitment(secret.negotiation, secret.createdAt, secret.agent, secret.price, secret.nonce)
}

// Matches says, in a time that does not depend on the answer, whether a commitment is to this price.
func (p SealedPrice) Matches(commitment [32]byte) bool {
	own := p.Commitment()
	return subtle.ConstantTimeCompare(own[:], commitment[:]) == 1
}

// sealedPriceVersion is of the document that Secret writes.
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

// Secret is everything that is needed to reveal the price, as a JSON document for [ParseSealedPrice]: to be kept where only its
// owner can read it. It fails for the zero SealedPrice only.
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

// ParseSealedPrice reads what [SealedPrice.Secret] has written. It fails with [ErrSealedPrice] for anything else, also if a single
// character of a key, the price or the nonce is another: then the commitment does not fit.
func ParseSealedPrice(secret []byte) (*SealedPrice, error) {
	decoder := json.NewDecoder(bytes.NewReader(secret))
	decoder.DisallowUnknownFields()
	var document sealedPriceDocument
	// What is wrong in detail is never part of an error: it may be the price.
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

// String says whose price it is, and not what it is.
func (p SealedPrice) String() string {
	if p.secret == nil {
		return "no sealed price"
	}
	return fmt.Sprintf("sealed price of %s in %s", p.Agent(), p.Negotiation())
}

// GoString is as String.
func (p SealedPrice) GoString() string { return "haggle.SealedPrice(" + p.String() + ")" }

// Format writes String, whatever the verb.
func (p SealedPrice) Format(state fmt.State, verb rune) {
	text := p.String()
	if verb == 'v' && state.Flag('#') {
		text = p.GoString()
	}
	_, _ = io.WriteString(state, text)
}

// LogValue is String.
func (p SealedPrice) LogValue() slog.Value { return slog.StringValue(p.String()) }

// MarshalText fails with [ErrSealedPrice], so that encoding a structure neither gives the price away nor loses it silently.
func (p SealedPrice) MarshalText() ([]byte, error) {
	return nil, fmt.Errorf("%w: it is encoded by Secret alone", ErrSealedPrice)
}
