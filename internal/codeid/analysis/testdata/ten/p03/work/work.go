// Package work runs things in parallel.
package work

import (
	"context"
	"sync"
)

// Rows calls f for each number below n, on some goroutines.
func Rows(n, workers int, f func(y int)) {
	var wg sync.WaitGroup
	rows := make(chan int)
	for range workers {
		wg.Go(func() {
			for y := range rows {
				f(y)
			}
		})
	}
	for y := range n {
		rows <- y
	}
	close(rows)
	wg.Wait()
}

// Map applies f to all of a list and keeps the order.
func Map[A, B any](ctx context.Context, workers int, list []A, f func(context.Context, A) (B, error)) ([]B, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([]B, len(list))
	sem := make(chan struct{}, workers)
	var wg sync.WaitGroup
	for i, a := range list {
		select {
		case sem <- struct{}{}:
		case <-ctx.Done():
			wg.Wait()
			return nil, context.Cause(ctx)
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { <-sem }()
			b, err := f(ctx, a)
			if err != nil {
				cancel(err)
				return
			}
			out[i] = b
		}()
	}
	wg.Wait()
	return out, context.Cause(ctx)
}
