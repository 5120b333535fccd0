package server

import (
	"context"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

// counted is a context that counts the contexts and functions that wait for its end.
type counted struct {
	context.Context
	waiting atomic.Int64
}

// Value hides the context within, so that children register by AfterFunc.
func (c *counted) Value(any) any { return nil }

func (c *counted) AfterFunc(f func()) (stop func() bool) {
	c.waiting.Add(1)
	end := context.AfterFunc(c.Context, f)
	return func() bool {
		stopped := end()
		if stopped {
			c.waiting.Add(-1)
		}
		return stopped
	}
}

// TestPipelinesEnd checks that a thousand pipelines, ended at each of their stages, leave
// neither a goroutine nor a context that waits for the end of the server.
func TestPipelinesEnd(t *testing.T) {
	var all counted
	socket, s, _ := serverFor(t, Options{}, func(s *Server) {
		all.Context = s.ctx
		s.ctx = &all
	})
	request := rows(t, 64)
	dir := request["flow"].(map[string]any)["dir"].(string)
	if err := os.WriteFile(filepath.Join(dir, "flow.yaml"), []byte(request["flow"].(map[string]any)["text"].(string)), 0o600); err != nil {
		t.Fatal(err)
	}
	remote, err := s.Remote(RemoteOptions{Flows: dir, Token: testToken})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(remote)
	defer remote.Close()
	defer h.Close()

	open := func(c *client, seed int) {
		c.send(kindOpen, with(request, map[string]any{"order": "shuffled", "seed": seed}))
	}
	start := func(c *client, seed int, o map[string]any) {
		open(c, seed)
		c.want(kindOpened)
		c.send(kindStart, o)
		c.want(kindStarted)
	}
	stages := map[string]func(c *client, seed int){
		"opening": open,
		"opened":  func(c *client, seed int) { open(c, seed); c.want(kindOpened) },
		"no such": func(c *client, seed int) {
			c.send(kindOpen, with(request, map[string]any{"seed": seed, "parts": []any{map[string]any{"node": "none"}}}))
			c.refused()
		},
		"no field": func(c *client, seed int) {
			c.send(kindOpen, with(request, map[string]any{"seed": seed, "length": map[string]any{"item": "none"}, "batch": map[string]any{"size": 4, "row": 8}}))
			c.refused()
		},
		"opened again": func(c *client, seed int) { open(c, seed); c.want(kindOpened); open(c, -seed) },
		"no window":    func(c *client, seed int) { start(c, seed, map[string]any{"window": 0}) },
		"started":      func(c *client, seed int) { start(c, seed, map[string]any{}) },
		"reading": func(c *client, seed int) {
			start(c, seed, map[string]any{"window": 2})
			for range 2 {
				c.batch(c.read())
			}
		},
		"read": func(c *client, seed int) { start(c, seed, map[string]any{"epochs": 1}); c.epoch() },
		"stopped": func(c *client, seed int) {
			start(c, seed, map[string]any{})
			c.send(kindStop, nil)
			c.want(kindStopped)
		},
		"began again": func(c *client, seed int) {
			start(c, seed, map[string]any{})
			c.send(kindStart, map[string]any{"again": true})
		},
		"a request that is none": func(c *client, seed int) { open(c, seed); c.send(kindRelease, map[string]int{"a": 1}) },
	}
	names := slices.Sorted(maps.Keys(stages))
	other := func(seed int, whole bool) {
		o := with(remoteOpen("flow.yaml"), map[string]any{"order": "shuffled", "seed": seed})
		_, reply := post(t, h, "/v1/batches", testToken, map[string]any{"open": o, "start": map[string]any{"epochs": 2}})
		if whole {
			remoteClient(t, reply)
			return
		}
		_, _ = readFrame(reply, maxReply)
		_ = reply.(interface{ Close() error }).Close()
	}
	round := func(from, n int) {
		for seed := from + 1; seed <= from+n; seed++ {
			if k := seed % (len(names) + 2); k < len(names) {
				c := connect(t, socket)
				stages[names[k]](c, seed)
				_ = c.conn.Close()
			} else {
				other(seed, k == len(names))
			}
		}
		h.CloseClientConnections()
		h.Client().CloseIdleConnections()
		s.empty()
	}
	round(0, len(names)+2) // parts that start once and stay
	base, before := goleak.IgnoreCurrent(), all.waiting.Load()
	round(100, 1000)
	if err := goleak.Find(base); err != nil {
		t.Error(err)
	}
	if n := all.waiting.Load(); n > before {
		t.Errorf("%d contexts wait for the server's end, and %d did before", n, before)
	}
}
