package engine

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// The module that toolchain/build-engine builds from program/wasm, plus two lines with the SHA-256 hashes of
// the uncompressed module and the sources.
var (
	//go:embed engine.wasm.zst
	compressed []byte
	//go:embed engine.wasm.sha256
	checksum string
)

// MemoryLimit is an engine's maximum memory in bytes. Engines that need more fail.
const MemoryLimit = 1 << 30

const (
	pageSize = 64 << 10
	// moduleLimit is above the size of the uncompressed module.
	moduleLimit = 64 << 20
)

// Module is the compiled virtual machine. It is safe for concurrent use.
type Module struct {
	runtime  wazero.Runtime
	cache    wazero.CompilationCache
	compiled wazero.CompiledModule

	starting sync.Mutex
	// initial is the first engine's memory when initialized; further engines start from it.
	initial *Image
}

// Compile compiles the module for this processor, which takes 1 to 3 s. The result is kept in the directory
// cache, and a later call takes 0.2 s. If cache is empty, nothing is kept. Close releases the module.
func Compile(ctx context.Context, cache string) (*Module, error) {
	wasm, err := uncompress()
	if err != nil {
		return nil, err
	}
	m := &Module{}
	config := runtimeConfig().WithMemoryLimitPages(MemoryLimit / pageSize)
	if cache != "" {
		if m.cache, err = wazero.NewCompilationCacheWithDir(cache); err != nil {
			return nil, fmt.Errorf("compilation cache %s: %w", cache, err)
		}
		config = config.WithCompilationCache(m.cache)
	}
	m.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if _, err = wasi_snapshot_preview1.Instantiate(ctx, m.runtime); err == nil {
		m.compiled, err = m.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0)), wasm)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compile the engine: %w", err), m.Close())
	}
	return m, nil
}

// runtimeConfig chooses how the module is executed. The arm64 code that wazero 1.12 compiles computes wrong
// digits in this module, as the engine's tests show under qemu; the interpreter is correct there, but slower.
func runtimeConfig() wazero.RuntimeConfig {
	if runtime.GOARCH == "arm64" {
		return wazero.NewRuntimeConfigInterpreter()
	}
	return wazero.NewRuntimeConfig()
}

// Close releases the module and all engines created from it.
func (m *Module) Close() error {
	err := m.runtime.Close(context.Background())
	if m.cache != nil {
		err = errors.Join(err, m.cache.Close(context.Background()))
	}
	return err
}

// uncompress returns the WebAssembly module after comparing it with the checksum.
func uncompress() ([]byte, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(moduleLimit))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	wasm, err := decoder.DecodeAll(compressed, nil)
	if err != nil {
		return nil, fmt.Errorf("uncompress the engine: %w", err)
	}
	if sum := sha256.Sum256(wasm); !strings.HasPrefix(checksum, hex.EncodeToString(sum[:])+" ") {
		return nil, errors.New("engine.wasm.zst does not match engine.wasm.sha256: build both with toolchain/build-engine")
	}
	return wasm, nil
}
