package llmtest

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// API selects an API spoken by a server.
type API int

const (
	// Responses is OpenAI's responses API.
	Responses API = iota
	// ChatCompletions is OpenAI's chat completions API.
	ChatCompletions
	// AzureResponses is the responses API at Azure OpenAI, with TLS.
	AzureResponses
	// AzureChatCompletions is the chat completions API at Azure OpenAI, with TLS.
	AzureChatCompletions
	// Messages is Anthropic's messages API.
	Messages
)

// String returns the API's name.
func (a API) String() string {
	names := [...]string{"responses", "chat completions", "Azure responses", "Azure chat completions", "messages"}
	if a < 0 || int(a) >= len(names) {
		return fmt.Sprintf("API %d", int(a))
	}
	return names[a]
}

// Config describes a server. The zero value is a server of the responses API.
type Config struct {
	API API
	// Model is the server's only model; on Azure, the deployment. If empty, it accepts any name.
	Model string
	// Key is the API key. If empty, a random key is used.
	Key string
	// Script returns the model output. It is called from several goroutines. If nil, [Minimal] responds to the
	// schema.
	Script func(Request) string
	// Plan lists the first valid requests' faults, in order. The zero Fault is none.
	Plan []Fault
	// Random lists faults for requests after the plan. The first fault that occurs is used.
	Random []Chance
	// Seed makes the random faults repeatable.
	Seed uint64
}

// Chance is a fault that occurs at random.
type Chance struct {
	Fault Fault
	// Probability is between 0 and 1.
	Probability float64
}

// Request describes a valid request.
type Request struct {
	// Number is the number of the request, from 1. Rejected requests are not numbered.
	Number int
	Model  string
	// Instructions holds the system message, and Input the user message.
	Instructions, Input string
	// SchemaName is empty for [Messages].
	SchemaName string
	Schema     []byte
	// MaxTokens is the limit of the response's tokens.
	MaxTokens int
}

// Usage is a number of tokens.
type Usage struct {
	// Input includes Cached. Output includes reasoning.
	Input, Cached, Output int64
}

func (u Usage) plus(other Usage) Usage {
	return Usage{u.Input + other.Input, u.Cached + other.Cached, u.Output + other.Output}
}

// Totals are a server's counts since its start.
type Totals struct {
	// Requests counts the valid requests, and Rejected all others.
	Requests, Rejected int
	// Billed counts all tokens read and written by the model. Reported counts the tokens reported in responses
	// that were sent completely: a client cannot know the others.
	Billed, Reported Usage
}

// Server is a running server. Its methods may be called from several goroutines.
type Server struct {
	config  Config
	dialect dialect
	url     string
	pool    *certificate
	http    *http.Server
	stop    context.CancelFunc
	running sync.WaitGroup
	held    chan struct{}

	mu        sync.Mutex
	closed    bool
	key       string
	random    *mathrand.Rand
	cached    string
	totals    Totals
	rejection string
}

// Start starts a server on a port of the local machine. The caller calls Close.
func Start(config Config) (*Server, error) {
	s := &Server{
		config: config, key: config.Key, random: mathrand.New(mathrand.NewPCG(config.Seed, 1)),
		held: make(chan struct{}, 1024),
	}
	if s.key == "" {
		s.key = "test-" + rand.Text()
	}
	var err error
	if s.dialect, err = dialectOf(config.API); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("llmtest: %w", err)
	}
	scheme := "http://"
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	if config.API == AzureResponses || config.API == AzureChatCompletions {
		scheme = "https://"
		if s.pool, err = newCertificate(); err != nil {
			listener.Close()
			return nil, fmt.Errorf("llmtest: %w", err)
		}
		s.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{s.pool.pair}, MinVersion: tls.VersionTLS12}
	}
	s.url = scheme + listener.Addr().String() + s.dialect.base()
	ctx, stop := context.WithCancel(context.Background())
	s.stop, s.http.BaseContext = stop, func(net.Listener) context.Context { return ctx }
	s.running.Go(func() {
		if s.pool != nil {
			_ = s.http.ServeTLS(listener, "", "")
		} else {
			_ = s.http.Serve(listener)
		}
	})
	return s, nil
}

// URL returns the URL that clients are configured with: the base URL of OpenAI or Anthropic, or the endpoint
// of Azure.
func (s *Server) URL() string { return s.url }

// APIVersion is the version of Azure's API that clients are configured with.
const APIVersion = "2025-04-01-preview"

// HTTPClient returns a new client that trusts the server's certificate.
func (s *Server) HTTPClient() *http.Client {
	transport := &http.Transport{ForceAttemptHTTP2: true}
	if s.pool != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: s.pool.roots, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport}
}

// Key returns the server's API key.
func (s *Server) Key() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key
}

// RotateKey replaces the API key.
func (s *Server) RotateKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// Held returns a channel that receives a value when [Hang], [Stall], or [SlowBody] with a pause lets a client
// wait.
func (s *Server) Held() <-chan struct{} { return s.held }

// Totals returns the server's counts.
func (s *Server) Totals() Totals {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.totals
}

// Rejection returns the reason why the server has rejected the latest rejected request. If empty, it has
// rejected none.
func (s *Server) Rejection() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rejection
}

// Close ends the server with all its connections, and waits for its handlers.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	_ = s.http.Close()
	s.running.Wait()
}
