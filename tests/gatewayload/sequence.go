package gatewayload

import "fmt"

// operation is a kind of request. A counter offer that ends the negotiation is a rejection.
type operation int

const (
	create operation = iota
	counter
	accept
	reject
	operations
)

var operationNames = [operations]string{"create", "counter", "accept", "reject"}

// step is a request in a sequence and the publisher's response.
type step struct {
	operation operation
	// price is the proposed price in micro units, or 0 for an acceptance.
	price int
	// action and status are the response's action and status.
	action, status string
}

// sequence is repeated by each worker, and by each pgbench connection: a negotiation that ends with an
// agreement, and a second rejected by the publisher. All steps are decided by rules.
var sequence = []step{
	{create, 1500, "counter", "negotiating"},
	{counter, 1600, "counter", "negotiating"},
	{counter, 1650, "counter", "negotiating"},
	{accept, 0, "accept", "accepted"},
	{create, 1500, "counter", "negotiating"},
	{reject, belowFloor, "reject", "rejected"},
}

// belowFloor is a price lower than the strategy's published floor.
const belowFloor = 100

func termsOf(price int) string {
	return fmt.Sprintf(
		`{"price_per_fetch_micro": %d, "token_ttl_seconds": 600, "burst_rps": 10, "purposes": ["inference"]}`,
		price,
	)
}

// request returns a step's path and body. publisher is a host name, and d the open negotiation.
func (s step) request(publisher string, d *tracked) (path, body string) {
	switch s.operation {
	case create:
		return "/api/negotiations",
			fmt.Sprintf(`{"publisher_hostname": %q, "proposed_terms": %s}`, publisher, termsOf(s.price))
	case accept:
		return "/api/negotiations/" + d.id + "/accept", fmt.Sprintf(`{"current_round": %d}`, d.rounds)
	default:
		return "/api/negotiations/" + d.id + "/counter", fmt.Sprintf(`{"proposed_terms": %s}`, termsOf(s.price))
	}
}

// tracked is a negotiation as described in the responses.
type tracked struct {
	id, status string
	// client is the position of the client.
	client int
	// rounds is the number of the client's completed requests, and rows the number of recorded actions by
	// both parties: the publisher does not respond to an acceptance.
	rounds, rows int
}
