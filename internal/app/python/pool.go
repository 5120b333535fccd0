package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/proc/process"
	"github.com/larder-data/larder/pool"
)

// idleTime is how long an idle worker stays alive.
const idleTime = time.Minute

// A Pool refers to the workers that run one function. It is safe for concurrent
// use. The workers end when the Pool is garbage collected.
type Pool struct {
	number Number
}

// A Number identifies a pool. It is valid as long as the pool is referenced.
type Number uint64

// Number returns the number of a pool.
func (p *Pool) Number() Number { return p.number }

// KnownBy returns the identity of a pool's function, which must not be modified.
func KnownBy(p *Pool) *Identity { return &crewOf(p.number).known }

// A crew holds the workers of a pool.
type crew struct {
	setup Setup
	known Identity
	slots chan struct{} // one element for each busy worker

	mu     sync.Mutex
	idle   []idler     // the most recently used one last
	timer  *time.Timer // ends workers after the idle time; nil if none was idle
	closed bool
	seen   stamps
}

// An idler is an idle worker.
type idler struct {
	*worker
	since time.Time
}

// crews are the crews of referenced pools, by number.
var crews struct {
	sync.Mutex
	of   map[Number]*crew
	made Number // number of crews so far
}

// enlist creates the pool of a crew.
func enlist(c *crew) *Pool {
	crews.Lock()
	defer crews.Unlock()
	if crews.of == nil {
		crews.of = map[Number]*crew{}
	}
	crews.made++
	crews.of[crews.made] = c
	p := &Pool{crews.made}
	runtime.AddCleanup(p, dismiss, p.number)
	return p
}

// dismiss ends the crew of a pool that is not referenced any longer.
func dismiss(number Number) {
	crews.Lock()
	c := crews.of[number]
	delete(crews.of, number)
	crews.Unlock()
	go c.close()
}

func crewOf(number Number) *crew {
	crews.Lock()
	defer crews.Unlock()
	return crews.of[number]
}

// pools caches pools by setup, because a mapper is built several times in a run,
// and again for each client of a server.
var pools struct {
	sync.Mutex
	all []*entry // the oldest first
}

// maxPools bounds the cached pools, which may have no worker.
const maxPools = 64

type entry struct {
	key   string
	owner any
	ready chan struct{} // closed when pool or err is set
	pool  *Pool
	err   error
}

// markName is an environment variable that identifies processes left by workers.
// Its value is the PID of this process, a dot, and the pool.
const markName = "LARDER_WORKERS"

// clearedAway runs the clean-up of processes that workers of killed programs left.
var clearedAway sync.Once

// Open returns the pool for a setup, with at most the given number of workers. Each
// owner has separate pools. Files changed since the last call lead to a new pool.
func Open(ctx context.Context, s Setup, workers int, owner any) (*Pool, error) {
	clearedAway.Do(func() { process.EndLeft(markName) })
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s %d %d %s", s.Interpreter, workers, s.Threads, text)
	for {
		e, mine := entryOf(key, owner)
		if mine {
			e.pool, e.err = open(ctx, s, workers)
			if e.err != nil {
				e.remove()
			}
			close(e.ready)
			return e.pool, e.err
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		// A run continues with the code it began with; later edits affect the next
		// run.
		if e.err == nil && (owner != nil || crewOf(e.pool.number).isCurrent(ctx)) {
			return e.pool, nil
		}
		e.remove()
		if e.err == nil {
			crewOf(e.pool.number).dismissMost()
		}
		if e.err != nil && !errors.Is(e.err, context.Canceled) {
			return nil, e.err
		}
	}
}

func entryOf(key string, owner any) (e *entry, mine bool) {
	pools.Lock()
	defer pools.Unlock()
	for _, e := range pools.all {
		if e.key == key && e.owner == owner {
			return e, false
		}
	}
	if len(pools.all) >= maxPools {
		pools.all = slices.Delete(pools.all, 0, 1) // its workers end after the idle time
	}
	e = &entry{key: key, owner: owner, ready: make(chan struct{})}
	pools.all = append(pools.all, e)
	return e, true
}

func (e *entry) remove() {
	pools.Lock()
	defer pools.Unlock()
	pools.all = slices.DeleteFunc(pools.all, func(o *entry) bool { return o == e })
}

// CloseOf ends the pools of an owner, which must not be in use.
func CloseOf(owner any) {
	pools.Lock()
	var of []*entry
	pools.all = slices.DeleteFunc(pools.all, func(e *entry) bool {
		if e.owner == owner {
			of = append(of, e)
		}
		return e.owner == owner
	})
	pools.Unlock()
	for _, e := range of {
		<-e.ready
		if e.pool != nil {
			crewOf(e.pool.number).close()
		}
	}
}

func open(ctx context.Context, s Setup, workers int) (*Pool, error) {
	began := time.Now()
	s.mark = fmt.Sprintf("%s=%d.%x", markName, os.Getpid(), rand.Uint64())
	w, err := start(ctx, &s)
	if err != nil {
		process.End("", s.mark+"\x00")
		return nil, err
	}
	c := &crew{setup: s, known: w.known, slots: make(chan struct{}, max(1, workers)), seen: stampsOf(w.known.Files, began)}
	c.put(w)
	return enlist(c), nil
}

// isCurrent reports whether importing the function again would give the same
// identity.
func (c *crew) isCurrent(ctx context.Context) bool {
	c.mu.Lock()
	seen := c.seen
	c.mu.Unlock()
	if seen.unchanged() {
		return true
	}
	began := time.Now()
	w, err := start(ctx, &c.setup)
	if err != nil {
		return false
	}
	if c.differs(w) != nil {
		w.close()
		return false
	}
	c.mu.Lock()
	c.seen = stampsOf(w.known.Files, began)
	c.mu.Unlock()
	c.put(w)
	return true
}

// differs returns an error if a worker's function differs from that of the pool.
func (c *crew) differs(w *worker) error {
	if w.known.Identity == c.known.Identity && slices.Equal(w.known.As, c.known.As) {
		return nil
	}
	if other := w.known.difference(c.known); other != "" {
		return otherError{c.setup.Function, other}
	}
	return fmt.Errorf("%s or its dependencies: %w since the run began", c.setup.Function, dataset.ErrChanged)
}

// An otherError says that processes of one run have different versions of a
// function.
type otherError struct{ function, part string }

func (e otherError) Error() string {
	return fmt.Sprintf("%s reaches %s, which differs in another process of this run; run again if a file was edited, otherwise pass it as an argument",
		e.function, e.part)
}

func (otherError) Unwrap() error { return dataset.ErrChanged }

// A Task is the work on some samples for a worker.
type Task struct {
	Bytes  int64                      // size of the message to the worker
	Fill   func(message []byte) error // writes all bytes of the message
	Limit  time.Duration              // time limit; 0 means none
	Most   int64                      // maximum size of the answer
	Answer func(message []byte) error // reads the answer, and must not retain it
	Log    io.Writer                  // receives stderr of the worker during the task; may be nil
	// Environ is added to the environment.
	Environ []string
	// Left, if not nil, receives the possibly incomplete answer of a worker that
	// ended early.
	Left func(memory []byte)
}

// ErrTimeout says that a task exceeded its limit. Its worker was ended.
var ErrTimeout = errors.New("it took longer than its time")

// Do executes a task on an idle worker, or on a new one within the bound of
// workers. The worker stays usable after success, a *FunctionError or an error of
// Fill. After any other error it is replaced on demand.
func Do(ctx context.Context, number Number, t *Task) error {
	return crewOf(number).do(ctx, t)
}

func (c *crew) do(ctx context.Context, t *Task) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	defer func() { <-c.slots }()
	for {
		w, err := c.take(ctx)
		if err != nil {
			return err
		}
		err = c.doBy(ctx, w, t)
		if !errors.As(err, new(*unheardError)) {
			return err
		}
	}
}

// doBy executes a task on a worker, and puts the worker back if it stays usable.
func (c *crew) doBy(ctx context.Context, w *worker, t *Task) error {
	fit, err := w.execute(ctx, t)
	if fit {
		c.put(w)
	} else {
		w.close()
	}
	return err
}

// wait waits for a free slot of a worker.
func (c *crew) wait(ctx context.Context) error {
	select {
	case c.slots <- struct{}{}:
		return nil
	default:
	}
	defer pool.Wait(ctx)()
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// take returns an idle worker, or starts one.
func (c *crew) take(ctx context.Context) (*worker, error) {
	for {
		c.mu.Lock()
		n := len(c.idle)
		if n == 0 {
			c.mu.Unlock()
			break
		}
		i := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		if !i.isDead() {
			return i.worker, nil
		}
		i.close()
	}
	w, err := start(ctx, &c.setup)
	if err != nil {
		return nil, err
	}
	if err := c.differs(w); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// put returns a worker to the idle ones.
func (c *crew) put(w *worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.idle) >= cap(c.slots) {
		go w.close()
		return
	}
	c.idle = append(c.idle, idler{w, time.Now()})
	if c.timer == nil {
		c.timer = time.AfterFunc(idleTime, c.retire)
	}
}

// retire ends the workers that were idle for long, and sets a timer for the others.
func (c *crew) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	long := 0
	for long < len(c.idle) && time.Since(c.idle[long].since) >= idleTime {
		go c.idle[long].close()
		long++
	}
	c.idle = slices.Delete(c.idle, 0, long)
	c.timer = nil
	if len(c.idle) > 0 {
		c.timer = time.AfterFunc(idleTime-time.Since(c.idle[0].since), c.retire)
	}
}

// dismissMost ends all idle workers but one, because another crew handles new work.
func (c *crew) dismissMost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.idle) > 1 {
		go c.idle[0].close()
		c.idle = slices.Delete(c.idle, 0, 1)
	}
}

func (c *crew) close() {
	c.mu.Lock()
	idle := c.idle
	c.idle, c.closed = nil, true
	c.mu.Unlock()
	for _, i := range idle {
		i.end()
	}
	for _, i := range idle {
		i.close()
	}
	process.End("", c.setup.mark+"\x00")
}

// stamps are the states of files and directories.
type stamps struct {
	of   map[string]stamp
	sure bool // unchanged for so long that another change would have another time
}

type stamp struct {
	there bool
	size  int64
	time  int64
}

// stampsOf returns the states of files that were read after began.
func stampsOf(paths []string, began time.Time) stamps {
	s := stamps{map[string]stamp{}, true}
	for _, path := range paths {
		at := stampOf(path)
		s.of[path] = at
		s.sure = s.sure && at.time < began.Add(-2*time.Second).UnixNano()
	}
	return s
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	if info.IsDir() {
		return stamp{true, 0, info.ModTime().UnixNano()}
	}
	return stamp{true, info.Size(), info.ModTime().UnixNano()}
}

func (s stamps) unchanged() bool {
	if !s.sure {
		return false
	}
	for path, was := range s.of {
		if stampOf(path) != was {
			return false
		}
	}
	return true
}

// environ returns the environment of a worker. By default it is that of this
// program, with a fixed hash seed for sets and the worker's share of processors as
// the number of library threads.
func (s *Setup) environ() []string {
	env := append(os.Environ(), s.mark)
	add := func(name, value string) {
		if _, set := os.LookupEnv(name); !set {
			env = append(env, name+"="+value)
		}
	}
	add("PYTHONHASHSEED", "0")
	for _, name := range []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"} {
		add(name, strconv.Itoa(max(1, s.Threads)))
	}
	return env
}
