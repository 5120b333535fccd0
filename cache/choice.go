package cache

// choice selects the candidate to follow by their hits.
//
// It follows the candidate with the most recent hits, once the current one is behind by
// a margin of about the cost of a change. This fails if the best candidate changes as
// fast as it is found. So it is done only while it has lost at most 0.25 % of all reads
// against the candidate with the most hits in total; after that it follows that one.
type choice struct {
	current int // the candidate to follow
	size    float64
	rough   bool // the cache may have other hits than the shadow

	hits   [len(candidates)]float64 // since the last comparison
	behind [len(candidates)]float64 // recent hits behind the best, at most the margin
	ever   [len(candidates)]float64 // all hits
	held   float64                  // hits of the cache since the last comparison
	own    float64                  // all hits of the cache
	reads  float64

	leader   int     // the candidate with most hits ever, or nearly
	patience float64 // how many more hits another one must have
}

const (
	period  = 16     // reads between comparisons
	allowed = 0.0025 // share of reads that following recent hits may cost
	growth  = 1.6    // of patience, whenever the leader changes
)

func newChoice(first, size int, rough bool) choice {
	c := choice{current: first, leader: first, size: float64(size), rough: rough}
	c.patience = c.margin()
	return c
}

func (c *choice) margin() float64 { return 2 + c.size/2 }

// read counts a read after the hits of the candidates. It reports whether the candidate
// to follow changed.
func (c *choice) read(hit bool) bool {
	if hit {
		c.held++
	}
	if c.reads++; int(c.reads)%period != 0 {
		return false
	}
	best := c.count()
	was := c.current
	if best-c.own > allowed*c.reads+c.margin() {
		c.current = c.leader
	} else if c.behind[c.current] >= c.margin() {
		c.current = lowest(c.behind[:])
	}
	return c.current != was
}

// count adds the hits since the last comparison, and returns the hits of the best
// candidate.
func (c *choice) count() float64 {
	c.own += c.held
	if c.rough {
		c.hits[c.current] = c.held
	}
	best := 0
	for i, hits := range c.hits {
		c.ever[i] += hits
		c.behind[i] -= hits
		if c.ever[i] > c.ever[best] {
			best = i
		}
	}
	if c.ever[best]-c.ever[c.leader] > c.patience {
		c.leader = best
		c.patience *= growth
	}
	first := c.behind[lowest(c.behind[:])]
	for i := range c.behind {
		c.behind[i] = min(c.behind[i]-first, c.margin())
	}
	c.held, c.hits = 0, [len(candidates)]float64{}
	return c.ever[best]
}

func lowest(all []float64) int {
	at := 0
	for i, x := range all {
		if x < all[at] {
			at = i
		}
	}
	return at
}
