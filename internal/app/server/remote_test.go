package server

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// remoteFor starts a server for other machines, over a directory with a flow of n rows.
func remoteFor(t *testing.T, n int, token string) *httptest.Server {
	t.Helper()
	_, s, _ := serverFor(t, Options{})
	spec := rows(t, n)["flow"].(map[string]any)
	dir := spec["dir"].(string)
	if err := os.WriteFile(filepath.Join(dir, "flow.yaml"), []byte(spec["text"].(string)), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := s.Remote(RemoteOptions{Flows: dir, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(r)
	t.Cleanup(func() {
		h.Close()
		_ = r.Close()
	})
	return h
}

func remoteOpen(file string) map[string]any {
	return map[string]any{
		"flow": map[string]any{"file": file}, "parts": []any{map[string]any{"node": "rows"}},
		"batch": map[string]any{"size": 4}, "fields": []any{map[string]any{"item": "n", "dtype": "int64"}},
	}
}

const testToken = "a token of the tests"

func post(t *testing.T, h *httptest.Server, path, token string, body any) (status int, reply io.Reader) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := h.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res.StatusCode, res.Body
}

// remoteClient reads frames of a reply, and the data of batches in place of a ring.
func remoteClient(t *testing.T, body io.Reader) (got []int64, kinds []kind, last frame) {
	t.Helper()
	c := &client{t: t, layouts: map[int]json.RawMessage{}}
	var batch frame
	for {
		f, err := readFrame(body, maxReply)
		if err == io.EOF { //nolint:errorlint // it comes alone
			return got, kinds, last
		}
		if err != nil {
			t.Fatal(err)
		}
		kinds, last = append(kinds, f.kind), f
		switch f.kind {
		case kindLayout:
			var l struct {
				Layout int
				Fields json.RawMessage
			}
			if err := json.Unmarshal(f.body, &l); err != nil {
				t.Fatal(err)
			}
			c.layouts[l.Layout] = l.Fields
		case kindBatch:
			batch = f
		case kindData:
			c.ring = f.body
			got = append(got, c.batch(batch).values...)
		}
	}
}

func TestRemoteBatches(t *testing.T) {
	h := remoteFor(t, 10, testToken)
	_, reply := post(t, h, "/v1/batches", testToken, map[string]any{"open": remoteOpen("flow.yaml"), "start": map[string]any{"epochs": 2}})
	got, kinds, _ := remoteClient(t, reply)
	want := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	if !slices.Equal(got, append(slices.Clone(want), want...)) {
		t.Errorf("%v", got)
	}
	if kinds[0] != kindOpened || kinds[1] != kindStarted || kinds[len(kinds)-1] != kindStopped {
		t.Errorf("frames of the kinds %v", kinds)
	}
	_, reply = post(t, h, "/v1/samples", testToken, map[string]any{"open": remoteOpen("flow.yaml"), "samples": []int{7, 2}})
	if got, _, _ := remoteClient(t, reply); !slices.Equal(got, []int64{7, 2}) {
		t.Errorf("samples %v", got)
	}
}

// TestRemoteIsRefused checks that a client without a token gets nothing, and one with a
// token nothing outside of the directory.
func TestRemoteIsRefused(t *testing.T) {
	h := remoteFor(t, 10, testToken)
	for _, token := range []string{"", "another token of 20", testToken + "x"} {
		if status, _ := post(t, h, "/v1/batches", token, map[string]any{}); status != http.StatusUnauthorized {
			t.Errorf("token %q: status %d", token, status)
		}
	}
	if status, _ := post(t, remoteFor(t, 10, ""), "/v1/batches", "", map[string]any{}); status != http.StatusUnauthorized {
		t.Errorf("no token and no certificate: status %d", status)
	}
	outside := filepath.Join(t.TempDir(), "flow.yaml")
	if err := os.WriteFile(outside, []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, open := range []map[string]any{
		remoteOpen(outside), remoteOpen("../flow.yaml"), remoteOpen("no.yaml"), remoteOpen("."), remoteOpen(""),
		with(remoteOpen(""), map[string]any{"flow": map[string]any{"text": "version: 1", "dir": "/"}}),
		with(remoteOpen("flow.yaml"), map[string]any{"set": map[string]any{"path": "/etc"}}),
		with(remoteOpen("flow.yaml"), map[string]any{"unknown": 1}),
		remoteOpen("rows.jsonl"), // an error would show its lines
	} {
		_, reply := post(t, h, "/v1/batches", testToken, map[string]any{"open": open})
		_, kinds, last := remoteClient(t, reply)
		if len(kinds) != 1 || kinds[0] != kindError || !strings.Contains(string(last.body), `"request"`) {
			t.Errorf("%v: %v %s", open["flow"], kinds, last.body)
		}
	}
}

// TestRemoteRequestsAreBounded checks that a request that would take memory from all
// clients is refused before it does.
func TestRemoteRequestsAreBounded(t *testing.T) {
	h := remoteFor(t, 10, testToken)
	field := map[string]any{"item": "n"}
	many := func(n int, one any) (list []any) {
		for range n {
			list = append(list, one)
		}
		return list
	}
	for name, more := range map[string]map[string]any{
		"samples": {"batch": map[string]any{"size": 1_000_000_000, "last_batch": "pad"}},
		"draws":   {"batch": map[string]any{"size": 100_000_000}, "order": "replacement", "draws": 1_000_000_000},
		"parts":   {"parts": many(5000, map[string]any{"node": "rows"})},
		"fields":  {"fields": many(10_000, field)},
		"buckets": {"batch": map[string]any{"tokens": 10, "buckets": many(100_000, 1)}},
	} {
		_, reply := post(t, h, "/v1/batches", testToken, map[string]any{"open": with(remoteOpen("flow.yaml"), more), "start": map[string]any{"epochs": 1}})
		if _, _, last := remoteClient(t, reply); last.kind != kindError || !strings.Contains(string(last.body), "at most") {
			t.Errorf("%s: %d %.200s", name, last.kind, last.body)
		}
	}
}

func opened(t *testing.T, body io.Reader) (id string, samples int) {
	t.Helper()
	f, err := readFrame(body, maxReply)
	var o struct {
		ID    string
		Parts []openedPart
	}
	if err == nil {
		err = json.Unmarshal(f.body, &o)
	}
	if err != nil || f.kind != kindOpened || o.ID == "" {
		t.Fatalf("%v %s: %v", f.kind, f.body, err)
	}
	return o.ID, o.Parts[0].Samples
}

// TestRemoteOpensTheSameAgain checks that a client that sends the ID of its earlier flow
// gets that one, and without it the present state.
func TestRemoteOpensTheSameAgain(t *testing.T) {
	h := remoteFor(t, 10, testToken)
	ask := func(file, id string) (string, int) {
		_, reply := post(t, h, "/v1/samples", testToken, map[string]any{"open": remoteOpen(file), "id": id})
		return opened(t, reply)
	}
	first, n := ask("flow.yaml", "")
	if n != 10 {
		t.Fatalf("%d samples", n)
	}
	flows := h.Config.Handler.(*Remote).flows
	if err := os.WriteFile(filepath.Join(flows, "rows.jsonl"), []byte("{\"n\": 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if id, n := ask("flow.yaml", first); id != first || n != 10 {
		t.Errorf("%s has %d samples, and what was open was %s with 10", id, n, first)
	}
	if id, n := ask("flow.yaml", ""); id == first || n != 1 {
		t.Errorf("%s, of %s, has %d samples of 1", id, first, n)
	}
	if err := os.WriteFile(filepath.Join(flows, "other.yaml"), []byte("version: 1\nnodes:\n  rows: {source: jsonl, with: {path: rows.jsonl}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if id, n := ask("other.yaml", first); id == first || n != 1 {
		t.Errorf("an id of something else led to it: %s, %d samples", id, n)
	}
}
