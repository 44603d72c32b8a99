package haggle_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// An agent with nodes of three providers continues as long as any node is healthy, and no read goes back in
// time.
func ExampleConfig_fallbacks() {
	client, err := haggle.NewClient(haggle.Config{
		Endpoint: "https://api.devnet.solana.com",
		Fallbacks: []string{
			"https://devnet.provider.example/?api-key=" + os.Getenv("PROVIDER_KEY"),
			"https://other.example/" + os.Getenv("OTHER_KEY"),
		},
		RequestsPerSecond: 40,
		Logger:            slog.Default(),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	now, err := client.Now(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		log.Fatal("no node has answered in time: ", err)
	case errors.Is(err, transaction.ErrBehind):
		log.Fatal("the only nodes that answer are behind: ", err)
	case err != nil:
		log.Fatal(err)
	}
	fmt.Println(now)
	for _, node := range client.Nodes() {
		fmt.Println(node.Host, node.Latency, node.Lag, node.Err)
	}
}

// Any OpenTelemetry exporter can receive a client's spans and metrics.
func ExampleConfig_telemetry() {
	var (
		tracers trace.TracerProvider // for example a *trace.TracerProvider of go.opentelemetry.io/otel/sdk
		meters  metric.MeterProvider
	)
	client, err := haggle.NewClient(haggle.Config{
		Endpoint:       "https://api.devnet.solana.com",
		TracerProvider: tracers,
		MeterProvider:  meters,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
}
