package server

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/larder-data/larder/mapper"
)

// cachedRows returns rows whose node has a cache, with a node of other samples that reads
// it.
func cachedRows(t *testing.T, n int, policy string) map[string]any {
	t.Helper()
	request := rows(t, n)
	flow := request["flow"].(map[string]any)
	flow["text"] = fmt.Sprintf(`version: 1
vars: {epoch: 0}
nodes:
  rows: {source: jsonl, with: {path: rows.jsonl}, cache: {policy: %s, bytes: 1MiB}}
  more: {op: slice, from: rows, with: {start: 0}}
  drawn:
    map: compute
    from: rows
    with: {set: {n: "n + ${epoch}"}}
    cache: {policy: lru, bytes: 1MiB}
`, policy)
	return with(request, map[string]any{"order": "shuffled", "set": map[string]any{"epoch": "0"}})
}

// TestCachesAreShared checks that pipelines that differ only in other parts read a node
// through one cache. A node with other inputs or another computation has its own.
func TestCachesAreShared(t *testing.T) {
	const n = 40
	socket, s, _ := serverFor(t, Options{})
	request := cachedRows(t, n, "lru")
	file := filepath.Join(request["flow"].(map[string]any)["dir"].(string), "rows.jsonl")
	read := func(more map[string]any) {
		c := connect(t, socket)
		c.send(kindOpen, with(request, more))
		c.want(kindOpened)
		c.send(kindStart, map[string]any{"epochs": 1})
		c.want(kindStarted)
		c.epoch()
	}
	for seed := range 4 {
		read(map[string]any{"seed": seed})
	}
	read(map[string]any{"batch": map[string]any{"size": 7}, "skip": 1})
	read(map[string]any{"parts": []any{map[string]any{"node": "more"}}})
	got := s.Status().Caches
	if len(got) != 1 || got[0].Pipelines != 6 || got[0].Reads != 6*n || got[0].Hits != 5*n || got[0].Entries != n || got[0].Bytes == 0 || got[0].MostBytes != 1<<20 || got[0].Node != "rows" || got[0].Policy != "lru" {
		t.Errorf("caches: %+v", got)
	}
	if p := s.Status().Pipelines[5].Caches; len(p) != 1 || p[0].Node != "rows" || p[0].Reads != n || p[0].Hits != n {
		t.Errorf("caches of a pipeline: %+v", p)
	}
	drawn := map[string]any{"parts": []any{map[string]any{"node": "drawn"}}}
	read(drawn)
	read(with(drawn, map[string]any{"set": map[string]any{"epoch": "1"}}))
	names := func() (all []string) {
		for _, c := range s.Status().Caches {
			all = append(all, fmt.Sprint(c.Node, " ", c.Pipelines))
		}
		return all
	}
	if got := names(); !slices.Equal(got, []string{"rows 8", "drawn 1", "drawn 1"}) {
		t.Errorf("caches where a variable is another: %v", got)
	}
	if err := os.WriteFile(file, []byte("{\"n\": 1}\n{\"n\": 2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read(nil)
	text := request["flow"].(map[string]any)["text"].(string)
	request["flow"].(map[string]any)["text"] = strings.Replace(text, "policy: lru, bytes: 1MiB", "policy: lru, bytes: 2MiB", 1)
	read(nil)
	if got := names(); !slices.Equal(got, []string{"rows 8", "drawn 1", "drawn 1", "rows 1", "rows 1"}) {
		t.Errorf("caches where the file and the bound are others: %v", got)
	}
}

// TestCachesOfEpochs checks that nodes that do not depend on the epoch are shared by all
// epochs. The others are held for the latest epochs only.
func TestCachesOfEpochs(t *testing.T) {
	const n, epochs = 12, 6
	socket, s, _ := serverFor(t, Options{})
	request := cachedRows(t, n, "lru")
	delete(request, "set")
	request["parts"] = []any{map[string]any{"node": "drawn"}}
	for range 2 { // two readers of an epoch share it
		c := connect(t, socket)
		c.send(kindOpen, request)
		c.want(kindOpened)
		c.send(kindStart, map[string]any{"epochs": epochs})
		c.want(kindStarted)
		for e := range epochs {
			got := values(c.epoch())
			slices.Sort(got)
			if got[0] != int64(e) || got[n-1] != int64(n-1+e) {
				t.Errorf("epoch %d: %v", e, got)
			}
		}
	}
	var total int64
	for _, c := range s.Status().Caches {
		if c.Node == "rows" {
			total++
			if misses := c.Reads - c.Hits; misses != n {
				t.Errorf("the source was read %d times", misses)
			}
		}
	}
	if all := len(s.Status().Caches); total != 1 || all > 2+recentEditions {
		t.Errorf("%d caches of the source, %d in all", total, all)
	}
}

// TestCachesEnd checks that caches are released with the last of their pipelines, however
// these end.
func TestCachesEnd(t *testing.T) {
	socket, s, _ := serverFor(t, Options{})
	for _, policy := range []string{"lru", "opt", "auto"} {
		request := cachedRows(t, 40, policy)
		for seed := range 20 {
			c := connect(t, socket)
			c.send(kindOpen, with(request, map[string]any{"seed": seed}))
			if seed%3 > 0 {
				c.want(kindOpened)
				c.send(kindStart, map[string]any{})
			}
			if seed%3 > 1 {
				c.want(kindStarted)
			}
			_ = c.conn.Close()
		}
		s.empty()
	}
	if p, c := s.Status().Pipelines, s.Status().Caches; len(p) != unused || len(c) > unused {
		t.Errorf("%d pipelines and %d caches are left", len(p), len(c))
	}
}

// TestAheadIsBounded checks that the rings of all clients fit into the server's memory,
// plus four batches each. A single client's prefetch shrinks when others come.
func TestAheadIsBounded(t *testing.T) {
	const batch = pageBytes
	const most = 32 * batch
	socket, s, _ := serverFor(t, Options{AheadBytes: most})
	request := with(rows(t, 512*16), map[string]any{"batch": map[string]any{"size": 512}})
	start := func() *client {
		c := connect(t, socket)
		c.send(kindOpen, request)
		c.want(kindOpened)
		c.send(kindStart, map[string]any{"window": 64})
		c.want(kindStarted)
		return c
	}
	read := func(c *client, n int, hold bool) {
		var slots []uint32
		for len(slots) < n {
			if f := c.read(); f.kind == kindBatch {
				slots = append(slots, c.batch(f).slot)
				if !hold {
					c.release(slots[len(slots)-1])
				}
			}
		}
		if hold {
			c.release(slots...)
		}
	}
	one := start()
	read(one, 30, true)
	if got := s.Status().Memory.RingBytes; got < 24*batch || got > most {
		t.Errorf("the ring of one alone has %d bytes", got)
	}
	clients := []*client{one}
	for range 3 {
		clients = append(clients, start())
	}
	for _, c := range clients {
		read(c, 8, true)
		read(c, 80, false)
	}
	st := s.Status()
	if st.Memory.RingBytes > most || st.Memory.MostAhead != most {
		t.Errorf("the rings of four have %d bytes", st.Memory.RingBytes)
	}
	for _, c := range st.Connections {
		if c.Reader.AheadBytes > most/4 {
			t.Errorf("%d bytes are ahead of one of four", c.Reader.AheadBytes)
		}
	}
}

// TestStatusSaysMemory checks that the status has the uses and bounds of memory.
func TestStatusSaysMemory(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	c := connect(t, socket)
	c.send(kindOpen, cachedRows(t, 40, "lru"))
	c.want(kindOpened)
	c.send(kindStart, map[string]any{"epochs": 1})
	c.want(kindStarted)
	c.epoch()
	st, err := StatusOf(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	m := st.Memory
	if m.HeapBytes == 0 || m.RingBytes == 0 || m.NodesBytes == 0 || m.MostAhead == 0 || m.MostInUse == 0 || m.MostResults == 0 || len(st.Caches) != 1 {
		t.Errorf("%s", text)
	}
	var metrics strings.Builder
	if err := st.WriteMetrics(&metrics); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"larder_server_ring_bytes ", "larder_server_heap_bytes ", `larder_node_cache_bytes{cache="0",flow="a flow of `, `larder_node_cache_hits_total{`} {
		if !strings.Contains(metrics.String(), want) {
			t.Errorf("no %s in\n%s", want, metrics.String())
		}
	}
}
