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

// idleTime is how long a worker that nobody needs is kept.
const idleTime = time.Minute

// A Pool stands for the workers that run one function. It may be used by many goroutines.
// They end when nobody has it any more.
type Pool struct {
	number Number
}

// A Number is what a pool is known by. It stands for it as long as somebody has the pool.
type Number uint64

// Number returns the number of a pool.
func (p *Pool) Number() Number { return p.number }

// KnownBy is what the function of a pool is known by, which must not be changed.
func KnownBy(p *Pool) *Known { return &crewOf(p.number).known }

// A crew is the workers themselves.
type crew struct {
	setup Setup
	known Known
	slots chan struct{} // one taken for each worker that is at work

	mu     sync.Mutex
	idle   []idler     // the last one was used last
	timer  *time.Timer // ends those that are idle for long; nil if none was
	closed bool
	seen   stamps
}

// An idler is a worker that waits for something to do.
type idler struct {
	*worker
	since time.Time
}

// crews are those of the pools that somebody has, by their numbers.
var crews struct {
	sync.Mutex
	of   map[Number]*crew
	made Number // how many there were
}

// enlist makes the pool of a crew.
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

// dismiss ends the crew of a pool that nobody has any more.
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

// pools are those that there are, by their setups: mappers are made several times in a run,
// and again for each client of a server.
var pools struct {
	sync.Mutex
	all []*entry // the oldest first
}

// maxPools is how many pools that may have no worker are remembered.
const maxPools = 64

type entry struct {
	key   string
	owner any
	ready chan struct{} // closed when pool or err is there
	pool  *Pool
	err   error
}

// markName is the variable of the environment by which processes are found that workers left:
// the number of this process, a dot, and which pool.
const markName = "LARDER_WORKERS"

// clearedAway is done once processes were ended that workers of a killed program left.
var clearedAway sync.Once

// Open returns the pool of a setup, of at most so many workers. An owner has pools of its
// own. Files that changed since make it another one.
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
		// A run has what it began with: what is edited meanwhile counts for the next one.
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
		pools.all = slices.Delete(pools.all, 0, 1) // its workers end when they were idle for a while
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

// CloseOf ends the pools of an owner, when nothing is computed by them any more.
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

// isCurrent reports whether a function would be known by the same if it were imported now.
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

// differs reports that a worker does not run what this pool is known by.
func (c *crew) differs(w *worker) error {
	if w.known.Identity == c.known.Identity && slices.Equal(w.known.As, c.known.As) {
		return nil
	}
	if other := w.known.beside(c.known); other != "" {
		return otherError{c.setup.Function, other}
	}
	return fmt.Errorf("%s, or what it reaches: %w since the run began", c.setup.Function, dataset.ErrChanged)
}

// An otherError says that processes of one run do not have a function of the same.
type otherError struct{ function, part string }

func (e otherError) Error() string {
	return fmt.Sprintf("%s reaches %s, which another process of this run has otherwise: run again if a file was edited meanwhile; else each process makes another one: give it as an argument",
		e.function, e.part)
}

func (otherError) Unwrap() error { return dataset.ErrChanged }

// A Task is what a worker is to do with some samples.
type Task struct {
	Bytes  int64                      // of the message that it is given
	Fill   func(message []byte) error // writes that, from its first byte to its last
	Limit  time.Duration              // how long it may take; 0: as long as it takes
	Most   int64                      // bytes that the answer may have
	Answer func(message []byte) error // reads the answer, of which it must keep nothing
	Log    io.Writer                  // takes what it says meanwhile; may be nil
	// Environ is added to the environment.
	Environ []string
	// Left, if not nil, is told what a worker that ended before it was done had put into its
	// memory by then, whole or not.
	Left func(memory []byte)
}

// ErrTimeout is that a task took longer than its limit. Its worker was ended.
var ErrTimeout = errors.New("it took longer than its time")

// Do has a task done by a worker that has nothing to do, or by another one, as long as there
// are not too many. Nil, a *FunctionError and what Fill returned leave the worker as it is;
// after any other error another one takes its place, when there is need for one.
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

// doBy has a task done by a worker, which is put back if it can be used again.
func (c *crew) doBy(ctx context.Context, w *worker, t *Task) error {
	fit, err := w.carryOut(ctx, t)
	if fit {
		c.put(w)
	} else {
		w.close()
	}
	return err
}

// wait waits until one more worker may work.
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

// take returns a worker, which is started if none is idle.
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

// put takes a worker back that has nothing to do.
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

// retire ends the workers that were idle for long, and looks again later if there are others.
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

// dismissMost ends the idle workers but one: another crew does what is new.
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

// stamps are the states of files and folders.
type stamps struct {
	of   map[string]stamp
	sure bool // they were so for a while, so that another change would give another time
}

type stamp struct {
	there bool
	size  int64
	time  int64
}

// stampsOf looks at files that were read after a moment.
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

// environ is the environment of a worker: that of this program, with the order of sets fixed
// and as many threads for libraries as there are processors for it, unless it says otherwise.
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
