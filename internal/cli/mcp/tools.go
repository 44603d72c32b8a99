package mcp

import (
	"context"
	"errors"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/flags"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// The names of the tools.
const (
	toolCreate  = "haggle_create"
	toolOffer   = "haggle_offer"
	toolAccept  = "haggle_accept"
	toolReject  = "haggle_reject"
	toolExpire  = "haggle_expire"
	toolClose   = "haggle_close"
	toolStatus  = "haggle_status"
	toolAwait   = "haggle_await_invitation"
	toolBudget  = "haggle_budget"
	toolSuggest = "haggle_suggest"
)

// addTools adds the tools to a server.
func (s *server) addTools(m *mcp.Server) {
	addSending(m, toolCreate, "Create a negotiation", "Escrows the highest price and invites a seller, as the "+
		"buyer. The seller has to accept the invitation before you make the first offer. \"costs\" has the costs of "+
		"deals after some numbers of offers, also in a dry run. Repeat it only with the same idempotency_key.", schemaOf[createArguments](), s.create)
	addSending(m, toolOffer, "Make an offer", "Makes an offer in a round. The buyer makes the first offer, "+
		"then both sides take turns. Each offer costs the escrow a share.", schemaOf[offerArguments](), s.offer)
	addSending(m, toolAccept, "Accept an invitation or an offer", "Accepts an invitation (as the seller, with "+
		"the service that you sell) or the other side's current offer (with the price and the round that you read). "+
		"An accepted offer is paid at once: it cannot be undone.", acceptSchema(), s.accept)
	addSending(m, toolReject, "End a negotiation", "Ends a negotiation without a deal. The escrow, less its "+
		"decay, goes back to the buyer.", schemaOf[rejectArguments](), s.reject)
	addSending(m, toolExpire, "End a negotiation after its deadline", "Ends a negotiation of this wallet whose "+
		"deadline has passed. The escrow, less its decay, goes back to the buyer, and a bond to the seller, less "+
		"its part for the delay.", schemaOf[endArguments](), s.expire)
	addSending(m, toolClose, "Close an ended negotiation", "Closes the accounts of a negotiation of this wallet "+
		"that is settled, rejected or expired. Their rent goes to the buyer, a claimable amount to its party, fee "+
		"and decay to the treasury. \"paid\" and \"rent_lamports\" have the amounts. Escrow and bond were paid "+
		"when it ended.", schemaOf[endArguments](), s.close)
	mcp.AddTool(m, &mcp.Tool{
		Name: toolStatus, Title: "Read a negotiation",
		Description: "Reads a negotiation with the history of its offers, or lists those of this wallet that are open, or " +
			"have ended and can be closed. With wait_seconds it waits for " +
			"the outcome of a pending transaction, and until it is your turn or the negotiation has ended.",
		Annotations:  &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(true)},
		OutputSchema: answerSchema(),
	}, waiting(s.status))
	mcp.AddTool(m, &mcp.Tool{
		Name: toolAwait, Title: "Wait for an invitation",
		Description: "Waits, as the seller, for a negotiation that names this wallet as its seller, from a buyer and " +
			"in a mint that the owner's policy allows. It returns at once if one is open: \"state\" has the one " +
			"with the earliest deadline, \"list\" the others. It sends progress notifications, and nothing on chain.",
		Annotations:  &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(true)},
		OutputSchema: answerSchema(),
	}, waiting(s.awaitInvitation))
	mcp.AddTool(m, &mcp.Tool{
		Name: toolBudget, Title: "Show money and limits",
		Description: "Shows the wallet's balances in SOL and tokens, and the owner's policy: its limits, their used " +
			"part, and the rest. Amounts are base units (lamports for SOL) and tokens. Read it before you create a " +
			"negotiation or make an offer.",
		Annotations:  &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(true)},
		OutputSchema: answerSchema(),
	}, handler(s.budget))
	mcp.AddTool(m, &mcp.Tool{
		Name: toolSuggest, Title: "Suggest a move",
		Description: "Suggests your next move in a negotiation by a bargaining strategy, and sends nothing: the move with " +
			"its price and reason; the limit, the target and the best price; the cost of the next offer; and the fit of the " +
			"other side's offers. Without reservation it uses the owner's limit.",
		Annotations:  &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(true)},
		OutputSchema: answerSchema(),
	}, handler(s.suggest))
}

// handler returns a tool's handler for the SDK.
func handler[In any](call func(context.Context, In) *Answer) mcp.ToolHandlerFor[In, *Answer] {
	return func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, *Answer, error) {
		return result(call(ctx, in))
	}
}

// addSending adds a tool that signs: it spends money, and a repetition spends none.
func addSending[In any](
	m *mcp.Server, name, title, description string, input *jsonschema.Schema,
	call func(context.Context, In) *Answer,
) {
	mcp.AddTool(m, &mcp.Tool{
		Name: name, Title: title, Description: description, InputSchema: input, OutputSchema: answerSchema(),
		Annotations: &mcp.ToolAnnotations{
			DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(true),
		},
	}, handler(call))
}

// answerSchema is the schema of Answer with the possible outcomes.
func answerSchema() *jsonschema.Schema {
	schema := schemaOf[Answer]()
	schema.Properties["outcome"].Enum = outcomes
	return schema
}

// The values of acceptArguments.What.
const (
	invitation = "invitation"
	offer      = "offer"
)

func acceptSchema() *jsonschema.Schema {
	schema := schemaOf[acceptArguments]()
	schema.Properties["what"].Enum = []any{invitation, offer}
	return schema
}

// schemaOf returns a package type's schema.
func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // the tests add all tools
	}
	return schema
}

type serviceArguments struct {
	Service     string `json:"service,omitempty" jsonschema:"description of the service, in your principal's words; only its SHA-256 leaves this machine"`
	ServiceHash string `json:"service_hash,omitempty" jsonschema:"instead of service: its SHA-256, in hex"`
}

// hash returns the arguments' service hash.
func (a serviceArguments) hash() ([32]byte, error) {
	switch {
	case a.Service != "" && a.ServiceHash != "":
		return [32]byte{}, invalid("service and service_hash exclude each other: set one of them")
	case a.Service != "":
		return protocol.ServiceHash(a.Service), nil
	case a.ServiceHash != "":
		return flags.ParseHash("service_hash", a.ServiceHash)
	}
	return [32]byte{}, invalid("service not set: set service or service_hash")
}

type createArguments struct {
	Seller string `json:"seller" jsonschema:"address of the invited seller"`
	Mint   string `json:"mint" jsonschema:"mint of the payment"`
	Escrow string `json:"escrow" jsonschema:"deposit, the highest possible price: 5 for tokens or 5000000u for base units"`
	serviceArguments
	Rounds          uint8   `json:"rounds,omitempty" jsonschema:"number of offers of both sides together, 1 to 20; default 10. With an even number the seller makes the last offer"`
	DecayBps        *uint16 `json:"decay_bps,omitempty" jsonschema:"share of the escrow that each offer costs, in basis points, 0 to 1000; default 200"`
	DeadlineSeconds int64   `json:"deadline_seconds,omitempty" jsonschema:"time until the negotiation ends, 60 to 86400; default 1800"`
	WindowSeconds   int64   `json:"response_window_seconds,omitempty" jsonschema:"time to answer, 60 to 3600; default 300"`
	DryRun          bool    `json:"dry_run,omitempty" jsonschema:"simulate and check the policy only: sign and send nothing"`
	Key             string  `json:"idempotency_key" jsonschema:"name of the purchase, such as an order's number; the same key creates one negotiation, also after a restart"`
}

func (s *server) create(ctx context.Context, in createArguments) *Answer {
	call := sendingArguments{in.DryRun, in.Key}
	in.DryRun = false
	return s.send(ctx, toolCreate, call, solana.PublicKey{}, in, func(ctx context.Context) (plan, error) {
		request, err := s.creation(ctx, in)
		if err != nil {
			return plan{}, err
		}
		planned := plan{
			action: s.Client.CreateNegotiation(request),
			repeated: func(ctx context.Context, address solana.PublicKey) error {
				return s.sameCreation(ctx, &request, address)
			},
		}
		if _, err = planned.action.Build(ctx); err != nil {
			return planned, err
		}
		m, err := s.mint(ctx, request.Mint)
		if err != nil {
			return plan{}, err
		}
		planned.costs = costsOf(&planned.action.Creation.Params, m)
		return planned, nil
	})
}

// creation returns the request to create a negotiation.
func (s *server) creation(ctx context.Context, in createArguments) (haggle.CreateRequest, error) {
	request := haggle.CreateRequest{
		Buyer: s.me(), MaxRounds: in.Rounds, DecayRateBps: in.DecayBps, Key: in.Key,
		ResponseWindow: time.Duration(in.WindowSeconds) * time.Second,
		Deadline:       time.Duration(in.DeadlineSeconds) * time.Second,
	}
	if in.Key == "" {
		return request, invalid("idempotency_key not set: name the purchase")
	}
	if in.DeadlineSeconds == 0 {
		request.Deadline = defaultDeadline
	}
	for _, given := range []struct {
		name               string
		value, least, most int64
		omitted            bool
	}{
		{"rounds", int64(in.Rounds), int64(protocol.MinRounds), int64(protocol.MaxRounds), in.Rounds == 0},
		{"deadline_seconds", in.DeadlineSeconds, protocol.MinDeadlineSeconds, protocol.MaxDeadlineSeconds,
			in.DeadlineSeconds == 0},
		{"response_window_seconds", in.WindowSeconds, protocol.MinResponseWindow, protocol.MaxResponseWindow,
			in.WindowSeconds == 0},
	} {
		if !given.omitted && (given.value < given.least || given.value > given.most) {
			return request, invalid("%s %d: must be %d to %d", given.name, given.value, given.least, given.most)
		}
	}
	if in.DecayBps != nil && *in.DecayBps > protocol.MaxDecayRateBps {
		return request, invalid("decay_bps %d: must be 0 to %d", *in.DecayBps, protocol.MaxDecayRateBps)
	}
	var err error
	if request.ServiceHash, err = in.hash(); err != nil {
		return request, err
	}
	if request.Seller, err = address("seller", in.Seller); err != nil {
		return request, err
	}
	if request.Seller == s.me() {
		return request, invalid("seller: must differ from this wallet, %s", s.me())
	}
	if request.Mint, err = address("mint", in.Mint); err != nil {
		return request, err
	}
	read, err := s.pinned(ctx, request.Mint)
	if err != nil {
		return request, err
	}
	request.Decimals = read.Decimals
	if request.EscrowAmount, err = s.units(ctx, request.Mint, "escrow", in.Escrow); err != nil {
		return request, err
	}
	if request.EscrowAmount < protocol.MinEscrowLamports {
		return request, invalid("escrow %s: must be at least %d base units", in.Escrow, protocol.MinEscrowLamports)
	}
	return request, nil
}

// defaultDeadline is the time until a negotiation ends if the caller does not set one: half an hour, as in
// the command line.
const defaultDeadline = 30 * time.Minute

// sameCreation returns an error if the negotiation found by a repeated creation has other terms.
func (s *server) sameCreation(
	ctx context.Context, request *haggle.CreateRequest, address solana.PublicKey,
) error {
	err := s.Client.CheckRepetition(ctx, *request, address)
	if !errors.Is(err, haggle.ErrNotAsExpected) {
		return err
	}
	return unexpected("negotiation %s was created before with this idempotency_key, on other terms", address)
}

// units converts an amount to the mint's base units.
func (s *server) units(ctx context.Context, mint solana.PublicKey, name, written string) (uint64, error) {
	text, err := amount.Parse(written)
	if err != nil {
		return 0, invalid("%s: %w", name, err)
	}
	read, err := s.pinned(ctx, mint)
	if err != nil {
		return 0, err
	}
	units, err := text.In(read.Decimals)
	if err != nil {
		return 0, invalid("%s: %w", name, err)
	}
	return units, nil
}

func address(name, written string) (solana.PublicKey, error) {
	key, err := connection.ParseAddress(written)
	if err != nil {
		return key, invalid("%s: %w", name, err)
	}
	return key, nil
}
