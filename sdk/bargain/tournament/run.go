package tournament

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Run plays the blocks starting at number from, and calls each with every block, in sequence. If workers is
// zero, Run uses GOMAXPROCS workers. It returns the first error from a session, each or ctx. Memory is
// bounded by the blocks waiting for an earlier block: two per worker.
func (p *Plan) Run(ctx context.Context, workers, from int, each func(*Block) error) error {
	if err := p.Check(); err != nil {
		return err
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	group, ctx := errgroup.WithContext(ctx)
	// Two further goroutines start the workers and collect their blocks.
	group.SetLimit(workers + 2)
	// Workers leave their blocks in slots. The queue orders the slots.
	queue := make(chan chan *Block, 2*workers)
	group.Go(func() error { return p.start(ctx, group, from, queue) })
	group.Go(func() error {
		for slot := range queue {
			select {
			case block := <-slot:
				if err := each(block); err != nil {
					return err
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
	return group.Wait()
}

// start starts workers for the blocks.
func (p *Plan) start(ctx context.Context, group *errgroup.Group, from int, queue chan<- chan *Block) error {
	defer close(queue)
	var scenario *Scenario
	for number := from; number < p.Blocks(); number++ {
		at, first := p.position(number)
		if scenario == nil || first == 0 {
			var err error
			if scenario, err = p.Scenarios.Scenario(at); err != nil {
				return err
			}
		}
		slot := make(chan *Block, 1)
		select {
		case queue <- slot:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		played := scenario
		group.Go(func() error {
			block, err := p.play(number, played)
			if err == nil {
				slot <- block
			}
			return err
		})
	}
	return nil
}
