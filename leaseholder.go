package larder

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A process that computes for long stores a holder record, so that waiting processes
// can name it. A computation can pass its keys to a child process in the environment.

// noteAfter is the duration of a computation before its holder record is stored.
const noteAfter = 10 * time.Second

var holderOp = func() *key.Op {
	op, err := key.NewOp("being computed", key.Version("1"))
	if err != nil {
		panic(err) // no parameter can be wrong
	}
	return op
}()

// holder identifies the process that computes a key.
type holder struct {
	Process int
	Machine string // host and PID namespace of Process
	Since   time.Time
}

func holderKey(k key.Key) key.Key {
	return holderOp.Key(key.Input{Name: "key", Ref: key.Result(k, "")})
}

// hold stores holder records for keys if the computation takes long. The returned
// function deletes them and calls release.
func (l *Larder) hold(keys []key.Key, release func()) func() {
	var mu sync.Mutex
	begun, noted, ended := time.Now(), false, false
	timer := time.AfterFunc(noteAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		payload, err := cbor.Marshal(holder{os.Getpid(), machine(), begun})
		if !ended && err == nil {
			noted = l.store.Put(context.Background(), holders(keys, payload)...) == nil
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if ended = true; noted {
			for _, k := range keys { // a dead process leaves them, but its leases are free, so they are not read
				_ = l.store.Delete(context.Background(), holderKey(k))
			}
		}
		release()
	}
}

func holders(keys []key.Key, payload []byte) []store.Record {
	all := make([]store.Record, len(keys))
	for i, k := range keys {
		all[i] = store.Record{Key: holderKey(k), Type: records.Holder, Payload: payload}
	}
	return all
}

// waitsLong logs, once for a key, what a caller waits for.
func (l *Larder) waitsLong(c singleflight.Call) {
	k, _ := c.Key.(key.Key)
	if _, before := l.warned.LoadOrStore(k, true); before {
		return
	}
	by := holder{os.Getpid(), machine(), c.Since}
	hint := "if this computation requests its own result from a timer or an older goroutine, it waits for ever"
	if _, queued := l.queued.Load(k); queued {
		by, hint = l.holderOf(k)
	}
	attrs := []any{"operation", c.Name, "key", k}
	if by.Process != 0 {
		attrs = append(attrs, slog.Group("by", "process", by.Process, "machine", by.Machine, "since", by.Since))
	}
	l.log.Warn("larder: waiting for a computation that takes long: "+hint, attrs...)
}

// holderOf returns which other process computes k, and a hint for the user.
func (l *Larder) holderOf(k key.Key) (by holder, hint string) {
	rec, err := l.store.Get(context.Background(), holderKey(k))
	if err == nil && rec.Type == records.Holder {
		err = decodeStrict.Unmarshal(rec.Payload, &by)
	}
	switch {
	case err != nil || by.Process == 0:
		return holder{}, "computed by another process, which has not identified itself"
	case by.Machine == machine() && started(by.Process):
		return by, "the result is being computed by a parent of this process; if the parent waits for this process, both hang; add larder.Environ(ctx) to the environment of child processes"
	}
	return by, "another process does it"
}

// machine identifies the PID namespace of this process.
var machine = sync.OnceValue(func() string {
	host, _ := os.Hostname()
	namespace, _ := os.Readlink("/proc/self/ns/pid") // empty without procfs
	return strings.TrimSpace(host + " " + namespace)
})

// started reports whether a process is an ancestor of this one, as far as the system
// tells.
func started(process int) bool {
	for id, hops := os.Getppid(), 0; id > 1 && hops < 1000; hops++ {
		if id == process {
			return true
		}
		id = parent(id)
	}
	return false
}

// parent returns the PID of a process's parent, or 0.
func parent(process int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return 0
	}
	// The name in front of the fields may contain anything; no field contains a
	// bracket.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	id, _ := strconv.Atoi(fields[1])
	return id
}

// withinVariable is the environment variable with the keys for which a process was started.
const withinVariable = "LARDER_WITHIN"

const maxWithin = 1000

// Environ returns what to add to the environment of a process that the computation
// around ctx starts and waits for. With it, that process gets [ErrCycle] if it requests
// a result that waits for it. Outside of computations Environ returns nil.
//
//	cmd.Env = append(os.Environ(), larder.Environ(ctx)...)
func Environ(ctx context.Context) []string {
	keys := inherited()
	for _, c := range singleflight.Around(ctx) {
		k, isKey := c.Key.(key.Key)
		in, isScope := c.Scope.(scope)
		if isKey && isScope && len(keys) < maxWithin {
			keys[key.SpaceOf(in.salt).Key(k)] = true
		}
	}
	if len(keys) == 0 {
		return nil
	}
	texts := make([]string, 0, len(keys))
	for k := range keys {
		texts = append(texts, k.String())
	}
	return []string{withinVariable + "=" + strings.Join(texts, ",")}
}

// inherited returns the keys whose computation started this process.
func inherited() map[key.Key]bool {
	keys := map[key.Key]bool{}
	for text := range strings.SplitSeq(os.Getenv(withinVariable), ",") {
		if k, err := key.ParseKey(text); err == nil {
			keys[k] = true
		}
	}
	return keys
}
