package pool_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/pool"
)

// TestAtLeast checks that workers take slow elements one at a time, unless a minimum is set, and use the slots of the
// pool.
func TestAtLeast(t *testing.T) {
	for name, p := range map[string]*pool.Pool{"of its own": pool.New(2), "no pool": nil} {
		for _, c := range []struct {
			n, least int
			want     [][2]int
		}{
			{0, 7, nil},
			{3, 7, [][2]int{{0, 3}}},
			{20, 7, [][2]int{{0, 7}, {7, 14}, {14, 20}}},
			{4, 1, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}}},
			{3, -1, [][2]int{{0, 1}, {1, 2}, {2, 3}}},
		} {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var taken [][2]int
				note := func(from, to int) {
					mu.Lock()
					taken = append(taken, [2]int{from, to})
					mu.Unlock()
					<-time.After(time.Second) // elements take long
				}
				err := p.AtLeast(c.least).Ranges(t.Context(), c.n, func(_ context.Context, from, to int) (int, error) {
					note(from, to)
					return to - from, nil
				})
				slices.SortFunc(taken, func(a, b [2]int) int { return a[0] - b[0] })
				if err != nil || !slices.Equal(taken, c.want) {
					t.Errorf("%s: of %d elements, at least %d at a time: %v, %v", name, c.n, c.least, taken, err)
				}
				taken = nil
				for _, err := range pool.Stream(t.Context(), p.AtLeast(c.least), c.n, func(_ context.Context, from, to int) ([]int, error) {
					note(from, to)
					return make([]int, to-from), nil
				}) {
					if err != nil {
						t.Fatal(err)
					}
				}
				slices.SortFunc(taken, func(a, b [2]int) int { return a[0] - b[0] })
				if !slices.Equal(taken, c.want) {
					t.Errorf("%s: of a stream of %d elements, at least %d at a time: %v", name, c.n, c.least, taken)
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var c crowd
		p := pool.New(3)
		var wait sync.WaitGroup
		for range 2 {
			wait.Go(func() { _ = p.AtLeast(2).Each(t.Context(), 10, c.work) })
		}
		if wait.Wait(); c.most != 3 {
			t.Errorf("%d concurrent calls in a pool of 3", c.most)
		}
	})
}
