package server

import (
	"fmt"
	"io"
	"strings"
)

// WriteMetrics writes the status in the text format of Prometheus (exposition format
// 0.0.4).
func (s *Status) WriteMetrics(w io.Writer) error {
	m := &metrics{}
	m.of("larder_server_seconds", "gauge", "how long the server has run", "", s.Seconds)
	m.of("larder_server_memory_bytes", "gauge", "memory of the server without its rings", "", float64(s.MemoryBytes))
	m.of("larder_server_connections", "gauge", "clients that are connected", "", float64(len(s.Connections)))
	readers := []struct {
		name, kind, help string
		value            func(*ReaderStatus) float64
	}{
		{"larder_reader_samples_total", "counter", "samples that were returned", func(r *ReaderStatus) float64 { return float64(r.Samples) }},
		{"larder_reader_batches_total", "counter", "batches that were returned", func(r *ReaderStatus) float64 { return float64(r.Batches) }},
		{"larder_reader_bytes_total", "counter", "bytes of these", func(r *ReaderStatus) float64 { return float64(r.Bytes) }},
		{"larder_reader_skipped_total", "counter", "samples that could not be read and were left out", func(r *ReaderStatus) float64 { return float64(r.Skipped) }},
		{"larder_reader_epoch", "gauge", "the epoch that is read", func(r *ReaderStatus) float64 { return float64(r.Epoch) }},
		{"larder_reader_ring_bytes", "gauge", "the memory shared with the client", func(r *ReaderStatus) float64 { return float64(r.RingBytes) }},
		{"larder_reader_batches_in_flight", "gauge", "batches that the client has", func(r *ReaderStatus) float64 { return float64(r.InFlight) }},
		{"larder_reader_computing_seconds_total", "counter", "time for which the next batch was waited for", func(r *ReaderStatus) float64 { return r.SecondsComputing }},
		{"larder_reader_full_seconds_total", "counter", "time for which the client had all the batches it may have", func(r *ReaderStatus) float64 { return r.SecondsFull }},
	}
	for _, f := range readers {
		for _, c := range s.Connections {
			if c.Reader != nil {
				m.of(f.name, f.kind, f.help, fmt.Sprintf(`connection="%d",client=%s,open=%s,rank="%d"`, c.Number, label(c.Client), label(c.Open), c.Reader.Rank), f.value(c.Reader))
			}
		}
	}
	for _, f := range []struct {
		name, help string
		value      int64
	}{
		{"heap", "memory of Go, in use or garbage", int64(s.Memory.HeapBytes)},
		{"ring", "memory shared with clients", s.Memory.RingBytes},
		{"ahead", "batches that are ready and not yet returned", s.Memory.AheadBytes},
		{"in_use", "read and decoded for batches now", s.Memory.InUseBytes},
		{"result", "results that are in memory as well", s.Memory.ResultBytes},
	} {
		m.of("larder_server_"+f.name+"_bytes", "gauge", f.help, "", float64(f.value))
	}
	for _, f := range []struct {
		name, kind, help string
		value            func(c *CacheStatus) int64
	}{
		{"larder_node_cache_entries", "gauge", "samples of a node that are in memory", func(c *CacheStatus) int64 { return int64(c.Entries) }},
		{"larder_node_cache_bytes", "gauge", "bytes of these", func(c *CacheStatus) int64 { return c.Bytes }},
		{"larder_node_cache_reads_total", "counter", "samples that were requested", func(c *CacheStatus) int64 { return c.Reads }},
		{"larder_node_cache_hits_total", "counter", "of these, those that were in memory", func(c *CacheStatus) int64 { return c.Hits }},
	} {
		for i := range s.Caches {
			c := &s.Caches[i]
			m.of(f.name, f.kind, f.help, fmt.Sprintf(`cache="%d",flow=%s,node=%s`, i, label(c.Flow), label(c.Node)), float64(f.value(c)))
		}
	}
	for _, f := range []string{"reads", "hits", "predicted"} {
		for _, p := range s.Pipelines {
			for _, h := range p.Caches {
				value := map[string]float64{"reads": float64(h.Reads), "hits": float64(h.Hits), "predicted": h.Predicted}[f]
				m.of("larder_cache_"+f, "gauge", "of a cache in an epoch; predicted is a part of 1, below 0 if not known", fmt.Sprintf(`open=%s,cache="%d",epoch="%d"`, label(p.Open), h.Cache, h.Epoch), value)
			}
		}
	}
	for _, p := range s.Pipelines {
		for _, g := range p.Stages {
			m.of("larder_stage_seconds", "counter", "time of a stage of computing batches, in the measured batches", fmt.Sprintf("open=%s,stage=%s", label(p.Open), label(g.Name)), g.Seconds)
		}
	}
	_, err := io.WriteString(w, m.text.String())
	return err
}

// metrics builds lines of the format.
type metrics struct {
	text strings.Builder
	last string // the current family
}

func (m *metrics) of(name, kind, help, labels string, value float64) {
	if m.last != name {
		m.last = name
		fmt.Fprintf(&m.text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(&m.text, "%s%s %g\n", name, labels, value)
}

var escapes = strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`)

// label quotes a string as the value of a label.
func label(text string) string { return `"` + escapes.Replace(text) + `"` }
