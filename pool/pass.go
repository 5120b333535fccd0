package pool

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Each calls do for every i in [0, n), in about that order. The first error ends the
// pass: it cancels the context of the other calls, and no new calls are made.
func (p *Pool) Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	return p.pass(ctx, &spans{n: n, limit: 1}, func(ctx context.Context, from, _ int) (int, error) {
		return 1, do(ctx, from)
	})
}

// Ranges calls do for all of [0, n), several consecutive elements per call. do returns
// how many of them, from the first on, it has done: at least one unless it failed.
// Another worker takes the rest. do should end after [Patience]. Otherwise Ranges
// behaves as [Pool.Each].
func (p *Pool) Ranges(ctx context.Context, n int, do func(ctx context.Context, from, to int) (done int, err error)) error {
	all := p.spansOf(n)
	return p.pass(ctx, &all, do)
}

func (p *Pool) pass(ctx context.Context, left *spans, do func(ctx context.Context, from, to int) (done int, err error)) error {
	g, ctx := errgroup.WithContext(ctx)
	ctx, slots := p.passes(ctx)
	all := &workerGroup{workers: p.Workers()}
	take := func() (span, bool) { return left.take(left.n) }
	work := func(t span) error {
		inner, end, err := slots.begin(ctx, all)
		if err != nil {
			return err
		}
		defer end()
		inner, passed := stopwatch(inner)
		done, err := do(inner, t.from, t.to)
		d := passed()
		slots.observe(d)
		all.mu.Lock()
		defer all.mu.Unlock()
		left.settle(t, done, err != nil, d)
		return err
	}
	all.run(left.n, func() {
		g.Go(func() error { return all.work(take, work) })
	})
	if err := g.Wait(); err != nil || !all.broken {
		return err
	}
	return errEnded
}
