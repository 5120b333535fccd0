package server

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"runtime"
	gometrics "runtime/metrics"
	"slices"
	"time"

	"github.com/larder-data/larder/loader"
)

// A Status describes what a server is doing.
type Status struct {
	Version     string             `json:"version"`
	PID         int                `json:"pid"`
	Cache       string             `json:"cache"`
	Seconds     float64            `json:"seconds"`      // since the start
	MemoryBytes uint64             `json:"memory_bytes"` // of Go, without the rings
	Memory      MemoryStatus       `json:"memory"`
	Caches      []CacheStatus      `json:"caches"` // of nodes, each once, even if shared
	Connections []ConnectionStatus `json:"connections"`
	Pipelines   []PipelineStatus   `json:"pipelines"`
}

// A MemoryStatus lists uses of memory and their bounds.
type MemoryStatus struct {
	HeapBytes    uint64 `json:"heap_bytes"`    // of Go: in use, and garbage
	LiveBytes    uint64 `json:"live_bytes"`    // of these, in use at the last garbage collection
	RingBytes    int64  `json:"ring_bytes"`    // shared with clients, outside of the heap
	AheadBytes   int64  `json:"ahead_bytes"`   // batches that are ready or in preparation, and not returned
	MostAhead    int64  `json:"most_ahead"`    // bound for all rings together, except four batches each
	InUseBytes   int64  `json:"in_use_bytes"`  // read and decoded for batches now
	MostInUse    int64  `json:"most_in_use"`   // its bound
	ResultBytes  int64  `json:"result_bytes"`  // results of the cache directory in memory
	MostResults  int64  `json:"most_results"`  // its bound
	NodesBytes   int64  `json:"nodes_bytes"`   // in the caches of nodes
	PendingBytes int64  `json:"pending_bytes"` // results of clients that are not stored yet
}

// A PipelineStatus describes an open pipeline and its caches.
type PipelineStatus struct {
	Open   string        `json:"open"`
	Users  int           `json:"users"`  // number of users
	Caches []loader.Hits `json:"caches"` // in this epoch and the one before
	// Stages are the stages of building batches, the longest first.
	Stages []loader.Stage `json:"stages"`
}

// A ConnectionStatus describes a client.
type ConnectionStatus struct {
	Number  int           `json:"number"`
	PID     int           `json:"pid"` // of the client; 0 if unknown
	Client  string        `json:"client"`
	Seconds float64       `json:"seconds"` // since it connected
	Open    string        `json:"open,omitempty"`
	Reader  *ReaderStatus `json:"reader,omitempty"`
}

// A ReaderStatus has the counters of a reader.
type ReaderStatus struct {
	Seconds   float64 `json:"seconds"` // since it started
	Rank      int     `json:"rank"`
	WorldSize int     `json:"world_size"`
	Epoch     uint64  `json:"epoch"`
	Batches   int64   `json:"batches"`
	Samples   int64   `json:"samples"`
	Skipped   int64   `json:"skipped"`
	Bytes     int64   `json:"bytes"`
	RingBytes int64   `json:"ring_bytes"`
	// AheadBytes is the size of batches that are ready or in preparation, and not
	// returned.
	AheadBytes int64 `json:"ahead_bytes"`
	InFlight   int   `json:"in_flight"` // batches that were returned and not released
	Window     int   `json:"window"`
	// SecondsComputing is the time spent waiting for the next batch, SecondsFull the
	// time when the client had the maximum number of batches.
	SecondsComputing float64 `json:"seconds_computing"`
	SecondsFull      float64 `json:"seconds_full"`
}

// ReaderOf returns the reader of a connection, or nil. A nil Status has none.
func (s *Status) ReaderOf(number int) *ReaderStatus {
	if s == nil {
		return nil
	}
	for _, c := range s.Connections {
		if c.Number == number {
			return c.Reader
		}
	}
	return nil
}

// PipelineOf returns the open pipeline of a connection, or nil. A nil Status has
// none.
func (s *Status) PipelineOf(open string) *PipelineStatus {
	if s != nil {
		for i := range s.Pipelines {
			if s.Pipelines[i].Open == open {
				return &s.Pipelines[i]
			}
		}
	}
	return nil
}

// Since returns the times of a pipeline's stages since an earlier status, which may
// be nil.
func (p *PipelineStatus) Since(before *PipelineStatus) []loader.Stage {
	was := map[string]float64{}
	if before != nil {
		for _, s := range before.Stages {
			was[s.Name] = s.Seconds
		}
	}
	now, total := slices.Clone(p.Stages), 0.0
	for i := range now {
		now[i].Seconds = max(0, now[i].Seconds-was[now[i].Name])
		total += now[i].Seconds
	}
	if total == 0 {
		return slices.Clone(p.Stages) // none was measured in between
	}
	for i := range now {
		now[i].Share = now[i].Seconds / total
	}
	slices.SortStableFunc(now, func(a, b loader.Stage) int { return cmp.Compare(b.Share, a.Share) })
	return now
}

// Since returns the counters since an earlier status, which may be nil.
func (r *ReaderStatus) Since(before *ReaderStatus) ReaderStatus {
	now := *r
	if before == nil || before.Seconds >= r.Seconds || before.Batches > r.Batches {
		return now
	}
	now.Seconds -= before.Seconds
	now.Batches -= before.Batches
	now.Samples -= before.Samples
	now.Bytes -= before.Bytes
	now.SecondsComputing -= before.SecondsComputing
	now.SecondsFull -= before.SecondsFull
	return now
}

// BoundBy describes, for display, what the reader has waited for most of its time,
// if anything. stages are those of its pipeline.
func (r *ReaderStatus) BoundBy(stages []loader.Stage) string {
	share := func(s float64) int { return int(100 * s / max(r.Seconds, 1e-9)) }
	switch {
	case 2*r.SecondsComputing > r.Seconds && len(stages) > 0:
		return fmt.Sprintf("%s: %.0f %% of computing batches (%d %% of the time)", stages[0].Name, 100*stages[0].Share, share(r.SecondsComputing))
	case 2*r.SecondsComputing > r.Seconds:
		return fmt.Sprintf("computing batches (%d %% of the time)", share(r.SecondsComputing))
	case 2*r.SecondsFull > r.Seconds:
		return fmt.Sprintf("its client (%d %% of the time)", share(r.SecondsFull))
	}
	return "neither side"
}

// Status returns the status of the server.
func (s *Server) Status() Status { return s.status(nil) }

// status returns the status without the connection asks.
func (s *Server) status(asks *conn) Status {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	o := &s.options
	st := Status{Version: o.Version, PID: os.Getpid(), Cache: o.Cache, Seconds: time.Since(s.began).Seconds(), MemoryBytes: m.HeapInuse + m.StackInuse, Connections: []ConnectionStatus{}}
	s.mu.Lock()
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		if c != asks {
			conns = append(conns, c)
		}
	}
	remote := slices.Collect(maps.Keys(s.remote))
	s.mu.Unlock()
	for _, c := range conns {
		st.Connections = append(st.Connections, c.status())
	}
	for _, r := range remote {
		st.Connections = append(st.Connections, r.status())
	}
	slices.SortFunc(st.Connections, func(a, b ConnectionStatus) int { return cmp.Compare(a.Number, b.Number) })
	st.Pipelines = s.pipelines.status()
	st.Caches = s.pipelines.caches.status()
	st.Memory = s.memory(&st, &m)
	return st
}

// memory returns the uses of memory.
func (s *Server) memory(st *Status, m *runtime.MemStats) MemoryStatus {
	live := []gometrics.Sample{{Name: "/gc/heap/live:bytes"}}
	gometrics.Read(live)
	all := MemoryStatus{HeapBytes: m.HeapInuse, LiveBytes: live[0].Value.Uint64(), MostAhead: s.ahead.Bytes(), PendingBytes: s.calls.pending.Load()}
	all.InUseBytes, all.MostInUse = s.pool.Bytes()
	if s.options.Larder != nil {
		o, _, results := s.options.Larder.InMemory()
		all.ResultBytes, all.MostResults = results.Bytes, o.Bytes
	}
	for _, c := range st.Connections {
		if c.Reader != nil {
			all.AheadBytes += c.Reader.AheadBytes
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		all.RingBytes += c.ringBytes()
	}
	for _, c := range st.Caches {
		all.NodesBytes += c.Bytes
	}
	return all
}

func (ps *pipelines) status() []PipelineStatus {
	ps.mu.Lock()
	open := slices.Clone(ps.open)
	all := make([]PipelineStatus, 0, len(open))
	for _, p := range open {
		all = append(all, PipelineStatus{Open: p.name, Users: p.users, Caches: []loader.Hits{}, Stages: []loader.Stage{}})
	}
	ps.mu.Unlock()
	for k, p := range open {
		select {
		case <-p.ready:
			if p.err == nil {
				all[k].Caches = append(all[k].Caches, p.loader.Hits()...)
				all[k].Stages = append(all[k].Stages, p.loader.Stages()...)
			}
		default: // opening
		}
	}
	return all
}

func (c *conn) ringBytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ring == nil {
		return 0
	}
	return c.ring.takes()
}

func (c *conn) status() ConnectionStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := ConnectionStatus{Number: c.number, PID: c.pid, Client: c.client, Seconds: time.Since(c.began).Seconds()}
	if c.pipeline != nil {
		st.Open = c.pipeline.name
	}
	if r := c.reading; r != nil {
		st.Reader = r.meter.status(&r.request, r.began)
		st.Reader.RingBytes, st.Reader.InFlight, st.Reader.Window = r.ring.takes(), len(r.space), r.window
		if r.reader != nil {
			st.Reader.AheadBytes = r.reader.BytesAhead()
		}
	}
	return st
}

// status returns the counters of a reader.
func (m *meter) status(o *startRequest, began time.Time) *ReaderStatus {
	return &ReaderStatus{
		Seconds: time.Since(began).Seconds(),
		Rank:    o.Rank, WorldSize: o.WorldSize, Epoch: m.epoch.Load(), Batches: m.batches.Load(), Samples: m.samples.Load(), Skipped: m.skipped.Load(), Bytes: m.bytes.Load(),
		SecondsComputing: time.Duration(m.forBatches.Load()).Seconds(), SecondsFull: time.Duration(m.forClient.Load()).Seconds(),
	}
}
