package server

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"testing"
)

// started starts a reader, and reports whether it has the ring of the previous one.
func (c *client) started(request map[string]any) (again bool) {
	c.t.Helper()
	c.send(kindStart, request)
	var s struct{ Again bool }
	if err := json.Unmarshal(c.want(kindStarted).body, &s); err != nil {
		c.t.Fatal(err)
	}
	return s.Again
}

// TestRingIsUsedAgain checks that a reader gets the memory of the previous one on request.
// Slots that the client holds stay its own until it releases them.
func TestRingIsUsedAgain(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	c := connect(t, socket)
	c.send(kindOpen, rows(t, 4000))
	c.want(kindOpened)
	if c.started(map[string]any{"window": 4, "again": true}) {
		t.Fatal("the first reader has a ring of another")
	}
	ring := &c.ring[0]
	held := c.batch(c.read())
	for reader := range 50 {
		c.send(kindStop, nil)
		c.stopped(held.slot)
		if !c.started(map[string]any{"window": 4, "epoch": 1, "again": true}) || &c.ring[0] != ring {
			t.Fatal("the reader has a ring of its own")
		}
		for range 4 {
			b := c.batch(c.read())
			if b.offset == held.offset {
				t.Fatalf("reader %d: a batch lies where one is held", reader)
			}
			if b.offset >= 16*pageBytes {
				t.Fatalf("reader %d: a batch lies at %d: what was released is not used again", reader, b.offset)
			}
			c.release(b.slot)
		}
	}
	if got := int64(binary.LittleEndian.Uint64(c.ring[held.offset:])); got != held.values[0] {
		t.Errorf("what was held had %d, and has %d", held.values[0], got)
	}
	if c.started(map[string]any{"window": 4}) || &c.ring[0] == ring {
		t.Error("a reader that did not ask for it has the ring of another")
	}
}

// stopped releases batches until the reader has ended.
func (c *client) stopped(but ...uint32) {
	c.t.Helper()
	for {
		f := c.read()
		if f.kind == kindStopped {
			return
		}
		if f.kind == kindBatch {
			if slot := c.batch(f).slot; !slices.Contains(but, slot) {
				c.release(slot)
			}
		}
	}
}

// TestRingsAreOfWhatIsOpen checks that a client that opens another flow gets another ring.
func TestRingsAreOfWhatIsOpen(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	c := connect(t, socket)
	for range 2 {
		c.send(kindOpen, rows(t, 40))
		c.want(kindOpened)
		if c.started(map[string]any{"again": true}) {
			t.Error("a reader has the ring of something else")
		}
	}
}
