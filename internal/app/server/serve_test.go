package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/larder-data/larder"
	_ "github.com/larder-data/larder/format/jsonl"
	_ "github.com/larder-data/larder/format/underfolder"
	_ "github.com/larder-data/larder/op"
	"github.com/larder-data/larder/store/memory"
)

// serverFor starts a server of a test, and returns its socket.
func serverFor(t *testing.T, o Options, prepare ...func(*Server)) (socket string, s *Server, ended <-chan error) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "s.sock")
	if err := os.Chmod(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	l, done, err := Listen(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	ld, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	o.Larder, o.Cache, o.Log = ld, cmp.Or(o.Cache, "/cache"), slog.New(slog.DiscardHandler)
	s = New(o)
	for _, f := range prepare {
		f(s)
	}
	result := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	finished := make(chan struct{})
	go func() {
		result <- s.Serve(ctx, l)
		done()
		close(finished)
	}()
	t.Cleanup(func() {
		cancel()
		<-finished
		if err := ld.Close(); err != nil {
			t.Error(err)
		}
	})
	return socket, s, result
}

// TestRemovedCaches checks that a server whose cache directory was deleted or replaced
// accepts no more clients and ends.
func TestRemovedCaches(t *testing.T) {
	for name, again := range map[string]bool{"gone": false, "another": true} {
		t.Run(name, func(t *testing.T) {
			cache := filepath.Join(t.TempDir(), "cache")
			if err := os.Mkdir(cache, 0o700); err != nil {
				t.Fatal(err)
			}
			socket, _, ended := serverFor(t, Options{Cache: cache})
			if err := connect(t, socket).conn.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(cache, cache+".old"); err != nil {
				t.Fatal(err)
			}
			if again {
				if err := os.Mkdir(cache, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			c, err := new(net.Dialer).DialContext(t.Context(), "unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%d bytes, %v", n, err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// A client speaks the protocol in tests.
type client struct {
	t    *testing.T
	conn *net.UnixConn
	ring []byte

	layouts map[int]json.RawMessage
}

func connect(t *testing.T, socket string) *client {
	t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	cl := &client{t: t, conn: c, layouts: map[int]json.RawMessage{}}
	cl.send(kindHello, map[string]any{"protocol": []int{1}, "client": "test"})
	cl.want(kindWelcome)
	return cl
}

func (c *client) send(k kind, v any) {
	c.t.Helper()
	b, err := appendJSON(nil, k, v)
	if v == nil {
		b, err = appendFrame(nil, k, func(b []byte) []byte { return b }), nil
	}
	if err == nil {
		_, err = c.conn.Write(b)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// Read implements io.Reader, and receives the ring.
func (c *client) Read(p []byte) (int, error) {
	oob := make([]byte, 64)
	n, on, _, _, err := c.conn.ReadMsgUnix(p, oob)
	if on > 0 {
		messages, merr := syscall.ParseSocketControlMessage(oob[:on])
		if merr != nil {
			return n, merr
		}
		fds, merr := syscall.ParseUnixRights(&messages[0])
		if merr != nil {
			return n, merr
		}
		c.ring, merr = unix.Mmap(fds[0], 0, 16<<30, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if merr != nil {
			return n, merr
		}
		_ = unix.Close(fds[0])
		ring := c.ring
		c.t.Cleanup(func() { _ = unix.Munmap(ring) })
	}
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

func (c *client) next() (frame, error) { return readFrame(c, maxReply) }

// want reads frames up to one of a kind. It skips messages and batches before it.
func (c *client) want(k kind) frame {
	c.t.Helper()
	for {
		f, err := c.next()
		if err != nil {
			c.t.Fatalf("waiting for a frame of kind %d: %v", k, err)
		}
		if f.kind == k {
			return f
		}
		if f.kind == kindError || k == kindError && f.kind != kindNote {
			c.t.Fatalf("waiting for a frame of kind %d: %d %s", k, f.kind, f.body)
		}
	}
}

// refused returns the code and the message of the next error.
func (c *client) refused() (code, text string) {
	c.t.Helper()
	var e struct{ Code, Text string }
	if err := json.Unmarshal(c.want(kindError).body, &e); err != nil {
		c.t.Fatal(err)
	}
	return e.Code, e.Text
}

// A received is a batch from the server.
type received struct {
	slot, epoch          uint32
	offset, bytes        int64
	afterEpoch, afterPos int64
	samples              []int64
	padding              int
	values               []int64 // of the field n
}

func (c *client) batch(f frame) received {
	c.t.Helper()
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(f.body[at:]) }
	i64 := func(at int) int64 { return int64(binary.LittleEndian.Uint64(f.body[at:])) }
	r := received{slot: u32(4), offset: i64(8), bytes: i64(16), epoch: uint32(i64(32)), afterEpoch: i64(56), afterPos: i64(64), padding: int(u32(76))}
	for k := range int(u32(72)) {
		r.samples = append(r.samples, i64(80+8*k))
	}
	var fields []struct {
		Name   string
		DType  string
		Shape  []int
		Offset int64
	}
	if err := json.Unmarshal(c.layouts[int(u32(0))], &fields); err != nil {
		c.t.Fatal(err)
	}
	for _, field := range fields {
		if field.Name != "n" {
			continue
		}
		for k := range field.Shape[0] {
			r.values = append(r.values, int64(binary.LittleEndian.Uint64(c.ring[r.offset+field.Offset+int64(8*k):])))
		}
	}
	return r
}

// read reads frames and records layouts, until another frame comes.
func (c *client) read() frame {
	c.t.Helper()
	for {
		f, err := c.next()
		if err != nil {
			c.t.Fatal(err)
		}
		if f.kind != kindLayout {
			return f
		}
		var l struct {
			Layout int
			Fields json.RawMessage
		}
		if err := json.Unmarshal(f.body, &l); err != nil {
			c.t.Fatal(err)
		}
		c.layouts[l.Layout] = l.Fields
	}
}

func (c *client) release(slots ...uint32) {
	c.t.Helper()
	c.looked(kindRelease, slots...)
}

// looked reports that slots are released, or retained.
func (c *client) looked(k kind, slots ...uint32) {
	c.t.Helper()
	b := appendFrame(nil, k, func(b []byte) []byte {
		for _, s := range slots {
			b = binary.LittleEndian.AppendUint32(b, s)
		}
		return b
	})
	if _, err := c.conn.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// rows writes a dataset of rows {"n": k}, and returns a request that opens it.
func rows(t *testing.T, n int) map[string]any {
	t.Helper()
	dir := t.TempDir()
	var b bytes.Buffer
	for k := range n {
		fmt.Fprintf(&b, "{\"n\": %d}\n", k)
	}
	if err := os.WriteFile(filepath.Join(dir, "rows.jsonl"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"flow":   map[string]any{"text": "version: 1\nnodes:\n  rows: {source: jsonl, with: {path: rows.jsonl}}\n", "dir": dir},
		"parts":  []any{map[string]any{"node": "rows"}},
		"batch":  map[string]any{"size": 4},
		"fields": []any{map[string]any{"item": "n", "dtype": "int64"}},
	}
}

// with returns a request with additional members.
func with(request map[string]any, more map[string]any) map[string]any {
	all := map[string]any{}
	for _, m := range []map[string]any{request, more} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

// epoch reads to the end of an epoch and returns its batches, each released immediately.
func (c *client) epoch() (all []received) {
	c.t.Helper()
	for {
		switch f := c.read(); f.kind {
		case kindBatch:
			b := c.batch(f)
			c.release(b.slot)
			all = append(all, b)
		case kindEpoch:
			return all
		default:
			c.t.Fatalf("a frame of kind %d: %s", f.kind, f.body)
		}
	}
}

func values(all []received) (list []int64) {
	for _, b := range all {
		list = append(list, b.values[:len(b.values)-b.padding]...)
	}
	return list
}

func TestEpochs(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	c := connect(t, socket)
	c.send(kindOpen, with(rows(t, 10), map[string]any{"order": "shuffled", "seed": 7}))
	if got := string(c.want(kindOpened).body); !strings.HasPrefix(got, `{"batches":3,"parts":[{"name":"rows","samples":10}],"stamp":"`) {
		t.Error(got)
	}
	c.send(kindStart, map[string]any{"epochs": 2})
	c.want(kindStarted)
	first, second := values(c.epoch()), values(c.epoch())
	c.want(kindStopped)
	if slices.Equal(first, second) {
		t.Error("two epochs have one order")
	}
	for _, epoch := range [][]int64{first, second} {
		slices.Sort(epoch)
		if !slices.Equal(epoch, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
			t.Errorf("an epoch has %v", epoch)
		}
	}
}

// TestSlotsAreNotWrittenAgain checks that only released slots are reused. The ring stays
// small, and slots in use keep their bytes.
func TestSlotsAreNotWrittenAgain(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	c := connect(t, socket)
	c.send(kindOpen, rows(t, 4000))
	c.want(kindOpened)
	c.send(kindStart, map[string]any{"epochs": 1, "window": 8})
	c.want(kindStarted)
	var held []received
	for k := range 1000 {
		f := c.read()
		if f.kind != kindBatch {
			t.Fatalf("a frame of kind %d: %s", f.kind, f.body)
		}
		b := c.batch(f)
		if b.offset >= 8*pageBytes*4 {
			t.Fatalf("batch %d lies at %d: what was released is not used again", k, b.offset)
		}
		if k%100 == 0 && len(held) < 4 {
			held = append(held, b)
			continue
		}
		c.release(b.slot)
	}
	for _, b := range held {
		for k, v := range b.values {
			if got := int64(binary.LittleEndian.Uint64(c.ring[b.offset+int64(8*k):])); got != v {
				t.Fatalf("a batch that was held had %d, and has %d", v, got)
			}
		}
	}
}

// TestWindow checks that a client that keeps all batches gets no more than its window.
func TestWindow(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	c := connect(t, socket)
	c.send(kindOpen, rows(t, 400))
	c.want(kindOpened)
	c.send(kindStart, map[string]any{"window": 5})
	c.want(kindStarted)
	var slots []uint32
	for range 5 {
		f := c.read()
		slots = append(slots, c.batch(f).slot)
	}
	c.send(kindStatus, nil)
	if f := c.read(); f.kind != kindStatuses {
		t.Fatalf("a sixth batch came: kind %d", f.kind)
	}
	c.release(slots[2])
	if f := c.read(); f.kind != kindBatch {
		t.Fatalf("no batch came for the one that was released, but kind %d", f.kind)
	}
}

// TestResume checks that any number of ranks continues from the state after any batch, on
// another connection, with the rest of the epoch.
func TestResume(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	request := with(rows(t, 103), map[string]any{"order": "shuffled", "seed": 1})
	whole := connect(t, socket)
	whole.send(kindOpen, request)
	whole.want(kindOpened)
	whole.send(kindStart, map[string]any{"epochs": 1})
	whole.want(kindStarted)
	want := values(whole.epoch())

	for ranks := 1; ranks <= 4; ranks++ {
		first := connect(t, socket)
		first.send(kindOpen, request)
		first.want(kindOpened)
		first.send(kindStart, map[string]any{})
		var started struct{ Prefix string }
		if err := json.Unmarshal(first.want(kindStarted).body, &started); err != nil {
			t.Fatal(err)
		}
		var got []int64
		var last received
		for range 7 {
			last = first.batch(first.read())
			got = append(got, last.values...)
		}
		state := fmt.Sprintf("%s.%s.%s", started.Prefix, base36(last.afterEpoch), base36(last.afterPos))
		_ = first.conn.Close()
		rest := make([][]received, ranks)
		for r := range ranks {
			c := connect(t, socket)
			c.send(kindOpen, request)
			c.want(kindOpened)
			c.send(kindStart, map[string]any{"rank": r, "world_size": ranks, "from": state, "epochs": 1})
			c.want(kindStarted)
			rest[r] = c.epoch()
		}
		for k := range rest[0] {
			for r := range ranks {
				got = append(got, values(rest[r][k:k+1])...)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d ranks: %v, not %v", ranks, got, want)
		}
	}
}

func base36(n int64) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	text := digits[n%36 : n%36+1]
	if n >= 36 {
		text = base36(n/36) + text
	}
	return text
}

// TestShares checks that the shares of a rank, in turn as a DataLoader reads them from its
// workers, are the rank's batches.
func TestShares(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	request := rows(t, 50)
	var want []int64
	for k := range 50 {
		want = append(want, int64(k))
	}
	shares := make([][]received, 3)
	for k := range shares {
		c := connect(t, socket)
		c.send(kindOpen, request)
		c.want(kindOpened)
		c.send(kindStart, map[string]any{"share": k, "shares": 3, "epochs": 1})
		var started struct{ Batches int }
		if err := json.Unmarshal(c.want(kindStarted).body, &started); err != nil {
			t.Fatal(err)
		}
		if shares[k] = c.epoch(); len(shares[k]) != started.Batches {
			t.Errorf("share %d has %d batches, and %d were announced", k, len(shares[k]), started.Batches)
		}
	}
	var got []int64
	for k := range 13 {
		got = append(got, shares[k%3][k/3].values...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestGet(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	c := connect(t, socket)
	c.send(kindOpen, rows(t, 50))
	c.want(kindOpened)
	c.send(kindStart, map[string]any{"window": 0})
	c.want(kindStarted)
	c.send(kindGet, map[string]any{"samples": []int{7, 3, 49}})
	for _, want := range []int64{7, 3, 49} {
		if b := c.batch(c.read()); !slices.Equal(b.values, []int64{want}) || !slices.Equal(b.samples, []int64{want}) {
			t.Errorf("sample %d is %v, numbered %v", want, b.values, b.samples)
		}
	}
	c.want(kindGot)
	c.send(kindGet, map[string]any{"samples": []int{50}})
	if code, text := c.refused(); code != "data" {
		t.Error(code, text)
	}
}

func TestRequestsAreRefused(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	good := rows(t, 8)
	for _, c := range []struct {
		name string
		kind kind
		body any
		code string
	}{
		{"start of nothing", kindStart, map[string]any{}, "request"},
		{"get of nothing", kindGet, map[string]any{"samples": []int{1}}, "request"},
		{"an unknown member", kindOpen, with(good, map[string]any{"odrer": "shuffled"}), "request"},
		{"an unknown order", kindOpen, with(good, map[string]any{"order": "random"}), "request"},
		{"no batches", kindOpen, with(good, map[string]any{"batch": map[string]any{}}), "request"},
		{"no parts", kindOpen, with(good, map[string]any{"parts": []any{}}), "request"},
		{"another node", kindOpen, with(good, map[string]any{"parts": []any{map[string]any{"node": "row"}}}), "request"},
		{"no flow", kindOpen, with(good, map[string]any{"flow": map[string]any{"text": "nodes: [", "dir": "/"}}), "flow"},
		{"a relative path", kindOpen, with(good, map[string]any{"flow": map[string]any{"file": "flow.yaml"}}), "request"},
		{"no file", kindOpen, with(good, map[string]any{"flow": map[string]any{"file": "/nowhere/flow.yaml"}}), "request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := connect(t, socket)
			cl.send(c.kind, c.body)
			if code, text := cl.refused(); code != c.code || text == "" {
				t.Errorf("%s: %s", code, text)
			}
			cl.send(kindOpen, good) // the connection stays open
			cl.want(kindOpened)
			cl.send(kindStart, map[string]any{"from": "1.AAAAAAAAAAAAAAAAAAAA.0.0.0"})
			if code, text := cl.refused(); code != "state" {
				t.Errorf("%s: %s", code, text)
			}
		})
	}
}

// TestProtocolErrors checks that an invalid frame ends the connection, and nothing else.
func TestProtocolErrors(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	for name, bytes := range map[string][]byte{
		"no hello":        appendFrame(nil, kindStatus, func(b []byte) []byte { return b }),
		"odd bytes":       {0, 0, 0, 0, 1, 0, 1, 0},
		"too large":       {255, 255, 255, 255, 3, 0, 0, 0},
		"no slot":         appendFrame(nil, kindRelease, func(b []byte) []byte { return append(b, 1, 2, 3, 4) }),
		"half a slot":     appendFrame(nil, kindRelease, func(b []byte) []byte { return append(b, 1, 2) }),
		"another version": appendFrame(nil, kindHello, func(b []byte) []byte { return append(b, `{"protocol":[2]}`...) }),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Write(bytes); err != nil {
				t.Fatal(err)
			}
			f, err := readFrame(c, maxReply)
			if err != nil || f.kind != kindError {
				t.Fatalf("%d %s, %v", f.kind, f.body, err)
			}
			if _, err := readFrame(c, maxReply); err == nil {
				t.Error("the connection is still there")
			}
			connect(t, socket)
		})
	}
}

// TestClientsThatGo checks that a client that leaves in the middle of an epoch leaves
// nothing behind.
func TestClientsThatGo(t *testing.T) {
	socket, s, _ := serverFor(t, Options{})
	request := rows(t, 10000)
	files := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("how many files are open cannot be seen here: ", err)
		}
		return len(entries)
	}
	before := 0
	for k := range 40 {
		c := connect(t, socket)
		c.send(kindOpen, request)
		c.want(kindOpened)
		c.send(kindStart, map[string]any{"window": 1 + k})
		c.want(kindStarted)
		for range k {
			c.read()
		}
		_ = c.conn.Close()
		s.empty()
		if k == 5 {
			before = files()
		}
	}
	if after := files(); after > before+2 {
		t.Errorf("%d files are open, %d were", after, before)
	}
}

// empty returns when no client is connected.
func (s *Server) empty() { s.drain(context.Background()) }

func TestIdle(t *testing.T) {
	socket, _, ended := serverFor(t, Options{Idle: 50 * time.Millisecond})
	c := connect(t, socket)
	select {
	case err := <-ended:
		t.Fatalf("it ended with a client connected: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	_ = c.conn.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := StatusOf(t.Context(), socket); !errors.Is(err, ErrNone) {
		t.Errorf("after its end: %v", err)
	}
}

// TestEnd checks that at its end the server lets clients read on, and accepts no others.
func TestEnd(t *testing.T) {
	socket, _, ended := serverFor(t, Options{})
	c := connect(t, socket)
	c.send(kindOpen, rows(t, 100))
	c.want(kindOpened)
	if err := End(t.Context(), socket); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := StatusOf(t.Context(), socket); errors.Is(err, ErrNone) {
			break
		}
	}
	c.send(kindStart, map[string]any{"epochs": 1})
	c.want(kindStarted)
	if got := len(values(c.epoch())); got != 100 {
		t.Errorf("%d samples", got)
	}
	_ = c.conn.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestOneServer(t *testing.T) {
	socket, _, _ := serverFor(t, Options{})
	if _, _, err := Listen(t.Context(), socket); !errors.Is(err, ErrServed) {
		t.Errorf("a second server: %v", err)
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Listen(t.Context(), filepath.Join(open, "s.sock")); err == nil {
		t.Error("it listens in a directory that others can enter")
	}
}

// TestPipelinesAreShared checks that clients that open the same flow share it while its
// files are unchanged.
func TestPipelinesAreShared(t *testing.T) {
	socket, s, _ := serverFor(t, Options{})
	request := rows(t, 20)
	open := func() *client {
		c := connect(t, socket)
		c.send(kindOpen, request)
		c.want(kindOpened)
		return c
	}
	users := func() (all []int) {
		for _, p := range s.Status().Pipelines {
			all = append(all, p.Users)
		}
		return all
	}
	open()
	open()
	if got := users(); !slices.Equal(got, []int{2}) {
		t.Errorf("two clients that open the same: %v", got)
	}
	file := filepath.Join(request["flow"].(map[string]any)["dir"].(string), "rows.jsonl")
	if err := os.WriteFile(file, []byte("{\"n\": 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open()
	if got := users(); !slices.Equal(got, []int{2, 1}) {
		t.Errorf("after the file changed: %v", got)
	}
	c.send(kindStart, map[string]any{"epochs": 1})
	c.want(kindStarted)
	if got := values(c.epoch()); !slices.Equal(got, []int64{1}) {
		t.Errorf("the changed file has %v", got)
	}
}

// TestKeep checks that a batch that a client keeps blocks no other, and is not overwritten
// before its release.
func TestKeep(t *testing.T) {
	for _, c := range []struct {
		name         string
		window, ring int64
	}{{"a whole window", 2, 0}, {"a whole ring", 64, 1}} {
		t.Run(c.name, func(t *testing.T) {
			socket, s, _ := serverFor(t, Options{})
			client := connect(t, socket)
			client.send(kindOpen, rows(t, 4000))
			client.want(kindOpened)
			client.send(kindStart, map[string]any{"window": c.window, "ring": c.ring, "epochs": 1})
			client.want(kindStarted)
			var held []received
			for range 40 {
				b := client.batch(client.read())
				held = append(held, b)
				client.looked(kindKeep, b.slot)
				client.looked(kindKeep, b.slot) // a repetition has no effect
			}
			for i, b := range held {
				if got := int64(binary.LittleEndian.Uint64(client.ring[b.offset:])); got != b.values[0] {
					t.Errorf("batch %d, which is cached, had %d, and has %d", i, b.values[0], got)
				}
			}
			grown := s.Status().Connections[0].Reader.RingBytes
			for _, b := range held {
				client.release(b.slot)
			}
			for range 60 {
				b := client.batch(client.read())
				client.release(b.slot)
			}
			// Batches in progress may still wait for space; 60 have it now.
			if now := s.Status().Connections[0].Reader.RingBytes; now > grown+8*pageBytes {
				t.Errorf("the ring had %d bytes, and %d once what was cached was released", grown, now)
			}
		})
	}
}
