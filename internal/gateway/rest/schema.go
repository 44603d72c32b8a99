package rest

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/strictjson"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Terms is the schema of terms.
type Terms struct {
	Price      uint64    `json:"price_per_fetch_micro" maximum:"1000000000" doc:"Micro units of the currency"`
	TTLSeconds uint32    `json:"token_ttl_seconds" maximum:"31536000"`
	BurstRPS   uint32    `json:"burst_rps" maximum:"1000000"`
	Purposes   []Purpose `json:"purposes" minItems:"1" maxItems:"7" nullable:"false"`
	Prepaid    uint64    `json:"prepaid_fetches" required:"false" maximum:"10000000000"`
}

// TransformSchema implements [huma.SchemaTransformer].
func (Terms) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	unique(s.Properties["purposes"])
	return s
}

// unique describes list items as unique. huma's own check panics on items that are objects or lists, so that
// a client could break its own connection. Package terms checks the items instead.
func unique(s *huma.Schema) { s.Extensions = map[string]any{"uniqueItems": true} }

// oneOf returns the schema for a string with a fixed set of values.
func oneOf[T any](values []T) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeString}
	for _, value := range values {
		schema.Enum = append(schema.Enum, fmt.Sprint(value))
	}
	return schema
}

// Purpose is the schema for purposes.
type Purpose string

// Schema implements [huma.SchemaProvider].
func (Purpose) Schema(huma.Registry) *huma.Schema { return oneOf(terms.Purposes()) }

// selectionStatus is the schema for selection statuses of strategies.
type selectionStatus string

// Schema implements [huma.SchemaProvider].
func (selectionStatus) Schema(huma.Registry) *huma.Schema { return oneOf(engine.SelectionStatuses()) }

// leaveReason is the schema for a party's reason to end a negotiation.
type leaveReason string

// Schema implements [huma.SchemaProvider].
func (leaveReason) Schema(huma.Registry) *huma.Schema { return oneOf(engine.LeaveReasons()) }

// reasonCode is the schema for reason codes.
type reasonCode string

// Schema implements [huma.SchemaProvider].
func (reasonCode) Schema(huma.Registry) *huma.Schema { return oneOf(engine.ReasonCodes()) }

// printable is the schema for names and other strings shown to people.
type printable string

// Schema implements [huma.SchemaProvider].
func (printable) Schema(huma.Registry) *huma.Schema {
	least, most := 1, terms.MaxName
	return &huma.Schema{
		Type: huma.TypeString, MinLength: &least, MaxLength: &most,
		Pattern: terms.NamePattern(), PatternDescription: "visible characters and spaces",
		Description: "Visible characters and spaces: the pattern leaves out spaces other than U+0020, controls, " +
			"controls of direction, fillers and private use",
	}
}

// PublisherChange is [service.PublisherChange] with the schema for names. Its pattern is computed: field tags
// cannot contain it.
type PublisherChange struct{ service.PublisherChange }

// TransformSchema implements [huma.SchemaTransformer].
func (PublisherChange) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["name"] = printable("").Schema(r)
	return s
}

// hostname is the schema for publisher host names.
type hostname string

// Schema implements [huma.SchemaProvider].
func (hostname) Schema(huma.Registry) *huma.Schema {
	most := terms.MaxName
	return &huma.Schema{
		Type: huma.TypeString, MaxLength: &most, Pattern: service.HostnamePattern,
		PatternDescription: "a host name in lower case, such as site.example",
	}
}

// publicKey is an Ed25519 key in base64url, or empty if the client does not sign.
type publicKey string

// Schema implements [huma.SchemaProvider].
func (publicKey) Schema(huma.Registry) *huma.Schema { return publicKeySchema("?") }

// publicKeySchema returns the schema for Ed25519 keys in base64url. The last character encodes only four bits
// of the 32 bytes, so 16 characters are possible there. times is "?" for a key that can be empty.
func publicKeySchema(times string) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Pattern: `^([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])` + times + `$`,
		PatternDescription: "an Ed25519 key: 43 characters of base64url",
	}
}

// ClientChange is [service.ClientChange] with the schema of public keys.
type ClientChange struct{ service.ClientChange }

// TransformSchema implements [huma.SchemaTransformer].
func (ClientChange) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["public_key"] = publicKeySchema("")
	return s
}

// cursor is a cursor of objects with UUIDs.
type cursor string

// Schema implements [huma.SchemaProvider].
func (cursor) Schema(huma.Registry) *huma.Schema {
	return cursorSchema(store.UUIDCursorPattern)
}

// numberedCursor is a cursor of objects with numbers.
type numberedCursor string

// Schema implements [huma.SchemaProvider].
func (numberedCursor) Schema(huma.Registry) *huma.Schema {
	return cursorSchema(store.NumberedCursorPattern)
}

// cursorSchema returns the schema for cursors matching pattern. An empty cursor selects the first page.
func cursorSchema(pattern string) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Pattern: "^$|" + pattern, PatternDescription: "next_cursor of the page before",
	}
}

// decimal is the schema for exact amounts and scores.
type decimal float64

// operand is the schema for deal breaker values.
type operand struct{}

// Schema implements [huma.SchemaProvider].
func (operand) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeInteger, Minimum: new(float64)}, r.Schema(reflect.TypeFor[Purpose](), true, ""),
	}}
}

// alias gives the types that write their own JSON their schemas.
func alias(registry huma.Registry) {
	registry.RegisterTypeAlias(reflect.TypeFor[terms.Terms](), reflect.TypeFor[Terms]())
	registry.RegisterTypeAlias(reflect.TypeFor[terms.Purpose](), reflect.TypeFor[Purpose]())
	// A purpose is a byte in Go, and huma would describe a list of bytes as a base64 string.
	registry.RegisterTypeAlias(reflect.TypeFor[[]terms.Purpose](), reflect.TypeFor[[]Purpose]())
	registry.RegisterTypeAlias(reflect.TypeFor[engine.LeaveReason](), reflect.TypeFor[leaveReason]())
	registry.RegisterTypeAlias(reflect.TypeFor[engine.ReasonCode](), reflect.TypeFor[reasonCode]())
	registry.RegisterTypeAlias(reflect.TypeFor[engine.SelectionStatus](), reflect.TypeFor[selectionStatus]())
	registry.RegisterTypeAlias(reflect.TypeFor[terms.Decimal](), reflect.TypeFor[decimal]())
	registry.RegisterTypeAlias(reflect.TypeFor[engine.Operand](), reflect.TypeFor[operand]())
}

// raw is an undecoded request document of type T. huma validates it by the schema.
type raw[T any] struct{ text []byte }

// UnmarshalJSON keeps the JSON unchanged.
func (r *raw[T]) UnmarshalJSON(text []byte) error {
	r.text = bytes.Clone(text)
	return nil
}

// Schema implements [huma.SchemaProvider].
func (raw[T]) Schema(r huma.Registry) *huma.Schema { return r.Schema(reflect.TypeFor[T](), true, "") }

// Body is a request document of type T, which is read strictly. An input embeds it, so that huma finds the
// field Body, and add decodes the document into sent before it calls the operation.
type Body[T any] struct {
	raw[T]
	sent T
}

// read decodes the document, if any.
func (b *Body[T]) read() error {
	if b == nil {
		return nil
	}
	if err := strictjson.Decode(b.text, MaxBody, &b.sent); err != nil {
		return &service.Error{Kind: service.Invalid, Code: string(service.Invalid), Detail: err.Error()}
	}
	return nil
}

// NewStrategy is the schema for strategies sent by publishers.
type NewStrategy struct{ engine.Strategy }

// TransformSchema implements [huma.SchemaTransformer]: other fields have defaults.
func (NewStrategy) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = []string{
		"min_price_per_fetch_micro", "preferred_price_per_fetch_micro", "max_price_per_fetch_micro",
	}
	describeStrategy(s)
	s.Properties["approval_above_micro"].Default = engine.DefaultApprovalAbove
	return s
}

// StrategyChange is the schema for strategy changes.
type StrategyChange struct{ engine.Strategy }

// TransformSchema implements [huma.SchemaTransformer]: missing fields do not change.
func (StrategyChange) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = nil
	describeStrategy(s)
	return s
}

// describeStrategy adds the limits of single fields. Package engine checks them, too, and the relations
// between fields.
func describeStrategy(s *huma.Schema) {
	most := map[string]float64{
		"published_floor_micro": terms.MaxPrice, "min_price_per_fetch_micro": terms.MaxPrice,
		"preferred_price_per_fetch_micro": terms.MaxPrice, "max_price_per_fetch_micro": terms.MaxPrice,
		"min_token_ttl_seconds": terms.MaxTTLSeconds, "preferred_token_ttl_seconds": terms.MaxTTLSeconds,
		"max_token_ttl_seconds": terms.MaxTTLSeconds, "min_burst_rps": terms.MaxRPS,
		"preferred_burst_rps": terms.MaxRPS, "max_burst_rps": terms.MaxRPS,
		"approval_above_micro": engine.MaxApprovalAbove,
	}
	for name, value := range most {
		s.Properties[name].Maximum = &value
	}
	s.Properties["approval_above_micro"].Description = "The publisher must approve each agreement whose prepaid " +
		"fetches together, or whose fetch without prepaid ones, cost more micro units of the currency. No value turns " +
		"this off"
	s.Properties["negotiation_style"].Enum = oneOf(engine.Styles()).Enum
	s.Properties["currency"].Pattern = "^[A-Z][A-Z0-9]{2,11}$"
	for _, name := range []string{"allowed_purposes", "preferred_purposes"} {
		unique(s.Properties[name])
	}
	one := 1
	s.Properties["allowed_purposes"].MinItems = &one
	s.Properties["strategy_name"].MinLength = &one
}
