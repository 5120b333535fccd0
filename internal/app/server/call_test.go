package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/key"
)

// A caller is a client that caches the results of a function.
type caller struct {
	*client
	number uint32

	// compute computes the result of one set of arguments.
	compute func(argument string) (string, error)
	within  uint64

	mu       sync.Mutex
	computed []string
	together []int // sizes of the requests
}

func newCaller(t *testing.T, socket, code string) *caller {
	t.Helper()
	c := &caller{client: connect(t, socket)}
	c.compute = func(argument string) (string, error) { return "computed from " + argument, nil }
	c.send(kindFunction, map[string]any{"name": "m.f", "code": map[string]any{"version": code}})
	c.want(kindFunctioned)
	return c
}

// A got is the result of one set of arguments.
type got struct {
	as, from byte
	text     string
}

func (c *caller) call(flags uint32, list ...string) ([]got, error) {
	c.t.Helper()
	b := appendFrame(nil, kindCall, func(b []byte) []byte {
		b = binary.LittleEndian.AppendUint32(b, c.number)
		b = binary.LittleEndian.AppendUint32(b, flags)
		b = binary.LittleEndian.AppendUint64(b, c.within)
		for _, argument := range list {
			sum := sha256.Sum256([]byte(argument))
			b = append(b, sum[:]...)
		}
		return b
	})
	if _, err := c.conn.Write(b); err != nil {
		c.t.Fatal(err)
	}
	return c.results(list)
}

// results reads the results of a call, and computes those that the server requests.
func (c *caller) results(list []string) ([]got, error) {
	c.t.Helper()
	all := make([]got, len(list))
	for {
		f, err := c.next()
		if err != nil {
			return nil, err
		}
		switch f.kind {
		case kindCompute:
			c.answer(f.body, list, all)
		case kindResults:
			if c.entries(f.body, all) {
				return all, nil
			}
		case kindError:
			return nil, fmt.Errorf("%s", f.body)
		default:
			return nil, fmt.Errorf("a frame of kind %d", f.kind)
		}
	}
}

func (c *caller) answer(asked []byte, list []string, all []got) {
	token := binary.LittleEndian.Uint64(asked)
	asked = asked[8:]
	c.mu.Lock()
	c.together = append(c.together, len(asked)/4)
	c.mu.Unlock()
	var out []byte
	for ; len(asked) > 0; asked = asked[4:] {
		i := binary.LittleEndian.Uint32(asked)
		c.within = token
		text, err := c.compute(list[i])
		c.within = 0
		c.mu.Lock()
		c.computed = append(c.computed, list[i])
		c.mu.Unlock()
		flags := uint32(0)
		if err != nil {
			text, flags = err.Error(), computedFailed
		}
		all[i].text = text
		if len(asked) == 4 {
			flags |= computedLast
		}
		out = appendComputed(out, token, i, flags, text)
	}
	_, _ = c.conn.Write(out) // otherwise the client has left
}

func appendComputed(b []byte, token uint64, i, flags uint32, piece string) []byte {
	return appendFrame(b, kindComputed, func(b []byte) []byte {
		b = binary.LittleEndian.AppendUint64(b, token)
		b = binary.LittleEndian.AppendUint32(b, i)
		return append(binary.LittleEndian.AppendUint32(b, flags), piece...)
	})
}

func (c *caller) entries(b []byte, all []got) (last bool) {
	last = binary.LittleEndian.Uint32(b)&resultsLast != 0
	for b = b[4:]; len(b) > 0; {
		g := &all[binary.LittleEndian.Uint32(b)]
		g.as, g.from = b[4], b[5]
		n := binary.LittleEndian.Uint32(b[16:])
		if g.as != resultStored && g.as != resultFailed {
			g.text += string(b[entryHead:][:n])
		}
		b = b[entryHead+n:]
	}
	return last
}

// TestCalls checks that cached results are not computed again, except for other code, and
// that a batch computes its missing results together, each once.
func TestCalls(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	c := newCaller(t, socket, "1")
	for k, want := range []byte{resultStored, resultBytes} {
		all, err := c.call(0, "a")
		if err != nil || all[0].text != "computed from a" || all[0].as != want {
			t.Errorf("call %d: %v %v", k, all, err)
		}
	}
	if all, err := c.call(callFind, "b"); err != nil || all[0].as != resultNone {
		t.Errorf("what is not cached was found: %v %v", all, err)
	}
	all, err := c.call(0, "c", "a", "d", "c", "b")
	if err != nil {
		t.Fatal(err)
	}
	for i, argument := range []string{"c", "a", "d", "c", "b"} {
		if all[i].text != "computed from "+argument {
			t.Errorf("result %d is %q", i, all[i].text)
		}
	}
	if !slices.Equal(c.computed, []string{"a", "c", "d", "b"}) || !slices.Equal(c.together, []int{1, 3}) {
		t.Errorf("computed %v, together %v", c.computed, c.together)
	}
	other := newCaller(t, socket, "2")
	if all, err := other.call(0, "a"); err != nil || all[0].as != resultStored {
		t.Errorf("of another code: %v %v", all, err)
	}
	if all, err := c.call(callRefresh, "a"); err != nil || all[0].as != resultStored || len(c.computed) != 5 {
		t.Errorf("requested again: %v %v, computed %v", all, err, c.computed)
	}
	c.forget("a")
	if all, err := c.call(callFind, "a"); err != nil || all[0].as != resultNone {
		t.Errorf("what was forgotten was found: %v %v", all, err)
	}
}

func (c *caller) forget(argument string) {
	sum := sha256.Sum256([]byte(argument))
	b := appendFrame(nil, kindForget, func(b []byte) []byte {
		return append(append(binary.LittleEndian.AppendUint32(b, c.number), make([]byte, 12)...), sum[:]...)
	})
	if _, err := c.conn.Write(b); err != nil {
		c.t.Fatal(err)
	}
	c.want(kindForgotten)
}

// TestCallsAreComputedOnce checks that each result of overlapping batches, requested
// concurrently in different orders, is computed by one client.
func TestCallsAreComputedOnce(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	var clients []*caller
	var work sync.WaitGroup
	for k := range 8 {
		c := newCaller(t, socket, "1")
		clients = append(clients, c)
		work.Go(func() {
			for from := range 20 {
				var list []string
				for i := range 10 {
					list = append(list, fmt.Sprint((from*5+i*(1+2*(k%2)))%100))
				}
				if k%3 == 0 {
					slices.Reverse(list)
				}
				all, err := c.call(0, list...)
				if err != nil {
					t.Error(err)
					return
				}
				for i, argument := range list {
					if all[i].text != "computed from "+argument {
						t.Errorf("%q came as %q", argument, all[i].text)
					}
				}
			}
		})
	}
	work.Wait()
	var computed []string
	for _, c := range clients {
		computed = append(computed, c.computed...)
	}
	slices.Sort(computed)
	if len(computed) != len(slices.Compact(slices.Clone(computed))) {
		t.Errorf("some were computed twice: %v", computed)
	}
}

// TestCallsThatFail checks that clients that wait for one that fails or leaves compute for
// themselves. A failed item does not affect the others.
func TestCallsThatFail(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	first, second := newCaller(t, socket, "1"), newCaller(t, socket, "1")
	begun := make(chan struct{})
	first.compute = func(argument string) (string, error) {
		if argument == "leave" {
			close(begun)
			awaitWaiters(2) // this call and that of the other client
			_ = first.conn.Close()
		}
		return "", fmt.Errorf("no %s", argument)
	}
	all, err := first.call(0, "a", "b")
	if err != nil || all[0].as != resultFailed || all[1].as != resultFailed {
		t.Errorf("%v %v", all, err)
	}
	second.compute = func(argument string) (string, error) {
		if argument == "b" {
			return "", fmt.Errorf("not b")
		}
		return "second's " + argument, nil
	}
	all, err = second.call(0, "a", "b", "c")
	if err != nil || all[0].as != resultStored || all[1].as != resultFailed || all[2].as != resultStored {
		t.Errorf("%v %v", all, err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		if _, err := first.call(0, "leave"); err == nil {
			t.Error("the client that left had a reply")
		}
	})
	<-begun
	if all, err := second.call(0, "leave"); err != nil || all[0].text != "second's leave" {
		t.Errorf("%v %v", all, err)
	}
	work.Wait()
}

// awaitWaiters returns when n goroutines wait for computations.
func awaitWaiters(n int) {
	stacks := make([]byte, 1<<20)
	for bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("singleflight.(*Group[...]).await(")) < n {
		runtime.Gosched()
	}
}

// TestCallsWithinCalls checks calls from within a computation on the same connection. A
// computation that needs its own result gets an error.
func TestCallsWithinCalls(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	c := newCaller(t, socket, "1")
	c.compute = func(argument string) (string, error) {
		switch argument {
		case "outer":
			all, err := c.call(0, "inner")
			if err != nil {
				return "", err
			}
			return "of " + all[0].text, nil
		case "self":
			all, err := c.call(0, "self")
			if err == nil && all[0].as == resultError && all[0].from == 1 {
				return "", fmt.Errorf("cycle")
			}
			return "", fmt.Errorf("%v %s", all, fmt.Sprint(err))
		}
		return argument, nil
	}
	if all, err := c.call(0, "outer"); err != nil || all[0].text != "of inner" {
		t.Errorf("%v %v", all, err)
	}
	if all, err := c.call(0, "self"); err != nil || all[0].text != "cycle" {
		t.Errorf("%v %v", all, err)
	}
}

// TestLargeResults checks that large results pass in pieces in both directions.
func TestLargeResults(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	c := newCaller(t, socket, "1")
	large := strings.Repeat("0123456789abcdef", 5<<16)
	c.compute = func(string) (string, error) { return large, nil }
	if _, err := c.call(0, "a"); err != nil {
		t.Fatal(err)
	}
	if all, err := c.call(0, "a"); err != nil || all[0].text != large || all[0].as != resultBytes {
		t.Errorf("%d bytes came: %v", len(all[0].text), err)
	}
}

// TestPartsOfResultsAreLetGo checks that an incomplete result of a client takes no memory
// after the client has left.
func TestPartsOfResultsAreLetGo(t *testing.T) {
	socket, s, _ := serverFor(t, Options{})
	first, second := newCaller(t, socket, "1"), newCaller(t, socket, "1")
	sum := sha256.Sum256([]byte("a"))
	b := appendFrame(nil, kindCall, func(b []byte) []byte {
		return append(append(binary.LittleEndian.AppendUint32(b, 0), make([]byte, 12)...), sum[:]...)
	})
	if _, err := first.conn.Write(b); err != nil {
		t.Fatal(err)
	}
	token := binary.LittleEndian.Uint64(first.want(kindCompute).body)
	if _, err := first.conn.Write(appendComputed(nil, token, 0, computedMore, strings.Repeat("x", 1<<20))); err != nil {
		t.Fatal(err)
	}
	_ = first.conn.Close()
	if all, err := second.call(0, "a"); err != nil || all[0].text != "computed from a" {
		t.Errorf("%v %v", all, err)
	}
	if n := s.calls.pending.Load(); n != 0 {
		t.Errorf("%d bytes are counted", n)
	}
}

// TestWhyCalls checks the reported differences from the most similar result.
func TestWhyCalls(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	c := newCaller(t, socket, "1")
	arguments := func(name, text string) []any {
		return []any{map[string]any{"name": name, "text": text, "digest": key.DigestOf([]byte(text)).String()}}
	}
	sum := sha256.Sum256([]byte("a"))
	b := appendFrame(nil, kindCall, func(b []byte) []byte {
		return append(append(binary.LittleEndian.AppendUint32(b, c.number), make([]byte, 12)...), sum[:]...)
	})
	if _, err := c.conn.Write(b); err != nil {
		t.Fatal(err)
	}
	token := binary.LittleEndian.Uint64(c.want(kindCompute).body)
	c.send(kindAbout, map[string]any{"token": token, "items": []any{map[string]any{"index": 0, "arguments": arguments("size", "64")}}})
	if _, err := c.conn.Write(appendComputed(nil, token, 0, computedLast, "x")); err != nil {
		t.Fatal(err)
	}
	c.want(kindResults)
	c.send(kindWhy, map[string]any{"function": 0, "digest": key.DigestOf([]byte("b")).String(), "arguments": arguments("size", "128")})
	var why struct {
		Cached  bool
		Changes []string
	}
	if err := json.Unmarshal(c.want(kindWhys).body, &why); err != nil {
		t.Fatal(err)
	}
	if why.Cached || !slices.Equal(why.Changes, []string{"size: changed (64 -> 128)"}) {
		t.Errorf("%+v", why)
	}
}

// TestCallsThatAreRefused checks that a violation of the protocol ends its connection, and
// no other.
func TestCallsThatAreRefused(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	made := appendComputed(nil, 99, 0, 0, "x")
	for name, sent := range map[string][]byte{
		"of no function":  appendFrame(nil, kindCall, func(b []byte) []byte { return append(b, make([]byte, callHead+32)...) }),
		"short":           appendFrame(nil, kindCall, func(b []byte) []byte { return append(b, 1, 2, 3) }),
		"half a digest":   appendFrame(nil, kindCall, func(b []byte) []byte { return append(b, make([]byte, callHead+5)...) }),
		"computed, short": appendFrame(nil, kindComputed, func(b []byte) []byte { return append(b, made[:3]...) }),
		"about nothing":   appendFrame(nil, kindAbout, func(b []byte) []byte { return append(b, "no"...) }),
	} {
		c := connect(t, socket)
		if _, err := c.conn.Write(sent); err != nil {
			t.Fatal(err)
		}
		if code, text := c.refused(); code != "protocol" {
			t.Errorf("%s: %s %s", name, code, text)
		}
	}
	connect(t, socket)
}

// TestPartsOfCodeMayBeReportedLater checks that code without its parts is the same code, and
// that parts sent later are stored.
func TestPartsOfCodeMayBeReportedLater(t *testing.T) {
	socket, s, _ := serverFor(t, Options{})
	id, part := key.DigestOf([]byte("code")), key.DigestOf([]byte("part"))
	c := &caller{client: connect(t, socket)}
	c.compute = func(argument string) (string, error) { return "computed from " + argument, nil }
	describe := func(code map[string]any) {
		code["digest"] = id.String()
		c.send(kindFunction, map[string]any{"name": "m.f", "code": code})
		c.want(kindFunctioned)
	}
	describe(map[string]any{})
	if all, err := c.call(0, "a"); err != nil || all[0].as != resultStored {
		t.Fatalf("%v %v", all, err)
	}
	if parts := known.ClosureParts(t.Context(), s.options.Larder, id); parts != nil {
		t.Errorf("parts that no client sent are %v", parts)
	}
	describe(map[string]any{"parts": []any{map[string]any{"name": "m.g", "where": "m.f -> m.g", "digest": part.String()}}})
	c.number = 1
	if all, err := c.call(0, "a"); err != nil || all[0].as != resultBytes {
		t.Errorf("of the same code, sent in full: %v %v", all, err)
	}
	parts := known.ClosureParts(t.Context(), s.options.Larder, id)
	if len(parts) != 1 || parts[0].Name != "m.g" || parts[0].Digest != part {
		t.Errorf("%v", parts)
	}
}
