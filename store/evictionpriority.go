package store

import "time"

const (
	// recent is the precision of the last use of a record.
	recent = time.Hour
	// overhead is about the size of a record without its payload.
	overhead = 500
	// handling is the least cost per byte, in ns. A record whose cost is unknown or zero
	// counts as if it had been copied.
	handling = 1
)

// EvictionPriority returns what is lost if the record is evicted: its cost per byte of its size,
// divided by the time since its last use. Records with the lowest one are evicted first;
// among equal ones, the least recently used. This is hyperbolic caching (Blankstein et al.,
// USENIX ATC 2017) with one use.
func (i Info) EvictionPriority(now time.Time) float64 {
	bytes := float64(i.Size + overhead)
	return (float64(i.Cost)/bytes + handling) / float64(max(now.Sub(i.Used), recent))
}
