package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder/key"
)

// calls are the computations requested from clients and not answered yet, by token.
type calls struct {
	pending atomic.Int64 // bytes of results that are not stored yet

	mu     sync.Mutex
	tokens map[uint64]pendingCall
	last   uint64
}

type pendingCall struct {
	call *call
	ctx  context.Context // of the computation
}

func (s *calls) begin(cl *call, ctx context.Context) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == nil {
		s.tokens = map[uint64]pendingCall{}
	}
	s.last++
	s.tokens[s.last] = pendingCall{cl, ctx}
	return s.last
}

func (s *calls) end(token uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tokens, token)
}

func (s *calls) get(token uint64) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[token].call
}

// within returns the context of a computation for requests made during it, so that
// cycles are detected. For other requests it returns the context of the connection.
func (s *calls) within(token uint64, otherwise context.Context) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.tokens[token]; ok {
		return c.ctx
	}
	return otherwise
}

// functionHandler returns the handler for frames of a kind about cached functions, or nil
// for other kinds. The reading goroutine calls it, because that has the lowest latency.
func (c *conn) functionHandler(k kind) func([]byte) error {
	switch k {
	case kindFunction:
		return c.function
	case kindCall:
		return c.call
	case kindAbout:
		return c.about
	case kindComputed:
		return c.handleResult
	case kindForget:
		return c.forget
	case kindWhy:
		return c.why
	}
	return nil
}

// handleFrame passes a frame to its handler. It reports errors, and protocol errors of the
// client end the connection.
func (c *conn) handleFrame(handle func([]byte) error, f frame) error {
	if !c.hello.Load() {
		return fmt.Errorf("%w: the first frame is a hello", errProtocol)
	}
	err := handle(f.body)
	if err == nil || errors.Is(err, errProtocol) {
		return err
	}
	c.fail(err)
	return nil
}

// addPending records that the connection waits for the reply of a call, which ends with
// the connection.
func (c *conn) addPending(cl *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[*call]bool{}
	}
	c.calls[cl] = true
}

// removePending undoes addPending.
func (c *conn) removePending(cl *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, cl)
}

// abandon ends the calls whose connection has gone.
func (c *conn) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cl := range c.calls {
		cl.cancel(errGone)
	}
}

// Flags of a client's results.
const (
	computedMore   = 1 << iota // more pieces of it follow
	computedFailed             // the computation failed; the error follows
	computedLast               // the last requested result
)

const computedHead = 16

// handleResult receives a piece of a result that the client was asked to compute.
func (c *conn) handleResult(body []byte) error {
	if len(body) < computedHead {
		return fmt.Errorf("%w: a frame computed of %d bytes", errProtocol, len(body))
	}
	token, index, flags := binary.LittleEndian.Uint64(body), binary.LittleEndian.Uint32(body[8:]), binary.LittleEndian.Uint32(body[12:])
	cl := c.server.calls.get(token)
	if cl == nil { // the server did not return a result, because its client seemed to have gone
		if flags&computedLast != 0 {
			return c.results()
		}
		return nil
	}
	if err := cl.add(index, flags, body[computedHead:]); err != nil {
		return err
	}
	if flags&computedLast == 0 {
		return nil
	}
	if !c.busy.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: a result frame arrived before the reply to the previous call", errProtocol)
	}
	cl.mu.Lock()
	before := cl.conn
	cl.conn = c
	arrived := cl.arrived
	cl.arrived = nil
	cl.mu.Unlock()
	if before != c {
		before.removePending(cl)
		c.addPending(cl)
	}
	if arrived == nil {
		return fmt.Errorf("%w: all results of the request are here already", errProtocol)
	}
	close(arrived)
	return nil
}

// add appends a piece of a result.
func (cl *call) add(index, flags uint32, piece []byte) error {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	m := cl.results[index]
	if m == nil || m.whole || cl.arrived == nil {
		return fmt.Errorf("%w: item %d was not requested", errProtocol, index)
	}
	m.whole = flags&computedMore == 0
	switch {
	case flags&computedFailed != 0:
		cl.server.calls.pending.Add(-int64(len(m.encoded)))
		m.encoded, m.err = nil, raisedError{string(piece[:min(len(piece), maxError)])}
	case m.err != nil:
	case cl.server.calls.pending.Add(int64(len(piece))) > maxComputed && len(m.encoded) > 0:
		cl.server.calls.pending.Add(-int64(len(m.encoded) + len(piece)))
		m.encoded, m.err = nil, errTooLarge
	default:
		m.encoded = append(m.encoded, piece...)
	}
	return nil
}

// about stores the client's descriptions of arguments, for explanations.
func (c *conn) about(body []byte) error {
	var r struct {
		Token uint64 `json:"token"`
		Items []struct {
			Index     uint32     `json:"index"`
			Arguments []argument `json:"arguments"`
		} `json:"items"`
	}
	if err := decode(body, &r); err != nil {
		return fmt.Errorf("%w: about: %w", errProtocol, err)
	}
	cl := c.server.calls.get(r.Token)
	if cl == nil {
		return nil
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.descriptions == nil {
		cl.descriptions = map[uint32][]key.Part{}
	}
	for _, item := range r.Items {
		if uint64(item.Index) >= uint64(len(cl.sums)) {
			return fmt.Errorf("%w: about: there is no item %d", errProtocol, item.Index)
		}
		parts, err := partsOf(item.Arguments)
		if err != nil {
			return fmt.Errorf("%w: about: %w", errProtocol, err)
		}
		cl.descriptions[item.Index] = parts
	}
	return nil
}

// An argument is a client's description of an argument, for explanations.
type argument struct {
	Name   string `json:"name"`
	Text   string `json:"text"`
	Digest string `json:"digest"`
}

func partsOf(list []argument) ([]key.Part, error) {
	parts := make([]key.Part, len(list))
	for i, a := range list {
		d, err := key.ParseDigest(a.Digest)
		if err != nil {
			return nil, errors.New("invalid digest")
		}
		parts[i] = key.Part{Kind: key.ArgPart, Name: a.Name, Value: a.Text[:min(len(a.Text), maxText)], Digest: d}
	}
	return parts, nil
}

const maxText = 200 // bytes of a description

// forget deletes results.
func (c *conn) forget(body []byte) error {
	cl, _, err := c.parseCall(body)
	if err != nil {
		return err
	}
	if err := c.server.options.Larder.Forget(c.ctx, cl.keys()...); err != nil {
		return err
	}
	return c.reply(kindForgotten, map[string]int{"forgotten": len(cl.sums)})
}
