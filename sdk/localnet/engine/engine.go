package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// ErrClosed is returned by methods called after Close.
var ErrClosed = errors.New("engine closed")

// RequestError is a request that the engine rejected. The accounts are unchanged.
type RequestError struct{ Message string }

// Error implements error.
func (e *RequestError) Error() string { return "engine: " + e.Message }

// Engine is a set of accounts with a virtual machine. It is safe for concurrent use; methods run
// sequentially.
type Engine struct {
	lock    sync.Mutex
	module  api.Module
	reserve api.Function
	call    api.Function
	stderr  *stderr
	// failed is the reason why the engine is unusable.
	failed error
}

// Image is an immutable copy of engine state.
type Image struct{ memory []byte }

// New returns an engine with a new chain's accounts. It takes about 10 ms, but longer when first called.
func (m *Module) New(ctx context.Context) (*Engine, error) {
	m.starting.Lock()
	defer m.starting.Unlock()
	if m.initial != nil {
		return m.Restore(ctx, m.initial)
	}
	engine, err := m.start(ctx)
	if err != nil {
		return nil, err
	}
	// The first operation initializes the accounts.
	if _, err := engine.Account([32]byte{}); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	m.initial, err = engine.Snapshot()
	return engine, err
}

// Restore returns a new engine with an image's state. The image must come from the same module.
func (m *Module) Restore(ctx context.Context, image *Image) (*Engine, error) {
	engine, err := m.start(ctx)
	if err != nil {
		return nil, err
	}
	memory := engine.module.Memory()
	if size := uint32(len(image.memory)); size > memory.Size() {
		if _, ok := memory.Grow((size - memory.Size()) / pageSize); !ok {
			return nil, errors.Join(errors.New("engine: out of memory"), engine.Close())
		}
	}
	if !memory.Write(0, image.memory) {
		return nil, errors.Join(errors.New("engine: image does not fit"), engine.Close())
	}
	return engine, nil
}

func (m *Module) start(ctx context.Context) (*Engine, error) {
	engine := &Engine{stderr: &stderr{}}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").WithStderr(engine.stderr)
	instance, err := m.runtime.InstantiateModule(ctx, m.compiled, config)
	if err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	engine.module = instance
	engine.reserve = instance.ExportedFunction("engine_reserve")
	engine.call = instance.ExportedFunction("engine_call")
	return engine, nil
}

// Snapshot returns a copy of the engine's state. The copy is as large as the engine's memory.
func (e *Engine) Snapshot() (*Image, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.failed != nil {
		return nil, e.failed
	}
	memory := e.module.Memory()
	view, ok := memory.Read(0, memory.Size())
	if !ok {
		return nil, errors.New("engine: memory not readable")
	}
	return &Image{bytes.Clone(view)}, nil
}

// Close releases the engine's memory. Further calls do nothing.
func (e *Engine) Close() error {
	e.lock.Lock()
	defer e.lock.Unlock()
	if errors.Is(e.failed, ErrClosed) {
		return nil
	}
	e.failed = ErrClosed
	closed := e.module
	// An unclosed client refers to the engine as long as timers run.
	e.module, e.reserve, e.call = nil, nil, nil
	return closed.Close(context.Background())
}

// do executes an operation and returns a copy of the response. If the virtual machine stops because of an
// internal defect, the engine is unusable and every later call returns the same error.
func (e *Engine) do(operation uint64, request []byte) ([]byte, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.failed != nil {
		return nil, e.failed
	}
	response, err := e.exchange(operation, request)
	if err != nil {
		e.failed = fmt.Errorf("engine failed and cannot be used any more: %w: %s", err, e.stderr)
		return nil, e.failed
	}
	if response[0] != 0 {
		return nil, &RequestError{string(response[1:])}
	}
	return response[1:], nil
}

func (e *Engine) exchange(operation uint64, request []byte) ([]byte, error) {
	ctx := context.Background() // a canceled operation would leave the accounts half changed
	reserved, err := e.reserve.Call(ctx, uint64(len(request)))
	if err != nil {
		return nil, err
	}
	if !e.module.Memory().Write(uint32(reserved[0]), request) {
		return nil, errors.New("request buffer out of range")
	}
	answer, err := e.call.Call(ctx, operation)
	if err != nil {
		return nil, err
	}
	view, ok := e.module.Memory().Read(uint32(answer[0]>>32), uint32(answer[0]))
	if !ok || len(view) == 0 {
		return nil, errors.New("response out of range")
	}
	return bytes.Clone(view), nil
}

// stderr keeps the start of the module's error output: the panic message.
type stderr struct{ kept []byte }

const stderrLimit = 2 << 10

// Write implements io.Writer. It never fails.
func (s *stderr) Write(text []byte) (int, error) {
	s.kept = append(s.kept, text[:min(len(text), stderrLimit-len(s.kept))]...)
	return len(text), nil
}

func (s *stderr) String() string { return string(bytes.TrimSpace(s.kept)) }
