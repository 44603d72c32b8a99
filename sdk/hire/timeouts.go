package hire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// MaxTimeout limits a card's timeouts.
const MaxTimeout = 24 * time.Hour

// Timeouts limit response times. If zero, the defaults are used. A card writes them in whole seconds: see
// [Card].
type Timeouts struct {
	// FirstResponse limits the first response to a proposal: 60 seconds by default.
	FirstResponse time.Duration
	// Clarification limits responses following clarifications: 30 seconds by default.
	Clarification time.Duration
	// Acceptance limits all other responses, including the second signature: 120 seconds by default.
	Acceptance time.Duration
}

// WithDefaults returns the timeouts with the defaults in place of zeros.
func (t Timeouts) WithDefaults() Timeouts {
	return Timeouts{
		FirstResponse: cmp.Or(t.FirstResponse, 60*time.Second),
		Clarification: cmp.Or(t.Clarification, 30*time.Second),
		Acceptance:    cmp.Or(t.Acceptance, 120*time.Second),
	}
}

// timeoutsDocument lists a card's timeouts, in seconds.
type timeoutsDocument struct {
	FirstResponse uint32 `json:"first_response,omitzero"`
	Clarification uint32 `json:"clarification,omitzero"`
	Acceptance    uint32 `json:"acceptance,omitzero"`
}

// MarshalJSON returns the timeouts in whole seconds, without zeros. It fails for timeouts that are negative,
// fractional or above [MaxTimeout].
func (t Timeouts) MarshalJSON() ([]byte, error) {
	for name, timeout := range map[string]time.Duration{
		"first_response": t.FirstResponse, "clarification": t.Clarification, "acceptance": t.Acceptance,
	} {
		if timeout < 0 || timeout > MaxTimeout || timeout%time.Second != 0 {
			return nil, fmt.Errorf("%s: must be in whole seconds, up to %s", name, MaxTimeout)
		}
	}
	seconds := func(timeout time.Duration) uint32 { return uint32(timeout / time.Second) }
	return json.Marshal(timeoutsDocument{seconds(t.FirstResponse), seconds(t.Clarification), seconds(t.Acceptance)})
}

// UnmarshalJSON reads timeouts in whole seconds, up to [MaxTimeout].
func (t *Timeouts) UnmarshalJSON(data []byte) error {
	var written timeoutsDocument
	if err := json.Unmarshal(data, &written); err != nil {
		return err
	}
	const most = uint32(MaxTimeout / time.Second)
	if max(written.FirstResponse, written.Clarification, written.Acceptance) > most {
		return refuse(ReasonMalformed, "timeouts: above %d seconds", most)
	}
	duration := func(seconds uint32) time.Duration { return time.Duration(seconds) * time.Second }
	*t = Timeouts{duration(written.FirstResponse), duration(written.Clarification), duration(written.Acceptance)}
	return nil
}
