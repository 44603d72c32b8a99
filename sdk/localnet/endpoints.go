package localnet

import (
	"fmt"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet/jsonrpc"
)

// String says where the chain runs.
func (c *Chain) String() string {
	if c.local == nil {
		return fmt.Sprintf("%s at %s", c.Kind, c.endpoints.RPC)
	}
	return "in this process"
}

// ClientConfig returns a client configuration for this chain. In-process connections need no port. Other
// fields, such as Journal, can be set.
func (c *Chain) ClientConfig() haggle.Config {
	if c.local == nil {
		return haggle.Config{Endpoint: c.endpoints.RPC, WSEndpoint: c.endpoints.WS}
	}
	return haggle.Config{
		Endpoint: jsonrpc.InProcess.RPC, WSEndpoint: jsonrpc.InProcess.WS, DialContext: c.local.dial,
	}
}

// Listen returns the chain's JSON-RPC and WebSocket addresses, for other programs. For in-process chains, the
// first call opens ports at 127.0.0.1, unless Options.Port has opened them.
func (c *Chain) Listen() (jsonrpc.Endpoints, error) {
	if c.local == nil {
		return c.endpoints, nil
	}
	return c.local.listen(0)
}

// RPCURL returns the JSON-RPC address: see [Chain.Listen]. It panics if no port can be opened.
func (c *Chain) RPCURL() string { return c.mustListen().RPC }

// WSURL returns the WebSocket port's address: see [Chain.Listen]. It panics if no port can be opened.
func (c *Chain) WSURL() string { return c.mustListen().WS }

func (c *Chain) mustListen() jsonrpc.Endpoints {
	endpoints, err := c.Listen()
	if err != nil {
		panic("localnet: " + err.Error())
	}
	return endpoints
}

// Node is a further node, with separate ports, for an in-process chain.
type Node struct {
	// RPCURL and WSURL are the JSON-RPC and WebSocket addresses.
	RPCURL, WSURL string
	server        *jsonrpc.Server
}

// AddNode adds a node, which runs until the chain is closed. All that it shows is as it was a number of slots
// ago, at most [ledger.MaxBehind]; a slot takes 50 ms. Other chains return [ErrNotInProcess].
func (c *Chain) AddNode(behind uint64) (*Node, error) {
	if c.local == nil {
		return nil, ErrNotInProcess
	}
	view, err := c.local.ledger.Behind(behind)
	if err != nil {
		return nil, err
	}
	server := jsonrpc.New(view)
	endpoints, err := server.Listen(0)
	if err != nil {
		_ = server.Close()
		return nil, err
	}
	node := &Node{RPCURL: endpoints.RPC, WSURL: endpoints.WS, server: server}
	c.local.lock.Lock()
	defer c.local.lock.Unlock()
	c.local.nodes = append(c.local.nodes, node)
	return node, nil
}

// SetFaults sets the node's faults: see [Chain.SetFaults].
func (n *Node) SetFaults(faults jsonrpc.Faults) { n.server.SetFaults(faults) }
