package flow

import (
	"errors"
	"log/slog"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/pool"
)

// RunOptions configure a run of a flow.
type RunOptions struct {
	Larder *larder.Larder // caches results; needed for keep and checkpoint
	Pool   *pool.Pool     // bounds the concurrency, and the bytes in use; nil means one sample per processor
	Only   []string       // nodes to run; none means all sinks and checkpoints
	Log    *slog.Logger   // takes warnings; nil means slog.Default()
	// Reads are the inputs, which must not be overwritten; nil means those of
	// [Flow.Inputs]. A caller that reads more adds it to these.
	Reads *pathguard.Inputs
	// Checkpoints stores the checkpoints; nil means the larder.
	Checkpoints Checkpoints
	// Discard releases the checkpoints after a run that succeeded.
	Discard bool
	// OnError applies to samples that a source or a mapper cannot compute,
	// unless the node has an option of its own.
	OnError OnError
	// Logs is the absolute path of a directory for the stderr of exec commands,
	// as NODE/SAMPLE.log for each sample with a command; "" means none.
	Logs string
	// Python is the program that runs functions of python mappers that name
	// none; "" leaves the choice to them.
	Python string
	// Stdin is the input of a source whose path is -; nil makes such a source
	// fail.
	Stdin *component.Input
	// Cached, if not nil, returns the cache of a node, or of one of its
	// outputs. It calls make, or returns a cache made earlier for the same node
	// ([Snapshot.Of]).
	Cached func(node, output string, make func() (*dataset.CachedDataset, error)) (*dataset.CachedDataset, error)
	// Trace, if not nil, returns for a node that reads or computes samples a
	// function that receives the position of each requested sample, one line
	// each.
	Trace func(node string) (write func(line []byte))
	// Observers receive the events in order, each observer in a goroutine of
	// its own and one event at a time. They never block the run. Progress comes
	// at most ten times a second per node, and a slow observer gets only the
	// latest; it gets all other events. A run that has ended waits at most five
	// seconds for them.
	Observers []func(Event)

	during func(Event) // in tests: holds the run up
}

// ErrRequest marks invalid requests, in contrast to work that failed.
var ErrRequest = errors.New("invalid request")

// requestError is an error that is an ErrRequest.
type requestError struct{ error }

func (e requestError) Unwrap() []error { return []error{e.error, ErrRequest} }
