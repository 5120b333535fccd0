package simulate_test

import (
	"fmt"

	"github.com/larder-data/larder/internal/app/simulate"
)

// Policies differ in their hits on one pattern: 26 items, repeatedly, through a cache of 5.
func ExampleRun() {
	p, err := simulate.Named("cyclic")
	if err != nil {
		panic(err)
	}
	trace, err := p.Trace(26, 2600, 0)
	if err != nil {
		panic(err)
	}
	for _, policy := range []string{"lru", "hold", simulate.Opt} {
		r, err := simulate.Run(p.Name, policy, 5, trace)
		fmt.Printf("%s %.1f %% %v\n", policy, 100*r.HitRate, err)
	}
	// Output:
	// lru 0.0 % <nil>
	// hold 19.0 % <nil>
	// opt 19.0 % <nil>
}
