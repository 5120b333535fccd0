package embedproxy

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// metrics are the counters of a handler.
type metrics struct {
	requests, refused, gone       atomic.Int64
	memory, store, shared, misses atomic.Int64 // inputs
	calls, failed, retries, wrong atomic.Int64
	sent, received, tokens        atomic.Int64
	asking, saved                 atomic.Int64 // nanoseconds
}

// writeMetrics answers in the text format of Prometheus (exposition format 0.0.4).
func (h *Handler) writeMetrics(w http.ResponseWriter, _ *http.Request) {
	m := &h.metrics
	var b strings.Builder
	of := func(name, help string, values ...any) { // labels and values
		fmt.Fprintf(&b, "# HELP larder_embed_%s %s\n# TYPE larder_embed_%s counter\n", name, help, name)
		for i := 0; i < len(values); i += 2 {
			fmt.Fprintf(&b, "larder_embed_%s%s %v\n", name, values[i], values[i+1])
		}
	}
	seconds := func(n *atomic.Int64) float64 { return time.Duration(n.Load()).Seconds() }
	of("requests_total", "requests for embeddings", "", m.requests.Load())
	of("requests_failed_total", "those that were answered with an error", "", m.refused.Load())
	of("requests_gone_total", "those whose client went away", "", m.gone.Load())
	of("inputs_total", "inputs that were answered, by where their vectors came from; shared is from an equal input of the same or another request",
		`{from="memory"}`, m.memory.Load(), `{from="store"}`, m.store.Load(), `{from="shared"}`, m.shared.Load(), `{from="upstream"}`, m.misses.Load())
	of("upstream_calls_total", "calls of the upstream, including retries", "", m.calls.Load())
	of("upstream_calls_failed_total", "calls without an answer, or with one of an error", "", m.failed.Load())
	of("upstream_retries_total", "calls that were retried", "", m.retries.Load())
	of("upstream_wrong_total", "answers that could not be right", "", m.wrong.Load())
	of("upstream_sent_bytes_total", "bytes of the bodies sent to the upstream", "", m.sent.Load())
	of("upstream_received_bytes_total", "bytes of its answers", "", m.received.Load())
	of("upstream_tokens_total", "tokens that the upstream counted", "", m.tokens.Load())
	of("upstream_seconds_total", "time of calls of the upstream", "", seconds(&m.asking))
	of("saved_seconds_total", "computing time of the vectors that were served from the cache", "", seconds(&m.saved))
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = w.Write([]byte(b.String())) // otherwise the client has gone
}
