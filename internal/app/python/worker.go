// Package python provides persistent worker processes for Python functions. Each
// process imports its function once, and then gets samples through memory shared
// with this program. docs/guides/python-functions-in-flows.md is the documentation
// for users.
package python

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-data/larder/internal/proc/process"
)

// Frames: the kind and the size of the body, 4 bytes each.
const (
	frameSetup  = 1 // to the worker: the setup, as JSON
	frameReady  = 2 // from it: the identity of the function, as JSON
	frameDo     = 3 // to it: the size of the message and environment variables; the message, without shared memory
	frameDone   = 4 // from it: the size of the answer; the answer, without shared memory
	frameFailed = 5 // from it: the error, as JSON
	frameStart  = 6 // to it: call the function's setup; it replies with ready or failed

	maxText = 64 << 20 // bytes of JSON in a frame
)

// cachedMemory is the shared memory that a worker retains for the next samples, in
// bytes.
const cachedMemory = 32 << 20

var errMessage = errors.New("the worker sent an unknown message; check that the program and the package have the same version")

// A Setup describes what workers run.
type Setup struct {
	Interpreter string            `json:"-"`
	Dir         string            `json:"dir"`  // first directory of the module path
	Path        []string          `json:"path"` // the rest of the module path
	Function    string            `json:"function"`
	Start       string            `json:"setup,omitempty"`
	Version     string            `json:"version,omitempty"`
	Allow       []string          `json:"allow"` // checks that are disabled for the function
	Items       []string          `json:"items"`
	As          map[string]string `json:"as,omitempty"`
	Into        []string          `json:"into"`
	Batch       bool              `json:"batch"`
	Generates   bool              `json:"generates,omitempty"` // its result is iterated, piece by piece
	Args        json.RawMessage   `json:"args,omitempty"`
	Files       map[string]string `json:"files,omitempty"` // by parameter
	Shared      bool              `json:"shared"`
	Logs        bool              `json:"logs"` // split stderr by sample
	Threads     int               `json:"-"`    // for libraries
	mark        string            // environment variable that identifies processes left by workers
}

// Identity is the identity of a function.
type Identity struct {
	Identity string      `json:"identity"` // a digest of everything that it reaches
	Parts    []KnownPart `json:"parts"`    // components of the identity, for display
	As       []string    `json:"as"`       // how each item is passed
	Files    []string    `json:"files"`    // files read to import it, and searched directories
}

// A KnownPart is one part of a function's identity.
type KnownPart struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// difference describes the first part of k that differs in others; "" if there is none.
func (k Identity) difference(others Identity) string {
	for _, part := range k.Parts {
		if !slices.Contains(others.Parts, part) {
			return part.Name
		}
	}
	return ""
}

// A FunctionError is an exception of a Python function, or an error in its return
// value.
type FunctionError struct{ Text string }

func (e *FunctionError) Error() string { return e.Text }

// A DiedError says that a worker ended during its work.
type DiedError struct {
	How    string // "exit status 1"
	Stderr string // its end
}

func (e *DiedError) Error() string { return "the worker ended: " + e.How + e.Stderr }

// A worker is one process. It executes one task at a time.
type worker struct {
	known   Identity
	in, out *process.SharedMemory // nil without shared memory
	have    int64                 // writable bytes of in
	large   int64                 // minimum size of out in bytes

	end       func() // ends the process and its children, if they are still running
	interrupt func() // raises KeyboardInterrupt where supported, otherwise ends the process
	to        *os.File
	from      *os.File
	stderr    *os.File
	output    stderrReader
	heard     chan struct{} // closed at the end of stderr
	dead      chan struct{} // closed after that, when the process has ended
	how       error
	ready     bool // the function's setup, if any, was called

	mu     sync.Mutex // guards atWork, and reading memory while it is set
	atWork bool       // a task is in progress

	heads *bufio.Reader // of from
	head  [8]byte
	body  []byte
}

// start starts a process and imports the function in it.
func start(ctx context.Context, s *Setup) (_ *worker, err error) {
	w := &worker{heard: make(chan struct{}), dead: make(chan struct{})}
	given := *s
	if given.Shared {
		if w.in, err = process.NewSharedMemory(); err != nil {
			return nil, err
		}
		if w.out, err = process.NewSharedMemory(); err != nil {
			w.in.Close()
			return nil, err
		}
	}
	if err := w.begin(&given); err != nil {
		w.release()
		return nil, err
	}
	stop := context.AfterFunc(ctx, w.end)
	defer stop()
	if err := w.introduce(&given); err != nil {
		w.close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return w, nil
}

// begin starts the process.
func (w *worker) begin(s *Setup) error {
	cmd := exec.CommandContext(context.Background(), s.Interpreter, "-P", "-m", "larder._worker") // it may outlive the context of its first user
	cmd.Dir = s.Dir
	cmd.Env = s.environ()
	stdin, to, err := os.Pipe()
	if err != nil {
		return err
	}
	from, stdout, err := os.Pipe()
	if err != nil {
		return errors.Join(err, stdin.Close(), to.Close())
	}
	stderr, errout, err := os.Pipe()
	if err != nil {
		return errors.Join(err, stdin.Close(), to.Close(), from.Close(), stdout.Close())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, errout
	if w.in != nil {
		cmd.ExtraFiles = []*os.File{w.in.File, w.out.File}
	}
	w.to, w.from, w.stderr = to, from, stderr
	w.heads = bufio.NewReader(from)
	w.end, w.interrupt, err = live(cmd, w.over)
	_, _, _ = stdin.Close(), stdout.Close(), errout.Close() // the worker has its own copies
	if err != nil {
		_, _, _ = to.Close(), from.Close(), stderr.Close()
		return fmt.Errorf("the interpreter %s cannot be run: %w; name one in LARDER_PYTHON, or by interpreter", s.Interpreter, err)
	}
	go w.listen()
	return nil
}

// listen reads stderr of the worker to its end.
func (w *worker) listen() {
	defer close(w.heard)
	w.output.read(w.stderr)
}

// over is called when the process has ended. It reads the remaining output, but
// does not wait for processes that hold the pipes open.
func (w *worker) over(how error) {
	w.how = how
	soon := time.Now().Add(pipeDelay)
	_ = w.from.SetReadDeadline(soon)
	if w.stderr.SetReadDeadline(soon) != nil {
		_ = w.stderr.Close()
	}
	<-w.heard
	_ = w.stderr.Close()
	close(w.dead)
}

// pipeDelay is how long to wait for the end of a pipe after a worker and its group
// have ended. A process that left the group may hold it open.
const pipeDelay = 100 * time.Millisecond

// close ends the process, and releases its memory. The worker must not be in use.
func (w *worker) close() {
	w.end()
	<-w.dead
	_, _ = w.to.Close(), w.from.Close()
	w.release()
}

func (w *worker) release() {
	if w.in != nil {
		w.in.Close()
		w.out.Close()
	}
}

func (w *worker) isDead() bool {
	select {
	case <-w.dead:
		return true
	default:
		return false
	}
}

// introduce sends the setup, and receives the identity of the function.
func (w *worker) introduce(s *Setup) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := w.send(frameSetup, text); err != nil {
		return w.lost(err)
	}
	kind, body, err := w.receive(maxText)
	if err != nil {
		return w.lost(err)
	}
	if kind == frameFailed {
		return failureOf(body)
	}
	if kind != frameReady || json.Unmarshal(body, &w.known) != nil {
		return errMessage
	}
	return nil
}

// lost returns the reason why a worker does not answer: usually, it has ended.
func (w *worker) lost(err error) error {
	if errors.Is(err, errMessage) {
		return err
	}
	select {
	case <-w.dead:
	case <-time.After(pipeDelay): // it is still running
		w.end()
		<-w.dead
	}
	how := "exit status 0"
	if w.how != nil {
		how = w.how.Error()
	}
	return &DiedError{how, w.output.tail.String()}
}

// failureOf decodes an error from a worker.
func failureOf(body []byte) error {
	var failure struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(body, &failure); err != nil {
		return errMessage
	}
	return &FunctionError{failure.Text}
}

func (w *worker) send(kind uint32, body []byte) error {
	w.body = binary.LittleEndian.AppendUint32(w.body[:0], kind)
	w.body = binary.LittleEndian.AppendUint32(w.body, uint32(len(body)))
	w.body = append(w.body, body...)
	_, err := w.to.Write(w.body)
	return err
}

func (w *worker) receive(most int) (kind uint32, body []byte, err error) {
	if _, err := io.ReadFull(w.heads, w.head[:]); err != nil {
		return 0, nil, err
	}
	kind = binary.LittleEndian.Uint32(w.head[:])
	n := int(binary.LittleEndian.Uint32(w.head[4:]))
	if n > most {
		return 0, nil, errMessage
	}
	if cap(w.body) < n {
		w.body = make([]byte, n)
	}
	body = w.body[:n]
	_, err = io.ReadFull(w.heads, body)
	return kind, body, err
}

// setupTime is the minimum time limit for a setup if samples have a limit: loading
// a model takes longer than calling it.
const setupTime = 5 * time.Minute

// within calls do, and ends the worker after the limit; 0 means no limit.
func (w *worker) within(ctx context.Context, limit time.Duration, do func() error) error {
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if limit > 0 {
		bounded, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	defer context.AfterFunc(bounded, w.end)()
	err := do()
	if bounded.Err() != nil && ctx.Err() == nil {
		return ErrTimeout
	}
	return err
}

// prepare calls the function's setup, if it has one, once.
func (w *worker) prepare(ctx context.Context, limit time.Duration) error {
	if w.ready {
		return nil
	}
	if limit > 0 {
		limit = max(limit, setupTime)
	}
	return w.within(ctx, limit, func() error {
		if err := w.send(frameStart, nil); err != nil {
			return &unheardError{w.lost(err)}
		}
		kind, body, err := w.receive(maxText)
		switch {
		case err != nil:
			return w.lost(err)
		case kind == frameFailed:
			return failureOf(body)
		case kind != frameReady:
			return errMessage
		}
		w.ready = true
		return nil
	})
}

// execute runs a task, and reports whether the worker stays usable. If not, it
// has ended.
func (w *worker) execute(ctx context.Context, t *Task) (fit bool, err error) {
	end := w.output.begin(t.Log)
	err = w.prepare(ctx, t.Limit)
	if err == nil {
		err = w.within(ctx, t.Limit, func() error { return w.do(t) })
	}
	unsent := (*unsentError)(nil)
	fit = ctx.Err() == nil && (err == nil || errors.As(err, new(*FunctionError)) || errors.As(err, &unsent))
	if !fit {
		w.end()
		<-w.dead
	}
	end(unsent == nil)
	if !fit && t.Left != nil {
		w.show(t.Left)
	}
	switch {
	case ctx.Err() != nil:
		return fit, context.Cause(ctx)
	case errors.Is(err, ErrTimeout):
		return fit, fmt.Errorf("%w%s", ErrTimeout, w.output.tail.String())
	case unsent != nil:
		return fit, unsent.err
	}
	return fit, err
}

// show calls read with the memory of the answer in progress.
func (w *worker) show(read func(memory []byte)) {
	if w.out == nil {
		return
	}
	if n, err := w.out.Size(); err == nil {
		read(w.out.Bytes[:min(n, w.out.Most())])
	}
}

// wait waits for the answer to a task. During that time show may read what there is
// of it.
func (w *worker) wait(most int64) (kind uint32, body []byte, err error) {
	w.working(true)
	defer w.working(false)
	return w.receive(int(min(max(most, maxText)+8, 1<<31-1))) // or the error
}

func (w *worker) working(is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.atWork = is
}

// do executes a task. After any error but a *FunctionError the worker is unusable.
func (w *worker) do(t *Task) error {
	if err := w.ask(t); err != nil {
		return err
	}
	kind, body, err := w.wait(t.Most)
	switch {
	case err != nil:
		return w.lost(err)
	case kind == frameFailed:
		return failureOf(body)
	case kind != frameDone || len(body) < 8:
		return errMessage
	}
	n := int64(binary.LittleEndian.Uint64(body))
	if n > t.Most {
		return &FunctionError{fmt.Sprintf("the returned value has %d bytes, but max-bytes is %d", n, t.Most)}
	}
	message := body[8:]
	if w.out != nil {
		if n > w.large {
			if w.large, err = w.out.Size(); err != nil || n > w.large || n > w.out.Most() {
				return errors.Join(errMessage, err)
			}
		}
		message = w.out.Bytes[:n]
	}
	err = t.Answer(message)
	w.shrink()
	return err
}

// ask sends a task.
func (w *worker) ask(t *Task) error {
	body := binary.LittleEndian.AppendUint64(nil, uint64(t.Bytes))
	for _, v := range t.Environ {
		body = append(append(body, v...), 0)
	}
	if w.in == nil {
		message := make([]byte, t.Bytes)
		if err := t.Fill(message); err != nil {
			return &unsentError{err}
		}
		body = append(body, message...)
		return w.sendTask(body)
	}
	if t.Bytes > w.have {
		if t.Bytes > w.in.Most() {
			return &unsentError{fmt.Errorf("the items have %d bytes, and a worker can be given %d", t.Bytes, w.in.Most())}
		}
		to := max(t.Bytes, min(2*w.have, w.in.Most()), 1<<20)
		if err := w.in.Grow(w.have, to); err != nil {
			return &unsentError{fmt.Errorf("no memory for %d bytes of items: %w", t.Bytes, err)}
		}
		w.have = to
	}
	if err := t.Fill(w.in.Bytes[:t.Bytes]); err != nil {
		return &unsentError{err}
	}
	return w.sendTask(body)
}

func (w *worker) sendTask(body []byte) error {
	if err := w.send(frameDo, body); err != nil {
		return &unheardError{w.lost(err)}
	}
	return nil
}

// An unheardError says that a worker had ended before it received a task.
type unheardError struct{ err error }

func (e *unheardError) Error() string { return e.err.Error() }
func (e *unheardError) Unwrap() error { return e.err }

// An unsentError says that a task could not be sent, and the worker did not receive
// it.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

// shrink releases memory that was needed for large samples.
func (w *worker) shrink() {
	if w.in == nil {
		return
	}
	if w.have > cachedMemory {
		w.in.Shrink(cachedMemory, w.have)
		w.have = cachedMemory
	}
	if w.large > cachedMemory { // the file keeps its size
		w.out.Shrink(cachedMemory, w.large)
		w.large = cachedMemory
	}
}

// A stderrReader receives stderr of a worker. It stores the end for errors, and writes
// the output for a sample to its log.
type stderrReader struct {
	mu    sync.Mutex
	tail  process.Tail
	log   io.Writer // nil: dropped
	marks int       // number of ends of samples read
	mark  *sync.Cond
	over  bool
}

// endOfSample is what a worker writes to stderr after each sample, on request.
const endOfSample = "\x00larder: end of sample\x00"

func (t *stderrReader) read(from io.Reader) {
	b, held := make([]byte, 32<<10), 0
	for {
		n, err := from.Read(b[held:])
		t.take(b[:held+n], &held, err != nil)
		if err != nil {
			t.ended()
			return
		}
	}
}

// take passes on what was read, except a suffix that may be the beginning of
// endOfSample.
func (t *stderrReader) take(b []byte, held *int, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := b
	for {
		before, after, found := bytes.Cut(b, []byte(endOfSample))
		if !found {
			break
		}
		t.write(before)
		t.marks++
		t.signal()
		b = after
	}
	keep := 0
	if !last {
		for keep = min(len(b), len(endOfSample)-1); !strings.HasPrefix(endOfSample, string(b[len(b)-keep:])); keep-- {
		}
	}
	t.write(b[:len(b)-keep])
	*held = copy(all, b[len(b)-keep:])
}

// write passes output on.
func (t *stderrReader) write(b []byte) {
	_, _ = t.tail.Write(b) // which cannot fail
	if t.log != nil && len(b) > 0 {
		_, _ = t.log.Write(b) // a log that cannot be written does not change a result
	}
}

func (t *stderrReader) signal() {
	if t.mark != nil {
		t.mark.Broadcast()
	}
}

func (t *stderrReader) ended() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.signal()
}

// begin sends further output to a log. end waits for all output of the sample, if
// the worker received the task.
func (t *stderrReader) begin(log io.Writer) (end func(asked bool)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tail = process.Tail{}
	if log == nil {
		return func(bool) {}
	}
	t.mark = sync.NewCond(&t.mu)
	t.log = log
	before := t.marks
	return func(asked bool) {
		t.mu.Lock()
		defer t.mu.Unlock()
		for asked && t.marks == before && !t.over {
			t.mark.Wait()
		}
		t.log = nil
	}
}
