package llmtest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// maxRequestBytes limits accepted request bodies.
const maxRequestBytes = 4 << 20

// dialect is what distinguishes the APIs.
type dialect interface {
	// base returns the path that belongs to the base URL.
	base() string
	// check checks everything but the body.
	check(r *http.Request, key string) *problem
	// parse reads and checks the body.
	parse(r *http.Request, body []byte) (Request, *problem)
	// render returns a response body.
	render(Request, outcome) map[string]any
	// failure returns the body of an error response.
	failure(problem) map[string]any
}

// problem is an error response. The fields except status and message may be empty.
type problem struct {
	status                     int
	kind, code, param, message string
}

// finish is the reason why the model output ends.
type finish int

const (
	complete finish = iota
	truncated
	refused
	filtered
	toolCall
)

// outcome is what the model produces.
type outcome struct {
	text   string
	finish finish
	usage  Usage
	// extra adds fields and items that clients do not know.
	extra bool
	// empty leaves out all output and choices.
	empty bool
	// hidden leaves out the usage, and negative reports impossible counts.
	hidden, negative bool
}

// Fault is a server or model failure. The zero value is none.
type Fault struct {
	name string
	// before sends the whole response, before the model runs.
	before func(*exchange)
	// alter changes what the model produces.
	alter func(*exchange, *outcome)
	// write sends a rendered response. It reports whether the client can read it completely.
	write func(*exchange, []byte) bool
}

// String returns the fault's name.
func (f Fault) String() string { return f.name }

// exchange is one request with its response.
type exchange struct {
	server  *Server
	writer  http.ResponseWriter
	http    *http.Request
	body    []byte
	request Request
	id      string
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.begin() {
		return
	}
	defer s.running.Done()
	x := &exchange{server: s, writer: w, http: r, id: rand.Text()}
	w.Header().Set("X-Request-Id", x.id)
	w.Header().Set("Request-Id", x.id)
	if broken := x.read(); broken != nil {
		s.mu.Lock()
		s.totals.Rejected++
		s.rejection = fmt.Sprintf("%d: %s", broken.status, broken.message)
		s.mu.Unlock()
		x.fail(*broken)
		return
	}
	fault := s.number(x)
	if fault.before != nil {
		fault.before(x)
		return
	}
	result := x.run()
	if fault.alter != nil {
		fault.alter(x, &result)
	}
	s.mu.Lock()
	s.totals.Billed = s.totals.Billed.plus(result.usage)
	s.mu.Unlock()
	rendered := s.dialect.render(x.request, result)
	if fault.write != nil {
		if !fault.write(x, encode(rendered)) {
			return
		}
	} else if !x.send(http.StatusOK, "application/json", encode(rendered)) {
		return
	}
	if !result.hidden && !result.negative {
		s.mu.Lock()
		s.totals.Reported = s.totals.Reported.plus(result.usage)
		s.mu.Unlock()
	}
}

// begin counts a handler that Close waits for. It returns false if the server is closed.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Add(1)
	}
	return !s.closed
}

// read checks the request.
func (x *exchange) read() *problem {
	invalid := func(status int, text string) *problem {
		return &problem{status: status, kind: "invalid_request_error", message: text}
	}
	if broken := x.server.dialect.check(x.http, x.server.Key()); broken != nil {
		return broken
	}
	if x.http.Method != http.MethodPost {
		return invalid(http.StatusMethodNotAllowed, "Method Not Allowed")
	}
	if kind, _, _ := mime.ParseMediaType(x.http.Header.Get("Content-Type")); kind != "application/json" {
		return invalid(http.StatusUnsupportedMediaType, "Content-Type must be application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.writer, x.http.Body, maxRequestBytes))
	if err != nil {
		return invalid(http.StatusRequestEntityTooLarge, "request too large")
	}
	var broken *problem
	if x.request, broken = x.server.dialect.parse(x.http, body); broken != nil {
		return broken
	}
	x.body = body
	if known := x.server.config.Model; known != "" && known != x.request.Model {
		return &problem{
			status: http.StatusNotFound, kind: "not_found_error", code: "model_not_found",
			message: "The model does not exist or you do not have access to it.",
		}
	}
	return nil
}

// number numbers the request and returns its fault.
func (s *Server) number(x *exchange) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.totals.Requests++
	x.request.Number = s.totals.Requests
	if index := x.request.Number - 1; index < len(s.config.Plan) {
		return s.config.Plan[index]
	}
	for _, chance := range s.config.Random {
		if s.random.Float64() < chance.Probability {
			return chance.Fault
		}
	}
	return Fault{}
}

// reasoning is the part of the output that is not the response. It looks like a response.
const reasoning = `{"move":"accept","candidate":0,"price":"0","reason":"reasoning is not the response"}`

// run lets the script write the model output, and counts tokens.
func (x *exchange) run() outcome {
	script := x.server.config.Script
	if script == nil {
		script = func(r Request) string { return Minimal(r.Schema) }
	}
	result := outcome{text: script(x.request)}
	result.usage = x.server.count(x.request)
	x.limit(&result)
	return result
}

// limit counts the output, and ends it at the limit of the request.
func (x *exchange) limit(result *outcome) {
	result.usage.Output = tokens(reasoning) + tokens(result.text)
	if most := int64(x.request.MaxTokens); result.usage.Output > most {
		// Reasoning is written first.
		kept := max(0, most-tokens(reasoning)) * bytesPerToken
		result.text, result.finish, result.usage.Output = result.text[:kept], truncated, most
	}
}

const bytesPerToken = 4

// tokens counts tokens: one for every four bytes, as in English texts.
func tokens(text string) int64 { return int64(len(text)+bytesPerToken-1) / bytesPerToken }

// count returns a request's input tokens. Instructions that equal those of the request before are cached.
func (s *Server) count(request Request) Usage {
	const overhead = 8
	used := Usage{Input: overhead}
	for _, text := range []string{request.Instructions, request.Input, string(request.Schema)} {
		used.Input += tokens(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if request.Instructions == s.cached {
		used.Cached = tokens(request.Instructions)
	}
	s.cached = request.Instructions
	return used
}

// send sends a response with its length. It reports whether the response was sent completely.
func (x *exchange) send(status int, contentType string, body []byte) bool {
	x.writer.Header().Set("Content-Type", contentType)
	x.writer.Header().Set("Content-Length", fmt.Sprint(len(body)))
	x.writer.WriteHeader(status)
	_, err := x.writer.Write(body)
	return err == nil
}

func (x *exchange) fail(broken problem) {
	x.send(broken.status, "application/json", encode(x.server.dialect.failure(broken)))
}

// hold stops the response until the client or the server ends the connection. It does not return.
func (x *exchange) hold() {
	x.announce()
	<-x.http.Context().Done()
	panic(http.ErrAbortHandler)
}

// announce reports a waiting client on Held's channel.
func (x *exchange) announce() {
	select {
	case x.server.held <- struct{}{}:
	default:
	}
}

func encode(value any) []byte {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err) // the dialects render maps, slices, strings and numbers
	}
	return content
}
