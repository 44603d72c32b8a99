package proxy

import "sync"

// Counts say what a proxy has had to do with, and what has become of it.
type Counts struct {
	// Requests are the HTTP requests, Connections the attempts at a WebSocket connection, Subscriptions the requests for one, and
	// Notifications what the node has sent to subscribers.
	Requests, Connections, Subscriptions, Notifications int
	// Faults are how many there have been of each kind.
	Faults map[Kind]int
	// Transactions are how many were passed on to the node, repetitions included.
	Transactions int
}

// Faulty is how many requests a fault has happened to.
func (c Counts) Faulty() int {
	sum := 0
	for _, kind := range ofRequests {
		sum += c.Faults[kind]
	}
	return sum
}

// FaultyShare is which part of the requests a fault has happened to, from 0 to 1.
func (c Counts) FaultyShare() float64 {
	if c.Requests == 0 {
		return 0
	}
	return float64(c.Faulty()) / float64(c.Requests)
}

// Plus adds the counts of several proxies up.
func (c Counts) Plus(other Counts) Counts {
	sum := Counts{
		Requests: c.Requests + other.Requests, Connections: c.Connections + other.Connections,
		Subscriptions: c.Subscriptions + other.Subscriptions, Notifications: c.Notifications + other.Notifications,
		Transactions: c.Transactions + other.Transactions, Faults: make(map[Kind]int, kinds),
	}
	for _, kind := range Kinds() {
		if count := c.Faults[kind] + other.Faults[kind]; count > 0 {
			sum.Faults[kind] = count
		}
	}
	return sum
}

// tally counts for several goroutines.
type tally struct {
	lock   sync.Mutex
	counts Counts
}

func (t *tally) add(change func(*Counts)) {
	t.lock.Lock()
	defer t.lock.Unlock()
	change(&t.counts)
}

func (t *tally) fault(kind Kind) {
	t.add(func(c *Counts) {
		if c.Faults == nil {
			c.Faults = make(map[Kind]int, kinds)
		}
		c.Faults[kind]++
	})
}

func (t *tally) read() Counts {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.counts.Plus(Counts{})
}
