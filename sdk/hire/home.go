package hire

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Home paths, relative to the origin.
const (
	InboxPath         = "/hire/inbox"
	EventsPath        = "/hire/events"
	ConversationsPath = "/hire/conversations"
	LogPath           = "/hire/log"
	// DeliveriesPath is followed by the delivery's SHA-256.
	DeliveriesPath = "/hire/deliveries/"
)

const (
	// MaxDelivery limits a delivery, in bytes.
	MaxDelivery = 8 << 20
	// maxPage limits a page of conversations, in bytes.
	maxPage = 2 << 20
	// maxLink limits an audit link, in bytes: a message as a JSON string, and a few short fields.
	maxLink = 2*MaxSize + 4096
	// transferLimit limits one attempt to transfer logs or deliveries.
	transferLimit = time.Minute
)

// ErrNoDelivery: the agent's conversations contain no such delivery.
var ErrNoDelivery = errors.New("hire: delivery not found")

// Home is an agent's connection to a home: the worker's server, which receives conversation messages and
// stores the logs. Messages come from other agents: verify them all, using a [Resolver].
//
// After transient errors, methods repeat their requests with growing pauses until the context ends. If the
// home refuses a request, the error is a [*Refusal] with the reason. Home is safe for concurrent use.
type Home struct {
	// Origin is the home's origin.
	Origin string
	// Agent is the agent's id. Key signs all requests.
	Agent string
	Key   ed25519.PrivateKey
	// Client sends all requests. If nil, the zero Client is used.
	Client *Client
	// Logger logs lost connections of Events. If nil, slog.Default is used.
	Logger *slog.Logger
}

// Send delivers a message to the home's inbox: see [Client.Send].
func (h *Home) Send(ctx context.Context, m *Message) error {
	if err := CheckOrigin(h.Origin); err != nil {
		return err
	}
	return clientOr(h.Client).Send(ctx, h.Origin+InboxPath, m)
}

// ConversationQuery selects conversations of the agent.
type ConversationQuery struct {
	// Open selects conversations expecting messages or contracts.
	Open bool
	// Session selects the conversation settled by this session on chain. Zero selects all conversations.
	Session uint64
	// After continues at the previous page's Next. Leave it empty for the first page.
	After string
}

// ConversationPage is a page of the agent's conversations.
type ConversationPage struct {
	// Latest numbers the agent's latest event. The states include all events up to it.
	Latest        uint64         `json:"latest"`
	Conversations []Conversation `json:"conversations"`
	// Next selects the following page. The last page leaves it empty.
	Next string `json:"next,omitzero"`
}

// Conversation describes a home's conversation.
type Conversation struct {
	// ID is the conversation id, unique together with the parties' ids.
	ID     string `json:"conversation_id"`
	Seeker string `json:"seeker"`
	Worker string `json:"worker"`
	// State is the home's view. The conversation's log proves it.
	State State `json:"state"`
}

// Conversations returns a page of the agent's conversations.
func (h *Home) Conversations(ctx context.Context, query ConversationQuery) (*ConversationPage, error) {
	values := url.Values{}
	if query.Open {
		values.Set("open", "true")
	}
	if query.Session != 0 {
		values.Set("session", strconv.FormatUint(query.Session, 10))
	}
	if query.After != "" {
		values.Set("after", query.After)
	}
	r := h.request("conversations", http.MethodGet, ConversationsPath, values)
	r.accept, r.limit = jsonType, maxPage
	data, err := h.repeat(ctx, r)
	if err != nil {
		return nil, err
	}
	page := new(ConversationPage)
	if err := json.Unmarshal(data, page); err != nil {
		// Value errors are Refusals, but the home did not refuse the request.
		return nil, fmt.Errorf("hire: %s: %v", r.to, err)
	}
	return page, nil
}

// Log is a conversation's log.
type Log struct {
	// Arrivals lists the messages in order.
	Arrivals []Arrival
}

// Arrival is a logged message.
type Arrival struct {
	Message *Message
	// At is the arrival time by the home's clock.
	At time.Time
	// Link is the audit chain link, as sent by the home.
	Link json.RawMessage
}

// Log fetches a conversation's log, given the seeker. It fails if an entry is missing or belongs to another
// conversation. It checks neither signatures nor hashes.
func (h *Home) Log(ctx context.Context, conversation, seeker string) (*Log, error) {
	r := h.request("log", http.MethodGet, LogPath, url.Values{"conversation_id": {conversation}, "seeker": {seeker}})
	r.accept, r.limit, r.time = "application/jsonl", MaxMessages*maxLink, transferLimit
	data, err := h.repeat(ctx, r)
	if err != nil {
		return nil, err
	}
	log, err := parseLog(data, conversation)
	if err != nil {
		return nil, fmt.Errorf("hire: %s: %v", r.to, err)
	}
	return log, nil
}

// parseLog reads audit links, one per line.
func parseLog(data []byte, conversation string) (*Log, error) {
	log := new(Log)
	for line := range bytes.Lines(data) {
		var link struct {
			Sequence int    `json:"sequence"`
			Text     string `json:"text"`
		}
		var entry struct {
			Time time.Time       `json:"time"`
			Data json.RawMessage `json:"data"`
		}
		number := len(log.Arrivals) + 1
		err := json.Unmarshal(line, &link)
		if err == nil {
			err = json.Unmarshal([]byte(link.Text), &entry)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", number, err)
		}
		m, err := Parse(entry.Data)
		switch {
		case err != nil:
			return nil, fmt.Errorf("entry %d: %w", number, err)
		case link.Sequence != number:
			return nil, fmt.Errorf("entry %d instead of %d", link.Sequence, number)
		case m.conversation != conversation:
			return nil, fmt.Errorf("entry %d: message of another conversation", number)
		}
		log.Arrivals = append(log.Arrivals, Arrival{m, entry.Time, bytes.TrimSpace(line)})
	}
	return log, nil
}

// PutDelivery stores the worker's result in a conversation, at most [MaxDelivery] bytes, and returns the
// content's SHA-256. The same content again changes nothing.
func (h *Home) PutDelivery(ctx context.Context, conversation, seeker string, content []byte) (Hash, error) {
	if len(content) > MaxDelivery {
		return "", fmt.Errorf("hire: delivery: %d bytes, at most %d", len(content), MaxDelivery)
	}
	hash := hashOf(content)
	r := h.request("deliveries", http.MethodPut, DeliveriesPath+string(hash),
		url.Values{"conversation_id": {conversation}, "seeker": {seeker}})
	r.body, r.bodyType, r.status, r.time = content, "application/octet-stream", http.StatusNoContent, transferLimit
	_, err := h.repeat(ctx, r)
	return hash, err
}

// Delivery returns the delivery with a SHA-256, after checking it. It returns [ErrNoDelivery] if the agent's
// conversations contain no such delivery. The content is untrusted.
func (h *Home) Delivery(ctx context.Context, hash Hash) ([]byte, error) {
	if !hashForm.MatchString(string(hash)) {
		return nil, errors.New("hire: delivery: hash must be 64 lower-case hexadecimal digits")
	}
	r := h.request("deliveries", http.MethodGet, DeliveriesPath+string(hash), nil)
	r.accept, r.limit, r.time, r.missing = "application/octet-stream", MaxDelivery, transferLimit, ErrNoDelivery
	content, err := h.repeat(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case hashOf(content) != hash:
		return nil, fmt.Errorf("hire: %s: other content than that of hash %s", r.to, hash)
	}
	return content, nil
}

// request returns a request that the agent signs.
func (h *Home) request(what, method, path string, query url.Values) request {
	values := url.Values{"agent": {h.Agent}}
	for name, value := range query {
		values[name] = value
	}
	return request{
		to: what + " at " + h.Origin, method: method, url: h.Origin + path + "?" + values.Encode(), key: h.Key,
		status: http.StatusOK, time: requestLimit,
	}
}

func (h *Home) check() error {
	if len(h.Key) != ed25519.PrivateKeySize {
		return errors.New("hire: home: key not set")
	}
	return CheckOrigin(h.Origin)
}

func (h *Home) repeat(ctx context.Context, r request) ([]byte, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	return clientOr(h.Client).repeat(ctx, r)
}
