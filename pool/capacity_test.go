package pool

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSpaceIsAsItsModel compares random requests, releases, waits and cancellations with a model. The bytes in use are
// those granted and not released. The limit is exceeded only where no computation runs, and then no request waits.
func TestSpaceIsAsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 10
		r := newCapacity(limit)
		shares := make([]*share, 4)
		for i := range shares {
			shares[i] = &share{capacity: r}
		}
		var asked []*request
		has, waits := map[*share]int64{}, map[*share]int{}
		used := func() (n int64) {
			for _, b := range has {
				n += b
			}
			return n
		}
		works := func() bool {
			for _, s := range shares {
				if has[s] > 0 && waits[s] == 0 {
					return true
				}
			}
			return false
		}
		// settle applies the grants, in an order in which they could have happened.
		var settle func() bool
		settle = func() bool {
			granted := 0
			for i, q := range asked {
				select {
				case <-q.granted:
				default:
					continue
				}
				granted++
				if used()+q.bytes > limit && works() {
					continue
				}
				before := asked
				asked = slices.Concat(asked[:i], asked[i+1:])
				has[q.share] += q.bytes
				waits[q.share]--
				if settle() {
					return true
				}
				asked = before
				has[q.share] -= q.bytes
				waits[q.share]++
			}
			return granted == 0
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				s := rapid.SampledFrom(shares).Draw(t, "share")
				q := &request{s, rapid.Int64Range(1, 15).Draw(t, "bytes"), make(chan struct{})}
				asked = append(asked, q)
				waits[s]++
				r.ask(q)
			},
			"give up": func(t *rapid.T) {
				if len(asked) == 0 {
					t.Skip("no request waits")
				}
				i := rapid.IntRange(0, len(asked)-1).Draw(t, "request")
				if q := asked[i]; r.giveUp(q) {
					waits[q.share]--
					asked = slices.Concat(asked[:i], asked[i+1:])
				}
			},
			"wait": func(t *rapid.T) {
				s := rapid.SampledFrom(shares).Draw(t, "share")
				waits[s]++
				s.wait(1)
			},
			"go on": func(t *rapid.T) {
				s := rapid.SampledFrom(shares).Draw(t, "share")
				waiting := 0
				for _, q := range asked {
					if q.share == s {
						waiting++
					}
				}
				if waits[s] == waiting {
					t.Skip("it waits for bytes alone")
				}
				waits[s]--
				s.wait(-1)
			},
			"end": func(t *rapid.T) {
				s := rapid.SampledFrom(shares).Draw(t, "share")
				has[s] = 0
				s.end()
			},
			"": func(t *rapid.T) {
				if !settle() {
					t.Fatal("bytes were granted beyond the bound, while others worked")
				}
				if r.used != used() || (r.working > 0) != works() || len(r.waiting) != len(asked) {
					t.Fatalf("used %d, working %d, waiting %d; want %d, %v, %d", r.used, r.working, len(r.waiting), used(), works(), len(asked))
				}
				if len(asked) > 0 && !works() {
					t.Fatalf("%d wait while no request works", len(asked))
				}
			},
		})
	})
}
