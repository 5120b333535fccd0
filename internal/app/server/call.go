package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// A call requests results of a client's function for some arguments, each set
// identified by its digest. The server returns cached results. The client computes
// the others, unless another client is computing them. While the client
// computes, no reply is due, so it may request other results on this connection or
// another one.
type call struct {
	server   *Server
	function *function
	sums     [][sha256.Size]byte
	flags    uint32
	cancel   context.CancelCauseFunc

	mu           sync.Mutex
	conn         *conn                    // that waits, or that carried the compute request
	descriptions map[uint32][]key.Part    // of arguments, by the client
	results      map[uint32]*clientResult // of results requested from the client
	failed       map[int]error            // errors of the client's computation
	arrived      chan struct{}
	requesting   sync.Mutex // serialises requests to the client
}

// clientResult is the client's result for one set of arguments.
type clientResult struct {
	encoded []byte
	whole   bool
	err     error
}

// Flags of calls.
const (
	callFind    = 1 << iota // compute nothing
	callRefresh             // delete the cached result first
	callInline              // send bytes even if a file has them
)

const (
	callHead    = 16      // bytes of a call before the digests
	maxSums     = 1 << 16 // per call
	maxComputed = 1 << 30 // bytes of results received from all clients and not stored yet
	maxError    = 1 << 10 // bytes of an error message
)

// raisedError is the error of a client that computed for others and failed. The
// others then compute themselves.
type raisedError struct{ text string }

func (e raisedError) Error() string { return e.text }

// errTooLarge is the error of a result that exceeds the memory for results.
var errTooLarge = fmt.Errorf("the server has no memory for the result: results that are not stored yet have %d MiB already", maxComputed>>20)

// call executes a call, if necessary in a goroutine of its own.
func (c *conn) call(body []byte) error {
	cl, within, err := c.parseCall(body)
	if err != nil {
		return err
	}
	l := c.server.options.Larder
	if len(cl.sums) == 1 && cl.flags&callRefresh == 0 && !l.Verifying() {
		find := cl.callOf(0).Peek
		if cl.flags&callFind != 0 {
			find = cl.callOf(0).Find
		}
		if r, ok := find(c.ctx, l); ok {
			return c.results(cl.entry(c.ctx, 0, r, nil))
		}
	}
	if !c.busy.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: a call before the reply to the one before", errProtocol)
	}
	ctx, cancel := context.WithCancelCause(c.server.calls.within(within, c.ctx))
	cl.cancel = cancel
	c.addPending(cl)
	c.work.Go(func() {
		defer cancel(nil)
		cl.run(ctx)
	})
	return nil
}

func (c *conn) parseCall(body []byte) (cl *call, within uint64, err error) {
	const size = sha256.Size
	n := len(body) - callHead
	if n < 0 || n%size != 0 || n/size > maxSums {
		return nil, 0, fmt.Errorf("%w: a call of %d bytes", errProtocol, len(body))
	}
	number := binary.LittleEndian.Uint32(body)
	if uint64(number) >= uint64(len(c.functions)) {
		return nil, 0, fmt.Errorf("%w: there is no function %d", errProtocol, number)
	}
	cl = &call{server: c.server, conn: c, function: c.functions[number], flags: binary.LittleEndian.Uint32(body[4:])}
	cl.sums = make([][size]byte, n/size)
	for i := range cl.sums {
		cl.sums[i] = [size]byte(body[callHead+i*size:])
	}
	return cl, binary.LittleEndian.Uint64(body[8:]), nil
}

// callOf returns the call for one set of arguments. Results stay encoded and are
// never modified.
func (cl *call) callOf(i int) larder.Call[encoded] {
	return larder.Call[encoded]{
		Action: cl.action(i), Value: encodedValue, Share: true,
		Compute: func(ctx context.Context) (encoded, error) {
			values, err := cl.requestComputation(ctx, []int{i})
			if partial, ok := errors.AsType[*larder.PartialError](err); ok {
				return nil, partial.Errs[0]
			}
			if err != nil {
				return nil, err
			}
			return values[0], nil
		},
	}
}

func (cl *call) action(i int) *key.Action {
	a, err := cl.function.op.Call(arguments{cl, uint32(i)})
	if err != nil {
		panic(err) // a digest is a valid key part
	}
	return a
}

// arguments are the arguments of a call of a client's function.
type arguments struct {
	call  *call
	index uint32
}

// AppendKey implements [key.Keyer].
func (a arguments) AppendKey(dst []byte) ([]byte, error) {
	if a.call == nil {
		return dst, nil
	}
	return append(dst, a.call.sums[a.index][:]...), nil
}

// Describe implements [key.Described] with the client's description.
func (a arguments) Describe() []key.Part {
	a.call.mu.Lock()
	defer a.call.mu.Unlock()
	if parts := a.call.descriptions[a.index]; parts != nil {
		return parts
	}
	return []key.Part{{Kind: key.ArgPart, Name: "arguments", Digest: key.DigestOf(a.call.sums[a.index][:])}}
}

// run gets the requested results and replies.
func (cl *call) run(ctx context.Context) {
	l := cl.server.options.Larder
	if cl.flags&callRefresh != 0 {
		if err := l.Forget(ctx, cl.keys()...); err != nil {
			cl.fail(err)
			return
		}
	}
	if cl.flags&callFind != 0 {
		ctx = larder.CachedOnly(ctx)
	}
	results, errs := make([]larder.Result[encoded], len(cl.sums)), make([]error, len(cl.sums))
	for todo := indices(len(cl.sums)); len(todo) > 0; {
		todo = cl.attempt(ctx, todo, results, errs)
	}
	if err := context.Cause(ctx); err != nil {
		cl.fail(err)
		return
	}
	entries := make([]entry, len(results))
	for i, r := range results {
		entries[i] = cl.entry(ctx, i, r, errs[i])
		if entries[i].as == resultStored && len(r.Value) >= fileBytes { // the next request should get the file of the store
			l.DropFromMemory(cl.action(i).Key(), r.Key)
		}
	}
	conn := cl.settled()
	if err := conn.results(entries...); err != nil {
		conn.end()
	}
}

// attempt gets results, and returns the indexes of those that failed because
// another client's computation failed.
func (cl *call) attempt(ctx context.Context, todo []int, results []larder.Result[encoded], errs []error) (again []int) {
	b := larder.Batch[encoded]{Compute: func(ctx context.Context, missing []int) ([]encoded, error) {
		which := make([]int, len(missing))
		for j, m := range missing {
			which[j] = todo[m]
		}
		return cl.requestComputation(ctx, which)
	}}
	for _, i := range todo {
		b.Calls = append(b.Calls, cl.callOf(i))
	}
	got, failed := b.Do(ctx, cl.server.options.Larder)
	for j, i := range todo {
		results[i], errs[i] = got[j], nil
		if failed == nil || failed[j] == nil {
			continue
		}
		errs[i] = failed[j]
		if !cl.hasFailed(i) && ctx.Err() == nil && others(failed[j]) {
			again = append(again, i)
		}
	}
	return again
}

// others reports whether an error is that of another client, which does not predict
// the result of this one.
func others(err error) bool {
	return is[raisedError](err) || errors.Is(err, errGone) || errors.Is(err, errTooLarge) || errors.Is(err, larder.ErrDeferred)
}

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func (cl *call) keys() []key.Key {
	keys := make([]key.Key, len(cl.sums))
	for i := range keys {
		keys[i] = cl.action(i).Key()
	}
	return keys
}

// requestComputation makes the client compute.
func (cl *call) requestComputation(ctx context.Context, which []int) ([]encoded, error) {
	cl.requesting.Lock()
	defer cl.requesting.Unlock()
	cl.mu.Lock()
	cl.results, cl.arrived = make(map[uint32]*clientResult, len(which)), make(chan struct{})
	for _, i := range which {
		cl.results[uint32(i)] = &clientResult{}
	}
	arrived, conn := cl.arrived, cl.conn
	cl.mu.Unlock()
	token := cl.server.calls.begin(cl, ctx)
	defer cl.server.calls.end(token)
	defer cl.drop()
	conn.busy.Store(false)
	err := conn.send(appendFrame(nil, kindCompute, func(b []byte) []byte {
		b = binary.LittleEndian.AppendUint64(b, token)
		for _, i := range which {
			b = binary.LittleEndian.AppendUint32(b, uint32(i))
		}
		return b
	}))
	if err != nil {
		return nil, errGone
	}
	select {
	case <-arrived:
	case <-conn.ctx.Done(): // clients that wait for it get this error
		return nil, errGone
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return cl.take(which)
}

// drop releases results of the client that were not taken.
func (cl *call) drop() {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	for _, m := range cl.results {
		cl.server.calls.pending.Add(-int64(len(m.encoded)))
	}
	cl.results = nil
}

// hasFailed reports whether the client failed to compute an item.
func (cl *call) hasFailed(i int) bool {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.failed[i] != nil
}

// take returns the results of the client.
func (cl *call) take(which []int) (values []encoded, err error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	values, errs := make([]encoded, len(which)), map[int]error{}
	for j, i := range which {
		m := cl.results[uint32(i)]
		cl.server.calls.pending.Add(-int64(len(m.encoded)))
		if values[j] = m.encoded; m.err != nil {
			errs[j] = m.err
			if cl.failed == nil {
				cl.failed = map[int]error{}
			}
			cl.failed[i] = m.err
		}
	}
	cl.results = nil
	if len(errs) > 0 {
		return values, &larder.PartialError{Errs: errs}
	}
	return values, nil
}

// settled returns the connection that waits for the reply, and marks it as idle.
func (cl *call) settled() *conn {
	cl.mu.Lock()
	conn := cl.conn
	cl.mu.Unlock()
	conn.removePending(cl)
	conn.busy.Store(false)
	return conn
}

func (cl *call) fail(err error) {
	conn := cl.settled()
	conn.fail(err)
}
