package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/haggle-protocol/haggle/sdk/bargain"
)

// maxAnswer limits responses, in bytes.
const maxAnswer = 1 << 16

// written is a decoded answer.
type written struct {
	Reason    string            `json:"reason"`
	Move      string            `json:"move"`
	Candidate int               `json:"candidate"`
	Price     string            `json:"price"`
	Terms     map[string]string `json:"terms"`
}

var errForm = errors.New("llm: answer does not follow the schema")

// read decodes an answer. It returns errForm for malformed JSON, unknown members and trailing text.
func read(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if decoder.Decode(into) != nil {
		return errForm
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errForm
	}
	return nil
}

// Moves in answers and facts.
const (
	moveOffer  = "offer"
	moveAccept = "accept"
	moveReject = "reject"
)

// Reasons to replace a model's move by the strategy's.
const (
	overrideNoOffer   = "no offer is possible"
	overrideNoAccept  = "the acceptance is below the band"
	overrideNoReject  = "the owner does not permit to end the negotiation"
	overrideOutside   = "no offer of the band is near the offer"
	overrideNoneStand = "there is no offer to accept"
)

// verdict is the validated form of an answer.
type verdict struct {
	action     bargain.Action
	correction string
	// override, if not empty, tells why action is the strategy's move.
	override string
}

// Reasons of chosen moves.
const (
	reasonChosen    = "chosen by the model"
	reasonCorrected = "chosen by the model, moved into the band"
)

// judge validates an answer. It returns errForm for unknown moves and candidates, and malformed offers.
func (t *turn) judge(answer written) (verdict, error) {
	strategy := t.assessment.Move
	switch answer.Move {
	case moveAccept:
		switch {
		case t.standing == nil:
			return verdict{action: strategy, override: overrideNoneStand}, nil
		case !t.mayAccept:
			return verdict{action: strategy, override: overrideNoAccept}, nil
		}
		return verdict{action: bargain.Accept(reasonChosen)}, nil
	case moveReject:
		if !t.mayReject {
			return verdict{action: strategy, override: overrideNoReject}, nil
		}
		return verdict{action: bargain.End(reasonChosen)}, nil
	case moveOffer:
		if !t.assessment.CanOffer() {
			return verdict{action: strategy, override: overrideNoOffer}, nil
		}
		return t.judgeOffer(answer)
	}
	return verdict{}, errForm
}

func (t *turn) judgeOffer(answer written) (verdict, error) {
	offered, err := t.offered(answer)
	if err != nil {
		return verdict{}, err
	}
	outcome, correction := t.band.correct(offered)
	if outcome == bargain.NoOutcome || !t.band.has(outcome) {
		return verdict{action: t.assessment.Move, override: overrideOutside}, nil
	}
	reason := reasonChosen
	if correction != "" {
		reason = reasonCorrected
	}
	return verdict{action: bargain.Propose(outcome, reason), correction: correction}, nil
}

// offered returns the outcome that an answer offers.
func (t *turn) offered(answer written) (bargain.Outcome, error) {
	if answer.Candidate != 0 {
		if answer.Candidate < 1 || answer.Candidate > len(t.candidates) {
			return bargain.NoOutcome, errForm
		}
		return t.candidates[answer.Candidate-1].outcome, nil
	}
	if t.scale.priceOnly {
		domain := t.assessment.Preferences.Domain()
		index, ok := t.scale.index(domain.Issue(0), answer.Price)
		if !ok {
			return bargain.NoOutcome, errForm
		}
		return domain.Outcome(index), nil
	}
	outcome := t.scale.outcome(answer.Terms)
	if outcome == bargain.NoOutcome {
		return outcome, errForm
	}
	return outcome, nil
}
