package rest

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

func (a *api) addStrategies() {
	add(a, http.MethodPost, "/api/strategies", "create-strategy", "Create a strategy or its next version",
		http.StatusCreated, func(ctx context.Context, caller identity.Caller, in *struct {
			Keyed
			Body raw[NewStrategy]
		}) (service.Strategy, error) {
			return a.Service.CreateStrategy(ctx, caller, in.Body.text, in.Key)
		})
	add(a, http.MethodGet, "/api/strategies", "list-strategies", "List all versions of a publisher's strategies",
		http.StatusOK, func(ctx context.Context, caller identity.Caller, in *struct {
			NumberedPage
			Publisher int64 `query:"publisher_id" minimum:"1"`
		}) (store.List[service.Strategy], error) {
			return a.Service.Strategies(ctx, caller, in.Publisher, in.NumberedPage.page())
		})
	add(a, http.MethodGet, "/api/strategies/{id}", "get-strategy", "Read a version of a strategy",
		http.StatusOK, func(ctx context.Context, caller identity.Caller, in *ByNumber) (service.Strategy, error) {
			return a.Service.Strategy(ctx, caller, in.ID)
		})
	add(a, http.MethodPatch, "/api/strategies/{id}", "update-strategy", "Add a version with changed fields",
		http.StatusOK, func(ctx context.Context, caller identity.Caller, in *struct {
			ByNumber
			Body raw[StrategyChange]
		}) (service.Strategy, error) {
			return a.Service.UpdateStrategy(ctx, caller, in.ID, in.Body.text)
		})
	add(a, http.MethodDelete, "/api/strategies/{id}", "delete-strategy",
		"Delete a version that is not active and with which no negotiation began", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *ByNumber) (service.Strategy, error) {
			return a.Service.DeleteStrategy(ctx, caller, in.ID)
		})
	add(a, http.MethodGet, "/api/publishers/{id}/schedule", "get-schedule",
		"Show which strategy new negotiations use at a time, and why", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *struct {
			ByNumber
			At time.Time `query:"at" doc:"The default is now"`
		}) (service.Schedule, error) {
			return a.Service.Schedule(ctx, caller, in.ID, in.At)
		})
	add(a, http.MethodGet, "/api/publishers/{id}/strategy", "get-public-strategy",
		"Read the public facts of a publisher's strategy", http.StatusOK,
		func(ctx context.Context, _ identity.Caller, in *ByNumber) (engine.PublicFacts, error) {
			p, err := a.Service.Publisher(ctx, in.ID)
			if err != nil {
				return engine.PublicFacts{}, err
			}
			return a.Service.PublicStrategy(ctx, p.Hostname)
		})
}

type publisherBody struct {
	Hostname   hostname  `json:"hostname"`
	Name       printable `json:"name"`
	Currency   string    `json:"currency" required:"false" default:"USD" pattern:"^[A-Z][A-Z0-9]{2,11}$"`
	FloorMicro int64     `json:"published_floor_micro" required:"false" minimum:"0" maximum:"1000000000"`
}

type clientBody struct {
	Name      printable `json:"client_name"`
	PublicKey publicKey `json:"public_key" required:"false" doc:"Ed25519 key in base64url"`
	Agent     string    `json:"signature_agent" required:"false" maxLength:"253" doc:"Origin of Web Bot Auth"`
}

// newKey is an API key including the secret, which is shown once.
type newKey struct {
	service.Key
	Text string `json:"api_key" doc:"Shown once"`
}

// rotatedKey is returned by a rotation.
type rotatedKey struct {
	service.Key
	Text     string      `json:"api_key" doc:"Shown once"`
	Replaced service.Key `json:"replaced" doc:"The old key, with its end"`
}

type rotationBody struct {
	OverlapSeconds *int64 `json:"overlap_seconds,omitempty" minimum:"0" maximum:"2592000" default:"86400"`
}

type keyBody struct {
	PublisherID int64     `json:"publisher_id" required:"false" minimum:"1"`
	ClientID    int64     `json:"client_id" required:"false" minimum:"1"`
	Name        printable `json:"name"`
	Scopes      []string  `json:"scopes" required:"false" minItems:"1" maxItems:"20" nullable:"false"`
	ExpiresAt   time.Time `json:"expires_at" required:"false"`
}

func (a *api) addRegistrations() {
	add(a, http.MethodGet, "/api/publishers", "list-publishers", "List the publishers that accept negotiations",
		http.StatusOK, func(ctx context.Context, _ identity.Caller, in *struct {
			NumberedPage
			Hostname string `query:"hostname" maxLength:"253" doc:"Only the publisher with the hostname"`
		}) (store.List[store.Publisher], error) {
			if in.Hostname == "" {
				return a.Service.Publishers(ctx, in.page())
			}
			found := store.List[store.Publisher]{Items: []store.Publisher{}}
			p, err := a.Service.PublisherByHostname(ctx, in.Hostname)
			var known *service.Error
			switch {
			case errors.As(err, &known) && known.Kind == service.NotFound:
				return found, nil
			case err != nil:
				return found, err
			}
			found.Items = append(found.Items, p)
			return found, nil
		})
	add(a, http.MethodPost, "/api/publishers", "create-publisher", "Register a publisher", http.StatusCreated,
		func(ctx context.Context, caller identity.Caller, in *struct {
			Keyed
			Body[publisherBody]
		}) (store.Publisher, error) {
			return a.Service.CreatePublisher(ctx, caller, store.Publisher{
				Hostname: string(in.sent.Hostname), Name: string(in.sent.Name),
				Currency: cmp.Or(in.sent.Currency, "USD"), FloorMicro: in.sent.FloorMicro, Active: true,
			}, in.Key)
		})
	add(a, http.MethodGet, "/api/publishers/{id}", "get-publisher", "Read a publisher", http.StatusOK,
		func(ctx context.Context, _ identity.Caller, in *ByNumber) (store.Publisher, error) {
			return a.Service.Publisher(ctx, in.ID)
		})
	add(a, http.MethodPatch, "/api/publishers/{id}", "update-publisher", "Change a publisher", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *struct {
			ByNumber
			Body[PublisherChange]
		}) (store.Publisher, error) {
			return a.Service.UpdatePublisher(ctx, caller, in.ID, in.sent.PublisherChange)
		})
	add(a, http.MethodGet, "/api/clients", "list-clients", "List the clients", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *NumberedPage) (store.List[service.Client], error) {
			return a.Service.Clients(ctx, caller, in.page())
		})
	add(a, http.MethodPost, "/api/clients", "register-client", "Register a client under its verified name",
		http.StatusCreated, func(ctx context.Context, caller identity.Caller, in *struct {
			Keyed
			Body[clientBody]
		}) (service.Client, error) {
			return a.Service.RegisterClient(ctx, caller, service.Client{
				Name: string(in.sent.Name), PublicKey: string(in.sent.PublicKey), Agent: in.sent.Agent,
				IdempotencyKey: in.Key,
			})
		})
	add(a, http.MethodGet, "/api/clients/{id}", "get-client", "Read a client", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *ByNumber) (service.Client, error) {
			return a.Service.Client(ctx, caller, in.ID)
		})
	add(a, http.MethodPatch, "/api/clients/{id}", "update-client",
		"Suspend or restore a client, or replace the public key with which it signs", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *struct {
			ByNumber
			Body[ClientChange]
		}) (service.Client, error) {
			return a.Service.UpdateClient(ctx, caller, in.ID, in.sent.ClientChange)
		})
	add(a, http.MethodDelete, "/api/clients/{id}/public-key", "revoke-public-key",
		"Revoke the public key with which a client signs", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *ByNumber) (service.Client, error) {
			return a.Service.RevokePublicKey(ctx, caller, in.ID)
		})
	a.addKeys()
}

func (a *api) addKeys() {
	add(a, http.MethodGet, "/api/keys", "list-keys", "List API keys of the caller, a publisher or a client",
		http.StatusOK, func(ctx context.Context, caller identity.Caller, in *struct {
			PageOf
			Publisher int64 `query:"publisher_id" minimum:"1"`
			Client    int64 `query:"client_id" minimum:"1"`
		}) (store.List[service.Key], error) {
			return a.Service.Keys(ctx, caller, in.Publisher, in.Client, in.PageOf.page())
		})
	add(a, http.MethodPost, "/api/keys", "create-key",
		"Create an API key; its text is shown once, and a repeated request gets the status 409",
		http.StatusCreated, func(ctx context.Context, caller identity.Caller, in *struct {
			Keyed
			Body[keyBody]
		}) (newKey, error) {
			text, key, err := a.Service.CreateKey(ctx, caller, service.KeyRequest{
				PublisherID: in.sent.PublisherID, ClientID: in.sent.ClientID, Name: string(in.sent.Name),
				Scopes: in.sent.Scopes, ExpiresAt: in.sent.ExpiresAt, IdempotencyKey: in.Key,
			})
			return newKey{key, text.Reveal()}, err
		})
	add(a, http.MethodPost, "/api/keys/{id}/rotate", "rotate-key",
		"Replace an API key; the new one is shown once, and the old one stays valid for a time", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *struct {
			ByUUID
			*Body[rotationBody]
		}) (rotatedKey, error) {
			overlap := service.DefaultOverlap
			if in.Body != nil && in.sent.OverlapSeconds != nil {
				overlap = time.Duration(*in.sent.OverlapSeconds) * time.Second
			}
			text, added, replaced, err := a.Service.RotateKey(ctx, caller, in.ID, overlap)
			return rotatedKey{added, text.Reveal(), replaced}, err
		})
	add(a, http.MethodDelete, "/api/keys/{id}", "revoke-key", "Revoke an API key", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *ByUUID) (service.Key, error) {
			return a.Service.RevokeKey(ctx, caller, in.ID)
		})
}
