package bucket_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/bucket"
	"github.com/larder-data/larder/store/storetest"
)

const (
	keysOfSchedule = 8
	stepsOfOne     = 60
)

// A machine uses the bucket, and knows which of its records it has not stored yet.
type machine struct {
	*bucket.Store
	stale   bool // lists the bucket once
	pending map[int]int
}

// A schedule is a random sequence of what machines do with one bucket. Each record has a version, which grows with each
// Put of any machine.
type schedule struct {
	*testing.T
	*rand.Rand
	objects *objectstoretest.Objects
	left    atomic.Int64 // requests until the acting machine is killed
	number  int

	machines  []*machine
	version   int
	committed map[int]int // version, by key, that every machine must find, or a later one
	lossy     bool        // an object was removed: a record may be missing or an earlier one
}

// TestSchedules checks random schedules of machines that put, read, end, and are killed between any two requests,
// while objects expire. A record is never wrong, and a committed one is found until an object expires.
func TestSchedules(t *testing.T) {
	server, objects := objectstoretest.S3(t)
	seed := testrand.New(t).Uint64()
	n := testrand.Rounds(30, 1000)
	if testing.Short() {
		n = 10
	}
	for i := range n {
		s := &schedule{T: t, Rand: rand.New(rand.NewPCG(seed, uint64(i))), objects: objects, number: i, committed: map[int]int{}}
		server.Fail(func(int, *http.Request) objectstoretest.Fault {
			if s.left.Add(-1) < 0 {
				return objectstoretest.Fault{Status: http.StatusForbidden}
			}
			return objectstoretest.Fault{}
		})
		s.run()
		if t.Failed() {
			t.Fatalf("schedule %d of seed %d", i, seed)
		}
	}
}

func (s *schedule) run() {
	for range 3 {
		s.machines = append(s.machines, s.start())
	}
	for range stepsOfOne {
		i := s.IntN(len(s.machines))
		m, k := s.machines[i], s.IntN(keysOfSchedule)
		s.left.Store(1 << 40)
		switch s.IntN(12) {
		case 0, 1, 2, 3:
			s.put(m, k)
		case 4, 5, 6, 7:
			s.read(m)
		case 8:
			s.expire()
		case 9: // killed after some requests
			s.left.Store(s.Int64N(3))
			fallthrough
		default:
			s.end(m)
			s.machines[i] = s.start()
		}
	}
	for _, m := range s.machines {
		s.left.Store(1 << 40)
		s.end(m)
	}
	for _, name := range s.objects.Names() {
		s.objects.Delete(name)
	}
}

func (s *schedule) start() *machine {
	m := &machine{stale: s.IntN(3) == 0, pending: map[int]int{}}
	o := bucket.Options{URL: fmt.Sprint("s3://bucket/", s.number), PackBytes: 4 << 10}
	if m.stale {
		o.Refresh = time.Hour
	}
	m.Store = open(s.T, o)
	return m
}

func (s *schedule) put(m *machine, k int) {
	s.version++
	size := s.IntN(3000)
	r := store.Record{Key: storetest.Key(k), Payload: fmt.Appendf(nil, "%d %d %s", k, s.version, strings.Repeat("x", size))}
	if err := m.Put(s.Context(), r); err != nil {
		s.Errorf("Put: %v", err)
	}
	m.pending[k] = s.version
}

// end ends the use of a store. If requests failed, some of its records may be stored.
func (s *schedule) end(m *machine) {
	if err := m.Close(); err != nil {
		s.Errorf("Close: %v", err)
	}
	if s.left.Load() >= 0 {
		for k, v := range m.pending {
			s.committed[k] = max(s.committed[k], v)
		}
	}
}

// expire removes an object, as a service does.
func (s *schedule) expire() {
	if all := s.objects.Names(); len(all) > 0 && s.IntN(5) == 0 {
		s.lossy = true
		s.objects.Delete(all[s.IntN(len(all))])
	}
}

func (s *schedule) read(m *machine) {
	keys := make([]key.Key, keysOfSchedule)
	for i := range keys {
		keys[i] = storetest.Key(i)
	}
	records, err := m.GetMany(s.Context(), keys)
	if err != nil {
		s.Errorf("GetMany: %v", err)
		return
	}
	for i, r := range records {
		least := m.pending[i] // a machine that has an earlier record does not look for later ones
		var k, version int
		if r.Key.IsZero() {
			if !s.lossy && (m.pending[i] > 0 || !m.stale && s.committed[i] > 0) {
				s.Errorf("key %d is missing", i)
			}
			continue
		}
		if _, err := fmt.Sscan(string(r.Payload), &k, &version); err != nil || k != i || version > s.version || !s.lossy && version < least {
			s.Errorf("key %d: version %d of key %d, of %d to %d, %v", i, version, k, least, s.version, err)
		}
	}
}
