package proxy

import "sync"

// Counts holds a proxy's requests and faults.
type Counts struct {
	// Requests counts HTTP requests, Connections counts attempts at a WebSocket connection, Subscriptions
	// counts subscription requests, and Notifications counts node messages to subscribers.
	Requests, Connections, Subscriptions, Notifications int
	// Faults counts the faults by kind.
	Faults map[Kind]int
	// Lies counts the responses with each lie.
	Lies map[Lie]int
	// Transactions counts the transactions that were passed on to the node, including repetitions.
	Transactions int
}

// Faulty returns the number of faulty requests.
func (c Counts) Faulty() int {
	sum := 0
	for _, kind := range ofRequests {
		sum += c.Faults[kind]
	}
	return sum
}

// FaultyShare returns the share of faulty requests, between 0 and 1.
func (c Counts) FaultyShare() float64 {
	if c.Requests == 0 {
		return 0
	}
	return float64(c.Faulty()) / float64(c.Requests)
}

// Plus returns the sum of the counts of several proxies.
func (c Counts) Plus(other Counts) Counts {
	sum := Counts{
		Requests: c.Requests + other.Requests, Connections: c.Connections + other.Connections,
		Subscriptions: c.Subscriptions + other.Subscriptions, Notifications: c.Notifications + other.Notifications,
		Transactions: c.Transactions + other.Transactions, Faults: make(map[Kind]int),
	}
	for _, kind := range Kinds() {
		if count := c.Faults[kind] + other.Faults[kind]; count > 0 {
			sum.Faults[kind] = count
		}
	}
	for _, lie := range Lies() {
		if count := c.Lies[lie] + other.Lies[lie]; count > 0 {
			if sum.Lies == nil {
				sum.Lies = make(map[Lie]int)
			}
			sum.Lies[lie] = count
		}
	}
	return sum
}

// stats counts for several goroutines.
type stats struct {
	lock   sync.Mutex
	counts Counts
}

func (t *stats) add(change func(*Counts)) {
	t.lock.Lock()
	defer t.lock.Unlock()
	change(&t.counts)
}

func (t *stats) fault(kind Kind) {
	t.add(func(c *Counts) {
		if c.Faults == nil {
			c.Faults = make(map[Kind]int)
		}
		c.Faults[kind]++
	})
}

func (t *stats) read() Counts {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.counts.Plus(Counts{})
}
