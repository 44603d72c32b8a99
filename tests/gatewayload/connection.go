package gatewayload

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"time"
)

// connection is a connection to a gateway, for one request at a time. It needs less processor time than
// [http.Transport], which uses two goroutines per connection: the sender shares the machine with the gateway,
// and pgbench is a small program, too.
type connection struct {
	address string
	opened  net.Conn
	reader  *bufio.Reader
	writer  *bufio.Writer
}

const requestLimit = time.Minute

// do sends a request and returns the response. The caller must read the body before the next request.
func (c *connection) do(r *http.Request) (response *http.Response, err error) {
	if c.opened == nil {
		if c.opened, err = new(net.Dialer).DialContext(r.Context(), "tcp", c.address); err != nil {
			return nil, err
		}
		c.reader, c.writer = bufio.NewReader(c.opened), bufio.NewWriter(c.opened)
	}
	if err := c.opened.SetDeadline(time.Now().Add(requestLimit)); err != nil {
		return nil, err
	}
	if err := errors.Join(r.Write(c.writer), c.writer.Flush()); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.reader, r)
}
