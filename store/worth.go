package store

import "time"

const (
	// recent is to what the last use of a record is known.
	recent = time.Hour
	// overhead is about what a record takes besides its payload.
	overhead = 500
	// handling is what any byte costs to make, in ns: that of a record whose
	// cost is not known, or nothing, is as if it were copied.
	handling = 1
)

// Worth says what is lost if the record is evicted: what it cost, for each byte
// that it takes, and less the longer ago it was last used, as that is how likely
// it is to be used soon. The records worth least go first; of those that are
// worth the same, the one used longest ago. (This is the rank of hyperbolic
// caching, Blankstein et al., USENIX ATC 2017, with one use.)
func (i Info) Worth(now time.Time) float64 {
	bytes := float64(i.Size + overhead)
	return (float64(i.Cost)/bytes + handling) / float64(max(now.Sub(i.Used), recent))
}
