package server

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestShardsOfShards checks the single warning for ranks that share a flow that is already
// a share of one process.
func TestShardsOfShards(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	shared := rows(t, 40)
	flow := shared["flow"].(map[string]any)
	flow["text"] = flow["text"].(string) + "  mine: {op: shard, from: rows, with: {rank: 0, world-size: 2}}\n"
	shared["parts"] = []any{map[string]any{"node": "mine"}}
	for _, c := range []struct {
		what   string
		open   map[string]any
		start  map[string]any
		warned bool
	}{
		{"two ranks of a share", shared, map[string]any{"world_size": 2, "window": 0}, true},
		{"the second of them", shared, map[string]any{"rank": 1, "world_size": 2, "window": 0}, false},
		{"one rank of a share", shared, map[string]any{"window": 0}, false},
		{"two ranks of all", rows(t, 40), map[string]any{"world_size": 2, "window": 0}, false},
	} {
		cl := connect(t, socket)
		cl.send(kindOpen, c.open)
		cl.want(kindOpened)
		cl.send(kindStart, c.start)
		if note := cl.noteBefore(kindStarted); strings.Contains(note, "node mine passes on the share of one process") != c.warned {
			t.Errorf("%s: the note is %q", c.what, note)
		}
	}
}

// noteBefore returns the text of the last warning before a frame of a kind.
func (c *client) noteBefore(k kind) (text string) {
	c.t.Helper()
	for {
		f, err := c.next()
		if err != nil {
			c.t.Fatal(err)
		}
		if f.kind == k {
			return text
		}
		var note struct{ Level, Text string }
		if err := json.Unmarshal(f.body, &note); err != nil || f.kind != kindNote {
			c.t.Fatalf("%v: %d %s", err, f.kind, f.body)
		}
		if note.Level == "warning" {
			text = note.Text
		}
	}
}
