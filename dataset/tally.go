package dataset

import (
	"sync/atomic"
	"time"
)

// A Tally counts what happened at one node. It may be used by many goroutines.
type Tally struct {
	Computed, FromMemory, FromStore, Failed atomic.Int64 // samples
	BytesRead, BytesWritten                 atomic.Int64 // encoded bytes, from and to the store
	// Done of Total is the progress of whoever goes through all samples of
	// the node; Total is 0 where nobody does.
	Done, Total atomic.Int64

	// Settled says that every sample was handed out: hits on what is read
	// back after that are not counted again.
	Settled atomic.Bool

	nanos, saved atomic.Int64
}

// Spent returns the time spent in the node's own function.
func (t *Tally) Spent() time.Duration { return time.Duration(t.nanos.Load()) }

// Saved returns the time that hits did not spend.
func (t *Tally) Saved() time.Duration { return time.Duration(t.saved.Load()) }
