package server

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/loader"
)

// protocolVersion is the version of the protocol.
const protocolVersion = 1

// A conn is a connection. One goroutine reads its frames. It executes those about
// cached functions itself (calls.go). Another one executes the other requests, and a third
// one sends the batches of the current reading.
type conn struct {
	server *Server
	number int
	pid    int
	file   *os.File
	ctx    context.Context
	cancel context.CancelCauseFunc
	began  time.Time

	requests chan frame

	write sync.Mutex // serialises frames
	out   []byte     // reused buffer

	mu       sync.Mutex
	client   string // its own description
	pipeline *pipeline
	reading  *reading
	slots    map[uint32]slot
	nextSlot uint32
	ring     *ring          // of the current or the last reader
	calls    map[*call]bool // that wait for replies on this connection

	hello atomic.Bool

	functions []*function    // used only by the reading goroutine
	busy      atomic.Bool    // a call is in progress, whose reply is due next
	work      sync.WaitGroup // of calls
}

// A slot is a batch that the client uses.
type slot struct {
	batch    *loader.Batch
	reading  *reading
	retained bool // the client retains it
}

func newConn(s *Server, number int, file *os.File, pid int) *conn {
	c := &conn{server: s, number: number, file: file, pid: pid, began: time.Now(), requests: make(chan frame, maxWaiting), slots: map[uint32]slot{}}
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	return c
}

// maxWaiting bounds the queued requests of a client.
const maxWaiting = 64

var errGone = errors.New("the client has gone")

// serve serves the connection until its client disconnects.
func (c *conn) serve() {
	var work sync.WaitGroup
	work.Go(c.serveRequests)
	err := c.receive()
	close(c.requests)
	c.cancel(errGone)
	c.abandon()
	if errors.Is(err, errProtocol) {
		c.fail(err)
	}
	c.end()
	work.Wait()
	c.work.Wait()
	c.leave()
	_ = c.file.Close()
}

// end shuts the connection down: its reads and writes return.
func (c *conn) end() { shutdown(c.file) }

// receive reads frames. It handles released slots immediately.
func (c *conn) receive() error {
	eager, err := newEagerReader(c.file)
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(eager, 4096)
	for {
		f, err := readFrame(r, maxRequest)
		if err != nil {
			return err
		}
		if f.kind == kindRelease || f.kind == kindKeep {
			if err := c.releaseOrRetain(f); err != nil {
				return err
			}
			continue
		}
		if handle := c.functionHandler(f.kind); handle != nil {
			if err := c.handleFrame(handle, f); err != nil {
				return err
			}
			eager.hasten()
			continue
		}
		select {
		case c.requests <- f:
		default:
			return fmt.Errorf("%w: more than %d requests wait for their replies", errProtocol, maxWaiting)
		}
	}
}

// releaseOrRetain releases slots that the client has finished with, or marks those that it
// retains.
func (c *conn) releaseOrRetain(f frame) error {
	if len(f.body)%4 != 0 {
		return fmt.Errorf("%w: slots of %d bytes", errProtocol, len(f.body))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for chunk := range slices.Chunk(f.body, 4) {
		n := binary.LittleEndian.Uint32(chunk)
		s, ok := c.slots[n]
		switch {
		case !ok && n >= c.nextSlot:
			return fmt.Errorf("%w: there is no slot %d to release or to keep", errProtocol, n)
		case !ok: // of a reader that has ended
		case f.kind == kindKeep:
			c.slots[n] = s.keep()
		default:
			delete(c.slots, n)
			s.release()
		}
	}
	return nil
}

// keep marks a slot as retained. Its reader may continue as if it had been
// released, but must not reuse its memory.
func (s slot) keep() slot {
	if !s.retained {
		s.retained = true
		s.reading.ring.keep(int64(cap(s.batch.Data)))
		s.reading.returned()
	}
	return s
}

func (s slot) release() {
	size := int64(cap(s.batch.Data))
	s.batch.Release()
	if s.retained {
		s.reading.ring.keep(-size)
	} else {
		s.reading.returned()
	}
}

// serveRequests executes requests in sequence.
func (c *conn) serveRequests() {
	for f := range c.requests {
		if c.ctx.Err() != nil && f.kind != kindEnd { // no client waits for it
			continue
		}
		if err := c.request(f); err != nil {
			c.fail(err)
			if errors.Is(err, errProtocol) {
				c.end()
				return
			}
		}
	}
}

func (c *conn) request(f frame) error {
	if !c.hello.Load() && f.kind != kindHello {
		return fmt.Errorf("%w: the first frame is a hello", errProtocol)
	}
	switch f.kind {
	case kindHello:
		return c.greet(f.body)
	case kindOpen:
		return c.open(f.body)
	case kindStart:
		return c.start(f.body)
	case kindGet:
		return c.get(f.body)
	case kindStop:
		c.stop()
		return nil
	case kindStatus:
		return c.reply(kindStatuses, c.server.status(c))
	case kindEnd:
		c.server.Shutdown()
		return nil
	}
	return fmt.Errorf("%w: a client sends no frames of kind %d", errProtocol, f.kind)
}

func (c *conn) greet(body []byte) error {
	var r struct {
		Protocol []int  `json:"protocol"`
		Client   string `json:"client"`
	}
	if err := decode(body, &r); err != nil {
		return fmt.Errorf("%w: hello: %w", errProtocol, err)
	}
	if !slices.Contains(r.Protocol, protocolVersion) {
		return fmt.Errorf("%w: this server speaks version %d, and the client versions %d", errProtocol, protocolVersion, r.Protocol)
	}
	c.hello.Store(true)
	c.mu.Lock()
	c.client = fmt.Sprintf("%.100s", r.Client)
	c.mu.Unlock()
	o := &c.server.options
	return c.reply(kindWelcome, map[string]any{"protocol": protocolVersion, "version": o.Version, "pid": os.Getpid(), "cache": o.Cache})
}

func (c *conn) open(body []byte) error {
	var o openRequest
	if err := decode(body, &o); err != nil {
		return requestError{fmt.Errorf("open: %w", err)}
	}
	c.leave()
	p, err := c.server.pipelines.get(c.ctx, &o, "", c.note)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.pipeline = p
	c.mu.Unlock()
	e, err := p.loader.Plan().Epoch(0)
	if err != nil {
		return err
	}
	return c.reply(kindOpened, map[string]any{"parts": p.parts, "batches": e.Batches(0), "stamp": p.look.Stamp()})
}

// leave releases what is open.
func (c *conn) leave() {
	c.stop()
	c.drop()
	c.mu.Lock()
	p := c.pipeline
	c.pipeline = nil
	c.mu.Unlock()
	if p != nil {
		c.server.pipelines.leave(p)
	}
}

func (c *conn) start(body []byte) error {
	var o startRequest
	if err := decode(body, &o); err != nil {
		return requestError{fmt.Errorf("start: %w", err)}
	}
	c.stop()
	if c.pipeline == nil {
		return requestError{errors.New("start: no pipeline is open")}
	}
	if !o.Again {
		c.drop()
	}
	if text := c.pipeline.sharded; text != "" && o.WorldSize > 1 && o.Rank == 0 {
		c.note("warning", text)
	}
	again := c.ring != nil
	r, err := c.newReading(&o)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.reading = r
	c.mu.Unlock()
	reply := map[string]any{"prefix": prefixOf(r.from), "batches": r.batches, "ring": r.ring.bytes(), "again": again}
	if again {
		err = c.reply(kindStarted, reply)
	} else if b, e := appendJSON(nil, kindStarted, reply); e != nil {
		err = e
	} else {
		err = c.sendFile(b, r.ring.memory.File)
	}
	if err == nil && r.window > 0 {
		r.run()
	}
	return err
}

// stop ends the current reading.
func (c *conn) stop() {
	c.mu.Lock()
	r := c.reading
	c.reading = nil
	c.mu.Unlock()
	if r != nil {
		r.stop()
	}
}

// drop releases the ring of the last reading, which is not written any longer.
func (c *conn) drop() {
	c.mu.Lock()
	r := c.ring
	c.ring = nil
	clear(c.slots)
	c.mu.Unlock()
	if r != nil {
		r.close()
	}
}

// get sends samples by their numbers.
func (c *conn) get(body []byte) error {
	var o struct {
		Samples []int `json:"samples"`
	}
	if err := decode(body, &o); err != nil {
		return requestError{fmt.Errorf("get: %w", err)}
	}
	r := c.reading
	if r == nil || r.window > 0 {
		return requestError{errors.New(`get: no ring; start with "window": 0`)}
	}
	for _, n := range o.Samples {
		b, err := c.pipeline.loader.Gather(c.ctx, 0, []int{n}, r.ring)
		if err != nil {
			return err
		}
		if err := c.hand(r, b, loader.State{}); err != nil {
			return err
		}
	}
	return c.reply(kindGot, map[string]any{"samples": len(o.Samples)})
}

// hand sends a batch.
func (c *conn) hand(r *reading, b *loader.Batch, after loader.State) error {
	c.mu.Lock()
	n := c.nextSlot
	c.nextSlot++
	c.slots[n] = slot{batch: b, reading: r}
	c.mu.Unlock()
	c.write.Lock()
	defer c.write.Unlock()
	out, layout, err := r.layouts.append(c.out[:0], b.Fields)
	if err != nil {
		return err
	}
	c.out = appendBatch(out, r.pipeline, layout, n, r.ring.at(b.Data), r.ring.bytes(), b, after)
	return c.sendAll(c.out)
}

// reply sends a frame of JSON.
func (c *conn) reply(k kind, v any) error {
	b, err := appendJSON(nil, k, v)
	if err != nil {
		return err
	}
	return c.send(b)
}

func (c *conn) send(b []byte) error {
	c.write.Lock()
	defer c.write.Unlock()
	return c.sendAll(b)
}

// sendAll writes frames; the caller must hold the lock.
func (c *conn) sendAll(b []byte) error {
	_, err := c.file.Write(b)
	return err
}

// sendFile sends a frame with an attached file descriptor.
func (c *conn) sendFile(b []byte, file *os.File) error {
	c.write.Lock()
	defer c.write.Unlock()
	n, err := sendRights(c.file, b, file)
	if err != nil {
		return err
	}
	return c.sendAll(b[n:])
}

func (c *conn) note(level, text string) {
	_ = c.reply(kindNote, map[string]string{"level": level, "text": text}) // otherwise the client has gone
}

// fail sends an error to the client.
func (c *conn) fail(err error) {
	_ = c.reply(kindError, map[string]string{"code": codeOf(err), "text": message(err)}) // otherwise the client has gone
}

// codeOf returns the protocol code of an error.
func codeOf(err error) string {
	switch {
	case errors.Is(err, errProtocol):
		return "protocol"
	case is[*loader.StateError](err), errors.Is(err, loader.ErrState):
		return "state"
	case is[*memoryError](err):
		return "memory"
	case is[flowError](err):
		return "flow"
	case is[requestError](err):
		return "request"
	case errors.Is(err, errEnding):
		return "ending"
	}
	return "data"
}

// message returns the text of an error for the client.
func message(err error) string { return display.WithoutPackages(display.Error(err)) }

var errEnding = errors.New("the server ends; connect again")

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
