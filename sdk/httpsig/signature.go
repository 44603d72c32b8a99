package httpsig

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
)

// Request limits bound the work before signature verification.
const (
	maxSignatures = 8
	maxComponents = 32
)

// ErrSignature: the signature does not match the request and the key.
var ErrSignature = errors.New("signature: does not match the request and the key; " +
	"sign the request as it is sent, with the registered key")

// ErrNotSigned: the request lacks both fields, Signature and Signature-Input.
var ErrNotSigned = errors.New("request: not signed; send the fields Signature-Input and Signature")

// Params lists covered components and signature parameters. Zero values are left out.
type Params struct {
	// Components lists the covered components in order.
	Components []Component
	// Created and Expires use whole seconds.
	Created, Expires time.Time
	// Nonce is a value that the signer uses only once.
	Nonce string
	// KeyID names the key of the signer.
	KeyID string
	// Algorithm is "ed25519" or empty.
	Algorithm string
	// Tag names the protocol that defines the use of the signature.
	Tag string
}

// Covers reports whether the signature covers a whole field or a derived component.
func (p Params) Covers(name string) bool { return slices.Contains(p.Components, Component{Name: name}) }

func (p Params) innerList() httpsfv.InnerList {
	list := httpsfv.InnerList{Params: httpsfv.NewParams()}
	for _, component := range p.Components {
		list.Items = append(list.Items, component.item())
	}
	if !p.Created.IsZero() {
		list.Params.Add("created", p.Created.Unix())
	}
	for _, parameter := range []struct{ name, value string }{{"keyid", p.KeyID}, {"alg", p.Algorithm}} {
		if parameter.value != "" {
			list.Params.Add(parameter.name, parameter.value)
		}
	}
	if !p.Expires.IsZero() {
		list.Params.Add("expires", p.Expires.Unix())
	}
	for _, parameter := range []struct{ name, value string }{{"nonce", p.Nonce}, {"tag", p.Tag}} {
		if parameter.value != "" {
			list.Params.Add(parameter.name, parameter.value)
		}
	}
	return list
}

// Sign adds the fields Signature-Input and Signature to a request. The target of r must be an absolute URL.
// It returns an error if the request already contains either field, or lacks a covered component.
func (p Params) Sign(r *http.Request, label string, key ed25519.PrivateKey) error {
	if len(key) != ed25519.PrivateKeySize {
		return fmt.Errorf("key: has %d bytes, not %d; use ed25519.GenerateKey", len(key),
			ed25519.PrivateKeySize)
	}
	if r.Header.Get("Signature") != "" || r.Header.Get("Signature-Input") != "" {
		return errors.New("request: already signed; sign a request without Signature and Signature-Input")
	}
	input := p.innerList()
	base, err := signatureBase(r, r.URL.Scheme, p.Components, input)
	if err != nil {
		return err
	}
	inputs, values := httpsfv.NewDictionary(), httpsfv.NewDictionary()
	inputs.Add(label, input)
	values.Add(label, httpsfv.NewItem(ed25519.Sign(key, base)))
	inputText, err := httpsfv.Marshal(inputs)
	if err != nil {
		return fmt.Errorf("label %q: %w", label, err)
	}
	valueText, err := httpsfv.Marshal(values)
	if err != nil {
		return fmt.Errorf("label %q: %w", label, err)
	}
	r.Header.Set("Signature-Input", inputText)
	r.Header.Set("Signature", valueText)
	return nil
}

// signatureBase returns the bytes that the key signs (RFC 9421, section 2.5).
func signatureBase(
	r *http.Request, scheme string, components []Component, input httpsfv.InnerList,
) ([]byte, error) {
	var base strings.Builder
	for i, component := range components {
		if slices.Contains(components[:i], component) {
			return nil, fmt.Errorf("component %s: covered twice; name it once", component)
		}
		value, err := component.value(r, scheme)
		if err != nil {
			return nil, err
		}
		// A line end in a value would let one component look like several.
		if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c > '~' }) {
			return nil, fmt.Errorf("component %s: has characters other than printable ASCII; encode them",
				component)
		}
		base.WriteString(component.String() + ": " + value + "\n")
	}
	parameters, err := httpsfv.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("signature parameters: %w", err)
	}
	base.WriteString(`"@signature-params": ` + parameters)
	return []byte(base.String()), nil
}

// Signature is a request signature, returned by [Parse].
type Signature struct {
	// Label is the name of the signature in the fields Signature-Input and Signature.
	Label string
	Params

	// input holds the parameters exactly as in the request, including unknown parameters and in the same
	// order.
	input       httpsfv.InnerList
	value       []byte
	unsupported error
}

// Parse returns the request's signatures in Signature-Input order, without verifying them. For unsigned
// requests it returns [ErrNotSigned].
func Parse(header http.Header) ([]Signature, error) {
	if len(header.Values("Signature")) == 0 && len(header.Values("Signature-Input")) == 0 {
		return nil, ErrNotSigned
	}
	inputs, err := httpsfv.UnmarshalDictionary(header.Values("Signature-Input"))
	if err != nil {
		return nil, fmt.Errorf("field Signature-Input: not a dictionary: %w", err)
	}
	values, err := httpsfv.UnmarshalDictionary(header.Values("Signature"))
	if err != nil {
		return nil, fmt.Errorf("field Signature: not a dictionary: %w", err)
	}
	labels := inputs.Names()
	switch {
	case len(labels) > maxSignatures:
		return nil, fmt.Errorf("field Signature-Input: has %d signatures, more than %d; send one",
			len(labels), maxSignatures)
	case len(labels) == 0 || len(labels) != len(values.Names()):
		return nil, errors.New("fields Signature-Input and Signature: have different labels; " +
			"send each label in both")
	}
	signatures := make([]Signature, len(labels))
	for i, label := range labels {
		if signatures[i], err = parseSignature(label, inputs, values); err != nil {
			return nil, err
		}
	}
	return signatures, nil
}

func parseSignature(label string, inputs, values *httpsfv.Dictionary) (s Signature, err error) {
	s.Label = label
	member, _ := inputs.Get(label)
	input, ok := member.(httpsfv.InnerList)
	if !ok {
		return s, fmt.Errorf("field Signature-Input: %q is not a list of components; use parentheses", label)
	}
	s.input = input
	member, _ = values.Get(label)
	item, _ := member.(httpsfv.Item)
	if s.value, ok = item.Value.([]byte); !ok {
		return s, fmt.Errorf("field Signature: %q is not a byte sequence; write base64 between colons", label)
	}
	if len(input.Items) > maxComponents {
		return s, fmt.Errorf("signature %q: covers %d components, more than %d; cover fewer", label,
			len(input.Items), maxComponents)
	}
	for _, item := range input.Items {
		component, err := parseComponent(item)
		if err != nil && s.unsupported == nil {
			// Another verifier's signature must not prevent the use of this one's.
			s.unsupported = err
		}
		s.Components = append(s.Components, component)
	}
	return s, s.parseParameters()
}

func (s *Signature) parseParameters() error {
	for name, target := range map[string]*time.Time{"created": &s.Created, "expires": &s.Expires} {
		if value, ok := s.input.Params.Get(name); ok {
			seconds, isInteger := value.(int64)
			if !isInteger {
				return fmt.Errorf("signature %q: parameter %q is not an integer; send Unix seconds", s.Label,
					name)
			}
			*target = time.Unix(seconds, 0)
		}
	}
	for name, target := range map[string]*string{
		"nonce": &s.Nonce, "keyid": &s.KeyID, "alg": &s.Algorithm, "tag": &s.Tag,
	} {
		if value, ok := s.input.Params.Get(name); ok {
			text, isString := value.(string)
			if !isString {
				return fmt.Errorf("signature %q: parameter %q is not a string; quote it", s.Label, name)
			}
			*target = text
		}
	}
	return nil
}

// Verify returns nil if the signature matches the request and the key, and [ErrSignature] if it does not. It
// returns another error if the request lacks a covered component. scheme is "http" or "https": the scheme
// used by the client. Behind a proxy, servers do not find it in the request.
func (s Signature) Verify(r *http.Request, scheme string, key ed25519.PublicKey) error {
	switch {
	case s.unsupported != nil:
		return s.unsupported
	case s.Algorithm != "" && s.Algorithm != "ed25519":
		return fmt.Errorf("signature %q: algorithm %q is not supported; use ed25519", s.Label, s.Algorithm)
	case len(key) != ed25519.PublicKeySize:
		return fmt.Errorf("key: has %d bytes, not %d", len(key), ed25519.PublicKeySize)
	}
	base, err := signatureBase(r, scheme, s.Components, s.input)
	if err != nil {
		return err
	}
	if !ed25519.Verify(key, base, s.value) {
		return ErrSignature
	}
	return nil
}
