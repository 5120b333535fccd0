package flow

import (
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// state is the state of a node in a run. It is connected to the others by
// newRun. leaveUnchanged may set unchanged: the node then does nothing. Any
// other node is built after its inputs: it gets data, or if it is a sink, writes
// its output. Only then may its results be computed before they are read, and
// its counters settle. ended is closed last.
type state struct {
	*Node

	// Connected.
	at      int                 // its index among the states
	inputs  []*state            // nodes that it reads
	readers []*state            // nodes that read it
	target  bool                // the run does its work, and not only for readers
	only    []string            // of a target: the outputs that are wanted; nil means all
	eager   bool                // its results must be stored when they are computed, not later
	pinned  bool                // it is a checkpoint, requested or decided
	slots   *semaphore.Weighted // of the node's mapper, one per sample; nil means no bound
	pool    *pool.Pool          // of the node, if it has its own
	ended   chan struct{}       // closed once the node's work in a run is done

	// Of a run in shards: see stages.
	stage     int  // in which ranges of the node are computed; 0 if none are
	after     int  // the last stage that must be complete before the node is built
	aligned   int  // the stage of an upstream node with samples at the same positions
	uncovered bool // there are cached results up to here that no upstream stage computes

	// Compared with an earlier run.
	writing   *writing  // how a sink is written, if known
	unchanged bool      // its output is up to date, and no sample is read
	ops       []key.Key // of the mappers that it applies, as a writing has them

	// Built.
	opened   component.Samples // of a source that was opened to look ahead
	data     component.Data
	known    component.KeyParts // what identifies the stream of a source, if known
	manifest []*manifest
	caches   []*dataset.CachedDataset
	decision string // on checkpoint: auto and an auto cache

	// Counted.
	stats   dataset.NodeStats
	spent   time.Duration // wall time of building, applying, writing
	samples int64
	copied  int64        // samples of a sink that were written before and are not read
	passed  atomic.Int64 // samples of a stream that passed
	passes  passes
	skipped []Skip
}

// place names one part of a node's data: the node, or one of its outputs.
func (s *state) place(outputs []string, i int) string {
	in := Input{Node: s.Name}
	if outputs != nil {
		in.Output = outputs[i]
	}
	return in.String()
}

// worthCaching reports whether a node may have a cache: nodes that read or
// compute samples. Reordered samples are those of the input.
func worthCaching(s *state) bool { return s.Component.Kind != component.Op || s.Component.Maps }
