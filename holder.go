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

// Who waits for a computation of another process is told whose it is: one that
// takes long notes that in the store. A process that is started by a computation
// can be told what that computes, by its environment.

// noteAfter is how long a computation runs before it is noted.
const noteAfter = 10 * time.Second

var holderOp = func() *key.Op {
	op, err := key.NewOp("being computed", key.Version("1"))
	if err != nil {
		panic(err) // it has no parameters that could be wrong
	}
	return op
}()

// holder is who computes something.
type holder struct {
	Process int
	Machine string // with the part of it in which the number is that of the process
	Since   time.Time
}

func holderKey(k key.Key) key.Key {
	return holderOp.Key(key.Input{Name: "key", Ref: key.Result(k, "")})
}

// hold notes that this process computes keys, if it takes long, until release.
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
			for _, k := range keys { // of the dead nobody asks: their leases are free
				_ = l.store.Delete(context.Background(), holderKey(k))
			}
		}
		release()
	}
}

// holders are the records that say who computes keys.
func holders(keys []key.Key, payload []byte) []store.Record {
	all := make([]store.Record, len(keys))
	for i, k := range keys {
		all[i] = store.Record{Key: holderKey(k), Type: records.Holder, Payload: payload}
	}
	return all
}

// waitsLong says, once for a key, what is waited for.
func (l *Larder) waitsLong(c singleflight.Call) {
	k, _ := c.Key.(key.Key)
	if _, before := l.warned.LoadOrStore(k, true); before {
		return
	}
	by := holder{os.Getpid(), machine(), c.Since}
	hint := "if it asks for itself where that cannot be seen (from a timer, or by a goroutine that was there before it), it waits for ever"
	if _, queued := l.queued.Load(k); queued {
		by, hint = l.holderOf(k)
	}
	said := []any{"operation", c.Name, "key", k}
	if by.Process != 0 {
		said = append(said, slog.Group("by", "process", by.Process, "machine", by.Machine, "since", by.Since))
	}
	l.log.Warn("larder: waiting for a computation that takes long: "+hint, said...)
}

// holderOf returns who else computes k, and what to think of it.
func (l *Larder) holderOf(k key.Key) (by holder, hint string) {
	rec, err := l.store.Get(context.Background(), holderKey(k))
	if err == nil && rec.Type == records.Holder {
		err = decodeStrict.Unmarshal(rec.Payload, &by)
	}
	switch {
	case err != nil || by.Process == 0:
		return holder{}, "another process does it, which has not said who it is"
	case by.Machine == machine() && started(by.Process):
		return by, "the process that does it started this one: if it waits for this one, it waits for ever; give what a computation starts what larder.Environ returns"
	}
	return by, "another process does it"
}

// machine names what the numbers of processes are of.
var machine = sync.OnceValue(func() string {
	host, _ := os.Hostname()
	space, _ := os.Readlink("/proc/self/ns/pid") // nothing where there is none
	return strings.TrimSpace(host + " " + space)
})

// started reports whether a process started this one, directly or not, as far as
// the system tells.
func started(process int) bool {
	for id, hops := os.Getppid(), 0; id > 1 && hops < 1000; hops++ {
		if id == process {
			return true
		}
		id = parent(id)
	}
	return false
}

// parent returns the number of the process that started another, or 0.
func parent(process int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return 0
	}
	// The name before the fields may have anything in it, but no field a bracket.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	id, _ := strconv.Atoi(fields[1])
	return id
}

// withinName is the variable that tells a process for what it was started.
const withinName = "LARDER_WITHIN"

// maxWithin bounds how many keys the variable has.
const maxWithin = 1000

// Environ returns what to add to the environment of a process that the
// computation around ctx starts and waits for: with it, asking there for what
// waits for that process is [ErrCycle]. It is nothing outside of computations.
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
	return []string{withinName + "=" + strings.Join(texts, ",")}
}

// inherited returns what was computed where this process was started.
func inherited() map[key.Key]bool {
	keys := map[key.Key]bool{}
	for text := range strings.SplitSeq(os.Getenv(withinName), ",") {
		if k, err := key.ParseKey(text); err == nil {
			keys[k] = true
		}
	}
	return keys
}
