package simulate

import (
	"testing"

	"github.com/larder-data/larder/cache"
)

// best returns the hits of auto on a trace, and the highest hits of any other policy
// without knowledge of the future.
func best(t *testing.T, pattern string, size int, trace []int) (auto, most int) {
	t.Helper()
	for _, policy := range cache.Policies() {
		if policy == "memo" {
			continue
		}
		r, err := Run(pattern, policy, size, trace)
		if err != nil {
			t.Fatal(err)
		}
		if policy == "auto" {
			auto = r.Hits
		} else {
			most = max(most, r.Hits)
		}
	}
	return auto, most
}

// TestAutoOnShortRuns checks six epochs of 400 items through a cache of 100. The run is
// short, so auto's first choice counts.
func TestAutoOnShortRuns(t *testing.T) {
	for _, c := range []struct {
		pattern    string
		auto, most int
	}{
		{"cyclic", 500, 500},
		{"shuffled-epochs", 500, 500},
		{"mixture", 1303, 1303},
		{"zipfian", 2337, 2337},
		{"blocks", 1800, 1899},
		{"sliding-window", 1734, 1797},
		{"two-jobs", 440, 543},
	} {
		p, err := Named(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := p.Trace(400, 2400, 1)
		if err != nil {
			t.Fatal(err)
		}
		if auto, most := best(t, c.pattern, 100, trace); auto != c.auto || most != c.most {
			t.Errorf("%s: auto has %d hits and the best policy %d of 2400; want %d and %d", c.pattern, auto, most, c.auto, c.most)
		}
	}
}

// TestAutoIsNearTheBestOnShortRuns checks the statement of docs/guides/caching.md about
// runs of three epochs and more.
func TestAutoIsNearTheBestOnShortRuns(t *testing.T) {
	for epochs, lacks := range map[int]float64{3: 2, 24: 1} {
		sum, n := 0.0, 0.0
		for _, p := range Patterns() {
			for _, items := range []int{26, 100, 400} {
				for _, part := range []int{5, 25, 60} {
					trace, err := p.Trace(items, epochs*items, 1)
					if err != nil {
						t.Fatal(err)
					}
					auto, most := best(t, p.Name, items*part/100, trace)
					sum, n = sum+100*float64(most-auto)/float64(len(trace)), n+1
				}
			}
		}
		if sum/n > lacks {
			t.Errorf("in %d epochs auto lacks %.2f points on average, want %v at most", epochs, sum/n, lacks)
		} else {
			t.Logf("in %d epochs auto lacks %.2f points on average", epochs, sum/n)
		}
	}
}
