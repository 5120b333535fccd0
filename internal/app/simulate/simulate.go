package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/order"
)

// A Result is the hit count of a policy on a pattern.
type Result struct {
	Pattern string  `json:"pattern"`
	Policy  string  `json:"policy"`
	Size    int     `json:"size"`     // of the cache, in items
	Calls   int     `json:"calls"`    // accesses
	Hits    int     `json:"hits"`     // accesses that found their item
	HitRate float64 `json:"hit_rate"` // Hits/Calls, from 0 to 1
}

// Opt is the policy that knows all future accesses. All others, including auto,
// know only the past.
const Opt = "opt"

// Policies lists the policies that can be simulated.
func Policies() []string { return append(cache.Policies(), Opt) }

// Run sends a trace through a cache with a policy and a size in items. The policy
// memo has no bound.
func Run(pattern, policy string, size int, trace []int) (Result, error) {
	c, err := newCache(policy, size, trace)
	if err != nil {
		return Result{}, err
	}
	r := Result{Pattern: pattern, Policy: policy, Size: size, Calls: len(trace)}
	for _, k := range trace {
		if _, ok := c.Get(k); ok {
			r.Hits++
		} else {
			c.Put(k, struct{}{}, 1, 0)
		}
	}
	if r.Calls > 0 {
		r.HitRate = float64(r.Hits) / float64(r.Calls)
	}
	return r, nil
}

func newCache(policy string, size int, trace []int) (*cache.Cache[int, struct{}], error) {
	switch {
	case !slices.Contains(Policies(), policy):
		return nil, fmt.Errorf("there is no policy %q; there are %s", policy, strings.Join(Policies(), ", "))
	case size < 1:
		return nil, fmt.Errorf("a cache of %d items cannot hold an item; give at least one", size)
	case policy == Opt && len(trace) > 0:
		future, err := order.Index(slices.Max(trace)+1, trace)
		if err != nil {
			return nil, err
		}
		return cache.NewOrdered[struct{}](cache.Options{Size: size}, future)
	case policy == Opt || policy == "memo":
		return cache.New[int, struct{}](cache.Options{Policy: "memo"})
	}
	return cache.New[int, struct{}](cache.Options{Policy: policy, Size: size})
}
