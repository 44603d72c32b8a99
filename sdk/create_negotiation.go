package haggle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/optional"
	"github.com/haggle-protocol/haggle/sdk/internal/sessionid"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// defaultDeadline is the time limit for a negotiation if the creator sets none.
const defaultDeadline = time.Hour

// CreateRequest holds the terms of a buyer's invitation to a seller. Defaults are the constants of package
// protocol: the protocol's configuration sets no term, because a node could report it wrongly.
type CreateRequest struct {
	// Buyer signs, deposits the escrow and pays the rent, which comes back when the negotiation is closed.
	Buyer solana.PublicKey
	// Seller is the invited party; not the buyer.
	Seller solana.PublicKey
	// Mint is a mint of SPL Token or Token-2022; Token-2022 extensions must not affect transfers: see
	// [token.Mint.Check].
	Mint solana.PublicKey
	// Decimals is the number of decimals used to compute the amounts of the request: a token is ten to this
	// power of base units. The program refuses decimals other than the mint's. It is required: if zero, the
	// mint must use no decimals. Do not copy it from a node: see [Client.GetMint].
	Decimals uint8
	// EscrowAmount is the deposit and the highest possible price, in the mint's base units, at least 100,000.
	EscrowAmount uint64
	// ServiceHash commits to the purchased service: see ServiceHash, the function.
	ServiceHash [32]byte
	// Key names the purchase: an order number, or another value that survives a crash of the caller. It is
	// required. The session id, and so the negotiation's address, is derived from it: see [SessionIDFor]. The
	// chain executes one creation with that key, buyer and seller, even if the terms differ. A further creation
	// returns [*AlreadyDone] if the client's journal contains the first one, otherwise [*SessionUsedError]. Before the caller goes on
	// with that negotiation, [Client.CheckRepetition] compares the terms.
	Key string
	// MaxRounds limits the number of offers, 1 to 20. If zero, [protocol.DefaultMaxRounds] is used.
	MaxRounds uint8
	// DecayRateBps is the share of the escrow that each offer costs, 0 to 1,000 basis points. If nil,
	// [protocol.DefaultDecayRateBps] is used.
	DecayRateBps *uint16
	// ResponseWindow is the time to answer, 1 minute to 1 hour, rounded up to seconds. If zero,
	// [protocol.DefaultResponseWindow] is used.
	ResponseWindow time.Duration
	// Deadline is the time until the negotiation expires at the latest, 1 minute to 24 hours from the chain's
	// present, rounded up to seconds. If zero, one hour is used. A deadline close to the minimum is extended
	// by a few seconds, which pass before the transaction is executed.
	Deadline time.Duration
	// MinOfferBps is the least offer, 100 to 9,000 basis points of the effective escrow. If zero, 1,000 is
	// used.
	MinOfferBps uint16
	// Bond is the deposit required from the seller, in the mint's base units; it comes back at the end,
	// unless it is forfeited. If zero, no bond is required.
	Bond uint64
	// Zopa makes both parties compare their reservation prices under seal before they make offers: see
	// [protocol.SealPrice]. It requires a Bond.
	Zopa bool
	// Milestones divides the price into tranches. If nil, the price is paid at once.
	Milestones *Milestones
	// MaxFeeBps is the highest protocol fee that the buyer agrees to, 0 to 500 basis points of the price. If
	// nil, it is the fee in the configuration that the action is built on, which must not exceed
	// [protocol.DefaultProtocolFeeBps]: the build of the action returns [protocol.ErrStaleState] then. The
	// program returns this error if the fee is above the limit when the transaction is executed.
	MaxFeeBps *uint16
	// Metadata is structured: all zeros, Terms.Metadata or TermsDocument.Metadata.
	Metadata [64]byte
	// Deposit is the source of the escrow. If zero, the buyer's associated token account is used.
	Deposit Deposit
}

// Milestones divides a price into tranches.
type Milestones struct {
	// Arbiter decides disputes; it is not a party.
	Arbiter solana.PublicKey
	// Shares lists the tranches' parts of the price, 1 to 8 parts, in basis points: each at least 1, together
	// 10,000.
	Shares []uint16
	// ReviewHours is the time for the buyer to release or dispute a claimed milestone, 1 to 168 hours. If
	// zero, DefaultReviewHours is used.
	ReviewHours uint8
	// Delivery is the seller's time for delivering everything, from the chain's present, rounded up to
	// seconds; at least the negotiation's own Deadline. Unclaimed milestones go back to the buyer once that
	// time and the sequential reviews of all milestones are over: see [protocol.EarliestMilestoneDeadline].
	// Together that is at most 365 days. If zero, 30 days are used.
	Delivery time.Duration
}

// defaultDelivery is the time for delivering everything if the creator sets none.
const defaultDelivery = 30 * 24 * time.Hour

// CreateNegotiation invites a seller and deposits the escrow. The session id and the address are set when the
// action is built ([Action.Build]).
//
// A repeated creation does not deposit the escrow a second time: see [CreateRequest].Key. If Key is empty, the
// action fails before any request is sent.
//
// It fails with [*SessionUsedError] for a session id already used by the pair, with
// [*token.InsufficientFunds], with [protocol.ErrAccountNotFound] if the buyer lacks the token account, with
// [token.ErrCPIGuard] if deposits from it are impossible, with [*token.UnsupportedMint], or with
// [*token.DecimalsError] for decimals other than the mint's. Warnings contains an [ErrOffCurve] for each
// party with an address that is not a wallet's. The program returns [protocol.ErrInvalidParams] for terms out
// of range, [protocol.ErrPaused], or [protocol.ErrStaleState] for a fee above MaxFeeBps. On a cluster without
// p-token the action fails with [ErrTokenProgramTooOld], and deposits nothing.
func (c *Client) CreateNegotiation(request CreateRequest) *Action {
	action := (&Negotiation{client: c}).action(&createNegotiation{request: request})
	if request.Key == "" {
		action.err = errNoKey
	}
	return action
}

var errNoKey = errors.New(
	"haggle: create_negotiation: CreateRequest.Key not set: name the purchase, for example by its order number")

// createNegotiation stores an instruction once it is built; nil until then.
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
	// A buyer that repeats a purchase under the same session id may no longer own the escrow amount, or the
	// fee may be higher. It must receive the error of a repetition instead.
	maxFee, feeErr := request.maxFee(config.DefaultProtocolFeeBps)
	params := request.params(maxFee, now)
	sessionID, negotiation, err := c.session(ctx, &request)
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
		warnings: partyWarnings(request.Buyer, request.Seller), creation: creation,
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

// executionSlack is the number of seconds that may pass between reading the chain's clock and the
// transaction's execution.
const executionSlack = 5

// maxFee returns the highest fee that the buyer agrees to. fee is the configured fee, as a node reports it.
// The caller alone can agree to a higher fee than [protocol.DefaultProtocolFeeBps].
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

// checkDecimals returns [*token.DecimalsError] if the caller's decimals are not the mint's, as the program
// does before moving anything.
func checkDecimals(mint *token.Mint, decimals uint8) error {
	if mint.Decimals == decimals {
		return nil
	}
	return &token.DecimalsError{Mint: mint.Address, Source: "the caller", Decimals: decimals,
		Reference: "the node", Expected: mint.Decimals}
}

// depositAccount returns the token account to deposit from: the named account, otherwise the associated
// account. It must hold enough, and the CPI guard must be off.
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

// session returns the session id and the address that follow from the request's key. If the session is already
// used, and the journal contains the creation, the action itself resolves the outcome.
func (c *Client) session(ctx context.Context, request *CreateRequest) (uint64, solana.PublicKey, error) {
	c.syncSlot(ctx)
	sessionID := SessionIDFor(request.Key)
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

// SessionIDFor returns the session id of creations with that [CreateRequest].Key. It is below 2^53, except for the
// keys of package escrow.
func SessionIDFor(key string) uint64 { return sessionid.Of(key) }

// SessionUsedError is the error for a session id already used by the pair, even if no account is left on
// chain. Nothing was sent.
type SessionUsedError struct {
	// SessionID is the session id that follows from the request's key.
	SessionID uint64
	// Negotiation is the resulting address.
	Negotiation solana.PublicKey
}

func (e *SessionUsedError) Error() string {
	return fmt.Sprintf("%v: %d, negotiation %s", errSessionUsed, e.SessionID, e.Negotiation)
}

// Unwrap returns an error that states that nothing was sent.
func (e *SessionUsedError) Unwrap() error { return errSessionUsed }

// hasHistory reports whether an address is mentioned by a transaction that did not fail. A closed negotiation
// lacks an account, but the transactions remain. A failed creation used no session.
func (c *Client) hasHistory(ctx context.Context, address solana.PublicKey) (bool, error) {
	return c.sharedFeed().HasEffects(ctx, address)
}
