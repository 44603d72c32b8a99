// Package terms reads and writes documents that state an outcome's terms over several issues, such as a price
// and a delivery time. On chain an offer stores only the price and, as metadata of kind 2, the document's
// hash; an acceptance names both.
//
//	document, hash, err := terms.Write(domain, outcome) // send the document to the other side
//	...
//	outcome, err := terms.Check(domain, document, hash, amount) // before it accepts
//
// A document is canonical JSON (RFC 8785): the issues' values as strings, by name.
//
//	{"issues":{"days":"7","price":"3000000"},"version":"haggle-terms-v1"}
//
// The parties agree on the domain beforehand, and send documents to each other by any channel. It must have
// one price: the amount of the offer on chain.
//
// Metadata lacks space for a commitment of package proof beside the document's hash. So agents that prove
// their moves put the commitment into the document, along with the hash of the document that the offer
// answers: see [Committed]. The hash on chain fixes both, and the commitment keeps the terms from being
// guessed from it.
//
//	{"answers":"9c1f...","commitment":"07ab...","issues":{...},"version":"haggle-terms-v1"}
package terms

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/gowebpki/jcs"

	"github.com/haggle-protocol/haggle/sdk/bargain"
)

// Version is the document version.
const Version = "haggle-terms-v1"

// MaxSize is the largest document that Check reads, in bytes.
const MaxSize = 1 << 16

// Document errors.
var (
	// ErrDomain: the domain contains no price, several prices or a real-valued issue, or does not contain the
	// outcome.
	ErrDomain = errors.New("terms: invalid domain or outcome")
	// ErrHash: the document does not belong to the offer.
	ErrHash = errors.New("terms: document does not match the hash of the offer")
	// ErrForm: the document is not canonical, or its issues or values differ from the domain's.
	ErrForm = errors.New("terms: invalid document")
	// ErrPrice: the document has another price than the offer.
	ErrPrice = errors.New("terms: document does not match the price of the offer")
)

type document struct {
	Answers    string            `json:"answers,omitempty"`
	Commitment string            `json:"commitment,omitempty"`
	Issues     map[string]string `json:"issues"`
	Version    string            `json:"version"`
}

// Committed holds a document's fields beside the issues. It binds only the author.
type Committed struct {
	// Commitment is the author's strategy commitment; zero means none.
	Commitment [32]byte
	// Answers identifies the opponent's document by hash, if the author had the document when making this
	// offer. Zero states that the author had no document, or that there was no offer.
	Answers [32]byte
}

// CommittedIn returns the commitment and the answered document's hash from a document over any domain. It
// returns [ErrForm] if the text is not canonical, or contains other fields.
func CommittedIn(text []byte) (Committed, error) {
	if len(text) > MaxSize {
		return Committed{}, fmt.Errorf("%w: larger than %d bytes", ErrForm, MaxSize)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return Committed{}, fmt.Errorf("%w: %w", ErrForm, err)
	}
	if again, err := d.canonical(); err != nil || !bytes.Equal(again, text) || d.Version != Version {
		return Committed{}, errors.Join(fmt.Errorf("%w: not canonical, or another version", ErrForm), err)
	}
	return d.committed()
}

func (d document) canonical() ([]byte, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(text)
}

func (d document) committed() (c Committed, err error) {
	for _, field := range []struct {
		text string
		into *[32]byte
	}{{d.Commitment, &c.Commitment}, {d.Answers, &c.Answers}} {
		if field.text == "" {
			continue
		}
		read, err := hex.DecodeString(field.text)
		if err == nil && len(read) == len(field.into) {
			*field.into = [32]byte(read)
		}
		if hexOf(*field.into) != field.text {
			return Committed{}, fmt.Errorf("%w: %.70q is not a hash in lower-case hexadecimal", ErrForm, field.text)
		}
	}
	return c, nil
}

// hexOf returns hash in hex, or "" if it is zero.
func hexOf(hash [32]byte) string {
	if hash == ([32]byte{}) {
		return ""
	}
	return hex.EncodeToString(hash[:])
}

// Price returns an outcome's price in base units. It returns [ErrDomain] unless the domain contains exactly
// one price issue.
func Price(domain *bargain.Domain, o bargain.Outcome) (uint64, error) {
	price := -1
	for at := range domain.Len() {
		switch domain.Issue(at).Kind {
		case bargain.KindPrice:
			if price >= 0 {
				return 0, fmt.Errorf("%w: two prices", ErrDomain)
			}
			price = at
		case bargain.KindReal:
			return 0, fmt.Errorf("%w: issue %q is real-valued", ErrDomain, domain.Issue(at).Name)
		}
	}
	if price < 0 || !domain.Has(o) {
		return 0, fmt.Errorf("%w: no price, or an unknown outcome", ErrDomain)
	}
	return domain.Issue(price).Amount(domain.Value(o, price)), nil
}

// Write returns an outcome's document and the document's hash, to be used as the offer's
// protocol.TermsDocument.
func Write(domain *bargain.Domain, o bargain.Outcome) (text []byte, hash [32]byte, err error) {
	return WriteCommitted(domain, o, Committed{})
}

// WriteCommitted returns an outcome's document with a commitment, and the document's hash.
func WriteCommitted(
	domain *bargain.Domain, o bargain.Outcome, c Committed,
) (text []byte, hash [32]byte, err error) {
	if _, err := Price(domain, o); err != nil {
		return nil, hash, err
	}
	d := document{
		Answers: hexOf(c.Answers), Commitment: hexOf(c.Commitment), Issues: map[string]string{}, Version: Version,
	}
	for at := range domain.Len() {
		d.Issues[domain.Issue(at).Name] = domain.Issue(at).Text(domain.Value(o, at))
	}
	if text, err = d.canonical(); err != nil {
		return nil, hash, fmt.Errorf("%w: %w", ErrDomain, err)
	}
	if len(text) > MaxSize {
		return nil, hash, fmt.Errorf("%w: the document is larger than %d bytes", ErrDomain, MaxSize)
	}
	return text, sha256.Sum256(text), nil
}

// Check returns the outcome stated by the document that the opponent has sent for an offer; hash and amount
// come from the offer on chain. It returns [ErrHash], [ErrForm], [ErrDomain] or [ErrPrice] if an acceptance
// of the offer would not be an agreement on the document.
func Check(domain *bargain.Domain, text []byte, hash [32]byte, amount uint64) (bargain.Outcome, error) {
	if len(text) > MaxSize {
		return bargain.NoOutcome, fmt.Errorf("%w: larger than %d bytes", ErrForm, MaxSize)
	}
	if sha256.Sum256(text) != hash {
		return bargain.NoOutcome, ErrHash
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return bargain.NoOutcome, fmt.Errorf("%w: %w", ErrForm, err)
	}
	committed, err := d.committed()
	if err != nil {
		return bargain.NoOutcome, err
	}
	indices := make([]uint64, domain.Len())
	for at := range indices {
		issue := domain.Issue(at)
		index, known := indexOf(issue, d.Issues[issue.Name])
		if !known {
			err := fmt.Errorf("%w: issue %q has no value %q", ErrForm, issue.Name, d.Issues[issue.Name])
			return bargain.NoOutcome, err
		}
		indices[at] = index
	}
	o := domain.Outcome(indices...)
	again, _, err := WriteCommitted(domain, o, committed)
	if err != nil {
		return bargain.NoOutcome, err
	}
	if !bytes.Equal(again, text) {
		return bargain.NoOutcome, fmt.Errorf("%w: not canonical, or another version or issues", ErrForm)
	}
	if price, err := Price(domain, o); err != nil || price != amount {
		return bargain.NoOutcome, errors.Join(fmt.Errorf("%w: %d, not %d", ErrPrice, price, amount), err)
	}
	return o, nil
}

// indexOf returns a value's index within the issue.
func indexOf(issue *bargain.Issue, value string) (index uint64, known bool) {
	switch issue.Kind {
	case bargain.KindPrice, bargain.KindInteger:
		var number uint64
		var err error
		if issue.Kind == bargain.KindPrice {
			number, err = strconv.ParseUint(value, 10, 64)
		} else {
			var signed int64
			signed, err = strconv.ParseInt(value, 10, 64)
			number = uint64(signed)
		}
		if err != nil {
			return 0, false
		}
		index = (number - issue.First) / issue.Tick
		return index, index < issue.Count && issue.Text(index) == value
	}
	for index, name := range issue.Names {
		if name == value {
			return uint64(index), true
		}
	}
	return 0, false
}
