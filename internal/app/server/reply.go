package server

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/larder-data/larder/loader"
)

// A reply writes the answer to a client on another machine, in one of the formats.
// note may be called concurrently, and does nothing once the reply is closed; the
// other methods must not be called concurrently.
type reply interface {
	note(level, text string)
	opened(p *pipeline, batches int) error
	started(prefix string, batches int) error
	// batch writes a batch. It does not retain it.
	batch(p *pipeline, b *loader.Batch, after loader.State) error
	epoch(epoch uint64, after loader.State) error
	stopped() error
	got(samples int) error
	// fail reports an error, as far as that is still possible.
	fail(err error)
	close()
}

// patience is how long a client may take to accept a piece.
const patience = 10 * time.Minute

// A patientWriter writes in pieces, and gives the client the time limit patience
// for each.
type patientWriter struct {
	to      io.Writer
	control *http.ResponseController
}

// piece is the size of one write in bytes.
const piece = 1 << 20

func (w *patientWriter) Write(p []byte) (done int, err error) {
	for err == nil && done < len(p) {
		_ = w.control.SetWriteDeadline(time.Now().Add(patience)) // some replies do not support deadlines
		var n int
		n, err = w.to.Write(p[done:min(len(p), done+piece)])
		done += n
	}
	return done, err
}

// A frameReply writes frames.
type frameReply struct {
	to    patientWriter
	alive *time.Ticker
	ended chan struct{}

	mu      sync.Mutex // serialises frames
	closed  bool
	buffer  []byte
	layouts layouts
	slot    uint32
}

// newFrameReply returns a reply that sends a note at this interval. Without notes,
// a client cannot distinguish long work from a machine that has gone.
func newFrameReply(w http.ResponseWriter, every time.Duration) *frameReply {
	w.Header().Set("Content-Type", "application/vnd.larder.frames")
	r := &frameReply{to: patientWriter{w, http.NewResponseController(w)}, alive: time.NewTicker(every), ended: make(chan struct{})}
	go r.live()
	return r
}

func (w *frameReply) live() {
	for {
		select {
		case <-w.ended:
			return
		case <-w.alive.C:
		}
		if w.mu.TryLock() { // otherwise another frame is being written
			if !w.closed {
				_ = w.sendJSON(kindNote, map[string]string{"level": "alive", "text": ""}) // otherwise the client has gone
			}
			w.mu.Unlock()
		}
	}
}

func (w *frameReply) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.alive.Stop()
	close(w.ended)
}

// send sends the buffer. The caller must hold the lock.
func (w *frameReply) send() error {
	_, err := w.to.Write(w.buffer)
	w.buffer = w.buffer[:0]
	if err == nil {
		err = w.to.control.Flush()
	}
	return err
}

func (w *frameReply) sendJSON(k kind, v any) (err error) {
	if w.buffer, err = appendJSON(w.buffer, k, v); err != nil {
		return err
	}
	return w.send()
}

func (w *frameReply) json(k kind, v any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errGone
	}
	return w.sendJSON(k, v)
}

func (w *frameReply) note(level, text string) {
	_ = w.json(kindNote, map[string]string{"level": level, "text": text}) // otherwise the client has gone
}

func (w *frameReply) opened(p *pipeline, batches int) error {
	return w.json(kindOpened, map[string]any{"parts": p.parts, "batches": batches, "id": p.id})
}

func (w *frameReply) started(prefix string, batches int) error {
	return w.json(kindStarted, map[string]any{"prefix": prefix, "batches": batches, "ring": 0})
}

func (w *frameReply) got(samples int) error {
	return w.json(kindGot, map[string]any{"samples": samples})
}

func (w *frameReply) fail(err error) {
	_ = w.json(kindError, map[string]string{"code": codeOf(err), "text": message(err)}) // otherwise the client has gone
}

func (w *frameReply) frame(k kind, numbers ...int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buffer = appendFrame(w.buffer, k, func(b []byte) []byte { return appendNumbers(b, numbers...) })
	return w.send()
}

func (w *frameReply) epoch(epoch uint64, after loader.State) error {
	return w.frame(kindEpoch, int64(epoch), int64(after.Epoch), int64(after.Position))
}

func (w *frameReply) stopped() error { return w.frame(kindStopped) }

func (w *frameReply) batch(p *pipeline, b *loader.Batch, after loader.State) (err error) {
	for _, s := range b.Skipped {
		if err := w.json(kindNote, skipNote(s)); err != nil {
			return err
		}
	}
	if uint64(len(b.Data)) > 1<<32-1 {
		return &memoryError{fmt.Errorf("a batch of %d bytes is too large for another machine; take smaller batches", len(b.Data))}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var layout int
	if w.buffer, layout, err = w.layouts.append(w.buffer, b.Fields); err != nil {
		return err
	}
	w.buffer = appendBatch(w.buffer, p, layout, w.slot, 0, 0, b, after)
	w.slot++
	w.buffer = binary.LittleEndian.AppendUint32(w.buffer, uint32(len(b.Data)))
	w.buffer = binary.LittleEndian.AppendUint16(w.buffer, uint16(kindData))
	w.buffer = append(w.buffer, 0, 0)
	if _, err = w.to.Write(w.buffer); err != nil {
		return err
	}
	w.buffer = w.buffer[:0]
	if _, err = w.to.Write(b.Data); err != nil {
		return err
	}
	return w.to.control.Flush()
}
