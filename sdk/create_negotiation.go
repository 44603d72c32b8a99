package haggle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/optional"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// defaultDeadline is the time that a negotiation may take if its creator does not set one.
const defaultDeadline = time.Hour

// CreateRequest has the terms on which a buyer invites a seller. Defaults are the constants of package
// protocol: the protocol's configuration, which a node could report wrongly, sets no term.
type CreateRequest struct {
	// Buyer signs, deposits the escrow and pays the rent, which comes back when the negotiation is closed.
	Buyer solana.PublicKey
	// Seller is the invited party; not the buyer.
	Seller solana.PublicKey
	// Mint is a mint of SPL Token or Token-2022, of the latter one whose extensions do not affect transfers:
	// see [token.Mint.Check].
	Mint solana.PublicKey
	// Decimals are the decimals with which the caller has computed the amounts of the request: a token is ten
	// to this power of base units. The program refuses other decimals than the mint's. They are required: if
	// zero, only a mint without decimals is accepted. Do not copy them from a node: see [Client.GetMint].
	Decimals uint8
	// EscrowAmount is the deposit and the highest possible price, in base units of the mint, at least
	// 100,000.
	EscrowAmount uint64
	// ServiceHash commits to the purchased service: see ServiceHash, the function.
	ServiceHash [32]byte
	// Key names the purchase: an order number, or another value that survives a crash of the caller. The
	// session id is derived from it, and a creation with the same key, buyer and seller is not executed
	// twice: it returns [*AlreadyDone] if the client has a journal, otherwise [*SessionUsedError]. If Key and
	// SessionID are empty, the session id is random, and with a journal only a creation on the same terms
	// whose caller has not received its outcome counts as the same. If one on the same terms has expired within
	// a day, its session id is used again, so that the chain executes only one of them.
	Key string
	// SessionID distinguishes this pair's negotiations, instead of Key.
	SessionID *uint64
	// MaxRounds is the most offers that can be made, 1 to 20. If zero, [protocol.DefaultMaxRounds] is used.
	MaxRounds uint8
	// DecayRateBps is the share of the escrow that each offer costs, 0 to 1,000 basis points. If nil,
	// [protocol.DefaultDecayRateBps] is used.
	DecayRateBps *uint16
	// ResponseWindow is the time to answer, 1 minute to 1 hour, rounded up to seconds. If zero,
	// [protocol.DefaultResponseWindow] is used.
	ResponseWindow time.Duration
	// Deadline is the time after which the negotiation expires at the latest, 1 minute to 24 hours from the
	// chain's present, rounded up to seconds. If zero, one hour is used. A deadline close to the
	// minimum is extended by a few seconds, which pass before the transaction is executed.
	Deadline time.Duration
	// MinOfferBps is the least offer, 100 to 9,000 basis points of the effective escrow. If zero, 1,000 is
	// used.
	MinOfferBps uint16
	// Bond is the deposit that the seller has to make to take part, in base units of the mint; it comes back
	// at the end, unless it is forfeited. If zero, no bond is required.
	Bond uint64
	// Zopa makes both parties compare their reservation prices under seal before they make offers: see
	// [protocol.SealPrice]. It requires a Bond.
	Zopa bool
	// Milestones are the tranches of the price. If nil, the price is paid at once.
	Milestones *Milestones
	// MaxFeeBps is the highest protocol fee that the buyer agrees to, 0 to 500 basis points of the price. If
	// nil, it is the fee in the configuration that the action is built on, which must not exceed
	// [protocol.DefaultProtocolFeeBps]: the build of the action returns [protocol.ErrStaleState] then. The
	// program returns this error if the fee is above the limit when the transaction is executed.
	MaxFeeBps *uint16
	// Metadata is structured: all zeros, Terms.Metadata or TermsDocument.Metadata.
	Metadata [64]byte
	// Deposit is the source of the escrow. If zero, it is the buyer's associated token account.
	Deposit Deposit
}

// Milestones are the tranches in which a price is paid.
type Milestones struct {
	// Arbiter decides disputes; it is not a party.
	Arbiter solana.PublicKey
	// Shares are the tranches' parts of the price, 1 to 8 of them, in basis points: each at least 1, together
	// 10,000.
	Shares []uint16
	// ReviewHours is the time in which the buyer can release or dispute a claimed milestone, 1 to 168 hours.
	// If zero, DefaultReviewHours is used.
	ReviewHours uint8
	// Delivery is the time that the seller has for delivering everything, from the chain's present, rounded
	// up to seconds; at least the negotiation's own Deadline. Unclaimed milestones go back to the buyer after
	// that time and the reviews of all milestones, one after the other: see
	// [protocol.EarliestMilestoneDeadline]. Together that is at most 365 days. If zero, 30 days
	// are used.
	Delivery time.Duration
}

// defaultDelivery is the time for delivering everything if the creator of a negotiation does not set one.
const defaultDelivery = 30 * 24 * time.Hour

// CreateNegotiation invites a seller and deposits the escrow. The action has its session id and its address when
// it is built ([Action.Build]).
//
// With a Key, or with a journal ([Config].Journal), a repeated creation does not deposit the escrow a second
// time: see [CreateRequest].Key.
//
// It fails with [*SessionUsedError] for a session id that the pair has used before, with
// [*token.InsufficientFunds], with [protocol.ErrAccountNotFound] for a buyer without the token account, with
// [token.ErrCPIGuard] for one from which nothing can be deposited, with [*token.UnsupportedMint], and with
// [*token.DecimalsError] for decimals other than the mint's.
// Warnings has an [ErrOffCurve] for each party whose address is not a wallet's. The program answers
// [protocol.ErrInvalidParams] to terms out of their ranges, [protocol.ErrPaused], or [protocol.ErrStaleState]
// to a fee above MaxFeeBps. On a cluster without p-token the action fails with [ErrTokenProgramTooOld], and
// deposits nothing.
func (c *Client) CreateNegotiation(request CreateRequest) *Action {
	return (&Negotiation{client: c}).action(&createNegotiation{request: request})
}

// createNegotiation has an instruction after it is built; before, it is nil.
type createNegotiation struct {
	*protocol.CreateNegotiation
	request CreateRequest
}

func (n createNegotiation) build(ctx context.Context, action *Action) (*builtInstruction, error) {
	c, request := action.client, n.request
	if err := request.Milestones.check(cmp.Or(request.Deadline, defaultDeadline)); err != nil {
		return nil, err
	}
	mint, err := c.GetMint(ctx, request.Mint)
	if err == nil {
		err = mint.Check()
	}
	if err == nil {
		err = checkDecimals(mint, request.Decimals)
	}
	if err != nil {
		return nil, fmt.Errorf("mint: %w", err)
	}
	config, err := c.GetConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("protocol configuration: %w", err)
	}
	now, err := c.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("chain's clock: %w", err)
	}
	// A buyer that repeats a purchase under the same session id may no longer have the escrow amount, or the
	// fee may have risen. It must receive the error of a repetition instead.
	maxFee, feeErr := request.maxFee(config.DefaultProtocolFeeBps)
	params := request.params(maxFee, now)
	intent := request.intent(params)
	sessionID, negotiation, err := c.freeSession(ctx, request, intent)
	if err != nil {
		return nil, err
	}
	from, wrapping, err := c.depositOf(ctx, request.Deposit, request.Buyer, mint, request.EscrowAmount)
	if err != nil {
		err = fmt.Errorf("buyer's token account: %w", err)
	}
	if err = cmp.Or(feeErr, err); err != nil {
		if done := c.createdBefore(ctx, request.Buyer, negotiation); done != nil {
			return nil, done
		}
		return nil, err
	}
	vault, _, err := protocol.FindVaultAddress(negotiation)
	if err != nil {
		return nil, err
	}
	creation := &protocol.CreateNegotiation{
		Buyer:             request.Buyer,
		Seller:            request.Seller,
		Negotiation:       negotiation,
		EscrowVault:       vault,
		BuyerTokenAccount: from,
		TokenMint:         request.Mint,
		TokenProgram:      mint.TokenProgram,
		Config:            config.Address,
		SessionID:         sessionID,
		Params:            params,
	}
	return &builtInstruction{
		payer: request.Buyer, instruction: creation, preparation: wrapping,
		warnings: partyWarnings(request.Buyer, request.Seller), creation: creation, intent: intent,
	}, nil
}

// The time of the creation does not matter.
func (n createNegotiation) postcondition(_, now *Snapshot) bool {
	params := &n.Params
	return now.Buyer == n.Buyer && now.Seller == n.Seller && now.SessionID == n.SessionID &&
		now.TokenMint == n.TokenMint && now.EscrowAmount == params.EscrowAmount &&
		now.ServiceHash == params.ServiceHash && now.MaxRounds == params.MaxRounds &&
		now.DecayRateBps == params.DecayRateBps && now.ResponseWindow == params.ResponseWindow &&
		now.MinOfferBps == params.MinOfferBps && now.ZopaEnabled == params.ZopaEnabled &&
		now.BondRequired == params.BondRequired && now.Arbiter == params.Arbiter &&
		now.MilestoneBps == params.MilestoneBps && now.ReviewHours == params.ReviewHours
}

// check refuses milestones whose deadline cannot be computed. m may be nil.
func (m *Milestones) check(deadline time.Duration) error {
	const action = "create_negotiation"
	switch {
	case m == nil:
		return nil
	case len(m.Shares) > int(protocol.MaxMilestones):
		return protocol.Refuse(action, protocol.ErrInvalidParams, "%d milestones, at most %d", len(m.Shares),
			protocol.MaxMilestones)
	case m.Delivery != 0 && m.Delivery < deadline:
		return protocol.Refuse(action, protocol.ErrInvalidParams,
			"delivery after %s, before the negotiation's deadline after %s", m.Delivery, deadline)
	}
	return nil
}

// intent returns the same hash for each creation on the same terms, each time it is built: it covers no term
// that is random, follows from the time, or is the fee at that time.
func (r *CreateRequest) intent(params protocol.NegotiationParams) solana.Hash {
	params.GlobalDeadline, params.MilestoneDeadline = int64(r.Deadline), 0
	params.MaxFeeBps = optional.Or(r.MaxFeeBps, math.MaxUint16)
	if r.Milestones != nil {
		params.MilestoneDeadline = int64(r.Milestones.Delivery)
	}
	terms := protocol.CreateNegotiation{Params: params, SessionID: optional.Or(r.SessionID, 0)}
	named := []byte{0}
	if r.SessionID != nil {
		named[0] = 1
	}
	return intentOf(r.Buyer, terms.InstructionName(), r.Seller[:], r.Mint[:], named, []byte(r.Key),
		terms.AppendData(nil))
}

// executionSlack is the number of seconds that may pass between reading the chain's clock and the
// transaction's execution.
const executionSlack = 5

// maxFee returns the highest fee that the buyer agrees to. fee is the one in the configuration, as a node
// reports it. Only the caller can agree to a higher fee than [protocol.DefaultProtocolFeeBps].
func (r *CreateRequest) maxFee(fee uint16) (uint16, error) {
	switch {
	case r.MaxFeeBps != nil:
		return *r.MaxFeeBps, nil
	case fee > protocol.DefaultProtocolFeeBps:
		return 0, protocol.Refuse("create_negotiation", protocol.ErrStaleState,
			"the protocol fee is %d basis points, above the default of %d: set CreateRequest.MaxFeeBps to agree to it",
			fee, protocol.DefaultProtocolFeeBps)
	}
	return fee, nil
}

func (r *CreateRequest) params(maxFee uint16, now int64) protocol.NegotiationParams {
	deadline := optional.Seconds(r.Deadline, int64(defaultDeadline/time.Second))
	if deadline >= protocol.MinDeadlineSeconds {
		deadline = max(deadline, protocol.MinDeadlineSeconds+executionSlack)
	}
	params := protocol.NegotiationParams{
		EscrowAmount:   r.EscrowAmount,
		ServiceHash:    r.ServiceHash,
		MaxRounds:      cmp.Or(r.MaxRounds, protocol.DefaultMaxRounds),
		DecayRateBps:   optional.Or(r.DecayRateBps, protocol.DefaultDecayRateBps),
		ResponseWindow: optional.Seconds(r.ResponseWindow, protocol.DefaultResponseWindow),
		GlobalDeadline: now + deadline,
		MinOfferBps:    cmp.Or(r.MinOfferBps, protocol.DefaultMinOfferBps),
		ZopaEnabled:    r.Zopa,
		BondRequired:   r.Bond,
		Metadata:       r.Metadata,
		MaxFeeBps:      maxFee,
		Decimals:       r.Decimals,
	}
	if m := r.Milestones; m != nil {
		params.Arbiter = m.Arbiter
		copy(params.MilestoneBps[:], m.Shares)
		params.ReviewHours = cmp.Or(m.ReviewHours, protocol.DefaultReviewHours)
		delivered := now + max(optional.Seconds(m.Delivery, int64(defaultDelivery/time.Second)), deadline)
		params.MilestoneDeadline = protocol.EarliestMilestoneDeadline(delivered, uint8(len(m.Shares)),
			params.ReviewHours)
	}
	return params
}

// checkDecimals returns a [*token.DecimalsError] if the caller's decimals are not the mint's, as the program
// does before it moves anything.
func checkDecimals(mint *token.Mint, decimals uint8) error {
	if mint.Decimals == decimals {
		return nil
	}
	return &token.DecimalsError{Mint: mint.Address, Source: "the caller", Decimals: decimals,
		Reference: "the node", Expected: mint.Decimals}
}

// depositAccount returns the token account that an owner's deposit comes from: the named one, otherwise the
// associated one. It must hold enough, and its CPI guard must be off.
func (c *Client) depositAccount(
	ctx context.Context, named, owner solana.PublicKey, mint *token.Mint, amount uint64,
) (solana.PublicKey, error) {
	address, err := accountOrAssociated(named, owner, mint)
	if err != nil {
		return solana.PublicKey{}, err
	}
	account, err := c.GetTokenAccount(ctx, address)
	if err != nil {
		return solana.PublicKey{}, err
	}
	if account.Amount < amount {
		return solana.PublicKey{}, &token.InsufficientFunds{Account: address, Mint: mint.Address,
			Have: account.Amount, Need: amount}
	}
	// A delegate can deposit from another's account despite the guard.
	if account.CPIGuarded && account.Owner == owner {
		return solana.PublicKey{}, &protocol.AccountError{Address: address, Err: token.ErrCPIGuard}
	}
	return address, nil
}

// freeSession returns a session id with its address: the requested one, the one of an earlier creation that
// this one repeats, or a random one.
func (c *Client) freeSession(
	ctx context.Context, request CreateRequest, intent solana.Hash,
) (uint64, solana.PublicKey, error) {
	c.syncSlot(ctx)
	switch {
	case request.SessionID != nil:
		return c.namedSession(ctx, &request, *request.SessionID)
	case request.Key != "":
		return c.namedSession(ctx, &request, SessionIDFor(request.Key))
	}
	sessionID, repeated, err := c.repeatedSession(ctx, request.Buyer, intent)
	if err != nil {
		return 0, solana.PublicKey{}, err
	}
	if repeated {
		return c.namedSession(ctx, &request, sessionID)
	}
	for range sessionAttempts {
		sessionID, negotiation, err := cheapSession(request.Buyer, request.Seller)
		if err != nil {
			return 0, solana.PublicKey{}, err
		}
		if used, err := c.hasHistory(ctx, negotiation); err != nil || !used {
			return sessionID, negotiation, err
		}
	}
	return 0, solana.PublicKey{}, errors.New("haggle: no free session id found")
}

// namedSession returns a session that is not random. If it has been used, and the journal has its creation,
// the action itself resolves the outcome.
func (c *Client) namedSession(
	ctx context.Context, request *CreateRequest, sessionID uint64,
) (uint64, solana.PublicKey, error) {
	negotiation, _, err := protocol.FindNegotiationAddress(request.Buyer, request.Seller, sessionID)
	if err != nil {
		return 0, solana.PublicKey{}, err
	}
	used, err := c.hasHistory(ctx, negotiation)
	if err != nil || !used {
		return sessionID, negotiation, err
	}
	if known, err := c.knowsCreation(ctx, request.Buyer, negotiation); known || err != nil {
		return sessionID, negotiation, err
	}
	return 0, solana.PublicKey{}, &SessionUsedError{SessionID: sessionID, Negotiation: negotiation}
}

const (
	// sessionAttempts is the number of random session ids that are looked up. Even two used ones would be a
	// coincidence.
	sessionAttempts = 8
	// bumpAttempts is the number of session ids that are tried to save compute units: one in four is
	// cheapest.
	bumpAttempts = 32
	// firstBump is the bump that a search for a PDA begins with.
	firstBump = 255
)

// cheapSession returns a random session id for which the program finds both addresses at the first bump, if
// possible: every further bump costs 1,500 compute units.
func cheapSession(
	buyer, seller solana.PublicKey,
) (sessionID uint64, negotiation solana.PublicKey, err error) {
	for range bumpAttempts {
		sessionID = randomSessionID()
		var bump, vaultBump uint8
		if negotiation, bump, err = protocol.FindNegotiationAddress(buyer, seller, sessionID); err != nil {
			return 0, solana.PublicKey{}, err
		}
		if _, vaultBump, err = protocol.FindVaultAddress(negotiation); err != nil {
			return 0, solana.PublicKey{}, err
		}
		if bump == firstBump && vaultBump == firstBump {
			break
		}
	}
	return sessionID, negotiation, nil
}

// SessionIDFor returns the session id, below 2^53, of a creation with this [CreateRequest].Key.
func SessionIDFor(name string) uint64 {
	hash := sha256.Sum256([]byte("haggle-session:" + name))
	return binary.LittleEndian.Uint64(hash[:]) >> 11
}

// SessionUsedError is the error of a session id that a pair has used before, even if no account of it is left
// on chain. errors.Is finds [ErrSessionUsed].
type SessionUsedError struct {
	// SessionID is the requested session id.
	SessionID uint64
	// Negotiation is the address that it leads to.
	Negotiation solana.PublicKey
}

func (e *SessionUsedError) Error() string {
	return fmt.Sprintf("%v: %d, negotiation %s", ErrSessionUsed, e.SessionID, e.Negotiation)
}

// Unwrap returns ErrSessionUsed.
func (e *SessionUsedError) Unwrap() error { return ErrSessionUsed }

// randomSessionID returns an id below 2^53, which a float64 holds exactly.
func randomSessionID() uint64 {
	key := randomKey()
	return binary.LittleEndian.Uint64(key[:]) >> 11
}

// hasHistory reports whether an address has a transaction that has not failed. A closed negotiation has no account, but
// its transactions remain. A failed creation has used no session.
func (c *Client) hasHistory(ctx context.Context, address solana.PublicKey) (bool, error) {
	return c.sharedFeed().HasEffects(ctx, address)
}
